"""Where a rank's time went, and who waited for whom: computed from the traces of all ranks of a job."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from hwlib.traces.intervals import Intervals, length, minus, overlap, union
from hwlib.traces.reader import Trace, TraceEvent

__all__ = [
    "Meeting",
    "TraceTimes",
    "align",
    "exposed_intervals",
    "job_span",
    "meetings",
    "trace_times",
    "waits_between",
]


class TraceTimes(NamedTuple):
    """Seconds of one rank. `compute` + `exposed` + `copies` + `idle` make up `span`.

    `communication` is all time with a collective in flight, `exposed` that without a kernel beside it, `copies` that
    with nothing but a copy; `host` is the part of `idle` in which the next kernel was not in the queue yet.
    """

    rank: int
    span: float
    compute: float
    communication: float
    exposed: float
    copies: float
    idle: float
    host: float


class Meeting(NamedTuple):
    """One collective of several ranks: when each arrived (its kernel began) and left, in seconds.

    The first to arrive spin inside their kernel until the last is there: that is the wait; what follows is the
    transfer.
    """

    operation: str
    group: str
    number: int
    bytes: float
    arrivals: Mapping[int, float]
    ends: Mapping[int, float]

    @property
    def last(self) -> int:
        """The rank that arrived last: the others waited for it."""
        return max(self.arrivals, key=lambda rank: (self.arrivals[rank], -rank))

    @property
    def waits(self) -> dict[int, float]:
        """Seconds that each rank waited for the last one."""
        return {rank: self.arrivals[self.last] - start for rank, start in self.arrivals.items()}

    @property
    def transfer(self) -> float:
        """Seconds from the last arrival to the last end: the collective itself."""
        return max(self.ends.values()) - self.arrivals[self.last]


def trace_times(trace: Trace, span: tuple[float, float] | None = None) -> TraceTimes:
    """Where one rank's device spent its time, from its first to its last event unless a span (s) is given.

    Raises ValueError for a trace without anything on a device.
    """
    work = trace.of("compute", "communication", "copy")
    if not work:
        raise ValueError(f"the trace of rank {trace.rank} has nothing on a device")
    window = [span or (min(e.start for e in work), max(e.end for e in work))]
    compute, sent, copied = (overlap(_times(trace, kind), window) for kind in ("compute", "communication", "copy"))
    busy = union([*compute, *sent, *copied])
    idle = minus(window, busy)
    launched = _launches(work)
    late = [(start, min(max(launched[end], start), end)) for start, end in idle if end in launched]
    return TraceTimes(
        trace.rank,
        length(window),
        length(compute),
        length(sent),
        length(minus(sent, compute)),
        length(minus(copied, [*compute, *sent])),
        length(idle),
        length(late),
    )


def job_span(traces: Iterable[Trace]) -> tuple[float, float]:
    """From the first start to the last end on any rank, hosts included: the window in which ranks can be compared."""
    spans = [trace.span for trace in traces]
    return min(start for start, _ in spans), max(end for _, end in spans)


def exposed_intervals(trace: Trace) -> Intervals:
    """The times (s) with a collective in flight and no kernel beside it."""
    return minus(_times(trace, "communication"), _times(trace, "compute"))


def _times(trace: Trace, kind: str) -> Intervals:
    return union((event.start, event.end) for event in trace.of(kind))


def _launches(work: Iterable[TraceEvent]) -> dict[float, float]:
    """By start on the device, when the earliest launched of the events that begin then was put into the queue."""
    launches: dict[float, float] = {}
    for event in work:
        if event.launched is not None:
            launches[event.start] = min(event.launched, launches.get(event.start, event.launched))
    return launches


def meetings(traces: Iterable[Trace]) -> tuple[Meeting, ...]:
    """The collectives of several ranks' traces, matched by group and number, by time.

    Only those that two ranks or more have are here. Groups of one name are one group; where each replica calls its
    group by the same name, the traces of one replica must be given at a time. The clocks must agree: see `align`.
    """
    events: dict[tuple[str, int], dict[int, list]] = defaultdict(lambda: defaultdict(list))
    for trace in traces:
        for event in trace.of("communication"):
            events[event.group, event.number][trace.rank].append(event)
    met = [
        Meeting(
            next(iter(ranks.values()))[0].operation,
            group,
            number,
            max(e.bytes for own in ranks.values() for e in own),
            {rank: own[0].start for rank, own in ranks.items()},
            {rank: own[-1].end for rank, own in ranks.items()},
        )
        for (group, number), ranks in events.items()
        if len(ranks) > 1
    ]
    return tuple(sorted(met, key=lambda one: max(one.arrivals.values())))


def waits_between(traces: Iterable[Trace]) -> dict[tuple[int, int], float]:
    """Seconds that a rank waited for another with no kernel beside, by (who waited, for whom), largest first.

    A wait ends with the arrival of the last rank of a collective. What a rank waits at two collectives at once for the
    same rank counts once; waits for two ranks at once count for each.
    """
    traces = list(traces)
    compute = {trace.rank: _times(trace, "compute") for trace in traces}
    waiting: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for meeting in meetings(traces):
        until = meeting.arrivals[meeting.last]
        for rank, start in meeting.arrivals.items():
            if start < until:
                waiting[rank, meeting.last].append((start, until))
    waits = {pair: length(minus(times, compute[pair[0]])) for pair, times in waiting.items()}
    return dict(sorted(((pair, wait) for pair, wait in waits.items() if wait > 0), key=lambda one: (-one[1], one[0])))


def align(traces: Sequence[Trace]) -> tuple[Trace, ...]:
    """The traces on the clock of the first: two nodes' clocks differ by more than a collective takes.

    All ranks leave a collective within some microseconds of each other, so a rank's clock is shifted by the median
    difference of its ends to those of a rank that is already aligned. Ranks that share no collective with any of these
    stay as they are.
    """
    done, waiting = [traces[0]], list(traces[1:])
    while waiting:
        ends = {(e.group, e.number): e.end for trace in done for e in trace.of("communication")}
        shifts = {
            trace.rank: median(ends[e.group, e.number] - e.end for e in own)
            for trace in waiting
            if (own := [e for e in trace.of("communication") if (e.group, e.number) in ends])
        }
        done += [
            _shifted(trace, shifts.get(trace.rank, 0.0)) for trace in waiting if not shifts or trace.rank in shifts
        ]
        waiting = [trace for trace in waiting if shifts and trace.rank not in shifts]
    order = [trace.rank for trace in traces]
    return tuple(sorted(done, key=lambda trace: order.index(trace.rank)))


def _shifted(trace: Trace, by: float) -> Trace:
    return Trace(
        trace.rank,
        tuple(
            e._replace(start=e.start + by, end=e.end + by, launched=None if e.launched is None else e.launched + by)
            for e in trace.events
        ),
    )
