"""What is special about a machine's links: who lost some, who is joined with whom, and which NIC is near which GPU.

No file is read here, and no torch: a page in a browser asks the same `answer`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hwlib.topology.machine_links import MachineLinks, NearNics, read_machine_links
from hwlib.units import plural, show

__all__ = ["LinkRemark", "TopoAnswer", "answer", "lost_links", "remarks"]

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ACROSS = "SYS"
CLOSE = ("PIX", "PXB", "PHB")  # what a GPU and its own NIC have between them
MOST_NAMED = 12
FAULTS = ("lost-links",)


class LinkRemark(NamedTuple):
    """Something to know of a machine: its kind, a sentence, and the devices that it is about."""

    kind: str
    sentence: str
    devices: tuple[str, ...] = ()


class TopoAnswer(NamedTuple):
    """`fine` where no GPU lacks links that others have, a record that JSON can hold, and the text."""

    fine: bool
    record: dict[str, Any]
    text: str


def answer(text: str, link: str | None = None) -> TopoAnswer:
    """What a matrix says of its machine; with a `link` (its name in the tables, or a rate such as "25 GB/s"), what one
    half of the GPUs can send to the other as well. Raises TopologyError for a text without a matrix, and for
    what is not a link.

    >>> pair = "GPU0 GPU1 CPU Affinity\\nGPU0 X NV4 0-7\\nGPU1 NV4 X 0-7"
    >>> answer(pair).record["remarks"][0]["sentence"]
    '2 GPUs, each joined with every other by 4 NVLinks'
    """
    machine = read_machine_links(text)
    notes = tuple(remarks(machine))
    fine = not any(note.kind in FAULTS for note in notes)
    record = _record(machine, notes, fine)
    if link is None:
        return TopoAnswer(fine, record, _text(machine, notes))
    from hwlib.topology.machine_graph import half_bandwidth, machine_graph

    half = half_bandwidth(machine_graph(machine, link))
    words = f"{show(half, 'B/s', 3)} from one half of the GPUs to the other, one direction, over all that joins them"
    notes = (*notes, LinkRemark("halves", words))
    return TopoAnswer(fine, {**record, "half": half}, _text(machine, notes))


def remarks(machine: MachineLinks) -> Iterator[LinkRemark]:
    """All there is to say, what is wrong first."""
    yield from lost_links(machine)
    yield _joined(machine)
    yield from _islands(machine)
    yield from _ways(machine)
    yield from _numa(machine)
    yield from _nics(machine)
    if machine.unprinted:
        yield LinkRemark(
            "cut",
            f"the text has no row for {listed(machine.unprinted)}: what is said of them stands in others' columns",
            machine.unprinted,
        )
    if machine.matrices > 1:
        yield LinkRemark(
            "others",
            f"the text has {machine.matrices} matrices, and only the first is read: give those of other machines by "
            "themselves",
        )


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["GPU0"]), listed(["GPU0", "GPU1", "GPU2"])
    ('GPU0', 'GPU0, GPU1 and GPU2')
    """
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "none"


def _spelled(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else str(n)


def lost_links(machine: MachineLinks) -> Iterator[LinkRemark]:
    """GPUs that have fewer fast links than most."""
    ports = {gpu: machine.ports(gpu) for gpu in machine.gpus}
    (usual, many), *_ = Counter(ports.values()).most_common(1) or [(0, 0)]
    odd = [gpu for gpu in machine.gpus if ports[gpu] < usual]
    if not usual or not odd or many <= len(machine.gpus) / 2:
        return
    counts = sorted({ports[gpu] for gpu in odd})
    for count in counts:
        those = tuple(gpu for gpu in odd if ports[gpu] == count)
        has = "has" if len(those) == 1 else "have"
        others = "the other has" if many == 1 else f"the other {_spelled(many)} have"
        yield LinkRemark(
            "lost-links",
            f"{listed(those)} {has} {count or 'no'} {machine.word}, {others} {usual}: every collective of all goes as "
            "slowly as the slowest way, over PCIe where there is no other",
            those,
        )


def _joined(machine: MachineLinks) -> LinkRemark:
    """How most pairs are joined."""
    n = len(machine.gpus)
    with_rows = "" if len(machine.every_gpu) == n else " with a row"
    if n == 1:
        return LinkRemark("one-gpu", f"1 GPU{with_rows}")
    pairs = list(machine.pairs())
    links = Counter(machine.links(*pair) for pair in pairs)
    with_links = len(pairs) - links[0]
    if not with_links:
        codes = Counter(machine.codes.get(pair, "?") for pair in pairs)
        words = ", ".join(f"{code} between {plural(count, 'pair')}" for code, count in codes.most_common())
        return LinkRemark("pcie", f"{n} GPUs{with_rows} without {machine.word}: they exchange over PCIe ({words})")
    counts = sorted(links.keys() - {0})
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    how = ", through a switch" if machine.switched else ""
    if machine.tool != "nvidia-smi topo -m":
        each, how = "", ""
    by = f"{each} {machine.word}" if each else "XGMI"
    if with_links == len(pairs):
        return LinkRemark("all-to-all", f"{n} GPUs{with_rows}, each joined with every other by {by}{how}")
    ports = sorted({machine.ports(gpu) for gpu in machine.gpus})
    of_each = f"; a GPU has {' or '.join(map(str, ports))} {machine.word}"
    return LinkRemark(
        "partial", f"{n} GPUs{with_rows}, {with_links} of their {len(pairs)} pairs joined by {by}{how}{of_each}"
    )


def _groups(machine: MachineLinks) -> list[list[str]]:
    """GPUs that reach each other by fast links, directly or by way of others."""
    left, groups = list(machine.gpus), []
    while left:
        group = [left.pop(0)]
        for gpu in group:
            more = [other for other in left if machine.links(gpu, other)]
            group += more
            left = [other for other in left if other not in more]
        groups.append(group)
    return groups


def _islands(machine: MachineLinks) -> Iterator[LinkRemark]:
    groups = [group for group in _groups(machine) if len(group) > 1]
    if len(groups) > 1:
        words = "; ".join(listed(group) for group in groups)
        yield LinkRemark("islands", f"{machine.word} join these among themselves, and not with others: {words}")


def _ways(machine: MachineLinks) -> Iterator[LinkRemark]:
    """Pairs that have to go by way of another GPU, or of more."""
    if any(machine.links(*pair) for pair in machine.pairs()) and not machine.switched and len(_groups(machine)) == 1:
        apart = [f"{one}-{other}" for one, other in machine.pairs() if not machine.links(one, other)]
        if apart:
            yield LinkRemark(
                "mesh",
                f"{len(apart)} pairs have no link of their own ({listed(apart)}): a ring has to be laid along the "
                "links, and what these exchange goes by way of another GPU or over PCIe",
            )
    hops = [machine.hops.get(pair, 0) for pair in machine.pairs()]
    if max(hops, default=0) > 1:
        yield LinkRemark("hops", f"up to {max(hops)} hops lie between two GPUs")


def _numa(machine: MachineLinks) -> Iterator[LinkRemark]:
    nodes: dict[str, list[str]] = {}
    for gpu in machine.gpus:
        if gpu in machine.numa:
            nodes.setdefault(machine.numa[gpu], []).append(gpu)
    if len(nodes) > 1:
        words = "; ".join(f"{listed(gpus)} at NUMA node {node}" for node, gpus in nodes.items())
        yield LinkRemark("numa", f"{words}: a process runs best on the cores of its GPU's node")
    across = [f"{one}-{other}" for one, other in machine.pairs() if machine.codes.get((one, other)) == ACROSS]
    if across:
        yield LinkRemark(
            "sockets",
            f"{plural(len(across), 'pair')} without fast links, across the sockets of the CPUs: {listed(across)}",
        )


def _nics(machine: MachineLinks) -> Iterator[LinkRemark]:
    """Which NIC is near which GPU, who has none, and who shares one."""
    if not machine.near:
        return
    close = {gpu: near for gpu, near in machine.near.items() if near.code in CLOSE}
    without = tuple(gpu for gpu, near in machine.near.items() if near.code == ACROSS)
    if not close:
        where = "across the sockets of the CPUs" if without else "elsewhere on the CPU of a GPU"
        yield LinkRemark("no-near-nic", f"no NIC is nearer to any GPU than {where}: a virtual machine may hide it")
        return
    words = "; ".join(f"{gpu} {listed(near.nics)} ({near.code})" for gpu, near in close.items())
    yield LinkRemark("nic", f"the nearest NIC of a GPU: {words}")
    if without:
        reaches = "reaches" if len(without) == 1 else "reach"
        yield LinkRemark(
            "nic-far",
            f"{listed(without)} {reaches} a NIC only across the sockets: what they send is passed to a GPU that has "
            "one (PXN), or goes over the link between the CPUs",
            without,
        )
    users = Counter(nic for near in close.values() for nic in near.nics if len(near.nics) == 1)
    shared = tuple(nic for nic, count in users.items() if count > 1)
    if shared:
        yield LinkRemark("nic-shared", f"{listed(shared)}: the nearest of several GPUs, which share its rate", shared)
    used = {nic for near in close.values() for nic in near.nics}
    idle = tuple(nic for nic in machine.nics if nic not in used)
    if idle and all(nic in machine.nics for nic in machine.unprinted):  # else it may be near a GPU without a row
        yield LinkRemark("nic-apart", f"{listed(idle)}: near no GPU, as those of storage and management", idle)


def _record(machine: MachineLinks, notes: Iterable[LinkRemark], fine: bool) -> dict[str, Any]:
    return {
        "fine": fine,
        "tool": machine.tool,
        "gpus": [_gpu_record(machine, gpu) for gpu in machine.gpus],
        "nics": [{"name": nic, "also": machine.names.get(nic, "")} for nic in machine.nics],
        "between": {f"{one}-{other}": machine.codes.get((one, other), "") for one, other in machine.pairs()},
        "unprinted": list(machine.unprinted),
        "remarks": [note._asdict() for note in notes],
    }


def _gpu_record(machine: MachineLinks, gpu: str) -> dict[str, Any]:
    near = machine.near.get(gpu, NearNics("", ()))
    return {
        "name": gpu,
        "also": machine.names.get(gpu, ""),
        "links": machine.ports(gpu),
        "numa": machine.numa.get(gpu),
        "nearest_nics": list(near.nics),
        "nearest_by": near.code,
    }


def _text(machine: MachineLinks, notes: Sequence[LinkRemark]) -> str:
    gpus = plural(len(machine.every_gpu), "GPU")
    shown = f"{len(machine.gpus)} of {gpus}" if len(machine.every_gpu) > len(machine.gpus) else gpus
    head = f"{machine.tool}: {shown}, {plural(len(machine.nics), 'NIC')}"
    return "\n".join([head, *_matrix(machine), "", *(f"- {note.kind}: {note.sentence}." for note in notes)])


def _matrix(machine: MachineLinks) -> list[str]:
    """The GPUs' part of the matrix, with what is near each."""
    titles = ["", *machine.gpus, "NUMA", "nearest NIC"]
    rows = [titles] + [_row(machine, gpu) for gpu in machine.gpus]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _row(machine: MachineLinks, gpu: str) -> list[str]:
    codes = {**machine.codes, (gpu, gpu): "-"}
    cells = [codes.get((gpu, other), "?") for other in machine.gpus]
    near = machine.near.get(gpu)
    nearest = f"{','.join(near.nics[:4])} ({near.code})" if near and near.code in CLOSE else ""
    return [gpu, *cells, machine.numa.get(gpu, ""), nearest]
