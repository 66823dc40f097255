"""Collectives of many ranks, and beside a matmul: bandwidth and latency against ranks, time against channels."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import CHART, GREY, SMALL, canvas, series, styled
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CUT = 2.5  # times the highest of the curves' least values: what is far above that is not of interest


@styled
def against_ranks(
    bandwidths: Mapping[str, Sequence[tuple[float, float]]],
    times: Mapping[str, Sequence[tuple[float, float]]],
    curves: Mapping[str, Callable[[Any], Any]],
) -> "Figure":
    """Two charts over the same numbers of ranks: measured bandwidths (B/s), and measured times (s) with curves.

    Each is a mapping of labels to points (ranks, value); a curve is a function of an array of ranks.
    """
    import numpy as np

    figure, (above, below) = canvas(CHART, 4.8, rows=2)
    ranks = sorted({n for rows in (*bandwidths.values(), *times.values()) for n, _ in rows})
    for (colour, marker), (label, rows) in zip(series(len(bandwidths)), bandwidths.items(), strict=True):
        above.plot(*zip(*rows, strict=True), marker, linestyle="-", color=colour, label=label)
    looks = iter(series(len(times) + len(curves)))
    for label, rows in times.items():
        colour, marker = next(looks)
        below.plot(*zip(*rows, strict=True), marker, color=colour, label=label)
    n = np.geomspace(ranks[0], ranks[-1], 100)
    for style, (label, curve) in zip(["-", "--", ":", "-."] * len(curves), curves.items(), strict=False):
        below.plot(n, curve(n), style, color=next(looks)[0], label=label)
    above.set_title("bus bandwidth", fontsize=10)
    above.set_ylim(0, 1.15 * max(W for rows in bandwidths.values() for _, W in rows))
    above.yaxis.set_major_formatter(lambda W, _: show(W, "B/s", 3))
    below.set_title("time")
    below.set(xscale="log", yscale="log", xlabel="ranks n")
    below.set_xticks(ranks, [f"{n:g}" for n in ranks])
    below.xaxis.set_minor_locator(_none())
    below.yaxis.set_major_locator(_few())
    below.yaxis.set_minor_locator(_none())
    below.yaxis.set_major_formatter(lambda t, _: show(t, "s", 3))
    for axes in (above, below):
        axes.legend()
    return figure


@styled
def beside_a_matmul(
    times: Mapping[str, Callable[[Any], Any]], most: int, marks: Mapping[str, float] | None = None
) -> "Figure":
    """Times (s) against the channels of a collective, 1 to `most`; `marks` are numbers of channels with a name.

    Curves are cut off far above where they are lowest.
    """
    import numpy as np

    channels = np.linspace(1, most, 400)
    figure, axes = canvas(CHART, 3.2)
    drawn: dict[str, list[float]] = {}
    for style, (colour, _), (label, time) in zip(["--", ":", "-", "-."], series(4), times.items(), strict=False):
        drawn[label] = [time(n) for n in channels]
        axes.plot(channels, drawn[label], style, color=colour, label=label)
    for label, at in (marks or {}).items():
        axes.axvline(at, color=GREY, linewidth=1, linestyle=":")
        axes.annotate(
            label,
            (at, 0.97),
            (3, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=SMALL,
            color=GREY,
            va="top",
        )
    axes.set(xlabel="channels of the collective", xlim=(0, most), ylim=(0, CUT * max(map(min, drawn.values()))))
    axes.set_title("time", fontsize=10)
    axes.yaxis.set_major_formatter(lambda t, _: show(t, "s", 3))
    axes.legend(loc="upper right")
    return figure


def _none() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _few() -> Any:
    """1, 2 and 5 of each decade: where a chart spans less than two, decades alone say too little."""
    from matplotlib.ticker import LogLocator

    return LogLocator(subs=(1.0, 2.0, 5.0))
