"""Distributed answers: a torch.distributed function plays each rank, and the judge is the network between them.

What is right, the cases, the limits and the sentences are those of an `Algorithm`; the declaration's solution and
mistakes are generators, which the learner's function must behave like. Rounds are counted as `network` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.verdict import DeclarationError
from ..ranks.generators import Budget, RankFailed, Remote
from ..ranks.network import CALLS, carry
from ..ranks.network_error import NetworkError
from ..ranks.outcomes import Outcome, flat
from ..values.finding import Finding
from .algorithm import Algorithm

if TYPE_CHECKING:
    from ..declaration.answer import Call
    from ..ranks.buffers import Case

FORMS = {  # of a call, which the backend of a group takes for the same
    "send": ("isend",),
    "recv": ("irecv",),
    "all_gather": ("all_gather_into_tensor",),
    "reduce_scatter": ("reduce_scatter_tensor",),
    "all_to_all": ("all_to_all_single",),
}
ONLY_SENDS = " All of them send and nobody receives, and a `send` waits for its receive."


@dataclass(frozen=True)
class Distributed(Algorithm):
    """A function `name(rank, n, x)` that every rank runs, with x a tensor and the default process group ready.

    `calls` are those of torch.distributed that it may use: "send" and "recv" stand for their batched and asynchronous
    forms too. The rest is as with `Algorithm`.
    """

    calls: Sequence[str] = ("send", "recv")

    plays: ClassVar[str] = "torch.distributed"
    ending: ClassVar[str] = ", with torch.distributed"

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := [call for call in self.calls if call not in CALLS]:
            raise DeclarationError(f"{self.name}: calls has {unknown[0]!r}; of {', '.join(CALLS)} some were expected")

    def public(self) -> dict[str, Any]:
        """The signature, the collective and the calls."""
        return {**super().public(), "calls": list(self.calls)}

    @property
    def how(self) -> str:
        """How it is asked for."""
        return (
            f"write `{self.signature}`, which every rank runs with a tensor x and the process group ready; "
            f"of torch.distributed it may call {allowed(self.calls)}"
        )

    def local_call(self, value: Any, withholds: Sequence[str] = ()) -> Call | None:
        """The ranks of the function, here, each in a process."""
        from ..ranks.local_ranks import LocalRanks

        return LocalRanks(value, withholds)

    def declared_call(self, value: Any) -> Call | None:
        """The ranks of a generator of the declaration."""
        return _Declared(super().local_call(value))

    def observed(self, call: Call, case: Case, inputs: Sequence[Any], budget: Budget) -> Outcome:
        """Run the ranks that answer `call`, and carry their messages."""
        if isinstance(call, _Declared):
            return self.outcome(call.call, case, inputs, budget)
        ranks = [Process(call, rank, case.n, x, case.options, budget) for rank, x in enumerate(inputs)]
        try:
            carried = carry(ranks, self.calls, budget.bytes)
        except RankFailed:
            return Outcome(failed=budget.failed)
        except NetworkError as error:
            lesson = ONLY_SENDS if error.reason == "only-sends" else ""
            return Outcome(stuck=Finding(f"{error}.{lesson}", error.reason))
        if not carried.calls and all(value is None or value is ... for value in carried.outputs):
            return Outcome(failed=RankFailed("empty", "returns nothing"))
        changed = [rank.rank for rank in ranks if rank.changed]
        outputs = [flat(value) for value in carried.outputs]
        sent, received = carried.sent_bytes, carried.received_bytes
        return Outcome(outputs, sent, received, carried.rounds, changed=changed, pairs=carried.pairs)


def allowed(calls: Sequence[str]) -> str:
    """The calls as code, with their other forms, and that groups may be made where a call takes one of several."""
    named = ", ".join(f"`{call}`" for call in calls)
    others = [form for call in calls for form in FORMS.get(call, ())]
    others += ["batch_isend_irecv"] if {"send", "recv"} <= {*calls} else []
    forms = f" ({', '.join(f'`{form}`' for form in others)} too)" if others else ""
    return f"{named}{forms}" + (", in groups of your own" if {*calls} - {"send", "recv"} else "")


@dataclass(frozen=True)
class _Declared:
    """A call that asks generators, where functions would be asked."""

    call: Any

    def __call__(self, request: tuple) -> Any:
        return self.call(request)


class Process(Remote):
    """A rank that asks for what torch.distributed is asked for."""

    def step(self, kind: str, rest: Sequence[Any]) -> Any:
        """The request, an object, whose numbers are of x's type and have lost their shape, so that neither carries
        information that is not counted; what else is in it the network looks at."""
        if kind != "asks" or type(rest[0]) is not dict:
            return super().step("", rest)
        request: dict[str, Any] = dict(rest[0])
        if "data" in request:
            data = request["data"]
            parts = type(data) in (list, tuple)
            request["data"] = [self._flat(part) for part in data] if parts else self._flat(data)
        return request

    def _flat(self, data: Any) -> Any:
        if type(data).__name__ != "ndarray":
            return data  # the network refuses it where it needs numbers
        if data.dtype != self.x.dtype:
            raise self._failed("dtype", str(data.dtype))
        return data.reshape(-1)
