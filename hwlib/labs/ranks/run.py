"""run_ranks: start n ranks of a function, collect their results, and leave no process behind."""

import math
import time
from collections.abc import Callable
from typing import Any

from hwlib.labs.ranks import failures
from hwlib.labs.ranks.results import Ranks, brief

LEAST, MOST = 2, 16
BACKENDS = ("gloo", "nccl")


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
