"""A learner in a real JupyterLab: run all, answer wrong, read why, answer right, move a figure, read the feedback."""

import json

import pytest

from autograder.declaration import call_with, load_bank
from tests.autograder.course.feedback.test_feedback import page as feedback_page
from tests.browser.jupyterlab import ERROR, open_notebook, rewrite_and_run, run_all
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "03-rooflines"


def index_of(study, exercise, part):
    """Where the cell of an exercise stands in the learner's notebook."""
    notebook = json.loads((study / CHAPTER / f"{CHAPTER}.ipynb").read_text())
    marks = [cell["metadata"].get("gpubook", {}) for cell in notebook["cells"]]
    return next(i for i, m in enumerate(marks) if (m.get("exercise"), m.get("part")) == (exercise, part))


def test_untouched_chapter_runs_a_wrong_answer_is_explained_and_a_figure_turns(page, watch, lab):
    url, study = lab
    open_notebook(page, url, f"{CHAPTER}/{CHAPTER}.ipynb")
    run_all(page)
    assert page.locator(ERROR).all_inner_texts() == []
    assert page.get_by_text("Validate", exact=True).count() == 0  # nbgrader's tools are for teachers

    bank = load_bank(ROOT / "solutions" / CHAPTER)
    exercise = next(e for e in bank.values() if e.kind == "Quantity" and e.mistakes and not e.predict)
    given, mistake = exercise.variant(), exercise.mistakes[0]
    cells = page.locator(".jp-NotebookPanel .jp-Notebook .jp-Cell")
    answer, grade = (cells.nth(index_of(study, exercise.id, part)) for part in ("answer", "grade"))

    rewrite_and_run(page, answer, f"answer = {call_with(mistake.value, given)!r}")
    rewrite_and_run(page, grade)
    said = " ".join(grade.locator(".jp-OutputArea").inner_text().split())
    assert mistake.say in said
    assert "✗" in said
    rewrite_and_run(page, answer, f"answer = {exercise.expected(given)!r}")
    rewrite_and_run(page, grade)
    said = grade.locator(".jp-OutputArea").inner_text()
    assert "✓" in said
    assert f"{exercise.points:g} of {exercise.points:g} point" in said

    readout = page.locator(".gpubook-readout").first
    before = readout.inner_text()
    page.locator(".gpubook-figure input[type=range]").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("([e, before]) => e.innerText !== before", arg=[readout.element_handle(), before])
    assert watch.foreign == []


def test_a_row_of_the_feedback_leads_to_its_question_and_the_page_stays(page, watch, lab):
    url, study = lab
    (study / "feedback.html").write_text(feedback_page(texts=60))
    page.goto(f"{url}/lab/tree/feedback.html?token=t&reset")
    viewer = page.locator(".jp-HTMLViewer iframe")
    shown = viewer.element_handle(timeout=60_000).content_frame()
    row = shown.locator("#verdicts a").first
    row.wait_for()
    before = shown.url
    row.click()
    shown.wait_for_function("scrollY > 0")
    assert before.startswith("blob:")
    assert shown.url == f"{before}#question-t-one"
    below = shown.locator("#question-t-one").bounding_box()["y"] - viewer.bounding_box()["y"]
    assert -2 < below < 2
    assert watch.foreign == []
    assert [e for e in watch.errors if "favicon" not in e] == []
