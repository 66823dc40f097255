"""What PyTorch prints when a collective times out: which rank waited in which call, and how far each had come.

Lines as torch 1.13 to 2.10 print them; source: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp and
ProcessGroupWrapper.cpp of pytorch/pytorch, and logs of its issues, 2022 to 2026. A line has the rank within its group;
since 2.3 a launcher's `[rank3]:` before it is the rank of the job. A name of a group, as `PG 1`, may stand for several
groups of ranks, but for the first, which is the whole job.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "CallMismatch",
    "RankProgress",
    "TimedOutCall",
    "WatchdogReport",
    "WatchdogVerdict",
    "read_watchdog",
    "says",
    "watchdog_verdict",
]

GROUP = r"(?:PG (?:ID )?(\w{1,40})(?: PG GUID ([^\s\]()]{1,60}))?\s?(?:\(([^()\n]{1,60})\))?\s)?"
RANK = rf"\[{GROUP}Rank (\d{{1,9}})\]"
TIMEOUT = re.compile(
    rf"{RANK}\s{{1,40}}Watchdog caught collective operation timeout:\s{{0,40}}WorkNCCL\(SeqNum=(\d{{1,19}}),"
    r"\s{0,40}OpType=(\w{1,40})(?:,\s{0,40}NumelIn=(\d{1,19}))?(?:,\s{0,40}NumelOut=(\d{1,19}))?"
    r"(?:,\s{0,40}Timeout\(ms\)=(\d{1,15}))?\)(?:\s{1,40}ran for\s{1,40}(\d{1,15}))?"
)
PROGRESS = re.compile(
    rf"{RANK}[^\n]{{0,400}}?[Ll]ast enqueued (?:NCCL )?work: ?(-?\d{{1,19}}), "
    r"last completed (?:NCCL )?work: ?(-?\d{1,19})"
)
PRINT = (
    r"CollectiveFingerPrint\((?:SequenceNumber=(\d{1,19}),\s{0,9})?OpType=(\w{1,40})"
    r"(?:,\s{0,9}TensorShape=\[([\d, ]{0,200})\])?"
)
MISMATCH = re.compile(rf"Rank (\d{{1,9}}) is running (?:collective|inconsistent collective):\s{{0,40}}{PRINT}")
BARRIER = re.compile(r"Ranks? ([\d, ]{1,400}?) failed to pass monitoredBarrier in (\d{1,15}) ms")
TAG = re.compile(r"\[rank(\d{1,9})\]:")
BEFORE = 120  # characters before a line's words in which its rank of the job stands
MARKS = ("Watchdog caught collective operation timeout", "failed to pass monitoredBarrier", "is running collective:")
WHOLE = ("", "0", "default_pg")
LIMIT = 50_000  # lines that are read


class TimedOutCall(NamedTuple):
    """A call that a rank waited in for too long: `group` is empty where the line does not tell it; seconds, elements,
    where they stand there.
    """

    rank: int
    group: str
    number: int
    operation: str
    elements: tuple[int, ...] = ()
    waited: float | None = None


class RankProgress(NamedTuple):
    """The numbers of the newest call of a group that a rank had put into its queue, and that had completed there."""

    rank: int
    group: str
    enqueued: int
    completed: int


class CallMismatch(NamedTuple):
    """What a rank called while another called something else, as TORCH_DISTRIBUTED_DEBUG=DETAIL tells it."""

    rank: int
    number: int | None
    operation: str
    shape: str


class WatchdogReport(NamedTuple):
    """All of it; `late` are ranks that did not reach a monitored barrier."""

    timeouts: tuple[TimedOutCall, ...]
    progress: tuple[RankProgress, ...]
    mismatches: tuple[CallMismatch, ...] = ()
    late: tuple[int, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have a line."""
        timed = {row.rank for row in self.timeouts} | {row.rank for row in self.progress}
        return tuple(sorted(timed | {row.rank for row in self.mismatches} | set(self.late)))


class WatchdogVerdict(NamedTuple):
    """Why a job hangs, as far as its lines tell.

    `reason`: "missing" (the culprits had not called what others wait in), "operation" or "size" (they called something
    else under its number), "apart" (ranks wait in different calls of one group), "silent" (all agree, and the suspects
    have no line) or "unknown". `suspects` are ranks of which the lines do not prove that they are to blame.
    """

    reason: str
    culprits: tuple[int, ...] = ()
    suspects: tuple[int, ...] = ()
    call: TimedOutCall | None = None


def says(text: str) -> bool:
    """Whether a text has lines of PyTorch's watchdog, or of its other checks of calls."""
    return any(mark in text for mark in MARKS)


def read_watchdog(text: str) -> WatchdogReport:
    """Read the lines of a log that tell of calls that timed out. Raises ValueError for a text without such a line.

    >>> line = "[rank3]:[E1] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE"
    >>> read_watchdog(line + ", NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600026 milliseconds").timeouts[0]
    TimedOutCall(rank=3, group='', number=8, operation='ALLREDUCE', elements=(4, 4), waited=600.026)
    """
    lines = text.splitlines()[:LIMIT]
    whole = "\n".join(lines)
    wrapped = "".join(lines)  # a terminal may have broken words
    text = max((whole, wrapped), key=lambda way: sum(1 for _ in TIMEOUT.finditer(way)))
    progress = _latest(_progress(match, text) for match in PROGRESS.finditer(text))
    timeouts = _grouped((_timeout(match, text) for match in TIMEOUT.finditer(text)), progress)
    mismatches = tuple(dict.fromkeys(map(_mismatch, MISMATCH.finditer(text))))
    late = {int(number) for match in BARRIER.finditer(text) for number in re.findall(r"\d{1,9}", match[1])}
    if not (timeouts or mismatches or late):
        raise ValueError("a line such as '[Rank 3] Watchdog caught collective operation timeout: ...' was expected")
    return WatchdogReport(timeouts, progress, mismatches, tuple(sorted(late)))


def _job_rank(match: re.Match[str], text: str) -> int:
    """The rank of the job, by the mark before the line; else the group's, which is the same in the whole job's."""
    tags = TAG.findall(text, max(match.start() - BEFORE, 0), match.start())
    return int(tags[-1]) if tags else int(match[4])


def _group(match: re.Match[str]) -> str:
    return (match[3] or match[1] or "")[:60]


def _timeout(match: re.Match[str], text: str) -> TimedOutCall:
    elements = tuple(int(match[place]) for place in (7, 8) if match[place])
    waited = int(match[10]) / 1000 if match[10] else None
    return TimedOutCall(_job_rank(match, text), _group(match), int(match[5]), match[6], elements, waited)


def _progress(match: re.Match[str], text: str) -> RankProgress:
    enqueued, completed = int(match[5]), int(match[6])
    return RankProgress(_job_rank(match, text), _group(match), enqueued, min(completed, enqueued))


def _mismatch(match: re.Match[str]) -> CallMismatch:
    return CallMismatch(int(match[1]), int(match[2]) if match[2] else None, match[3], (match[4] or "").replace(" ", ""))


def _latest(rows: Iterable[RankProgress]) -> tuple[RankProgress, ...]:
    """A rank's last word on each group."""
    return tuple({(row.rank, row.group): row for row in rows if row.enqueued >= 0}.values())


def _grouped(calls: Iterable[TimedOutCall], progress: Sequence[RankProgress]) -> tuple[TimedOutCall, ...]:
    """Each call once; where its line does not tell the group, with that of the rank's own line on how far it had come,
    or of the others' lines, if there is one alone.
    """
    rows: dict[tuple[int, str, int], TimedOutCall] = {}
    for call in calls:
        waiting = [row for row in progress if row.completed < call.number <= row.enqueued]
        own = {row.group for row in waiting if row.rank == call.rank} or {row.group for row in waiting}
        group = call.group or (min(own) if len(own) == 1 else "")
        rows.setdefault((call.rank, group, call.number), call._replace(group=group))
    return tuple(sorted(rows.values(), key=lambda row: (row.group not in WHOLE, row.group, row.number, row.rank)))


def watchdog_verdict(report: WatchdogReport) -> WatchdogVerdict:
    """Who hangs the job, as far as these lines prove it."""
    if report.late:
        return WatchdogVerdict("missing", report.late)
    if report.mismatches and not report.timeouts:
        return _of_mismatches(report.mismatches)
    groups: dict[str, list[TimedOutCall]] = defaultdict(list)
    for call in report.timeouts:
        groups[call.group].append(call)
    verdicts = [_of_group(group, calls, report) for group, calls in groups.items()]
    order = ("missing", "operation", "size", "apart", "silent", "unknown")
    return min(verdicts, key=lambda verdict: order.index(verdict.reason))


def _of_mismatches(rows: Sequence[CallMismatch]) -> WatchdogVerdict:
    reason = "operation" if len({row.operation for row in rows}) > 1 else "size"
    if len({row.number for row in rows}) > 1:
        reason = "apart"
    return WatchdogVerdict(reason, (), tuple(sorted({row.rank for row in rows})))


def _of_group(group: str, calls: Sequence[TimedOutCall], report: WatchdogReport) -> WatchdogVerdict:
    by_rank: Mapping[int, int] = {call.rank: call.number for call in reversed(calls)}
    first = min(calls, key=lambda call: call.number)
    if len(by_rank) < len({(call.rank, call.number) for call in calls}):
        return WatchdogVerdict("unknown", call=first)  # of several groups that the lines do not tell apart
    newest = max(by_rank.values())
    behind = tuple(row.rank for row in report.progress if row.group == group and row.enqueued < newest)
    if behind:
        waited = max(calls, key=lambda call: call.number)
        sure = group in WHOLE  # another group may have the same name
        return WatchdogVerdict("missing", behind if sure else (), () if sure else behind, waited)
    if len(set(by_rank.values())) > 1:
        lowest = tuple(sorted(rank for rank, number in by_rank.items() if number == first.number))
        return WatchdogVerdict("apart", (), lowest, first)
    for reason, value in (("operation", _operation), ("size", _elements)):
        parted: dict[object, list[int]] = defaultdict(list)
        for call in calls:
            parted[value(call)].append(call.rank)
        if len(parted) > 1:
            return _parted(reason, list(parted.values()), first)
    highest = max(report.ranks)
    silent = tuple(rank for rank in range(highest + 1) if rank not in report.ranks) if highest < 1 << 20 else ()
    if silent and group in WHOLE:
        return WatchdogVerdict("silent", (), silent, first)
    return WatchdogVerdict("unknown", call=first)


def _operation(call: TimedOutCall) -> object:
    return call.operation


def _elements(call: TimedOutCall) -> object:
    """What all ranks of a call must have alike; a root of a gather or scatter has more, and all-to-all may differ."""
    uneven = any(word in call.operation for word in ("ALLTOALL", "GATHER", "SCATTER", "COALESCED", "SEND", "RECV"))
    return () if uneven and not call.operation.startswith(("_ALLGATHER", "_REDUCE_SCATTER")) else call.elements


def _parted(reason: str, shares: list[list[int]], call: TimedOutCall) -> WatchdogVerdict:
    """The fewer are to blame, where they are fewer; of two halves either may be."""
    shares.sort(key=len)
    few = shares[0]
    if len(shares) == 2 and len(few) < len(shares[1]):
        return WatchdogVerdict(reason, tuple(sorted(few)), call=call)
    return WatchdogVerdict(reason, (), tuple(sorted(rank for share in shares for rank in share)), call)
