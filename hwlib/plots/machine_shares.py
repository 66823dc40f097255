"""Published training rates on several machines, as shares of the chips' peaks."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hwlib.plots.style import CHART, SERIES, canvas, styled
from hwlib.specs import MeasuredMachine, accelerators

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def machine_shares(rows: Iterable[MeasuredMachine]) -> "Figure":
    """Share of the peak against the number of chips: a colour for each chip, a line for each model on it.

    Raises ValueError without rows.
    """
    lines: dict[tuple[str, float], list[tuple[int, float]]] = {}
    for row in rows:
        lines.setdefault((row.chip, row.params), []).append((row.chips, row.share))
    if not lines:
        raise ValueError("machine_shares: at least one rate, got none")
    figure, axes = canvas(CHART, 3.4)
    chips = dict.fromkeys(chip for chip, _ in lines)
    styles = dict(zip(chips, SERIES, strict=False))
    for (chip, params), points in lines.items():
        colour, marker = styles[chip]
        points.sort()
        label = accelerators[chip].name if (chip, params) == next(key for key in lines if key[0] == chip) else None
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, label=label)
        if len(points) > 1:
            axes.annotate(
                f"{params / 1e9:.0f}B", points[-1], (6, 2), textcoords="offset points", fontsize=9, color=colour
            )
    axes.set(xscale="log", xlabel="chips", ylabel="share of the peak", ylim=(0.4, 0.8), xlim=(50, 14000))
    axes.set_xticks([64, 256, 1024, 4096])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.legend(fontsize=9, loc="lower left")
    return figure
