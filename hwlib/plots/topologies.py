"""Networks as pictures: devices and switches in rows, their links, and cuts; and bandwidths as bars."""

from collections.abc import Iterable, Mapping, Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, SMALL, canvas, note, styled
from hwlib.specs import Node, links
from hwlib.topology import Cut, Topology
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Place = tuple[float, float]

MOST = 600  # vertices of one picture
NAMED = 20  # vertices of one row up to which their names fit
MANY = 60  # lines of one kind that are drawn paler
NODE_ROWS = ("nvswitch", "switch", "gpu", "nic")  # one machine, from the top
CLUSTER_ROWS = ("core", "spine", "leaf", "nic", "nvswitch", "switch", "gpu")
LOOK = {  # kind: (word, words, colour, marker)
    "gpu": ("GPU", "GPUs", BLUE, "s"),
    "nic": ("NIC", "NICs", GREEN, "D"),
    "nvswitch": ("NVSwitch", "NVSwitches", INK, "o"),
    "switch": ("switch", "switches", INK, "o"),
    "pcie": ("PCIe switch", "PCIe switches", PURPLE, "v"),
    "cpu": ("part of a CPU", "parts of CPUs", GREY, "h"),
    "leaf": ("leaf switch", "leaf switches", PURPLE, "o"),
    "spine": ("spine", "spines", GREY, "o"),
    "core": ("core", "cores", INK, "o"),
}
LINES = (BLUE, GREEN, PURPLE, SKY, GREY)


@styled
def topology(
    t: Topology,
    cut: Cut | Iterable[tuple[str, str]] | None = None,
    title: str | None = None,
    only: Iterable[str] | None = None,
) -> "Figure":
    """A network of up to a few hundred vertices: kinds in rows, lines as thick and coloured as their bandwidth.

    Accelerators with direct links are drawn on a circle (without the PCIe of their machine), those of
    a grid on the grid. `cut` is the result of `bisection_cut` or `minimum_cut`, or pairs of vertices: its edges are
    drawn dashed and orange, the rest pale, and the title gives the bandwidth that crosses. `only` names the kinds of
    vertices to draw, such as ("gpu", "nvswitch"). Raises TypeError for anything but a Topology, ValueError for one too
    large to be legible, for a kind that it lacks, and for a cut with an edge that it lacks.
    """
    if not isinstance(t, Topology):
        raise TypeError(f"topology: a Topology of hwlib.topology, got {type(t).__name__}")
    kinds = [*t.kinds] if only is None else [only] if isinstance(only, str) else [*only]
    if unknown := [kind for kind in kinds if kind not in t.kinds]:
        raise ValueError(f"{t.name} has no {', '.join(unknown)}; it has {', '.join(t.kinds)}")
    drawn = t.vertices(*kinds)
    if only is None and _joined(t, t.ranks) and {"pcie", "cpu"} & {*kinds}:
        drawn = [*t.ranks]
    if not 0 < len(drawn) <= MOST:
        raise ValueError(f"{t.name}: {len(drawn)} vertices to draw, 1 to {MOST} are legible")
    crossing = _crossing(t, cut)
    rows = _rows(t, drawn)
    places = _grid(t, drawn) or _circle(t, drawn) or _in_rows(t, rows)
    heights = {round(y, 6) for _, y in places.values()}
    figure, axes = canvas(CHART, 1.1 + 0.95 * min(max(len(heights), 2), 5))
    handles = _edges(t, axes, places, crossing) + _vertices(t, axes, places, rows)
    if isinstance(cut, Cut):
        title = f"{title or t.name}: {show(cut.bandwidth, 'B/s', 3)} cross the cut, one way"
    axes.set_title(title or t.name)
    axes.margins(0.06, 0.12)
    axes.set_axis_off()
    figure.legend(handles=handles, loc="outside lower left", ncols=2, handlelength=1.6)
    return figure


def _crossing(t: Topology, cut: Cut | Iterable[tuple[str, str]] | None) -> set[frozenset[str]]:
    """The cut's edges, in either direction, without those to the source and the sink of a flow."""
    pairs = [] if cut is None else list(cut.edges if isinstance(cut, Cut) else cut)
    pairs = [pair for pair in pairs if not {"source", "sink"} & {*pair}]
    for u, v in pairs:
        t.check(u)
        if not t.graph.has_edge(u, v):
            raise ValueError(f"{t.name} has no edge from {u!r} to {v!r}, so no cut goes through it")
    return {frozenset(pair) for pair in pairs}


def _rows(t: Topology, drawn: Sequence[str]) -> list[list[str]]:
    """The vertices of each row, from the top down."""
    kind = {v: t.graph.nodes[v]["kind"] for v in drawn}
    if {"pcie", "cpu"} & {*kind.values()}:
        switches = [v for v in drawn if kind[v] in ("nvswitch", "switch")]
        height = _heights(t, [v for v in drawn if v not in {*switches}])
        rows = [[v for v in height if height[v] == level] for level in range(max(height.values()) + 1)]
        return [row for row in (switches, *rows) if row]
    order = CLUSTER_ROWS if {"leaf", "spine", "core"} & {*kind.values()} else NODE_ROWS
    rows = [[v for v in drawn if kind[v] == one] for one in order]
    return [row for row in rows if row]


def _heights(t: Topology, drawn: Sequence[str]) -> dict[str, int]:
    """A machine's vertices in the order of its PCIe tree, so that connected ones are adjacent, and the number of
    bridges below each: none below a GPU or a card."""
    kind = {v: t.graph.nodes[v]["kind"] for v in drawn}
    order: list[tuple[str, str | None]] = []
    seen: set[str] = set()

    def visit(vertex: str, above: str | None) -> None:
        seen.add(vertex)
        order.append((vertex, above))
        for other in t.graph[vertex]:
            if other in kind and other not in seen and {kind[vertex], kind[other]} & {"pcie", "cpu"}:
                visit(other, vertex)

    for first in sorted(drawn, key=lambda v: ("cpu", "pcie").index(kind[v]) if kind[v] in ("cpu", "pcie") else 2):
        top = [v for v in drawn if kind[v] == kind[first] and v not in seen]
        if top:
            visit(top[-1] if kind[first] in ("cpu", "pcie") else top[0], None)
    height = dict.fromkeys((vertex for vertex, _ in order), 0)
    for vertex, above in reversed(order):
        if above is not None:
            height[above] = max(height[above], height[vertex] + 1)
    return height


def _in_rows(t: Topology, rows: Sequence[Sequence[str]]) -> "dict[str, Place]":
    """Places spread evenly in each row; a PCIe bridge is below the devices attached to it."""
    places: dict[str, Place] = {}
    for y, members in enumerate(rows):
        even = {vertex: (i + 0.5) / len(members) for i, vertex in enumerate(members)}
        for vertex, x in even.items():
            near = [places[v][0] for v in t.graph[vertex] if v in places]
            bridge = t.graph.nodes[vertex]["kind"] in ("pcie", "cpu") and near
            places[vertex] = (sum(near) / len(near) if bridge else x, -float(y))
    return places


def _grid(t: Topology, drawn: Sequence[str]) -> "dict[str, Place]":
    """Places of chips whose `cell` has two coordinates, or three in oblique projection; empty for other networks."""
    cells = [t.graph.nodes[v].get("cell", ()) for v in drawn]
    if {len(cell) for cell in cells} not in ({2}, {3}):
        return {}
    askew = (0.0, 0.0) if len(cells[0]) == 2 else (0.28, 0.3)
    return {
        v: (cell[-1] + askew[0] * cell[0], -cell[-2] + askew[1] * cell[0]) for v, cell in zip(drawn, cells, strict=True)
    }


def _joined(t: Topology, ranks: Sequence[str]) -> bool:
    """Whether some of these have direct links to each other."""
    return any(v in {*ranks} for u in ranks for v in t.graph[u])


def _circle(t: Topology, drawn: Sequence[str]) -> "dict[str, Place]":
    """Places of directly linked accelerators on a circle, the rest around it; empty for other networks."""
    ranks = [v for v in t.ranks if v in {*drawn}]
    if not _joined(t, ranks):
        return {}
    places: dict[str, Place] = {}
    for i, vertex in enumerate(ranks):
        angle = pi / 2 + pi / len(ranks) - 2 * pi * i / len(ranks)
        places[vertex] = (2.2 * cos(angle), 2.2 * sin(angle))
    for vertex in (v for v in drawn if v not in places):
        near = [places[v] for v in t.graph[vertex] if v in t.rank_of and v in places]
        x, y = (sum(part) / len(near) for part in zip(*near, strict=True)) if near else (0.0, 0.0)
        places[vertex] = (1.4 * x, 1.4 * y)
    return places


def _edges(t: Topology, axes: "Axes", places: "Mapping[str, Place]", crossing: set[frozenset[str]]) -> list[Any]:
    """Draw the links, with a colour and a thickness for each kind of link and bandwidth; returns the legend."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    groups: dict[tuple[float, str, int], list[tuple[str, str]]] = {}
    for u, v, edge in t.cables():
        if u in places and v in places:
            groups.setdefault((edge["bandwidth"], edge["link"], edge["links"]), []).append((u, v))
    most, handles = max((bandwidth for bandwidth, *_ in groups), default=1.0), list[Any]()
    for i, ((bandwidth, link, count), edges) in enumerate(sorted(groups.items(), key=lambda item: -item[0][0])):
        name = f"{links[link].name if link in links else link}: " if link else ""
        label = f"{f'{count} x ' if count > 1 and name else ''}{name}{show(bandwidth, 'B/s', 3)}"
        look: dict[str, Any] = {"linewidth": 0.6 + 2.6 * (bandwidth / most) ** 0.5, "color": LINES[i % len(LINES)]}
        look |= {"alpha": 0.22 if crossing else 0.6 if len(edges) < MANY else 0.3, "zorder": 1}
        for cut in (False, True):
            paths = [_path(places, u, v) for u, v in edges if (frozenset((u, v)) in crossing) == cut]
            if cut:
                look |= {"color": ORANGE, "alpha": 0.95, "linestyle": (0, (3, 1.5)), "zorder": 2}
            if paths:
                axes.add_collection(LineCollection(paths, **look))
                handles.append(Line2D([], [], **look, label=f"cut: {label}" if cut else label))
    return handles


def _path(places: "Mapping[str, Place]", u: str, v: str) -> "list[Place]":
    """A straight line, or an arc where it would run through vertices of the same row or column."""
    (x0, y0), (x1, y1) = places[u], places[v]
    far = max(abs(x1 - x0), abs(y1 - y0))
    between = [
        p
        for p in places.values()
        if p not in ((x0, y0), (x1, y1))
        and abs((p[0] - x0) * (y1 - y0) - (p[1] - y0) * (x1 - x0)) < 1e-9
        and min(x0, x1) <= p[0] <= max(x0, x1)
        and min(y0, y1) <= p[1] <= max(y0, y1)
    ]
    if not between:
        return [(x0, y0), (x1, y1)]
    out = 0.1 * far
    bend = (out * (y1 - y0) / far, -out * (x1 - x0) / far)
    steps = [k / 12 for k in range(13)]
    return [
        (x0 + (x1 - x0) * s + 4 * bend[0] * s * (1 - s), y0 + (y1 - y0) * s + 4 * bend[1] * s * (1 - s)) for s in steps
    ]


def _vertices(t: Topology, axes: "Axes", places: "Mapping[str, Place]", rows: Sequence[Sequence[str]]) -> list[Any]:
    """Draw the vertices, with a marker for each kind and numbers where they fit; returns the legend."""
    from matplotlib.lines import Line2D

    handles = []
    crowd = {v: len(row) for row in rows for v in row}
    for kind in dict.fromkeys(t.graph.nodes[v]["kind"] for v in places):
        members = [v for v in t.vertices(kind) if v in places]
        word, words, colour, marker = LOOK[kind]
        if "cell" in t.graph.nodes[members[0]]:  # of a torus, whose makers do not say GPU
            word, words = "chip", "chips"
        many = max(crowd[v] for v in members)
        size = 15 if many <= NAMED // 2 else 12 if many <= NAMED else max(2.5, 150 / many)
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "", "markeredgecolor": "white"}
        x, y = zip(*(places[v] for v in members), strict=True)
        axes.plot(x, y, **look, markersize=size, zorder=3)
        label = f"{len(members)} {words if len(members) > 1 else word}"
        handles.append(Line2D([], [], **look, markersize=8, label=label))
        for vertex in members if many <= NAMED else ():
            text = _short(vertex, kind)
            axes.annotate(text, places[vertex], ha="center", va="center", color="white", fontsize=SMALL, zorder=4)
    return handles


def _short(vertex: str, kind: str) -> str:
    """The number of a device; empty for a bridge or a processor, whose place identifies it."""
    digits = vertex.rpartition(".")[2].lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
    return "" if kind in ("pcie", "cpu") else digits


@styled
def node_bandwidths(nodes: Mapping[str, Node] | Sequence[Node]) -> "Figure":
    """Bandwidths out of one accelerator, one direction: its scale-up links, its slot to the host, its network card.

    A thin frame around the scale-up bar shows the data sheet's figure, of both directions, and the number at its end is
    that figure; the number of one direction stands in the bar where it has room. Raises ValueError without a node.
    """
    named = dict(nodes) if isinstance(nodes, Mapping) else {one.name: one for one in nodes}
    if not named:
        raise ValueError("node_bandwidths needs nodes of hwlib.specs, got none")
    figure, axes = canvas(CHART, 0.9 + 0.62 * len(named))
    ways: tuple[tuple[str, str, Any], ...] = (
        ("scale-up links", BLUE, lambda one: one.scaleup_bandwidth),
        ("slot of PCIe", PURPLE, lambda one: one.pcie_bandwidth),
        ("network card", GREEN, lambda one: one.nic_bandwidth),
    )
    for i, (word, colour, of) in enumerate(ways):
        bars = [(n + (i - 1) * 0.27, of(one)) for n, one in enumerate(named.values()) if of(one)]
        axes.barh([y for y, _ in bars], [W for _, W in bars], 0.25, color=colour, label=word)
        if i == 0:
            axes.barh(
                [y for y, _ in bars],
                [2 * W for _, W in bars],
                0.25,
                color="none",
                edgecolor=GREY,
                linewidth=0.8,
                label="as printed: both ways",
            )
        widest = max((W for _, W in bars), default=0)
        for y, W in bars:
            one_way = show(W, "B/s", 3)
            if i == 0 and widest < 4 * W:
                axes.text(W / 2, y, one_way, ha="center", va="center", fontsize=SMALL, color="white")
                one_way = show(2 * W, "B/s", 3)
            note(axes, one_way, (2 * W if i == 0 else W, y), (4, 0), va="center", fontsize=SMALL)
    axes.set_yticks(range(len(named)), list(named))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.12)
    axes.xaxis.get_major_locator().set_params(nbins=5)
    axes.xaxis.set_major_formatter(lambda W, _: show(W, "B/s", 3) if W else "0")
    axes.set_xlabel("bandwidth of one accelerator, one direction")
    figure.legend(loc="outside lower left", ncols=2)
    return figure
