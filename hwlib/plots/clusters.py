"""The cost of connecting more GPUs: switches per GPU, against the size of the cluster."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hwlib.plots.style import CHART, SMALL, canvas, note, series, styled
from hwlib.topology import three_tier_hosts, tree_switches, two_tier_hosts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def switches_per_gpu(ports: Iterable[int] = (64, 144), most: int = 131072) -> "Figure":
    """Switches per GPU of a full non-blocking fat tree, against GPUs: a step up wherever a tier is added.

    One line for each number of ports; every GPU has one network card. Raises ValueError without a number of ports.
    """
    ports = list(ports)
    if not ports:
        raise ValueError("switches_per_gpu needs the ports of a switch, got none")
    figure, axes = canvas(CHART, 3.4)
    for each, (colour, _) in zip(ports, series(len(ports)), strict=True):
        ends = [float(each), float(two_tier_hosts(each)), float(three_tier_hosts(each))]
        x, y = [8.0], [tree_switches(1, each, 1)]
        for tiers, end in enumerate(ends, 1):
            height = tree_switches(1, each, tiers)
            x += [x[-1], min(end, most)]
            y += [height, height]
            if x[-2] < most:
                note(
                    axes,
                    f"{tiers} tier{'s' * (tiers > 1)}",
                    ((x[-2] * x[-1]) ** 0.5, height),
                    (0, 5),
                    ha="center",
                    color=colour,
                    fontsize=SMALL,
                )
            if end >= most:
                break
        axes.plot(x, y, color=colour, label=f"switches of {each} ports")
    axes.set(xscale="log", ylim=(0, None), xlim=(8, most))
    sizes = [4**k for k in range(2, 9) if 4**k <= most]
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.set(xlabel="GPUs of the cluster, a network card each", ylabel="switches for each GPU")
    axes.legend(loc="upper left")
    return figure
