"""Distributed answers: a torch.distributed function plays each rank, and the judge is the network between them.

What is right, the cases, the limits and the sentences are those of an `Algorithm`. The declaration's solution and
mistakes are torch.distributed functions too, which run in threads of the judge, or generators, which the learner's
function must behave like. Rounds are counted as `network` says, memory as `memory_meter` says.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.verdict import DeclarationError
from ..ranks.arguments import size_of
from ..ranks.generators import Budget, RankFailed, Remote
from ..ranks.network import CALLS, carry
from ..ranks.network_error import NetworkError
from ..ranks.outcomes import MemoryPeak, RanksOutcome
from ..values.finding import Finding
from .algorithm import Algorithm, argument_names
from .exceeding import beyond_memory
from .limits import Limit
from .rank_run import RankComparison

if TYPE_CHECKING:
    from ..declaration.answer import Call
    from ..declaration.exercise import Exercise
    from ..ranks.buffers import Case

FORMS = {  # of a call, which the backend of a group takes for the same
    "send": ("isend",),
    "recv": ("irecv",),
    "all_gather": ("all_gather_into_tensor",),
    "reduce_scatter": ("reduce_scatter_tensor",),
    "all_to_all": ("all_to_all_single",),
}
TYPES = ("float32", "float64", "int32", "int64")
LOADS = (
    "torch.distributed",
    "torch.fx.experimental.symbolic_shapes",
    "torch.testing._internal.distributed.multi_threaded_pg",
    "hwlib.torch_groups._torch",
    "hwlib.virtual.threads",
    "autograder.ranks._torch",
    "autograder.ranks.thread_ranks",
)
NOT_TOLD = MemoryPeak(-1)
ONLY_SENDS = " All of them send and nobody receives, and a `send` waits for its receive."


@dataclass(frozen=True)
class Distributed(Algorithm):
    """A function `name(rank, n, x)` that every rank runs, with x a tensor and the default process group ready.

    `calls` are those of torch.distributed that it may use: "send" and "recv" stand for their batched and asynchronous
    forms too. `memory` limits the peak of the bytes that a rank's tensors hold, beside those that it was given.
    `also_sends` are types of numbers that may be sent beside the case's: ("int64",) for counts. The rest is as with
    `Algorithm`; arrays by name are tensors of their shapes.
    """

    calls: Sequence[str] = ("send", "recv")
    memory: Limit | None = None
    also_sends: Sequence[str] = ()

    plays: ClassVar[str] = "torch.distributed"
    elsewhere: ClassVar[str] = "These ranks are processes that run torch, which a page cannot start."
    ending: ClassVar[str] = ", with torch.distributed"
    at_once: ClassVar[str] = "`isend` and `irecv` that are both posted before either is waited for do both in one"

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := [call for call in self.calls if call not in CALLS]:
            raise DeclarationError(f"{self.name}: calls has {unknown[0]!r}; of {', '.join(CALLS)} some were expected")
        if odd := [name for name in self.also_sends if name not in TYPES]:
            raise DeclarationError(f"{self.name}: also_sends has {odd[0]!r}; of {', '.join(TYPES)} some were expected")

    def declare(self, exercise: Exercise) -> None:
        """What an Algorithm asks, and that there is a limit of memory to compare with."""
        super().declare(exercise)
        if self.memory is None:
            return
        if self.memory.of is None and not _runs_torch(exercise.solution):
            say = "memory needs a function, at_most(lambda case: ...), or a solution that is a torch.distributed one"
            raise DeclarationError(f"{exercise.id}: {say}")

    def declare_solution(self, exercise: Exercise) -> None:
        """The solution is a function, or a generator function."""
        if not callable(exercise.solution):
            raise DeclarationError(f"{exercise.id}: the solution is a torch.distributed function, or a generator")

    def loads(self, exercise: Exercise) -> Sequence[str]:
        """torch, where the declaration's functions are for it."""
        functions = (exercise.solution, *(mistake.value for mistake in exercise.mistakes))
        return LOADS if any(map(_runs_torch, functions)) else ()

    def public(self) -> dict[str, Any]:
        """The signature, the collective and the calls."""
        return {**super().public(), "calls": list(self.calls)}

    @property
    def how(self) -> str:
        """How it is asked for."""
        names = argument_names(self.signature)
        inputs = "a tensor x" if names[:1] == ["x"] and not self.returns else "its tensors"
        returned = f", and which returns {', '.join(self.returns)} in this order" if len(self.returns) > 1 else ""
        counted = "; the memory of tensors is counted, so its numbers stay in tensors of torch" if self.memory else ""
        return (
            f"write `{self.signature}`, which every rank runs with {inputs} and the process group ready{returned}; "
            f"of torch.distributed it may call {allowed(self.calls)}{counted}"
        )

    def box(self, exercise: Exercise) -> None:
        """None: a page has neither torch nor processes."""

    def tried(self, exercise: Exercise, value: Any, call: Call) -> list[Any]:
        """Nothing, for the same reason."""
        return []

    def local_call(self, value: Any, withholds: Sequence[str] = ()) -> Call | None:
        """The ranks of the function, here, each in a process."""
        from ..ranks.local_ranks import LocalRanks

        return LocalRanks(value, withholds)

    def declared_call(self, value: Any) -> Call | None:
        """The ranks of a function or a generator of the declaration."""
        return _Declared(value)

    def declared(self, function: Any, case: Case, inputs: Sequence[Any], budget: Budget) -> RanksOutcome:
        """Run a function of the declaration: a torch.distributed one in threads, else a generator."""
        if not _runs_torch(function):
            return super().declared(function, case, inputs, budget)
        from ..ranks.thread_ranks import ThreadRanks

        with ThreadRanks(function) as ranks:
            return self._carried(ranks, case, inputs, budget)

    def judged_run(
        self, exercise: Exercise, call: Call, at: int, case: Case, inputs: Sequence[Any], budget: Budget
    ) -> RanksOutcome:
        """The run that is judged: of the declaration's own functions the same as the one that others are compared
        with."""
        if isinstance(call, _Declared):
            return self.declared_once(exercise, call.function, at, case, inputs, budget)
        return super().judged_run(exercise, call, at, case, inputs, budget)

    def observed(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> RanksOutcome:
        """Run the ranks that answer `call`, and carry their messages."""
        if isinstance(call, _Declared):
            return self.declared(call.function, case, inputs, budget)
        return self._carried(call, case, inputs, budget)

    def _carried(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> RanksOutcome:
        dtype, measures = case.dtype if self.shaped(inputs) else "", self.memory is not None
        ranks = [
            Process(call, rank, case.n, x, case.options, budget, dtype, measures=measures, also=self.also_sends)
            for rank, x in enumerate(inputs)
        ]
        try:
            carried = carry(ranks, self.calls, budget.bytes)
        except RankFailed:
            return RanksOutcome(failed=budget.failed)
        except NetworkError as error:
            lesson = ONLY_SENDS if error.reason == "only-sends" else ""
            return RanksOutcome(stuck=Finding(f"{error}.{lesson}", error.reason))
        if not carried.calls and all(value is None or value is ... for value in carried.outputs):
            return RanksOutcome(failed=RankFailed("empty", "returns nothing"))
        changed = [rank.rank for rank in ranks if rank.changed]
        outputs = [self.formed(value, inputs) for value in carried.outputs]
        sent, received = carried.sent_bytes, carried.received_bytes
        peaks = [rank.peak for rank in ranks] if measures else []
        return RanksOutcome(
            outputs,
            sent,
            received,
            carried.rounds,
            changed=changed,
            pairs=carried.pairs,
            peaks=peaks,
            only_number=budget.only_number,
        )

    @property
    def memory_limit(self) -> Limit | None:  # type: ignore[override]
        """Of what a rank's tensors hold."""
        return self.memory

    def exceeding(self, done: Sequence[RankComparison]) -> Finding | None:
        """What the runs take beyond the limits."""
        return super().exceeding(done) or beyond_memory(done, self.memory)


def _runs_torch(function: Any) -> bool:
    """Whether a function of the declaration is one for torch.distributed, and no generator."""
    return not inspect.isgeneratorfunction(function)


def allowed(calls: Sequence[str]) -> str:
    """The calls as code, with their other forms, and that groups may be made where a call takes one of several."""
    named = ", ".join(f"`{call}`" for call in calls)
    others = [form for call in calls for form in FORMS.get(call, ())]
    others += ["batch_isend_irecv"] if {"send", "recv"} <= {*calls} else []
    forms = f" ({', '.join(f'`{form}`' for form in others)} too)" if others else ""
    return f"{named}{forms}" + (", in groups of your own" if {*calls} - {"send", "recv"} else "")


@dataclass(frozen=True)
class _Declared:
    """A function of the declaration, in the place of a learner's."""

    function: Any

    def __call__(self, _request: tuple) -> Any:
        return None


@dataclass
class Process(Remote):
    """A rank that asks for what torch.distributed is asked for."""

    measures: bool = False
    peak: MemoryPeak = NOT_TOLD
    arrived: int = 0  # bytes of the largest array that the judge has sent it
    also: Sequence[str] = ()  # types of numbers that it may send beside its own

    @property
    def start(self) -> tuple:
        """What the rank is asked first, and whether its memory is measured."""
        return (*super().start, True) if self.measures else super().start

    def send(self, got: Any) -> Any:
        """The next request."""
        self.arrived = max(self.arrived, size_of(got))
        return super().send(got)

    def told(self, message: Any) -> None:
        """Whether the rank has changed its arrays, and the peak of its memory, at least what has arrived at once and
        fits in nothing that it was given."""
        if not self.measures:
            return super().told(message)
        report = message if type(message) is dict else {}
        self.changed = report.get("changed") is True
        peak, line = report.get("peak"), report.get("line")
        if type(peak) is int and peak >= self.arrived - size_of(self.x):
            self.peak = MemoryPeak(peak, line[:200] if type(line) is str else "")
        return None

    def step(self, kind: str, rest: Sequence[Any]) -> Any:
        """The request, an object, whose numbers are of x's type, or of one that the exercise names, and have lost their
        shape, so that neither carries information that is not counted; what else is in it the network looks at."""
        if kind != "asks" or type(rest[0]) is not dict:
            return super().step("", rest)
        request: dict[str, Any] = dict(rest[0])
        if "data" in request:
            data = request["data"]
            parts = type(data) in (list, tuple)
            request["data"] = [self._flat(part) for part in data] if parts else self._flat(data)
        return request

    def _flat(self, data: Any) -> Any:
        if type(data) is str:  # the name of a type that numpy lacks
            raise self._failed("dtype", "|".join((data, *self.also)))
        if type(data).__name__ != "ndarray":
            return data  # the network refuses it where it needs numbers
        if data.dtype != (self.dtype or self.x.dtype) and str(data.dtype) not in self.also:
            raise self._failed("dtype", "|".join((str(data.dtype), *self.also)))
        flat = data.reshape(-1)
        self.budget.note(flat)
        return flat
