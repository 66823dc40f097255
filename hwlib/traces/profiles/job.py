"""Who waited for whom, from the collectives and messages that several ranks' traces have in common."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from hwlib.traces.intervals import union
from hwlib.traces.profiles.messages import MESSAGE, Messages, met_messages
from hwlib.traces.profiles.profile import CollectiveCall
from hwlib.traces.profiles.times import SECONDS, DeviceTimes

__all__ = ["GroupRow", "JobWaits", "job_waits"]

Key = tuple[str, int]
AGREE = 50_000  # ns: ends of a collective differ by less, and so may clocks that are left as they are
BUFFERED = 5_000_000  # ns: the same of messages, whose sends may leave before the other side has come


class MetCollective(NamedTuple):
    """One collective of several ranks, on one clock, ns: who arrived when, and left."""

    key: Key
    operation: str
    bytes: float
    starts: Mapping[str, int]
    ends: Mapping[str, int]

    @property
    def last(self) -> str:
        """The rank that arrived last: the others waited for it."""
        return max(self.starts, key=lambda label: (self.starts[label], label))

    @property
    def transfer(self) -> float:
        """Seconds from the last arrival to the last end."""
        return (max(self.ends.values()) - max(self.starts.values())) * SECONDS


class GroupRow(NamedTuple):
    """Collectives of one group, operation and size: how many, and the median seconds of transfer and of waiting."""

    group: str
    operation: str
    bytes: float
    labels: tuple[str, ...]
    calls: int
    transfer: float
    wait: float


class JobWaits(NamedTuple):
    """Seconds of exposed waiting by (who waited, for whom), longest first, and what was compared.

    `caused` are the seconds that all others waited for a rank in collectives (stages of a pipeline wait for each other
    by its schedule), `matched` is the share of the ranks' collectives and
    messages that another rank's trace has too; `shifts` are the seconds that were added to a rank's clock; `unmet`
    counts sends and receives of which no trace has the other side, or which do not tell it.
    """

    waits: Mapping[tuple[str, str], float]
    caused: Mapping[str, float]
    matched: float
    shifts: Mapping[str, float]
    groups: tuple[GroupRow, ...]
    unmet: int = 0


def job_waits(ranks: Mapping[str, DeviceTimes]) -> JobWaits:
    """Who waited for whom, of devices by label; the clocks are aligned by the ends of the collectives that they have in
    common, or of messages where they have none.
    """
    calls = {label: _numbered(own.collectives) for label, own in ranks.items()}
    messages = met_messages({label: (own.rank, own.collectives) for label, own in ranks.items()})
    shifts = _shifts(calls, messages)
    calls = {label: own | messages[label] for label, own in calls.items()}
    unmet = sum(call.operation == MESSAGE for own in ranks.values() for call in own.collectives)
    unmet -= sum(map(len, messages.values()))
    met = list(_met(calls, shifts))
    total = sum(len(own) for own in calls.values()) + unmet
    waits = _waits(met, shifts, ranks)
    ordered = sorted(((pair, wait) for pair, wait in waits.items() if wait > 0), key=lambda row: (-row[1], row[0]))
    caused = dict.fromkeys(ranks, 0.0)
    collectives = [collective for collective in met if collective.operation != MESSAGE]
    for (_, cause), wait in _waits(collectives, shifts, ranks).items():
        caused[cause] += max(wait, 0.0)
    return JobWaits(
        dict(ordered),
        caused,
        sum(len(collective.starts) for collective in met) / total if total else 0.0,
        {label: shift * SECONDS for label, shift in shifts.items()},
        tuple(_groups(met)),
        unmet,
    )


def _waits(
    met: Sequence[MetCollective], shifts: Mapping[str, int], ranks: Mapping[str, DeviceTimes]
) -> dict[tuple[str, str], float]:
    """Seconds that each rank waited for each other one, with no kernel beside."""
    waiting: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for collective in met:
        last = collective.last
        until = collective.starts[last]
        for label, start in collective.starts.items():
            if start < until:
                left = min(until, collective.ends[label])  # a send may leave before the other side has come
                waiting[label, last].append((start - shifts[label], left - shifts[label]))
    return {pair: _exposed(times, ranks[pair[0]]) for pair, times in waiting.items()}


def _exposed(times: Sequence[tuple[float, float]], rank: DeviceTimes) -> float:
    """Of these times of a rank the seconds without a kernel beside."""
    return sum(end - start - rank.computing.between(start, end) for start, end in union(times)) * SECONDS


def _numbered(collectives: Sequence[CollectiveCall]) -> dict[Key, CollectiveCall]:
    """By group and number; counted in the device's order where not every one of a group has a number.

    Kernels of one number, as of calls that were put together, are one: from the first's start to the last one's end.
    """
    groups: dict[str, list[CollectiveCall]] = defaultdict(list)
    for call in collectives:
        if call.operation != MESSAGE:
            groups[call.group].append(call)
    numbered: dict[Key, CollectiveCall] = {}
    for group, own in groups.items():
        own.sort(key=lambda call: call.start)
        recorded = all(call.number >= 0 for call in own)
        for place, call in enumerate(own):
            key = group, call.number if recorded else place
            former = numbered.get(key)
            numbered[key] = call if former is None else _joined(former, call)
    return numbered


def _joined(first: CollectiveCall, second: CollectiveCall) -> CollectiveCall:
    size, end = first.bytes + second.bytes, max(first.end, second.end)
    return CollectiveCall(first.operation, first.group, first.number, size, first.start, end)


def _shifts(calls: Mapping[str, Mapping[Key, CollectiveCall]], messages: Messages) -> dict[str, int]:
    """What to add to each rank's clock: all leave a collective within microseconds of each other."""
    shifts: dict[str, int] = {}
    ends: dict[Key, int] = {}
    waiting = list(calls)
    while waiting:
        best, own, agree = _next(waiting, ((calls, AGREE), (messages, BUFFERED)), ends)
        differences = [ends[key] - own[key].end for key in own.keys() & ends.keys()]
        shift = int(median(differences)) if differences else 0
        shift = shifts[best] = shift if abs(shift) > agree else 0
        for key, call in {**calls[best], **messages[best]}.items():
            ends.setdefault(key, call.end + shift)
        waiting.remove(best)
    return shifts


Kinds = Sequence[tuple[Mapping[str, Mapping[Key, CollectiveCall]], int]]


def _next(
    waiting: Sequence[str], kinds: Kinds, ends: Mapping[Key, int]
) -> tuple[str, Mapping[Key, CollectiveCall], int]:
    """A rank that has something in common with those before, what to align it by, collectives before messages, and
    which difference means nothing.
    """
    for calls, agree in kinds:
        for label in waiting:
            if not ends.keys().isdisjoint(calls[label]):
                return label, calls[label], agree
    return waiting[0], {}, AGREE


def _met(calls: Mapping[str, Mapping[Key, CollectiveCall]], shifts: Mapping[str, int]) -> Iterator[MetCollective]:
    """The collectives that two ranks or more have; of those that do not agree in operation and bytes none."""
    by_key: dict[Key, list[str]] = defaultdict(list)
    for label, own in calls.items():
        for key in own:
            by_key[key].append(label)
    for key, labels in by_key.items():
        first = calls[labels[0]][key]
        same = all(_alike(first, calls[label][key]) for label in labels)
        if len(labels) > 1 and same:
            starts = {label: calls[label][key].start + shifts[label] for label in labels}
            ends = {label: calls[label][key].end + shifts[label] for label in labels}
            yield MetCollective(key, first.operation, first.bytes, starts, ends)


def _alike(first: CollectiveCall, second: CollectiveCall) -> bool:
    """Ranks of an all-to-all may send different sizes, as experts' tokens are."""
    return first.operation == second.operation and (first.bytes == second.bytes or first.operation == "all_to_all")


def _groups(met: Sequence[MetCollective]) -> Iterator[GroupRow]:
    together: dict[tuple[str, str, float], list[MetCollective]] = defaultdict(list)
    for collective in met:
        together[collective.key[0], collective.operation, collective.bytes].append(collective)
    for (group, operation, size), own in together.items():
        labels = sorted({label for collective in own for label in collective.starts})
        waits = [_longest_wait(collective) for collective in own]
        transfers = median(collective.transfer for collective in own)
        yield GroupRow(group, operation, size, tuple(labels), len(own), transfers, median(waits))


def _longest_wait(collective: MetCollective) -> float:
    return (max(collective.starts.values()) - min(collective.starts.values())) * SECONDS
