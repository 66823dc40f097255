"""Grade one notebook: run its cells in a confined process, take each answer as plain data, have the judge
decide.

This process does neither: it runs no learner's code and holds no key. It carries data from one to the other,
keeps the time, and writes each verdict into the grade cell's outputs, where nbgrader looks for the points.
"""

import hashlib
import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from ..answers.symbol_errors import advice
from ..answers.written import EMPTY, WAITS, untouched
from ..declaration.answer import JudgedBy
from ..declaration.bank import Bank
from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict
from ..ranks import seeds
from ..sandbox import WAITED, Child, ChildLost, Limits, Zygote
from ..values.texts import quoted
from .attachments import left_out
from .callbacks import Calls
from .judge import Judge, JudgeFailed, Question, Sitting
from .outputs import cell_outputs, error_output
from .rank_processes import Ranks, needed_cells
from .restore import GradeCell, grade_cell, grade_id, restore
from .saved_answers import taken

FAILED = "This exercise could not be judged, which is not your fault: your teacher is told."
MEASURED = "measured"  # tag of a chapter's own cells that time the machine: no answer may depend on them
EACH = 100  # characters that an output takes whatever is in it
LATE = "The submission had used up its time before this cell."


@dataclass(frozen=True)
class Result:
    """The verdict on one exercise of one learner: points (of max_points), the sentence, and what else
    happened."""

    exercise: str
    points: float
    max_points: float
    say: str
    note: str = ""
    kind: str = "wrong"


@dataclass
class GradedNotebook:
    """The executed notebook with its verdicts, the results in order, and what the teacher must know."""

    nb: Any
    results: list[Result] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)  # by exercise, those that can be judged again without a run


def grade_notebook(
    submitted: Any,
    release: Any,
    bank: Bank,
    owner: str,
    limits: Limits = Limits(),  # noqa: B008
    variants: bool = False,
    *,
    zygote: Zygote | None = None,
    judge: Judge | None = None,
    unsafe: bool = False,
    kept: Sequence[Result] = (),
    answers: Mapping[str, Any] = MappingProxyType({}),
    secret: str = "",
) -> GradedNotebook:
    """Grade a notebook as read by `restore.read_notebook` against its release.

    An exercise that has a result in `kept` keeps it, and its answer in `answers`: its cells run, and nothing is judged
    again. With the `secret` of a course, see `draws`, the same submission is asked with the same numbers.

    Without a `zygote` and a `judge` of the caller both are started for this one; raises NoSandbox where the
    system cannot shut the code in and `unsafe` is not set.
    """
    with ExitStack() as stack:
        if zygote is None:
            zygote = stack.enter_context(Zygote())
        if judge is None:
            if bank.path is None:
                raise ValueError(
                    "a bank without a file: load_bank(path) was expected, for the judge loads it from there"
                )
            judge = stack.enter_context(Judge([bank.path]))
        sitting = stack.enter_context(judge.sitting())
        run = _Run(restore(submitted, release), bank, owner, limits, variants, zygote, sitting, unsafe)
        run.kept = {result.exercise: result for result in kept}
        run.done.answers = {name: answers[name] for name in run.kept if name in answers}
        run.given_cells = {cell.id: cell for cell in release.cells if not cell.metadata.get("nbgrader")}
        run.seed = seeds.seed_of(secret, owner, run.program())
        try:
            return run.grade()
        finally:
            run.stop()


class _Run:
    """One submission on its way: the cells, the child that has run some of them, and what went wrong
    where."""

    def __init__(
        self,
        nb: Any,
        bank: Bank,
        owner: str,
        limits: Limits,
        variants: bool,
        zygote: Zygote,
        judge: Sitting,
        unsafe: bool,
    ):
        self.nb, self.bank, self.owner, self.limits, self.variants = nb, bank, owner, limits, variants
        self.zygote, self.judge, self.unsafe = zygote, judge, unsafe
        self.child: Child | None = None
        self.deadline = time.monotonic() + limits.total
        self.culprits: set[int] = set()  # cells that ended the process or their time: never run again
        self.troubles: dict[int, str] = {}  # what each cell that failed said, for its exercise's verdict
        names = [e.answer_name for e in bank.values()]
        self.shared = {name for name in names if name == "answer" or names.count(name) > 1}
        self.given_cells: dict[str, Any] = {}  # the chapter's own cells, as released
        self.seed = ""
        self.kept: dict[str, Result] = {}  # of an earlier run
        self.room = limits.shown
        self.done = GradedNotebook(nb)

    def grade(self) -> GradedNotebook:
        """Go through the cells in order."""
        for number, cell in enumerate(self.nb.cells):
            role = grade_cell(cell)
            if role is not None and role.part == "grade":
                self._decide(number, cell, role)
            elif role is not None and role.part == "written":
                self.done.results.append(written_result(cell, role))
            elif self._runs(cell):
                cell.outputs = cell_outputs(self._run_cell(number, cell.source), self._fit)
        for count, cell in enumerate((c for c in self.nb.cells if c.cell_type == "code"), start=1):
            cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = count
        return self.done

    def stop(self) -> None:
        """End the child, if there is one."""
        if self.child is not None:
            self.child.kill()
            self.child = None

    def program(self) -> Iterator[str]:
        """All that what runs, and as what, follows from: of each cell its kind, its role and its text. One text can be
        two programs, where a cell is code in the one and Markdown in the other."""
        for cell in self.nb.cells:
            yield from (cell.cell_type, grade_id(cell) or "", "given" if self._given(cell) else "", cell.source)

    # -- the learner's side ---------------------------------------------------------------------------------

    def _given(self, cell: Any) -> Any:
        """The chapter's own cell that `cell` is, unchanged, or None."""
        given = self.given_cells.get(cell.id)
        return given if given is not None and given.source == cell.source and not grade_id(cell) else None

    def _fit(self, text: Any) -> str | None:
        """As much of an output as the submission may still show, or None: a process can lift its own limits."""
        if self.room <= 0:
            return None
        kept = str(text)[: self.room].encode("utf-8", "replace").decode("utf-8")
        self.room -= len(kept) + EACH
        cut = f"\n[output cut: a submission may show {self.limits.shown:,} characters]"
        return kept if self.room > 0 else kept + cut

    def _runs(self, cell: Any) -> bool:
        if cell.cell_type != "code" or not cell.source.strip():
            return False
        given = self._given(cell)
        return given is None or MEASURED not in given.metadata.get("tags", [])

    def _run_cell(self, number: int, source: str) -> list[Any]:
        try:
            reply = self._ready(number).run(source)
        except ChildLost as lost:
            self._lost(number, lost)
            return [error_output("Lost", f"the grader stopped this cell: {lost}")]
        except _Late:
            self.troubles[number] = LATE
            return [error_output("Late", LATE)]
        if reply.get("expired"):
            self.culprits.add(number)
            waited = WAITED if self.child is not None and self.child.waited else ""
            self.troubles[number] = f"Your cell ran longer than {self.limits.cell:g} s and was stopped{waited}."
        elif reply.get("error"):
            error, said = str(reply["error"]), str(reply.get("message") or "")
            raised = f"Your cell raised {quoted(error, 80)}{f': {quoted(said, 200)}' if said else ''}."
            self.troubles[number] = f"{raised} {advice(error, said)}".rstrip()
        outputs = reply.get("outputs")
        return outputs if isinstance(outputs, list) else []

    def _lost(self, number: int, lost: ChildLost) -> None:
        self.culprits.add(number)
        self.troubles[number] = f"Your cell was stopped: {lost}."
        self.stop()

    def _ready(self, upto: int) -> Child:
        """A child that has run every cell before `upto`, but for those that end the process."""
        while self.child is None or not self.child.alive:
            if time.monotonic() > self.deadline:
                raise _Late
            self.child = self._spawn()
            try:
                self._replay(self.child, upto)
            except _Culprit as culprit:
                self._lost(culprit.number, culprit.lost)
        if time.monotonic() > self.deadline:
            self.stop()
            raise _Late
        return self.child

    def _needed(self, upto: int, exercise: str) -> set[int]:
        """Which of the cells before `upto` a rank of an exercise runs: its answer, the learner's own cells, and those
        that these need."""
        cells = self.nb.cells[:upto]
        roles = [grade_cell(cell) for cell in cells]
        asked = [
            self._given(cell) is None if role is None else role.exercise == exercise
            for cell, role in zip(cells, roles, strict=True)
        ]
        return needed_cells([cell.source if self._runs(cell) else "" for cell in cells], asked)

    def apart(self, upto: int, exercise: Exercise, needed: Collection[int] | None = None) -> Child:
        """Another child, without what the exercise withholds, in which the `needed` cells before `upto` have run, or
        all of them; apart from all others where they are ranks.

        Raises ChildLost where one of them ends it, and where the submission's time is over.
        """
        child = self._spawn(exercise.answer.judged_by is JudgedBy.RANKS, exercise.withholds)
        try:
            self._replay(child, upto, needed)
        except (_Culprit, _Late) as culprit:
            child.kill()
            raise culprit.lost if isinstance(culprit, _Culprit) else ChildLost(LATE) from None
        return child

    def _spawn(self, alone: bool = False, withholds: Sequence[str] = ()) -> Child:
        seed = hashlib.sha256(self.owner.encode("utf-8", "replace")).digest()
        return self.zygote.spawn(
            self.limits,
            files={"exercises.json": json.dumps(self.bank.public(self.variants))},
            environment={"GPUBOOK_OWNER": self.owner.replace("\0", ""), "GPUBOOK_GRADING": "1"},
            seed=int.from_bytes(seed[:7], "big"),
            unsafe=self.unsafe,
            alone=alone,
            withholds=withholds,
        )

    def _replay(self, child: Child, upto: int, needed: Collection[int] | None = None) -> None:
        for number, cell in enumerate(self.nb.cells[:upto]):
            role = grade_cell(cell)
            try:
                if role is not None and role.part == "grade":
                    if (name := self._name(role)) in self.shared:
                        child.forget(name)
                elif needed is not None and number not in needed:
                    continue
                elif self._runs(cell) and number not in self.culprits:
                    if time.monotonic() > self.deadline:
                        raise _Late
                    child.run(cell.source)
            except ChildLost as lost:
                raise _Culprit(number, lost) from None

    def _name(self, role: GradeCell) -> str:
        return self.bank[role.exercise].answer_name if role.exercise in self.bank else "answer"

    # -- the verdict ----------------------------------------------------------------------------------------

    def _decide(self, number: int, cell: Any, role: GradeCell) -> None:
        if role.exercise in self.kept:
            self._keep(number, cell, role)
            return
        name = cell.metadata["nbgrader"]["grade_id"]
        note = self._note(number, role)
        if role.exercise not in self.bank:
            self.done.problems.append(self._undeclared(name, role.exercise))
            verdict = Verdict(0.0, FAILED, "failed")
        else:
            verdict = self._verdict(number, role)
        result = result_of(role.exercise or name, role.points, verdict, note)
        self.done.results.append(result)
        cell.outputs = verdict_outputs(result)

    def _keep(self, number: int, cell: Any, role: GradeCell) -> None:
        """The earlier result stands; what later cells see is as if the answer had been taken."""
        self.done.results.append(self.kept[role.exercise])
        cell.outputs = verdict_outputs(self.kept[role.exercise])
        if (name := self._name(role)) in self.shared:
            try:
                self._ready(number).forget(name)
            except ChildLost:
                self.stop()
            except _Late:
                pass

    def _undeclared(self, cell: str, exercise: str) -> str:
        if not exercise:
            return (
                f"cell {cell!r} is a test in code, which is never run beside a learner's code; it scores 0. "
                "A grade cell of an exercise (metadata gpubook.exercise), or one graded by hand, was expected"
            )
        known = ", ".join(self.bank) or "none"
        return f"cell {cell!r} asks for the exercise {exercise!r}, undeclared: {self.bank.path} has {known}"

    def _note(self, number: int, role: GradeCell) -> str:
        """What went wrong since the last grade cell in the cell of this exercise, or in the learner's own."""
        notes = []
        for before in range(number - 1, -1, -1):
            other = grade_cell(self.nb.cells[before])
            if other is not None and other.part == "grade":
                break
            cell = self.nb.cells[before]
            own = other is None and self._given(cell) is None
            if before in self.troubles and (own or (other is not None and other.exercise == role.exercise)):
                notes.append(self.troubles[before])
        return " ".join(dict.fromkeys(reversed(notes)))

    def _verdict(self, number: int, role: GradeCell) -> Verdict:
        name = self._name(role)
        try:
            reply = self._ready(number).answer(role.exercise, name, name in self.shared)
        except ChildLost as lost:
            self.stop()
            return Verdict(0.0, f"The answer could not be read: {lost}.", "unreadable")
        except _Late:
            return Verdict(0.0, LATE, "empty")
        if "value" not in reply:
            said = quoted(str(reply.get("message") or reply.get("problem", "")), 300).strip("`")
            return Verdict(0.0, f"The answer could not be read: {said}.", "unreadable")
        if (answer := taken(self.bank[role.exercise], self.variants, reply["value"])) is not None:
            self.done.answers[role.exercise] = answer
        question = Question(role.exercise, self.owner if self.variants else None, reply["value"], self.seed)
        exercise, patience = self.bank[role.exercise], self.limits.cell + self.limits.grace
        try:
            if exercise.answer.judged_by is not JudgedBy.RANKS:
                with Calls(self, exercise, number) as calls:
                    return self.judge.ask(question, calls, patience + calls.patience)
            for needed in (self._needed(number, role.exercise), None):
                spawn = partial(self.apart, number, exercise, needed)
                with Ranks(exercise, self.limits.cell, spawn) as ranks:
                    verdict = self.judge.ask(question, ranks, patience + self.deadline - time.monotonic())
                if not ranks.missed:
                    break
            return verdict
        except JudgeFailed as error:
            self.done.problems.append(str(error))
            return Verdict(0.0, FAILED, "failed")


class _Late(Exception):
    """The submission's time is over."""


class _Culprit(Exception):
    """A cell that ran once ended the process when it ran again."""

    def __init__(self, number: int, lost: ChildLost):
        super().__init__(number)
        self.number, self.lost = number, lost


def result_of(name: str, points: float, verdict: Verdict, note: str) -> Result:
    """A verdict in points, with the `note` on what went wrong in the cells."""
    say = note if note and verdict.kind == "empty" else f"{verdict.say} {note}".strip()
    return Result(name, min(max(float(verdict.score), 0.0), 1.0) * points, points, say, note, verdict.kind)


def written_result(cell: Any, role: GradeCell) -> Result:
    """An answer in words is nobody's to judge here, and one that was never begun is worth nothing."""
    kind, say = ("empty", EMPTY) if untouched(cell.source) else ("waiting", f"{WAITS} {left_out(cell)}".rstrip())
    return Result(role.exercise, 0.0, role.points, say, kind=kind)


def verdict_outputs(result: Result) -> list[Any]:
    """The sentence, and the points as the builtin float that nbgrader reads; nothing on stderr, which would
    be a zero."""
    from nbformat.v4 import new_output

    sign = "✓" if result.points == result.max_points else "…" if result.kind == "empty" else "✗"
    sentence = f"{sign} {result.say} *{result.points:g} of {result.max_points:g} points.*"
    shown = new_output("display_data", data={"text/markdown": sentence, "text/plain": sentence}, metadata={})
    return [shown, new_output("execute_result", data={"text/plain": repr(result.points)}, metadata={})]
