"""Networks of several levels: the bandwidth of a collective at each, and which link is slow."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isinf, log2
from typing import TYPE_CHECKING

from hwlib.plots.style import CHART, GREY, INK, SERIES, SMALL, canvas, note, styled
from hwlib.simulate.message_flights import LinkFlights
from hwlib.specs import MeasuredAllreduce
from hwlib.units import GiB, KiB, MiB, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = 12  # powers of two, from which on only every fourth has a label


@styled
def levels(bandwidths: Mapping[str, Mapping[str, float]]) -> "Figure":
    """A point for each level of each machine, {machine: {level: B/s}}; the lowest of a machine is marked.

    Points, because lengths on a logarithmic axis would be meaningless. A level of infinite bandwidth limits nothing
    and is not drawn. Raises ValueError without machines.
    """
    if not bandwidths:
        raise ValueError("bandwidths: at least one machine, got none")
    rows = [(machine, level, W) for machine, each in bandwidths.items() for level, W in each.items()]
    slowest = {machine: min(each.values(), default=inf) for machine, each in bandwidths.items()}
    gaps = {machine: 0.6 * i for i, machine in enumerate(bandwidths)}
    places = [number + gaps[machine] for number, (machine, _, _) in enumerate(rows)]
    figure, axes = canvas(CHART, 0.9 + 0.27 * (len(rows) + len(gaps)))
    for place, (machine, _, W) in zip(places, rows, strict=True):
        if isinf(W):
            continue
        decides = slowest[machine] == W
        colour, marker = SERIES[1] if decides else SERIES[0]
        axes.plot([W], [place], color=colour, marker=marker, markersize=8, linestyle="none")
        text = show(W, "B/s", 3) + (" decides" if decides else "")
        axes.annotate(text, (W, place), (8, 0), textcoords="offset points", va="center", fontsize=SMALL, color=INK)
    axes.set_yticks(places, [f"{machine}, {level}" for machine, level, _ in rows])
    axes.set(xscale="log", xlabel="S/t that this level alone would allow")
    left, right = axes.get_xlim()
    axes.set_xlim(left / 1.5, right * 4)
    axes.margins(y=0.12)
    axes.xaxis.set_major_formatter(lambda W, _: show(W, "B/s", 3))
    axes.invert_yaxis()
    return figure


@styled
def allreduce_scale(rows: Iterable[MeasuredAllreduce], models: Mapping[str, float] | None = None) -> "Figure":
    """Measured bus bandwidth against the size of the array, a line for each number of GPUs, and `models`, {name: B/s},
    as dashed levels. Raises ValueError without rows.
    """
    by_ranks: dict[int, list[MeasuredAllreduce]] = {}
    for row in rows:
        by_ranks.setdefault(row.n, []).append(row)
    if not by_ranks:
        raise ValueError("allreduce_scale: measured all-reduces, got none")
    figure, axes = canvas(CHART, 3.6)
    for (n, each), (colour, marker) in zip(sorted(by_ranks.items()), SERIES, strict=False):
        sweep = sorted((row.S, row.bus_bandwidth) for row in each)
        axes.plot(
            *zip(*sweep, strict=True), color=colour, marker=marker, markersize=4, linewidth=1.4, label=f"{n} GPUs"
        )
    for name, W in (models or {}).items():
        axes.axhline(W, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        note(
            axes, name, (min(row.S for each in by_ranks.values() for row in each), W), (0, 3), fontsize=SMALL, color=INK
        )
    axes.set(xscale="log", xlabel="bytes of each rank's array", ylabel="bus bandwidth", ylim=(0, None))
    powers = sorted(log2(row.S) for each in by_ranks.values() for row in each)
    apart = 2 if powers[-1] - powers[0] <= WIDE else 4
    axes.set_xticks([2.0**k for k in range(10, 41) if k % apart == 0 and powers[0] <= k <= powers[-1]])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda S, _: _binary(S))
    axes.yaxis.set_major_formatter(lambda W, _: show(W, "B/s", 3))
    axes.legend(loc="lower right")
    return figure


def _binary(S: float) -> str:
    """ "64 KiB"."""
    unit, size = next((unit, size) for unit, size in (("GiB", GiB), ("MiB", MiB), ("KiB", KiB)) if size <= S)
    return f"{S / size:,.0f} {unit}"


@styled
def blame(links: Mapping[str, LinkFlights], names: Sequence[str] = ()) -> "Figure":
    """Each link as a point: the transfers that passed it, and the fraction that was slow; some with their `names`."""
    figure, axes = canvas(CHART, 3.2)
    axes.scatter(
        [one.flights for one in links.values()],
        [one.slow for one in links.values()],
        s=14,
        color=SERIES[0][0],
        alpha=0.35,
        linewidths=0,
    )
    for name in names:
        at = links[name].flights, links[name].slow
        axes.scatter(*at, s=46, facecolor="none", edgecolor=SERIES[1][0], linewidths=1.6)
        axes.annotate(name, at, (7, -3), textcoords="offset points", va="top", fontsize=SMALL, color=INK)
    axes.axhline(1, color=GREY, linewidth=0.8)
    axes.margins(x=0.2)
    axes.set(xlabel="transfers that passed the link", ylabel="share of them that was slow", ylim=(-0.04, 1.09))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    return figure
