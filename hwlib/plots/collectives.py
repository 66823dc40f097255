"""Collectives: each rank's data before and after, a buffer filling step by step, and times against sizes."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import CHART, GREY, INK, SERIES, SMALL, canvas, series, styled
from hwlib.simulate.buffer_trace import BlockTable, BufferTrace
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EMPTY, TWICE = "#f3f3f3", "#222222"
ACROSS = 4  # tables side by side
TABLES = 8 * ACROSS  # in one figure
TITLES = {
    "broadcast": "Broadcast",
    "scatter": "Scatter",
    "gather": "Gather",
    "reduce": "Reduce",
    "all_gather": "AllGather",
    "reduce_scatter": "ReduceScatter",
    "all_reduce": "AllReduce",
    "all_to_all": "AllToAll",
}


@styled
def before_and_after(watched: Sequence[BufferTrace]) -> "Figure":
    """Two tables for each collective: rows are ranks, columns blocks, and a colour shows the rank that a block is from.

    A sum is striped in the colours of all its contributors. The number is that of the block of its first owner.
    """
    rows = -(-len(watched) // 2)
    figure, grid = _grid(CHART, 1.35 * rows, rows, 4)
    for place, trace in enumerate(watched):
        pair = grid[place // 2][2 * (place % 2) : 2 * (place % 2) + 2]
        _table(pair[0], trace.steps[0], TITLES[trace.collective], "block")
        _table(pair[1], _kept(trace), "→", "rank" if trace.collective == "all_to_all" else "block")
    for axes in [axes for row in grid for axes in row][2 * len(watched) :]:
        axes.set_axis_off()
    return figure


@styled
def blocks_by_step(watched: BufferTrace) -> "Figure":
    """Each rank's data at the beginning and after each step: rows are ranks, columns blocks.

    Each rank has a colour, and a block is striped in the colours of its contributors; one that was added
    twice is black. If the run failed, the title says why, and the tables end there. If there are many
    steps, only the first are shown.
    """
    steps = watched.steps[:TABLES]
    rows, across = -(-len(steps) // ACROSS), min(len(steps), ACROSS)
    more = f"; the first {TABLES - 1} of {len(watched.steps) - 1} steps" if len(watched.steps) > TABLES else ""
    side = min(max(0.2 * len(steps[0]), 0.8), 2.4)
    width = max((side + 0.25) * across, CHART)
    title = _lines((watched.failure or f"{watched.name}: {_counted(watched)}") + more, int(14 * width))
    figure, grid = _grid(width, (side + 0.35) * rows + 0.2 + 0.2 * len(title), rows, across)
    for number, axes in enumerate(axes for row in grid for axes in row):
        if number < len(steps):
            _table(axes, steps[number], "start" if number == 0 else f"step {number}")
        else:
            axes.set_axis_off()
    figure.suptitle("\n".join(title), fontsize=SMALL, x=0.01, ha="left", color=INK)
    return figure


@styled
def times_against_size(
    points: Mapping[str, Sequence[tuple[float, float]]],
    curves: Mapping[str, Callable[[Any], Any]],
    marks: Mapping[str, float] | None = None,
) -> "Figure":
    """Seconds against bytes, both logarithmic: measured points, curves, and sizes marked by a line.

    A curve is a function of an array of sizes, from the smallest to the largest point; without points, from 1 KiB to
    1 GiB.
    """
    import numpy as np

    sizes = [S for rows in points.values() for S, _ in rows] or [2.0**10, 2.0**30]
    S = np.geomspace(min(sizes), max(sizes), 200)
    figure, axes = canvas(CHART, 3.6)
    looks = iter(series(len(points) + len(curves)))
    for label, rows in points.items():
        colour, marker = next(looks)
        axes.plot(*zip(*rows, strict=True), marker, color=colour, markersize=5, label=label)
    for style, (label, curve) in zip(["-", "--", ":", "-."] * len(curves), curves.items(), strict=False):
        axes.plot(S, curve(S), style, color=next(looks)[0], label=label)
    for label, size in (marks or {}).items():
        axes.axvline(size, color=GREY, linewidth=1, linestyle=":")
        axes.annotate(
            label,
            (size, 0.02),
            (3, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=SMALL,
            color=GREY,
        )
    axes.set(xscale="log", yscale="log", xlabel="size S")
    axes.set_title("time", fontsize=10)
    axes.xaxis.set_major_formatter(lambda x, _: show(x, "B", 3))
    axes.yaxis.set_major_formatter(lambda t, _: show(t, "s", 3))
    axes.legend()
    return figure


def _grid(width: float, height: float, rows: int, columns: int) -> tuple["Figure", list[list["Axes"]]]:
    figure, first = canvas(width, height)
    first.remove()
    return figure, figure.subplots(rows, columns, squeeze=False).tolist()


def _kept(watched: BufferTrace) -> BlockTable:
    """The blocks that ranks end with: after a reduce-scatter their own, after a collective with a root the root's."""
    last = watched.steps[-1]
    if watched.collective in ("reduce_scatter", "scatter"):
        return [[v if block == rank else 0 for block, v in enumerate(row)] for rank, row in enumerate(last)]
    if watched.collective in ("reduce", "gather"):
        return [row if rank == 0 else [0] * len(row) for rank, row in enumerate(last)]
    return last


def _table(axes: "Axes", table: BlockTable, title: str, number: str = "") -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=2, foreground=INK)]  # so that a number on stripes can be read
    for rank, row in enumerate(table):
        for block, value in enumerate(row):
            colours = _colours(value)
            for i, colour in enumerate(colours):
                left, width = block + i / len(colours), 1 / len(colours)
                axes.add_patch(Rectangle((left, rank), width, 1, facecolor=colour, linewidth=0))
            axes.add_patch(Rectangle((block, rank), 1, 1, fill=False, edgecolor="white", linewidth=1.2))
            if value and number:
                axes.text(
                    block + 0.5,
                    rank + 0.52,
                    str(rank if number == "rank" else block),
                    ha="center",
                    va="center",
                    color="white",
                    fontsize=SMALL,
                    fontweight="bold",
                    path_effects=outline if len(colours) > 1 else None,
                )
    axes.set(xlim=(0, len(table[0])), ylim=(len(table), 0), aspect="equal")
    axes.set_xticks([])
    named = range(len(table)) if len(table) <= 8 else []
    axes.set_yticks([rank + 0.5 for rank in named], [str(rank) for rank in named])
    axes.tick_params(length=0, labelsize=SMALL)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title, fontsize=9, loc="center")


def _colours(value: float) -> list[str]:
    """The colours of the ranks whose digits are in a number; grey if there are none."""
    if not 0 < value < 10**15:
        return [EMPTY if value == 0 else TWICE]
    colours = []
    for rank, digit in enumerate(reversed(str(int(value)))):
        if digit != "0":
            colours.append(_of(rank) if digit == "1" else TWICE)
    return colours


def _of(rank: int) -> str:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return SERIES[rank][0] if rank < len(SERIES) else to_hex(colormaps["tab20"](2 * (rank - len(SERIES)) % 20 / 20))


def _counted(watched: BufferTrace) -> str:
    run = watched.run
    if run is None:
        return ""
    share = max(run.sent_bytes) / (8 * len(run.outputs))
    rounds = "1 round" if run.rounds == 1 else f"{run.rounds} rounds"
    return f"{rounds}, a rank sends at most {share:.3g} S"


def _lines(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width) or [""]
