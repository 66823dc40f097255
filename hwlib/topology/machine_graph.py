"""The graph of a machine whose links a tool printed, for pictures and cuts."""

from typing import Any

from hwlib.topology.cut import minimum_cut
from hwlib.topology.graph import Topology, finish, new_graph, wire
from hwlib.topology.link_rate import LinkRate, as_rate
from hwlib.topology.machine_links import MachineLinks
from hwlib.topology.smi import parse_nvidia_smi_topo

__all__ = ["half_bandwidth", "machine_graph"]


def machine_graph(machine: MachineLinks, link: Any = "nvlink4", slot: Any = "pcie5-x16") -> Topology:
    """The machine as a graph: `link` is the rate of one NVLink, or of all that XGMI carries between two GPUs, and
    `slot` that of a device's PCIe.
    """
    if machine.table is not None:
        return parse_nvidia_smi_topo(machine.table, link, slot)
    rate, pcie = as_rate("machine_graph: link", link), as_rate("machine_graph: slot", slot)
    graph = new_graph()
    for i, gpu in enumerate(machine.gpus):
        graph.add_node(gpu, kind="gpu", tier=0, place=(i,))
    for one, other in machine.pairs():
        if machine.links(one, other):
            wire(graph, one, other, rate)
    if any(not machine.links(*pair) for pair in machine.pairs()):
        graph.add_node("cpu", kind="cpu", tier=1)
        for gpu in machine.gpus:
            wire(graph, gpu, "cpu", LinkRate(pcie.bandwidth, pcie.latency, pcie.link))
    return finish(f"machine of {len(machine.gpus)} GPUs", graph, machine.gpus)


def half_bandwidth(topology: Topology) -> float:
    """What the first half of the GPUs can send to the others together, one direction, over all that joins them; 0 for
    a single GPU.
    """
    n = len(topology.ranks) // 2
    return minimum_cut(topology, topology.ranks[:n], topology.ranks[n:]).bandwidth if n else 0.0
