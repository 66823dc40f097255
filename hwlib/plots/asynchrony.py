"""Kernels in time: who issues their products, when copies and products overlap, and the clock under a power limit."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hwlib.hierarchy import Timeline
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, SKY, SMALL, canvas, note, series, styled
from hwlib.power import PowerSample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ISSUERS = (
    ("Ampere", "a warp:\n32 threads", "16 x 8 x 16", {"registers": "A, B, sums", "shared memory": ""}, ""),
    ("Hopper", "a warpgroup:\n4 warps", "64 x 256 x 16", {"registers": "sums, or A", "shared memory": "A, B"}, "TMA"),
    (
        "Blackwell",
        "one thread,\nfor 1 or 2 SMs",
        "128 or 256 x 256 x 16",
        {"tensor memory": "sums, or A", "shared memory": "A, B"},
        "TMA",
    ),
)


@styled
def issuers() -> "Figure":
    """Who issues a 16-bit product on three generations, how large the widest one is, and where its operands lie."""
    figure, axes = canvas(CHART, 3.7)
    axes.set(xlim=(0, 102), ylim=(-7, 58))
    axes.set_axis_off()
    for column, (name, who, shape, memories, copier) in enumerate(ISSUERS):
        left = 35 * column
        note(axes, name, (left, 55), (0, 0), fontsize=10)
        _box(axes, (left, 41, 32, 12), INK, f"issued by\n{who}")
        _box(axes, (left, 27, 32, 9), ORANGE, f"tensor core\n{shape}")
        _arrow(axes, (left + 16, 41), (left + 16, 36))
        for row, (memory, holds) in enumerate(memories.items()):
            _box(axes, (left, 14 - 11 * row, 32, 9), (BLUE, GREEN)[row], f"{memory}\n{holds}".strip())
        _arrow(axes, (left + 16, 23), (left + 16, 27))
        copied = f"{copier}: tiles from\nL2, asynchronously" if copier else "every thread\ncopies its share"
        note(axes, copied, (left + 16, -0.5), (0, 0), ha="center", va="top", fontsize=SMALL, color=GREY)
    return figure


@styled
def kernel_timeline(runs: Mapping[str, Timeline]) -> "Figure":
    """Kernels one above another: copies on the way, products and epilogues against time, one tile a shade.

    `runs` is {label: timeline}; the label stands above its rows with the share of the time in which products are
    computed. Raises ValueError without a run.
    """
    if not runs:
        raise ValueError("kernel_timeline needs at least one run")
    figure, panels = canvas(CHART, 0.5 + 1.15 * len(runs), rows=len(runs))
    last = max(run.time for run in runs.values())
    for axes, (label, run) in zip(panels if len(runs) > 1 else [panels], runs.items(), strict=True):
        for step in run.steps:
            place = 2.1 + 0.9 * step.slot / (1 + max(one.slot for one in run.steps))
            high = 0.8 / (1 + max(one.slot for one in run.steps))
            axes.broken_barh([(step.asked, step.arrived - step.asked)], (place, high), facecolor=SKY)
            look = {"facecolor": (ORANGE, "#e8a06a")[step.tile % 2], "edgecolor": "white", "linewidth": 0.5}
            axes.broken_barh([(step.start, step.end - step.start)], (1.1, 0.8), **look)
        for begin, end in run.epilogues:
            axes.broken_barh([(begin, end - begin)], (0.1, 0.8), facecolor=GREEN, edgecolor="white", linewidth=0.5)
        axes.set(xlim=(0, last), ylim=(0, 3.1), yticks=(0.5, 1.5, 2.5))
        axes.set_yticklabels(["epilogue", "tensor cores", "copies"], fontsize=SMALL)
        axes.grid(visible=False, axis="y")
        axes.set_title(f"{label}: tensor cores busy {run.busy:.0%} of {run.time:,.0f} ns", fontsize=SMALL)
    axes.set_xlabel("time [ns]")
    return figure


@styled
def clock_series(series: Sequence[PowerSample], limit: float) -> "Figure":
    """The clock of a chip and the power that it takes against time, with the limit, and each phase named above.

    Raises ValueError without a sample.
    """
    if not series:
        raise ValueError("clock_series needs at least one sample")
    figure, (above, below) = canvas(CHART, 3.6, rows=2)
    times = [sample.at for sample in series]
    above.plot(times, [sample.clock / 1e9 for sample in series], color=BLUE, linewidth=1.4)
    above.set_ylabel("clock [GHz]")
    below.plot(times, [sample.power for sample in series], color=ORANGE, linewidth=1.4)
    below.axhline(limit, color=INK, linestyle="--", linewidth=1)
    note(below, f"limit {limit:.0f} W", (times[-1], limit), (0, 3), ha="right", fontsize=SMALL)
    below.set(ylabel="power [W]", xlabel="time [s]", ylim=(0, 1.12 * max(sample.power for sample in series)))
    top = max(sample.clock for sample in series) / 1e9
    for number, (name, group) in enumerate(groupby(series, key=lambda sample: sample.phase)):
        first = next(group).at
        end = max([one.at for one in group], default=first)
        for axes in (above, below):
            axes.axvspan(first, end, color=GREY, alpha=0.10 if number % 2 else 0.0, linewidth=0)
        note(above, name, ((first + end) / 2, top), (0, 15 - 10 * (number % 2)), ha="center", fontsize=SMALL)
    return figure


@styled
def power_caps(measured: Mapping[str, Mapping[float, float]], models: Mapping[str, Mapping[float, float]]) -> "Figure":
    """The share of a chip's rate that is left under a limit of power in W: measured as points, models as lines.

    Raises ValueError without a measured point.
    """
    if not any(measured.values()):
        raise ValueError("power_caps needs at least one measured rate")
    figure, axes = canvas(CHART, 3.0)
    for (name, points), (colour, marker) in zip(measured.items(), series(len(measured)), strict=True):
        axes.plot(list(points), list(points.values()), marker, color=colour, markersize=5, label=name)
    for (name, line), style in zip(models.items(), ("-", "--", ":"), strict=False):
        axes.plot(list(line), list(line.values()), style, color=INK, linewidth=1.2, label=name)
    axes.set(xlabel="limit [W]", ylabel="of the rate without it", ylim=(0, 1.05))
    axes.legend(loc="lower right")
    return figure


def _box(axes: "Axes", place: tuple[float, float, float, float], colour: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    x, y, wide, high = place
    axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, alpha=0.22, linewidth=0))
    note(axes, text, (x + wide / 2, y + high / 2), (0, 0), ha="center", va="center", fontsize=SMALL)


def _arrow(axes: "Axes", start: tuple[float, float], end: tuple[float, float]) -> None:
    look: dict[str, Any] = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 1, "shrinkB": 1}
    axes.annotate("", end, start, arrowprops=look)
