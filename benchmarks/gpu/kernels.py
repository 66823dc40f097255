"""The book's kernels on a GPU: `python -m benchmarks.gpu.kernels --out FILE`.

Each kernel of the tests, and each declared solution of a Kernel exercise, is compiled by Triton for the GPU and run on
the arrays that `hwlib.tl` gets; its results must be the same. Where Nsight Compute is installed, the sectors of 32
bytes that the hardware's load and store unit counts stand beside those that `hwlib.tl` counts for tiles that go along
rows, along columns, and through `tl.trans`.
"""

import csv
import inspect
import io
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hwlib import tl

os.environ.setdefault("TRITON_F32_DEFAULT", "ieee")  # read when Triton is imported: float32, not TF32
LEAST = 16  # a side of a `dot` in Triton
LOADS, STORES = (f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st"))


@click.command()
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The CSV file to write.")
@click.option("--under", is_flag=True, hidden=True, help="Run the kernels of the counters only, for Nsight Compute.")
def main(out: Path, under: bool) -> None:
    """Run them, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        if under:
            from tests.hwlib.under_triton import jitted

            for name, (function, grid, given) in counted_cases().items():
                on_gpu(jitted(inspect.getsource(function), Path(folder), name), grid, given, num_stages=1)
            return
        rows = [*same_results(Path(folder)), *same_sectors()]
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "kernel", "case", "here", "on_the_gpu", "note"])
        writer.writerows(rows)


def same_results(folder: Path) -> Iterator[list[Any]]:
    """Each kernel's largest difference from what `hwlib.tl` gives, as a share of the largest element."""
    import numpy as np

    from tests.hwlib.under_triton import jitted

    for name, source, function, launches in kernels():
        for at, (grid, given) in enumerate(launches):
            said: dict[str, Any] = {}
            mine: dict[str, Any] = {key: tl.empty(one) if type(one) is tuple else one for key, one in given.items()}
            run = tl.launch(function, grid, **mine)
            try:
                theirs = on_gpu(jitted(source, folder, name), grid, given)
                worst = 0.0
                for key, array in run.arrays.items():
                    scale = max(float(np.abs(array).max()), 1e-30)
                    worst = max(worst, float(np.abs(array - theirs[key]).max()) / scale)
                said = {"largest": f"{worst:.2g}", "note": "" if worst < 1e-4 else "DIFFERS"}
            except Exception as error:
                said = {"largest": "", "note": f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:200]}"}
            click.echo(f"{name} [{at}]: {said}")
            yield ["difference", name, at, "", said["largest"], said["note"]]


def kernels() -> Iterator[tuple[str, str, Any, list[tuple[Any, dict[str, Any]]]]]:
    """Name, source, function and launches: those of the tests, then the book's."""
    from tests.hwlib import kernels as of_tests
    from tests.hwlib.under_triton import CASES

    for name, (grid, given) in CASES.items():
        function = getattr(of_tests, name)
        yield name, inspect.getsource(function), function, [(grid, given)]
    yield from _of_the_book()


def _of_the_book() -> Iterator[tuple[str, str, Any, list[tuple[Any, dict[str, Any]]]]]:
    import numpy as np

    from autograder.answers.kernel import Kernel
    from autograder.declaration.bank import declared_below, load_bank
    from autograder.values.book_root import book_root

    generator = np.random.default_rng(0)
    for path in declared_below(book_root() / "solutions"):
        for name, exercise in load_bank(path).items():
            if isinstance(exercise.answer, Kernel):
                launches = []
                for launch in exercise.answer.launches(exercise):
                    if launch.numbers.get("BK", LEAST) < LEAST:
                        launch = replace(launch, given={**launch.given, "BK": LEAST})
                    arrays = launch.arrays(generator)
                    given = {key: _given(one) for key, one in {**launch.given, **arrays}.items()}
                    launches.append((launch.grid, given))
                function: Any = exercise.solution
                yield name, inspect.getsource(function), function, launches


def _given(one: Any) -> Any:
    """An argument of a launch: an array to write as its shape, a list as an array."""
    import numpy as np

    if isinstance(one, tl.Empty):
        return tuple(one.shape)
    return np.asarray(one, np.float32) if isinstance(one, list) else one


def on_gpu(kernel: Any, grid: Any, given: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Its arrays, after one launch on the GPU."""
    import numpy as np
    import torch

    arrays: dict[str, Any] = {
        key: torch.from_numpy(one.copy()).cuda()
        if isinstance(one, np.ndarray)
        else torch.full(one, math.nan, device="cuda")
        for key, one in given.items()
        if type(one) is tuple or isinstance(one, np.ndarray)
    }
    kernel[grid if isinstance(grid, tuple) else (grid,)](**{**given, **arrays}, **options)
    torch.cuda.synchronize()
    return {key: one.cpu().numpy() for key, one in arrays.items()}


# Sectors


def counted_cases() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Function, grid and arguments; the sizes are multiples of a tile, and rows begin at whole sectors."""
    import numpy as np

    from tests.hwlib import kernels as of_tests

    generator = np.random.default_rng(0)
    x = lambda *shape: np.asarray(generator.standard_normal(shape), np.float32)
    turned = {"x_ptr": x(512, 512), "out_ptr": (512, 512), "M": 512, "N": 512}
    product = {"a_ptr": x(256, 256), "b_ptr": x(256, 256), "c_ptr": (256, 256), "M": 256, "N": 256, "K": 256}
    heads = {"q_ptr": x(256, 64), "k_ptr": x(256, 64), "v_ptr": x(256, 64), "out_ptr": (256, 64)}
    return {
        "add": (
            of_tests.add,
            256,
            {"x_ptr": x(2**18), "y_ptr": x(2**18), "out_ptr": (2**18,), "n": 2**18, "BLOCK": 1024},
        ),
        "by_rows": (of_tests.by_rows, 512, {**turned, "BLOCK": 512}),
        "by_columns": (of_tests.by_columns, 512, {**turned, "BLOCK": 512}),
        "transpose": (of_tests.transpose, (16, 16), {**turned, "BM": 32, "BN": 32}),
        "softmax": (of_tests.softmax, 256, {"x_ptr": x(256, 1024), "out_ptr": (256, 1024), "N": 1024, "BLOCK": 1024}),
        "matmul": (of_tests.matmul, (8, 8), {**product, "BM": 32, "BN": 32, "BK": 32}),
        "attention": (of_tests.attention, 8, {**heads, "T": 256, "scale": 0.125, "D": 64, "BM": 32, "BN": 32}),
    }


def same_sectors() -> Iterator[list[Any]]:
    """Sectors loaded and stored, as counted here and by the hardware."""
    ncu = shutil.which("ncu")
    if ncu is None:
        click.echo("no Nsight Compute here: sectors are not compared", err=True)
        return
    cases = counted_cases()
    command = [
        ncu,
        "--csv",
        "--page",
        "raw",
        "--metrics",
        f"{LOADS},{STORES}",
        "-k",
        f"regex:^({'|'.join(cases)})$",
        sys.executable,
        "-m",
        "benchmarks.gpu.kernels",
        "--under",
        "--out",
        os.devnull,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or len(lines) < 3:
        click.echo(f"Nsight Compute: {done.stdout[-800:]} {done.stderr[-800:]}", err=True)
        return
    theirs = {row["Kernel Name"]: row for row in csv.DictReader(io.StringIO("\n".join(lines))) if row["Kernel Name"]}
    for name, (function, grid, given) in cases.items():
        mine: dict[str, Any] = {key: tl.empty(one) if type(one) is tuple else one for key, one in given.items()}
        traffic = tl.launch(function, grid, **mine).traffic.values()
        for what, metric, here in (
            ("loaded", LOADS, sum(one.loaded_sectors for one in traffic)),
            ("stored", STORES, sum(one.stored_sectors for one in traffic)),
        ):
            there = int(float(theirs[name][metric].replace(",", "")))
            click.echo(f"{name}: {what} {here:,} sectors here, {there:,} on the GPU")
            yield [f"sectors {what}", name, "", here, there, "" if here == there else f"{there / here:.3f}"]


if __name__ == "__main__":
    main()
