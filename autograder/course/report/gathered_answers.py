"""All that is known of a graded class: its results, the answers that were kept, the cells, the roster, the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...declaration.bank import Bank
from ...declaration.exercise import Exercise
from ...declaration.given import Given
from ...declaration.verdict import AS_PREDICTED, Verdict
from ...declaration.worked import solution_code, solution_of
from ...grading.fingerprints import of_keys
from ...grading.restore import read_notebook
from ...grading.results import Result
from ...values import encoding
from ...values.numbers import Unreadable
from ...values.own_file import json_of
from ...values.own_folder import own
from .. import gradebook
from ..banks import CourseBank, bank_of
from ..class_results.class_result import ClassResult
from ..class_results.stored_results import results
from ..gradebook import AssignmentScore, full_name
from ..layout import read_config, released
from ..run.journal import JournalEntry, finished_entries
from ..submissions import refused_uploads

MOST_SHOWN = 120  # letters of an answer
NOTHING = object()  # in place of an answer that was not kept
NAMED = ("mistake", "slip", "predicted")  # kinds of verdicts that may have the sentence of a mistake
# Reasons of a verdict on code that ended before it gave an answer.
CRASHED = {"raises", "time-limit", "exits-python", "process-ended", "out-of-time", "forged-reply"}


@dataclass(frozen=True)
class Answered:
    """One learner's answer to one exercise: the result, the numbers that it is for, and as plain data what was
    answered, or NOTHING."""

    learner: str
    result: Result
    given: Given
    value: Any = NOTHING
    mistakes: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """All points; of a prediction, that it came true."""
        if self.result.kind == "predicted":
            return self.result.reason == AS_PREDICTED
        return self.result.points >= self.result.max_points > 0 or self.result.kind == "right"

    @property
    def outcome(self) -> str:
        """One of OUTCOMES: each answer has one."""
        result = self.result
        if result.kind == "waiting":
            return "waiting"
        if self.right:
            return "right"
        if result.points > 0 and result.kind != "predicted":
            return "partial"
        if result.reason in CRASHED or (result.note and result.kind in ("empty", "lost", "unreadable")):
            return "crashed"
        if result.kind in ("empty", "failed", "lost"):
            return result.kind
        if result.kind in ("unreadable", "unit"):
            return "unread"
        return "mistake" if self.mistakes else "wrong"


OUTCOMES = {
    "right": "right",
    "partial": "a part of the points",
    "mistake": "a mistake with a name",
    "wrong": "wrong otherwise",
    "unread": "not readable",
    "crashed": "crashed or stopped",
    "empty": "no answer",
    "lost": "no cell for the answer",
    "failed": "could not be judged",
    "waiting": "to be graded by hand",
}


@dataclass
class Gathered:
    """A graded assignment of the course in `folder`."""

    folder: Path
    name: str
    result: ClassResult
    scores: dict[str, AssignmentScore]  # of everybody in the gradebook
    bank: Bank
    variants: bool
    entries: dict[str, JournalEntry]
    paths: list[Path] = field(default_factory=list)  # of the bank
    sources: dict[str, dict[str, str]] = field(default_factory=dict)  # the answer cells, by exercise and learner
    stubs: dict[str, str] = field(default_factory=dict)  # of them, as they were released
    solutions: dict[str, str] = field(default_factory=dict)  # the teacher's: code, or a model answer

    @classmethod
    def of(cls, folder: Path, name: str, *, with_cells: bool = True) -> Gathered:
        """Read all of it; FileNotFoundError or CourseError say what is missing. The cells take most of the time."""
        folder = folder.resolve()
        config, path = read_config(folder), released(folder, name)
        result, release_nb = results(folder, name), read_notebook(path)
        result.refused = refused_uploads.load(folder, name)
        bank = bank_of(folder, release_nb, path)
        scores = {score.person.id: score for score in gradebook.scores(folder, [name])[name]}
        variants = bool(config.GradeInSandbox.get("variants", False))
        entries = finished_entries(folder, name)
        made = cls(folder, name, result, scores, bank, variants, entries, _paths(bank))
        if with_cells:
            made.stubs = {one: text for one, text in _answer_cells(path) if one in bank}
            made.solutions = dict(_solutions(folder / "source" / name / f"{name}.ipynb", bank))
            for learner in result.learners:
                if not learner.submitted_by:
                    made._read_cells(learner.name)
        return made

    @cached_property
    def mates(self) -> dict[str, str]:
        """Who submitted for each learner of a group who did not; one submission is one piece of work."""
        return {one.name: one.submitted_by for one in self.result.learners if one.submitted_by}

    def submitter(self, learner: str) -> str:
        """Who submitted what a learner has, whose numbers it is for."""
        return self.mates.get(learner, learner)

    def entry_of(self, learner: str) -> JournalEntry | None:
        """What a run has kept of the submission that counts for a learner."""
        return self.entries.get(self.submitter(learner))

    def _read_cells(self, learner: str) -> None:
        for exercise, text in self.cells_of(learner).items():
            self.sources.setdefault(exercise, {})[learner] = text

    def cells_of(self, learner: str) -> dict[str, str]:
        """The answer cells of a learner, by exercise, as they were graded."""
        entry = self.entry_of(learner)
        path = own(self.folder, f"{self.name}.graded", entry.notebook) if entry else None
        return dict(_answer_cells(path)) if path is not None and path.is_file() else {}

    @cached_property
    def names(self) -> dict[str, str]:
        """What each learner is called: the roster's name, or else the id."""
        known = {who: full_name(score.person) for who, score in self.scores.items()}
        return {one.name: one.name for one in self.result.learners} | known

    @cached_property
    def missing(self) -> list[str]:
        """The ids of the roster who have submitted nothing, not even what was refused."""
        there = {learner.name for learner in self.result.learners} | self.result.refused.keys()
        return sorted(who for who, score in self.scores.items() if not score.graded and who not in there)

    def given_to(self, exercise: Exercise, learner: str) -> dict[str, Any]:
        """The numbers that a learner's answer is for: of a group, those of who submitted."""
        return exercise.variant(self.submitter(learner) if self.variants else None)

    @cached_property
    def answers(self) -> dict[str, list[Answered]]:
        """The answers of all who are graded, by exercise."""
        by_exercise: dict[str, list[Answered]] = {name: [] for name in self.result.exercises}
        for learner in self.result.learners:
            for result in learner.results:
                by_exercise.setdefault(result.exercise, []).append(self.answered(learner.name, result))
        return by_exercise

    def answered(self, learner: str, result: Result) -> Answered:
        """A result with what was answered."""
        exercise = self.bank.get(result.exercise)
        if exercise is None:
            return Answered(learner, result, {})
        numbers = self.given_to(exercise, learner)
        mistakes = result.mistakes
        if not mistakes and result.kind in NAMED:  # of an earlier version, or of a prediction
            mistakes = exercise.mistakes_of(Verdict(0.0, result.say, result.kind, result.reason), numbers)
        return Answered(learner, result, numbers, self._value(learner, result.exercise), mistakes)

    def _value(self, learner: str, exercise: str) -> Any:
        entry = self.entry_of(learner)
        recorded = entry.answers.get(exercise) if entry else None
        try:
            return encoding.decode(recorded["message"]) if recorded else NOTHING
        except encoding.BadMessage:
            return NOTHING

    @cached_property
    def keys(self) -> dict[str, str]:
        """The digest of each exercise's key as it is now."""
        return of_keys(self.paths, self.bank)

    def key_changed(self, learner: str, exercise: str) -> bool:
        """Whether the key has changed since this answer was judged."""
        entry = self.entry_of(learner)
        return entry is not None and entry.fingerprint.keys.get(exercise) != self.keys.get(exercise)


def _paths(bank: CourseBank) -> list[Path]:
    return bank.paths


def _answer_cells(path: Path) -> Iterator[tuple[str, str]]:
    """The exercise and the text of each answer cell of one of our own notebooks, whose roles are restored."""
    yield from json_of(path, "remove it, and grade or assign again, which writes it anew", _answers_in, CourseError)


def _answers_in(plain: Any) -> list[tuple[str, str]]:
    marked = [(cell["metadata"].get("gpubook", {}), cell) for cell in plain["cells"]]
    answers = [(own, cell) for own, cell in marked if own.get("part") == "answer" and "exercise" in own]
    return [(own["exercise"], "".join(cell["source"])) for own, cell in answers]


def _solutions(path: Path, bank: Bank) -> Iterator[tuple[str, str]]:
    """What the teacher's notebook, or the declaration, has for a solution, where it is code or words."""
    for name, text in _answer_cells(path) if path.is_file() else ():
        if name in bank:
            yield name, solution_code(bank[name], text) or solution_of(text) or text


def reader(folder: Path, name: str) -> Callable[[str, Result], str] | None:
    """What a learner has answered in an exercise, as it was read; None where there is no key to read it by."""
    try:
        gathered = Gathered.of(folder, name, with_cells=False)
    except ValueError:  # of a course, or of a declaration
        return None

    def read(learner: str, result: Result) -> str:
        answered = gathered.answered(learner, result)
        if answered.value is NOTHING or gathered.bank[result.exercise].answer.blank(answered.value):
            return ""
        try:
            return gathered.bank[result.exercise].answer.as_read(answered.value)[:MOST_SHOWN]
        except (Unreadable, ArithmeticError, RecursionError):
            return ""

    return read
