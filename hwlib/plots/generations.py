"""Generations of chips and kinds of machines: what doubled, what a chip reaches how fast, how chips are joined."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from hwlib.plots.fabrics import lines
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, SMALL, canvas, note, styled
from hwlib.specs import Accelerator, Node
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hwlib.hierarchy import SystolicRun
    from hwlib.steptime import CriticalBatches

QUANTITIES: Mapping[str, tuple[str, str, str]] = {
    "flops": ("16-bit matrix rate", ORANGE, "s"),
    "hbm_bandwidth": ("memory bandwidth", BLUE, "o"),
    "hbm_bytes": ("memory", SKY, "v"),
    "scaleup_bandwidth": ("scale-up bandwidth", GREEN, "^"),
    "nic_bandwidth": ("network of a GPU", PURPLE, "D"),
    "tdp": ("power", GREY, "X"),
}
WAYS: Mapping[str, tuple[str, str, str]] = {
    "hbm": ("its own memory", BLUE, "o"),
    "scaleup": ("chips of its domain", GREEN, "^"),
    "host": ("the host's memory", ORANGE, "s"),
    "network": ("everything else", PURPLE, "D"),
}
LEVELS: Mapping[str, tuple[str, str, str]] = {
    "memory": ("weights from memory", BLUE, "o"),
    "scaleup": ("gradients within the domain", GREEN, "^"),
    "network": ("gradients between domains", PURPLE, "D"),
}


def _quantity(chip: Accelerator, name: str) -> float | None:
    if name != "flops":
        quantity: float | None = getattr(chip, name)
        return quantity
    return chip.bf16_flops or chip.fp16_flops


@styled
def doublings(chips: Mapping[str, Accelerator], announced: Iterable[str] = ()) -> "Figure":
    """What each generation has, as a multiple of the first one, in doublings: a line a quantity, where the record has
    it, or of the first whose record has it. Points of `announced` chips are hollow. Raises ValueError for fewer than
    two chips.
    """
    if len(chips) < 2:
        raise ValueError(f"doublings compares chips, got {len(chips)}")
    figure, axes = canvas(CHART, 3.9)
    hollow, most = {*announced}, 1.0
    for name, (word, colour, marker) in QUANTITIES.items():
        known = [(i, value, key) for i, (key, chip) in enumerate(chips.items()) if (value := _quantity(chip, name))]
        if not known:
            continue
        begin, start, since = known[0]
        ratios = [(i, value / start, key) for i, value, key in known]
        word += f" (since {since})" if begin else ""
        most = max(most, *(ratio for _, ratio, _ in ratios))
        axes.plot(
            [i for i, *_ in ratios],
            [ratio for _, ratio, _ in ratios],
            marker=marker,
            color=colour,
            label=word,
            linewidth=1.4,
        )
        for i, ratio, key in ratios:
            axes.plot(
                i, ratio, marker, color=colour, markersize=6, markerfacecolor="white" if key in hollow else colour
            )
    axes.set_yscale("log", base=2)
    top = next(k for k in range(1, 12) if 2**k >= most)
    axes.set_yticks([2**k for k in range(top + 1)], [f"{2**k} x" for k in range(top + 1)])
    axes.set_ylabel(f"times that of {next(iter(chips))}")
    axes.set_xticks(range(len(chips)), [f"{key}\n(announced)" if key in hollow else key for key in chips])
    axes.minorticks_off()
    figure.legend(loc="outside upper left", ncols=2, handlelength=1.6)
    return figure


def _dots(rows: Mapping[str, Mapping[str, float | None]], looks: Mapping[str, tuple[str, str, str]]) -> Any:
    """A dot for each of a row's numbers, on a logarithmic axis."""
    figure, axes = canvas(CHART, 1.5 + 0.33 * len(rows))
    for at, row in enumerate(rows.values()):
        known = [value for value in row.values() if value]
        axes.plot([min(known), max(known)], [at, at], color="#cccccc", linewidth=1.2, zorder=1)
        for name, value in row.items():
            if value:
                axes.plot(value, at, looks[name][2], color=looks[name][1], markersize=7)
    for word, colour, marker in looks.values():
        axes.plot([], [], marker, color=colour, label=word)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_ylim(len(rows) - 0.5, -0.5)
    figure.legend(loc="outside upper left", ncols=2, handlelength=1, columnspacing=1.2)
    return figure, axes


@styled
def critical_by_machine(found: Mapping[str, "CriticalBatches"]) -> "Figure":
    """Tokens of a chip from which arithmetic hides memory, the domain's links, and the network, by machine's name."""
    figure, axes = _dots({name: batches._asdict() for name, batches in found.items()}, LEVELS)
    axes.set_xlabel("tokens of a chip")
    axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens:,.0f}")
    return figure


@styled
def ways_to_bytes(nodes: Mapping[str, Node]) -> "Figure":
    """How fast a chip of each machine reaches bytes, one direction: its own memory, chips of its domain, its host, and
    the network. What a record does not say is left out.
    """
    rows = {
        name: {
            "hbm": node.chip.hbm_bandwidth,
            "scaleup": node.scaleup_bandwidth,
            "host": node.to_host_bandwidth,
            "network": node.nic_bandwidth,
        }
        for name, node in nodes.items()
    }
    figure, axes = _dots(rows, WAYS)
    most = max(value or 0 for row in rows.values() for value in row.values())
    ticks = [10**k for k in range(9, 15) if 10**k < 3 * most]
    axes.set_xticks(ticks, [show(float(tick), "B/s") for tick in ticks])
    axes.set_xlabel("bandwidth of a chip, one direction")
    return figure


@styled
def torus_and_switch(side: int = 4, chips: int = 16) -> "Figure":
    """A cube of a torus with the links that close each of its axes to a ring, and chips around one switch.

    Links between neighbours are grey, those that close an axis orange; one chip and all its links are marked. Raises
    ValueError for a side below 3, on which a closed axis is none.
    """
    if side < 3 or chips < 2:
        raise ValueError(f"torus_and_switch: a side of 3 or more and 2 or more chips, got {side} and {chips}")
    figure, first = canvas(CHART, 3.0)
    first.remove()
    torus, star = figure.subplots(1, 2, width_ratios=(1.55, 1))

    def place(i: float, j: float, k: float) -> tuple[float, float]:
        return k + 0.42 * i, -j + 0.36 * i

    cells = list(product(range(side), repeat=3))
    near = [(cell, axis) for cell in cells for axis in range(3) if cell[axis] < side - 1]
    step = lambda cell, axis, by: tuple((x + by) % side if a == axis else x for a, x in enumerate(cell))
    lines(torus, ((place(*cell), place(*step(cell, axis, 1))) for cell, axis in near), GREY, 0.8, 0.55)
    marked = (0, 0, 0)
    for cell in cells:
        for axis in range(3):
            if cell[axis] == side - 1:
                _closing(torus, place(*cell), place(*step(cell, axis, 1)), axis, step(cell, axis, 1) == marked)
    for axis in range(3):
        lines(torus, [(place(*marked), place(*step(marked, axis, 1)))], ORANGE, 1.8, 1.0)
    torus.plot(*zip(*(place(*cell) for cell in cells), strict=True), "s", color=BLUE, markersize=4.2, zorder=3)
    torus.plot(*place(*marked), "s", color=INK, markersize=6, zorder=4)
    torus.set_title(f"torus: 6 links to neighbours\n{side} x {side} x {side} chips", fontsize=SMALL)
    spots = [(i % 4, -(i // 4)) for i in range(chips)]
    rows = -(-chips // 4)
    hub = (5.2, -(rows - 1) / 2)
    lines(star, ((spot, hub) for spot in spots[1:]), GREY, 0.8, 0.55)
    lines(star, [(spots[0], hub)], ORANGE, 1.8, 1.0)
    star.plot(*zip(*spots, strict=True), "s", color=BLUE, markersize=4.2, zorder=3)
    star.plot(*spots[0], "s", color=INK, markersize=6, zorder=4)
    star.plot(*hub, "o", color=INK, markersize=11, zorder=3)
    star.set_title(f"switch: all are neighbours\n{chips} chips, one layer", fontsize=SMALL)
    for axes in (torus, star):
        axes.margins(0.08)
        axes.set_aspect("equal")
        axes.set_axis_off()
    return figure


def _closing(axes: "Axes", a: tuple[float, float], b: tuple[float, float], axis: int, marked: bool) -> None:
    """A link from the last chip of an axis back to the first, as an arc."""
    bend = (0.22, 0.28, 0.28)[axis]
    look = {
        "arrowstyle": "-",
        "color": ORANGE,
        "linewidth": 1.8 if marked else 0.6,
        "alpha": 1.0 if marked else 0.35,
        "connectionstyle": f"arc3,rad={bend}",
    }
    axes.annotate("", b, a, arrowprops=look)


@styled
def wavefront(run: "SystolicRun", cycles: Sequence[int]) -> "Figure":
    """A systolic array in some of its cycles: in each multiplier the row of the left operand that it works on.

    Diagonals are one row. Raises ValueError for a cycle that the run does not have.
    """
    if not cycles or any(not 0 <= cycle < run.cycles for cycle in cycles):
        raise ValueError(f"wavefront: cycles from 0 to {run.cycles - 1}, got {list(cycles)}")
    from matplotlib.patches import Rectangle

    across = min(len(cycles), 3)
    down = -(-len(cycles) // across)
    figure, first = canvas(CHART, 0.2 + 1.62 * down)
    first.remove()
    panels = figure.subplots(down, across, squeeze=False).flat
    for axes, cycle in zip(panels, [*cycles, *[-1] * (across * down - len(cycles))], strict=True):
        axes.set_axis_off()
        if cycle < 0:
            continue
        for r, c in product(range(run.side), repeat=2):
            at = run.places[cycle].get((r, c))
            face = "#eeeeee" if at is None else (BLUE, ORANGE, GREEN, PURPLE)[at[0] % 4]
            axes.add_patch(
                Rectangle(
                    (c + 0.04, -r + 0.04),
                    0.92,
                    0.92,
                    facecolor=face,
                    linewidth=0,
                    alpha=1.0 if at is None else 0.35 + 0.5 * (at[1] % 2),
                )
            )
            if at is not None:
                note(axes, str(at[1]), (c + 0.5, -r + 0.5), (0, 0), ha="center", va="center", fontsize=SMALL)
        axes.set(xlim=(0, run.side), ylim=(1 - run.side, 1), aspect="equal")
        axes.set_title(f"cycle {cycle}: {len(run.places[cycle])} of {run.side**2}", fontsize=SMALL)
    return figure
