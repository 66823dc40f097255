"""Networks as graphs with bandwidths: build one, route over it, cut it, break it, read it from a machine.

>>> from hwlib.topology import bisection_bandwidth, node
>>> bisection_bandwidth(node("dgx-h100")) / 1e12  # one direction
1.8
"""

from hwlib.topology.arguments import Rate, TopologyError
from hwlib.topology.counts import (
    crossbar_bisection_bandwidth,
    node_switch_bandwidth,
    oversubscription,
    three_tier_hosts,
    three_tier_switches,
    two_tier_hosts,
    two_tier_switches,
)
from hwlib.topology.cut import (
    Cut,
    bisection_bandwidth,
    bisection_cut,
    egress_bandwidth,
    level_bandwidth,
    minimum_cut,
    per_gpu_bandwidth,
)
from hwlib.topology.failures import Remains, remains, without
from hwlib.topology.plan import FatTree, Finding, Report, plan
from hwlib.topology.record import Topology
from hwlib.topology.routes import route
from hwlib.topology.shapes import crossbar, dragonfly, dragonfly_size, hypercube, ring, torus
from hwlib.topology.smi import TopoTable, parse_nvidia_smi_topo, read_topo
from hwlib.topology.trees import cluster, costs, described, fat_tree, node, nvl72, tree

__all__ = [
    "Cut",
    "FatTree",
    "Finding",
    "Rate",
    "Remains",
    "Report",
    "TopoTable",
    "Topology",
    "TopologyError",
    "bisection_bandwidth",
    "bisection_cut",
    "cluster",
    "costs",
    "crossbar",
    "crossbar_bisection_bandwidth",
    "described",
    "dragonfly",
    "dragonfly_size",
    "egress_bandwidth",
    "fat_tree",
    "hypercube",
    "level_bandwidth",
    "minimum_cut",
    "node",
    "node_switch_bandwidth",
    "nvl72",
    "oversubscription",
    "parse_nvidia_smi_topo",
    "per_gpu_bandwidth",
    "plan",
    "read_topo",
    "remains",
    "ring",
    "route",
    "three_tier_hosts",
    "three_tier_switches",
    "torus",
    "tree",
    "two_tier_hosts",
    "two_tier_switches",
    "without",
]  # fmt: skip
