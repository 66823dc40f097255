"""Live figures answer to the keyboard, in a page without a kernel and in JupyterLab."""

import json
import shutil
from math import ceil

import pytest

from hwlib import widgets
from hwlib.roofline import exact_critical_batch
from hwlib.specs import accelerators
from tests.browser.jupyterlab import open_notebook, run_all
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
BATCH = ".gpubook-figure input[name=B]"
SHOWS = "() => document.querySelector('.role-title text').textContent.includes('{}')"
FIGURE = '<figure class="live" data-live="{}"><script type="application/json">{}</script></figure>'


def press(page, selector, key, times):
    page.locator(selector).first.focus()
    for _ in range(times):
        page.keyboard.press(key)


def readout(page, name):
    return float(page.locator(".gpubook-readout").first.get_attribute(f"data-{name}"))


def title(page):
    return page.locator(".role-title text").first.text_content()


def no_kernel_page(folder, figures, style=""):
    """A page with the book's own host for live figures, and the vega that the book ships."""
    shutil.copy(ROOT / "docs" / "_static" / "live.js", folder)
    (folder / "vendor").symlink_to(ROOT / ".build" / "vendor")
    page = folder / "page.html"
    safe = [(kind, json.dumps(data).replace("<", "\\u003c")) for kind, data in figures]
    body = "".join(FIGURE.format(*figure) for figure in safe)
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>f</title><body style="{style}">'
    page.write_text(f'{head}<main>{body}</main><script src="live.js"></script>')
    return page.as_uri()


def explorer():
    state = widgets.roofline_explorer().get_state()
    hidden = ("layout", "tabbable", "tooltip")
    own = {k: v for k, v in state.items() if not k.startswith("_") and k not in hidden}
    return "anywidget", {"esm": state["_esm"], "css": state["_css"], "state": own}


@pytest.fixture(scope="module")
def vendor():
    from autograder.book.site.vendor import fetch

    lock, folder = ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor"
    fetch(lock, folder)
    return fetch(lock, folder, ["axe-core"])  # which the book does not need


def test_the_explorer_runs_without_a_kernel(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [explorer()]))
    page.wait_for_selector("figure.live[data-ready=true]")
    before = readout(page, "intensity")
    assert "memory-bound" in page.locator(".gpubook-readout").inner_text()
    press(page, BATCH, "ArrowRight", 24)  # six doublings: B = 16 to 1024
    assert page.locator(BATCH).get_attribute("aria-valuetext") == "1,024"
    assert readout(page, "intensity") > 40 * before
    assert "compute-bound" in page.locator(".gpubook-readout").inner_text()
    page.locator("select[name=chip]").select_option("v100-sxm2")
    assert page.locator("select[name=dtype]").input_value() == "fp16"  # it has no bf16
    assert readout(page, "ridge") == pytest.approx(139, abs=1)
    assert watch.errors == []
    assert watch.foreign == []


@pytest.mark.parametrize("style", ["background:#fff;color:#222", "background:#121212;color:#ced6dd"])
def test_the_explorer_is_accessible_in_light_and_dark(page, tmp_path, style, vendor):
    page.goto(no_kernel_page(tmp_path, [explorer()], style))
    page.wait_for_selector("figure.live[data-ready=true]")
    page.add_script_tag(path=str(vendor / "axe-core" / "axe.min.js"))
    found = page.evaluate("axe.run('figure.live')")
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []


def test_the_chart_runs_without_a_kernel(page, watch, tmp_path, vendor):
    chart = widgets.intensity_explorer()
    page.goto(no_kernel_page(tmp_path, [("vega", {"spec": chart.spec})]))
    page.wait_for_selector("figure.live[data-ready=true]", timeout=60_000)
    assert "bf16: 310, int8: 155, int4: 78" in title(page)
    press(page, "input[type=range]", "ArrowLeft", 15)
    page.wait_for_function(SHOWS.format("D = 512,"))
    h100 = accelerators["h100-sxm"]
    batch = exact_critical_batch(512, 28672, h100.bf16_flops, h100.hbm_bandwidth)
    assert f"bf16: {ceil(batch)}," in title(page)
    assert watch.errors == []
    assert watch.foreign == []


def test_all_views_of_a_chart_are_as_wide_on_a_telephone(page, tmp_path, vendor):
    chart = widgets.payload_explorer()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(no_kernel_page(tmp_path, [("vega", {"spec": chart.spec})]))
    page.wait_for_selector("figure.live[data-ready=true]", timeout=60_000)
    boxes = page.locator("g[class*=concat_] path.background")
    wide = boxes.evaluate_all("all => all.map(e => Math.round(e.getBBox().width)).filter(w => w > 100)")
    assert len(wide) > 1
    assert len({*wide}) == 1
    assert wide[0] < 390


def test_both_run_in_jupyterlab_and_python_follows_the_reader(page, watch, lab):
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    url, study = lab
    cells = ["from hwlib import widgets\nw = widgets.roofline_explorer()\nw", "widgets.intensity_explorer()"]
    cells += ["w.D = 512", "print('B is', w.B)"]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(cells=[new_code_cell(c) for c in cells], metadata=python)
    nbformat.write(notebook, study / "figures.ipynb")
    open_notebook(page, url, "figures.ipynb")
    run_all(page, ".gpubook-readout")
    page.wait_for_selector(".role-title text", timeout=60_000)
    page.wait_for_function("() => document.querySelector('input[name=D]')?.ariaValueText === '512'")
    press(page, BATCH, "ArrowRight", 4)
    assert page.locator(BATCH).get_attribute("aria-valuetext") == "32"
    page.locator(".jp-NotebookPanel .jp-Cell").last.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.body.innerText.includes('B is 32')", timeout=20_000)
    page.locator(".vega-bindings input[type=range]").first.fill("6144")
    page.wait_for_function(SHOWS.format("D = 6,144,"))
    assert watch.foreign == []
