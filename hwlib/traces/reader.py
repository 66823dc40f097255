"""What torch.profiler exports, read: the events of one rank with their streams, collectives and launches."""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Trace", "TraceError", "TraceEvent", "read_trace"]

US = 1e-6  # a trace counts in microseconds
DEVICE = {"kernel": "compute", "gpu_memcpy": "copy", "gpu_memset": "copy"}
LAUNCHES = {"cuda_runtime", "cuda_driver"}  # the host's calls of the device
HOST = {"cpu_op", "user_annotation", "python_function", *LAUNCHES}
FORMER = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "Runtime": "cuda_runtime"}
FORMER |= {"Operator": "cpu_op"}
"""Categories as PyTorch wrote them until 1.12, by today's."""
CALLS = re.compile(
    r"(?i)(?:void )?(?:nccl|rccl|msccl)"
    r"|.{0,80}(?:cross_device_reduce|nvshmem|deep_ep|(?:one|two)_shot_all_reduce|multimem_)"
)
"""Kernels of communication: of NCCL, RCCL and those that vLLM, DeepEP and PyTorch's symmetric memory have beside."""
OPERATIONS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "sendrecv": "send_recv",
    "barrier": "barrier",
    "reduce": "reduce",
    "send": "send_recv",
    "recv": "send_recv",
}
ELEMENT = {
    "BFloat16": 2,
    "Half": 2,
    "Float": 4,
    "Double": 8,
    "Byte": 1,
    "Char": 1,
    "Int": 4,
    "Long": 8,
    "Bool": 1,
    "Float8_e4m3fn": 1,
    "Float8_e5m2": 1,
}


class TraceError(ValueError):
    """Text that is not a trace of torch.profiler: says what was expected."""


class TraceEvent(NamedTuple):
    """Something with a start and an end, in seconds of the rank's clock.

    `kind` is "compute" (a kernel), "communication" (a kernel of NCCL or RCCL), "copy" or "host". A collective has its
    operation, the name of its group and its number there, counted from the trace's first, and the bytes of its larger
    buffer; `launched` is the end of the host's call that put it into the queue, None if the trace does not tell.
    """

    name: str
    kind: str
    start: float
    end: float
    stream: str
    operation: str = ""
    group: str = ""
    number: int = -1
    bytes: float = 0.0
    launched: float | None = None

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.end - self.start


class Trace(NamedTuple):
    """The events of one rank, by start."""

    rank: int
    events: tuple[TraceEvent, ...]

    def of(self, *kinds: str) -> tuple[TraceEvent, ...]:
        """The events of these kinds, by start."""
        return tuple(event for event in self.events if event.kind in kinds)

    @property
    def span(self) -> tuple[float, float]:
        """From the first event's start to the last one's end."""
        return min(e.start for e in self.events), max(e.end for e in self.events)


def read_trace(source: Mapping[str, Any] | str | PathLike[str], rank: int | None = None) -> Trace:
    """Read the Chrome trace that `torch.profiler` exports: a file, its text, or its JSON.

    Kernels, copies and what the host does are kept; the args that NCCL's kernels have ("Collective name", "Process
    Group Name", "In msg nelems", "Seq") name the collectives. Where "Seq" is missing, as before PyTorch 2.12, a group's
    collectives are counted in their order on the device. A trace without a device (a CPU's own) has its operators as
    compute, and gloo's calls as communication; one with the calls of a device and no kernel, as CUPTI's ranges have it,
    keeps its operators as host. The rank is that of "distributedInfo", unless given.
    Raises TraceError for anything else.

    >>> event = {"ph": "X", "cat": "kernel", "name": "sm90_gemm", "ts": 5, "dur": 3, "pid": 0, "tid": 7}
    >>> read_trace({"traceEvents": [event]}).events[0].kind
    'compute'
    """
    data = _json(source)
    entries = data.get("traceEvents") if isinstance(data, Mapping) else data
    if not isinstance(entries, list | tuple):
        raise TraceError("a Chrome trace was expected: JSON with a list `traceEvents`")
    known = [event for event in map(_slice, entries) if event is not None]
    if not known:
        raise TraceError(f"no slice (ph X) of a kernel or an operator among {len(entries)} events of this trace")
    if rank is None:
        info = data.get("distributedInfo", {}) if isinstance(data, Mapping) else {}
        rank = int(info.get("rank", 0))
    device = any(event["cat"] in DEVICE or event["cat"] in LAUNCHES for event in known)
    launches = {
        event["args"]["correlation"]: (event["ts"] + event["dur"]) * US
        for event in known
        if event["cat"] in LAUNCHES and "correlation" in event.get("args", {})
    }
    events = sorted((_event(event, device, launches) for event in known), key=lambda event: (event.start, -event.end))
    return Trace(rank, tuple(_numbered(events)))


def _json(source: Any) -> Any:
    if isinstance(source, Mapping | list):
        return source
    text: str | bytes = str(source)
    if str(source).lstrip()[:1] not in ("{", "["):
        text = _file(Path(source))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"JSON was expected, got {text[:40]!r}: {error}") from error


def _file(path: Path) -> bytes:
    """The bytes of a file, unpacked if it is gzip, as the profiler's handler writes it."""
    data = path.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise TraceError(f"{path.name}: the compressed data is damaged or cut: {error}") from error


def _slice(event: Any) -> Mapping[str, Any] | None:
    """An event with a start and an end, of a kind that is known, under today's name of its category; else None."""
    if not isinstance(event, Mapping) or event.get("ph") != "X" or "ts" not in event or "dur" not in event:
        return None
    own = event.get("cat")
    category = FORMER.get(own, own) if isinstance(own, str) else ""
    if category not in DEVICE and category not in HOST:
        return None
    return event if category == own else {**event, "cat": category}


def _event(event: Mapping[str, Any], device: bool, launches: Mapping[Any, float]) -> TraceEvent:
    args, name, cat = event.get("args", {}), event.get("name", ""), event["cat"]
    kind = DEVICE.get(cat, "host")
    if (cat == "kernel" and CALLS.match(name)) or (not device and name.startswith("gloo:")):
        kind = "communication"
    elif not device and cat == "cpu_op" and not name.startswith(("c10d::", "record_param_comms")):
        kind = "compute"
    start = event["ts"] * US
    stream = str(args.get("stream", event.get("tid", "")))
    made = TraceEvent(
        name, kind, start, start + event["dur"] * US, stream, launched=launches.get(args.get("correlation"))
    )
    if kind != "communication":
        return made
    elements = max(args.get("In msg nelems", 0), args.get("Out msg nelems", 0))
    return made._replace(
        operation=operation_of(args.get("Collective name", "") or name),
        group=str(args.get("Process Group Name", "")),
        number=int(args.get("Seq", -1)),
        bytes=float(elements * ELEMENT.get(args.get("dtype", ""), 0)),
    )


def operation_of(name: str) -> str:
    """The collective that a name means; "" for another.

    Known are those of kernels (`ncclDevKernel_AllReduce_Sum_bf16_RING_LL`), of PyTorch (`_allgather_base`) and of the
    flight recorder (`nccl:all_reduce`).
    """
    plain = name.lower().replace("_", "").replace("ncclkernel", "").replace("nccldevkernel", "")
    plain = plain.partition(":")[2] or plain
    return next((operation for start, operation in OPERATIONS.items() if plain.startswith(start)), "")


def _numbered(events: list[TraceEvent]) -> list[TraceEvent]:
    """Collectives numbered from 0 in their group; by "Seq" where every one has it, else in the device's order."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for event in events:
        if event.kind == "communication":
            first[event.group] = min(event.number, first.get(event.group, event.number))
    done = []
    for event in events:
        if event.kind == "communication":
            own_number = event.number - first[event.group] if first[event.group] >= 0 else counts[event.group]
            counts[event.group] += 1
            event = event._replace(number=own_number)
        done.append(event)
    return done
