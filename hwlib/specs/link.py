"""Links and switch chips: frozen records read from links.toml and switches.toml beside this file.

A link is one cable or one trace of lanes, and its `bandwidth` is what one direction carries once the line's own
code is taken off; headers and protocols above it are the business of `hwlib.network`. A switch is one chip or
box with `ports` of one kind of link.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hwlib.specs.reader import Record, count, quantity, read, text
from hwlib.specs.table import SpecError, Table, file_text, refer

KINDS = ("nvlink", "pcie", "c2c", "xgmi", "ici", "neuronlink", "infiniband", "ethernet")


@dataclass(frozen=True, repr=False)
class Link(Record):
    """One link. `kind` is one of nvlink, pcie, c2c, xgmi, ici, infiniband and ethernet."""

    kind: str = text(needed=True, one_of=KINDS)

    bandwidth: float = quantity("B/s", "what the link carries, one direction", needed=True)
    lanes: int | None = count("lanes, each one pair of wires or fibres a direction")
    signal_rate: float | None = quantity("B/s", "bits on one lane, line code included; a transfer is a bit")
    code_payload: int | None = count("symbols of one block of the line code that are data")
    code_length: int | None = count("symbols of one block of the line code")
    latency: float | None = quantity("s", "time of the first byte over one hop")
    measured_bandwidth: float | None = quantity("B/s", "best bandwidth that others measured, one direction")

    @property
    def payload_fraction(self) -> float:
        """What of the bits on the wire is data: 128/130 on PCIe 5. 1 where the printed rate is the data's."""
        if self.code_payload is None or self.code_length is None:
            return 1.0
        return self.code_payload / self.code_length


@dataclass(frozen=True, repr=False)
class Switch(Record):
    """One switch chip, or one box of them; `link` is the key of the link that a port takes."""

    link: str

    ports: int = count("ports", needed=True)
    bandwidth: float = quantity("B/s", "all ports together, one direction", needed=True)
    latency: float | None = quantity("s", "from port to port")

    @property
    def port_bandwidth(self) -> float:
        """One port, one direction: the bandwidth of its link."""
        return links[self.link].bandwidth


def _links(file: str) -> Iterator[Link]:
    for row in read(Link, file, file_text(file)):
        if not row.bandwidth:
            raise SpecError(f"{file}, {row.key}.bandwidth: a link has a bandwidth above 0")
        yield row


def _switches(file: str) -> Iterator[Switch]:
    for row in read(Switch, file, file_text(file)):
        refer(file, row, "link", links)
        yield row


links: Table[Link] = Table("link", _links, ("links.toml",))
switches: Table[Switch] = Table("switch", _switches, ("switches.toml",))
