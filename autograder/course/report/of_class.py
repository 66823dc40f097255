"""The report on one assignment, and on a whole term."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import fmean, median

from ...book.course_error import CourseError
from ...declaration.misconceptions import misconceptions
from ...values.book_root import book_root
from ...values.own_folder import own
from .. import gradebook
from ..class_results import removed_statistics
from ..class_results.class_result import ClassResult
from ..class_results.removed_statistics import RemovedLearners
from ..gradebook import AssignmentScore
from . import beliefs as believed
from .beliefs import Belief, Borrowed, Unexplained
from .copies import Copy, copies
from .gathered_answers import Gathered
from .items import ItemStatistics, items

BINS = 10  # of a histogram


@dataclass(frozen=True)
class AssignmentReport:
    """What there is to say about a graded assignment."""

    name: str
    result: ClassResult
    scores: dict[str, AssignmentScore]
    names: dict[str, str]
    items: list[ItemStatistics]
    beliefs: list[Belief]
    unexplained: list[Unexplained]
    borrowed: list[Borrowed]
    copies: list[Copy]
    missing: list[str]
    waiting: dict[str, int] = field(default_factory=dict)  # answers to be graded by hand, by exercise
    unkept: int = 0  # learners of whom no journal has the answers
    removed: RemovedLearners = field(default_factory=RemovedLearners)  # what stays of learners who are gone

    @property
    def points(self) -> dict[str, float]:
        """What each graded learner has by the gradebook, less what late work loses; else by the results."""
        graded = [learner for learner in self.result.learners if learner.results]
        return {one.name: self.scores[one.name].score if one.name in self.scores else one.points for one in graded}

    @property
    def problems(self) -> dict[str, str]:
        """Why a submission could not be graded, by learner."""
        return {one.name: one.problem for one in self.result.learners if one.problem}

    def called(self, learner: str) -> str:
        """The name of a learner with the id, where the roster has one."""
        name = self.names.get(learner, learner)
        return name if name == learner else f"{name} ({learner})"


def of_assignment(folder: Path, name: str) -> AssignmentReport:
    """The report on the assignment `name` of the course in `folder`."""
    gathered = Gathered.of(folder, name)
    return AssignmentReport(
        name,
        gathered.result,
        gathered.scores,
        gathered.names,
        items(gathered),
        believed.beliefs(gathered),
        believed.unexplained(gathered),
        believed.borrowed(gathered),
        copies(gathered),
        gathered.missing,
        gradebook.waiting_by_cell(gathered.folder, name),
        sum(1 for one in gathered.result.learners if one.results and gathered.entry_of(one.name) is None),
        removed_statistics.read(gathered.folder).get(name, RemovedLearners()),
    )


@dataclass(frozen=True)
class Term:
    """The reports on all graded assignments of a course, in the order of their deadlines, and what they have in
    common."""

    course: str
    reports: list[AssignmentReport]

    @property
    def names(self) -> dict[str, str]:
        """What each learner is called."""
        return {who: name for report in self.reports for who, name in report.names.items()}

    def called(self, learner: str) -> str:
        """As `Report.called`."""
        name = self.names.get(learner, learner)
        return name if name == learner else f"{name} ({learner})"

    @property
    def table(self) -> dict[str, list[float | None]]:
        """The points of each learner, by assignment; None for one without a submission."""
        columns = [report.points for report in self.reports]
        return {who: [points.get(who) for points in columns] for who in self.names}

    @property
    def recurring(self) -> list[tuple[str, str, int, int]]:
        """The misconceptions with a name in the book: the name, what who has it does, how many learners had it, and in
        how many answers."""
        named = misconceptions(book_root())
        who: dict[str, set[str]] = defaultdict(set)
        times: Counter[str] = Counter()
        for report in self.reports:
            for belief in report.beliefs:
                if belief.key in named:
                    who[belief.key] |= set(belief.learners)
                    times[belief.key] += len(belief.learners)
        rows = [(key, named[key].did, len(who[key]), times[key]) for key in who]
        return sorted(rows, key=lambda row: (-row[2], -row[3], row[0]))


def of_term(folder: Path) -> Term:
    """The report on every assignment of the course in `folder` that was graded; CourseError where none was."""
    folder = folder.resolve()
    graded = sorted(path.name.removesuffix(".results.json") for path in own(folder).glob("*.results.json"))
    if not graded:
        raise CourseError(f"{folder}: no results yet; run `gpubook grade` on the course first")
    known = list(gradebook.scores(folder))
    reports = [of_assignment(folder, name) for name in graded if name in known]
    reports.sort(key=lambda report: (due.isoformat() if (due := _due(report)) else "9", report.name))
    return Term(folder.name, reports)


def _due(report: AssignmentReport) -> datetime | None:
    return next((score.due for score in report.scores.values() if score.due and not score.graded), None) or min(
        (score.due for score in report.scores.values() if score.due), default=None
    )


def histogram(points: Sequence[float], most: float) -> list[tuple[float, float, int]]:
    """How many learners have so many points: from, to, and how many; the last bin has its end."""
    top = max([most, *points], default=0.0)
    if top <= 0:
        return []
    width = _round_width(top / BINS)
    count = math.ceil(round(top / width, 9))
    bins = [0] * count
    for value in points:
        bins[min(max(int(value / width + 1e-9), 0), count - 1)] += 1
    return [(width * at, width * (at + 1), number) for at, number in enumerate(bins)]


def _round_width(width: float) -> float:
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= width * (1 - 1e-9))


def summary(points: Sequence[float], most: float) -> str:
    """The mean, the median and the range of the scores, in words."""
    if not points:
        return "nobody is graded"
    share = f" ({100 * fmean(points) / most:.0f} %)" if most else ""
    return (
        f"mean {fmean(points):.3g} of {most:g}{share}, median {median(points):.3g}, "
        f"from {min(points):.3g} to {max(points):.3g}"
    )
