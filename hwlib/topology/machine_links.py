"""How the GPUs of a machine are joined, as nvidia-smi, rocm-smi or amd-smi print it: one record of all three."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from hwlib.pasted_text import without_container, without_markdown
from hwlib.topology.amd_files import amd_tables
from hwlib.topology.link_rate import TopologyError
from hwlib.topology.pasted import MARK, matrices
from hwlib.topology.smi import MOST_NVLINKS, TopoTable, read_topo

__all__ = ["MachineLinks", "NearNics", "links_of", "read_machine_links"]

NVIDIA, ROCM, AMD = "nvidia-smi topo -m", "rocm-smi --showtopo", "amd-smi topology"
AMD_DEVICE = re.compile(r"GPU[0-9]{1,4}|[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]")
GLUED = re.compile(rf"(?:^|[:>\]|])({AMD_DEVICE.pattern})$")
TITLE = re.compile(r"\b(Weight|Hops|Link Type|LINK TYPE|WEIGHT|HOPS|ACCESS|NUMA BW)\b")
ANY_TITLE = re.compile(r"two GPUs|[A-Z-]{1,30} TABLE:|={5,}|^Legend")
AMD_NUMA = re.compile(r"GPU ?\[?([0-9]{1,4})\]?\s{0,9}:\s{0,9}\(Topology\) Numa Node: (-?[0-9]{1,6})\b")
PCIE, XGMI = "PCIE", "XGMI"
SELF = ("0", "SELF", "X")
UNKNOWN = ("", "N/A", "-1")  # a NUMA node that is not printed, or not known
MOST_GPUS = 1024


@dataclass(frozen=True)
class NearNics:
    """The NICs with the least between them and a GPU, and what that is."""

    code: str
    nics: tuple[str, ...]


@dataclass(frozen=True)
class MachineLinks:
    """The GPUs of a machine and what lies between each two: # NVLinks (NV#), XGMI, or PCIe (PCIE, or by nvidia-smi's
    codes). `hops` are AMD's between two GPUs; `numa` is a GPU's node, `near` its NICs, `names` what a device is called
    elsewhere, and `unprinted` what the text has no row for; `beyond` is what lies between a GPU and those. `table` is
    nvidia-smi's whole matrix, the first of the `matrices` that the text has.
    """

    tool: str
    gpus: tuple[str, ...]
    codes: Mapping[tuple[str, str], str]
    hops: Mapping[tuple[str, str], int] = field(default_factory=dict)
    numa: Mapping[str, str] = field(default_factory=dict)
    nics: tuple[str, ...] = ()
    near: Mapping[str, NearNics] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    unprinted: tuple[str, ...] = ()
    table: TopoTable | None = None
    beyond: Mapping[tuple[str, str], str] = field(default_factory=dict)
    matrices: int = 1

    @property
    def every_gpu(self) -> tuple[str, ...]:
        """The GPUs, and those without a row."""
        return (*self.gpus, *dict.fromkeys(other for _, other in self.beyond))

    @property
    def word(self) -> str:
        """What the fast links are called."""
        return "NVLinks" if self.tool == NVIDIA else "XGMI links"

    @property
    def switched(self) -> bool:
        """Whether more links end at other GPUs than one GPU has ports: they meet in a switch."""
        return self.tool == NVIDIA and max(map(self._ends, self.gpus), default=0) > MOST_NVLINKS

    def _ends(self, gpu: str) -> int:
        """The fast links of a GPU, counted at the GPUs where they end."""
        return sum(self.links(gpu, other) for other in self.every_gpu if other != gpu)

    def links(self, gpu: str, other: str) -> int:
        """Fast links between two GPUs, through a switch or not."""
        code = self.codes.get((gpu, other)) or self.beyond.get((gpu, other), "")
        return int(code[2:]) if code[:2] == "NV" and code[2:].isdecimal() else int(code == XGMI)

    def ports(self, gpu: str) -> int:
        """The fast links of a GPU that are in use."""
        if not self.switched:
            return self._ends(gpu)
        return max((self.links(gpu, other) for other in self.every_gpu if other != gpu), default=0)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each two GPUs once."""
        yield from combinations(self.gpus, 2)


def read_machine_links(text: str) -> MachineLinks:
    """What any of the three tools printed, also cut, quoted or with marks before its lines. Raises TopologyError."""
    if not isinstance(text, str):
        raise TopologyError(f"a text was expected, got {type(text).__name__}")
    text = amd_tables("\n".join(without_markdown(without_container(text).splitlines())))
    titles = [line for line in text.splitlines() if "two GPUs" in line or "LINK TYPE TABLE" in line]
    if titles:
        machine = _of_amd(text, ROCM if "two GPUs" in titles[0] else AMD)
        return replace(machine, matrices=sum("LINK TYPE" in line.upper() for line in titles))
    return replace(links_of(read_topo(text, cut=True)), matrices=matrices(text))


def links_of(table: TopoTable) -> MachineLinks:
    """The record of a matrix of nvidia-smi."""
    if len(table.gpus) > MOST_GPUS:
        raise TopologyError(f"at most {MOST_GPUS} GPUs were expected in a machine, got {len(table.gpus)}")
    numa = {gpu: row.get("NUMA Affinity", "") for gpu, row in table.affinity.items()}
    numa = {gpu: node for gpu, node in numa.items() if node not in UNKNOWN}
    near = {gpu: _nearest(table, gpu) for gpu in table.gpus if table.nics}
    codes = {(one, other): table.relation[one, other] for one in table.gpus for other in table.gpus if one != other}
    more = (table.nics, near, table.legend, table.unprinted, table, table.beyond)
    return MachineLinks(NVIDIA, table.gpus, codes, {}, numa, *more)


def _nearest(table: TopoTable, gpu: str) -> NearNics:
    nics = table.nearest_nics(gpu)
    return NearNics(table.relation[gpu, nics[0]], nics)


def _of_amd(text: str, tool: str) -> MachineLinks:
    lines = [MARK.sub("", line) for line in text.splitlines()]
    tables: dict[str, dict[tuple[str, str], str]] = {}
    for name, cells in _tables(lines):
        tables.setdefault(name, cells)  # of several machines the first
    kinds = tables.get("link type")
    if not kinds:
        raise TopologyError("no table of link types: 'Link Type between two GPUs' or 'LINK TYPE TABLE:' with rows")
    devices = list(dict.fromkeys(one for one, _ in kinds))
    if len(devices) > MOST_GPUS:
        raise TopologyError(f"at most {MOST_GPUS} GPUs were expected in a machine, got {len(devices)}")
    gpus = {device: f"GPU{i}" for i, device in enumerate(devices)} if tool == AMD else {one: one for one in devices}
    codes = {(gpus[a], gpus[b]): code for (a, b), code in kinds.items() if a in gpus and b in gpus and a != b}
    hops = {
        (gpus[a], gpus[b]): int(cell)
        for (a, b), cell in tables.get("hops", {}).items()
        if a in gpus and b in gpus and a != b and cell.isdecimal() and len(cell) < 5
    }
    numa = {f"GPU{number}": node for number, node in AMD_NUMA.findall("\n".join(lines))}
    names = {gpu: device for device, gpu in gpus.items() if gpu != device}
    return MachineLinks(tool, tuple(gpus.values()), codes, hops, numa, names=names)


def _tables(lines: list[str]) -> Iterator[tuple[str, dict[tuple[str, str], str]]]:
    """The matrices of a text by their titles, in lower case. Raises TopologyError for a cell of no known kind."""
    title = ""
    columns: list[str] = []
    cells: dict[tuple[str, str], str] = {}
    for number, line in enumerate(lines, 1):
        words = [*map(_device_or_word, line.split())]
        if ANY_TITLE.search(line):
            if cells:
                yield title, cells
            match = TITLE.search(line)
            title, columns, cells = match[1].lower() if match else "", [], {}
        elif title and (devices := [word for word in words if AMD_DEVICE.fullmatch(word)]):
            if not columns and devices == words[words.index(devices[0]) :]:
                columns = devices
            elif columns:
                values = words[words.index(devices[0]) + 1 :][: len(columns)]
                row = zip(columns, values, strict=False)
                cells |= {(devices[0], other): _cell(title, number, value) for other, value in row}
    if cells:
        yield title, cells


def _device_or_word(word: str) -> str:
    """A device without what stands before it, or the word."""
    match = GLUED.search(word)
    return match[1] if match else word


def _cell(title: str, number: int, value: str) -> str:
    kind = value.upper()
    if title == "link type" and kind not in (*SELF, XGMI, PCIE, "N/A", "UNKNOWN", "IOLINK_TYPE_NUMIOLINKTYPES"):
        raise TopologyError(f"line {number}: {value[:40]!r} is not a type of link; known: XGMI, PCIE, SELF")
    return kind
