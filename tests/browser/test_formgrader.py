"""A teacher in nbgrader's formgrader, in a real browser: reads an answer in words, grades it, and says why."""

import contextlib
import os
import subprocess
import sys
import time
import urllib.request

import pytest
from bs4 import BeautifulSoup

from autograder import course
from autograder.course import gradebook
from tests.autograder.answers.test_written import DECLARED, HOSTILE, grades, submit
from tests.autograder.grading.test_attachments import base, png
from tests.browser.conftest import free_port

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course in which ann's answer in words waits, and bob has none."""
    folder = tmp_path_factory.mktemp("formgrader") / "course"
    course.init(folder)
    (folder / "exercises" / "mine.py").write_text(DECLARED)
    course.assign(folder, "hw", exercises=["mine-why", "mine-steps"])
    shows = "from IPython.display import HTML, display\ndisplay(HTML('<script>window.hacked = 1</script>'))\n"
    picture = {"mine.png": {"image/png": base(png(2, 1))}}
    submit(folder, "ann", {"mine-why": f"{HOSTILE}![plot](attachment:mine.png)"}, shows + "answer = 14", picture)
    submit(folder, "bob", {})
    course.grade(folder, "hw")
    return folder


@pytest.fixture(scope="module")
def server(graded):
    """JupyterLab in the course's folder, as docs/teaching.md has it."""
    port, log = free_port(), graded.parent / "lab.log"
    command = [sys.executable, "-m", "jupyter", "lab", f"--port={port}", "--ServerApp.port_retries=0", "--no-browser"]
    command += ["--IdentityProvider.token=t", "--allow-root", f"--ServerApp.root_dir={graded}"]
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(graded.parent / "config")}
    with log.open("w") as out:
        running = subprocess.Popen(command, cwd=graded, env=environment, stdout=out, stderr=out, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            if running.poll() is not None:
                pytest.fail(f"JupyterLab ended at once:\n{log.read_text()}")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{url}/api/status?token=t", timeout=2).read()
                break
            time.sleep(0.2)
        else:
            pytest.fail(f"JupyterLab did not answer within a minute:\n{log.read_text()}")
        yield url
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, 15)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(15)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, 9)


def test_an_answer_in_words_is_graded_in_formgrader(page, watch, graded, server):
    page.goto(f"{server}/tree?token=t")
    page.goto(f"{server}/formgrader/gradebook/hw/hw/")
    page.get_by_role("link", name="Submission #1").wait_for(timeout=30_000)
    page.get_by_role("button", name="Show All Names").click()
    page.get_by_role("link", name="ann", exact=True).click()
    score = page.locator("input[id='mine-why']")
    page.locator("input[id='mine-why'].needs_manual_grade").wait_for(timeout=30_000)
    answer = page.locator(".nbgrader_cell", has=score)
    assert answer.locator("strong", has_text="slow").count() == 1
    assert answer.locator("math").count() == 1
    assert answer.locator("script").count() == 0
    pictures = answer.locator("img").evaluate_all("all => all.map(i => [i.alt, i.naturalWidth, i.naturalHeight])")
    assert pictures == [["plot", 2, 1]]
    assert page.evaluate("window.hacked") is None

    with page.expect_response(lambda r: "/api/grade/" in r.url and r.request.method == "PUT"):
        score.fill("2.5")
        score.press("Tab")
    comment = page.locator("textarea[id='mine-why-comment']")
    with page.expect_response(lambda r: "/api/comment/" in r.url and r.request.method == "PUT"):
        comment.fill("How would **you** measure it?")
        comment.press("Tab")
    if target := os.environ.get("GPUBOOK_SCREENSHOTS"):
        page.screenshot(path=f"{target}/formgrader.png", full_page=True)

    assert grades_of(graded, "ann") == (None, 2.5, False)
    assert gradebook.waiting(graded, "hw") == {}
    course.show_feedback(graded, "hw")
    shown = BeautifulSoup((graded / "feedback" / "ann" / "hw" / "hw.html").read_text(), "html.parser")
    first = " ".join(shown.select_one("#verdicts tr").get_text(" ").split())
    assert first == "Exercise 1 · Why · 3 points 2.5 of 3.0 points: How would you measure it?"
    assert shown.find("strong", string="you")
    course.grade(graded, "hw")
    assert grades_of(graded, "ann") == (None, 2.5, False)
    assert watch.foreign == []
    assert [e for e in watch.errors if "favicon" not in e] == []


def grades_of(folder, who):
    return grades(folder, who, ("mine-why",))["mine-why"]
