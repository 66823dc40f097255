"""What a beginner sees in JupyterLab before anything runs: the start page with its table, and in a chapter its figures,
never the source of its texts."""

import json

import nbformat
import pytest

from autograder.book.outputs import executed, prerun_outputs
from autograder.learner import start_page, trust
from autograder.learner.notebook_file import written
from autograder.learner.overview import overview
from autograder.learner.progress import Progress
from autograder.learner.shown import Shown
from tests.autograder.learner.test_overview import WRONG
from tests.browser.jupyterlab import open_notebook
from tests.conftest import ROOT
from tests.kept import loaded

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "03-rooflines"
# How often a text's source was on the screen, looked at all the time.
RAW = """() => {
  window.rawTexts = 0;
  setInterval(() => {
    for (const source of document.querySelectorAll(".jp-NotebookPanel .jp-MarkdownCell .jp-InputArea-editor")) {
      const { top, bottom, height } = source.getBoundingClientRect();
      if (height && bottom > 0 && top < innerHeight) window.rawTexts += 1;
    }
  }, 20);
}"""


def test_the_start_page_shows_its_table_before_anything_runs_and_leads_to_a_chapter_and_back(page, watch, lab):
    url, _ = lab
    page.goto(f"{url}/?token=t")
    table = page.locator(".jp-NotebookPanel .gpubook-overview table")
    table.wait_for(timeout=60_000)
    assert page.url.startswith(f"{url}/lab/tree/00-start.ipynb")
    assert table.locator("tbody tr").count() == len(list((ROOT / "chapters").iterdir()))
    assert page.locator(".jp-NotebookPanel .jp-CodeCell .jp-InputPrompt").first.inner_text() == "[ ]:"
    table.get_by_role("link", name="3. Rooflines").click()
    page.get_by_role("heading", name="3. Rooflines", level=1).wait_for(timeout=60_000)
    page.get_by_role("link", name="All chapters, and what you have done").click()
    table.wait_for()
    assert watch.foreign == []


def test_figures_are_there_before_anything_runs_and_move(page, watch, lab, tmp_path):
    url, study = lab
    chapter = loaded(ROOT, CHAPTER)
    learner = nbformat.read(ROOT / "chapters" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    archive = prerun_outputs.keep(tmp_path, chapter, learner, executed.run(chapter, ROOT, ROOT / ".build"))
    edition = json.loads((ROOT / "chapters" / CHAPTER / f"{CHAPTER}.ipynb").read_text())
    (study / "unrun").mkdir()
    unrun = study / "unrun" / f"{CHAPTER}.ipynb"
    unrun.write_bytes(written(Shown(archive).put(edition, edition)))
    trust.keep({unrun: None})  # as after `gpubook start`
    open_notebook(page, url, f"unrun/{CHAPTER}.ipynb")
    notebook = page.locator(".jp-NotebookPanel .jp-Notebook")
    drawn = notebook.locator(".gpubook-still img")
    drawn.first.wait_for()
    assert drawn.first.evaluate("image => image.complete && image.naturalWidth > 100")
    readout = notebook.locator(".gpubook-readout").first
    # Where a slow kernel connects meanwhile, jupyterlab-widgets 3.0.17 calls a stored model missing until one reloads.
    missing = notebook.get_by_text("model not found").first
    readout.or_(missing).first.wait_for(timeout=60_000)
    if missing.is_visible():
        page.reload()
        readout.wait_for(timeout=60_000)
    before = readout.inner_text()
    notebook.locator(".gpubook-figure input[type=range]").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("([e, before]) => e.innerText !== before", arg=[readout.element_handle(), before])
    prompts = notebook.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
    assert {text.strip() for text in prompts} == {"[ ]:"}, "nothing has run"
    assert watch.foreign == []


def test_the_table_leads_to_the_exercise_where_one_was(page, lab):
    url, study = lab
    (study / "again").mkdir()
    at = study / "again" / "progress.ipynb"
    Progress.below(study).attempt("rooflines-ridge", "answer = 1", WRONG)
    at.write_bytes(written(start_page.OverviewTable(overview(at.parent)).put(start_page.page(), {})))
    open_notebook(page, url, "again/progress.ipynb")
    page.get_by_role("link", name="Continue here").click()
    page.get_by_role("heading", name="3. Rooflines", level=1).wait_for(timeout=60_000)
    page.get_by_role("tab", name="progress.ipynb").click()  # with every cell in the document it is opened at a guess
    page.get_by_role("link", name="Continue here").click()
    prompt = page.locator(".jp-MarkdownCell", has_text="Exercise 3.3").first
    in_view = "e => 0 <= e.getBoundingClientRect().top && e.getBoundingClientRect().bottom < innerHeight"
    page.wait_for_function(in_view, arg=prompt.element_handle(), timeout=60_000)


def test_a_chapter_opens_without_the_source_of_its_texts_which_shows_where_one_edits(page, lab):
    url, _ = lab
    page.add_init_script(f"({RAW})()")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 2})
    page.goto(f"{url}/lab/tree/{CHAPTER}/{CHAPTER}.ipynb?token=t&reset")
    heading = page.get_by_role("heading", name="Two clocks")
    heading.wait_for(timeout=120_000)
    assert page.evaluate("rawTexts") == 0
    heading.dblclick()
    page.wait_for_function("rawTexts > 0")
