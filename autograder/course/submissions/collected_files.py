"""What `gpubook collect` has put into submitted/: kept in the course's own folder, out of a learner's reach."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own

REMEDY = "move it away, and what is in submitted/ counts as put there by hand, which `collect` keeps"


@dataclass(frozen=True)
class Collected:
    """A learner's notebook: its digest, the time in the timestamp.txt beside it ("" where nobody knows it), when the
    archive got it ("" too), what it was called there, and the digest of what it replaces, since it is entered here
    before it is written."""

    digest: str
    submitted: str
    archived: str
    file: str
    over: str = ""

    @property
    def archived_at(self) -> datetime | None:
        """When the archive got it, by the clock of whoever made the archive."""
        return datetime.fromisoformat(self.archived) if self.archived else None


def load(folder: Path, name: str) -> dict[str, Collected]:
    """By learner, what was collected for the assignment `name`."""
    path = _path(folder, name)
    if not path.exists():
        return {}
    return json_of(path, REMEDY, _collected, CourseError)


def _collected(plain: dict[str, dict[str, str]]) -> dict[str, Collected]:
    made = {who: Collected(**row) for who, row in plain.items()}
    for row in made.values():
        if {type(value) for value in asdict(row).values()} != {str}:
            raise TypeError(f"{row} has more than texts")
        row.archived_at  # noqa: B018 (a time, or an error)
    return made


def save(folder: Path, name: str, collected: dict[str, Collected]) -> None:
    """Replace what is known of the assignment."""
    path = _path(folder, name)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    text = json.dumps({who: asdict(one) for who, one in sorted(collected.items())}, indent=1, ensure_ascii=False)
    write_whole(path, text + "\n")


def _path(folder: Path, name: str) -> Path:
    return own(folder, f"{name}.collected.json")
