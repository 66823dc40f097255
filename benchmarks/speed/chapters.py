"""How long a chapter takes from its first cell to its last: `python -m benchmarks.speed.chapters [NAME ...]`.

The learner's notebook and the instructor's run in Jupyter's own kernel with every measurement, in turn, each
`--repeats` times; printed are the minimum, the median and the maximum of the seconds, kernel start included, and
the slowest cell of the last run.
"""

import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import click

from autograder.book.source import chapters
from benchmarks.paths import ROOT


def run(notebook, folder: Path) -> tuple[float, float, str]:
    """Seconds for the whole notebook, and for its slowest cell with that cell's first line."""
    from nbclient import NotebookClient

    env = {**os.environ, "GPUBOOK_SOLUTIONS": str(ROOT / "solutions"), "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as scratch:
        here = shutil.copytree(folder, Path(scratch) / folder.name)
        env["GPUBOOK_PROGRESS"] = str(Path(scratch) / "progress.json")
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(here)}}
        )
        began = time.perf_counter()
        spent = []
        with client.setup_kernel(env=env):
            for at, cell in enumerate(notebook.cells):
                start = time.perf_counter()
                client.execute_cell(cell, at)
                first = next(iter(cell.source.strip().splitlines()), "")
                spent.append((time.perf_counter() - start, first))
        total = time.perf_counter() - began
    return total, *max(spent)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--repeats", default=1, show_default=True)
def main(names: tuple[str, ...], repeats: int) -> None:
    """Time the chapters NAMED, or all."""
    import nbformat

    for name in names or chapters.chapter_names(ROOT):
        instructor = chapters.load(ROOT, name).instructor
        learner = nbformat.read(ROOT / "chapters" / name / f"{name}.ipynb", as_version=4)
        for edition, notebook in (("learner", learner), ("instructor", instructor)):
            runs = [run(nbformat.from_dict(notebook), ROOT / "chapters" / name) for _ in range(repeats)]
            times = [seconds for seconds, _, _ in runs]
            _, slowest, line = runs[-1]
            click.echo(
                f"{name:26} {edition:10}  {min(times):5.1f}  {median(times):5.1f}  {max(times):5.1f} s"
                f"   slowest cell {slowest:.1f} s: {line[:60]}"
            )


if __name__ == "__main__":
    main()
