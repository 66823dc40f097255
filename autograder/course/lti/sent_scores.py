"""What was sent of an assignment, in `.gpubook/NAME.lti-sent.json`: written before anything goes out, and again when it
has arrived, so that after a kill or a lost connection it is known what in the platform came from here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own

REMEDY = "move it away, and grades in the platform count as entered there, which `send` keeps without --replace"
MOST = 20  # earlier scores of a learner that are remembered


@dataclass(frozen=True)
class Sent:
    """A learner's last score that was sent: its share of the maximum, the digest of all of it, the share that was in
    the platform before, whether it is known to have `arrived`; and the shares that were sent earlier."""

    share: float
    digest: str
    before: float | None = None
    arrived: bool = False
    earlier: tuple[float, ...] = ()

    @property
    def shares(self) -> tuple[float, ...]:
        """All that was sent, or may have been."""
        return (*self.earlier, self.share)


@dataclass
class SentScores:
    """What was sent to one column; another column begins with nothing."""

    path: Path
    column: str
    learners: dict[str, Sent] = field(default_factory=dict)

    def begin(self, learner: str, share: float, digest: str, before: float | None) -> None:
        """That a score is about to be sent; `save` writes it."""
        last = self.learners.get(learner)
        earlier = last.shares[-MOST:] if last is not None else ()
        self.learners[learner] = Sent(share, digest, before, False, earlier)

    def arrived(self, learner: str) -> None:
        """That the platform has it."""
        self.learners[learner] = Sent(**{**asdict(self.learners[learner]), "arrived": True})

    def save(self) -> None:
        """Write all of it."""
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        rows = {learner: asdict(sent) for learner, sent in sorted(self.learners.items())}
        write_whole(self.path, json.dumps({"column": self.column, "learners": rows}, ensure_ascii=False) + "\n")


def load(folder: Path, name: str, column: str) -> SentScores:
    """What was sent of the assignment `name` to this column."""
    path = own(folder, f"{name}.lti-sent.json")
    made = SentScores(path, column)
    if path.exists():
        before, learners = json_of(path, REMEDY, _read, CourseError)
        if before == column:
            made.learners = learners
    return made


def _read(plain: Mapping[str, Any]) -> tuple[str, dict[str, Sent]]:
    rows = {learner: Sent(**{**row, "earlier": tuple(row["earlier"])}) for learner, row in plain["learners"].items()}
    for sent in rows.values():
        if not all(isinstance(share, int | float) for share in sent.shares) or type(sent.digest) is not str:
            raise TypeError(f"{sent} is not a score")
    return str(plain["column"]), rows
