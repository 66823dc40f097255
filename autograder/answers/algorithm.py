"""Algorithm answers: the learner's generator plays each rank, and the judge is the network between the ranks.

An answer is right if its result, its bytes and its rounds are right: a ring that moves twice the bytes is not a ring.
The generators run isolated from each other (see `ranks.generators`): what one rank knows of another's numbers has
passed through the judge, and was counted.

Reasons: those of `ranks.outcomes`, not-a-function, cannot-be-run, withheld, not-started, changes-input,
not-a-neighbour, one-rank-carries; of numbers that no known mistake explains, rank-bytes, total-bytes, leaving-bytes,
rounds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.answer import Call, JudgedBy
from ..declaration.calling import TimeUp, limited
from ..declaration.isolation import isolated
from ..declaration.verdict import AnswerError, DeclarationError, Verdict, unreadable
from ..declaration.withholding import write_it_yourself
from ..ranks import outcomes, seeds
from ..ranks.buffers import AFTER, Case, before, drawn
from ..ranks.generators import Budget, Rank
from ..ranks.outcomes import Outcome
from ..values import encoding
from ..values.error_advice import Asked, advice_on, install
from ..values.finding import Finding
from ..values.numbers import Unreadable
from ..values.texts import quoted
from .code import Coded

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

MAX_CASES = 40
SECONDS_A_STEP = 2.0
PATIENCE = 20  # times what the solution takes, in steps and bytes, before a run counts as endless


@dataclass(frozen=True)
class Limit:
    """An exact number or an upper limit: `of(n, S)` for n ranks whose arrays have S bytes each, of a kernel's numbers
    by name, or what the solution takes."""

    exact: bool
    of: Callable[..., float] | None = None

    def allowed(self, case: Case, solution: float) -> float:
        """The number for one run."""
        return float(self.of(case.n, case.size)) if self.of else float(solution)

    def broken(self, got: float, allowed: float) -> bool:
        """Whether a number is not allowed, rounding aside."""
        slack = 1e-9 * max(abs(allowed), 1)
        return got > allowed + slack or (self.exact and got < allowed - slack)

    @property
    def words(self) -> str:
        """How it is said."""
        return "" if self.exact else "at most "


def exactly(of: Callable[..., float] | None = None) -> Limit:
    """No more and no less."""
    return Limit(True, of)


def at_most(of: Callable[..., float] | None = None) -> Limit:
    """Fewer are right too."""
    return Limit(False, of)


@dataclass(frozen=True)
class Algorithm(Coded):
    """A generator `name(rank, n, x)` that plays one rank: `got = yield Step(send, to, frm)`, and at the end its result.

    `cases`: the runs, as `Case` or (n, length[, dtype]), or a callable of a `random.Random` that makes the list.
    `collective` says what the ranks begin with and what they should end with; without one they begin with
    `inputs(case, generator)`, by default an array each, and should end with what the solution ends with. `rank_bytes`
    limits what the busiest rank sends, `total_bytes` what all send, `leaving_bytes` what the busiest rank sends out of
    its node (the cases' option `inner` says of how many ranks), `rounds` the longest chain of steps; None does not
    limit. `neighbours=True` asks that a rank exchange messages with ranks rank - 1 and rank + 1 (mod n) only. Where x
    is not the algorithm's own, `in_place=False` asks that it be left as it was.
    """

    name: str = "algorithm"
    collective: str = ""
    inputs: Callable[[Case, Any], Sequence[Any]] | None = None
    rounds: Limit | None = field(default_factory=at_most)
    rank_bytes: Limit | None = field(default_factory=exactly)
    total_bytes: Limit | None = field(default_factory=exactly)
    leaving_bytes: Limit | None = None
    neighbours: bool = False
    rtol: float = 1e-12
    in_place: bool = True
    judged_by: ClassVar[JudgedBy] = JudgedBy.RANKS
    plays: ClassVar[str] = "generator"
    asked: ClassVar[str] = "a generator"
    said: ClassVar[str] = "the algorithm"
    ending: ClassVar[str] = ", with got = yield Step(send, to, frm)"

    def __post_init__(self):
        signature = self.signature or f"{self.name}(rank, n, x)"
        if not self.name.isidentifier() or not re.fullmatch(rf"{self.name}\(rank, n, x[^()\n]*\)", signature):
            raise DeclarationError(
                f"the signature {self.signature!r} of {self.name!r}: '{self.name}(rank, n, x)' was expected"
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
        if not inspect.isgeneratorfunction(exercise.solution):
            raise DeclarationError(f"{exercise.id}: the solution of an Algorithm is a generator function")
        if not all(callable(m.value) for m in exercise.mistakes):
            raise DeclarationError(f"{exercise.id}: the mistakes of an Algorithm are generator functions")
        if not self.cases:
            raise DeclarationError(f"{exercise.id}: an Algorithm needs cases")
        runs = [] if callable(self.cases) else self.runs(exercise)
        if self.leaving_bytes is not None and not all("inner" in case.options for case in runs):
            raise DeclarationError(f"{exercise.id}: leaving_bytes needs the option `inner` in every case")

    def public(self) -> dict[str, Any]:
        """The signature and the collective."""
        return {"name": self.name, "signature": self.signature, "collective": self.collective}

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
        """Each rank's array."""
        if self.collective:
            return before(self.collective, case, generator)
        return self.inputs(case, generator) if self.inputs else drawn(case, generator)

    def outcome(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> Outcome:
        """Run generators that answer `call`: the declaration's own."""
        return outcomes.observe(call, inputs, case.options, budget)

    def observed(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> Outcome:
        """Run the learner's ranks, which answer `call`."""
        return self.outcome(call, case, inputs, budget)

    def reference(self, exercise: Exercise, case: Case, inputs: Sequence[Any]) -> tuple[Outcome, Sequence[Any]]:
        """What the solution does, and what each rank should end with. DeclarationError where the two differ."""
        solution = self.outcome(direct(exercise.solution), case, inputs, Budget(10**6, 1 << 30))
        if not solution.ended:
            failure = outcomes.failure(self.name, case, solution)
            raise DeclarationError(f"{exercise.id}: the solution fails: {failure.say}")
        if self.neighbours and (far := solution.beyond_neighbours()):
            raise DeclarationError(f"{exercise.id}: the solution sends from rank {far[0]} to {far[1]}, not a neighbour")
        if not self.collective:
            return solution, solution.outputs
        wanted = AFTER[self.collective](case, inputs)
        wrong = outcomes.wrong_result(case, inputs, solution.outputs, wanted, self.collective, self.rtol)
        if wrong:
            raise DeclarationError(f"{exercise.id}: the solution does not compute {self.collective}: {wrong.say}")
        return solution, wanted

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
        generator, done = seeds.generator(exercise.id), []
        for case in self.runs(exercise):
            inputs = self.begin(case, generator)
            solution, wanted = self.reference(exercise, case, inputs)
            mine = self.observed(call, case, inputs, _budget(case, solution))
            done.append(_Done(case, inputs, solution, wanted, mine))
            if not mine.ended:
                break
        return self._verdict(exercise, done)

    def _verdict(self, exercise: Exercise, done: list[_Done]) -> Verdict:
        last = done[-1]
        if last.mine.failed is not None and last.mine.failed.kind == "empty":
            empty = outcomes.failure(self.name, last.case, last.mine)
            return Verdict(0.0, f"No answer yet: {empty.say}", "empty", empty.reason)
        found = self._wrong(exercise, done)
        if found is None:
            return exercise.right()
        if mistakes := self._mistakes(exercise, done):
            return Verdict(0.0, " ".join(mistakes), "mistake")
        return Verdict(0.0, found.say, "wrong", found.reason, wants_hint=last.mine.ended)

    def _wrong(self, exercise: Exercise, done: list[_Done]) -> Finding | None:
        failed = done[-1] if not done[-1].mine.ended else None
        used = failed.mine.failed if failed else None
        if used is not None and used.kind == "withheld" and used.what in exercise.withholds:
            return Finding(write_it_yourself(used.what), "withheld")
        for run in done:
            if run is failed:
                return self._failed(exercise, run)
            wrong = outcomes.wrong_result(
                run.case, run.inputs, run.mine.outputs, run.wanted, self.collective, self.rtol, run.mine.received_bytes
            )
            if wrong:
                return wrong
            if run.mine.changed and not self.in_place:
                rank = run.mine.changed[0]
                say = f"With {run.case}, rank {rank} changes the x that it was given: work on a copy."
                return Finding(say, "changes-input")
        return self._beyond(done) or self._bytes(done) or self._rounds(done)

    def _failed(self, exercise: Exercise, run: _Done) -> Finding:
        """Why the ranks did not finish, and what to write instead where that is a beginner's slip."""
        found, failed = outcomes.failure(self.name, run.case, run.mine), run.mine.failed
        said = failed.what if failed is not None and failed.kind in ("raises", "silent") else ""
        return Finding(found.say + advice_on(said, Asked.of(exercise.public())), found.reason)

    def _beyond(self, done: list[_Done]) -> Finding | None:
        """A message between ranks that are not neighbours, where only these may talk to each other."""
        for run in done if self.neighbours else ():
            if far := run.mine.beyond_neighbours():
                say = (
                    f"The result is right, but with {run.case}, rank {far[0]} sends to rank {far[1]}: a rank talks to "
                    "its two neighbours only, ranks `(rank - 1) % n` and `(rank + 1) % n`."
                )
                return Finding(say, "not-a-neighbour")
        return None

    def _bytes(self, done: list[_Done]) -> Finding | None:
        from hwlib.units import show

        measures: tuple[tuple[Limit | None, Callable[[Outcome, Case], Sequence[float]], Any, str, str], ...] = (
            (self.rank_bytes, lambda o, _: o.sent_bytes, max, "rank {rank} sends", "rank-bytes"),
            (self.total_bytes, lambda o, _: o.sent_bytes, sum, "the ranks send", "total-bytes"),
            (self.leaving_bytes, lambda o, case: o.leaving_bytes(case.options["inner"]), max,
             "rank {rank} sends out of its node", "leaving-bytes"),
        )  # fmt: skip
        for limit, sent, of, who, measured in measures:
            if limit is None:
                continue
            rows = []
            for run in done:
                got, best = (float(of(sent(outcome, run.case))) for outcome in (run.mine, run.solution))
                rows.append((run.case, got, limit.allowed(run.case, best), run))
            broken = [row for row in rows if limit.broken(row[1], row[2])]
            if not broken:
                continue
            case, got, allowed, run = max(outcomes.clear(broken), key=lambda row: row[0].n)
            by_rank = sent(run.mine, case)
            rank = max(range(case.n), key=lambda r: by_rank[r])
            say = f"The result is right, but with {case} ({show(case.size, 'B')}), {who.format(rank=rank)} "
            say += f"{show(got, 'B')}{' in all' if of is sum else ''}; {limit.words}{show(allowed, 'B')} "
            why = outcomes.pattern([row[:3] for row in broken])
            if of is max and got > allowed and _lopsided(run.mine) and not _lopsided(run.solution):
                why = Finding("one rank carries the messages of the others", "one-rank-carries")
            say += f"{'was' if limit.exact else 'were'} expected"
            return _because(say, why, measured)
        return None

    def _rounds(self, done: list[_Done]) -> Finding | None:
        limit = self.rounds
        if limit is None:
            return None
        rows = [(run.case, run.mine.rounds, limit.allowed(run.case, run.solution.rounds)) for run in done]
        broken = [row for row in rows if limit.broken(row[1], row[2])]
        if not broken:
            return None
        case, got, allowed = max(outcomes.clear(broken), key=lambda row: row[0].n)
        say = (
            f"The result and the bytes are right, but with {case} it takes {got} round{'s' if got != 1 else ''}; "
            f"{limit.words}{allowed:g} {'was' if allowed == 1 else 'were'} expected"
        )
        return _because(say, outcomes.slow(broken), "rounds")

    def _mistakes(self, exercise: Exercise, done: list[_Done]) -> list[str]:
        """The sentences of the mistakes that behave just so in every run that was made."""
        said = []
        for mistake in exercise.mistakes:
            call = direct(mistake.value)
            if all(
                outcomes.alike(
                    run.mine, self.outcome(call, run.case, run.inputs, _budget(run.case, run.solution)), self.rtol
                )
                for run in done
            ):
                said.append(exercise.fill(mistake.say, exercise.variant()))
        return list(dict.fromkeys(said))


@dataclass(frozen=True)
class _Done:
    """One run: what each rank began with, what the solution did, what each should end with, what the learner did."""

    case: Case
    inputs: Sequence[Any]
    solution: Outcome
    wanted: Sequence[Any]
    mine: Outcome


def _budget(case: Case, solution: Outcome) -> Budget:
    """Far more than it takes, and an end."""
    steps = case.n * PATIENCE * (solution.rounds + case.n)
    return Budget(steps, PATIENCE * int(sum(solution.sent_bytes) + case.n**2 * case.size))


def _lopsided(outcome: Outcome) -> bool:
    sent = outcome.sent_bytes
    return max(sent) * len(sent) > 1.5 * sum(sent)


def _because(say: str, why: Finding | None, measured: str) -> Finding:
    """A sentence with its cause, if one is known; the reason is then that of the cause."""
    if why is None:
        return Finding(f"{say}.", measured)
    return Finding(f"{say}: {why.say}{'' if why.say.endswith('?') else '.'}", why.reason)


def direct(function: Any) -> Call:
    """The ranks of a function of the declaration, in this process."""
    ranks: dict[int, Rank] = {}

    def call(request: tuple) -> Any:
        what, rank, *rest = request
        if what == "prepare":
            return None
        if what == "start":
            ranks[rank] = Rank(function)
            rest[1] = rest[1].copy()
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
    return encoding.decode(encoding.encode(value))
