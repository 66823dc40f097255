"""Networks as graphs with bandwidths: build, route, cut and degrade them, or read one from a machine.

>>> from hwlib.topology import bisection_bandwidth, node
>>> bisection_bandwidth(node("dgx-h100")) / 1e12  # one direction
1.8
"""

from hwlib.topology.counts import (
    crossbar_bisection_bandwidth,
    down_ports,
    network_cost,
    node_switch_bandwidth,
    oversubscription,
    three_tier_hosts,
    three_tier_switches,
    torus_bisection_bandwidth,
    tree_bisection_bandwidth,
    tree_cables,
    tree_core_switches,
    tree_leaf_switches,
    tree_optics_power,
    tree_spine_switches,
    tree_switches,
    tree_tiers,
    two_tier_hosts,
    two_tier_switches,
    up_ports,
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
from hwlib.topology.fat_tree_design import FatTree, Report, TierFinding, plan
from hwlib.topology.graph import Topology, route
from hwlib.topology.link_rate import LinkRate, TopologyError
from hwlib.topology.shapes import crossbar, dragonfly, hypercube, leaf_spine, ring, torus
from hwlib.topology.shares import (
    allreduce_left_fraction,
    allreduce_spare_switches,
    alltoall_left_fraction,
    alltoall_spare_switches,
    busiest_cable_flows,
    idle_cable_fraction,
    spines_left_fraction,
)
from hwlib.topology.smi import TopoTable, parse_nvidia_smi_topo, read_topo
from hwlib.topology.trees import cluster, costs, described, fat_tree, node, nvl72, tree

__all__ = [
    "Cut",
    "FatTree",
    "LinkRate",
    "Remains",
    "Report",
    "TierFinding",
    "TopoTable",
    "Topology",
    "TopologyError",
    "allreduce_left_fraction",
    "allreduce_spare_switches",
    "alltoall_left_fraction",
    "alltoall_spare_switches",
    "bisection_bandwidth",
    "bisection_cut",
    "busiest_cable_flows",
    "cluster",
    "costs",
    "crossbar",
    "crossbar_bisection_bandwidth",
    "described",
    "down_ports",
    "dragonfly",
    "egress_bandwidth",
    "fat_tree",
    "hypercube",
    "idle_cable_fraction",
    "leaf_spine",
    "level_bandwidth",
    "minimum_cut",
    "network_cost",
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
    "spines_left_fraction",
    "three_tier_hosts",
    "three_tier_switches",
    "torus",
    "torus_bisection_bandwidth",
    "tree",
    "tree_bisection_bandwidth",
    "tree_cables",
    "tree_core_switches",
    "tree_leaf_switches",
    "tree_optics_power",
    "tree_spine_switches",
    "tree_switches",
    "tree_tiers",
    "two_tier_hosts",
    "two_tier_switches",
    "up_ports",
    "without",
]
