"""Graphs of nodes and of clusters made of them: one node, a rack, a fat tree, a TPU pod."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hwlib.specs import Cluster, Node, clusters, links, nodes
from hwlib.specs.cluster import Level
from hwlib.topology.fat_tree_design import FatTree, plan
from hwlib.topology.graph import Topology, finish, new_graph, wire
from hwlib.topology.link_rate import LinkRate, TopologyError, as_rate
from hwlib.topology.shapes import torus

if TYPE_CHECKING:
    from networkx import DiGraph


NO_CARD = 1.0  # B/s of a card that a node has none of


def node(which: Node | str, detail: bool = False) -> Topology:
    """One node: its accelerators, what joins them, and its NICs.

    The switches of a node stand as one crossbar that carries each chip's full bandwidth. With `detail`, every
    switch chip is a vertex and has its share of the links: 18 links over 4 switches are 5, 4, 4 and 5, the odd
    ones turning from chip to chip. Where there is no switch, each chip has its own links to every other (mesh).
    Raises KeyError for an unknown key, TopologyError for a TPU host: it is a piece of a torus, not a node; and for
    cards in the slots of a server, and a cube of V100s: their links differ from machine to machine, or pair to pair.
    """
    spec = nodes[which] if isinstance(which, str) else which
    if not isinstance(spec, Node):
        raise TopologyError(f"node: a record or a key of hwlib.specs.nodes ({', '.join(nodes)}), got {which!r}")
    _check_shape(spec)
    graph, link = new_graph(), links[spec.link]
    rate = LinkRate(link.bandwidth, link.latency or 0.0, link.key)
    pcie = LinkRate(spec.pcie_bandwidth or spec.egress_bandwidth or NO_CARD, 0.0, spec.pcie)
    ranks = _node(graph, "", (), spec.chips, spec.nics, LinkRate(0), pcie, _card(spec))
    if spec.shape == "mesh":
        each, rest = divmod(spec.links_per_chip, spec.chips - 1)
        if rest:
            raise TopologyError(f"node: {spec.key} has {spec.links_per_chip} links for {spec.chips - 1} peers")
        for i, u in enumerate(ranks):
            for v in ranks[i + 1 :]:
                wire(graph, u, v, rate, each)
    elif detail:
        for s in range(spec.switches):
            graph.add_node(f"nvswitch{s}", kind="nvswitch", tier=0, chips=1)
        for i, u in enumerate(ranks):
            for cable in range(spec.links_per_chip):
                wire(graph, u, f"nvswitch{(cable + i) % spec.switches}", rate)
    else:
        graph.add_node("nvswitch", kind="nvswitch", tier=0, chips=spec.switches)
        for u in ranks:
            wire(graph, u, "nvswitch", rate, spec.links_per_chip)
    levels = [Level("node", spec.chips, spec.scaleup_bandwidth)] if spec.shape == "crossbar" else []
    return finish(spec.name, graph, ranks, levels, ["node"])


def _check_shape(spec: Node) -> None:
    if spec.shape == "torus":
        raise TopologyError(f"node: the chips of {spec.key} stand in the torus of a pod: build cluster() or torus()")
    if spec.shape in ("cube", "pcie"):
        raise TopologyError(
            f"node: which chips of {spec.key} share a link, no table says: read_topo() reads a machine's"
        )


def _card(spec: Node) -> float:
    """What one network card of a node carries, B/s."""
    return links[spec.nic].bandwidth if spec.nic else NO_CARD


def nvl72(which: Node | str = "gb200-nvl72", detail: bool = False) -> Topology:
    """A rack of 72 GPUs on one NVLink fabric, with a NIC a GPU out of it."""
    return node(which, detail)


def fat_tree(description: FatTree | Mapping[str, Any] | None = None, /, **more: Any) -> Topology:
    """The graph of a fat tree, from a description as `plan` takes it, or from a plan.

    Raises TopologyError, with the checker's sentences, for one that cannot be built; one that blocks is built.
    """
    tree = description if isinstance(description, FatTree) else plan(description, **more)
    report = tree.check()
    if not report.buildable:
        wrong = " ".join(one.text for one in report.findings if not one.fine and one.kind != "blocking")
        raise TopologyError(f"this fat tree cannot be built. {wrong}")
    graph, ranks = new_graph(), list[str]()
    for number in range(tree.nodes):
        group, inside = divmod(number, tree.nodes_per_group)
        place = (*divmod(group, tree.groups_per_pod), inside)
        ranks += _node(
            graph,
            f"n{number}.",
            place,
            tree.gpus_per_node,
            tree.nics_per_node,
            tree.scaleup,
            tree.pcie,
            tree.nic.bandwidth,
            tree.nvswitches,
        )
    for tier, (kind, count) in enumerate((("leaf", tree.leaves), ("spine", tree.spines), ("core", tree.cores)), 1):
        for i in range(count):
            graph.add_node(f"{kind}{i}", kind=kind, tier=tier)
    for number in range(tree.nodes):
        first = number // tree.nodes_per_group * tree.rails
        for nic in range(tree.nics_per_node):
            wire(graph, f"n{number}.nic{nic}", f"leaf{first + nic % tree.rails}", tree.nic)
    if tree.spines:
        _join_leaves(graph, tree)
    if tree.cores:
        _join_spines(graph, tree)
    return finish(
        f"fat tree of {len(ranks)} GPUs", graph, ranks, tree.levels, ("node", "leaf", "spine", "core"), [_half(ranks)]
    )


def _half(ranks: Sequence[str]) -> frozenset[str]:
    return frozenset(ranks[: len(ranks) // 2])


def _node(
    graph: "DiGraph",
    prefix: str,
    place: tuple[int, ...],
    gpus: int,
    nics: int,
    scaleup: LinkRate,
    pcie: LinkRate,
    line: float,
    chips: int = 0,
) -> list[str]:
    """Add the accelerators, the crossbar (if `scaleup` has a bandwidth) and the NICs, shared out in order."""
    names = [f"{prefix}gpu{i}" for i in range(gpus)]
    for i, name in enumerate(names):
        graph.add_node(name, kind="gpu", tier=0, place=(*place, i))
    if scaleup.bandwidth:
        graph.add_node(f"{prefix}nvswitch", kind="nvswitch", tier=0, chips=chips)
        for name in names:
            wire(graph, name, f"{prefix}nvswitch", scaleup)
    for nic in range(nics):
        graph.add_node(f"{prefix}nic{nic}", kind="nic", tier=1, bandwidth=line)
    for i in range(max(gpus, nics) if nics else 0):
        gpu, nic = (i, i * nics // gpus) if gpus >= nics else (i * gpus // nics, i)
        wire(graph, names[gpu], f"{prefix}nic{nic}", pcie)
    return names


def _join_leaves(graph: "DiGraph", tree: FatTree) -> None:
    per_pod = tree.spines // tree.pods
    for leaf in range(tree.leaves):
        pod = leaf // (tree.groups_per_pod * tree.rails)
        for spine in range(per_pod):
            wire(graph, f"leaf{leaf}", f"spine{pod * per_pod + spine}", tree.cable, tree.leaf_uplinks // per_pod)


def _join_spines(graph: "DiGraph", tree: FatTree) -> None:
    """Where a spine has fewer cables than there are cores, the cores form planes, each for some of the spines."""
    per_pod, up, cores = tree.spines // tree.pods, tree.spine_uplinks, tree.cores
    planes = cores // up if up < cores and cores % up == 0 and per_pod % (cores // up) == 0 else 0
    for spine in range(tree.spines):
        j = spine % per_pod
        for k in range(up):
            core = j * planes // per_pod * up + k if planes else (j * up + k) % cores
            wire(graph, f"spine{spine}", f"core{core}", tree.cable)


def cluster(which: Cluster | FatTree | Mapping[str, Any] | str, /, **more: Any) -> Topology:
    """A cluster by its key in `hwlib.specs.clusters`, by its record, by a plan, or by a plain description.

    A TPU pod is its torus. A record that counts its switches is built with every one of them; one that tells only
    its levels gets one vertex for each group of a level, which carries what the level does.
    """
    if not isinstance(which, str | Cluster):
        return fat_tree(which, **more)
    spec = clusters[which] if isinstance(which, str) else which
    inside = spec.members
    if spec.torus:
        return replace(torus(spec.torus, inside.link, tuple(spec.wrap)), name=spec.name)
    if spec.leaf_switches and spec.leaf_size:
        built = fat_tree(described(spec), **more)
    else:
        built = tree([*spec.levels], inside)
    return replace(built, name=spec.name)


def described(which: Cluster | str) -> FatTree:
    """The plan of a cluster of the tables whose switches are counted, to be checked, changed and built."""
    spec = clusters[which] if isinstance(which, str) else which
    inside = spec.members
    if not spec.leaf_switches or not spec.leaf_size:
        raise TopologyError(f"cluster: nobody counts the switches of {spec.key}; build it by its levels")
    optional: dict[str, Any] = {"spines": spec.spine_switches, "cores": spec.core_switches}
    optional["pods"] = spec.core_size if spec.core_switches else None
    if spec.leaf_spine_cables:
        optional["leaf_uplinks"] = spec.leaf_spine_cables // spec.leaf_switches
    if spec.spine_core_cables and spec.spine_switches:
        optional["spine_uplinks"] = spec.spine_core_cables // spec.spine_switches
    return plan(
        {name: int(value) for name, value in optional.items() if value},
        nodes=spec.nodes,
        gpus_per_node=inside.chips,
        nics=inside.nics,
        nic=inside.nic,
        cable=spec.cable or inside.nic,
        scaleup=inside.scaleup_bandwidth,
        pcie=inside.pcie_bandwidth,
        nodes_per_group=int(spec.leaf_size),
        leaves=int(spec.leaf_switches),
        ports=spec.switch_ports or 64,
        nvswitches=inside.switches or None,
    )


def tree(levels: Sequence[Level | tuple[str, int, Any]], inside: Node | str | None = None) -> Topology:
    """A tree told by its levels alone: each group is one vertex, joined to the next level by one fat link.

    The innermost level joins accelerators. With `inside`, a node of the tables, each accelerator also has its
    NIC, through which the node reaches the second level; without, the crossbar of the first level leads there.
    """
    if not levels:
        raise TopologyError("tree: levels are at least one of (name, size, bandwidth), got none")
    made = [Level(name, size, as_rate(f"tree: bandwidth of {name}", width).bandwidth) for name, size, width in levels]
    spec = nodes[inside] if isinstance(inside, str) else inside
    graph, ranks = new_graph(), list[str]()
    counts = [1]
    for level in reversed(made):
        counts.insert(0, counts[0] * level.size)
    kinds = ("nvswitch", "leaf", "spine", "core")
    named = [f"{kinds[min(tier, 3)]}{'' if tier < 4 else tier}" for tier in range(len(made))]
    for group in range(counts[1]):
        place, rest = list[int](), group
        for level in made[1:]:
            rest, here = divmod(rest, level.size)
            place.insert(0, here)
        if spec is not None:
            pcie = LinkRate(spec.pcie_bandwidth or spec.egress_bandwidth, 0.0, spec.pcie)
            ranks += _node(
                graph,
                f"n{group}.",
                tuple(place),
                spec.chips,
                spec.nics if len(made) > 1 else 0,
                LinkRate(made[0].bandwidth),
                pcie,
                _card(spec),
                spec.switches,
            )
        else:
            ranks += _node(
                graph, f"n{group}.", tuple(place), made[0].size, 0, LinkRate(made[0].bandwidth), LinkRate(1.0), 1.0
            )
    for tier in range(1, len(made)):
        for i in range(counts[tier + 1]):
            graph.add_node(f"{named[tier]}{i}", kind=kinds[min(tier, 3)], tier=tier)
        for child in range(counts[tier]):
            above = f"{named[tier]}{child // made[tier].size}"
            if tier == 1 and spec is not None:
                for nic in range(spec.nics):
                    wire(graph, f"n{child}.nic{nic}", above, LinkRate(made[1].bandwidth / spec.nics, 0.0, spec.nic))
            else:
                below = f"n{child}.nvswitch" if tier == 1 else f"{named[tier - 1]}{child}"
                wire(graph, below, above, LinkRate(made[tier].bandwidth))
    tiers = [level.name for level in made]
    parted = [level for level in made if level.size > 1]
    return finish(f"tree of {len(ranks)}", graph, ranks, parted, tiers, [_half(ranks)])


def costs(topology: Topology) -> dict[str, int]:
    """What a network is bought as: switches of each kind, NICs, and cables between each two kinds.

    Parallel cables count each; traces inside a node (GPU to switch chip, GPU to NIC) are links, not cables, and
    are left out. `switches` and `cables` are the sums.
    """
    counts: dict[str, int] = {}
    for vertex, kind in topology.graph.nodes(data="kind"):
        if kind not in ("gpu", "cpu", "pcie"):
            counts[kind] = counts.get(kind, 0) + topology.graph.nodes[vertex].get("chips", 1)
    counts = {kind: count for kind, count in counts.items() if count}  # a plan need not count its NVSwitches
    switches = sum(count for kind, count in counts.items() if kind != "nic")
    kinds = topology.graph.nodes
    cables = 0
    for u, v, edge in topology.cables():
        pair = kinds[u]["kind"], kinds[v]["kind"]
        outside = not {"nvswitch", "pcie", "cpu"} & set(pair) and pair not in (("gpu", "nic"), ("nic", "gpu"))
        if outside:
            counts["-".join(pair)] = counts.get("-".join(pair), 0) + edge["links"]
            cables += edge["links"]
    return {**counts, "switches": switches, "cables": cables}
