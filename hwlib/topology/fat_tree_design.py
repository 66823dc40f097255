"""A fat tree from a plain description: missing values are derived, and a checker reports faults and blocking in
words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.specs.cluster import TIERS, Level
from hwlib.topology.link_rate import LinkRate, TopologyError, as_rate, whole
from hwlib.units import show


class TierFinding(NamedTuple):
    """One sentence about one tier. `kind` is "ports", "cables" or "blocking"; `fine` is False for a fault."""

    tier: str
    kind: str
    fine: bool
    text: str


@dataclass(frozen=True, repr=False)
class Report:
    """The checker's findings. A tree can be built if ports and cables suffice; blocking is a trade-off, not a fault."""

    findings: tuple[TierFinding, ...]

    @property
    def buildable(self) -> bool:
        """Every switch has enough ports, and the cables can be laid evenly."""
        return all(finding.fine for finding in self.findings if finding.kind != "blocking")

    @property
    def non_blocking(self) -> bool:
        """At every tier, as much leads up as comes from below."""
        return all(finding.fine for finding in self.findings if finding.kind == "blocking")

    def __str__(self) -> str:
        return "\n".join(finding.text for finding in self.findings)

    __repr__ = __str__


@dataclass(frozen=True)
class FatTree:
    """A fat tree in full: nodes in groups below leaf switches, leaves in pods below spines, pods below cores.

    NIC r of a node is on leaf r of its group, counted round the group's leaves: with as many leaves as NICs
    each is a rail. Counts named `leaves`, `spines` and `cores` are totals; `uplinks` are cables of one switch.
    """

    nodes: int
    gpus_per_node: int
    nics_per_node: int
    nodes_per_group: int
    rails: int
    pods: int
    leaf_uplinks: int
    spines: int
    spine_uplinks: int
    cores: int
    ports: Mapping[str, int]
    scaleup: LinkRate
    nic: LinkRate
    pcie: LinkRate
    cable: LinkRate
    nvswitches: int = 0

    @property
    def groups(self) -> int:
        """Groups of nodes that share their leaf switches."""
        return self.nodes // self.nodes_per_group

    @property
    def groups_per_pod(self) -> int:
        """Groups below one set of spines."""
        return self.groups // self.pods

    @property
    def leaves(self) -> int:
        """Leaf switches in all."""
        return self.groups * self.rails

    @property
    def down(self) -> dict[str, int]:
        """Cables down from one switch of each tier; of the fullest, where they do not come out even."""
        spines_per_pod = max(self.spines // self.pods, 1)
        return {
            "leaf": ceil(self.nodes_per_group * self.nics_per_node / self.rails),
            "spine": ceil(self.groups_per_pod * self.rails * self.leaf_uplinks / spines_per_pod) if self.spines else 0,
            "core": ceil(self.spines * self.spine_uplinks / self.cores) if self.cores else 0,
        }

    @property
    def up(self) -> dict[str, int]:
        """Cables up from one switch of each tier."""
        return {
            "leaf": self.leaf_uplinks if self.spines else 0,
            "spine": self.spine_uplinks if self.cores else 0,
            "core": 0,
        }

    @property
    def switches(self) -> dict[str, int]:
        """Switches of each tier, those inside the nodes first."""
        counts = {"nvswitch": self.nodes * self.nvswitches, "leaf": self.leaves, "spine": self.spines}
        return {tier: count for tier, count in (counts | {"core": self.cores}).items() if count}

    @property
    def cables(self) -> dict[str, int]:
        """Cables between the tiers."""
        counts = {
            "node-leaf": self.nodes * self.nics_per_node,
            "leaf-spine": self.leaves * self.up["leaf"],
            "spine-core": self.spines * self.up["spine"],
        }
        return {tiers: count for tiers, count in counts.items() if count}

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, innermost first; a child sends no more into one than it can collect."""
        every = [Level("node", self.gpus_per_node, self.scaleup.bandwidth)]
        node = self.nics_per_node * self.nic.bandwidth
        group = min(self.nodes_per_group * node, self.rails * self.up["leaf"] * self.cable.bandwidth)
        pod = self.spines // self.pods * self.up["spine"] * self.cable.bandwidth
        every.append(Level("leaf", self.nodes_per_group, node))
        every.append(Level("spine", self.groups_per_pod, group))
        every.append(Level("core", self.pods, min(self.groups_per_pod * group, pod)))
        return tuple(level for level in every if level.size > 1)

    def check(self) -> Report:
        """Which tiers are non-blocking, which port counts are exceeded, and which cables cannot be laid."""
        return Report(tuple(_findings(self)))


def _findings(tree: FatTree) -> Iterator[TierFinding]:
    above = {"leaf": "spines", "spine": "cores"}
    for tier, count in (("leaf", tree.leaves), ("spine", tree.spines), ("core", tree.cores)):
        if not count:
            continue
        down, up, ports = tree.down[tier], tree.up[tier], tree.ports[tier]
        wanted = f"{tier}: {down} cables down" + f" and {up} up" * bool(up)
        if down + up > ports:
            extra = f"a switch has {ports}: {down + up - ports} too many"
            more = "; spread it over a further tier, or use fewer cables a pair" if tier != "leaf" else ""
            yield TierFinding(tier, "ports", False, f"{wanted} take {down + up} ports, but {extra}{more}.")
        else:
            yield TierFinding(tier, "ports", True, f"{wanted} take {down + up} of {ports} ports.")
        if up:
            below = down * (tree.nic if tier == "leaf" else tree.cable).bandwidth
            ratio = below / (up * tree.cable.bandwidth)
            fine = ratio <= 1 + 1e-9
            verdict = "non-blocking" if fine else f"oversubscribed {ratio:.4g}:1"
            to = f"{show(below, 'B/s')} come up from below and {show(up * tree.cable.bandwidth, 'B/s')} go to the "
            yield TierFinding(tier, "blocking", fine, f"{tier}: {verdict}: {to}{above[tier]}.")
    yield from _cabling(tree)


def _cabling(tree: FatTree) -> Iterator[TierFinding]:
    """Whether every two switches that should be joined are, with as many cables as any other two."""
    if tree.rails > tree.nics_per_node:
        text = f"leaf: {tree.rails} leaves a group, but a node has {tree.nics_per_node} NICs to reach them with."
        yield TierFinding("leaf", "cables", False, text)
    if tree.spines:
        spines = tree.spines // tree.pods
        if tree.spines % tree.pods or tree.leaf_uplinks % spines:
            text = (
                f"leaf: {tree.leaf_uplinks} cables up cannot be shared evenly by {spines} spines"
                + f" in each of {tree.pods} pods" * (tree.pods > 1)
                + "."
            )
            yield TierFinding("leaf", "cables", False, text)
        if not tree.cores and tree.pods > 1:
            yield TierFinding(
                "spine", "cables", False, f"spine: nothing joins the {tree.pods} pods: there are no cores."
            )
        if tree.cores and (spines * tree.spine_uplinks) % tree.cores:
            text = f"spine: the {spines * tree.spine_uplinks} cables up of a pod cannot be shared evenly by"
            yield TierFinding("spine", "cables", False, f"{text} {tree.cores} cores.")
    elif tree.groups > 1:
        text = f"leaf: nothing joins the {tree.groups} groups: there are no spines."
        yield TierFinding("leaf", "cables", False, text)


def plan(description: Mapping[str, Any] | None = None, /, **more: Any) -> FatTree:
    """A fat tree from a plain description; only `nodes` must be given.

    `gpus_per_node` 8, `scaleup` 450 GB/s a GPU, `nics` of a node (one a GPU), `nic` and `cable` 50 GB/s each,
    `pcie` from GPU to NIC (no limit but the NIC's), `nodes_per_group` 32, `rails` True (a leaf for each NIC),
    False (one leaf a group) or how many leaves a group has, `ports` 64 of every switch or {"leaf": 64, ...},
    `oversubscription` 1 of the top tier, `pods`, `leaves`, `spines`, `cores` (totals), `links` (cables between
    a leaf and each of its spines), `leaf_uplinks` and `spine_uplinks`, `latency` of a cable, `nvswitches` of a
    node. Rates are B/s, '400 Gbit/s' or a link's key. The number of tiers and of switches follows from the
    ports: two tiers while the spines have a port for every leaf of the cluster, three beyond that.
    Raises TopologyError for a word it does not know and for counts that do not divide.
    """
    fields = {**(description or {}), **more}
    if unknown := fields.keys() - WORDS:
        raise TopologyError(f"unknown option {', '.join(sorted(map(str, unknown)))}; known: {', '.join(WORDS)}")
    if "nodes" not in fields:
        raise TopologyError("a cluster is described by at least its nodes, such as nodes=128")
    counts = {name: whole(f"cluster: {name}", fields[name]) for name in COUNTS if fields.get(name) is not None}
    nodes, gpus = counts["nodes"], counts.get("gpus_per_node", 8)
    nics = counts.get("nics", gpus)
    ports = _ports(fields.get("ports", 64))
    latency = fields.get("latency", 0.0)
    nic = as_rate("cluster: nic", fields.get("nic", 50e9), latency)
    cable = as_rate("cluster: cable", fields.get("cable", nic.link or nic.bandwidth), latency)
    top = fields.get("oversubscription", 1)
    if not is_number(top) or not 1 <= top < inf:
        raise TopologyError(f"cluster: oversubscription is at least 1, as 7 for 7:1, got {top!r}")
    group = counts.get("nodes_per_group") or max(k for k in range(1, min(nodes, 32) + 1) if nodes % k == 0)
    rails = _rails(fields.get("rails", True), nics, counts.get("leaves"), _divide(nodes, "nodes", group, "groups"))
    shape = _tiers(counts, nodes // group, rails, ceil(group * nics / rails), ports, float(top))
    pcie = fields.get("pcie")
    per_nic = as_rate("cluster: pcie", pcie) if pcie else LinkRate(max(1, nics / gpus) * nic.bandwidth)
    scaleup = as_rate("cluster: scaleup", fields.get("scaleup", 450e9))
    return FatTree(
        nodes,
        gpus,
        nics,
        group,
        rails,
        ports=ports,
        nic=nic,
        cable=cable,
        pcie=per_nic,
        scaleup=scaleup,
        nvswitches=counts.get("nvswitches", 0),
        **shape,
    )


COUNTS = (
    "nodes",
    "gpus_per_node",
    "nics",
    "nodes_per_group",
    "leaves",
    "spines",
    "cores",
    "pods",
    "links",
    "leaf_uplinks",
    "spine_uplinks",
    "nvswitches",
)
WORDS = dict.fromkeys((*COUNTS, "rails", "ports", "oversubscription", "scaleup", "nic", "pcie", "cable", "latency"))


def _tiers(
    counts: Mapping[str, int], groups: int, rails: int, leaf_down: int, ports: Mapping[str, int], top: float
) -> dict[str, int]:
    """How many tiers, spines and cores, and the cables up; what the description says stays as it says."""
    leaves = groups * rails
    flat = {"pods": 1, "leaf_uplinks": 0, "spines": 0, "spine_uplinks": 0, "cores": 0}
    if leaves == 1 and "spines" not in counts:
        return flat
    three = "cores" in counts or counts.get("pods", 1) > 1
    if not three and "spines" not in counts:
        three = leaves > ports["spine"]
    if not three:
        links = counts.get("links", 0) * counts.get("spines", 0)
        up = counts.get("leaf_uplinks") or links or _uplinks(leaf_down, top, "leaf")
        least = ceil(leaves * up / ports["spine"])
        return flat | {"leaf_uplinks": up, "spines": counts.get("spines") or _sharing(up, least)}
    downward = int(ports["spine"] * top / (1 + top))  # ports of a spine that lead down
    most = max((k for k in range(1, groups + 1) if groups % k == 0 and k * rails <= downward), default=1)
    pods = counts.get("pods", groups // most)
    in_pod = _divide(groups, "groups", pods, "pods", parts=True) * rails
    spines = counts.get("spines", 0)
    up = counts.get("leaf_uplinks") or counts.get("links", 0) * spines // pods or leaf_down
    each = spines // pods or _sharing(up, ceil(in_pod * up / downward))
    spine_up = counts.get("spine_uplinks") or _uplinks(ceil(in_pod * up / max(each, 1)), top, "spine")
    least = ceil(pods * each * spine_up / ports["core"])
    cores = counts.get("cores") or _sharing(each * spine_up, least)
    total = spines or each * pods
    return {"pods": pods, "leaf_uplinks": up, "spines": total, "spine_uplinks": spine_up, "cores": cores}


def _sharing(cables: int, least: int) -> int:
    """The fewest switches, at least `least`, that share these cables evenly."""
    return next((k for k in range(max(least, 1), cables + 1) if cables % k == 0), max(least, 1))


def _uplinks(down: int, ratio: float, tier: str) -> int:
    up = down / ratio
    if up < 1 or abs(up - round(up)) > 1e-9:
        raise TopologyError(
            f"cluster: oversubscription {ratio:g}:1 of {down} cables below a {tier} leaves {up:.4g} cables up, which"
            f" is not a whole number; give {tier}_uplinks instead"
        )
    return round(up)


def _divide(whole_count: int, name: str, by: int, what: str, parts: bool = False) -> int:
    if whole_count % by:
        size = f"{by} {what}" if parts else f"{what} of {by}"
        raise TopologyError(f"cluster: {whole_count} {name} do not make equal {size}")
    return whole_count // by


def _rails(rails: Any, nics: int, leaves: int | None, groups: int) -> int:
    if leaves is not None:
        return _divide(leaves, "leaves", groups, "groups", parts=True)
    return {True: nics, False: 1}[rails] if isinstance(rails, bool) else whole("cluster: rails (leaves a group)", rails)


def _ports(ports: Any) -> dict[str, int]:
    if not isinstance(ports, Mapping):
        return dict.fromkeys(TIERS, whole("cluster: ports of a switch", ports, 2))
    if unknown := set(ports) - set(TIERS):
        raise TopologyError(f"cluster: ports are told for {', '.join(TIERS)}, got {', '.join(map(str, unknown))}")
    return {tier: whole(f"cluster: ports of a {tier}", ports.get(tier, 64), 2) for tier in TIERS}
