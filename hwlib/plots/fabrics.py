"""Machines and their cables as pictures: a pod, and two ways to wire its cards to leaves."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, SMALL, canvas, styled
from hwlib.specs import Cluster
from hwlib.topology import described

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
    figure, axes = canvas(CHART, 3.9)
    width = 1.12 * NODE_COLUMNS
    top = [((i + 0.5) * width * tree.groups / tree.spines, 3.0) for i in range(tree.spines)]
    leaves, boxes = list["Place"](), list["Place"]()
    for group in range(tree.groups):
        left = group * width
        leaves += [(left + (i + 0.5) * NODE_COLUMNS / tree.rails, 1.6) for i in range(tree.rails)]
        for i in range(tree.nodes_per_group):
            row, column = divmod(i, NODE_COLUMNS)
            boxes.append((left + column + 0.5, 0.32 - 0.24 * row))
    lines(axes, ((leaf, spine) for leaf in leaves for spine in top), GREY, 0.3, 0.25)
    for group in range(tree.groups):
        mine = leaves[group * tree.rails : (group + 1) * tree.rails]
        for box in boxes[group * tree.nodes_per_group : (group + 1) * tree.nodes_per_group]:
            lines(axes, (((box[0], 0.42), leaf) for leaf in mine), GREY, 0.25, 0.18)
    cabled = tree.nodes_per_group // 4
    lines(axes, (((boxes[cabled][0], 0.42), leaf) for leaf in leaves[: tree.rails]), BLUE, 1.3, 1)
    lines(axes, ((leaves[tree.rails - 1], spine) for spine in top), PURPLE, 1.3, 1)
    each = tree.leaf_uplinks // tree.spines
    for places, colour, marker, size in ((boxes, BLUE, "s", 2.8), (leaves, PURPLE, "o", 5.5), (top, INK, "o", 8)):
        x, y = zip(*places, strict=True)
        axes.plot(x, y, color=colour, marker=marker, markersize=size, linestyle="", markeredgecolor="white", zorder=3)
    end = width * tree.groups
    for y, text in (
        (3.0, f"{tree.spines} spines"),
        (2.3, f"{each} cables from\neach leaf to\neach spine"),
        (1.6, f"{tree.leaves} leaves,\n{tree.rails} to a unit"),
        (0.95, "one cable from\neach card\nto its leaf"),
        (0.2, f"{tree.nodes} nodes of\n{tree.gpus_per_node} GPUs and\n{tree.nics_per_node} cards"),
    ):
        axes.text(end, y, text, va="center", fontsize=SMALL)
    axes.set(xlim=(-0.5, end + 24), ylim=(-0.15, 3.3))
    axes.set_axis_off()
    return figure


@styled
def rails_and_racks(each: int = 4, dead: int | None = None) -> "Figure":
    """The same nodes and leaves wired twice: card r of every node to leaf r, or all cards of a node to one leaf.

    `each` nodes have as many cards, and there are as many leaves; a leaf that is `dead` loses its cables.
    """
    figure, axes = canvas(CHART, 5.2)
    for up, title, leaf_of in (
        (2.8, "rails: card r of every node to leaf r", lambda _, card: card),
        (0.0, "racks: all cards of a node to its rack's leaf", lambda node, _: node),
    ):
        axes.text(0, up + 2.45, title)
        for node in range(each):
            left = node * 1.25
            for card in range(each):
                leaf = leaf_of(node, card)
                lost = leaf == dead
                ends = [(left + (card + 0.5) / each, up + 0.45), ((leaf + 0.4) * 1.25, up + 1.9)]
                colour = ORANGE if lost else HUES[leaf % len(HUES)]
                axes.plot(
                    *zip(*ends, strict=True), color=colour, linewidth=1.3, linestyle=":" if lost else "-", zorder=1
                )
                axes.plot(*ends[0], color=colour, marker="D", markersize=6, markeredgecolor="white", zorder=3)
            frame = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.8}
            axes.add_patch(_box(left, up + 0.1, 1.0, 0.5, **frame))
            axes.text(left + 0.5, up + 0.17, f"node {node}", ha="center", fontsize=SMALL)
        for leaf in range(each):
            x = (leaf + 0.4) * 1.25
            colour, marker = (ORANGE, "X") if leaf == dead else (HUES[leaf % len(HUES)], "o")
            axes.plot(x, up + 1.9, color=colour, marker=marker, markersize=13, markeredgecolor="white", zorder=3)
            axes.text(x, up + 2.12, f"leaf {leaf}" + " †" * (leaf == dead), ha="center", fontsize=SMALL)
    axes.set(xlim=(-0.1, each * 1.25), ylim=(0, 5.5))
    axes.set_axis_off()
    return figure


def lines(axes: "Axes", pairs: "Iterable[tuple[Place, Place]]", colour: str, width: float, alpha: float) -> None:
    """Lines between the pairs as one path, which is a tenth of the bytes of a path each."""
    gap = (float("nan"), float("nan"))
    x, y = zip(*(point for pair in pairs for point in (*pair, gap)), strict=True)
    axes.plot(x, y, color=colour, linewidth=width, alpha=alpha, zorder=1)


def _box(x: float, y: float, width: float, height: float, **look: object) -> "object":
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.02", **look)  # type: ignore[arg-type]
