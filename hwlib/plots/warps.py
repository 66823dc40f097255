"""The lanes of a warp in each cycle, and the cost of divergence."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, canvas, note, series, styled
from hwlib.simt import Trace, WarpRun, warp_ways

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#E69F00", "#7a5c3a", INK)
MOST = 400  # cycles that can be told apart


@styled
def threads(traces: Sequence[Trace]) -> "Figure":
    """The threads of a warp as if each had a processor of its own: one row per thread, one square per instruction.

    A colour is a line of the kernel. Raises ValueError without an instruction.
    """
    return _grid([(at, row, line) for row, trace in enumerate(traces) for at, line in enumerate(trace)], len(traces))


@styled
def warp(run: WarpRun, number: int = 0) -> "Figure":
    """One warp of a run, cycle by cycle: in each cycle one line of the kernel, for the threads that are at that line.

    White squares are idle lanes. Raises IndexError for a warp that the run does not have, ValueError for one without
    a cycle.
    """
    schedule = run.schedules[number]
    cells = [(cycle, thread, line) for cycle, (line, threads) in enumerate(schedule) for thread in threads]
    figure = _grid(cells, max(run.width, 1 + max((thread for _, thread, _ in cells), default=0)))
    busy = len(cells) / (len(schedule) * run.width)
    title = f"{len(schedule)} cycles, {busy:.0%} of the lanes busy"
    figure.axes[0].set_title(f"{title}\n{run.note}" if run.note else title)
    return figure


def _grid(cells: Sequence[tuple[int, int, int]], rows: int) -> "Figure":
    """Coloured squares at (cycle, thread) of a line; cycles beyond `MOST` are left out, which the figure says."""
    from matplotlib.collections import PolyCollection

    if not cells:
        raise ValueError("a warp without an instruction cannot be drawn")
    lines = sorted({line for _, _, line in cells})
    last = max(at for at, _, _ in cells) + 1
    shown = min(last, MOST)
    figure, axes = canvas(CHART, 0.9 + 0.075 * rows)
    for line in lines:
        corners = [(at, row) for at, row, one in cells if one == line and at < shown]
        squares = [[(x, y), (x + 0.9, y), (x + 0.9, y + 0.85), (x, y + 0.85)] for x, y in corners]
        axes.add_collection(PolyCollection(squares, facecolor=_colour(lines, line), label=f"line {line}"))
    axes.set(xlim=(0, shown), ylim=(rows, 0), xlabel="cycle", ylabel="thread")
    axes.grid(visible=False)
    if last > shown:
        note(axes, f"... and {last - shown:,} more", (shown, rows), (-2, 4), ha="right", color=GREY)
    if len(lines) <= len(LINES):
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), handlelength=1)
    return figure


def _colour(lines: Sequence[int], line: int) -> str:
    return LINES[lines.index(line) % len(LINES)]


@styled
def divergence(measured: Mapping[str, Mapping[int, float]], widths: Sequence[int] = (32,), note: str = "") -> "Figure":
    """The paths of a switch that a warp executes, against the number of paths: a curve for each width, and dots.

    `measured` is {label: {ways: cost}}; the `note` of the runs is the title. The dashed line is a machine that
    executes every path. Raises ValueError without dots.
    """
    if not any(measured.values()):
        raise ValueError("divergence needs at least one cost to show")
    figure, axes = canvas(CHART, 3.7)
    most = max(ways for costs in measured.values() for ways in costs)
    counts = range(1, most + 1)
    axes.plot(counts, counts, color=GREY, linewidth=1, linestyle="--", label="every path there is")
    for width, look in zip(widths, ("-", "-.", ":"), strict=False):
        expected = [warp_ways(ways, width) for ways in counts]
        axes.plot(counts, expected, color=INK, linestyle=look, label=f"expected, {width} threads")
    for (label, costs), (colour, marker) in zip(measured.items(), series(len(measured)), strict=True):
        axes.plot(list(costs), list(costs.values()), marker, color=colour, label=label)
    _doublings(axes)
    axes.set(xlabel="paths of the switch", ylabel="paths that a warp executes")
    axes.set_title(note)
    axes.legend(loc="upper left")
    return figure


def _doublings(axes: "Axes") -> None:
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        scale("log", base=2)
        axis.set_major_formatter(lambda x, _: f"{x:g}")
