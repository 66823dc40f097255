"""Machines and their cables as pictures: a pod, two ways to wire its cards to leaves, and a rack of 72 GPUs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, canvas, styled
from hwlib.specs import Cluster, Node, nodes
from hwlib.topology import described
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Place = tuple[float, float]

HUES = [BLUE, GREEN, PURPLE, SKY]
NODE_COLUMNS = 16  # nodes of a unit in one row


@styled
def pod(which: Cluster | str = "superpod-h100-4su") -> "Figure":
    """All nodes, leaves and spines of a cluster of two tiers; the cables of one node and of one leaf are highlighted.

    Raises TopologyError for a cluster whose switches are not counted.
    """
    tree = described(which)
    figure, axes = canvas(7.4, 4.1)
    width = 1.12 * NODE_COLUMNS
    top = [((i + 0.5) * width * tree.groups / tree.spines, 3.0) for i in range(tree.spines)]
    leaves, boxes = list["Place"](), list["Place"]()
    for group in range(tree.groups):
        left = group * width
        leaves += [(left + (i + 0.5) * NODE_COLUMNS / tree.rails, 1.6) for i in range(tree.rails)]
        for i in range(tree.nodes_per_group):
            row, column = divmod(i, NODE_COLUMNS)
            boxes.append((left + column + 0.5, 0.32 - 0.24 * row))
    _lines(axes, ((leaf, spine) for leaf in leaves for spine in top), GREY, 0.3, 0.25)
    for group in range(tree.groups):
        mine = leaves[group * tree.rails : (group + 1) * tree.rails]
        for box in boxes[group * tree.nodes_per_group : (group + 1) * tree.nodes_per_group]:
            _lines(axes, (((box[0], 0.42), leaf) for leaf in mine), GREY, 0.25, 0.18)
    one = tree.nodes_per_group // 4
    _lines(axes, (((boxes[one][0], 0.42), leaf) for leaf in leaves[: tree.rails]), BLUE, 1.3, 1)
    _lines(axes, ((leaves[tree.rails - 1], spine) for spine in top), PURPLE, 1.3, 1)
    each = tree.leaf_uplinks // tree.spines
    for places, colour, marker, size in ((boxes, BLUE, "s", 4.2), (leaves, PURPLE, "o", 8), (top, INK, "o", 9)):
        x, y = zip(*places, strict=True)
        axes.plot(x, y, color=colour, marker=marker, markersize=size, linestyle="", markeredgecolor="white", zorder=3)
    end = width * tree.groups
    for y, text in (
        (3.0, f"{tree.spines} spines"),
        (2.3, f"{each} cables from each\nleaf to each spine"),
        (1.6, f"{tree.leaves} leaves,\n{tree.rails} to a unit"),
        (0.95, "one cable from each\ncard to its leaf"),
        (0.2, f"{tree.nodes} nodes of\n{tree.gpus_per_node} GPUs and {tree.nics_per_node} cards"),
    ):
        axes.text(end, y, text, va="center", fontsize=8)
    axes.set(xlim=(-0.5, end + 13), ylim=(-0.15, 3.3))
    axes.set_axis_off()
    return figure


@styled
def rails_and_racks(each: int = 4, dead: int | None = None) -> "Figure":
    """The same nodes and leaves wired twice: card r of every node to leaf r, or all cards of a node to one leaf.

    `each` nodes have as many cards, and there are as many leaves; a leaf that is `dead` loses its cables.
    """
    figure, axes = canvas(7.4, 3.2)
    for shift, title, leaf_of in (
        (0.0, "rails: card r of every node to leaf r", lambda _, card: card),
        (each * 1.35, "racks: all cards of a node to its rack's leaf", lambda node, _: node),
    ):
        axes.text(shift, 2.45, title, fontsize=10)
        for node in range(each):
            left = shift + node * 1.25
            for card in range(each):
                leaf = leaf_of(node, card)
                lost = leaf == dead
                ends = [(left + (card + 0.5) / each, 0.45), (shift + (leaf + 0.4) * 1.25, 1.9)]
                colour = ORANGE if lost else HUES[leaf % len(HUES)]
                axes.plot(
                    *zip(*ends, strict=True), color=colour, linewidth=1.3, linestyle=":" if lost else "-", zorder=1
                )
                axes.plot(*ends[0], color=colour, marker="D", markersize=6, markeredgecolor="white", zorder=3)
            frame = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.8}
            axes.add_patch(_box(left, 0.1, 1.0, 0.5, **frame))
            axes.text(left + 0.5, 0.2, f"node {node}", ha="center", fontsize=8)
        for leaf in range(each):
            x = shift + (leaf + 0.4) * 1.25
            colour, marker = (ORANGE, "X") if leaf == dead else (HUES[leaf % len(HUES)], "o")
            axes.plot(x, 1.9, color=colour, marker=marker, markersize=13, markeredgecolor="white", zorder=3)
            axes.text(x, 2.12, f"leaf {leaf}" + " †" * (leaf == dead), ha="center", fontsize=8)
    axes.set(xlim=(-0.1, 2 * each * 1.32), ylim=(0, 2.6))
    axes.set_axis_off()
    return figure


@styled
def rack_exits(which: Node | str = "gb200-nvl72") -> "Figure":
    """A rack whose GPUs share switch chips: trays of GPUs on the left with their cards, the chips on the right.

    The links of one GPU are highlighted: one to every chip. Not to scale, and not in the order of the rack.
    Raises KeyError for an unknown node.
    """
    spec = nodes[which] if isinstance(which, str) else which
    per_tray, cards = spec.chips // spec.hosts, spec.nics // spec.hosts
    figure, axes = canvas(7.0, 5.0)
    gpus, chips = list["Place"](), list["Place"]()
    for tray in range(spec.hosts):
        y = -0.5 * tray
        axes.add_patch(_box(0.55, y - 0.19, per_tray * 0.5, 0.38, facecolor="none", edgecolor=GREY, linewidth=0.7))
        gpus += [(0.8 + 0.5 * i, y) for i in range(per_tray)]
        axes.plot([0.35] * cards, [y + 0.12 * (i - (cards - 1) / 2) for i in range(cards)], color=GREEN, marker="D",
                  markersize=2.6, linestyle="")  # fmt: skip
        axes.annotate("", (-0.45, y), (0.25, y), arrowprops={"arrowstyle": "->", "color": GREEN, "linewidth": 0.9})
    span = 0.5 * (spec.hosts - 1)
    chips = [(6.2, -span * i / max(spec.switches - 1, 1)) for i in range(spec.switches)]
    _lines(axes, ((gpu, chip) for gpu in gpus[per_tray - 1 :: per_tray] for chip in chips), GREY, 0.3, 0.3)
    one = gpus[per_tray * (spec.hosts // 3) + per_tray - 1]
    _lines(axes, ((one, chip) for chip in chips), ORANGE, 1.1, 0.9)
    for places, colour, marker, size in ((gpus, BLUE, "s", 9), (chips, INK, "o", 9), ([one], ORANGE, "s", 9)):
        x, y = zip(*places, strict=True)
        axes.plot(x, y, color=colour, marker=marker, markersize=size, linestyle="", markeredgecolor="white", zorder=3)
    inside, out = show(spec.scaleup_bandwidth, "B/s"), show(spec.egress_bandwidth, "B/s")
    look = {"fontsize": 8, "va": "bottom", "linespacing": 1.3}
    axes.text(-0.5, 0.4, f"out: {spec.nics} cards,\n{out} in all", **look)
    axes.text(1.05, 0.4, f"{spec.hosts} trays of\n{per_tray} GPUs", **look)
    axes.text(3.2, 0.4, f"{spec.links_per_chip} links of each GPU,\none to each chip: {inside}", **look)
    axes.text(5.8, 0.4, f"{spec.switches} switch chips,\n{spec.chips} links each", **look)
    axes.set(xlim=(-0.6, 7.6), ylim=(-span - 0.4, 1.2))
    axes.set_axis_off()
    return figure


def _lines(axes: "Axes", pairs: "Iterable[tuple[Place, Place]]", colour: str, width: float, alpha: float) -> None:
    """Lines between the pairs as one path, which is a tenth of the bytes of a path each."""
    gap = (float("nan"), float("nan"))
    x, y = zip(*(point for pair in pairs for point in (*pair, gap)), strict=True)
    axes.plot(x, y, color=colour, linewidth=width, alpha=alpha, zorder=1)


def _box(x: float, y: float, width: float, height: float, **look: object) -> "object":
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.02", **look)  # type: ignore[arg-type]
