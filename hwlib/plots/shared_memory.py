"""What neighbours share: the banks of shared memory, the operands of a CTA pair, the L2 footprint of a raster order."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.hierarchy import bank_cycles
from hwlib.hierarchy.requests import BANKS, WORD
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, SKY, SMALL, canvas, note, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TILE = 32  # rows and columns


@styled
def banks(pitches: Mapping[str, int]) -> "Figure":
    """A tile of 32 x 32 words in shared memory, each word coloured by its bank, for several lengths of a row.

    `pitches` is {label: words from one row to the next}. A frame marks the column that a warp reads, and the title
    says how many cycles that takes. Raises ValueError without a pitch.
    """
    from matplotlib.patches import Rectangle

    if not pitches:
        raise ValueError("banks needs at least one pitch")
    figure, first = canvas(CHART, 2.5)
    first.remove()
    panels = figure.subplots(1, len(pitches), squeeze=False)[0]
    for axes, (label, pitch) in zip(panels, pitches.items(), strict=True):
        cells = [[(row * pitch + column) % BANKS for column in range(TILE)] for row in range(TILE)]
        image = axes.imshow(cells, cmap="viridis", vmin=0, vmax=BANKS - 1)
        axes.add_patch(Rectangle((-0.5, -0.5), 1, TILE, fill=False, edgecolor=ORANGE, linewidth=2))
        cycles = bank_cycles(WORD * row * pitch for row in range(TILE))
        axes.set_title(f"{label}:\na column takes {cycles} cycle{'' if cycles == 1 else 's'}", fontsize=SMALL)
        axes.set(xticks=[0, TILE - 1], yticks=[0, TILE - 1])
        axes.grid(visible=False)
    figure.colorbar(image, ax=list(panels), shrink=0.75, label="bank", ticks=[0, 15, 31])
    return figure


@styled
def cta_pair(rows: int = 128, columns: int = 256) -> "Figure":
    """One CTA and a CTA pair, each with what its shared memory holds of A and B and its tensor memory of the sums.

    Each SM of the pair computes `rows` rows of the sums, with all `columns` of B, of which it holds one half.
    """
    figure, axes = canvas(CHART, 3.1)
    axes.set(xlim=(-0.5, 114.5), ylim=(0, 50))
    axes.set_axis_off()
    note(axes, "one CTA", (0, 47), (0, 0), fontsize=10)
    note(axes, "a CTA pair", (39, 47), (0, 0), fontsize=10)
    for left, sums in ((0, "sums"), (39, "upper sums"), (77, "lower sums")):
        alone = left == 0
        axes.add_patch(_frame((left, 2, 37, 42)))
        note(axes, "SM", (left + 1, 41), (0, 0), va="center", fontsize=SMALL, color=GREY)
        _fill(axes, (left + 1, 23, 35, 16), ORANGE, f"tensor memory:\n{sums}\n{rows} x {columns}")
        _fill(axes, (left + 1, 4, 8, 17), BLUE, f"A\n{rows}\nrows")
        half = columns if alone else columns // 2
        _fill(axes, (left + 10, 4, 26 if alone else 13, 17), GREEN, f"B\n{half}\ncolumns")
        if not alone:
            _fill(axes, (left + 24, 4, 12, 17), SKY, "B\nof the\nother\nSM")
    look = {"arrowstyle": "<|-|>", "color": INK}
    axes.annotate("", (79, 12), (74, 12), arrowprops=look)
    return figure


@styled
def rasters(orders: Mapping[str, Sequence[tuple[int, int]]], wave: int) -> "Figure":
    """Orders of the output's tiles side by side: the first wave, and the panels of both operands that it reads.

    `orders` is {label: [(row, column), ...]}. Left of an output stand the panels of the left operand, above it those of
    the right one; marked are those that the first `wave` tiles read, which is what the L2 cache has to bring. Raises
    ValueError without an order.
    """
    if not orders:
        raise ValueError("rasters needs at least one order")
    figure, first = canvas(CHART, 2.1)
    first.remove()
    panels = figure.subplots(1, len(orders), squeeze=False)[0]
    for axes, (label, order) in zip(panels, orders.items(), strict=True):
        rows, columns = (1 + max(one[axis] for one in order) for axis in (0, 1))
        now = set(order[:wave])
        read = [{tile[axis] for tile in now} for axis in (0, 1)]
        for row in range(rows):
            _tile(axes, (-1.8, row), GREEN if row in read[0] else None)
            for column in range(columns):
                _tile(axes, (column, row), ORANGE if (row, column) in now else None)
        for column in range(columns):
            _tile(axes, (column, -1.8), BLUE if column in read[1] else None)
        axes.set(xlim=(-2.2, columns + 0.2), ylim=(rows + 0.2, -2.2), aspect="equal")
        axes.set_axis_off()
        down, across = map(len, read)
        axes.set_title(f"{label}:\n{down} + {across} = {down + across} panels", fontsize=SMALL)
    return figure


def _tile(axes: "Axes", at: tuple[float, float], colour: str | None) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(at, 0.86, 0.86, facecolor=colour or GREY, alpha=0.9 if colour else 0.18, linewidth=0))


def _frame(place: tuple[float, float, float, float]):
    from matplotlib.patches import Rectangle

    x, y, wide, high = place
    return Rectangle((x, y), wide, high, fill=False, edgecolor=GREY, linewidth=1)


def _fill(axes: "Axes", place: tuple[float, float, float, float], colour: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    x, y, wide, high = place
    axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, alpha=0.25, linewidth=0))
    note(axes, text, (x + wide / 2, y + high / 2), (0, 0), ha="center", va="center", fontsize=SMALL)
