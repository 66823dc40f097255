"""Queues: who waits for whom, waiting against load, the tail of a distribution, and what a kept promise costs."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from hwlib.inference import mg1_wait
from hwlib.plots.style import BLUE, CHART, GREY, INK, ORANGE, canvas, note, series, styled
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def queue_rows(arrivals: Sequence[float], services: Sequence[float], stays: Sequence[float]) -> "Figure":
    """A row for each request: when it came, how long it waited, and when it was served."""
    figure, axes = canvas(CHART, 0.9 + 0.2 * len(arrivals))
    for y, (came, service, stay) in enumerate(zip(arrivals, services, stays, strict=True)):
        axes.barh(y, stay - service, 0.7, left=came, color=ORANGE, alpha=0.45, label=None if y else "waits")
        axes.barh(y, service, 0.7, left=came + stay - service, color=BLUE, label=None if y else "is read")
        axes.plot(came, y, "o", color=INK, markersize=4.5, label=None if y else "comes")
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.set(xlabel="time", ylabel="requests", xlim=(0, None))
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper right", ncols=3, fontsize=9, handlelength=1)
    return figure


@styled
def wait_curves(
    variations: Mapping[str, float], mark: float, wait: Callable[[float, float, float], float] = mg1_wait
) -> "Figure":
    """Time in the queue, in times of service, against the load; a line for each squared variation of the service."""
    figure, axes = canvas(CHART, 3.0)
    grid = [k / 200 for k in range(10, 196)]
    for (name, cv2), (colour, _) in zip(variations.items(), series(len(variations)), strict=True):
        axes.plot(grid, [wait(load, 1.0, cv2) for load in grid], color=colour, label=name)
        axes.plot(mark, wait(mark, 1.0, cv2), "o", color=colour, markersize=5)
    axes.axvline(mark, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    axes.set(yscale="log", xlim=(0, 1), ylim=(0.02, 100), xlabel="load", ylabel="wait, in times of service")
    axes.xaxis.set_major_formatter(lambda load, _: f"{load:.0%}")
    axes.yaxis.set_major_formatter(lambda wait, _: f"{wait:g}")
    axes.legend(fontsize=9, loc="upper left")
    return figure


@styled
def stay_tails(stays: Mapping[str, Sequence[float]], share: float = 0.01) -> "Figure":
    """The share of requests that take longer, against the time, on a logarithmic axis; a line for each way.

    A dashed line marks `share`, where the last of the percentiles is read.
    """
    figure, axes = canvas(CHART, 3.4)
    last = 0.0
    for (name, times), (colour, _) in zip(stays.items(), series(len(stays)), strict=True):
        ordered = sorted(times)
        steps = [int(len(ordered) * (1 - 10 ** (-k / 40))) for k in range(121)]
        steps = [k for k in steps if k < len(ordered) - 3]
        axes.plot([ordered[k] for k in steps], [1 - k / len(ordered) for k in steps], color=colour, label=name)
        last = max(last, ordered[int(len(ordered) * (1 - share))])
    axes.axhline(share, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    note(axes, f"p{100 - 100 * share:g}", (0, share), (3, 3), fontsize=9)
    axes.set(
        yscale="log",
        ylim=(share / 5, 1.05),
        xlim=(0, 1.3 * last),
        xlabel="time to the first token",
        ylabel="share that takes longer",
    )
    axes.yaxis.set_major_formatter(lambda p, _: f"{p:g}")
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, handlelength=1.2)
    return figure


@styled
def kept_shares(
    rows: Mapping[str, Sequence[tuple[float, float]]], predicted: Mapping[str, Callable[[float], float]]
) -> "Figure":
    """What is left of a machine's rate where it keeps a promise, against the seconds that it needs for a request
    without one: {name: [(seconds, share), ...]} as points, and {name: share(seconds)} as curves.
    """
    figure, axes = canvas(CHART, 3.6)
    seconds = [t for points in rows.values() for t, _ in points]
    low, high = min(seconds) / 1.4, max(seconds) * 1.4
    grid = [low * (high / low) ** (k / 100) for k in range(101)]
    for (name, share), style in zip(predicted.items(), cycle(("-", "--", ":")), strict=False):
        axes.plot(grid, [share(t) for t in grid], style, color=GREY, linewidth=1.3, label=name)
    for (name, points), (colour, marker) in zip(rows.items(), series(len(rows)), strict=True):
        axes.plot(
            [t for t, _ in points],
            [share for _, share in points],
            marker,
            color=colour,
            markersize=6,
            markeredgewidth=0,
            label=name,
        )
    axes.set(
        xscale="log",
        ylim=(0, 1.06),
        xlabel="a request, at the rate without a promise",
        ylabel="of the rate without a promise",
    )
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 1))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.legend(loc="outside upper left", ncols=3, fontsize=9)
    return figure


@styled
def token_lengths(traces: Mapping[str, Sequence[float]]) -> "Figure":
    """Tokens against the share of requests that have fewer, on a logarithmic axis; a line for each trace."""
    figure, axes = canvas(CHART, 2.9)
    for (name, lengths), (colour, _) in zip(traces.items(), series(len(traces)), strict=True):
        ordered = sorted(lengths)
        axes.plot(ordered, [(k + 0.5) / len(ordered) for k in range(len(ordered))], color=colour, label=name)
    axes.set(xscale="log", ylim=(0, 1), xlabel="tokens of the prompt", ylabel="share that is shorter")
    axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens:,.0f}")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9, handlelength=1.2)
    return figure


@styled
def hit_curves(ways: Mapping[str, Mapping[float, float]]) -> "Figure":
    """Share of the prompts' tokens that a cache holds, against its size: {way: {tokens of the cache: share}}."""
    figure, axes = canvas(CHART, 2.9)
    for (name, points), (colour, marker) in zip(ways.items(), series(len(ways)), strict=True):
        axes.plot(list(points), list(points.values()), color=colour, marker=marker, markersize=5, label=name)
    axes.set(xscale="log", ylim=(0, 1), xlabel="tokens that a replica's cache holds", ylabel="found")
    axes.minorticks_off()
    axes.set_xticks(sorted({tokens for points in ways.values() for tokens in points}))
    axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens / 1e6:.2g} M")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.legend(fontsize=9, loc="lower right")
    return figure


@styled
def copy_or_compute(wires: Mapping[str, float], models: Mapping[str, float]) -> "Figure":
    """Bandwidths of wires as bars, and the bandwidths at which a copied cache is as fast as a computed one as lines."""
    figure, axes = canvas(CHART, 1.1 + 0.3 * len(wires))
    axes.barh(range(len(wires)), list(wires.values()), 0.62, color=BLUE)
    for k, ((name, needed), (colour, _)) in enumerate(zip(models.items(), series(len(models) + 1)[1:], strict=True)):
        axes.axvline(needed, color=colour, linewidth=1.6, linestyle=(0, (4 + 2 * k, 2)), label=name)
    axes.set_yticks(range(len(wires)), list(wires), fontsize=9)
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(min(wires.values()) / 3, max(wires.values()) * 1.5), xlabel="bandwidth, one direction")
    axes.xaxis.set_major_formatter(lambda W, _: show(W, "B/s", 3))
    axes.minorticks_off()
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=1, fontsize=9)
    return figure


@styled
def token_prices(ways: Mapping[str, Sequence[tuple[float, float]]]) -> "Figure":
    """Dollars for a million tokens against the tokens a second that each user gets: {way: [(rate, dollars)]}."""
    figure, axes = canvas(CHART, 3.2)
    for (name, points), (colour, marker) in zip(ways.items(), series(len(ways)), strict=True):
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=4, label=name)
    axes.set(xscale="log", yscale="log", xlabel="tokens/s of a user", ylabel="dollars a million tokens")
    axes.xaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    axes.yaxis.set_major_formatter(lambda cost, _: f"{cost:g}")
    axes.xaxis.set_minor_formatter(lambda rate, _: f"{rate:g}" if f"{rate:g}"[0] in "25" else "")
    axes.tick_params(axis="x", which="minor", labelsize=8)
    axes.legend(fontsize=9, loc="upper left")
    return figure
