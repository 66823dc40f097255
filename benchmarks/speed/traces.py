"""Time and memory of reading traces: `python -m benchmarks.speed.traces [EVENTS ...]`.

Jobs of eight ranks are written as torch.profiler writes them (a launch, an operator and a kernel after the other, every
tenth a collective, with shapes), in compressed files, and `gpubook trace` reads them in a process of its own.
"""

import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

RANKS = 8
CODE = """
import resource, sys
from autograder.cli import main
try:
    main(["trace", sys.argv[1]])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""
EVENTS = (10_000, 100_000, 1_000_000)
COLLECTIVE = {"Collective name": "allreduce", "Process Group Name": "0", "In msg nelems": 1 << 20, "dtype": "BFloat16"}
ARGS: dict[str, Any] = {
    "queued": 0,
    "device": 0,
    "context": 1,
    "registers per thread": 96,
    "shared memory": 87568,
    "blocks per SM": 0.07,
}
ARGS |= {"warps per SM": 1.259259, "grid": [8, 1, 1], "block": [544, 1, 1], "est. achieved occupancy %": 2}


def rank_events(rank: int, count: int) -> Iterator[dict[str, Any]]:
    """`count` events of a rank; the last rank comes late by a tenth of each round."""
    dims = [[4096, 4096], [4096, 4096]]
    for i in range(count // 3):
        at = 1_682_725_898_000_000 + 60 * i + (3 if rank == RANKS - 1 else 0)
        linked = {"External id": i, "correlation": i}
        shapes = {"External id": i, "Input Dims": dims, "Input type": ["c10::BFloat16"] * 2}
        yield {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 9, "args": shapes}
        yield {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "pid": 1,
            "tid": 1,
            "ts": at + 2,
            "dur": 4,
            "args": linked,
        }
        own = {**ARGS, **linked, "stream": 7} if i % 10 else {**ARGS, **linked, **COLLECTIVE, "stream": 20, "Seq": i}
        name = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_nn_align8>(Params)"
        name = name if i % 10 else "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        yield {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 8, "dur": 50, "args": own}


def write_job(folder: Path, events: int) -> int:
    """Write the files of a job; their bytes, unpacked."""
    size = 0
    for rank in range(RANKS):
        head = {
            "distributedInfo": {"rank": rank, "world_size": RANKS},
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
        }
        data = json.dumps({**head, "traceEvents": list(rank_events(rank, events // RANKS))}).encode()
        size += len(data)
        (folder / f"rank{rank}.json.gz").write_bytes(gzip.compress(data, 1))
    return size


@click.command()
@click.argument("counts", nargs=-1, type=click.IntRange(3 * RANKS), metavar="[EVENTS]...")
def main(counts: tuple[int, ...]) -> None:
    """Print the time and the memory of `gpubook trace` for jobs of so many EVENTS: 10,000, 100,000 and a million."""
    click.echo(f"{'events':>10}{'text':>11}{'time':>9}{'processor':>11}{'memory':>10}")
    for events in counts or EVENTS:
        click.echo(measured(events))


def measured(events: int) -> str:
    """The line of one number of events."""
    with tempfile.TemporaryDirectory() as folder:
        size = write_job(Path(folder), events)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", CODE, folder], capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise click.ClickException(done.stderr)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = int(done.stderr.split()[-1]) / 1024
    return f"{events:>10,}{size / 1e6:>8.0f} MB{seconds:>7.1f} s{used:>9.1f} s{memory:>6.0f} MiB"


if __name__ == "__main__":
    main()
