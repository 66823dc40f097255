"""How many ranks a log of nccl-tests is of, by the best of what says so: a pasted log is often cut."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hwlib.calibrated.nccl_table import LEAST, LogRow
from hwlib.collectives import bus_factor

__all__ = [
    "ListedDevice",
    "RankCount",
    "count_ranks",
    "listed_devices",
    "lone_processes",
    "ratio_of",
    "ratio_ranks",
    "runs_apart",
]

DEVICE = re.compile(
    r"Rank (?P<rank>\d{1,9})\b(?: Group (?P<group>\d{1,9}))?.*?"
    r"\bon (?P<host>\S+) device \d+ \[[^\[\]]{0,64}\] ?(?P<gpu>.*)"
)
PROCESS = re.compile(r"\bPid (\d{1,12})\b")
NCCL_RANKS = re.compile(r"NCCL INFO [^\n]{0,300}?\bn[rR]anks[ :=]{1,3}(\d{1,7})\b")
NCCL_NODES = re.compile(r"NCCL INFO [^\n]{0,300}?\bnNodes[ :=]{1,3}(\d{1,7})\b")
STARTED = re.compile(r"\b(?:mpirun|mpiexec|srun|prun)\b[^\n]{0,2000}?\s(?:-np|-n|--ntasks)[ =](\d{1,7})\b")
EACH = re.compile(r"nThreads?:? (\d{1,4}) nGpus:? (\d{1,4})\b")
PER_PROCESS = re.compile(r"_perf\b[^\n]{0,400}?\s-g[ =]?(\d{1,4})\b")
SERVERS = re.compile(r"\bsrun\b[^\n]{0,2000}?\s(?:-N|--nodes)[ =]?(\d{1,6})\b")
TASKS = re.compile(r"\bsrun\b[^\n]{0,2000}?\s--ntasks-per-node[ =](\d{1,6})\b")
A_NODE = 8  # GPUs of most nodes
MOST_FITTING = 16  # numbers of ranks that fit, beyond which the bandwidths say nothing
DIGIT = 0.005e9  # B/s, half of the last digit of a bandwidth
FAR = 1.96  # 2(n - 1)/n from which on two decimals of bandwidths no longer tell n: some 50 ranks
NEAR = 0.002  # of a ratio that n would give
LISTED, BY_NCCL, BY_RATIO, BY_COMMAND = "its list of devices", "NCCL's lines", "the two bandwidths", "its command"


class ListedDevice(NamedTuple):
    """A line of the header: a rank and where it runs."""

    rank: int
    group: int
    host: str
    gpu: str
    process: str


class RankCount(NamedTuple):
    """The ranks and hosts of a log, None where nothing says them, and what the ranks are known by."""

    n: int | None
    hosts: int | None
    source: str


def listed_devices(lines: Sequence[str]) -> tuple[ListedDevice, ...]:
    """The devices that a header lists, from lines of words with one space between."""
    matches = (DEVICE.match(line, place) for line in lines if (place := line.find("Rank ")) >= 0)
    return tuple(_device(match) for match in matches if match)


def _device(match: re.Match[str]) -> ListedDevice:
    process = PROCESS.search(match[0])
    return ListedDevice(
        int(match["rank"]), int(match["group"] or 0), match["host"], match["gpu"].strip(), process[1] if process else ""
    )


def runs_apart(devices: Sequence[ListedDevice]) -> int:
    """How many processes list a rank 0 of their own, each of them of a run for itself."""
    first = {(device.host, device.process) for device in devices if device.rank == device.group == 0}
    return len(first) if len(first) > 1 else 1


def lone_processes(devices: Sequence[ListedDevice], rows: Sequence[LogRow]) -> int:
    """How many processes ran alone, each as the only rank: several ranks 0 and no byte on a bus; 0 if none did."""
    if any(row.busbw for row in rows):
        return 0
    if devices and all(device.rank == 0 for device in devices):
        return len(devices)
    moved = any(row.algbw > LEAST * 1e9 for row in rows)
    return 1 if moved and not devices else 0


def count_ranks(
    devices: Sequence[ListedDevice], rows: Sequence[LogRow], text: str, collective: str | None
) -> RankCount:
    """The ranks by NCCL's own lines; by the list of devices, unless it is cut or of several groups; by the two
    bandwidths; or by the command.
    """
    hosts = 1 if runs_apart(devices) > 1 else len({device.host for device in devices}) or None
    listed = _listed(devices)
    nodes = max(map(int, NCCL_NODES.findall(text)), default=0) or None
    if by_nccl := max(map(int, NCCL_RANKS.findall(text)), default=0):
        if by_nccl == listed or runs_apart(devices) > 1:
            return RankCount(listed, nodes or hosts, LISTED)
        return RankCount(by_nccl, nodes, BY_NCCL)
    ratio = ratio_ranks(rows, collective)
    command = _commanded(text)
    beyond = listed < 40 and collective == "all_reduce" and ratio_of(rows) >= FAR
    if listed and not beyond and listed >= (ratio or 0):
        return RankCount(listed, hosts if listed == _shown(devices) else None, LISTED)
    if ratio:
        return RankCount(ratio, None, BY_RATIO)
    return RankCount(command, None, BY_COMMAND) if command else RankCount(None, None, "")


def ratio_of(rows: Sequence[LogRow]) -> float:
    """busbw over algbw, 0 where they have too few digits."""
    ratio = _ratio(rows)
    return ratio.value if ratio else 0.0


def _shown(devices: Sequence[ListedDevice]) -> int:
    """The devices of the largest group that are shown."""
    distinct = {(device.rank, device.group) for device in devices}
    return max(Counter(group for _, group in distinct).values(), default=0)


def _listed(devices: Sequence[ListedDevice]) -> int:
    """The ranks of the largest group; of a single one up to its last, also where the first are cut away."""
    if len({device.group for device in devices}) > 1:
        return _shown(devices)
    return max((device.rank + 1 for device in devices), default=0)


def _commanded(text: str) -> int | None:
    """Processes by threads by GPUs of a command line and the first line of the output."""
    processes, each = _processes(text), EACH.search(text)
    if each:
        inside = int(each[1]) * int(each[2])
    else:
        inside = max(map(int, PER_PROCESS.findall(text)), default=1)
    return (processes or 1) * inside if (processes or 1) * inside > 1 else None


def _processes(text: str) -> int | None:
    if started := STARTED.search(text):
        return int(started[1])
    servers, each = SERVERS.search(text), TASKS.search(text)
    return int(servers[1]) * int(each[1]) if servers and each else None


class _Ratio(NamedTuple):
    """busbw over algbw, and how far off it may be by the digits that are printed."""

    value: float
    error: float


def _ratio(rows: Sequence[LogRow]) -> _Ratio | None:
    """That of the row where both have most digits; None if none has enough."""
    best = max(rows, key=lambda row: row.algbw)
    if not best.algbw > LEAST * 1e9 or not best.busbw:
        return None
    ratio = best.busbw / best.algbw
    return _Ratio(ratio, ratio * DIGIT * (1 / best.busbw + 1 / best.algbw))


def ratio_ranks(rows: Sequence[LogRow], collective: str | None) -> int | None:
    """The ranks by 2(n - 1)/n or (n - 1)/n, where the digits of the ratio fit one number alone, or one of
    whole nodes of eight.
    """
    ratio = _ratio(rows)
    if ratio is None or collective not in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
        return None
    whole = 2 if collective == "all_reduce" else 1
    left, error = (whole - ratio.value) / whole, ratio.error / whole
    if not max(1 - FAR / 2, error) < left < 1:
        return None
    fitting = range(max(2, round(1 / (left + error))), round(1 / (left - error)) + 1)
    if len(fitting) > MOST_FITTING:
        return None
    whole_nodes = [n for n in fitting if n % A_NODE == 0]
    n = fitting[0] if len(fitting) == 1 else whole_nodes[0] if len(whole_nodes) == 1 else 0
    return n if n and abs(bus_factor(collective, n) - ratio.value) < max(NEAR, ratio.error) else None
