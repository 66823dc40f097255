"""The card of an exercise in a real JupyterLab, a verdict in colour, and what is said after a restart."""

import json

import nbformat
import pytest

from autograder.declaration import load_bank
from autograder.values.inline_html import inline_html
from tests.browser.jupyterlab import open_notebook, rewrite_and_run
from tests.browser.served import checked
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "03-rooflines"
IMPORTS = "from autograder import card, check, grade"
SOLUTIONS = ROOT / "solutions"


@pytest.fixture
def cells(page, lab):
    """Open a notebook of these cells, of which the first are run: what gives a cell by its number."""

    def opened(name, sources, run=None):
        url, study = lab
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, study / CHAPTER / f"{name}.ipynb")
        open_notebook(page, url, f"{CHAPTER}/{name}.ipynb")
        cell = page.locator(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        for number in range(len(sources) if run is None else run):
            rewrite_and_run(page, cell.nth(number))
        return cell.nth

    return opened


def progress(lab):
    return json.loads((lab[1] / ".gpubook" / "progress.json").read_text())["exercises"]


def card(cell):
    form = cell.locator(".gpubook-card form[data-ready]")
    form.wait_for()
    return form


def said(form, kind):
    """The verdict, once it is of this kind."""
    form.page.wait_for_function("([e, kind]) => e.dataset.verdict === kind", arg=[form.element_handle(), kind])
    assert form.locator(".verdict").get_attribute("role") == "status"
    return form.locator(".verdict").inner_text()


def colours(element):
    return element.evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e.closest('.jp-Notebook')).backgroundColor]"
    )


def test_each_kind_of_input_is_judged_right_and_wrong(page, watch, lab, cells):
    names = {
        "number": "rooflines-vector-add",
        "count": "gpu-architecture-cycle-flops",
        "choice": "rooflines-erratum-link",
        "formula": "rooflines-double-buffer",
        "record": "memory-hierarchy-schedule",
    }
    cell = cells("kinds", [IMPORTS, *(f'card("{name}")' for name in names.values())])
    form = {kind: card(cell(number)) for number, kind in enumerate(names, start=1)}

    field = form["number"].locator("input")
    field.fill("2*2*2^30/8e12 s")
    form["number"].get_by_text("Read as 536.9 us").wait_for()
    field.press("Enter")
    assert said(form["number"], "wrong").startswith("✗ Both inputs are read.")
    field.fill("3*2*2^30/8e12 s")
    form["number"].get_by_role("button", name="Check").click()
    told = said(form["number"], "right")
    assert told.startswith("✓ Right.")
    assert "answer = '3*2*2^30/8e12 s'" in told

    bank = load_bank(SOLUTIONS / "01-gpu-architecture")
    count = bank[names["count"]]
    right = count.expected(count.variant())
    for text, kind in ((str(int(right) + 1), "wrong"), (str(int(right)), "right")):
        form["count"].locator("input").fill(text)
        form["count"].get_by_role("button", name="Check").click()
        said(form["count"], kind)

    radios = form["choice"].locator("input[type=radio]")
    radios.first.focus()
    for _ in range(radios.count()):  # in whichever order they stand
        page.keyboard.press("ArrowDown")  # the keys are the card's, not Lab's
        if form["choice"].locator("input:checked").get_attribute("value") == "same":
            break
    assert form["choice"].locator("input:checked").get_attribute("value") == "same"
    page.keyboard.press("Enter")
    assert said(form["choice"], "wrong").startswith("✗ ")
    choice = load_bank(SOLUTIONS / CHAPTER)[names["choice"]]
    form["choice"].locator(f"input[value='{choice.expected({})}']").check()
    form["choice"].get_by_role("button", name="Check").click()
    said(form["choice"], "right")

    form["formula"].locator("input").fill("t_C/n + t_W")
    form["formula"].locator(".echo mfrac").wait_for()
    form["formula"].locator("input").press("Enter")
    said(form["formula"], "wrong")
    form["formula"].locator("input").fill("(t_C + t_W)/n + (n - 1)/n*max(t_C, t_W)")
    form["formula"].locator("input").press("Enter")
    assert said(form["formula"], "right").startswith("✓ Right.")

    record = load_bank(SOLUTIONS / "02-memory-hierarchy")[names["record"]]
    best = record.expected(record.variant())
    for name, value in best.items():
        form["record"].locator(f"[name='{name}']").evaluate("(e, value) => { e.value = value; }", str(value))
    first = form["record"].locator("input[name]").first
    kept = first.input_value()
    first.fill("many")
    form["record"].get_by_role("button", name="Check").click()
    said(form["record"], "unread")
    first.fill(kept)
    form["record"].get_by_role("button", name="Check").click()
    page.wait_for_function("e => e.hasAttribute('data-solved')", arg=form["record"].element_handle())

    checked(page, ".gpubook-card")
    kept = progress(lab)
    assert all(kept[name]["best"]["score"] == 1 for name in names.values())
    assert (watch.foreign, watch.errors) == ([], [])


def test_code_stays_in_its_cell_and_a_prediction_is_made_once(page, lab, cells):
    exercise = load_bank(SOLUTIONS / CHAPTER)["rooflines-block-scales"]
    wrong = "def weight_bytes(*shape):\n    print('seen')\n    return 1"
    guess = 'card("rooflines-predict-batch")'
    cell = cells("code", [IMPORTS, wrong, f'card("{exercise.id}")', guess, guess], run=4)
    form = card(cell(2))
    assert form.locator("textarea").count() == 0
    form.get_by_role("button", name="Check").click()
    assert said(form, "wrong").startswith("✗ ")
    assert "seen" in form.locator(".printed").inner_text()

    form = card(cell(3))
    form.locator("label").nth(1).click()
    form.locator("button[type=submit]").click()
    told = said(form, "told")
    assert 'reveal("rooflines-predict-batch")' in told
    assert form.locator("input").first.is_disabled()
    chosen = form.locator("input:checked").get_attribute("value")
    rewrite_and_run(page, cell(4))  # it is made once, whichever card asks
    again = card(cell(4))
    assert again.locator("input:checked").get_attribute("value") == chosen
    assert again.locator("button[type=submit]").is_disabled()
    assert said(again, "told").strip() == told.partition("\n")[0]
    assert progress(lab)["rooflines-predict-batch"]["prediction"]["source"] == chosen


def test_hints_are_counted_the_solution_unfolds_and_all_is_there_again(page, lab, cells):
    name = "rooflines-critical-width"
    cell = cells("again", [IMPORTS, f'card("{name}")', f'card("{name}")'], run=2)
    form, whole = card(cell(1)), cell(1).locator(".exercise")
    assert form.get_by_role("button", name="Solution").count() == 0
    form.locator("input").fill("B")
    form.locator("input").press("Enter")
    verdict = said(form, "wrong")
    form.locator("button.hint").click()
    exercise = load_bank(SOLUTIONS / CHAPTER)[name]
    assert whole.locator("details.hint:not([hidden])").count() == 1
    first = inline_html(exercise.hints[0])
    assert first in whole.locator("details.hint").first.inner_html()
    form.locator("button.solution").click()
    whole.locator("details.solution math").first.wait_for()
    for _ in range(50):  # until it is written
        kept = progress(lab)[name]
        if "solution" in kept:
            break
        page.wait_for_timeout(100)
    assert (kept["hints"], "solution" in kept, kept["answer"]["source"]) == (1, True, "B")

    rewrite_and_run(page, cell(2))
    form, whole = card(cell(2)), cell(2).locator(".exercise")
    assert form.locator("input").input_value() == "B"
    assert verdict.startswith(said(form, "wrong").partition("\n")[0])
    assert whole.locator("details.hint:not([hidden])").count() == 1
    whole.locator("details.solution summary").click()
    whole.locator("details.solution math").first.wait_for()


def test_a_verdict_has_its_colour_and_points_are_words(page, lab, cells):
    grade = 'grade("rooflines-ridge", answer)'
    formula = 'from autograder.declaration import verdict\nverdict.not_yet(r"Yours is $\\frac{S}{W}$.")'
    cell = cells("colours", [grade, IMPORTS, f"answer = 1\n{grade}", f'answer = "281.25"\n{grade}', formula])
    restart = cell(0).locator(".jp-OutputArea").inner_text()
    assert "NameError" in restart
    assert "run the first cell of the notebook" in restart
    wrong, right = (cell(number).locator(".gpubook-verdict") for number in (2, 3))
    assert [one.inner_text()[0] for one in (wrong, right)] == ["✗", "✓"]
    assert [one.get_attribute("role") for one in (wrong, right)] == ["status"] * 2
    text = [cell(number).locator(".jp-OutputArea").inner_text() for number in (2, 3)]
    assert "0 of 1 point" in text[0]
    assert "1 of 1 point" in text[1]
    assert not any("0.0" in one for one in text)
    assert "run the first cell" not in text[0]
    assert colours(wrong)[0] != colours(right)[0]
    cell(4).locator(".gpubook-verdict mjx-container").wait_for()  # Lab typesets it
    checked(page, ".gpubook-verdict")


def test_a_card_whose_kernel_was_restarted_says_so(page, lab, cells):
    form = card(cells("restarted", [IMPORTS, 'card("rooflines-ridge")'])(1))
    page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").first.click()
    page.get_by_text("Restart Kernel…", exact=True).first.click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.locator(".jp-Dialog").wait_for(state="detached")
    page.get_by_text("| Idle").wait_for()
    form.locator("input").fill("3")
    form.locator("input").press("Enter")
    assert "The kernel was restarted" in said(form, "unread")
