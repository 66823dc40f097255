"""Kernel answers: the learner writes a kernel in Triton's language, and the judge is the memory.

The learner's process only says what each program of the grid does (see `ranks.traced`); the judge does it on numbers
of its own, so values, bytes, sectors, FLOPs and live tiles are counted and never claimed.

Reasons: those of `hwlib.tl.KernelError` and of `AnswerError`, not-a-function, cannot-be-run, stores-nothing,
never-stored, wrong-value, changes-input; of numbers that are not allowed, kernel-bytes, sectors, hbm-bytes, tile-bytes,
flops.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.answer import Box, Call
from ..declaration.calling import local_call
from ..declaration.verdict import AnswerError, DeclarationError, Verdict, unreadable
from ..declaration.withholding import Withheld, write_it_yourself
from ..ranks import seeds, whereabouts
from ..ranks.traced import Traced, programs
from ..values.error_advice import NOTHING_ASKED, ErrorContext, advice_on
from ..values.finding import Finding
from ..values.numbers import Unreadable
from ..values.texts import quoted
from .code import Coded, Program
from .limits import Limit, at_most

if TYPE_CHECKING:
    from hwlib.tl import L2, Run

    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

MAX_CASES = 20
ROUNDING = 1e-5  # of the largest element: what sums of some hundred float32 in another order differ by
OF_MEMORY = ("out-of-bounds", "race", "unwritten", "element-twice")  # failures that say what was thought
MOST_WORK = 2**26  # elements of all results of the declaration's own kernels
PATIENCE = 50  # times the elements that the solution makes, before a run counts as endless


@dataclass(frozen=True)
class Launch:
    """One run of a kernel: its grid, and its arguments by name.

    A tuple is the shape of an array that is drawn anew for each run, an `Empty` (`tl.empty(shape)`) an array to write;
    anything else reaches the kernel as it is.
    """

    grid: int | tuple[int, ...]
    given: Mapping[str, Any]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The grid with three axes."""
        x, y, z = (*(self.grid if isinstance(self.grid, tuple) else (self.grid,)), 1, 1)[:3]
        return x, y, z

    @property
    def numbers(self) -> dict[str, Any]:
        """The arguments that are not arrays."""
        return {name: one for name, one in self.given.items() if type(one) in (int, float)}

    def arrays(self, generator: Any) -> dict[str, Any]:
        """The arrays, freshly drawn."""
        from hwlib.tl.arrays import library

        return {
            name: generator.standard_normal(one).astype(library().float32) if isinstance(one, tuple) else one
            for name, one in self.given.items()
            if name not in self.numbers
        }

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.numbers.items())


@dataclass(frozen=True)
class Kernel(Coded):
    """A kernel `name(x_ptr, ..., BLOCK: tl.constexpr)` in the subset of Triton's language that `hwlib.tl` has.

    `cases`: the runs, as `Launch`, or a callable of a `random.Random` that makes the list. The arrays must end as the
    solution's do: each element within `rtol`, but for the rounding of sums. `bytes` limits what all programs load and
    store, of the arrays `counted` where it names some; `sectors` the pieces of 32 bytes that each load and store
    touches, `tile_bytes` the floats that a program holds at once, `flops` the operations; without a function of the
    arguments, a limit is what the solution takes, and None does not limit. `hbm_bytes` limits what passes between HBM
    and `l2`, a `tl.L2`: its size, and how many programs run at a time.
    """

    name: str = "kernel"
    bytes: Limit | None = field(default_factory=at_most)
    counted: tuple[str, ...] = ()
    sectors: Limit | None = None
    hbm_bytes: Limit | None = None
    l2: L2 | None = None
    tile_bytes: Limit | None = None
    flops: Limit | None = None
    rtol: float = 1e-4
    plays: ClassVar[str] = "kernel"
    asked: ClassVar[str] = "a kernel"
    said: ClassVar[str] = "the kernel"

    def __post_init__(self):
        if not self.name.isidentifier() or not re.fullmatch(rf"{self.name}\([^()\n]+\)", self.signature):
            raise DeclarationError(
                f"the signature {self.signature!r} of {self.name!r}: '{self.name}(x_ptr, out_ptr, n)' was expected"
            )

        if unknown := set(self.counted) - set(re.findall(r"\w+", self.signature)):
            raise DeclarationError(f"{self.name}: {', '.join(sorted(unknown))} is counted; arguments were expected")
        if self.hbm_bytes and not self.l2:
            raise DeclarationError(f"{self.name}: hbm_bytes are counted behind an l2; `l2=tl.L2(...)` was expected")

    def declare(self, exercise: Exercise) -> None:
        """The solution and the mistakes must be functions, and there must be cases with something to write."""
        if not callable(exercise.solution) or not all(callable(m.value) for m in exercise.mistakes):
            raise DeclarationError(f"{exercise.id}: the solution and mistakes of a Kernel are kernels")
        if not self.cases:
            raise DeclarationError(f"{exercise.id}: a Kernel needs cases")

    @property
    def how(self) -> str:
        """The kernel, by its signature."""
        return f"write `{self.signature}`, a kernel in the language of `tl`"

    def asked_with(self) -> str:
        """Which part of Triton's language there is, folded."""
        return language()

    def box(self, exercise: Exercise) -> Box | None:
        """An editor, with the same above it."""
        box = super().box(exercise)
        return box and replace(box, above=language())

    def public(self) -> dict[str, Any]:
        """The signature."""
        return {"name": self.name, "signature": self.signature}

    def local_call(self, value: Any, withholds: Any = ()) -> Call | None:
        """Records of the kernel's programs, made here."""
        return local_call(value, withholds, calls=Traced)

    def launches(self, exercise: Exercise) -> list[Launch]:
        """The cases, the same at each call."""
        return self.rows(exercise, _launch, MAX_CASES)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right in every run in values and in what it takes; else where it fails, or whose mistake it makes."""
        try:
            self.readable(value)
        except Unreadable as error:
            return unreadable(str(error), error.reason)
        if call is None:
            return unreadable("the kernel cannot be run here", "cannot-be-run")
        context = ErrorContext.of(exercise.public())
        done: list[_Done] = []
        for launch, arrays, solution in self._references(exercise):
            mine = self._run(call, launch, arrays, PATIENCE * solution.work, context)
            done.append((launch, arrays, solution, mine))
            if isinstance(mine, Finding):
                break
        return self._verdict(exercise, done)

    def _references(self, exercise: Exercise) -> Iterator[tuple[Launch, Mapping[str, Any], Run]]:
        """Each run: the arrays that it begins with, and what the solution does. DeclarationError where it fails."""
        begin: Callable[[], tuple[list[Any], Any]] = lambda: ([], seeds.generator(exercise.id))
        made, generator = self.once(("references", exercise.id, exercise.solution), begin)
        for at, launch in enumerate(self.launches(exercise)):
            if at == len(made):
                arrays = launch.arrays(generator)
                solution = self._run(Traced(exercise.solution), launch, arrays)
                if isinstance(solution, Finding):
                    raise DeclarationError(f"{exercise.id}: the solution fails: {solution.say}")
                made.append((launch, arrays, solution))
            yield made[at]

    @property
    def depends_on_submission(self) -> bool:
        """The arrays do, whatever the launches are."""
        return True

    def accepted(self, exercise: Exercise, programs: Sequence[Program]) -> list[Program]:
        """Those that are right in every run; a wrong one makes no more runs than show it."""
        runs = list(self._references(exercise))

        def wrong(function: Any, run: tuple[Launch, Mapping[str, Any], Run]) -> bool:
            launch, arrays, solution = run
            mine = self._run(Traced(function), launch, arrays, PATIENCE * solution.work)
            if self._wrong(exercise, launch, arrays, solution, mine):
                return True
            return self._too_much(launch, arrays, solution, mine) is not None

        return [(name, f) for name, f in programs if not self.shows_wrong(f, runs, partial(wrong, f))]

    def tried(self, exercise: Exercise, value: Any, call: Call) -> list[Any]:
        """What the smallest run loads and stores, array by array."""
        from hwlib.tables import table

        launch = min(self.launches(exercise), key=lambda one: math.prod(one.sizes))
        arrays = launch.arrays(seeds.generator(exercise.id))
        run = self._run(call, launch, arrays, asked=ErrorContext.of(exercise.public()))
        if isinstance(run, Finding):
            return [run.say]
        rows = {
            name: (run.arrays[name].shape, one.loaded_bytes, one.stored_bytes, len(run.unwritten[name]))
            for name, one in run.traffic.items()
        }
        columns: list[Any] = ["array", "shape", ("loaded", "B"), ("stored", "B"), "elements never stored"]
        return [table(rows, columns, f"{self.name} with {launch}; {run.programs:,} programs, {run.flops:,} FLOPs")]

    def _verdict(self, exercise: Exercise, done: list[_Done]) -> Verdict:
        finding = next(filter(None, (self._wrong(exercise, *one) for one in done)), None)
        if finding is None:
            finding = next(filter(None, (self._too_much(*one) for one in done)), None)
        if finding is None:
            return exercise.right()
        if finding.reason == "stores-nothing":
            return Verdict(0.0, f"No answer yet: {finding.say}", "empty", finding.reason)
        for mistake in exercise.mistakes:
            its = (self._declared_once(exercise, mistake.value, at, one) for at, one in enumerate(done))
            if all(map(self._alike, done, its)):
                return Verdict(0.0, exercise.fill(mistake.say, exercise.variant()), "mistake")
        ended = not isinstance(done[-1][-1], Finding)
        return Verdict(0.0, finding.say, "wrong", finding.reason, wants_hint=ended)

    def _declared_once(self, exercise: Exercise, function: Any, at: int, done: _Done) -> Run | Finding:
        """What a function of the declaration does in a run, given by its place among them."""
        launch, arrays, *_ = done
        play = lambda: self._run(Traced(function), launch, arrays, asked=ErrorContext.of(exercise.public()))
        return self.once(("run", exercise.id, exercise.solution, function, at), play)

    def _wrong(
        self, exercise: Exercise, launch: Launch, arrays: Mapping[str, Any], solution: Run, mine: Run | Finding
    ) -> Finding | None:
        """What is wrong with the values, or with a run that did not end."""
        from hwlib.tl.arrays import library

        np = library()
        if isinstance(mine, Finding):
            return mine
        if not any(one.stored_bytes for one in mine.traffic.values()):
            return Finding(f"`{self.name}` stores nothing.", "stores-nothing")
        for name, want in solution.arrays.items():
            got = mine.arrays[name]
            left = np.setdiff1d(mine.unwritten[name], solution.unwritten[name])
            if left.size:
                say = f"With {launch}, element {int(left[0]):,} of `{name}` is never stored."
                return Finding(say, "never-stored")
            size = float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want)))
            wrong_there = ~np.isclose(got, want, rtol=self.rtol, atol=ROUNDING * size, equal_nan=True)
            wrong = wrong_there.reshape(-1)
            if wrong.any():
                at = int(wrong.argmax())
                say = f"With {launch}, element {at:,} of `{name}` is {got.reshape(-1)[at]:.6g}"
                if not solution.traffic[name].stored_bytes:
                    return Finding(f"{say}: that array is to be read only.", "changes-input")
                say += f"; {want.reshape(-1)[at]:.6g} was expected.{whereabouts.of_elements(wrong_there)}"
                return Finding(say, "wrong-value")
        return None

    def _too_much(self, launch: Launch, arrays: Mapping[str, Any], solution: Run, mine: Run) -> Finding | None:
        from hwlib.units import show

        of_arrays = f" of {', '.join(f'`{name}`' for name in self.counted)}" if self.counted else ""
        measures: tuple[tuple[Limit | None, str, Callable[[Run], float], str], ...] = (
            (self.bytes, f"loads and stores {{}}{of_arrays}", self._bytes, "kernel-bytes"),
            (self.sectors, "touches {} sectors", lambda run: run.sectors, "sectors"),
            (self.hbm_bytes, "moves {} between L2 and HBM", lambda run: run.hbm.bytes if run.hbm else 0, "hbm-bytes"),
            (self.tile_bytes, "holds tiles of {} at once", lambda run: run.tile_bytes, "tile-bytes"),
            (self.flops, "computes {}", lambda run: run.flops, "flops"),
        )
        units = {"kernel-bytes": "B", "hbm-bytes": "B", "tile-bytes": "B", "flops": "FLOP"}
        for limit, what, of, reason in measures:
            if limit is None:
                continue
            got, allowed = of(mine), float(limit.of(**launch.numbers)) if limit.of else float(of(solution))
            if not limit.broken(got, allowed):
                continue
            shown = [show(x, units[reason]) if reason in units else f"{x:,.0f}" for x in (got, allowed)]
            say = (
                f"The values are right, but with {launch} the kernel {what.format(shown[0])}; {limit.words}{shown[1]} "
            )
            say += f"{'was' if limit.exact else 'were'} expected"
            return Finding(
                f"{say}{self._where(solution, mine) if reason in ('kernel-bytes', 'sectors') else ''}.", reason
            )
        return None

    def _bytes(self, run: Run) -> int:
        """What a run loads and stores of the arrays that count."""
        return sum(one.bytes for name, one in run.traffic.items() if name in (self.counted or run.traffic))

    def _where(self, solution: Run, mine: Run) -> str:
        """The array whose traffic exceeds the solution's most, and how many times it does."""
        times = {
            name: one.bytes / solution.traffic[name].bytes
            for name, one in mine.traffic.items()
            if solution.traffic[name].bytes and name in (self.counted or mine.traffic)
        }
        name = max(times, key=lambda one: times[one], default="")
        return f": `{name}` {times[name]:.3g} times as much" if name and times[name] > 1.001 else ""

    def _run(
        self,
        call: Callable[..., Any],
        launch: Launch,
        arrays: Mapping[str, Any],
        most_work: int = MOST_WORK,
        asked: ErrorContext = NOTHING_ASKED,
    ) -> Any:
        """The run of a kernel, or what went wrong."""
        from hwlib import tl

        traced = (lambda args: call(*args)) if isinstance(call, Traced) else call
        types = {name: tl.dtype_of(array).name for name, array in arrays.items()}
        values = {name: one for name, one in launch.given.items() if name not in arrays}
        try:
            return tl.play(programs(traced, launch.sizes, values, types), arrays, most_work=most_work, l2=self.l2)
        except tl.KernelError as error:
            return _Failure(f"With {launch}, {error}.", error.reason, (error.program, error.element))
        except Withheld as error:
            return Finding(write_it_yourself(error.name), error.reason)
        except AnswerError as error:
            more = advice_on(str(error), asked)
            return Finding(f"With {launch}, the kernel fails: {quoted(str(error), 300)}.{more}", error.reason)

    def _alike(self, done: _Done, mistake: Run | Finding) -> bool:
        """Whether a kernel did what a mistake does: the same failure or values, and if those are right the same excess.

        What the exercise does not limit may differ, since a mistake has many forms. So may the array of a failure, but
        not its program and element: two ideas may both end in a race.
        """
        launch, arrays, solution, mine = done
        if isinstance(mine, Finding) or isinstance(mistake, Finding):
            if isinstance(mine, _Failure) and isinstance(mistake, _Failure) and mine.reason in OF_MEMORY:
                return (mine.reason, mine.place) == (mistake.reason, mistake.place)
            return mine == mistake
        if not _same_values(mine, mistake):
            return False
        if not _same_values(mine, solution) or self._limited(mine) == self._limited(mistake):
            return True
        return not any(self._too_much(launch, arrays, solution, one) for one in (mine, mistake))

    def _limited(self, run: Run) -> list[Any]:
        """What a run took of all that is limited, array by array where that is counted."""
        arrays = run.traffic.values()
        counting = [one for name, one in run.traffic.items() if name in (self.counted or run.traffic)]
        return [
            self.bytes and [(one.loaded_bytes, one.stored_bytes) for one in counting],
            self.sectors and [(one.loaded_sectors, one.stored_sectors) for one in arrays],
            self.hbm_bytes and run.hbm,
            self.tile_bytes and run.tile_bytes,
            self.flops and run.flops,
        ]


@dataclass(frozen=True)
class _Failure(Finding):
    """What a kernel did that it cannot do, and the program and element of it."""

    place: tuple[Any, int]


_Done = tuple[Launch, Mapping[str, Any], Any, Any]


def language() -> str:
    """What a kernel may use of Triton's language, folded, as `hwlib.tl` has it."""
    from hwlib import tl

    uses = {**tl.OPERATIONS, "Types": tuple(tl.DTYPES)}
    rows = [f"- {use}: `tl.{'`, `tl.'.join(names)}`" for use, names in uses.items()]
    signs = "- Signs: `+ - * / // %`, comparisons, `& | ~`, `x[:, None]`, `x.T`, `x.to(tl.float16)`, `x_ptr + offsets`"
    return "\n".join(
        ["<details><summary>What there is in <code>tl</code></summary>", "", *rows, signs, "", "</details>"]
    )


def _launch(row: Any) -> Launch:
    return row if isinstance(row, Launch) else Launch(*row)


def _same_values(mine: Run, other: Run) -> bool:
    """Whether two runs end with the same arrays, but for the rounding of sums."""
    from hwlib.tl.arrays import library

    np = library()

    def close(name: str) -> bool:
        got, want = mine.arrays[name], other.arrays[name]
        size = float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want)))
        return bool(np.allclose(got, want, rtol=1e-5, atol=ROUNDING * size, equal_nan=True))

    return all(np.array_equal(mine.unwritten[name], other.unwritten[name]) and close(name) for name in mine.arrays)
