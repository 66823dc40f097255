"""Machines as things: the trays of a rack, and the way of a GPU's bytes to the network."""

from typing import TYPE_CHECKING, Any

from hwlib.plots.fabrics import lines
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SMALL, canvas, styled
from hwlib.specs import Node
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Place = tuple[float, float]

CHIPS_A_TRAY = 2  # switch chips of one switch tray (nvidia-nvlink)


@styled
def rack(one: Node, gpu: int = 0, exits: bool = False) -> "Figure":
    """A rack of one scale-up domain: its compute trays on the left, its switch chips on the right, and the links of one
    GPU, before those of a GPU of every other tray. It is a scheme: the order of the trays in the rack is another one.

    With `exits`, the network cards of each tray stand beside it. Raises ValueError for a node of one server, and for a
    GPU that it does not have.
    """
    if one.hosts < 2 or not one.switches:
        raise ValueError(f"rack: a node of several trays around switches was expected, {one.name} has {one.hosts}")
    if not 0 <= gpu < one.chips:
        raise ValueError(f"rack: {one.name} has GPUs 0 to {one.chips - 1}, got {gpu}")
    figure, axes = canvas(CHART, 1.1 + 0.235 * one.hosts)
    trays = one.switches // CHIPS_A_TRAY
    gpus = [(0.6 + i % one.chips_per_host, -float(i // one.chips_per_host)) for i in range(one.chips)]
    step = (one.hosts - 1) / max(trays - 1, 1)
    chips = [(8.0 + i % CHIPS_A_TRAY, -step * (i // CHIPS_A_TRAY)) for i in range(one.switches)]
    for x, count, wide, gap in ((0.1, one.hosts, one.chips_per_host, 1.0), (7.5, trays, CHIPS_A_TRAY, step)):
        for i in range(count):
            _outline(axes, (x, -i * gap - 0.36), wide, 0.72)
    ends = gpus[one.chips_per_host - 1 :: one.chips_per_host]
    others = [place for place in ends if place[1] != gpus[gpu][1]]
    fans = [(others, GREY, 0.3, 0.3), ([gpus[gpu]], ORANGE, 1.0, 0.85)]
    for starts, colour, width, alpha in fans:
        lines(axes, ((start, chip) for start in starts for chip in chips), colour, width, alpha)
    shown = [(gpus, BLUE, "s", 6.0, "GPUs"), (chips, INK, "o", 6.0, "switch chips")]
    if exits:
        shown.append((_cards(axes, one), GREEN, "D", 2.6, f"network cards: {show(one.egress_bandwidth, 'B/s')}"))
    for places, colour, marker, size, word in shown:
        axes.plot(
            *zip(*places, strict=True),
            marker,
            color=colour,
            markersize=size,
            zorder=3,
            markeredgecolor="white" if size > 3 else colour,
            label=f"{len(places)} {word}",
        )
    link = f"{one.links_per_chip} links of one GPU, one to each chip: {show(one.scaleup_bandwidth, 'B/s')}"
    axes.plot([], [], color=ORANGE, linewidth=1, label=link)
    axes.text(0.1, 0.75, f"{one.hosts} trays of {one.chips_per_host} GPUs", fontsize=SMALL)
    axes.text(9.6, 0.75, f"{trays} trays of {CHIPS_A_TRAY} switches", fontsize=SMALL, ha="right")
    axes.set(xlim=(-2.0 if exits else -0.1, 9.7), ylim=(-one.hosts + 0.4, 1.4))
    axes.set_axis_off()
    figure.legend(loc="outside lower left", ncols=1 if exits else 2, handlelength=1.6)
    return figure


def _cards(axes: "Axes", one: Node) -> "list[Place]":
    """Draw an arrow out of each tray; returns the places of its cards."""
    each, places = one.nics // one.hosts, list["Place"]()
    for tray in range(one.hosts):
        axes.annotate("", (-1.9, -tray), (-0.6, -tray), arrowprops=_ARROW | {"color": GREEN, "linewidth": 0.9})
        places += [(-0.4, 0.2 * (i - (each - 1) / 2) - tray) for i in range(each)]
    return places


@styled
def ways_to_the_network(gpus: int = 2) -> "Figure":
    """A PCIe switch with its GPUs and as many NICs, twice: what they send goes through the memory of the host, up and
    down the one uplink, or with GPUDirect from the GPU to the NIC below the switch. Raises ValueError without a GPU.
    """
    if gpus < 1:
        raise ValueError(f"ways_to_the_network: at least one GPU, got {gpus}")
    figure, first = canvas(CHART, 3.4)
    first.remove()
    titles = "through the host's memory", "GPUDirect RDMA"
    for direct, (axes, title) in enumerate(zip(figure.subplots(1, 2), titles, strict=True)):
        left = [(0.8 + i * 1.0, 0.4) for i in range(gpus)]
        right = [(0.8 + (gpus + i) * 1.0 + 0.6, 0.4) for i in range(gpus)]
        middle = (left[0][0] + right[-1][0]) / 2
        parts = {
            "memory\nof the host": (middle, 3.6, GREY),
            "processor": (middle, 2.6, GREY),
            "PCIe switch": (middle, 1.5, PURPLE),
        }
        for text, (x, y, colour) in parts.items():
            _part(axes, (x, y), 1.7, text, colour)
        for places, colour, word in ((left, BLUE, "GPU"), (right, GREEN, "NIC")):
            for at in places:
                _part(axes, at, 0.8, word, colour)
        for a, b in zip(left, right, strict=True):
            _arrow(axes, a, (middle - 0.45, 1.25))
            _arrow(axes, (middle + 0.45, 1.25), b)
        if direct:
            axes.annotate("", (middle + 0.45, 1.2), (middle - 0.45, 1.2), arrowprops=_ARROW)
        else:
            for low, high in ((1.75, 2.35), (2.85, 3.3)):
                for i in range(gpus):
                    shift = 0.3 + 0.22 * i
                    _arrow(axes, (middle - shift, low), (middle - shift, high), 0.0)
                    _arrow(axes, (middle + shift, high), (middle + shift, low), 0.0)
        axes.set_title(title)
        axes.set(xlim=(0.2, right[-1][0] + 0.6), ylim=(0.0, 4.1))
        axes.set_axis_off()
    return figure


_ARROW: Any = {"arrowstyle": "->", "color": ORANGE, "linewidth": 1.5}


def _outline(axes: "Axes", at: "Place", width: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(at, width, height, facecolor="#f4f4f4", edgecolor=GREY, linewidth=0.7, zorder=0))


def _part(axes: "Axes", at: "Place", width: float, text: str, colour: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (at[0] - width / 2, at[1] - 0.25), width, 0.5, facecolor=colour, alpha=0.3, edgecolor=colour, zorder=0
        )
    )
    axes.text(*at, text, ha="center", va="center", fontsize=SMALL)


def _arrow(axes: "Axes", start: "Place", end: "Place", lift: float = 0.27) -> None:
    """From a part's upper edge, or into it."""
    up = end[1] > start[1]
    a, b = ((start[0], start[1] + lift), end) if up else (start, (end[0], end[1] + lift))
    axes.annotate("", b, a, arrowprops=_ARROW)
