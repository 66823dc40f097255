"""Measuring a run: where the points of an MFU go, what stops a run, how often somebody is slow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, ORANGE, SERIES, SMALL, canvas, note, styled
from hwlib.specs import MeasuredInterruption
from hwlib.training import slow_fraction

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def mfu_ledger(parts: Sequence[tuple[str, float, str]], printed: float) -> "Figure":
    """From a predicted utilization to the one that a log prints: a bar for each entry, where the last one ended.

    `parts` is (what, share, kind); the first is the prediction, the others are what is added or, below 0, taken off;
    the kinds "count" and "clock" have colours of their own. Raises ValueError without an entry.
    """
    if not parts:
        raise ValueError("mfu_ledger needs at least the prediction")
    inks = {"count": GREY, "clock": ORANGE}
    figure, axes = canvas(CHART, 1.1 + 0.34 * (len(parts) + 1))
    at = 0.0
    seen: set[str] = set()
    names = {"count": "counted otherwise", "clock": "time that is lost"}
    for i, (_, share, kind) in enumerate(parts):
        label = names.get(kind) if kind not in seen else None
        seen.add(kind)
        axes.barh(i, share, 0.62, at, color=BLUE if i == 0 else inks.get(kind, SERIES[3][0]), label=label)
        at += share
        note(
            axes,
            f"{100 * share:+.1f}" if i else f"{100 * share:.1f}",
            (max(at, at - share), i),
            (5, 0),
            va="center",
            fontsize=9,
        )
    axes.barh(len(parts), printed, 0.62, color=GREEN)
    note(axes, f"{100 * printed:.1f}", (printed, len(parts)), (5, 0), va="center", fontsize=9)
    axes.set_yticks(range(len(parts) + 1), [*(what for what, _, _ in parts), "the log"], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0.6 * printed, 1.12 * max(at, parts[0][1]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f}")
    axes.set_xlabel("utilization [%]; the axis is cut at the left")
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper right", ncols=2, handlelength=1)
    return figure


@styled
def interruptions(rows: Sequence[MeasuredInterruption]) -> "Figure":
    """What stopped a run, a bar for each cause by its count; causes below 2 % of all are two bars: the GPU's, and the
    others.
    """
    total = sum(row.times for row in rows)
    large = [(row.cause, row.part, row.times) for row in rows if row.times >= 0.02 * total]
    rare = [row for row in rows if row.times < 0.02 * total]
    ours = sum(row.times for row in rare if row.part == "GPU")
    bars = [*large, ("rare ones of the GPU", "GPU", ours), ("all others", "", sum(row.times for row in rare) - ours)]
    figure, axes = canvas(CHART, 0.9 + 0.3 * len(bars))
    for y, (_, part, count) in enumerate(bars):
        axes.barh(y, count, 0.66, color=BLUE if part == "GPU" else GREY)
        note(axes, str(count), (count, y), (4, 0), va="center", fontsize=9)
    axes.set_yticks(range(len(bars)), [cause for cause, *_ in bars], fontsize=9)
    axes.invert_yaxis()
    axes.set(xlabel="interruptions", xlim=(0, 1.16 * max(count for *_, count in bars)))
    axes.grid(visible=False, axis="y")
    return figure


@styled
def slow_steps(chances: Sequence[float], most: int = 16384) -> "Figure":
    """The share of the steps in which some rank is slow, against the ranks, a line for each rank's own chance."""
    figure, axes = canvas(CHART, 2.8)
    grid = [2 ** (k / 8) for k in range(8 * (most.bit_length() - 1) + 1)]
    for chance, (colour, _) in zip(chances, SERIES, strict=False):
        axes.plot(grid, [float(slow_fraction(chance, n)) for n in grid], color=colour, label=f"1 in {1 / chance:,.0f}")
    axes.set(xscale="log", xlabel="ranks", ylabel="steps with a slow rank", xlim=(1, most), ylim=(0, 1.03))
    axes.set_xticks([n for k in range(10) if (n := 4**k) <= most])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.legend(title="a rank is slow in", loc="upper left", title_fontsize=SMALL)
    return figure
