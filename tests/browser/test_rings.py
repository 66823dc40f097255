"""A learner writes a ring in JupyterLab: a generator that goes wrong and then right, and real ranks that hang."""

import os
from pathlib import Path

import pytest

from tests.browser.jupyterlab import ERROR, open_notebook, rewrite_and_run, wait_until_run

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "06-collectives"
GATHER = """def ring_allgather(rank, n, x):
    block = blocks(x, n)
    for k in range(n - 1):
        got = yield Step(block[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        block[(rank - k - 1) % n]{} = got
    return x"""
SCATTER = """def ring_reduce_scatter_torch(rank, n, x):
    block = blocks(x, n)
    for k in range(1, n):
        got = torch.empty_like(block[(rank - k - 1) % n])
        sending = dist.{}(block[(rank - k) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        {}
        block[(rank - k - 1) % n] += got
    return block[rank]"""


@pytest.fixture
def cells(page, lab):
    url, _ = lab
    open_notebook(page, url, f"{CHAPTER}/{CHAPTER}.ipynb")
    return page.locator(".jp-NotebookPanel .jp-Notebook .jp-Cell")


def run(page, cell):
    cell.locator(".cm-content").first.click()
    page.keyboard.press("Control+Enter")
    wait_until_run(page, cell, timeout=60_000)


def said(cell):
    return " ".join(cell.locator(".jp-OutputArea").inner_text().split())


def look(page, name):
    """A picture of the window, where somebody asks for one."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.wait_for_timeout(500)
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_a_ring_is_drawn_and_judged_as_it_is_written(page, watch, cells):
    run(page, cells.filter(has_text="from hwlib.algorithms import Step, blocks").first)
    answer = cells.filter(has_text="def ring_allgather(rank, n, x):").first
    grade = cells.filter(has_text='grade("collectives-ring-allgather"').first
    picture = cells.filter(has_text='watch(ring_allgather, 4, "all_gather")').first
    run(page, answer)
    run(page, grade)
    assert "No answer yet" in said(grade)
    run(page, picture)
    assert page.locator(ERROR).count() == 0
    look(page, "ring-stub")

    rewrite_and_run(page, answer, GATHER.format(""))
    rewrite_and_run(page, grade)
    assert "messages came" in said(grade)
    rewrite_and_run(page, picture)
    look(page, "ring-wrong")

    rewrite_and_run(page, answer, GATHER.format("[:]"))
    rewrite_and_run(page, grade)
    assert "✓ Right." in said(grade)
    assert "2 of 2 points" in said(grade)
    rewrite_and_run(page, picture)
    assert picture.locator(".jp-OutputArea svg, .jp-OutputArea img").count()
    look(page, "ring-right")
    assert watch.foreign == []


def test_real_ranks_hang_and_say_where(page, cells):
    for text in ("from hwlib.algorithms import Step, blocks", "import torch.distributed as dist"):
        run(page, cells.filter(has_text=text).first)
    answer = cells.filter(has_text="def ring_reduce_scatter_torch(rank, n, x):").first
    grade = cells.filter(has_text='grade("collectives-ring-torch"').first
    attempt = cells.filter(has_text="def attempt(rank, n):").first
    rewrite_and_run(page, answer, SCATTER.format("send", "pass"))
    rewrite_and_run(page, grade)
    assert "nobody receives" in said(grade)
    rewrite_and_run(page, attempt)
    assert "RankTimeout" in said(attempt)
    assert "dist.send" in said(attempt)
    look(page, "torch-hangs")
    rewrite_and_run(page, answer, SCATTER.format("isend", "sending.wait()"))
    rewrite_and_run(page, grade)
    assert "✓ Right." in said(grade)
    rewrite_and_run(page, attempt)
    assert "tensor([6., 6.])" in said(attempt)
    look(page, "torch-right")
