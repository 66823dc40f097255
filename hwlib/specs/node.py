"""Nodes: frozen records read from nodes.toml beside this file.

A node is here one scale-up domain: the chips that reach one another without the network cards. That is a server
of eight GPUs, a whole NVL72 rack, or the TPUs of one host, which stand in a larger torus.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.link import links, switches
from hwlib.specs.reader import Record, count, quantity, read, text
from hwlib.specs.table import SpecError, Table, file_text, refer

SHAPES = ("crossbar", "mesh", "cube", "pcie", "torus")


@dataclass(frozen=True, repr=False)
class Node(Record):
    """One node. `accelerator`, `link`, `nic`, `pcie`, `c2c` and `switch` are keys of the other tables.

    `shape` says how the links of the chips join: through switches (crossbar), each chip to every other (mesh), to
    some of the others (cube), through the slots of their host (pcie), or to its neighbours, and on to those of other
    hosts (torus). `nic`, `pcie`, `c2c` and `switch` are empty where there is none, or nobody says which.
    """

    accelerator: str
    link: str
    shape: str = text(needed=True, one_of=SHAPES)
    nic: str = text()
    pcie: str = text()
    switch: str = text()
    c2c: str = text()

    chips: int = count("accelerators", needed=True)
    hosts: int = count("operating systems that share them: servers, or the trays of a rack", needed=True)
    links_per_chip: int = count("scale-up links of one chip", needed=True)
    switches: int = count("switch chips", needed=True)
    nics: int = count("network cards of the compute fabric, counted in ports of the link `nic`", needed=True)
    host_bandwidth: float | None = quantity("B/s", "one chip to its host, one direction, where `pcie` is not known")
    fabric_bandwidth: float | None = quantity("B/s", "scale-up links of all chips, one direction")
    network_bandwidth: float | None = quantity("B/s", "network cards of the node together, one direction")

    @property
    def chip(self) -> Accelerator:
        return accelerators[self.accelerator]

    @property
    def scaleup_bandwidth(self) -> float:
        """What one chip sends into its scale-up network, one direction, with all its links."""
        return self.links_per_chip * links[self.link].bandwidth

    @property
    def switch_ports(self) -> int:
        """Ports of one switch chip; 0 where there are none."""
        return switches[self.switch].ports if self.switch else 0

    @property
    def switch_bandwidth(self) -> float:
        """What all switch chips of the node pass on, one direction; 0 where there are none."""
        return self.switches * switches[self.switch].bandwidth if self.switch else 0.0

    @property
    def pcie_bandwidth(self) -> float | None:
        """What one chip sends to its host over PCIe, one direction; None where nobody says."""
        return links[self.pcie].bandwidth if self.pcie else self.host_bandwidth

    @property
    def to_host_bandwidth(self) -> float | None:
        """What one chip sends to its host's memory, one direction: over a chip-to-chip link where there is one, else
        over PCIe; None where nobody says.
        """
        return links[self.c2c].bandwidth if self.c2c else self.pcie_bandwidth

    @property
    def chips_per_host(self) -> int:
        """Accelerators of one server or tray."""
        return self.chips // self.hosts

    @property
    def nic_bandwidth(self) -> float:
        """The share of one chip in the network cards, one direction."""
        return self.egress_bandwidth / self.chips

    @property
    def egress_bandwidth(self) -> float:
        """What the node sends into the network between nodes, one direction; 0 where it has no card for it."""
        return self.nics * links[self.nic].bandwidth if self.nics else 0.0


def _read(file: str) -> Iterator[Node]:
    for row in read(Node, file, file_text(file)):
        refer(file, row, "accelerator", accelerators)
        for name in ("link", "nic", "pcie", "c2c"):
            refer(file, row, name, links)
        refer(file, row, "switch", switches)
        if bool(row.switches) != bool(row.switch):
            raise SpecError(f"{file}, {row.key}.switches: {row.switches} of the switch {row.switch!r}")
        if bool(row.nics) != bool(row.nic):
            raise SpecError(f"{file}, {row.key}.nics: {row.nics} of the card {row.nic!r}")
        yield row


nodes: Table[Node] = Table("node", _read, ("nodes.toml",))
