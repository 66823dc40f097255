"""A learner's notebook checked outside JupyterLab: run in the sandbox, judged by the key that is at hand.

Its cells run as those of a submission do, so one that fails, ends its process or never stops costs its own exercise
alone. Where the system cannot confine them they run all the same: it is the learner's own code.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..course.intake.download_names import is_notebook
from ..declaration.answer import JudgedBy
from ..declaration.bank import Bank
from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict, no_answer
from ..grading.found_cells import ALL_THERE, FoundCells, graded_in
from ..learner import lookup
from ..learner.attempt import as_typed
from ..learner.cell_history import written_in
from ..learner.progress import Progress
from ..learner.recording import told
from ..values import encoding

if TYPE_CHECKING:
    from ..grading.restore import GradeCell
    from ..grading.results import Result

WITHOUT_KEY = "Not judged here: its key is not at hand."
FAILED = "This exercise could not be judged, which is not your fault."
FULL = 1e-9  # of the points, to which a sum of shares is full


class CheckError(ValueError):
    """A notebook cannot be checked; the message says what came in and what was expected."""


@dataclass(frozen=True)
class ExerciseCheck:
    """What came out of one exercise: `score` of its `points`, and the verdict.

    `judged`: by machine, and so it counts. `answered`: whether the learner wrote something; None where that is unknown,
    as the key is not at hand.
    """

    id: str
    title: str
    kind: str
    points: float
    score: float
    judged: bool
    answered: bool | None
    verdict: Verdict

    @property
    def full(self) -> bool:
        """Whether it has all of its points; of a prediction, whether it was made."""
        return self.judged and self.score >= self.points - FULL


@dataclass(frozen=True)
class Totals:
    """Counts of exercises; `points` and `score` are those of the judged ones."""

    exercises: int
    answered: int
    unanswered: int
    judged: int
    full: int
    points: float
    score: float

    @classmethod
    def of(cls, checks: Sequence[ExerciseCheck]) -> Totals:
        """The counts of some exercises."""
        judged = [one for one in checks if one.judged]
        return cls(
            exercises=len(checks),
            answered=sum(one.answered is True for one in checks),
            unanswered=sum(one.answered is False for one in checks),
            judged=len(judged),
            full=sum(one.full for one in judged),
            points=sum(one.points for one in judged),
            score=round(sum(one.score for one in judged), 9),
        )


@dataclass(frozen=True)
class NotebookCheck:
    """What came out of a notebook. `problems` are those of its exercises' declarations, not of the learner; `cells` are
    the answer cells that had lost what marks them."""

    notebook: LearnerNotebook
    exercises: Sequence[ExerciseCheck]
    problems: Sequence[str] = ()
    messages: dict[str, Any] = field(default_factory=dict)  # of predictions, as the record keeps them
    cells: FoundCells = ALL_THERE

    @property
    def totals(self) -> Totals:
        """Its counts."""
        return Totals.of(self.exercises)

    @property
    def passed(self) -> bool:
        """Whether every exercise that is judged by machine has all of its points."""
        return all(one.full for one in self.exercises if one.judged)


@dataclass(frozen=True)
class LearnerNotebook:
    """A notebook with what it is judged by: its `release`, which has the roles and points of its cells, and the bank.

    `owner` is the one whose numbers it has, "" where there are no variants.
    """

    path: Path
    nb: Any
    release: Any
    bank: Bank
    banks: Sequence[Path]
    public: dict[str, dict[str, Any]]
    course: bool  # whether it is a course's assignment
    stubs: dict[str, str]  # of the answer cells, where the release is the book's
    owner: str

    @classmethod
    def read(cls, path: Path) -> LearnerNotebook:
        """The notebook at `path`; CheckError, or SubmissionError for what is no notebook."""
        from ..grading.restore import read_notebook

        nb, here = read_notebook(path), path.resolve().parent
        course = lookup.assignment(here) is not None
        chapter = _of_the_book(nb, "chapter") or ("" if course else _chapter_by_cells(nb, path, here))
        book = None if course else _released(here, chapter)
        release = _own_release(nb) if book is None else book
        names = [role.exercise for cell in release.cells if (role := _role(cell)) and role.part in ("grade", "written")]
        if not names:
            expected = "a notebook of the book or of a course was expected, with the metadata that mark its cells"
            raise CheckError(f"{path}: no cell of an exercise; {expected}")
        banks = list(_banks_of(here, chapter, set(names)))
        bank = Bank([one[name] for one in banks for name in one if name in names], banks[0].path if banks else None)
        if not bank:
            raise CheckError(
                f"{path}: the key to none of its exercises is at hand; the book's solutions/ were expected beside its "
                "chapters/, in the installed package or in $GPUBOOK_SOLUTIONS"
            )
        public = lookup.published(here)
        drawn = any("variants" in public.get(name, {}) for name in names)
        paths = [one.path for one in banks if one.path is not None]
        stubs = {} if book is None else _answer_cells(book)
        return cls(path, nb, release, bank, paths, public, course, stubs, _owner(path, nb) if drawn else "")

    @property
    def chapter(self) -> str:
        """The chapter that it is, or was made from; "" for none."""
        return _of_the_book(self.nb, "chapter")

    @property
    def unlisted(self) -> FoundCells | None:
        """In a course, what the assignment asks and the notebook, which is its own release there, has no cell of; None
        where that is nothing."""
        there = {role.exercise for cell in self.release.cells if (role := _role(cell)) is not None}
        gone = tuple(name for name in self.public if name not in there) if self.course else ()
        return FoundCells(len(self.public), gone) if gone else None

    @property
    def title(self) -> str:
        """How the output names it."""
        return self.path.stem

    @cached_property
    def progress(self) -> Progress:
        """The record that its own `check` writes to."""
        named = os.environ.get("GPUBOOK_PROGRESS")
        return Progress(Path(named)) if named else Progress.below(self.path.resolve().parent)


class Checker:
    """Checks notebooks one after another, in children of one zygote. A context manager."""

    def __init__(self, cell_limit: float | None = None):
        from ..grading.submission import RunSettings
        from ..sandbox import Limits, Zygote

        limits = Limits() if cell_limit is None else Limits(cell=cell_limit)
        self.settings = RunSettings(limits, unsafe=True)
        self._zygote = Zygote()

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *_: object) -> None:
        self._zygote.close()

    def check(self, notebook: LearnerNotebook) -> NotebookCheck:
        """Run its cells and judge its answers."""
        from ..grading.judge import Judge
        from ..grading.submission import grade_notebook

        settings = replace(self.settings, variants=bool(notebook.owner))
        with Judge(notebook.banks) as judge:
            graded = grade_notebook(
                notebook.nb,
                notebook.release,
                notebook.bank,
                notebook.owner or "learner",
                settings,
                zygote=self._zygote,
                judge=judge,
            )
        written = _answer_cells(graded.nb)
        checks = [_checked(notebook, result, graded.verdicts, written) for result in graded.results]
        problems = graded.problems if any(one.verdict.kind == "failed" for one in checks) else ()
        messages = {name: answer["message"] for name, answer in graded.answers.items()}
        cells = notebook.unlisted or replace(graded.cells, asked=len(checks))
        return NotebookCheck(notebook, checks, problems, messages, cells)


def record(done: NotebookCheck) -> int:
    """Write the attempts and the predictions into the learner's record, as the notebook's own cells do; how many."""
    written, progress, count = _answer_cells(done.notebook.nb), done.notebook.progress, 0
    for exercise in done.exercises:
        if not exercise.judged or exercise.verdict.kind in ("empty", "lost"):
            continue
        source = _typed(done, exercise.id, written_in(written.get(exercise.id, "")))
        if done.notebook.bank[exercise.id].predict:
            if exercise.verdict.kind != "predicted" or exercise.id not in done.messages:
                continue
            progress.predict(exercise.id, done.messages[exercise.id], source)
        else:
            progress.attempt(exercise.id, source, told(exercise.verdict, exercise.points))
        count += 1
    return count


def _typed(done: NotebookCheck, exercise_id: str, source: str) -> str:
    """The answer as it would be typed into a card."""
    exercise = done.notebook.bank[exercise_id]
    try:
        answer = encoding.decode(done.messages.get(exercise_id))
    except encoding.BadMessage:
        answer = ...
    return as_typed(lookup.LocatedExercise(exercise.public(), exercise), source, answer)


def notebook_path(name: str) -> Path:
    """The notebook that a path, a folder or a chapter's name means; CheckError says where was looked."""
    path = Path(name)
    if path.is_file():
        return path
    bare = path.name == name  # a word, and so perhaps a chapter's name
    folders = [path, *([Path("study") / name] if bare else [])]
    places = [folder / f"{path.resolve().name}.ipynb" for folder in folders]
    places += [Path(f"{name}.ipynb")] if bare else []
    for place in places:
        if place.is_file():
            return place
    if path.is_dir() and len(only := sorted(file for file in path.iterdir() if is_notebook(file.name))) == 1:
        return only[0]
    if path.suffix == ".ipynb":
        raise CheckError(f"{name}: there is no such file; a notebook was expected")
    raise CheckError(
        f"{name}: neither a notebook nor a chapter of yours; {', '.join(map(str, places))} were looked for"
    )


def _of_the_book(nb: Any, name: str) -> str:
    about = nb.metadata.get("gpubook", {})
    value = about.get(name) if isinstance(about, dict) else None
    return value if isinstance(value, str) else ""


def _released(here: Path, chapter: str) -> Any:
    """The chapter as the book released it beside the key, or None: it has each exercise with its points, whatever was
    taken out of the learner's copy."""
    import nbformat

    if not chapter or Path(chapter).name != chapter:
        return None
    for solutions in lookup.solutions_folders(here):
        path = solutions.parent / "chapters" / chapter / f"{chapter}.ipynb"
        if path.is_file():
            return nbformat.read(path, as_version=4)
    return None


def _chapter_by_cells(nb: Any, path: Path, here: Path) -> str:
    """The chapter of a notebook whose own metadata are lost: the one that has most of the exercises which it grades, of
    the file's name before others; "" where it has none, or where all that it grades has its cells, by their names."""
    graded = {
        graded_cell[0] for cell in nb.cells if cell.cell_type == "code" and (graded_cell := graded_in(cell.source))
    }
    roles = {(role.exercise, role.part) for cell in nb.cells if (role := _role(cell)) is not None}
    if all({(name, "answer"), (name, "grade")} <= roles for name in graded):
        return ""
    known = {}
    for solutions in lookup.solutions_folders(here):
        for released in solutions.parent.glob("chapters/*/*.ipynb"):
            text = released.read_text(encoding="utf-8")
            known[released.stem] = sum(f'"{name}-grade"' in text for name in graded)
    best = max(known, key=lambda name: (known[name], name == path.stem), default="")
    return best if known.get(best) else ""


def _own_release(nb: Any) -> Any:
    """The notebook as its own release: its cells of exercises, each with an id. What is no role is left out."""
    from ..grading.restore import CELL_ID

    own = copy.deepcopy(nb)
    own.cells = [cell for cell in own.cells if _role(cell) is not None]
    for number, cell in enumerate(own.cells):
        if not CELL_ID.fullmatch(cell.id):
            cell.id = f"exercise-{number}"
    return own


def _role(cell: Any) -> GradeCell | None:
    """The role of a cell of an exercise, or None: a learner's file may hold anything."""
    from ..grading.restore import grade_cell, grade_id

    try:
        return grade_cell(cell) if grade_id(cell) else None
    except (AttributeError, TypeError, ValueError):
        return None


def _banks_of(here: Path, chapter: str, asked: set[str]) -> Iterator[Bank]:
    """The banks that declare these exercises, as far as they are at hand."""
    left = set(asked)
    for bank in lookup.banks(here, chapter):
        if left & bank.keys():
            yield bank
            left -= bank.keys()
        if not left:
            return


def _owner(path: Path, nb: Any) -> str:
    for name in ("GPUBOOK_OWNER", "JUPYTERHUB_USER"):
        if os.environ.get(name):
            return os.environ[name]
    if learner := _of_the_book(nb, "learner"):
        return learner
    raise CheckError(f"{path}: its numbers depend on whose it is; run `gpubook whoami YOUR-ID` beside it first")


def _answer_cells(nb: Any) -> dict[str, str]:
    """The source of each exercise's answer cell."""
    cells = ((cell, cell.metadata.get("gpubook", {})) for cell in nb.cells)
    return {
        own["exercise"]: cell.source
        for cell, own in cells
        if isinstance(own, dict) and own.get("part") == "answer" and isinstance(own.get("exercise"), str)
    }


def _checked(
    notebook: LearnerNotebook, result: Result, verdicts: dict[str, Verdict], written: dict[str, str]
) -> ExerciseCheck:
    name = result.exercise
    declared: Exercise | None = notebook.bank.get(name)
    public = notebook.public.get(name, {}) if declared is None else declared.public()
    about: dict[str, Any] = {
        "id": name,
        "title": str(public.get("title", "")),
        "kind": str(public.get("kind", "")),
        "points": float(result.max_points),
        "score": float(result.points),
    }
    by_hand = declared is not None and declared.answer.judged_by is JudgedBy.TEACHER
    if result.kind == "lost":
        judged = declared is not None and not by_hand
        return ExerciseCheck(**about, judged=judged, answered=None, verdict=Verdict(0.0, result.say, "lost"))
    if declared is None and result.kind not in ("waiting", "empty"):
        verdict = Verdict(0.0, WITHOUT_KEY, "recorded")
        return ExerciseCheck(**about, judged=False, answered=None, verdict=verdict)
    answered, cell = result.kind != "empty", written.get(name, "")
    if declared is not None and not by_hand and not answered:
        stubs = (declared.stub(), notebook.stubs.get(name, ""), "")
        answered = cell.strip() not in [stub.strip() for stub in stubs]
    if result.kind == "failed":
        verdict = Verdict(0.0, FAILED, "failed")
    elif not answered and not result.note:
        verdict = no_answer()
    elif by_hand and declared is not None and not notebook.course:
        verdict = declared.judge(cell)
    else:  # its sentence with what its cells said
        by_cell = verdicts.get(name, Verdict(0.0, result.say, result.kind, result.reason))
        verdict = replace(by_cell, say=result.say)
    judged = declared is not None and not by_hand
    return ExerciseCheck(**about, judged=judged, answered=answered, verdict=verdict)
