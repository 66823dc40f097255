"""How long do collectives take on this machine? Real ranks, sizes from bytes to megabytes, by one helper.

    measure_collective("all_reduce", n=4)    # [(S, n, time), ...]

All calls of a size warm up first. Then the ranks meet, make several calls one after another as a program would,
and wait until the last is done: the time of a batch is that of the slowest rank, and the median batch counts.
A batch has many calls where one is short, so that what the ranks lose by starting apart is spread over them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from hwlib.calibrated import Timed

SIZES = tuple(4**k for k in range(4, 13))  # bytes: 256 B to 16 MiB
WARM_UP = 3  # calls
BATCHES = 5
SECONDS = 0.15  # what the batches of one size may take
MOST = 50  # calls a batch
ITEM = 4  # bytes an element: float32

NAMES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")


def measure_collective(
    collective: str = "all_reduce", n: int = 4, sizes: Sequence[float] = SIZES, backend: str | None = None
) -> list[Timed]:
    """The time of a collective of float32 on n real ranks for each size S, the bytes of the full buffer.

    gloo on a CPU, NCCL where n GPUs are there, or the `backend`. A size is rounded down to n equal blocks, and
    given as it was. Takes about three seconds. Raises ValueError for a collective that is not here and for sizes
    below 0, and what `run_ranks` raises.
    """
    from hwlib.labs.ranks import run_ranks

    if collective not in NAMES:
        raise ValueError(f"measure_collective: one of {', '.join(NAMES)}, got {collective!r}")
    if not sizes or not all(S > 0 for S in sizes):
        raise ValueError(f"measure_collective: sizes in bytes, above 0, got {list(sizes)}")
    counts = [max(int(S) // (ITEM * n), 1) for S in sizes]  # elements of a block
    patience = 30 + 20 * BATCHES * SECONDS * len(counts)
    run = run_ranks(time_collective, n, collective, counts, timeout=patience, backend=backend)
    return [
        Timed(float(ITEM * n * count), n, median(map(max, zip(*batches, strict=True))))
        for count, batches in zip(counts, zip(*run.results, strict=True), strict=True)
    ]


def time_collective(_rank: int, n: int, collective: str, counts: Sequence[int]) -> list[list[float]]:
    """What every rank of a process group runs: for each number of elements of a block the seconds of a call, batch
    by batch.
    """
    import torch
    import torch.distributed as dist

    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    whole, part = torch.zeros(n * max(counts), device=device), torch.zeros(max(counts), device=device)
    return [_batches(_call(collective, whole[: n * count], part[:count]), device) for count in counts]


def _call(collective: str, whole: Any, part: Any) -> Callable[[], Any]:
    """The call of a collective on a full buffer and, where it needs one, on a block of another."""
    import torch.distributed as dist

    if collective == "all_gather":
        return partial(dist.all_gather_single, whole, part)
    if collective == "reduce_scatter":
        return partial(dist.reduce_scatter_single, part, whole)
    if collective == "all_reduce":
        return partial(dist.all_reduce, whole)
    return partial(dist.broadcast if collective == "broadcast" else dist.reduce, whole, 0)


def _batches(call: Callable[[], Any], device: str) -> list[float]:
    import torch
    import torch.distributed as dist

    for _ in range(WARM_UP):
        call()
    slowest = torch.tensor([_timed(call, 1, device)], device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)  # all ranks make the same number of calls
    calls = min(max(int(SECONDS / BATCHES / max(float(slowest), 1e-9)), 1), MOST)
    return [_timed(call, calls, device) for _ in range(BATCHES)]


def _timed(call: Callable[[], Any], calls: int, device: str) -> float:
    """Seconds per call, over a number of calls, from the moment at which all ranks have synchronised."""
    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.zeros(1, device=device))
    _wait(device)
    start = perf_counter()
    for _ in range(calls):
        call()
    _wait(device)
    return (perf_counter() - start) / calls


def _wait(device: str) -> None:
    if device == "cuda":
        import torch

        torch.cuda.synchronize()
