"""The result of a run of ranks: results and output by rank, and traffic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hwlib.labs.ranks.traffic import RunTraffic, traffic
from hwlib.units import show

SHOWN = 20  # lines of output in a run's table


@dataclass(frozen=True, repr=False)
class Ranks:
    """The result of a run: `results` and `output` (what was printed) by rank, and the `seconds` from first start to
    last end.

    Bytes are by rank. A collective counts as one algorithm, whatever the backend does: a ring for all_reduce,
    all_gather and reduce_scatter, a binomial tree for broadcast and reduce, direct messages for gather, scatter and
    all_to_all. `rounds` is the longest chain of messages, and `calls` how often all ranks together made each call.
    """

    results: list[Any]
    output: list[str]
    seconds: float
    backend: str
    logs: Sequence[Any] = field(default=(), repr=False)

    @cached_property
    def _traffic(self) -> RunTraffic:
        return traffic(self.logs)

    @property
    def sent_bytes(self) -> list[int]:
        """By rank, what it sent."""
        return self._traffic.sent_bytes

    @property
    def received_bytes(self) -> list[int]:
        """By rank, what it received."""
        return self._traffic.received_bytes

    def leaving_bytes(self, inner: int) -> list[int]:
        """By rank, what it sent out of its node, where `inner` ranks that follow one another are a node."""
        leaving = [0] * len(self.results)
        for (frm, to), size in self._traffic.pairs.items():
            leaving[frm] += size * (frm // inner != to // inner)
        return leaving

    @property
    def rounds(self) -> int:
        """The longest chain of messages, each sent after the one before it had been waited for."""
        return self._traffic.rounds

    @property
    def calls(self) -> dict[str, int]:
        """How often all ranks together made each call."""
        return dict(self._traffic.calls)

    def __repr__(self) -> str:
        made = ", ".join(f"{times} {call}" for call, times in self.calls.items()) or "no calls"
        head = f"{len(self.results)} ranks ({self.backend}), {show(self.seconds, 's')}, {self.rounds} rounds; {made}"
        rows = [("rank", "sent", "received", "result")]
        for rank, moved in enumerate(zip(self.sent_bytes, self.received_bytes, strict=True)):
            rows.append((str(rank), show(moved[0], "B"), show(moved[1], "B"), brief(self.results[rank])))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = ["  ".join([*map(str.rjust, row, widths), row[3]]).rstrip() for row in rows]
        printed = [f"[rank {rank}] {line}" for rank, text in enumerate(self.output) for line in text.splitlines()]
        more = [f"... and {len(printed) - SHOWN} lines more"] if len(printed) > SHOWN else []
        return "\n".join([head, *lines, *printed[:SHOWN], *more])


def brief(value: Any) -> str:
    """A result in a few words."""
    shape = getattr(value, "shape", None)
    if shape is not None and math.prod(shape) > 8:
        return f"{type(value).__name__} {tuple(shape)} {str(value.dtype).removeprefix('torch.')}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
