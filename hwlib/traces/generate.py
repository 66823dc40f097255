"""A training step played out on eight GPUs and written as torch.profiler writes it: healthy, or sick in one way.

The job: layers of Llama 3 8B's shape, tensor parallel over the four GPUs of a node, data parallel over two nodes, so
that GPU r of the first node and GPU r + 4 of the second sum gradients over one pair of network cards (a rail). At the
end all ranks sum the norm of the gradients, for clipping, and the optimizer steps. Kernels
last what `hwlib.calibrated` says of an H100, with a seeded scatter; the host puts them into the queue one after
another. What is left out: kernels do not slow down beside a collective, as they do on real GPUs.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from hwlib.arguments import as_int
from hwlib.calibrated import gemm_model, nccl_time, prefill_attention_time
from hwlib.collectives import ring_allreduce_time
from hwlib.specs import accelerators, models

__all__ = ["CAUSES", "draw_traces"]

CHIP, MODEL = "h100-sxm", "llama3-8b"
TP, DP = 4, 2
RANKS = TP * DP
CAUSES: Mapping[str, float] = {"healthy": 0.0, "slow link": 4.0, "data stall": 12e-3, "clock cap": 1.25}
"""Size of each sickness unless told: the transfer takes 4 times as long, the batch comes 12 ms late, kernels take 1.25
times as long.
"""
CARD = 50e9, 0.85, 20e-6  # B/s of a 400 Gbit/s card, the share that a ring of two nodes reaches, s of a start
CALL, QUEUE = 12e-6, 4e-6  # s of the host for a kernel, and from its launch to its start
LOADED = 400e-6  # s to fetch a batch that is ready
SCATTER = 0.01
ADAM = 30  # bytes of memory traffic for each parameter of the rank: see hwlib.steptime
US = 1e6
NORM = 30e-6  # s to sum the gradients' norm over all ranks: 4 bytes, nothing but latency
STREAMS = {"compute": 7, "tp": 20, "dp": 24, "world": 28}


class QueuedOp(NamedTuple):
    """Something that every rank puts into its queue; `after` are the ops that it waits for on other streams."""

    name: str
    stream: str
    seconds: float
    bytes: int = 0
    after: tuple[int, ...] = ()


def draw_traces(
    cause: str = "healthy",
    rank: int = 0,
    size: float | None = None,
    *,
    seed: int = 0,
    layers: int = 4,
    steps: int = 1,
    T: int = 8192,
    skew: float = 0.0,
) -> list[dict[str, Any]]:
    """The traces of the eight ranks of a job, as JSON that `read_trace` and Perfetto read.

    `cause` is one of `CAUSES`, `rank` the rank that is sick (with a slow link: one of the two ends of the rail), `size`
    how much: the factor of the link's or the kernels' time, or the seconds that the batch comes late in each step. A
    step has T tokens in each of the two replicas. With `skew` the second node's clock runs that many seconds ahead.
    Raises ValueError for another cause, rank or size.
    """
    if cause not in CAUSES:
        raise ValueError(f"draw_traces: cause is one of {', '.join(CAUSES)}, got {cause!r}")
    rank = as_int("draw_traces: rank", rank, 0, RANKS - 1)
    size = CAUSES[cause] if size is None else size
    if size < (1 if cause in ("slow link", "clock cap") else 0):
        raise ValueError(f"draw_traces: a {cause} of size {size}: a factor is 1 or more, a delay 0 or more")
    return _Job(cause, rank, size, Random(seed), _ops(layers, T)).traces(steps, skew)


@cache
def _ops(layers: int, T: int) -> tuple[QueuedOp, ...]:
    """The ops of a step, in the order of the queue."""
    shape = models[MODEL]
    D, F, kv = shape.width, shape.ffn, shape.kv_heads * shape.head_dim
    product = gemm_model(CHIP, "bf16").time
    forward = {
        "gemm_qkv": product(T, (D + 2 * kv) // TP, D),
        "attention": _attention(T),
        "gemm_out": product(T, D, D // TP),
        "gemm_gate_up": product(T, 2 * F // TP, D),
        "gemm_down": product(T, D, F // TP),
    }
    summed = T * D * 2
    t_sum = nccl_time(CHIP, "all_reduce", n=TP, S=summed)
    gradients = 2 * (D * (D + 2 * kv) + D * D + 3 * D * F) // TP
    W, share, alpha = CARD
    t_gradients = ring_allreduce_time.function(DP, gradients, alpha, W * share)
    update = ADAM * layers * gradients / 2 / (accelerators[CHIP].hbm_bandwidth or 1)
    ops: list[QueuedOp] = []

    def add(name: str, stream: str, seconds: float, S: int = 0, *after: int) -> int:
        ops.append(QueuedOp(name, stream, float(seconds), S, after))
        return len(ops) - 1

    last = -1
    blocks = (("gemm_qkv", "attention", "gemm_out"), ("gemm_gate_up", "gemm_down"))
    for _ in range(layers):
        for block in blocks:
            for name in block:
                done = add(f"{name}_fwd", "compute", forward[name], 0, *[last] * (last >= 0 and name == block[0]))
            last = add("all_reduce", "tp", t_sum, summed, done)
    for _ in range(layers):
        for block in reversed(blocks):
            for name in reversed(block):
                twice = 2.5 if name == "attention" else 2
                done = add(f"{name}_bwd", "compute", twice * forward[name], 0, *[last] * (name == block[-1]))
            last = add("all_reduce", "tp", t_sum, summed, done)
        final = add("all_reduce", "dp", t_gradients, gradients, done)
    norm = add("all_reduce", "world", NORM, 4, final, last)
    add("adam", "compute", update, 0, norm)
    return tuple(ops)


def _attention(T: int) -> float:
    shape = models[MODEL]
    heads, kv_heads = shape.heads // TP, shape.kv_heads // TP
    return prefill_attention_time(CHIP, "bf16", heads=heads, kv_heads=kv_heads, head_dim=shape.head_dim, batch=1, seq=T)


class _Job:
    """The play of one job: all ranks have the same ops, so that each op is played on all of them in turn."""

    def __init__(self, cause: str, rank: int, size: float, random: Random, ops: Sequence[QueuedOp]):
        self.cause, self.rank, self.size, self.random, self.ops = cause, rank, size, random, ops
        self.events: list[list[dict[str, Any]]] = [[] for _ in range(RANKS)]
        self.number = 0
        self.sent = dict.fromkeys(STREAMS, 0)

    def traces(self, steps: int, skew: float) -> list[dict[str, Any]]:
        ends = [1e-3] * RANKS
        for _ in range(steps):
            ends = self.step(ends)
        for rank in range(TP, RANKS):
            for event in self.events[rank]:
                event["ts"] = round(event["ts"] + skew * US, 3)
        return [
            {
                "schemaVersion": 1,
                "displayTimeUnit": "ms",
                "traceName": f"rank{rank}.json",
                "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS},
                "traceEvents": [*_names(rank), *sorted(events, key=lambda event: event["ts"])],
            }
            for rank, events in enumerate(self.events)
        ]

    def step(self, begin: list[float]) -> list[float]:
        """One step from the times at which the ranks' hosts begin it; gives those at which they see its end."""
        host = [self.load(rank, start) for rank, start in enumerate(begin)]
        free = [dict.fromkeys(STREAMS, 0.0) for _ in range(RANKS)]
        ends: list[list[float]] = []
        for op in self.ops:
            self.number += 1
            ready = []
            for rank in range(RANKS):
                call = CALL * self.scatter(5)
                self.write(rank, "cuda_runtime", "cudaLaunchKernel", host[rank], call, rank + 100, self.linked())
                host[rank] += call
                waits = [ends[i][rank] for i in op.after]
                ready.append(max([host[rank] + QUEUE, free[rank][op.stream], *waits]))
            ends.append(self.play(op, ready))
            for rank in range(RANKS):
                free[rank][op.stream] = ends[-1][rank]
        over = [max(streams.values()) for streams in free]
        for rank in range(RANKS):
            self.write(rank, "cuda_runtime", "cudaDeviceSynchronize", host[rank], over[rank] - host[rank], rank + 100)
        return [end + 10e-6 for end in over]

    def load(self, rank: int, start: float) -> float:
        late = self.size if self.cause == "data stall" and rank == self.rank else 0.0
        took = LOADED * self.scatter(5) + late
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self.write(rank, "user_annotation", name, start, took, rank + 100)
        return start + took

    def play(self, op: QueuedOp, ready: list[float]) -> list[float]:
        """The ends of one op on all ranks: a kernel's own, or that of the collective for all of its group."""
        ends = [0.0] * RANKS
        for group in _groups(op.stream):
            together = max(ready[rank] for rank in group) + op.seconds * self.slower(op, group) * self.scatter()
            for rank in group:
                if op.stream == "compute":
                    took = op.seconds * self.slower(op, (rank,)) * self.scatter()
                else:
                    took = together + 1e-6 * self.random.random() - ready[rank]
                ends[rank] = ready[rank] + took
                args = {"stream": STREAMS[op.stream], "device": rank % TP, **self.linked()}
                name = f"sm90_{op.name}_bf16"
                if op.stream != "compute":
                    name, args = self.collective(op, group, args)
                self.write(rank, "kernel", name, ready[rank], took, STREAMS[op.stream], args)
        if op.stream != "compute":
            self.sent[op.stream] += 1
        return ends

    def slower(self, op: QueuedOp, group: Sequence[int]) -> float:
        if self.cause == "slow link" and op.stream == "dp" and self.rank in group:
            return self.size
        if self.cause == "clock cap" and op.stream == "compute" and group == (self.rank,):
            return self.size
        return 1.0

    def collective(self, op: QueuedOp, group: Sequence[int], args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        dtype, b = ("Float", 4) if op.stream == "world" else ("BFloat16", 2)
        elements = op.bytes // b
        about = {
            "Collective name": "allreduce",
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": len(group),
            "dtype": dtype,
            "Process Group Name": f"{op.stream}{group[0]}",
            "Process Group Description": f"mesh_{op.stream}",
            "Process Group Ranks": str(list(group)),
            "Seq": self.sent[op.stream] + 1,
        }
        short = "f32" if op.stream == "world" else "bf16"
        return f"ncclDevKernel_AllReduce_Sum_{short}_RING_LL(ncclDevKernelArgsStorage<4096ul>)", args | about

    def linked(self) -> dict[str, Any]:
        return {"correlation": self.number}

    def scatter(self, times: float = 1) -> float:
        return 1 + times * SCATTER * (2 * self.random.random() - 1)

    def write(
        self, rank: int, cat: str, name: str, start: float, took: float, tid: int, args: Mapping[str, Any] | None = None
    ) -> None:
        self.events[rank].append(
            {
                "ph": "X",
                "cat": cat,
                "name": name,
                "pid": rank % TP if cat == "kernel" else 1000 + rank,
                "tid": tid,
                "ts": round(start * US, 3),
                "dur": round(took * US, 3),
                **({"args": dict(args)} if args else {}),
            }
        )


def _groups(stream: str) -> Iterator[tuple[int, ...]]:
    if stream == "tp":
        yield from (tuple(range(node * TP, (node + 1) * TP)) for node in range(DP))
    elif stream == "dp":
        yield from (tuple(range(rail, RANKS, TP)) for rail in range(TP))
    else:
        yield tuple(range(RANKS))


def _names(rank: int) -> Iterator[dict[str, Any]]:
    device = rank % TP
    yield {"ph": "M", "name": "process_name", "pid": 1000 + rank, "tid": 0, "ts": 0, "args": {"name": "python"}}
    yield {"ph": "M", "name": "process_name", "pid": device, "tid": 0, "ts": 0, "args": {"name": f"GPU {device}"}}
    for stream, number in STREAMS.items():
        name = f"stream {number} ({stream})"
        yield {"ph": "M", "name": "thread_name", "pid": device, "tid": number, "ts": 0, "args": {"name": name}}
