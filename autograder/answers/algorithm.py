"""Algorithm answers: the learner's generator plays each rank, and the judge is the network between the ranks.

An answer is right if its result, its bytes and its rounds are right: a ring that moves twice the bytes is not a ring.
The generators run isolated from each other (see `ranks.generators`): what one rank knows of another's numbers has
passed through the judge, and was counted.

Reasons: those of `ranks.outcomes`, `ranks.named_results` and `exceeding`, not-a-function, cannot-be-run, withheld,
not-started, changes-input.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.answer import Call, JudgedBy
from ..declaration.calling import TimeUp, limited
from ..declaration.isolation import isolated
from ..declaration.verdict import AnswerError, DeclarationError, Verdict, unreadable
from ..declaration.withholding import write_it_yourself
from ..ranks import outcomes, seeds
from ..ranks.arguments import copied
from ..ranks.buffers import AFTER, Case, before, drawn
from ..ranks.generators import Budget, Rank
from ..ranks.named_results import by_name, wrong_named
from ..ranks.outcomes import RanksOutcome
from ..ranks.rehearsal import Rehearsal, Shares, counted
from ..values import encoding
from ..values.error_advice import ErrorContext, advice_on, install
from ..values.finding import Finding
from ..values.numbers import Unreadable
from ..values.texts import quoted
from .code import Coded, Program
from .exceeding import beyond_axes, beyond_bytes, beyond_neighbours, beyond_rounds, without_numbers
from .limits import Limit, at_most, exactly
from .rank_run import RankComparison, budget_of, farthest

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

MAX_CASES = 40
SECONDS_A_STEP = 2.0
TRIED_RANKS = 4  # of the run that is shown without a verdict, or as few more as a case has
MOST_TRIED = 24  # messages of it that are listed
PATIENCE = 100  # steps between every two of its ranks, after which it counts as endless


@dataclass(frozen=True)
class Algorithm(Coded):
    """A generator `name(rank, n, x)` that plays one rank: `got = yield Step(send, to, frm)`, and at the end its result.

    `cases`: the runs, as `Case` or (n, length[, dtype]), or a callable of a `random.Random` that makes the list.
    `collective` says what the ranks begin with and what they should end with; without one they begin with
    `inputs(case, generator)`, by default an array each, and should end with what the solution ends with. `rank_bytes`
    limits what the busiest rank sends, `total_bytes` what all send, `leaving_bytes` what the busiest rank sends out of
    its node (the cases' option `inner` says of how many ranks), `rounds` the longest chain of steps; None does not
    limit. Where ranks are a grid, `axis_bytes` has a limit for each of its axes, on what the busiest rank sends along
    it; the axes are sizes of the case, the one that varies fastest last. `neighbours=True` asks that a rank exchange
    messages with ranks rank - 1 and rank + 1 (mod n) only. Where x is not the algorithm's own, `in_place=False` asks
    that it be left as it was.

    Where `inputs` gives each rank several arrays, as a dict by name or a tuple in the signature's order, the function
    is `name(rank, n, a, b, ...)`, and what it returns keeps its shape: one array, or those that `returns` names, as a
    tuple in this order.
    """

    name: str = "algorithm"
    collective: str = ""
    inputs: Callable[[Case, Any], Sequence[Any]] | None = None
    returns: Sequence[str] = ()
    rounds: Limit | None = field(default_factory=at_most)
    rank_bytes: Limit | None = field(default_factory=exactly)
    total_bytes: Limit | None = field(default_factory=exactly)
    leaving_bytes: Limit | None = None
    axis_bytes: Mapping[str, Limit] = field(default_factory=dict)
    neighbours: bool = False
    rtol: float = 1e-12
    in_place: bool = True
    judged_by: ClassVar[JudgedBy] = JudgedBy.RANKS
    plays: ClassVar[str] = "generator"
    asked: ClassVar[str] = "a generator"
    said: ClassVar[str] = "the algorithm"
    ending: ClassVar[str] = ", with got = yield Step(send, to, frm)"
    at_once: ClassVar[str] = "one `Step` can do both"
    memory_limit: ClassVar[Limit | None] = None

    def __post_init__(self):
        signature = self.signature or f"{self.name}(rank, n, x)"
        if not self.name.isidentifier() or not re.fullmatch(rf"{self.name}\(rank, n, \w[^()\n]*\)", signature):
            raise DeclarationError(
                f"the signature {self.signature!r} of {self.name!r}: '{self.name}(rank, n, x)' was expected, or the "
                "names of several arrays after rank and n"
            )
        object.__setattr__(self, "signature", signature)
        if self.collective and self.collective not in AFTER:
            raise DeclarationError(
                f"collective {self.collective!r} of {self.name!r}: one of {', '.join(AFTER)} was expected"
            )
        if self.collective and self.inputs is not None:
            raise DeclarationError(f"{self.name}: inputs are those of the collective; one of the two was expected")

    def declare(self, exercise: Exercise) -> None:
        """The solution and the mistakes must be generators, or functions at least, and there must be cases."""
        self.declare_solution(exercise)
        if not all(callable(m.value) for m in exercise.mistakes):
            raise DeclarationError(f"{exercise.id}: the mistakes of an Algorithm are generator functions")
        if self.inputs is None and argument_names(self.signature)[0] != "x":
            say = f"{exercise.id}: without `inputs` a rank has one array: '{self.name}(rank, n, x)' was expected"
            raise DeclarationError(say)
        if not self.cases:
            raise DeclarationError(f"{exercise.id}: an Algorithm needs cases")
        runs = [] if callable(self.cases) else self.runs(exercise)
        if self.leaving_bytes is not None and not all("inner" in case.options for case in runs):
            raise DeclarationError(f"{exercise.id}: leaving_bytes needs the option `inner` in every case")
        for case in runs if self.axis_bytes else ():
            if math.prod(case.sizes.get(name, 0) for name in self.axis_bytes) != case.n:
                names = " x ".join(self.axis_bytes)
                raise DeclarationError(f"{exercise.id}: axis_bytes needs sizes {names} of {case.n} ranks in {case}")
        for limit in (self.rank_bytes, self.total_bytes, self.leaving_bytes, *self.axis_bytes.values(), self.rounds):
            if limit and limit.takes and limit.takes[0] != "case" and any(case.sizes for case in runs):
                say = f"{exercise.id}: a limit of (n, S), and a case with sizes has no S: let it take the case"
                raise DeclarationError(say)

    def declare_solution(self, exercise: Exercise) -> None:
        """The solution must be a generator function."""
        if not inspect.isgeneratorfunction(exercise.solution):
            raise DeclarationError(f"{exercise.id}: the solution of an Algorithm is a generator function")

    def public(self) -> dict[str, Any]:
        """The signature and the collective."""
        named = {"returns": list(self.returns)} if self.returns else {}
        return {"name": self.name, "signature": self.signature, "collective": self.collective, **named}

    @property
    def how(self) -> str:
        """How it is asked for."""
        step = "got = yield Step(send, to, frm)"
        return f"write `{self.signature}`, a generator that plays one rank: each `{step}` is a message"

    def local_call(self, value: Any, withholds: Sequence[str] = ()) -> Call | None:
        """The ranks of the generator, here, each in a world of its own."""
        return local_ranks(value, withholds)

    def runs(self, exercise: Exercise) -> list[Case]:
        """The cases, the same at each call."""
        return self.rows(exercise, lambda row: row if isinstance(row, Case) else Case(*row), MAX_CASES)

    # One run

    def begin(self, case: Case, generator: Any) -> Sequence[Any]:
        """Each rank's array, or its arrays by name. DeclarationError where these are not those of the signature."""
        if self.collective:
            return before(self.collective, case, generator)
        return (
            [self._given(case, given) for given in self.inputs(case, generator)]
            if self.inputs
            else drawn(case, generator)
        )

    def _given(self, case: Case, arrays: Any) -> Any:
        names = [name for name in argument_names(self.signature) if name not in case.options]
        if type(arrays) in (tuple, list):
            arrays = dict(zip(names, arrays, strict=False)) if len(arrays) == len(names) else {}
        if type(arrays) is not dict:
            return arrays
        if list(arrays) != names:
            difference = f"inputs gives {', '.join(arrays) or 'another number of arrays'}"
            raise DeclarationError(f"{self.name}: the signature has {', '.join(names)}, but {difference}")
        return copied(arrays)

    def shaped(self, inputs: Sequence[Any]) -> bool:
        """Whether results keep their shapes, and have names."""
        return bool(self.returns) or any(type(given) is dict for given in inputs)

    def formed(self, value: Any, inputs: Sequence[Any]) -> Any:
        """What a rank has returned, in the form in which results are compared."""
        return by_name(value, self.returns) if self.shaped(inputs) else outcomes.flat(value)

    def outcome(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> RanksOutcome:
        """Run generators that answer `call`: the declaration's own."""
        formed = lambda value: self.formed(value, inputs)
        return outcomes.observe(call, inputs, case.options, budget, case.dtype if self.shaped(inputs) else "", formed)

    def declared(self, function: Any, case: Case, inputs: Sequence[Any], budget: Budget) -> RanksOutcome:
        """Run a function of the declaration."""
        return self.outcome(direct(function), case, inputs, budget)

    def observed(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> RanksOutcome:
        """Run the learner's ranks, which answer `call`."""
        return self.outcome(call, case, inputs, budget)

    def judged_run(
        self, exercise: Exercise, call: Call, at: int, case: Case, inputs: Sequence[Any], budget: Budget
    ) -> RanksOutcome:
        """The run at this place that is judged."""
        return self.observed(call, case, inputs, budget)

    def reference(self, exercise: Exercise, case: Case, inputs: Sequence[Any]) -> tuple[RanksOutcome, Sequence[Any]]:
        """What the solution does, and what each rank should end with. DeclarationError where the two differ."""
        solution = self.declared(exercise.solution, case, inputs, Budget(10**6, 1 << 30))
        if not solution.ended:
            failure = outcomes.failure(self.name, case, solution)
            raise DeclarationError(f"{exercise.id}: the solution fails: {failure.say}")
        sides = [case[name] for name in self.axis_bytes]
        if self.neighbours and (far := solution.beyond_neighbours(sides)):
            raise DeclarationError(f"{exercise.id}: the solution sends from rank {far[0]} to {far[1]}, not a neighbour")
        if not self.collective:
            return solution, solution.outputs
        wanted = AFTER[self.collective](case, inputs)
        wrong = self._wrong_result(case, inputs, solution, wanted)
        if wrong:
            raise DeclarationError(f"{exercise.id}: the solution does not compute {self.collective}: {wrong.say}")
        return solution, wanted

    def _references(self, exercise: Exercise) -> Iterator[tuple[Case, Sequence[Any], RanksOutcome, Sequence[Any]]]:
        """Each run: what its ranks begin with, what the solution does and what they should end with."""
        begin: Callable[[], tuple[list[Any], Any]] = lambda: ([], seeds.generator(exercise.id))
        made, generator = self.once(("references", exercise.id, exercise.solution), begin)
        for at, case in enumerate(self.runs(exercise)):
            if at == len(made):
                inputs = self.begin(case, generator)
                made.append((case, inputs, *self.reference(exercise, case, inputs)))
            yield made[at]

    # The verdict

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right in every run in result, bytes and rounds; else where it fails, or whose mistake it makes."""
        try:
            self.readable(value)
        except Unreadable as error:
            return unreadable(str(error), error.reason)
        if call is None:
            return unreadable("the algorithm cannot be run here", "cannot-be-run")
        try:
            return self._judged(exercise, call)
        finally:
            getattr(call, "close", lambda: None)()  # where ranks are processes of this machine, they end here

    def _judged(self, exercise: Exercise, call: Call) -> Verdict:
        try:
            call(("prepare", max(case.n for case in self.runs(exercise))))
        except AnswerError as error:
            if error.reason == "not-installed":  # here, and not a mistake
                return Verdict(0.0, f"The ranks cannot be started here: {install('torch')}", "unreadable", error.reason)
            say = f"The ranks could not be started: {quoted(str(error), 200)}."
            return Verdict(0.0, say, "wrong", "not-started")
        done: list[RankComparison] = []
        for at, (case, inputs, solution, wanted) in enumerate(self._references(exercise)):
            mine = self.judged_run(exercise, call, at, case, inputs, budget_of(case, solution, inputs))
            done.append(RankComparison(case, inputs, solution, wanted, mine, self.shaped(inputs), [*self.axis_bytes]))
            if not mine.ended:
                break
        return self._verdict(exercise, done)

    def _verdict(self, exercise: Exercise, done: list[RankComparison]) -> Verdict:
        last = done[-1]
        if last.mine.failed is not None and last.mine.failed.kind == "empty":
            empty = outcomes.failure(self.name, last.case, last.mine)
            return Verdict(0.0, f"No answer yet: {empty.say}", "empty", empty.reason)
        finding = self._wrong(exercise, done)
        if finding is None:
            return exercise.right()
        if mistakes := self._mistakes(exercise, done):
            return Verdict(0.0, " ".join(mistakes), "mistake")
        return Verdict(0.0, finding.say, "wrong", finding.reason, wants_hint=last.mine.ended)

    def _wrong(self, exercise: Exercise, done: list[RankComparison]) -> Finding | None:
        failed = done[-1] if not done[-1].mine.ended else None
        used = failed.mine.failed if failed else None
        if used is not None and used.kind == "withheld" and used.what in exercise.withholds:
            return Finding(write_it_yourself(used.what), "withheld")
        for run in done:
            if run is failed:
                return self._failed(exercise, run.case, run.mine)
            if wrong := self._wrong_result(run.case, run.inputs, run.mine, run.wanted):
                return wrong
            if run.mine.changed and not self.in_place:
                rank = run.mine.changed[0]
                its = "a tensor" if type(run.inputs[rank]) is dict else "the x"
                say = f"With {run.case}, rank {rank} changes {its} that it was given: work on a copy."
                return Finding(say, "changes-input")
        return self.exceeding(done)

    def exceeding(self, done: Sequence[RankComparison]) -> Finding | None:
        """What the runs take beyond the limits."""
        neighbours = beyond_neighbours(done, [*self.axis_bytes]) if self.neighbours else None
        measures = self.rank_bytes, self.total_bytes, self.leaving_bytes
        finding = neighbours or beyond_axes(done, self.axis_bytes) or beyond_bytes(done, *measures)
        return finding or beyond_rounds(done, self.rounds, self.at_once) or without_numbers(done)

    def _wrong_result(
        self, case: Case, inputs: Sequence[Any], outcome: RanksOutcome, wanted: Sequence[Any]
    ) -> Finding | None:
        if self.shaped(inputs):
            return wrong_named(case, inputs, outcome.outputs, wanted, self.returns, self.rtol)
        received = outcome.received_bytes
        return outcomes.wrong_result(case, inputs, outcome.outputs, wanted, self.collective, self.rtol, received)

    def _failed(self, exercise: Exercise, case: Case, mine: RanksOutcome) -> Finding:
        """Why the ranks did not finish, and what to write instead where that is a beginner's slip."""
        finding, failed = outcomes.failure(self.name, case, mine), mine.failed
        if failed is not None and failed.kind == "withheld" and failed.what in exercise.withholds:
            return Finding(write_it_yourself(failed.what), "withheld")
        problem = failed.what if failed is not None and failed.kind in ("raises", "silent") else ""
        return Finding(finding.say + advice_on(problem, ErrorContext.of(exercise.public())), finding.reason)

    # Wrong programs of the declaration

    @property
    def depends_on_submission(self) -> bool:
        """What ranks begin with does, whatever the cases are."""
        return True

    def accepted(self, exercise: Exercise, programs: Sequence[Program]) -> list[Program]:
        """Those that are right in every run; a wrong one makes no more runs than show it."""
        runs = list(self._references(exercise))

        def wrong(function: Any, run: tuple[Case, Sequence[Any], RanksOutcome, Sequence[Any]]) -> bool:
            case, inputs, solution, wanted = run
            mine = self.declared(function, case, inputs, budget_of(case, solution, inputs))
            done = RankComparison(case, inputs, solution, wanted, mine, self.shaped(inputs), [*self.axis_bytes])
            return self._wrong(exercise, [done]) is not None

        return [(name, f) for name, f in programs if not self.shows_wrong(f, runs, partial(wrong, f))]

    # Tried, without a verdict

    def tried(self, exercise: Exercise, value: Any, call: Call) -> list[Any]:
        """Who sends what to whom in one small run, what each rank returns, and why the ranks did not finish."""
        from hwlib.tables import table

        case = min(
            self.runs(exercise), key=lambda blocks: (blocks.n < TRIED_RANKS, abs(blocks.n - TRIED_RANKS), blocks.length)
        )
        coded = self.inputs is None
        case = replace(case, length=case.n, dtype="float64") if coded else case
        inputs = self.begin(case, seeds.generator(exercise.id))
        shares = Shares.of(inputs) if coded else None
        ranks = Rehearsal(call, shares or counted)
        call(("prepare", case.n))
        budget = Budget(PATIENCE * case.n**2, 1 << 24)
        mine = self.observed(ranks, case, shares.inputs(inputs) if shares else inputs, budget)
        problems = [] if mine.ended else [self._failed(exercise, case, mine).say]
        sent = [*ranks.messages()]
        blocks = ", each with one number a block" if coded else ""
        more = f"; the first {MOST_TRIED} messages of {len(sent)}" if len(sent) > MOST_TRIED else ""
        about = f"{self.name} among {case.n} ranks{blocks}{more}"
        shown = [table(sent[:MOST_TRIED], ["step", "from → to", "sends"], about)] if sent else []
        if ranks.results:
            shown.append(table(ranks.returned(case.n, outcomes.flat), ["rank", "returns"]))
        return [*problems, *shown]

    def _mistakes(self, exercise: Exercise, done: list[RankComparison]) -> list[str]:
        """The sentences of the mistakes that behave just so in every run that was made."""
        made = []
        for mistake in exercise.mistakes:
            its = (
                self.declared_once(exercise, mistake.value, at, run.case, run.inputs, run.budget)
                for at, run in enumerate(done)
            )
            if (off := farthest(done, its, self.rtol, self.memory_limit)) is not None:
                made.append((off, exercise.fill(mistake.say, exercise.variant())))
        nearest = min((off for off, _ in made), default=0.0)
        return list(dict.fromkeys(say for off, say in made if off == nearest))

    def declared_once(
        self, exercise: Exercise, function: Any, at: int, case: Case, inputs: Sequence[Any], budget: Budget
    ) -> RanksOutcome:
        """What a function of the declaration does in a run, given by its place among them."""
        play = lambda: self.declared(function, case, inputs, budget)
        return self.once(("run", exercise.id, exercise.solution, function, at), play)


def argument_names(signature: str) -> list[str]:
    """The names after rank and n."""
    listed = signature[:-1].split("(", 1)[1].split(",")
    return [name.split("=")[0].split(":")[0].strip() for name in listed][2:]


def direct(function: Any) -> Call:
    """The ranks of a function of the declaration, in this process."""
    ranks: dict[int, Rank] = {}

    def call(request: tuple) -> Any:
        what, rank, *rest = request
        if what == "prepare":
            return None
        if what == "start":
            ranks[rank] = Rank(function)
            rest[1] = copied(rest[1])
        return ranks[rank](what, rank, *rest)

    return call


def local_ranks(function: Any, withholds: Sequence[str] = (), seconds: float = SECONDS_A_STEP) -> Call:
    """A `call` for `Exercise.judge` that runs a learner's ranks here, each in a copy of the function's world, within
    a time limit for each step where the system has one."""
    ranks: list[Rank] = []

    def call(request: tuple) -> Any:
        what, rank, *_ = request
        if what == "prepare":
            ranks.extend(Rank(isolated(function), withholds) for _ in range(len(ranks), rank))
            return None
        try:
            with limited(seconds):
                return _passed(ranks[rank](*_passed(request)))
        except TimeUp:
            return "failed", "limit", f"{seconds:g} s"
        except SystemExit:
            raise AnswerError("it ends Python (sys.exit)", "exits-python") from None

    return call


def _passed(value: Any) -> Any:
    return encoding.plain(value)
