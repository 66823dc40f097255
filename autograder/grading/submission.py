"""Grade one notebook: run its cells in a confined process, collect each answer as plain data, have the judge decide.

This process runs no learner's code and holds no key. It carries data between the two, enforces the deadlines, and
writes each verdict into the grade cell's outputs, where nbgrader looks for the points.
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

from ..declaration.answer import JudgedBy
from ..declaration.bank import Bank
from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict
from ..ranks import seeds
from ..sandbox import WAITED, Allowance, Child, ChildLost, Limits, Zygote
from ..values import encoding
from ..values.cell_names import sets
from ..values.error_advice import NOTHING_ASKED, ErrorContext, advice
from ..values.texts import quoted
from .callbacks import FunctionCalls, problem_reason
from .judge import Judge, JudgeFailed, JudgeRequest, JudgeSession
from .outputs import cell_outputs, error_output
from .rank_processes import RankProcesses, needed_cells
from .rejudging import to_save
from .restore import GradeCell, grade_cell, grade_id, restore
from .results import FAILED, GradedNotebook, Result, result_of, settled, verdict_outputs, with_cell, written_result
from .results import OUT_OF_TIME as OUT_OF_TIME_REASON

MEASURED = "measured"  # tag of a chapter's cells that time the machine: no answer may depend on them
OUTPUT_OVERHEAD = 100  # characters that any output counts for, beside its text
OUT_OF_TIME = "The submission had used up its time before this cell."


@dataclass(frozen=True)
class RunSettings:
    """Settings for every submission of a run.

    With the `secret` of a course the same submission is asked with the same numbers, see `ranks.seeds`. `unsafe` runs
    its code even where the system cannot confine it. `files` are the texts released beside the notebook, by their path.
    """

    limits: Limits = field(default_factory=Limits)
    variants: bool = False
    unsafe: bool = False
    secret: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


def grade_notebook(
    submitted: Any,
    release: Any,
    bank: Bank,
    owner: str,
    settings: RunSettings = RunSettings(),
    *,
    zygote: Zygote | None = None,
    judge: Judge | None = None,
    kept: Sequence[Result] = (),
    answers: Mapping[str, Any] = MappingProxyType({}),
) -> GradedNotebook:
    """Grade a notebook as read by `restore.read_notebook` against its release.

    An exercise that has a result in `kept` keeps it, and its answer in `answers`: its cells run, and nothing is judged
    again.

    Without a `zygote` and a `judge` of the caller both are started for this one; raises NoSandbox where the
    system cannot confine the code and the settings are not `unsafe`.
    """
    with ExitStack() as stack:
        if zygote is None:
            zygote = stack.enter_context(Zygote())
        if judge is None:
            if bank.path is None:
                raise ValueError(
                    "the bank has no file: load_bank(path) was expected, because the judge loads it from there"
                )
            judge = stack.enter_context(Judge([bank.path]))
        run = SubmissionRun(
            nb=restore(submitted, release),
            release=release,
            bank=bank,
            owner=owner,
            settings=settings,
            zygote=zygote,
            judge=stack.enter_context(judge.session()),
            kept={result.exercise: result for result in kept},
            answers=answers,
        )
        stack.callback(run.stop)
        return run.grade()


@dataclass
class SubmissionRun:
    """A submission being graded: the restored notebook `nb`, the child that has run some of its cells, and what went
    wrong in which. `kept` and `answers` are of an earlier run."""

    nb: Any
    release: Any
    bank: Bank
    owner: str
    settings: RunSettings
    zygote: Zygote
    judge: JudgeSession
    kept: Mapping[str, Result]
    answers: Mapping[str, Any]

    def __post_init__(self):
        self.limits, self.variants = self.settings.limits, self.settings.variants
        self.deadline = time.monotonic() + self.limits.total
        every = self.limits.sent_by_all
        self.allowance = Allowance(every * self.limits.sent, every * self.limits.sent_values)
        self.child: Child | None = None
        self.fatal: set[int] = set()  # cells that ended the process or their time: never run again
        self.failures: dict[int, str] = {}  # what each cell that failed said, for its exercise's verdict
        names = [e.answer_name for e in self.bank.values()]
        self.shared_names = {name for name in names if name == "answer" or names.count(name) > 1}
        self.chapter_cells = {cell.id: cell for cell in self.release.cells if not cell.metadata.get("nbgrader")}
        exercises = [role.exercise for role in map(grade_cell, self.release.cells) if role is not None]
        public = Bank([self.bank[name] for name in dict.fromkeys(exercises) if name in self.bank]).public(self.variants)
        public_json = {"exercises.json": json.dumps(public)}  # as released: of no other assignment's exercises
        self.files = {**self.settings.files, **public_json}
        self.seed = seeds.seed_of(self.settings.secret, self.owner, self.program())
        self.output_left = self.limits.shown
        self.done = GradedNotebook(self.nb)
        self.cells = self.done.cells
        self.done.answers = {name: self.answers[name] for name in self.kept if name in self.answers}

    def grade(self) -> GradedNotebook:
        """Go through the cells in order."""
        for number, cell in enumerate(self.nb.cells):
            role = grade_cell(cell)
            if role is not None and role.part == "grade":
                self._decide(number, cell, role)
            elif role is not None and role.part == "written":
                self.done.results.append(written_result(cell, role, self.cells))
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
        """Everything that determines the run: each cell's type, role and source, but for a prompt's, which may be
        worded anew. One text can be two programs, where a cell is code in the one and Markdown in the other."""
        for cell in self.nb.cells:
            role = grade_cell(cell)
            source = "" if role is not None and role.part == "prompt" else cell.source
            yield from (cell.cell_type, grade_id(cell) or "", "given" if self._chapter_cell(cell) else "", source)

    # -- the learner's side ---------------------------------------------------------------------------------

    def _chapter_cell(self, cell: Any) -> Any:
        """The chapter's own cell that `cell` is, unchanged, or None."""
        released = self.chapter_cells.get(cell.id)
        return released if released is not None and released.source == cell.source and not grade_id(cell) else None

    def _fit(self, text: Any) -> str | None:
        """As much of an output as the submission may still show, or None: a process can lift its own limits."""
        if self.output_left <= 0:
            return None
        fitting = str(text)[: self.output_left].encode("utf-8", "replace").decode("utf-8")
        self.output_left -= len(fitting) + OUTPUT_OVERHEAD
        cut = f"\n[output cut: a submission may show {self.limits.shown:,} characters]"
        return fitting if self.output_left > 0 else fitting + cut

    def _runs(self, cell: Any) -> bool:
        if cell.cell_type != "code" or not cell.source.strip():
            return False
        released = self._chapter_cell(cell)
        return released is None or MEASURED not in released.metadata.get("tags", [])

    def _run_cell(self, number: int, source: str) -> list[Any]:
        try:
            reply = self._child_before(number).run(source)
        except ChildLost as lost:
            self._mark_fatal(number, lost)
            return [error_output("Lost", f"the grader stopped this cell: {lost}")]
        except _OutOfTime:
            self.failures[number] = OUT_OF_TIME
            return [error_output("Late", OUT_OF_TIME)]
        if reply.get("expired"):
            self.fatal.add(number)
            waited = WAITED if self.child is not None and self.child.waited else ""
            self.failures[number] = (
                f"{self._whose(number)} ran longer than {self.limits.cell:g} s and was stopped{waited}."
            )
        elif reply.get("error"):
            error, message = str(reply["error"]), str(reply.get("message") or "")
            because = f": {quoted(message, 200)}" if message else ""
            raised = f"{self._whose(number)} raised {quoted(error, 80)}{because}."
            self.failures[number] = f"{raised} {advice(error, message, source, self._asked(number))}".rstrip()
        outputs = reply.get("outputs")
        return outputs if isinstance(outputs, list) else []

    def _whose(self, number: int) -> str:
        """How a verdict names a cell: an exercise's, or one that the learner has added."""
        return "Your cell" if grade_cell(self.nb.cells[number]) is not None else "A cell that you added above"

    def _asked(self, number: int) -> ErrorContext:
        """What the cell answers, as far as learners know it."""
        role = grade_cell(self.nb.cells[number])
        if role is None or role.exercise not in self.bank:
            return NOTHING_ASKED
        return ErrorContext.of(self.bank[role.exercise].public(self.variants))

    def _mark_fatal(self, number: int, lost: ChildLost) -> None:
        self.fatal.add(number)
        self.failures[number] = f"{self._whose(number)} was stopped: {lost}."
        self.stop()

    def _child_before(self, upto: int) -> Child:
        """A child that has run every cell before `upto`, but for those that end the process. Raises ChildLost once what
        all may send is spent."""
        while self.child is None or not self.child.alive:
            if self.allowance.spent:
                raise ChildLost(self.allowance.spent, "sent-too-much")
            if time.monotonic() > self.deadline:
                raise _OutOfTime
            self.child = self._spawn()
            try:
                self._replay(self.child, upto)
            except _CellEndedChild as ended:
                self._mark_fatal(ended.number, ended.lost)
        if time.monotonic() > self.deadline:
            self.stop()
            raise _OutOfTime
        return self.child

    def _needed(self, upto: int, exercise: str) -> set[int]:
        """Which of the cells before `upto` a rank of an exercise runs: its answer, the learner's own cells, and those
        that these need."""
        cells = self.nb.cells[:upto]
        roles = [grade_cell(cell) for cell in cells]
        requested = [
            self._chapter_cell(cell) is None if role is None else role.exercise == exercise
            for cell, role in zip(cells, roles, strict=True)
        ]
        return needed_cells([cell.source if self._runs(cell) else "" for cell in cells], requested)

    def separate_child(
        self, upto: int, exercise: Exercise, needed: Collection[int] | None = None, ranks: int = 1
    ) -> Child:
        """Another child, without what the exercise withholds, in which the `needed` cells before `upto` have run, or
        all of them; where it is one of so many `ranks`, apart from all others, and with its share of the memory.

        Raises ChildLost where one of them ends it, and where the submission's time is over.
        """
        child = self._spawn(exercise.answer.judged_by is JudgedBy.RANKS, exercise.withholds, ranks)
        try:
            self._replay(child, upto, needed)
        except (_CellEndedChild, _OutOfTime) as ended:
            child.kill()
            raise ended.lost if isinstance(ended, _CellEndedChild) else ChildLost(OUT_OF_TIME, "out-of-time") from None
        return child

    def _spawn(self, alone: bool = False, withholds: Sequence[str] = (), ranks: int = 1) -> Child:
        seed = hashlib.sha256(self.owner.encode("utf-8", "replace")).digest()
        return self.zygote.spawn(
            self.limits.among(ranks),
            files=self.files,
            environment={"GPUBOOK_OWNER": self.owner.replace("\0", ""), "GPUBOOK_GRADING": "1"},
            seed=int.from_bytes(seed[:7], "big"),
            unsafe=self.settings.unsafe,
            alone=alone,
            withholds=withholds,
            allowance=self.allowance,
        )

    def _replay(self, child: Child, upto: int, needed: Collection[int] | None = None) -> None:
        for number, cell in enumerate(self.nb.cells[:upto]):
            role = grade_cell(cell)
            try:
                if role is not None and role.part == "grade":
                    if (name := self._answer_name(role)) in self.shared_names:
                        child.forget(name)
                elif needed is not None and number not in needed:
                    continue
                elif self._runs(cell) and number not in self.fatal:
                    if time.monotonic() > self.deadline:
                        raise _OutOfTime
                    child.run(cell.source)
            except ChildLost as lost:
                raise _CellEndedChild(number, lost) from None

    def _answer_name(self, role: GradeCell) -> str:
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
            verdict = with_cell(self._verdict(number, role), role.exercise, self.nb, self._answer_name(role))
            self.done.verdicts[role.exercise] = verdict
        result = settled(result_of(role.exercise or name, role.points, verdict, note), role)
        self.done.results.append(result)
        cell.outputs = verdict_outputs(result)

    def _keep(self, number: int, cell: Any, role: GradeCell) -> None:
        """Keep the earlier result; later cells see what they would if the answer had been collected."""
        self.done.results.append(self.kept[role.exercise])
        cell.outputs = verdict_outputs(self.kept[role.exercise])
        if (name := self._answer_name(role)) in self.shared_names:
            try:
                self._child_before(number).forget(name)
            except ChildLost:
                self.stop()
            except _OutOfTime:
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
            own = other is None and self._chapter_cell(cell) is None
            if before in self.failures and (own or (other is not None and other.exercise == role.exercise)):
                notes.append(self.failures[before])
        if (failed := self._failed_cell(number, role)) is not None:
            notes.append(self.failures[failed])
        return " ".join(dict.fromkeys(reversed(notes)))

    def _failed_cell(self, number: int, role: GradeCell) -> int | None:
        """The last cell before `number` that sets an exercise's variable, or its answer cell, if it failed: then what
        the variable holds is from before, or half done."""
        name = self._answer_name(role)
        for before in range(number - 1, -1, -1):
            cell, other = self.nb.cells[before], grade_cell(self.nb.cells[before])
            if other is not None and other.part == "grade" and name in self.shared_names:
                return None
            own = other is not None and (other.exercise, other.part) == (role.exercise, "answer")
            if self._runs(cell) and ((own and before in self.failures) or sets(cell.source, name)):
                return before if before in self.failures else None
        return None

    def _verdict(self, number: int, role: GradeCell) -> Verdict:
        name = self._answer_name(role)
        try:
            child = self._child_before(number)
            reply = child.answer(role.exercise, name, name in self.shared_names)
        except ChildLost as lost:
            self.stop()
            return Verdict(0.0, f"The answer could not be read: {lost}.", "unreadable", lost.reason)
        except _OutOfTime:
            return Verdict(0.0, OUT_OF_TIME, "empty", OUT_OF_TIME_REASON)
        if "value" not in reply:
            problem = quoted(str(reply.get("message") or reply.get("problem", "")), 300).strip("`")
            return Verdict(0.0, f"The answer could not be read: {problem}.", "unreadable", problem_reason(reply))
        value = reply["value"] if self._failed_cell(number, role) is None else encoding.encode(...)
        if (answer := to_save(self.bank[role.exercise], self.variants, value)) is not None:
            self.done.answers[role.exercise] = answer
        return self._judged(number, role, child, value)

    def _judged(self, number: int, role: GradeCell, child: Child, value: Any) -> Verdict:
        """The judge's verdict on what the `child` gave as an answer."""
        question = JudgeRequest(role.exercise, self.owner if self.variants else None, value, self.seed)
        exercise, patience = self.bank[role.exercise], self.limits.cell + self.limits.grace
        try:
            if exercise.answer.judged_by is not JudgedBy.RANKS:
                if exercise.withholds:
                    patience += max(0.0, self.deadline - time.monotonic())
                spawn = partial(self.separate_child, number, exercise)
                with FunctionCalls(exercise, self.limits.cell, child, spawn) as calls:
                    return self.judge.ask(question, calls, patience)
            for needed in (self._needed(number, role.exercise), None):
                spawn_rank = partial(self.separate_child, number, exercise, needed)
                with RankProcesses(exercise, self.limits.cell, spawn_rank) as ranks:
                    verdict = self.judge.ask(question, ranks, patience + self.deadline - time.monotonic())
                if not ranks.missed:
                    break
            return verdict
        except JudgeFailed as error:
            self.done.problems.append(str(error))
            return Verdict(0.0, FAILED, "failed")


class _OutOfTime(Exception):
    """The submission's time is over."""


class _CellEndedChild(Exception):
    """A cell that ran once ended the process when it ran again."""

    def __init__(self, number: int, lost: ChildLost):
        super().__init__(number)
        self.number, self.lost = number, lost
