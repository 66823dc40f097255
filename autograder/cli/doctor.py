"""`gpubook doctor`: what this machine has, and what each part means for the labs and for grading.

Every probe may fail; its line then says so, and nothing raises. `examine` probes, `advice` turns the findings
into sentences, `show` prints them. Whatever could hang or crash (torch, CUDA, the sandbox's trial) runs in a process
of its own, with a time limit.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hwlib.topology import Topology, TopoTable, minimum_cut, parse_nvidia_smi_topo, read_topo
from hwlib.topology.machine_links import links_of
from hwlib.topology.machine_report import lost_links
from hwlib.units import GB, Gbit, GiB
from hwlib.units import show as quantity

from .torch_version import release_of, wanted_torch

T = TypeVar("T")
Run = Callable[[Sequence[str]], str]
LIMIT = 90.0  # seconds for one probe: the first import of torch from a cold disk is slow

TORCH = """
import json, torch
found = {"version": torch.__version__, "cuda": torch.version.cuda, "devices": [], "peers": [], "backends": []}
if torch.cuda.is_available():
    n = torch.cuda.device_count()
    for i in range(n):
        p = torch.cuda.get_device_properties(i)
        found["devices"].append([p.name, p.total_memory, f"{p.major}.{p.minor}"])
    found["peers"] = [[i, j] for i in range(n) for j in range(n) if i != j and torch.cuda.can_device_access_peer(i, j)]
import torch.distributed as dist
if dist.is_available():
    found["backends"] = [b for b in ("gloo", "nccl") if getattr(dist, f"is_{b}_available")()]
print(json.dumps(found))
"""
SANDBOX = "from autograder.sandbox.zygote import probe; print(*filter(None, probe().values()))"


class Gpu(NamedTuple):
    """One GPU as the driver lists it: its name, its memory in bytes, the driver's version."""

    name: str
    memory: float
    driver: str


class Nic(NamedTuple):
    """One NIC or port: its name, "ethernet" or "infiniband", B/s one way (None: unknown), and whether it is up."""

    name: str
    kind: str
    bandwidth: float | None
    up: bool


class Torch(NamedTuple):
    """What torch reports: version, the CUDA that it was built for, devices, pairs with peer access, backends."""

    version: str
    cuda: str | None
    devices: tuple[str, ...]
    peers: tuple[tuple[int, int], ...]
    backends: tuple[str, ...]


class Sandbox(NamedTuple):
    """What this machine offers for a sandbox; `refused` is why a process cannot be sandboxed, empty if it can."""

    refused: str
    user_namespaces: bool
    seccomp: bool
    bubblewrap: bool
    cgroups: int


@dataclass(frozen=True)
class MachineFindings:
    """All findings. `problems` says, by probe, why a probe found nothing."""

    python: str
    system: str
    cores: int
    memory: float | None
    torch: Torch | None = None
    gpus: tuple[Gpu, ...] = ()
    matrix: TopoTable | None = None
    topology: Topology | None = None
    nics: tuple[Nic, ...] = ()
    sandbox: Sandbox | None = None
    problems: dict[str, str] = field(default_factory=dict)


class Line(NamedTuple):
    """One line of the report: the part, what was found, and what that means; `fine` is None if neither good nor bad."""

    part: str
    found: str
    fine: bool | None
    means: str


def run(command: Sequence[str]) -> str:
    """The output of a command. Raises OSError or subprocess.SubprocessError if it is missing, fails or hangs."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*_own_folder(), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise OSError(last[0])
    return done.stdout


def _own_folder() -> list[str]:
    return [str(Path(__file__).resolve().parent.parent.parent)]


def examine(run: Run = run, root: Path = Path("/")) -> MachineFindings:
    """Probe this machine. `run` runs a command, `root` is the file system's root: a test replaces both."""
    problems: dict[str, str] = {}

    def tried(part: str, probe: Callable[[], T], otherwise: T) -> T:
        try:
            return probe()
        except Exception as error:  # a report of what is broken must survive what is broken
            problems[part] = str(error) or type(error).__name__
            return otherwise

    text = tried("topology", lambda: run(["nvidia-smi", "topo", "-m"]), "")
    matrix = tried("topology", lambda: read_topo(text), None) if text else None
    link = tried("nvlink", lambda: nvlink_rate(run(["nvidia-smi", "nvlink", "-s"])), None) if matrix else None
    return MachineFindings(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cores=tried("cores", cores, os.cpu_count() or 1),
        memory=tried("memory", lambda: memory(root), None),
        torch=tried("torch", lambda: read_torch(run([sys.executable, "-c", TORCH])), None),
        gpus=tried("gpus", lambda: read_gpus(run(["nvidia-smi", f"--query-gpu={_QUERY}", _FORMAT])), ()),
        matrix=matrix,
        topology=tried("topology", lambda: parse_nvidia_smi_topo(matrix, link or 25e9), None) if matrix else None,
        nics=tried("nics", lambda: nics(root), ()),
        sandbox=tried("sandbox", lambda: sandbox(run, root), None),
        problems=problems,
    )


_QUERY, _FORMAT = "name,memory.total,driver_version", "--format=csv,noheader,nounits"


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory(root: Path = Path("/")) -> float | None:
    """Bytes of main memory, or the container's limit if that is less; None if neither is known."""
    sizes = []
    match = re.search(r"MemTotal:\s*([0-9]+) kB", _read(root / "proc/meminfo"))
    if match:
        sizes.append(int(match[1]) * 1024.0)
    limit = _read(root / "sys/fs/cgroup/memory.max").strip()
    if limit.isdigit():
        sizes.append(float(limit))
    return min(sizes, default=None)


def read_gpus(text: str) -> tuple[Gpu, ...]:
    """The GPUs from the output of `nvidia-smi --query-gpu=name,memory.total,driver_version`, which counts in MiB."""
    gpus = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, size, driver = (cell.strip() for cell in line.rsplit(",", 2))
        gpus.append(Gpu(name, float(size) * 2**20 if size.replace(".", "").isdigit() else 0.0, driver))
    return tuple(gpus)


def nvlink_rate(text: str) -> float | None:
    """B/s one way of one NVLink, from `nvidia-smi nvlink -s`; None if it lists no link.

    It prints the line rate, 26.562 or 53.125 GB/s, of which 25 and 50 are data.
    """
    rates = [float(rate) for rate in re.findall(r"Link [0-9]+: ([0-9.]+) GB/s", text)]
    if not rates:
        return None
    return next(data for line, data in ((40.0, 50 * GB), (22.0, 25 * GB), (0.0, 20 * GB)) if max(rates) > line)


def read_torch(text: str) -> Torch:
    """The record that the probing program printed as JSON, in its last line."""
    record = json.loads(text.strip().splitlines()[-1])
    devices = tuple(str(device[0]) for device in record["devices"])
    peers = tuple((int(one), int(other)) for one, other in record["peers"])
    return Torch(record["version"], record["cuda"], devices, peers, tuple(record["backends"]))


def nics(root: Path = Path("/")) -> tuple[Nic, ...]:
    """The NICs that Linux lists: InfiniBand (and RoCE) ports, then Ethernet; no loopback, no idle virtual device."""
    cards = []
    for port in sorted(root.glob("sys/class/infiniband/*/ports/*")):
        rate = re.match(r"([0-9.]+) Gb/sec", _read(port / "rate"))
        layer = _read(port / "link_layer").strip().lower() or "infiniband"
        up = "ACTIVE" in _read(port / "state")
        name = f"{port.parent.parent.name}:{port.name}"
        cards.append(Nic(name, layer, float(rate[1]) * Gbit if rate else None, up))
    for card in sorted(root.glob("sys/class/net/*")):
        up = _read(card / "operstate").strip() == "up"
        if card.name != "lo" and (up or (card / "device").exists()):
            speed = _read(card / "speed").strip()
            cards.append(Nic(card.name, "ethernet", int(speed) * Gbit / 1000 if speed.isdigit() else None, up))
    return tuple(cards)


def sandbox(run: Run = run, root: Path = Path("/")) -> Sandbox:
    """The result of the sandbox's own trial, and the other means of building one."""
    if sys.platform != "linux":
        refused = "only Linux has namespaces"
    else:
        refused = run([sys.executable, "-c", SANDBOX]).strip()
    spaces = _read(root / "proc/sys/user/max_user_namespaces").strip()
    return Sandbox(
        refused=refused.splitlines()[-1] if refused else "",
        user_namespaces=spaces.isdigit() and int(spaces) > 0,
        seccomp="kill_process" in _read(root / "proc/sys/kernel/seccomp/actions_avail"),
        bubblewrap=shutil.which("bwrap") is not None,
        cgroups=2 if (root / "sys/fs/cgroup/cgroup.controllers").exists() else int((root / "sys/fs/cgroup").exists()),
    )


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def advice(machine: MachineFindings) -> list[Line]:
    """The report: for each part of the machine what was found and, in one sentence, what it means."""
    return [
        _python(machine),
        _processor(machine),
        _memory(machine),
        _torch(machine),
        _gpus(machine),
        _fabric(machine),
        _peers(machine),
        _network(machine),
        _labs(machine),
        _sandbox(machine),
    ]


def _python(machine: MachineFindings) -> Line:
    return Line("Python", f"{machine.python}, {machine.system}", True, "The book, its figures and the checks run here.")


def _processor(machine: MachineFindings) -> Line:
    text = f"{machine.cores} core" + "s" * (machine.cores != 1)
    return Line("CPU", text, True, f"Submissions of a class are graded {machine.cores} at a time.")


def _memory(machine: MachineFindings) -> Line:
    if machine.memory is None:
        return Line("memory", _why(machine, "memory", "unknown"), None, "Labs of 4 ranks take about 2 GiB.")
    enough = machine.memory >= 4 * GiB
    means = "Enough for labs of 8 ranks." if enough else "Not much: keep labs to 2 ranks."
    return Line("memory", quantity(machine.memory, "GiB", 3), enough, means)


def _torch(machine: MachineFindings) -> Line:
    if machine.torch is None:
        why = _why(machine, "torch", "not installed")
        return Line(
            "torch", why, False, "Simulators work; labs with real ranks need torch: pip install 'gpubook[labs]'."
        )
    cuda = f"CUDA {machine.torch.cuda}" if machine.torch.cuda else "no CUDA"
    summary = f"{machine.torch.version}, {cuda}, {', '.join(machine.torch.backends) or 'no backends'}"
    if machine.gpus and not machine.torch.devices:
        return Line("torch", summary, False, "This torch cannot use the GPUs that the driver lists.")
    wanted = wanted_torch()
    if wanted and release_of(machine.torch.version) != wanted:
        means = f"Labs are written for torch {wanted}: with another some fail. pip install 'gpubook[labs]'."
        return Line("torch", summary, False, means)
    return Line("torch", summary, True, "Labs start real ranks.")


def _gpus(machine: MachineFindings) -> Line:
    if not machine.gpus:
        return Line("GPUs", "none", None, "Nothing in the book needs a GPU; measured data comes with it.")
    names = [f"{gpu.name}, {quantity(gpu.memory, 'GiB', 3)}" for gpu in machine.gpus]
    summary = "; ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
    return Line("GPUs", f"{summary}; driver {machine.gpus[0].driver}", True, "Labs can measure these GPUs.")


def _fabric(machine: MachineFindings) -> Line:
    table, built = machine.matrix, machine.topology
    if table is None or built is None:
        if machine.gpus:
            why = _why(machine, "topology", "not reported")
            return Line("links", why, None, "The links between the GPUs are unknown; nvidia-smi topo -m lists them.")
        return Line("links", "none", None, "Networks are simulated.")
    if len(table.gpus) < 2:
        return Line("links", "one GPU", None, "Collectives between GPUs are simulated.")
    links = {table.nvlinks(a, b) for i, a in enumerate(table.gpus) for b in table.gpus[i + 1 :]}
    n = len(built.ranks) // 2
    nvlink = {v for v, tier in built.graph.nodes(data="tier") if tier == 0} if links != {0} else None
    carried = minimum_cut(built, built.ranks[:n], built.ranks[n:], inside=nvlink).bandwidth
    half = f"{quantity(carried, 'B/s', 3)} from one half of the GPUs to the other, one direction."
    if links == {0}:
        return Line("links", "PCIe only", None, f"GPUs communicate through PCIe bridges and CPUs, at most {half}")
    how = "through NVSwitch" if built.kinds["nvswitch"] else "directly"
    count = f"{min(links)}" if len(links) == 1 else f"{min(links)} to {max(links)}"
    lost = [note.sentence.partition(":")[0] for note in lost_links(links_of(table))]
    summary = "; ".join([f"{count} NVLinks between two GPUs, {how}", *lost])
    return Line("links", summary, 0 not in links and not lost, half)


def _peers(machine: MachineFindings) -> Line:
    if machine.torch is None or len(machine.torch.devices) < 2:
        return Line("peer access", "no pairs", None, "Peer access takes two GPUs.")
    n = len(machine.torch.devices)
    pairs, all_pairs = len(machine.torch.peers), n * (n - 1)
    means = (
        "Every GPU can read every other's memory."
        if pairs == all_pairs
        else "Without peer access, copies go through the host."
    )
    return Line("peer access", f"{pairs} of {all_pairs} ordered pairs", pairs == all_pairs, means)


def _network(machine: MachineFindings) -> Line:
    up = [nic for nic in machine.nics if nic.up]
    if not up:
        return Line("network", _why(machine, "nics", "no NIC is up"), None, "Ranks on one machine need no network.")
    rates = [f"{nic.name} {nic.kind} {_line_rate(nic)}" for nic in up]
    summary = ", ".join(rates[:8]) + f" and {len(rates) - 8} more" * (len(rates) > 8)
    fast = [nic.bandwidth for nic in up if nic.bandwidth and nic.bandwidth >= 100 * Gbit]
    if fast:
        return Line("network", summary, True, f"{quantity(sum(fast), 'B/s', 3)} per direction to other machines.")
    return Line("network", summary, None, "Fine for the book and for ranks on one machine; not a fabric for training.")


def _line_rate(nic: Nic) -> str:
    return f"{nic.bandwidth / Gbit:g} Gbit/s" if nic.bandwidth else "of unknown speed"


def _labs(machine: MachineFindings) -> Line:
    if machine.torch is None:
        return Line("labs", "simulated", False, "Labs run on the simulator only.")
    usable = len(machine.torch.devices)
    if usable > 1 and "nccl" in machine.torch.backends:
        return Line("labs", f"NCCL, {usable} ranks", True, f"Labs run on NCCL with {usable} ranks, one per GPU.")
    if "gloo" not in machine.torch.backends:
        return Line("labs", "simulated", False, "This torch has no gloo: labs run on the simulator only.")
    ranks = max(2, min(8, machine.cores))
    shared = " that share a core" if ranks > machine.cores else ""
    return Line("labs", f"gloo, {ranks} ranks", True, f"Labs run on gloo with {ranks} ranks{shared}, on the CPU.")


def _sandbox(machine: MachineFindings) -> Line:
    if machine.sandbox is None:
        why = _why(machine, "sandbox", "not tested")
        return Line("sandbox", why, False, "Your own answers can be checked; others' work cannot be graded here.")
    parts = machine.sandbox
    has = {
        "user namespaces": parts.user_namespaces,
        "seccomp": parts.seccomp,
        "bubblewrap": parts.bubblewrap,
        f"cgroups v{parts.cgroups}": parts.cgroups > 0,
    }
    summary = ", ".join(name for name, there in has.items() if there) or "no means of building one"
    if parts.refused:
        return Line(
            "sandbox", f"{summary}; failed: {parts.refused}", False, "Others' work is graded only with --unsafe."
        )
    return Line("sandbox", summary, True, "Others' work can be sandboxed, so it can be graded here.")


def _why(machine: MachineFindings, part: str, otherwise: str) -> str:
    """A probe's problem in one line, without this machine's paths."""
    text = machine.problems.get(part, otherwise).strip().splitlines() or [otherwise]
    return re.sub(r"(?:/[\w.+-]+){2,}", "...", text[-1])


def _inert(text: str) -> str:
    """Without control characters, which a terminal would interpret: a device may have any name."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def show(machine: MachineFindings, console: Any = None) -> None:
    """Print the report as a table: green if all is well, red if something is missing."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("", "found", "meaning"):
        table.add_column(column, overflow="fold")
    colours = {True: "green", False: "red", None: "dim"}
    for line in advice(machine):
        cell = Text(_inert(line.found), style=colours[line.fine])
        table.add_row(Text(line.part, style="bold"), cell, Text(line.means))
    (console or Console()).print(table)
