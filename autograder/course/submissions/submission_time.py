"""When a submission was handed in: the time in the timestamp.txt beside it, where nbgrader's exchange wrote that file.

A learner may put a file of that name into a folder that is copied by hand. The exchange keeps every submission in its
inbound/, in a folder named by learner, assignment and time: a time that does not stand there is not the exchange's.
What `gpubook collect` wrote counts too: the course's own folder has a list of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory, default
from nbgrader.utils import parse_utc
from traitlets import Bool
from traitlets.config import Config, ConfigFileNotFound, Configurable, PyFileConfigLoader

from ...grading.restore import SubmissionError
from ..layout import CONFIG_FILE
from . import collected_files

FILE = "timestamp.txt"
STAMP = "%Y-%m-%d %H:%M:%S.%f"  # of nbgrader's own, before the zone
LONGEST = 100  # characters of it that are read
MOST_NAMED = 10


@dataclass(frozen=True)
class CountedTime:
    """A time of submission that counts: the `text` of the file, "" where none counts, and whether it counts only
    because it is `trusted`."""

    text: str = ""
    trusted: bool = False


class SubmissionTime(Configurable):
    """The times of one assignment's submissions."""

    trusted = Bool(
        False,
        help="Whether a timestamp.txt counts that nbgrader's exchange did not write: that of nbgrader's zip_collect, "
        "or of whoever put it there.",
    ).tag(config=True)

    def __init__(self, folder: Path, name: str, config: Config, course: CourseDirectory):
        super().__init__(config=config)
        self.folder, self.name, self.course = folder, name, course

    @classmethod
    def in_course(cls, folder: Path, name: str, config: Config) -> SubmissionTime:
        """The times of the assignment `name` of a course with this configuration."""
        return cls(folder, name, config, CourseDirectory(config=config))

    def of(self, learner: str) -> datetime | None:
        """The time in UTC; None where nobody knows it. SubmissionError where the exchange's file holds no time."""
        return self.read(learner, self.counted(learner))

    def counted(self, learner: str, trusted: bool = False) -> CountedTime:
        """What counts as the time, not read yet; `trusted`: whether this learner's file is, whatever others are."""
        text = self._said(learner)
        if not text or self._kept is None or (learner, text) in self._kept:
            return CountedTime(text)
        return CountedTime(text, True) if trusted or self.trusted else CountedTime()

    def read(self, learner: str, counted: CountedTime) -> datetime | None:
        """The same in UTC."""
        if not counted.text:
            return None
        try:
            return parse_utc(counted.text)
        except (ValueError, OverflowError):
            expected = "one like 2027-02-01 22:00:00 UTC was expected"
            raise SubmissionError(f"{self._path(learner)}: {counted.text!r} is not a timestamp; {expected}") from None

    def doubted(self, learners: Iterable[str]) -> Iterator[str]:
        """For the teacher: of whom a timestamp.txt does not count, and how it would."""
        doubtful = [who for who in learners if self._said(who) and not self.counted(who).text]
        if doubtful:
            named = ", ".join(doubtful[:MOST_NAMED]) + (
                f" and {len(doubtful) - MOST_NAMED} more" * (len(doubtful) > MOST_NAMED)
            )
            yield (
                f"{FILE} of {named}: not written by nbgrader's exchange, so it does not count as the time of "
                "submission; with --trust-timestamps it does"
            )

    def _path(self, learner: str) -> Path:
        return self.folder / "submitted" / learner / self.name / FILE

    def _said(self, learner: str) -> str:
        path = self._path(learner)
        if path.parent.is_symlink() or not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST).strip()

    @cached_property
    def _kept(self) -> set[tuple[str, str]] | None:
        """The learner and the time of each submission that the exchange has; None for an exchange of another make."""
        config = with_the_exchange_of_this_machine(self.config)
        collect = ExchangeFactory(config=config).collect
        if not issubclass(collect, default.Exchange):
            return None
        root = collect(coursedir=self.course, authenticator=None, config=config).root
        submissions = {(who, one.submitted) for who, one in collected_files.load(self.folder, self.name).items()}
        with suppress(OSError):
            for folder in Path(root, config.CourseDirectory.get("course_id", ""), "inbound").iterdir():
                learner, _, rest = folder.name.partition(f"+{self.name}+")
                submissions.add((learner, rest.partition("+")[0]))
        return submissions


def with_the_exchange_of_this_machine(course: Config) -> Config:
    """The configuration of a course, with what it does not say of the exchange from where nbgrader looks too: on a hub
    its folder stands in the configuration of all its servers."""
    merged = Config()
    for folder in reversed(jupyter_config_path()):
        with suppress(ConfigFileNotFound):
            loaded = PyFileConfigLoader(CONFIG_FILE, path=folder).load_config()
            merged.merge({name: loaded[name] for name in ("Exchange", "ExchangeFactory") if name in loaded})
            if "course_id" in loaded.CourseDirectory:
                merged.CourseDirectory.course_id = loaded.CourseDirectory.course_id
    merged.merge(course)
    return merged
