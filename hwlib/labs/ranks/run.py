"""run_ranks: start n ranks of a function, collect what they give, and leave none behind."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hwlib.labs.ranks import failures
from hwlib.labs.ranks.traffic import Traffic, traffic
from hwlib.units import show

LEAST, MOST = 2, 16
BACKENDS = ("gloo", "nccl")
SHOWN = 20  # lines of output in a run's table


@dataclass(frozen=True, repr=False)
class Ranks:
    """What a run gave: `results` and `output` (what was printed) by rank, and the `seconds` from first start to last
    end.

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
    def _traffic(self) -> Traffic:
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
        said = [f"[rank {rank}] {line}" for rank, text in enumerate(self.output) for line in text.splitlines()]
        more = [f"... and {len(said) - SHOWN} lines more"] if len(said) > SHOWN else []
        return "\n".join([head, *lines, *said[:SHOWN], *more])


def brief(value: Any) -> str:
    """A result in a few words."""
    shape = getattr(value, "shape", None)
    if shape is not None and math.prod(shape) > 8:
        return f"{type(value).__name__} {tuple(shape)} {str(value.dtype).removeprefix('torch.')}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def run_ranks(
    fn: Callable[..., Any], n: int, *args: Any, timeout: float = 20.0, backend: str | None = None, **kwargs: Any
) -> Ranks:
    """Calls fn(rank, n, *args, **kwargs) in n processes, with the default group of torch.distributed ready in each.

    `fn` is any function, one of a notebook's cell too. With NCCL and rank r on GPU r where there are n of these, else
    with gloo on the CPU; `backend` decides otherwise. Each rank has one thread, and random numbers that begin at its
    own number. Ranks run at most `timeout` seconds, and none is left when this returns or raises: RankError for the
    first that fails, RankTimeout where some do not end, ValueError and TypeError for what cannot be run.
    """
    __tracebackhide__ = True
    _check(fn, n, timeout, backend)
    from hwlib.labs.ranks.collect import Collector
    from hwlib.labs.ranks.launch import here, launcher
    from hwlib.labs.ranks.process import packed

    about = {**here(), "backend": backend}
    try:
        shipped = packed((fn, args, kwargs))
    except TypeError as error:
        raise TypeError(f"fn, or something that it uses, {error}") from None
    with launcher().start(n, about, shipped) as started:
        collector = Collector(started, time.monotonic() + timeout)
        collector.collect()
        if collector.errors or collector.died:
            raise failures.failure(collector.errors, collector.died, collector.places, collector.output)
        if collector.missing:
            raise failures.hung(n, timeout, collector.places, collector.output, collector.stuck)
    return collector.ranks()


def _check(fn: Any, n: Any, timeout: Any, backend: Any) -> None:
    if not callable(fn):
        raise TypeError(f"fn: a function of (rank, n, ...), got a {type(fn).__name__}: {brief(fn)}")
    if isinstance(n, bool) or not isinstance(n, int) or not LEAST <= n <= MOST:
        raise ValueError(f"n: {LEAST} to {MOST} ranks, got {n!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout: seconds, above 0, got {timeout!r}")
    if backend not in (None, *BACKENDS):
        raise ValueError(f"backend: {' or '.join(BACKENDS)}, or None for what the machine has, got {backend!r}")
