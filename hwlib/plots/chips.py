"""A chip from the inside: its multiprocessors, and the factors of its peak."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, SMALL, canvas, note, styled
from hwlib.specs import Accelerator
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTITIONS = 4
FACTORS = (("multiprocessors", GREY), ("FLOP of one in a cycle", ORANGE), ("clock", BLUE))


@styled
def anatomy(chip: Accelerator) -> "Figure":
    """All multiprocessors of a chip, and one of them enlarged: four subpartitions, each with a scheduler, registers,
    lanes and matrix units, above the memory that they share.

    Every square is a unit that the chip's record counts. Raises ValueError for a chip whose record lacks the counts.
    """
    if not (chip.sms and chip.lanes and chip.tensor_cores and chip.regfile_bytes and chip.l1_bytes):
        raise ValueError(f"the record of {chip.name} does not say all that the picture counts")
    figure, axes = canvas(CHART, 3.7)
    axes.set(xlim=(0, 100), ylim=(0, 57))
    axes.set_axis_off()
    columns = 11
    rows = -(-chip.sms // columns)
    side = 34 / columns
    for k in range(chip.sms):
        x, y = side * (k % columns), 48 - 46 / rows * (k // columns + 1)
        _box(axes, (x, y, 0.8 * side, 0.8 * 46 / rows), ORANGE if k == columns - 1 else GREY, 0.9 if k == 10 else 0.3)
    note(axes, f"{chip.name}:\n{chip.sms} multiprocessors", (0, 50), (0, 0), fontsize=SMALL)
    zoom = side * (columns - 1) + 0.8 * side
    for y, to in ((48 - 0.2 * 46 / rows, 48), (48 - 46 / rows, 2)):
        axes.plot([zoom, 40], [y, to], color=ORANGE, linewidth=0.8)
    note(axes, "one of them", (40, 50), (0, 0), color=ORANGE, fontsize=SMALL)
    for part in range(PARTITIONS):
        _subpartition(axes, chip, 40 + 15.2 * part)
    _labelled(axes, (40, 2, 59.8, 5.5), GREEN, f"shared memory and L1 cache, {_kib(chip.l1_bytes)}")
    return figure


def _subpartition(axes: "Axes", chip: Accelerator, left: float) -> None:
    wide, lanes = 14.2, (chip.lanes or 0) // PARTITIONS
    _labelled(axes, (left, 41, wide, 7), INK, "warp\nscheduler")
    _labelled(axes, (left, 33.2, wide, 7), BLUE, f"registers\n{_kib((chip.regfile_bytes or 0) / PARTITIONS)}")
    across = 4
    down = -(-lanes // across)
    for k in range(lanes):
        x, y = left + wide / across * (k % across), 32.4 - 12.9 / down * (k // across + 1)
        _box(axes, (x, y, 0.85 * wide / across, 0.75 * 12.9 / down), GREY, 0.35)
    note(
        axes,
        f"{lanes} lanes",
        (left + wide / 2, 26),
        (0, 0),
        ha="center",
        va="center",
        fontsize=SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
    )
    cores = (chip.tensor_cores or 0) // PARTITIONS
    for k in range(cores):
        height = 10.5 / cores
        say = "tensor\ncore" if cores == 1 else "t. core"
        _labelled(axes, (left, 8.5 + height * k, wide, 0.92 * height), ORANGE, say)


def _box(axes: "Axes", place: tuple[float, float, float, float], colour: str, alpha: float) -> Any:
    from matplotlib.patches import Rectangle

    x, y, wide, high = place
    return axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, alpha=alpha, linewidth=0))


def _labelled(axes: "Axes", place: tuple[float, float, float, float], colour: str, text: str) -> None:
    x, y, wide, high = place
    _box(axes, place, colour, 0.25)
    note(axes, text, (x + wide / 2, y + high / 2), (0, 0), ha="center", va="center", fontsize=SMALL)


def _kib(x: float) -> str:
    return f"{x / 2**10:.0f} KiB"


@styled
def growth(chips: Mapping[str, Sequence[float]]) -> "Figure":
    """The factors of each peak relative to the first chip's: multiprocessors, their FLOP per cycle, and the clock.

    `chips` is {name: (multiprocessors, FLOP of one per cycle, clock in Hz)}; bars are doublings, so that factors
    add up, and a factor below one is drawn as a white piece. Raises ValueError for fewer than two chips.
    """
    if len(chips) < 2:
        raise ValueError(f"growth compares chips, got {len(chips)}")
    (_, first), *_ = chips.items()
    figure, axes = canvas(CHART, 0.9 + 0.5 * len(chips))
    for row, factors in enumerate(chips.values()):
        left = most = 0.0
        for (_, colour), now, then in zip(FACTORS, factors, first, strict=True):
            step = log2(now / then)
            face = "white" if step < 0 else colour
            axes.barh(row, step, 0.6, left, facecolor=face, edgecolor=colour, linewidth=1 if step < 0 else 0)
            left += step
            most = max(most, left)
        n, ops, clock = factors
        total = n * ops * clock / (first[0] * first[1] * first[2])
        say = f"{total:.1f} times:" if row else ""
        product = f"{n:.0f} x {ops:,.0f} x {show(clock, 'Hz', 3)}"
        note(axes, f"{say} {product}".strip(), (most, row), (5, 0), va="center", fontsize=SMALL)
    axes.set_yticks(range(len(chips)), list(chips))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, 8.2)
    axes.set_xticks(range(6), [f"{2**k} x" for k in range(6)])
    axes.set_xlabel(f"16-bit peak, times that of {next(iter(chips))}")
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in FACTORS]
    figure.legend(handles=handles, loc="outside upper left", ncols=3, handlelength=1, columnspacing=1.2)
    return figure
