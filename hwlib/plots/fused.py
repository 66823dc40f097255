"""Fused attention as a picture: what stays in memory, and what one program holds on the chip."""

from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, SMALL, canvas, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DONE, NOW = 0.25, 0.9  # opacity of blocks that have passed, and of the one that is on the chip


@styled
def fused_attention(blocks: int = 6, now: int = 2) -> "Figure":
    """One program of fused attention at its step `now`: keys and values pass through the chip block by block, queries
    and three running results stay. Raises ValueError for a step that there is not.
    """
    if not 0 <= now < blocks:
        raise ValueError(f"fused_attention: a step from 0 to {blocks - 1}, got {now}")
    figure, axes = canvas(CHART, 3.3)
    _strip(axes, "keys", 3.75, blocks, now, BLUE)
    _strip(axes, "values", 2.85, blocks, now, PURPLE)
    _box(axes, (0.0, 3.25), 1.2, 0.6, GREEN, "queries")
    _box(axes, (8.9, 3.25), 1.2, 0.6, ORANGE, "output")
    axes.add_patch(_frame((0.0, 0.0), 10.1, 2.1, linestyle="--", facecolor="#f4f4f4"))
    axes.text(1.15, 1.8, "on the chip", color=GREY, fontsize=SMALL)
    axes.text(0.0, 4.75, "in memory", color=GREY, fontsize=SMALL)
    _box(axes, (0.2, 0.5), 1.5, 1.1, GREEN, "queries")
    _box(axes, (1.9, 0.5), 1.9, 1.1, SKY, "scores of\none block")
    _box(axes, (4.2, 0.5), 0.9, 1.1, GREY, "max")
    _box(axes, (5.3, 0.5), 0.9, 1.1, GREY, "sum")
    _box(axes, (6.9, 0.5), 2.9, 1.1, ORANGE, "weighted values,\nnot yet divided")
    axes.text(0.3, 0.15, "kept from block to block, corrected as the maximum grows", fontsize=SMALL, color=INK)
    at = 1.4 + (now + 0.5) * 7.2 / blocks
    for start, end in (((0.55, 3.2), (0.8, 1.7)), ((at, 2.55), (2.9, 1.7)), ((9.0, 1.7), (9.5, 3.15))):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.4})
    axes.text(0.75, 2.45, "once", fontsize=SMALL)
    axes.text(at + 0.15, 2.3, "every block once", fontsize=SMALL)
    axes.text(9.4, 2.45, "once", fontsize=SMALL)
    axes.set(xlim=(-0.1, 10.3), ylim=(-0.1, 5.1))
    axes.set_axis_off()
    return figure


def _strip(axes: "Axes", name: str, y: float, blocks: int, now: int, colour: str) -> None:
    """An array in memory, cut into blocks; those before `now` are pale, since they have passed."""
    width = 7.2 / blocks
    for i in range(blocks):
        axes.add_patch(_frame((1.4 + i * width, y), width, 0.5, facecolor=colour, alpha=NOW if i == now else DONE))
    axes.text(1.5, y + 0.53, name, fontsize=SMALL, va="bottom", color=colour)


def _box(axes: "Axes", at: tuple[float, float], width: float, height: float, colour: str, text: str) -> None:
    axes.add_patch(_frame(at, width, height, facecolor=colour, alpha=0.35))
    axes.text(at[0] + width / 2, at[1] + height / 2, text, ha="center", va="center", fontsize=SMALL)


def _frame(at: tuple[float, float], width: float, height: float, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(at, width, height, edgecolor=look.pop("edgecolor", GREY), linewidth=0.9, **look)
