"""Where one device's time went, kernel by kernel and step by step, from a rank's profile."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from hwlib.specs import Accelerator
from hwlib.specs.card import card_of
from hwlib.traces.intervals import Intervals, length, minus, overlap, union
from hwlib.traces.profiles.kernels import OpWork, kernel_class
from hwlib.traces.profiles.profile import (
    COMMUNICATION,
    COMPUTE,
    COPY,
    CollectiveCall,
    DeviceProfile,
    ProfiledRank,
)

__all__ = ["Busy", "DeviceTimes", "KernelRow", "RankTimes", "StepTimes", "rank_times"]

SECONDS = 1e-9
PAUSE = 50_000_000  # ns: a host that launches nothing for so long is at something else than the next launch
STEPS = 10_000


class Busy:
    """Sorted intervals with their running sum: how much of them lies between two times, without looking at all."""

    def __init__(self, intervals: Intervals):
        self.starts = [start for start, _ in intervals]
        self.ends = [end for _, end in intervals]
        self.sums = [0, *accumulate(int(end - start) for start, end in intervals)]

    def until(self, time: float) -> float:
        """The time in the intervals before this one."""
        index = bisect_right(self.starts, time)
        if not index:
            return 0
        return self.sums[index] - max(0, self.ends[index - 1] - time)

    def between(self, start: float, end: float) -> float:
        """The time in the intervals between two times."""
        return self.until(end) - self.until(start)


class KernelRow(NamedTuple):
    """Kernels of one name, or of a class (`name` is then the class): seconds in all, and how many there were.

    `timed` is the part of the seconds whose operators' shapes are known, and `least` what the roofline gives those.
    """

    name: str
    kind: str
    calls: int
    seconds: float
    timed: float
    least: float

    @property
    def share(self) -> float | None:
        """Of the roofline; None where no shape is known."""
        return self.least / self.timed if self.timed else None


class StepTimes(NamedTuple):
    """One ProfilerStep, seconds: its host's time from begin to end, and of its device compute and exposed transfers."""

    number: str
    seconds: float
    compute: float
    exposed: float


class RankTimes(NamedTuple):
    """Seconds of one device: `compute` + `exposed` + `copies` + `idle` make up `span`, first event to last.

    `launch` is the part of `idle` in which the next kernel was not in the queue yet, `pauses` what of that is in gaps
    of PAUSE or more (start-up, compilation, a checkpoint), `loading` the part of `idle` in which the host waited for
    the next batch (annotations of the DataLoader).
    """

    span: float
    compute: float
    communication: float
    exposed: float
    copies: float
    idle: float
    launch: float
    loading: float
    pauses: float = 0.0


@dataclass(frozen=True)
class DeviceTimes:
    """A device of a rank with all that a job's comparison needs.

    Times of `collectives` and `computing` are in ns; `fetching` are the seconds that the host spent in the DataLoader,
    `counts` the events by kind that are not the device's own work.
    """

    rank: int | None
    world: int | None
    device: int
    chip: str
    known_chip: str
    times: RankTimes
    classes: tuple[KernelRow, ...]
    kernels: tuple[KernelRow, ...]
    steps: tuple[StepTimes, ...]
    collectives: tuple[CollectiveCall, ...]
    computing: Busy
    fetching: float
    shapes: bool
    counts: Mapping[str, int]
    events: int
    unread: int
    notes: tuple[str, ...]
    cut: bool


def rank_times(profile: ProfiledRank) -> tuple[DeviceTimes, ...]:
    """Where the time of each device of a rank went, by the number of the device."""
    return tuple(_device_times(profile, device) for _, device in sorted(profile.devices.items()))


def _device_times(profile: ProfiledRank, device: DeviceProfile) -> DeviceTimes:
    chip = profile.chips.get(device.device) or next(iter(profile.chips.values()), "")
    card = card_of(chip) if chip and device.device >= 0 else None
    compute, sent, copied = (union(device.intervals(kind)) for kind in (COMPUTE, COMMUNICATION, COPY))
    busy = union([*compute, *sent, *copied])
    window = [(busy[0][0], busy[-1][1])] if busy else []
    exposed = minus(sent, compute)
    times = _times(window, compute, sent, exposed, copied, minus(window, busy), profile, device)
    names, classes = _kernel_rows(profile, device, card)
    return DeviceTimes(
        profile.rank,
        profile.world,
        device.device,
        chip,
        card.key if card else "",
        times,
        classes,
        names,
        tuple(_steps(profile.steps, Busy(compute), Busy(exposed))),
        tuple(device.collectives),
        Busy(compute),
        length(profile.loading) * SECONDS,
        profile.shapes,
        profile.counts,
        profile.events,
        profile.unread,
        tuple(note for note in (profile.note, profile.cut) if note),
        bool(profile.cut),
    )


def _times(
    window: Iterable[tuple[float, float]],
    compute: Intervals,
    sent: Intervals,
    exposed: Intervals,
    copied: Intervals,
    idle: Intervals,
    profile: ProfiledRank,
    device: DeviceProfile,
) -> RankTimes:
    launched = _launched(profile.launches, device)
    late = [(start, min(max(launched[end], start), end)) for start, end in idle if end in launched]
    pauses = [(start, end) for start, end in late if end - start >= PAUSE]
    pausing = length(pauses) - length(overlap(pauses, profile.loading))
    parts = (window, compute, sent, exposed, minus(copied, [*compute, *sent]), idle, late)
    times = RankTimes(*(length(part) * SECONDS for part in (*parts, overlap(idle, profile.loading))))
    return times._replace(pauses=pausing * SECONDS)


def _launched(launches: Mapping[int, int], device: DeviceProfile) -> dict[float, int]:
    """By start on the device, the earliest end of a host's call that put one of the events there into the queue."""
    ends: dict[float, int] = {}
    for start, correlation in zip(device.starts, device.correlations, strict=True):
        end = launches.get(correlation)
        if end is not None:
            ends[start] = min(end, ends.get(start, end))
    return ends


def _kernel_rows(
    profile: ProfiledRank, device: DeviceProfile, card: Accelerator | None
) -> tuple[tuple[KernelRow, ...], tuple[KernelRow, ...]]:
    """The kernels by name, and by class; longest first."""
    timed = _TimedWork(profile, device, card)
    least = timed.shares(device)
    totals: dict[int, list[float]] = defaultdict(lambda: [0, 0, 0.0, 0.0, 0])
    columns = zip(device.names, device.kinds, device.starts, device.ends, device.operators, strict=True)
    for name, kind, start, end, operator in columns:
        total = totals[name]
        total[0] += 1
        total[1] += end - start
        total[4] = kind
        if operator in least and timed.counts(operator, name):
            total[2] += (end - start) * SECONDS
            total[3] += (end - start) * SECONDS * least[operator]
    names = [
        KernelRow(
            profile.names[name], _kind(profile.names[name], int(kind)), int(calls), time * SECONDS, timed, shortest
        )
        for name, (calls, time, timed, shortest, kind) in totals.items()
    ]
    classes: dict[str, list[KernelRow]] = defaultdict(list)
    for row in names:
        classes[row.kind].append(row)
    return _longest(names), _longest(_together(kind, rows) for kind, rows in classes.items())


def _kind(name: str, kind: int) -> str:
    if kind == COMMUNICATION:
        return "communication"
    return "copy" if kind == COPY else kernel_class(name)


def _longest(rows: Iterable[KernelRow]) -> tuple[KernelRow, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.name)))


def _together(kind: str, rows: Iterable[KernelRow]) -> KernelRow:
    calls, seconds, timed, least = zip(*(row[2:] for row in rows), strict=True)
    return KernelRow(kind, kind, sum(calls), sum(seconds), sum(timed), sum(least))


class _TimedWork:
    """The operators whose least time is known on this chip, and which of their kernels do the work."""

    def __init__(self, profile: ProfiledRank, device: DeviceProfile, card: Accelerator | None):
        known = profile.work.items() if card else ()
        self.seconds = {operator: least for operator, work in known if (least := _least(work, card)) is not None}
        self.products = {operator for operator in self.seconds if profile.work[operator].flops}
        names = {name for name, kind in zip(device.names, device.kinds, strict=True) if kind == COMPUTE}
        self.pointwise = {name for name in names if kernel_class(profile.names[name]) == "elementwise"}
        self.names = names

    def counts(self, operator: int, name: int) -> bool:
        """Whether a kernel does its operator's own work: a bias that is copied before is not the product."""
        own = operator in self.seconds and name in self.names
        return own and not (operator in self.products and name in self.pointwise)

    def shares(self, device: DeviceProfile) -> dict[int, float]:
        """By operator the roofline's time over the time of the kernels that do its work."""
        sums: dict[int, int] = defaultdict(int)
        for name, start, end, operator in zip(device.names, device.starts, device.ends, device.operators, strict=True):
            if self.counts(operator, name):
                sums[operator] += end - start
        return {operator: self.seconds[operator] / (time * SECONDS) for operator, time in sums.items() if time > 0}


def _least(work: OpWork, card: Accelerator | None) -> float | None:
    """The roofline's seconds, None where a rate is not known: products of float32 may run as TF32, or not."""
    if card is None or not card.hbm_bandwidth:
        return None
    memory = work.bytes / card.hbm_bandwidth
    if not work.flops:
        return memory
    if work.rate in ("", "fp32"):
        return None
    try:
        return max(memory, work.flops / card.flops(work.rate))
    except ValueError:
        return None


def _steps(steps: Iterable[tuple[str, int, int]], computing: Busy, exposed: Busy) -> Iterable[StepTimes]:
    for number, start, end in tuple(steps)[:STEPS]:
        parts = (end - start, computing.between(start, end), exposed.between(start, end))
        yield StepTimes(number, *(part * SECONDS for part in parts))
