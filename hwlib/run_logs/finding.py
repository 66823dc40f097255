"""One finding of a log, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN, LIKELY, POSSIBLE = "shown", "likely", "possible"
"""How sure a cause is: the log shows it; a pattern that little else makes; one of several that would make it."""
MOST_NAMED = 6  # steps that a sentence lists
OFTEN = 0.6  # of the slow steps: what stands before so many is their cause


@dataclass(frozen=True)
class RunFinding:
    """A thing to know of a run: its `kind`, a sentence, how sure its cause is, the steps that show it, the seconds that
    it adds to a mean step, and that as a share of it (None where it adds none, or nobody knows).
    """

    kind: str
    sentence: str
    sure: str = SHOWN
    steps: tuple[int, ...] = ()
    seconds: float | None = None
    share: float | None = None


def step_numbers(steps: Sequence[int]) -> str:
    """The first of some steps, in words."""
    more = f" and {len(steps) - MOST_NAMED} more" if len(steps) > MOST_NAMED else ""
    return ", ".join(str(step) for step in steps[:MOST_NAMED]) + more
