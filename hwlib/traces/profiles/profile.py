"""One rank's trace as columns of whole nanoseconds: what its device ran, when the host launched it, steps and shapes.

Microseconds since 1970 have no room for nanoseconds in a float; whole numbers of nanoseconds add up exactly.
"""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hwlib.traces.profiles.kernels import OpWork, op_work
from hwlib.traces.profiles.stream import TraceStream
from hwlib.traces.reader import CALLS, ELEMENT, FORMER, operation_of

__all__ = ["CollectiveCall", "DeviceProfile", "ProfiledRank", "profile_rank"]

MOST = 1 << 61  # ns: 73 years
NAME = 300  # characters of a name that are looked at
NESTED = 4  # operators of known work within each other, at most: aten::linear has aten::addmm within
STEP = "ProfilerStep"
LOADER = "DataLoader"
COMPUTE, COMMUNICATION, COPY = range(3)
RANGES = ("cuda_profiler_range", "hip_profiler_range")
PEERS = {"send": "Dst Rank", "recv": "Src Rank"}
UNKNOWN = "no kernel, but"  # a device has worked, and what it did was not recorded
OTHER_DEVICES = ("mtia_ccp_events", "privateuse1_runtime", "xpu_runtime")


@dataclass(frozen=True, slots=True)
class CollectiveCall:
    """A kernel of communication: operation, group by name and ranks, number there (-1 if not recorded), bytes, ns.

    Of a message, `way` is "send" or "recv" and `peer` the rank that it goes to or comes from, -1 if not recorded.
    """

    operation: str
    group: str
    number: int
    bytes: float
    start: int
    end: int
    way: str = ""
    peer: int = -1


@dataclass(frozen=True)
class DeviceProfile:
    """What one device ran: a row a kernel or copy, unsorted; times in ns. `launched` is -1 where it is not known."""

    device: int
    kinds: bytearray = field(default_factory=bytearray)
    starts: array = field(default_factory=lambda: array("q"))
    ends: array = field(default_factory=lambda: array("q"))
    names: array = field(default_factory=lambda: array("l"))
    correlations: array = field(default_factory=lambda: array("q"))
    operators: array = field(default_factory=lambda: array("q"))
    collectives: list[CollectiveCall] = field(default_factory=list)

    def intervals(self, kind: int) -> list[tuple[int, int]]:
        """The rows of a kind as (start, end)."""
        return [(start, end) for own, start, end in zip(self.kinds, self.starts, self.ends, strict=True) if own == kind]


@dataclass(frozen=True)
class ProfiledRank:
    """A rank's trace; `rank` is None where it does not say, `unread` counts events whose times are no times."""

    rank: int | None
    world: int | None
    chips: Mapping[int, str]
    devices: Mapping[int, DeviceProfile]
    names: tuple[str, ...]
    launches: Mapping[int, int]
    steps: tuple[tuple[str, int, int], ...]
    loading: tuple[tuple[int, int], ...]
    work: Mapping[int, OpWork]
    shapes: bool
    counts: Mapping[str, int]
    unread: int
    events: int
    cut: str
    note: str


def profile_rank(chunks: Iterable[str]) -> ProfiledRank:
    """Read one rank's trace from the pieces of its text, in any form that torch.profiler has written.

    What is cut or damaged is read as far as it goes. Raises ValueError for a text that is no trace, and for one in
    which no device and no operator has worked.
    """
    stream = TraceStream(chunks)
    reader = _Reader()
    take = reader.takers.get
    for event in stream:
        if type(event) is dict and event.get("ph") == "X":
            category = event.get("cat")
            taker = take(category) if type(category) is str else None
            if taker is not None:
                taker(event)
    return reader.finished(stream)


def _ns(value: Any, least: int) -> int | None:
    """Microseconds as whole ns; None for what is no time."""
    kind = type(value)
    if kind is int and least <= value < MOST // 1000:
        return value * 1000
    if kind is float and least <= value < MOST / 1000:
        return round(value * 1000)
    return None


class _Calls:
    """The host's calls that launch something, and the operators of known work, by thread: who launched what.

    Until PyTorch 2.0 a kernel did not name its operator, but the call that launched it lies within that in time.
    """

    def __init__(self) -> None:
        self.threads: dict[str, int] = {}
        self.correlations, self.starts, self.ends, self.on = (array("q") for _ in range(4))
        self.operators: dict[int, list[tuple[int, int, int]]] = defaultdict(list)

    def thread(self, name: Any) -> int:
        return self.threads.setdefault(str(name)[:40], len(self.threads))

    def add(self, correlation: int, span: tuple[int, int], thread: Any) -> None:
        self.correlations.append(correlation)
        self.starts.append(span[0])
        self.ends.append(span[1])
        self.on.append(self.thread(thread))

    def operator(self, number: int, span: tuple[int, int], thread: Any) -> None:
        self.operators[self.thread(thread)].append((*span, number))

    def launches(self) -> dict[int, int]:
        """The end of each call by its correlation."""
        return dict(zip(self.correlations, self.ends, strict=True))

    def link(self, device: DeviceProfile) -> None:
        """Give each row of a device the operator within which it was launched."""
        calls = {correlation: place for place, correlation in enumerate(self.correlations)}
        starts: dict[int, list[int]] = {}
        for thread, own in self.operators.items():
            own.sort()
            starts[thread] = [start for start, _, _ in own]
        for row, correlation in enumerate(device.correlations):
            place = calls.get(correlation)
            if place is not None:
                device.operators[row] = self._around(self.starts[place], self.on[place], starts)

    def _around(self, time: int, thread: int, starts: Mapping[int, list[int]]) -> int:
        """The innermost operator of a thread that is open at a time, -1 for none; at most a few lie in each other."""
        if thread not in starts:
            return -1
        last = bisect_right(starts[thread], time)
        for _, end, number in reversed(self.operators[thread][max(0, last - NESTED) : last]):
            if end >= time:
                return number
        return -1


class _Reader:
    """What is known of a trace while its events come in."""

    def __init__(self) -> None:
        self.devices: dict[int, DeviceProfile] = {}
        self.host = DeviceProfile(-1)
        self.numbers: dict[str, int] = {}
        self.calls = _Calls()
        self.steps: list[tuple[str, int, int]] = []
        self.loading: list[tuple[int, int]] = []
        self.work: dict[int, OpWork] = {}
        self.known: dict[tuple[str, str, str], OpWork | None] = {}
        self.shapes = False
        self.counts: dict[str, int] = {}
        self.unread = 0
        takers: dict[str, Callable[[dict[str, Any]], None]] = {
            "kernel": self.kernel,
            "gpu_memcpy": self.copy,
            "gpu_memset": self.copy,
            "cuda_runtime": self.runtime,
            "cuda_driver": self.runtime,
            "cpu_op": self.operator,
            "user_annotation": self.annotation,
        }
        counted = ("python_function", "gpu_user_annotation", *RANGES, *OTHER_DEVICES)
        takers |= {category: self._counter(category) for category in counted}
        self.takers = takers | {former: takers[today] for former, today in FORMER.items()}

    def _counter(self, category: str) -> Callable[[dict[str, Any]], None]:
        def counted(_event: dict[str, Any]) -> None:
            self.counts[category] = self.counts.get(category, 0) + 1

        return counted

    def span(self, event: dict[str, Any]) -> tuple[int, int] | None:
        """Start and end; None, and counted, for what has none."""
        start, length = _ns(event.get("ts"), -MOST // 1000), _ns(event.get("dur"), 0)
        if start is None or length is None:
            self.unread += 1
            return None
        return start, start + length

    def row(self, profile: DeviceProfile, kind: int, event: dict[str, Any], span: tuple[int, int]) -> None:
        name = str(event.get("name", ""))[:NAME]
        profile.kinds.append(kind)
        profile.starts.append(span[0])
        profile.ends.append(span[1])
        profile.names.append(self.numbers.setdefault(name, len(self.numbers)))
        args = event.get("args")
        about = args if type(args) is dict else {}
        profile.correlations.append(_number(about.get("correlation")))
        profile.operators.append(_number(about.get("External id", about.get("external id"))))
        if kind == COMMUNICATION:
            profile.collectives.append(_collective(name, about, profile.device, event.get("tid"), span))

    def device(self, event: dict[str, Any]) -> DeviceProfile:
        args = event.get("args")
        number = _number(args.get("device", event.get("pid"))) if type(args) is dict else _number(event.get("pid"))
        profile = self.devices.get(number)
        if profile is None:
            profile = self.devices[number] = DeviceProfile(number)
        return profile

    def kernel(self, event: dict[str, Any]) -> None:
        span = self.span(event)
        if span is not None:
            kind = COMMUNICATION if CALLS.match(str(event.get("name", ""))[:NAME]) else COMPUTE
            self.row(self.device(event), kind, event, span)

    def copy(self, event: dict[str, Any]) -> None:
        span = self.span(event)
        if span is not None:
            self.row(self.device(event), COPY, event, span)

    def runtime(self, event: dict[str, Any]) -> None:
        self.counts["runtime"] = self.counts.get("runtime", 0) + 1
        args = event.get("args")
        correlation = _number(args.get("correlation")) if type(args) is dict else -1
        if correlation >= 0 and (span := self.span(event)) is not None:
            self.calls.add(correlation, span, event.get("tid"))

    def operator(self, event: dict[str, Any]) -> None:
        """An operator of the host: its shapes, and its time in case that the trace has no device."""
        self.counts["operators"] = self.counts.get("operators", 0) + 1
        name, args = event.get("name"), event.get("args")
        if type(name) is not str:
            return
        if type(args) is dict and "Input Dims" in args:
            self.shapes = True
            self._work(name, args, event)
        if not self.devices and not name.startswith(("c10d::", "record_param_comms")):
            span = self.span(event)
            if span is not None:
                self.row(self.host, COMPUTE, event, span)

    def _work(self, name: str, args: dict[str, Any], event: dict[str, Any]) -> None:
        dims, types = args["Input Dims"], args.get("Input type", args.get("Input Type"))
        key = name, repr(dims)[:2000], repr(types)[:1000]
        if key not in self.known:
            self.known[key] = op_work(name, dims, types)
        work, number = self.known[key], _number(args.get("External id", args.get("external id")))
        if work is not None and number >= 0:
            self.work[number] = work
            span = self.span(event)
            if span is not None:
                self.calls.operator(number, span, event.get("tid"))

    def annotation(self, event: dict[str, Any]) -> None:
        self.counts["annotations"] = self.counts.get("annotations", 0) + 1
        name = event.get("name")
        if type(name) is not str:
            return
        if name.startswith("gloo:"):
            span = self.span(event)
            if span is not None:
                self.row(self.host, COMMUNICATION, event, span)
        elif STEP in name or LOADER in name:
            self._marked(name, event)

    def _marked(self, name: str, event: dict[str, Any]) -> None:
        span = self.span(event)
        if span is None:
            return
        if name.startswith(STEP):
            self.steps.append((name.partition("#")[2][:20], *span))
        elif LOADER in name:
            self.loading.append(span)

    def finished(self, stream: TraceStream) -> ProfiledRank:
        devices, note = self.devices, ""
        launches = self.calls.launches()
        for device in devices.values():
            if self.work and not any(operator in self.work for operator in device.operators):
                self.calls.link(device)
        if not devices:
            note = self._without_device(stream)
            devices = {-1: DeviceProfile(-1) if note.startswith(UNKNOWN) else self.host}
        head = stream.head
        info = head.get("distributedInfo")
        about: Mapping[str, Any] = info if isinstance(info, dict) else {}
        return ProfiledRank(
            _rank(about.get("rank")),
            _rank(about.get("world_size")),
            dict(_chips(head.get("deviceProperties"))),
            devices,
            tuple(self.numbers),
            launches,
            tuple(sorted(set(self.steps), key=lambda step: step[1])),
            tuple(self.loading),
            self.work,
            self.shapes,
            self.counts,
            self.unread,
            stream.count,
            stream.cut,
            note,
        )

    def _without_device(self, stream: TraceStream) -> str:
        """What a trace without a kernel stands for; raises ValueError if nothing in it can be added up."""
        ranges = sum(self.counts.get(category, 0) for category in RANGES)
        if ranges:
            return (
                f"no kernel, but {ranges:,} ranges of CUPTI's profiler, which runs kernels one by one: nothing of the "
                "device's time is known; record with activities=[CPU, CUDA] and without experimental_config"
            )
        if self.counts.get("runtime"):
            return (
                f"no kernel, but {self.counts['runtime']:,} calls of the GPU's runtime: nothing of the device was "
                "recorded (activities without CUDA, or CUPTI was in use)"
            )
        if not len(self.host.kinds):
            raise ValueError(
                f"no kernel and no operator with a time among {stream.count:,} events: no trace of torch.profiler"
                + (f"; {stream.cut}" if stream.cut else "")
            )
        others = [category for category in OTHER_DEVICES if self.counts.get(category)]
        if others:
            return f"the device's events ({', '.join(others)}) are not known: operators of the host stand for its work"
        return "no device in this trace: operators of the CPU are its compute, gloo's calls its communication"


def _number(value: Any) -> int:
    """A number that names something, -1 for none."""
    return value if type(value) is int and 0 <= value < MOST else -1


def _rank(value: Any) -> int | None:
    number = _number(value)
    return number if 0 <= number < 1 << 24 else None


def _chips(properties: Any) -> Iterable[tuple[int, str]]:
    for row in properties if isinstance(properties, list) else ():
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            yield _number(row.get("id")), row["name"][:100]


def _collective(name: str, args: Mapping[str, Any], device: int, thread: Any, span: tuple[int, int]) -> CollectiveCall:
    """What a kernel of NCCL says of itself; before PyTorch 2.3 only its name and its stream."""
    title, group = args.get("Collective name"), args.get("Process Group Name")
    if isinstance(group, str):
        ranks = args.get("Process Group Ranks")
        group = f"{group} {ranks}" if isinstance(ranks, str) else group
    else:
        group = f"stream {str(args.get('stream', thread))[:40]}" if device >= 0 else ""
    sent, got = (_number(args.get(f"{way} msg nelems")) for way in ("In", "Out"))
    size = ELEMENT.get(str(args.get("dtype", "")), 0)
    operation = operation_of(title[:NAME] if isinstance(title, str) else "") or operation_of(name[:NAME])
    way = title if isinstance(title, str) and title in PEERS else ""
    peer = _peer(args.get(PEERS[way])) if way else -1
    return CollectiveCall(operation, group, _number(args.get("Seq")), float(max(sent, got, 0) * size), *span, way, peer)


def _peer(value: Any) -> int:
    """A rank, written as a number or as its text."""
    return (
        int(value)
        if type(value) is str and value.isascii() and value.isdecimal() and len(value) < 9
        else _number(value)
    )
