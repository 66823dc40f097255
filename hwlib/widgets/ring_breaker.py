"""A ring of ranks in motion, which a reader breaks: by the order of calls, by a turn left out, by a slow link."""

from functools import cache
from typing import Any

from hwlib.collectives import ring_allgather_time, ring_reduce_scatter_time
from hwlib.specs import accelerators
from hwlib.units import GB, us
from hwlib.widgets.live import _text, module_source

COLLECTIVES = ("all_gather", "reduce_scatter")
CALLS = ("together", "sends", "zero", "odd")  # who receives first: nobody waits, nobody, rank 0, the odd ranks
RANKS = range(4, 9)
NOBODY = -1
S, ALPHA, CHIP, SLOWDOWN = 1 * GB, 6 * us, "h100-sxm", 4
FORMULAS = (ring_allgather_time, ring_reduce_scatter_time)


def ring_breaker(
    n: int = 6,
    collective: str = "all_gather",
    calls: str = "together",
    skips: int | None = None,
    slow: int | None = None,
    time: float = 0.0,
) -> Any:
    """A ring all-gather or reduce-scatter on 4 to 8 ranks, played message by message, and three ways to break it.

    `calls` is the order in which a rank calls send and receive: "together" (isend, irecv), "sends" (every rank sends
    first), "zero" and "odd" (the same, but rank 0, or the odd ranks, receive first). A send waits until its receive is
    posted. Rank `skips` leaves out its second turn; the link that leaves rank `slow` has a quarter of the bandwidth.
    The figure names who waits for whom in the words of the exercises' verdicts. In a notebook all of these follow the
    reader, and can be set; there -1 stands for nobody. Raises KeyError for an unknown collective or order, ValueError
    for a number of ranks or a rank that the figure cannot draw.
    """
    for name, value, known in (("collective", collective, COLLECTIVES), ("calls", calls, CALLS)):
        if value not in known:
            raise KeyError(f"ring_breaker: {name} is one of {', '.join(known)}, got {value!r}")
    if n not in RANKS:
        raise ValueError(f"ring_breaker: n is {RANKS[0]} to {RANKS[-1]} ranks, got {n!r}")
    for name, rank in (("skips", skips), ("slow", slow)):
        if rank is not None and rank not in range(n):
            raise ValueError(f"ring_breaker: {name} is a rank, 0 to {n - 1}, got {rank!r}")
    first, second = (NOBODY if rank is None else rank for rank in (skips, slow))
    return _breaker()(n=n, collective=collective, calls=calls, skips=first, slow=second, time=time)


@cache
def _breaker() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class RingBreaker(AnyWidget):
        _esm = module_source("ring_breaker", FORMULAS)
        _css = _text("figure.css") + _text("ring_breaker.css")
        S = traitlets.Float(S).tag(sync=True)
        alpha = traitlets.Float(ALPHA).tag(sync=True)
        W = traitlets.Float(accelerators[CHIP].scaleup_bandwidth).tag(sync=True)
        slowdown = traitlets.Int(SLOWDOWN).tag(sync=True)
        n = traitlets.Int(min=RANKS[0], max=RANKS[-1]).tag(sync=True)
        collective = traitlets.Enum([*COLLECTIVES]).tag(sync=True)
        calls = traitlets.Enum([*CALLS]).tag(sync=True)
        skips = traitlets.Int(min=NOBODY, max=RANKS[-1] - 1).tag(sync=True)
        slow = traitlets.Int(min=NOBODY, max=RANKS[-1] - 1).tag(sync=True)
        time = traitlets.Float(min=0).tag(sync=True)

    return RingBreaker
