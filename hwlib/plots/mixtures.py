"""Mixtures of strategies: two axes against each other, axes on a machine, and what a planner's order is worth."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import floor, log10
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, canvas, note, series, styled
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = {"tp": BLUE, "cp": GREEN, "ep": GREEN, "pp": ORANGE, "dp": PURPLE}
PARTS = {**AXES, "compute": "#9a9a9a", "recomputed": "#cfcfcf", "bubble": "#E69F00"}
TICKS = (1, 1.4, 2, 3, 4, 6, 8, 10, 14, 20, 30, 40, 60, 80)
NAMES = {"tp": "tensor", "cp": "context", "ep": "expert", "pp": "pipeline", "dp": "data"}


@styled
def split_times(degrees: Sequence[float], curves: Mapping[str, Sequence[float]], best: float, math: float) -> "Figure":
    """Seconds of a pass against the data-parallel degree, {label: [seconds, ...]}, on logarithmic axes.

    The dashed line is the arithmetic, the rule the best split. Raises ValueError for curves of another length.
    """
    figure, axes = canvas(CHART, 3.3)
    for (label, times), (colour, _), dashes in zip(
        curves.items(), series(len(curves)), ("-", "-", (0, (1, 1.5)), (0, (5, 2))), strict=False
    ):
        if len(times) != len(degrees):
            raise ValueError(f"split_times: {label!r} has {len(times)} times for {len(degrees)} degrees")
        axes.plot(degrees, times, color=colour, linestyle=dashes, label=label)
    axes.axhline(math, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    note(axes, "arithmetic", (degrees[0], math), (2, 4), fontsize=9, color=INK)
    axes.axvline(best, color=GREY, linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="ranks of the data axis; the others are tensor-parallel")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda t, _: show(t, "s", 2))
    axes.yaxis.set_minor_formatter(lambda *_: "")
    figure.legend(loc="outside upper left", ncols=2, fontsize=9)
    return figure


@styled
def least_tokens(bars: Mapping[str, Mapping[str, float]]) -> "Figure":
    """A bar for each machine and mixture, {machine: {mixture: tokens of a rank}}, on a logarithmic axis.

    Raises ValueError without machines.
    """
    if not bars:
        raise ValueError("least_tokens: at least one machine, got none")
    figure, axes = canvas(CHART, 0.8 + 0.3 * sum(len(each) + 1.2 for each in bars.values()))
    place = 0.0
    for machine, each in bars.items():
        axes.text(0, place, machine, transform=axes.get_yaxis_transform(), fontsize=9, va="center", weight="bold")
        for way, tokens in each.items():
            place += 1
            axes.barh(place, tokens, color=BLUE, height=0.75)
            note(axes, f"{tokens:,.0f}  {way}", (tokens, place), (4, 0), fontsize=8, va="center")
        place += 1.2
    most = max(tokens for each in bars.values() for tokens in each.values())
    axes.set(
        xscale="log",
        xlabel="tokens of a rank from which the transfers hide",
        xlim=(10, most * 300),
        ylim=(-0.7, place - 0.6),
    )
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.set_xticks([10, 100, 1000])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.invert_yaxis()
    return figure


@styled
def axes_on_levels(sizes: Mapping[str, int], levels: Sequence[tuple[str, int]]) -> "Figure":
    """The axes of a mesh from the inside out, {axis: ranks}, above the levels of a machine, (name, ranks in one).

    Both on one logarithmic axis of ranks: an axis crosses the levels that its bar covers. Raises ValueError for an axis
    of fewer than two ranks.
    """
    if small := [axis for axis, ranks in sizes.items() if ranks < 2]:
        raise ValueError(f"axes_on_levels: an axis has at least 2 ranks, {small[0]} has {sizes[small[0]]}")
    figure, axes = canvas(CHART, 2.3)
    below = 1
    for axis, ranks in sizes.items():
        axes.barh(1, below * (ranks - 1), left=below, color=AXES[axis], height=0.7, edgecolor="white")
        axes.text(
            (below * below * ranks) ** 0.5,
            1,
            f"{NAMES[axis]}\n{ranks}",
            color="white",
            ha="center",
            va="center",
            fontsize=9,
        )
        below *= ranks
    inside = 1
    for k, (name, span) in enumerate(levels):
        if inside >= below:
            break
        end = min(span, below)
        axes.barh(0, end - inside, left=inside, color="#e4e4e4" if k % 2 else "#cfcfcf", height=0.7)
        axes.text((inside * end) ** 0.5, 0, name, ha="center", va="center", fontsize=9)
        inside = end
    axes.set(xscale="log", xlim=(1, below), ylim=(-0.6, 1.6), xlabel="ranks, from neighbours on")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.set_yticks([0, 1], ["machine", "mesh"], fontsize=9)
    axes.grid(visible=False)
    return figure


@styled
def time_bars(rows: Mapping[str, Mapping[str, float]], marks: Mapping[str, float] | None = None) -> "Figure":
    """A horizontal stacked bar of seconds for each name, {name: {part: seconds}}, and a mark where `marks` has a time.

    Parts of nothing are left out of the legend. Raises ValueError without a bar.
    """
    if not rows:
        raise ValueError("time_bars needs at least one bar")
    parts = [
        p
        for p in dict.fromkeys(p for each in rows.values() for p in each)
        if any(each.get(p, 0) > 0 for each in rows.values())
    ]
    inks = {part: PARTS.get(part, SKY) for part in parts}
    figure, axes = canvas(CHART, 1.2 + 0.42 * len(rows))
    for y, (name, each) in enumerate(rows.items()):
        left = 0.0
        for part in parts:
            axes.barh(y, each.get(part, 0), left=left, color=inks[part], height=0.65, label=None if y else part)
            left += each.get(part, 0)
        if marks and name in marks:
            axes.plot(
                marks[name],
                y,
                "D",
                color=INK,
                markersize=6,
                markeredgecolor="white",
                zorder=3,
                label="measured" if name == next(iter(marks)) else None,
            )
    axes.set(xlabel="time [s]")
    axes.set_yticks(range(len(rows)), list(rows), fontsize=9)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper left", ncols=3, fontsize=9, handlelength=1)
    return figure


@styled
def right_by_gap(curves: Mapping[str, Mapping[tuple[float, float], tuple[int, float]]]) -> "Figure":
    """The share of pairs in the right order against the gap that was predicted, {label: {(least, most): (n, share)}}.

    A point's area goes with its pairs; the dashed line is a coin. Raises ValueError without a curve.
    """
    if not curves:
        raise ValueError("right_by_gap: at least one curve, got none")
    figure, axes = canvas(CHART, 3.0)
    axes.axhline(50, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    note(axes, "a coin", (1, 50), (-2, 3), ha="right", fontsize=9, color=GREY, xycoords=("axes fraction", "data"))
    edges = sorted({edge for bins in curves.values() for edge in (low for low, _ in bins)})
    for (label, bins), (colour, marker) in zip(curves.items(), series(len(curves)), strict=True):
        places = [edges.index(low) for low, _ in bins]
        shares = [100 * share for _, share in bins.values()]
        axes.plot(places, shares, color=colour, linewidth=1)
        axes.scatter(
            places,
            shares,
            [6 * n**0.75 + 8 for n, _ in bins.values()],
            color=colour,
            marker=marker,
            label=label,
            zorder=3,
        )
    names = [f"{100 * a:g}–{100 * b:g}" for a, b in pairwise(edges)] + [f"{100 * edges[-1]:g}+"]
    axes.set_xticks(range(len(edges)), names)
    axes.set(xlabel="predicted gap between two plans [%]", ylabel="in the right order [%]", ylim=(0, 106))
    figure.legend(loc="outside upper left", ncols=2, fontsize=9)
    return figure


@styled
def predicted_against_measured(
    points: Mapping[str, Sequence[tuple[float, float]]], error: float, noted: Mapping[str, tuple[float, float]]
) -> "Figure":
    """Steps as predicted and as measured, {label: [(predicted, measured), ...]}, in seconds, with a band of the error.

    `noted` are some of the points with a word each. Raises ValueError without points.
    """
    if not any(points.values()):
        raise ValueError("predicted_against_measured: at least one point, got none")
    figure, axes = canvas(CHART, 3.9)
    low = 0.93 * min(min(one) for each in points.values() for one in each)
    high = 1.08 * max(max(one) for each in points.values() for one in each)
    axes.fill_between(
        [low, high],
        [low / (1 + error), high / (1 + error)],
        [low / (1 - error), high / (1 - error)],
        color="#e4e4e4",
        linewidth=0,
        label=f"within {100 * error:.2g} %",
    )
    axes.plot([low, high], [low, high], color=INK, linewidth=1)
    for (label, each), (colour, marker) in zip(points.items(), series(len(points)), strict=True):
        axes.plot(
            [p for p, _ in each],
            [m for _, m in each],
            marker,
            color=colour,
            markersize=6,
            alpha=0.85,
            markeredgewidth=0,
            label=label,
        )
    for k, (word, at) in enumerate(noted.items()):
        note(
            axes,
            word,
            at,
            (22, -24) if k % 2 else (-14, 16),
            fontsize=9,
            ha="left" if k % 2 else "right",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.8},
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        ylim=(low, high),
        xlabel="step as predicted",
        ylabel="step as measured",
    )
    scale = 10.0 ** floor(log10(low))
    ticks = [t for t in (k * scale for k in TICKS) if low <= t <= high]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [show(t, "s", 3) for t in ticks])
        axis.set_ticks([], minor=True)
    figure.legend(loc="outside upper left", ncols=2, fontsize=9)
    return figure


@styled
def guide(questions: Sequence[tuple[str, str]], last: str) -> "Figure":
    """A decision guide from top to bottom: each question with what to take if the answer is yes; else the next one."""
    figure, axes = canvas(CHART, 0.78 * (len(questions) + 1))
    axes.set(xlim=(0, 10), ylim=(-0.9 * len(questions) - 0.5, 0.5))
    axes.set_axis_off()
    box = {"boxstyle": "round,pad=0.35", "linewidth": 1}
    for k, (question, take) in enumerate(questions):
        y = -0.9 * k
        axes.text(
            2.6,
            y,
            question,
            ha="center",
            va="center",
            fontsize=8.5,
            bbox={**box, "facecolor": "white", "edgecolor": INK},
        )
        axes.text(
            7.9,
            y,
            take,
            ha="center",
            va="center",
            fontsize=8.5,
            color="white",
            bbox={**box, "facecolor": BLUE, "edgecolor": BLUE},
        )
        for start, end, word, dx, dy in (
            ((5.0, y), (5.75, y), "yes", 0, 4),
            ((2.6, y - 0.28), (2.6, y - 0.62), "no", 6, -2),
        ):
            axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY})
            note(
                axes,
                word,
                ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2),
                (dx, dy),
                fontsize=8,
                color=GREY,
                ha="left" if dx else "center",
            )
    axes.text(
        2.6,
        -0.9 * len(questions),
        last,
        ha="center",
        va="center",
        fontsize=8.5,
        color="white",
        bbox={**box, "facecolor": ORANGE, "edgecolor": ORANGE},
    )
    return figure
