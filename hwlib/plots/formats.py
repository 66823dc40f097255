"""How numbers of few bits are stored: weights beside the scales that they share, to scale in bits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, CHART, ORANGE, SMALL, canvas, note, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def block_scales(formats: Mapping[str, tuple[int, int, int]], weights: int = 32) -> "Figure":
    """The same `weights` in several formats, one below the other: each weight a cell as long as its bits, and after
    each group the scale that it shares.

    `formats` is {name: (bits of a weight, weights that share a scale, bits of the scale)}; a scale of 0 bits is none,
    and one of a group that does not end here is left out of the bar. Raises ValueError without a format.
    """
    if not formats:
        raise ValueError("block_scales needs formats, got none")
    figure, axes = canvas(CHART, 0.7 + 0.46 * len(formats))
    for row, (bits, group, scale) in enumerate(formats.values()):
        at = 0
        for i in range(1, weights + 1):
            axes.barh(row, bits, 0.62, at, color=BLUE, edgecolor="white", linewidth=0.4)
            at += bits
            if scale and i % group == 0:
                axes.barh(row, scale, 0.62, at, color=ORANGE, edgecolor="white", linewidth=0.4)
                at += scale
        note(axes, f"{bits + scale / group:.5g} bits a weight", (at, row), (5, 0), va="center", fontsize=SMALL)
    axes.barh([0], [0], color=BLUE, label="a weight")
    axes.barh([0], [0], color=ORANGE, label="a scale")
    axes.set_yticks(range(len(formats)), list(formats))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.3)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"bits of {weights} weights that stand side by side")
    axes.legend(loc="center right")
    return figure
