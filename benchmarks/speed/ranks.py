"""How long it takes to start real ranks: `python -m benchmarks.speed.ranks`.

One all-reduce of a kilobyte from a cell of a running kernel, by `run_ranks`, beside the same program under `torchrun`
and under torch's own `mp.spawn`, in turn. Each line has the minimum, the median and the maximum of the repeats, in
seconds of the wall's clock: from the call to the results, with none of the ranks left.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import click

CELL = """
import time
import torch
import torch.distributed as dist
from hwlib.labs import run_ranks
torch.nn.Linear(500, 500)(torch.ones(500, 500) @ torch.ones(500, 500)).sum().backward()
def total(rank, n):
    x = torch.ones(256)
    dist.all_reduce(x)
    return float(x[0])
def timed(n):
    begun = time.perf_counter()
    results = run_ranks(total, n).results
    assert results == [n]*n
    return time.perf_counter() - begun
"""
TORCHRUN = """
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(256)
dist.all_reduce(x)
assert x[0] == dist.get_world_size()
dist.destroy_process_group()
"""
SPAWN = """
import sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
def work(rank, n, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=n)
    x = torch.ones(256)
    dist.all_reduce(x)
    assert x[0] == n
    dist.destroy_process_group()
if __name__ == "__main__":
    n = int(sys.argv[1])
    mp.spawn(work, (n, sys.argv[2]), n)
"""


@contextmanager
def kernel() -> Iterator[Callable[[str], float]]:
    """A kernel as JupyterLab starts it, which has computed; gives a function that evaluates an expression there."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")

    def run(source: str) -> float:
        said: list[str] = []
        client.execute_interactive(source, timeout=300, output_hook=lambda m: said.append(m["content"].get("text", "")))
        printed = "".join(said).split()
        return float(printed[-1]) if printed else 0.0

    try:
        run(CELL)
        yield run
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def program(source: str, *before: str, after: tuple[str, ...] = ()) -> float:
    """The seconds that a program takes from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(source)
        more = [word.replace("FOLDER", folder) for word in after]
        begun = time.perf_counter()
        subprocess.run([sys.executable, *before, str(path), *more], check=True, capture_output=True)
        return time.perf_counter() - begun


def torchrun(n: int) -> float:
    """By torch's launcher."""
    return program(TORCHRUN, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={n}")


def spawn(n: int) -> float:
    """By torch.multiprocessing, from a script: it cannot start a function of a notebook."""
    return program(SPAWN, after=(str(n), "FOLDER/store"))


@click.command()
@click.option("--repeats", default=5, show_default=True)
@click.option("--ranks", "sizes", default=(2, 4, 8), show_default=True, multiple=True, type=int)
def main(repeats: int, sizes: tuple[int, ...]) -> None:
    """Print the times of each launcher and number of ranks."""
    with kernel() as run:
        print(f"first call in a kernel, which starts the server: {run('print(timed(2))'):.2f} s")
        for n in sizes:
            ours = partial(run, f"print(timed({n}))")
            ways = {"run_ranks": ours, "torchrun": partial(torchrun, n), "mp.spawn": partial(spawn, n)}
            times = {name: [way()] for name, way in ways.items()}
            for _ in range(repeats - 1):
                for name, way in ways.items():
                    times[name].append(way())
            for name, taken in times.items():
                low, middle, high = min(taken), median(taken), max(taken)
                ratio = "" if name == "run_ranks" else f"   {middle / median(times['run_ranks']):.0f} times ours"
                print(f"{n} ranks, {name:9}: min {low:.3f}  median {middle:.3f}  max {high:.3f} s{ratio}")


if __name__ == "__main__":
    main()
