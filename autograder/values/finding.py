"""What a judge found in an answer: a sentence for the learner, and its reason, a name that no rewording changes.

A reason is in lower-case words joined by "-", such as "deadlock". Tests and statistics of a class use it; no learner
sees it. Each family of findings lists its reasons where it makes them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was found, and the name of it."""

    say: str
    reason: str


class Explained(Exception):
    """An error whose message is for the learner. `reason` is that of the finding; a class has one that it falls back
    on."""

    reason = ""

    def __init__(self, say: str, reason: str = ""):
        super().__init__(say)
        self.reason = reason or type(self).reason
