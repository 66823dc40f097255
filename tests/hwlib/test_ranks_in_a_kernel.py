"""Real ranks from the cells of a real kernel, which has threads, and has computed with them."""

import re

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.slow
CELLS = {
    "warm": """
import os
import signal
import threading
import time
import torch
import torch.distributed as dist
from hwlib.labs import run_ranks
torch.set_num_threads(2)
torch.nn.Linear(500, 500)(torch.ones(500, 500) @ torch.ones(500, 500)).sum().backward()
assert len(os.listdir("/proc/self/task")) > 1""",
    "sums": """
scale = 3
def total(rank, n):
    x = torch.ones(300, 300) * scale
    dist.all_reduce(x)
    return (x @ x)[0, 0]
[float(run_ranks(total, n).results[0]) for n in (2, 4, 8)]""",
    "fails": """
def work(rank, n):
    x = torch.zeros(2)
    if rank == 1:
        x[5] = 1  # the culprit
    dist.barrier()
run_ranks(work, 2)""",
    "hangs": """
def wait(rank, n):
    if rank == 1:
        dist.recv(torch.zeros(2), 0)
run_ranks(wait, 2)""",
    "is interrupted": """
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
run_ranks(lambda rank, n: time.sleep(600), 2, timeout=500)""",
    "goes on": "[int(r) for r in run_ranks(lambda rank, n: rank, 4).results]",
}
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def shown(root):
    nb = new_notebook(cells=[new_code_cell(source.strip()) for source in CELLS.values()])
    client = NotebookClient(nb, timeout=120, kernel_name="python3", allow_errors=True)
    client.execute(env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"})

    def text(output):
        if output.output_type == "error":
            return COLOURS.sub("", "\n".join(output.traceback))
        return output.get("text") or output.data["text/plain"]

    return dict(zip(CELLS, ("\n".join(map(text, cell.outputs)) for cell in nb.cells), strict=True))


def test_ranks_compute_where_the_kernel_has_computed_before(shown):
    assert shown["warm"] == ""
    assert shown["sums"] == str([300.0 * (3 * n) ** 2 for n in (2, 4, 8)])


def test_an_error_shows_the_line_of_the_cell(shown):
    assert "RankError: rank 1 raised IndexError" in shown["fails"]
    assert "  line 4 of the cell, in work\n    x[5] = 1  # the culprit" in shown["fails"]


def test_a_hang_shows_where_each_rank_stands(shown):
    assert "RankTimeout: 1 of 2 ranks " in shown["hangs"]
    where = "waits in dist.recv at line 3 of the cell, in wait: dist.recv(torch.zeros(2), 0)"
    assert f"  rank 0 has returned\n  rank 1 {where}" in shown["hangs"]


def test_an_interrupt_ends_the_ranks_and_the_next_run_works(shown):
    assert "KeyboardInterrupt" in shown["is interrupted"]
    assert shown["goes on"] == "[0, 1, 2, 3]"
