"""Which ranks hang a job: who did not enter a call that others wait in, or entered another, from all ranks' dumps."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hwlib.traces.hangs.dumps import WORLD, FlightCall, FlightDump, FlightGroup

__all__ = ["Blame", "JobCalls", "MetCall", "blame", "by_name", "by_time", "job_calls", "other_line"]

OWN_INPUTS = ("all_to_all", "scatter", "coalesced")  # calls for which ranks may send different sizes
OWN_OUTPUTS = ("all_to_all", "gather", "coalesced")


class MetCall(NamedTuple):
    """A call of a group by its number: what each rank that entered it called."""

    group: FlightGroup
    number: int
    calls: Mapping[int, FlightCall]

    @property
    def pending(self) -> bool:
        """Whether it is open on any rank."""
        return any(call.open for call in self.calls.values())


class JobCalls(NamedTuple):
    """The calls of a job that some rank has not completed, and in which call each rank waits: its first open one."""

    dumps: Mapping[int, FlightDump]
    pending: tuple[MetCall, ...]
    waits: Mapping[int, FlightCall]


class Blame(NamedTuple):
    """Why a job hangs: `ranks` did not call what the others of the group called under this number.

    `reason` is "missing" (they have not entered it and wait nowhere else), "operation", "size" or "dtype" (they called
    something else), "stuck" (all are in it, with the same arguments: the call itself does not end) or "circle" (each
    waits in some call, and numbers and shapes do not tell whose order is wrong): then `ranks` is empty.
    """

    reason: str
    met: MetCall
    usual: FlightCall
    ranks: tuple[int, ...]


def by_name(met: MetCall) -> tuple:
    """Order of calls: by the group's name, then its number."""
    return met.group.name, met.number, met.group.ranks


def by_time(met: MetCall) -> tuple:
    """Order of calls: by when the first rank made it."""
    return min(call.created for call in met.calls.values()), met.number, met.group.name, met.group.ranks


def job_calls(dumps: Iterable[FlightDump], order: Callable[[MetCall], tuple] = by_time) -> JobCalls:
    """What a job waits in, from the dumps of its ranks; a group is told apart by its name *and* its ranks."""
    own = {dump.rank: dump for dump in dumps}
    members = _inferred(own)
    calls: dict[tuple[FlightGroup, int], dict[int, FlightCall]] = defaultdict(dict)
    waits: dict[int, FlightCall] = {}
    for rank, dump in own.items():
        counts: Counter[tuple[int, int]] = Counter()
        for call in dump.calls:
            if call.open:
                waits.setdefault(rank, call)
            group, number = _place(call, members, counts, dump.whole)
            if group is not None:
                calls[group, number][rank] = call
    pending = [met for (group, number), ranks in calls.items() if (met := MetCall(group, number, ranks)).pending]
    return JobCalls(own, tuple(sorted(pending, key=order)), waits)


def _place(
    call: FlightCall, members: Mapping[tuple[str, str], tuple[int, ...]], counts: Counter[tuple[int, int]], whole: bool
) -> tuple[FlightGroup | None, int]:
    """The group and the number under which ranks meet in a call; a send and its receive meet in a pair of their own."""
    if call.peer is None:
        return _named(call.group, members), call.number
    if call.peer[0] == call.peer[1]:
        return None, 0
    if not whole and not call.open:
        return None, 0
    counts[call.peer] += 1  # the k-th of a pair: each rank counts its own sends and receives
    sender, receiver = call.peer
    return FlightGroup(call.group.name, f"{sender} to {receiver}", call.peer), counts[call.peer]


def _named(group: FlightGroup, members: Mapping[tuple[str, str], tuple[int, ...]]) -> FlightGroup:
    if group.ranks:
        return group
    return group._replace(ranks=members.get((group.name, group.description), ()))


def _inferred(dumps: Mapping[int, FlightDump]) -> dict[tuple[str, str], tuple[int, ...]]:
    """The ranks of groups whose dumps do not have them: of the whole job all, else those that have called there."""
    members: dict[tuple[str, str], set[int]] = defaultdict(set)
    for rank, dump in dumps.items():
        for group in {call.group for call in dump.calls if not call.group.ranks}:
            members[group.name, group.description].update(dumps if group.description == WORLD else (rank,))
    return {name: tuple(sorted(ranks)) for name, ranks in members.items()}


def blame(job: JobCalls) -> Blame | None:
    """What hangs a job; None if nothing is open.

    Of the open calls the first that differ between ranks decide. A rank that is missing from a call because it waits
    in another is a victim, and only one that waits nowhere is named. Of two kinds of calls under one number the rarer
    is named; where neither is, as in a group of two, all of its ranks are.
    """
    if not job.pending:
        return None
    return _differing(job.pending) or _missing(job) or _stuck(job) or Blame("circle", job.pending[0], _any(job), ())


def _any(job: JobCalls) -> FlightCall:
    return next(iter(job.pending[0].calls.values()))


def _differing(pending: Sequence[MetCall]) -> Blame | None:
    kinds_of: tuple[tuple[str, Callable[[FlightCall], Hashable]], ...] = (
        ("operation", _operation),
        ("size", _size),
        ("dtype", _dtype),
    )
    for reason, kind_of in kinds_of:
        for met in pending:
            kinds = Counter(kind_of(call) for call in met.calls.values())
            if len(kinds) > 1:
                (usual, most), (_, second) = kinds.most_common(2)
                odd = tuple(sorted(r for r, call in met.calls.items() if kind_of(call) != usual or most == second))
                right = next(call for call in met.calls.values() if kind_of(call) == usual)
                return Blame(reason, met, right, odd)
    return None


def _operation(call: FlightCall) -> Hashable:
    return "send and receive" if call.peer else call.operation


def _size(call: FlightCall) -> Hashable:
    if call.peer:
        return call.input_sizes if call.rank == call.peer[0] else call.output_sizes
    plain = call.operation.lower()
    sent = () if any(part in plain for part in OWN_INPUTS) and "reduce_scatter" not in plain else call.input_sizes
    got = () if any(part in plain for part in OWN_OUTPUTS) and "all_gather" not in plain else call.output_sizes
    return sent, got


def _dtype(call: FlightCall) -> Hashable:
    sent, got = call.dtypes
    if call.peer:
        return sent if call.rank == call.peer[0] else got
    plain = call.operation.lower()
    rooted = any(part in plain for part in ("scatter", "gather")) and "reduce_scatter" not in plain
    if rooted and "all_gather" not in plain:
        return ()  # only the root has the list
    return sent, got


def _missing(job: JobCalls) -> Blame | None:
    """Ranks that wait nowhere and are in no ring; one without a dump may have been there, and is blamed last."""
    for dumped in (True, False):
        for met in job.pending:
            absent = (rank for rank in met.group.ranks if rank not in met.calls and rank not in job.waits)
            ranks = [rank for rank in absent if (rank in job.dumps) == dumped]
            if missing := tuple(rank for rank in ranks if not _passed(job.dumps.get(rank), met)):
                return Blame("missing", met, next(iter(met.calls.values())), missing)
    return None


def _passed(dump: FlightDump | None, met: MetCall) -> bool:
    """Whether a rank has entered a call that its ring holds no more."""
    if dump is None or dump.whole:
        return False
    numbers = [call.number for call in dump.calls if call.group.name == met.group.name and call.peer is None]
    return dump.enqueued.get(met.group.name, -1) >= met.number or any(number > met.number for number in numbers)


def _stuck(job: JobCalls) -> Blame | None:
    """The first call in which all of its group wait, and that all made from the same line."""
    for met in job.pending:
        members = met.group.ranks
        inside = members and all(rank in met.calls and job.waits.get(rank) is met.calls[rank] for rank in members)
        if inside and len({call.line for call in met.calls.values()}) == 1:
            return Blame("stuck", met, next(iter(met.calls.values())), ())
    return None


def other_line(job: JobCalls) -> tuple[MetCall, tuple[int, ...]] | None:
    """The first open call that some ranks made from another line than most of its group, and these ranks.

    Equal calls of which a rank left one out have equal numbers and shapes; only the lines of the code tell.
    """
    for met in job.pending:
        lines = Counter(call.line for call in met.calls.values() if call.line)
        if len(lines) > 1:
            (usual, most), (_, second) = lines.most_common(2)
            ranks = (rank for rank, call in met.calls.items() if call.line not in ("", usual) or most == second)
            return met, tuple(sorted(ranks))
    return None
