"""The results of a submission: one for each exercise, and how it is written into the executed notebook."""

from dataclasses import dataclass, field, replace
from typing import Any

from ..answers.written import EMPTY, WAITS, untouched
from ..declaration.verdict import CELL_FAILED, Verdict
from ..values.cell_names import names_of
from .attachments import missing_pictures
from .found_cells import ALL_THERE, LOST, FoundCells
from .restore import GradeCell, grade_cell

OUT_OF_TIME, OTHER_NAME = "out-of-time", "other-name"  # reasons of verdicts
MOST_NAMES = 5  # that are listed
DIGITS = 9  # of points: a third of three is one
FULL = "Everybody gets full marks here."
NOBODY = "This exercise counts for nobody."
OUT = "It was dropped: it counts for nobody."
FAILED = "This exercise could not be judged, which is not your fault: your teacher is told."


@dataclass(frozen=True)
class Result:
    """The verdict on one exercise of one learner: points (of max_points), the sentence, what else happened, and the
    verdict's kind, its reason and the mistakes that the answer makes. `score` is the judged part of full marks,
    whatever points the exercise now has."""

    exercise: str
    points: float
    max_points: float
    say: str
    note: str = ""
    kind: str = "wrong"
    reason: str = ""  # not in the results of earlier versions
    score: float = 0.0
    mistakes: tuple[str, ...] = ()  # nor these: by `Exercise.mistake_key`

    def __post_init__(self):
        object.__setattr__(self, "mistakes", tuple(self.mistakes))  # JSON has lists


@dataclass
class GradedNotebook:
    """The executed notebook, the results in order, notes for the teacher, and the judge's own verdicts by exercise."""

    nb: Any
    results: list[Result] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)  # by exercise, those that can be judged again without a run
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # of those that were judged in this run

    @property
    def cells(self) -> FoundCells:
        """Which answer cells had lost what marks them."""
        return FoundCells.of(self.nb)


def result_of(name: str, points: float, verdict: Verdict, note: str) -> Result:
    """A verdict in points, with the `note` on what went wrong in the cells, which is why there is no answer."""
    if note and verdict.kind == "empty" and not verdict.reason:
        verdict = replace(verdict, reason=CELL_FAILED)
    say = note if note and verdict.kind in ("empty", "lost") else f"{verdict.say} {note}".strip()
    score = min(max(float(verdict.score), 0.0), 1.0)
    earned = round(score * points, DIGITS)
    return Result(name, earned, points, say, note, verdict.kind, verdict.reason, score, verdict.mistakes)


def with_cell(verdict: Verdict, exercise: str, nb: Any, name: str) -> Verdict:
    """The verdict, but where there is no answer because its cell is not in the notebook, or sets other names than the
    `name` that is judged: that nobody may take for one that was left empty."""
    if verdict.kind != "empty" or verdict.reason == OUT_OF_TIME:
        return verdict
    if exercise in FoundCells.of(nb).lost:
        return replace(verdict, say=LOST, kind="lost")
    others = _other_names(nb, exercise, name) if name and not verdict.reason else []
    if not others:
        return verdict
    listed = ", ".join(f"`{other}`" for other in others[:MOST_NAMES])
    say = f"No answer yet: your cell sets {listed}, and what is judged is `{name}`."
    return replace(verdict, say=say, reason=OTHER_NAME)


def _other_names(nb: Any, exercise: str, name: str) -> list[str]:
    """The names that the answer cell of an exercise sets, if `name` is not among them."""
    for cell in nb.cells:
        role = grade_cell(cell)
        if role is not None and (role.exercise, role.part) == (exercise, "answer"):
            names = names_of(cell.source)
            if names is not None and name not in names.binds:
                return sorted(names.binds - names.imports)
    return []


def settled(result: Result, role: GradeCell) -> Result:
    """The result under the points that its grade cell has now, and with full marks where everybody gets them; done
    again it changes nothing."""
    say = result.say.removeprefix(FULL).lstrip()
    if role.full:
        return replace(result, points=role.points, max_points=role.points, say=f"{FULL} {say}".rstrip())
    return replace(result, points=round(result.score * role.points, DIGITS), max_points=role.points, say=say)


def written_result(cell: Any, role: GradeCell, cells: FoundCells = ALL_THERE) -> Result:
    """The result of a written answer, which waits for a teacher; one that was never begun is worth nothing, and where
    nothing or everything is given whatever was written, nobody has to read it. One that is not in the notebook, by its
    `cells`, is not one that was never begun."""
    if role.full or not role.points:
        return Result(role.exercise, role.points, role.points, FULL if role.full else OUT, kind="given")
    if untouched(cell.source) and role.exercise in cells.lost:
        return Result(role.exercise, 0.0, role.points, LOST, kind="lost")
    if untouched(cell.source):
        return Result(role.exercise, 0.0, role.points, EMPTY, kind="empty")
    return Result(role.exercise, 0.0, role.points, f"{WAITS} {missing_pictures(cell)}".rstrip(), kind="waiting")


def verdict_outputs(result: Result) -> list[Any]:
    """The sentence, and the points as the builtin float that nbgrader reads; nothing on stderr, which would
    be a zero."""
    from nbformat.v4 import new_output

    sentence = _sentence(result)
    shown = new_output("display_data", data={"text/markdown": sentence, "text/plain": sentence}, metadata={})
    return [shown, new_output("execute_result", data={"text/plain": repr(result.points)}, metadata={})]


def _sentence(result: Result) -> str:
    """The verdict with its sign and its points; of an exercise without any, that it counts for nobody."""
    if not result.max_points:
        return f"– {result.say}" if result.say == OUT else f"– {result.say} *{NOBODY}*"
    part = "◐" if result.points else "…" if result.kind == "empty" else "✗"
    sign = "✓" if result.points == result.max_points else part
    return f"{sign} {result.say} *{result.points:g} of {result.max_points:g} points.*"
