"""Steps in JupyterLab that more than one browser test takes."""

import contextlib

# An output that is an error: its traceback is shown on red.
ERROR = ".jp-NotebookPanel .jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']"


def open_notebook(page, url, path):
    """Open a notebook in a clean workspace and wait until its kernel answers."""
    page.goto(f"{url}/lab/tree/{path}?token=t&reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    page.get_by_text("| Idle").wait_for(timeout=60_000)


def run_all(page, then=None):
    """Run All, again where JupyterLab let the first go by; wait for the selector `then`, or for the last cell."""
    for _ in range(4):
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        page.get_by_text("Run All Cells", exact=True).click()
        first = page.locator(".jp-NotebookPanel .jp-CodeCell .jp-InputPrompt").first
        with contextlib.suppress(Exception):
            page.wait_for_function("e => /\\[[\\d*]+\\]/.test(e.innerText)", arg=first.element_handle(), timeout=15_000)
            if then:
                page.wait_for_selector(then, timeout=60_000)
            else:
                wait_until_run(page, page.locator(".jp-NotebookPanel .jp-CodeCell").last, timeout=180_000)
            return
    raise AssertionError(f"JupyterLab did not run the notebook: no {then or 'last cell'}")


def wait_until_run(page, cell, timeout=30_000):
    """Wait until a cell's prompt shows a number."""
    prompt = cell.locator(".jp-InputPrompt").first.element_handle()
    page.wait_for_function("e => /\\[\\d+\\]/.test(e.innerText)", arg=prompt, timeout=timeout)


def rewrite_and_run(page, cell, source=None):
    """Type `source` into a cell in place of what it holds (None: leave it), run it, and wait for its new number."""
    cell.locator(".cm-content").click()
    if source is not None:
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(source)
    prompt = cell.locator(".jp-InputPrompt").first
    before = prompt.inner_text()
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "([e, before]) => /\\[\\d+\\]/.test(e.innerText) && e.innerText !== before",
        arg=[prompt.element_handle(), before],
        timeout=30_000,
    )
