"""Kernels under hwlib.tl and Triton's interpreter, side by side: `python -m benchmarks.speed.interpreted_kernels`.

Six kernels, each run in turn by both on the same arrays. A line has the minimum, the median and the maximum of the
repeats in milliseconds of this process, and of their ratio. `hwlib.tl` also counts sectors, FLOPs and live tiles, and
looks for races; the interpreter does not.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import click

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported


@click.command()
@click.option("--repeats", default=5, show_default=True, help="Runs of each kernel by each side.")
def main(repeats: int) -> None:
    """Time the kernels of the tests under hwlib.tl and under Triton's interpreter."""
    from hwlib import tl
    from tests.hwlib import kernels
    from tests.hwlib.under_triton import CASES, tensors, theirs

    with tempfile.TemporaryDirectory() as folder:
        module = theirs(Path(folder))
        click.echo("kernel: hwlib.tl, Triton's interpreter [ms]; ratio (minimum / median / maximum)")
        for name, (grid, given) in CASES.items():
            mine = {key: tl.empty(value) if type(value) is tuple else value for key, value in given.items()}
            both = {**given, **tensors(given)}
            ours = lambda name=name, grid=grid, mine=mine: tl.launch(getattr(kernels, name), grid, **mine)
            other = lambda name=name, grid=grid, both=both: getattr(module, name)[grid](**both)
            rows = [(timed(ours), timed(other)) for _ in range(repeats)]
            columns = [*zip(*rows, strict=True), [their / our for our, their in rows]]
            click.echo(f"{name}: {spread(columns[0], 1e3)}, {spread(columns[1], 1e3)}; {spread(columns[2], 1)}")


def timed(run: Callable[[], Any]) -> float:
    """The seconds of processor time that it takes."""
    begun = time.process_time()
    run()
    return time.process_time() - begun


def spread(values: Any, times: float) -> str:
    """The minimum, the median and the maximum."""
    return " / ".join(f"{times * one:.3g}" for one in (min(values), median(values), max(values)))


if __name__ == "__main__":
    main()
