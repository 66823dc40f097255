"""Machines as things: the trays of a rack, and the way of a GPU's bytes to the network."""

from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, canvas, styled
from hwlib.specs import Node
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Place = tuple[float, float]

CHIPS_A_TRAY = 2  # switch chips of one switch tray (nvidia-nvlink)


@styled
def rack(one: Node, gpu: int = 0) -> "Figure":
    """A rack of one scale-up domain: its compute trays on the left, its switch chips on the right, and the links of one
    GPU. It is a scheme: the order of the trays in the rack is another one.

    Raises ValueError for a node of one server, and for a GPU that it does not have.
    """
    if one.hosts < 2 or not one.switches:
        raise ValueError(f"rack: a node of several trays around switches was expected, {one.name} has {one.hosts}")
    if not 0 <= gpu < one.chips:
        raise ValueError(f"rack: {one.name} has GPUs 0 to {one.chips - 1}, got {gpu}")
    figure, axes = canvas(6.8, 0.7 + 0.235 * one.hosts)
    trays = one.switches // CHIPS_A_TRAY
    gpus = [(0.6 + i % one.chips_per_host, -float(i // one.chips_per_host)) for i in range(one.chips)]
    step = (one.hosts - 1) / max(trays - 1, 1)
    chips = [(8.0 + i % CHIPS_A_TRAY, -step * (i // CHIPS_A_TRAY)) for i in range(one.switches)]
    for x, count, wide, gap in ((0.1, one.hosts, one.chips_per_host, 1.0), (7.5, trays, CHIPS_A_TRAY, step)):
        for i in range(count):
            _outline(axes, (x, -i * gap - 0.36), wide, 0.72)
    x, y = gpus[gpu]
    for end in chips:
        axes.plot([x, end[0]], [y, end[1]], color=ORANGE, linewidth=1, alpha=0.85, zorder=1)
    for places, colour, marker, word in ((gpus, BLUE, "s", "GPUs"), (chips, INK, "o", "switch chips")):
        axes.plot(*zip(*places, strict=True), marker, color=colour, markersize=7, markeredgecolor="white",
                  label=f"{len(places)} {word}", zorder=3)  # fmt: skip
    link = f"{one.links_per_chip} links of one GPU, one to each chip: {show(one.scaleup_bandwidth, 'B/s')}"
    axes.plot([], [], color=ORANGE, linewidth=1, label=link)
    axes.text(0.1, 0.75, f"{one.hosts} trays of {one.chips_per_host} GPUs", fontsize=9)
    axes.text(7.5, 0.75, f"{trays} trays of {CHIPS_A_TRAY} switches", fontsize=9)
    axes.set(xlim=(-0.1, 10.2), ylim=(-one.hosts + 0.4, 1.4))
    axes.set_axis_off()
    figure.legend(loc="outside lower left", ncols=3, fontsize=8, handlelength=1.6)
    return figure


@styled
def ways_to_the_network(gpus: int = 2) -> "Figure":
    """A PCIe switch with its GPUs and as many NICs, twice: what they send goes through the memory of the host, up and
    down the one uplink, or with GPUDirect from the GPU to the NIC below the switch. Raises ValueError without a GPU.
    """
    if gpus < 1:
        raise ValueError(f"ways_to_the_network: at least one GPU, got {gpus}")
    figure, first = canvas(6.8, 3.5)
    first.remove()
    titles = "through the host's memory", "GPUDirect RDMA"
    for direct, (axes, title) in enumerate(zip(figure.subplots(1, 2), titles, strict=True)):
        left = [(0.8 + i * 1.0, 0.4) for i in range(gpus)]
        right = [(0.8 + (gpus + i) * 1.0 + 0.6, 0.4) for i in range(gpus)]
        middle = (left[0][0] + right[-1][0]) / 2
        parts = {"memory\nof the host": (middle, 3.6, GREY), "processor": (middle, 2.6, GREY),
                 "PCIe switch": (middle, 1.5, PURPLE)}  # fmt: skip
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
        axes.set_title(title, fontsize=10)
        axes.set(xlim=(0.2, right[-1][0] + 0.6), ylim=(0.0, 4.1))
        axes.set_axis_off()
    return figure


_ARROW: Any = {"arrowstyle": "->", "color": ORANGE, "linewidth": 1.5}


def _outline(axes: "Axes", at: "Place", width: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(at, width, height, facecolor="#f4f4f4", edgecolor=GREY, linewidth=0.7, zorder=0))


def _part(axes: "Axes", at: "Place", width: float, text: str, colour: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((at[0] - width / 2, at[1] - 0.25), width, 0.5, facecolor=colour, alpha=0.3,
                             edgecolor=colour, zorder=0))  # fmt: skip
    axes.text(*at, text, ha="center", va="center", fontsize=7.5)


def _arrow(axes: "Axes", start: "Place", end: "Place", lift: float = 0.27) -> None:
    """From a part's upper edge, or into it."""
    up = end[1] > start[1]
    a, b = ((start[0], start[1] + lift), end) if up else (start, (end[0], end[1] + lift))
    axes.annotate("", b, a, arrowprops=_ARROW)
