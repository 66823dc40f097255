"""A learner's way through the chapter in a real JupyterLab: run all, answer wrong, read why, answer right, move a figure."""

import json

import pytest

from autograder.declaration import load_bank
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "03-rooflines"
IDLE = ".jp-Notebook-ExecutionIndicator[data-status=idle]"


def index_of(study, exercise, part):
    """Where the cell of an exercise stands in the learner's notebook."""
    notebook = json.loads((study / CHAPTER / f"{CHAPTER}.ipynb").read_text())
    marks = [cell["metadata"].get("gpubook", {}) for cell in notebook["cells"]]
    return next(i for i, m in enumerate(marks) if (m.get("exercise"), m.get("part")) == (exercise, part))


def run_everything(page):
    page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_timeout(1500)
    page.wait_for_selector(IDLE, timeout=180_000)


def write_and_grade(page, cells, answer_index, grade_index, source):
    """Type into the answer cell, run it and the grade cell below it, and return what the grade cell shows."""
    cells.nth(answer_index).locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")
    cells.nth(grade_index).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    page.wait_for_selector(IDLE, timeout=30_000)
    page.wait_for_timeout(300)
    return cells.nth(grade_index).locator(".jp-OutputArea").inner_text()


@pytest.fixture
def chapter(page, lab):
    url, study = lab
    page.goto(f"{url}/lab/tree/{CHAPTER}/{CHAPTER}.ipynb?token=t&reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    page.wait_for_selector(IDLE, timeout=60_000)
    return study


def test_untouched_chapter_runs_and_a_wrong_answer_is_explained(page, watch, chapter):
    run_everything(page)
    cells = page.locator(".jp-NotebookPanel .jp-Cell")
    assert page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']").count() == 0
    bank = load_bank(ROOT / "solutions" / CHAPTER)
    exercise = next(e for e in bank.values() if e.kind == "Quantity" and e.mistakes and not e.predict)
    given = exercise.variant()
    where = [index_of(chapter, exercise.id, part) for part in ("answer", "grade")]

    from autograder.declaration import call_with

    mistake = exercise.mistakes[0]
    wrong = write_and_grade(page, cells, *where, f"answer = {call_with(mistake.value, given)!r}")
    plain_words = mistake.say.split("$")[0].split("`")[0].split("*")[0].strip()
    assert len(plain_words) > 10, f"pick another mistake: {mistake.say!r} begins with mathematics"
    assert plain_words in wrong, wrong
    right = write_and_grade(page, cells, *where, f"answer = {exercise.expected(given)!r}")
    assert "✓" in right, right
    assert str(float(exercise.points)) in right, right
    assert watch.foreign == [], watch.foreign


def test_live_figure_moves_in_jupyterlab(page, chapter):
    run_everything(page)
    readout = page.locator(".jp-NotebookPanel .gpubook-readout").first
    readout.wait_for(timeout=60_000)
    before = readout.inner_text()
    slider = page.locator(".jp-NotebookPanel .gpubook-figure input[type=range]").first
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('.gpubook-readout').innerText !== before", arg=before)
