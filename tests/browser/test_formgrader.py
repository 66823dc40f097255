"""A teacher in nbgrader's formgrader, in a real browser: reads an answer in words, grades it, and says why."""

import contextlib
import os
import sys
import urllib.error
import urllib.request

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder import course
from autograder.course import gradebook
from autograder.course.by_hand import server
from tests.autograder.answers.test_written import DECLARED, HOSTILE, grades, submit
from tests.autograder.grading.test_attachments import base, png
from tests.browser.conftest import free_port
from tests.browser.served import checked
from tests.browser.started import started

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
    submit(
        folder,
        "ann",
        {"mine-why": f"{HOSTILE}[away](#by-hand:%2E%2E/lab) ![plot](attachment:mine.png)"},
        shows + "answer = 14",
        picture,
    )
    submit(folder, "bob", {})
    course.grade(folder, "hw")
    return folder


@pytest.fixture(scope="module")
def running(graded):
    """JupyterLab in the course's folder, as docs/teaching.md has it."""
    port, log = free_port(), graded.parent / "lab.log"
    command = [sys.executable, "-m", "jupyter", "lab", f"--port={port}", "--ServerApp.port_retries=0", "--no-browser"]
    command += ["--IdentityProvider.token=t", "--allow-root", f"--ServerApp.root_dir={graded}"]
    command += [f"--ServerApp.jpserver_extensions={{'{server.__name__}': True}}"]  # as an installed package has it
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(graded.parent / "config")}
    url = f"http://127.0.0.1:{port}"
    with started(command, f"{url}/api/status?token=t", log, cwd=graded, env=environment):
        yield url


def test_an_answer_in_words_is_graded_in_formgrader(page, watch, graded, running):
    page.goto(f"{running}/api/status?token=t")
    page.goto(f"{running}/formgrader/gradebook/hw/hw/")
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
    note = page.locator("blockquote", has_text="For graders")
    assert "Because of the model answer." in note.inner_text()
    assert "Names the mechanism. (2 points)" in note.inner_text()
    links = [note.get_by_role("link"), answer.get_by_role("link", name="away")]
    addresses = [link.evaluate("link => link.href") for link in links]
    assert addresses[0] == f"{running}/gpubook/by_hand/hw/mine-why"
    assert addresses[1].endswith("#by-hand:%2E%2E/lab")  # a learner's own leads nowhere

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


def asked(url, body=None, cookie=""):
    """The status of a request that no page of the server's makes; 403 where it leads to the login."""
    request = urllib.request.Request(url, body, {"Cookie": cookie}, method="PUT" if body else "GET")
    try:
        answer = urllib.request.urlopen(request, timeout=5)
        return 403 if "/login" in answer.url else answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_one_question_is_graded_over_the_class_with_keys_and_two_graders_learn_of_each_other(
    chromium, page, watch, graded, running
):
    here = f"{running}/gpubook/by_hand/hw/mine-why"
    page.goto(f"{running}/api/status?token=t")
    page.goto(f"{running}/gpubook/by_hand")
    checked(page, "body")
    page.get_by_role("link", name="1 · Why").click()
    ann = page.locator("article[data-learner=ann]")
    ann.locator(".state").get_by_text("to be graded").or_(ann.locator(".state").get_by_text("graded")).wait_for()
    ann.click(position={"x": 5, "y": 5})
    for key in ("1", "Shift+Digit2", "c", "Control+A"):
        page.keyboard.press(key)
    page.keyboard.insert_text("How would *you*?")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    ann.get_by_text("2.5 of 3 points").wait_for()
    page.locator("#status", has_text="Saved").wait_for()
    assert grades_of(graded, "ann") == (None, 2.5, False)
    assert ann.locator("img").evaluate_all("all => all.map(i => i.naturalWidth)") == [2]
    assert ann.locator("script").count() == 0
    assert page.evaluate("window.hacked") is None
    checked(page, "body")

    with contextlib.closing(chromium.new_context(viewport={"width": 390, "height": 800})) as context:
        other = watch.attach(context.new_page())
        other.goto(f"{running}/api/status?token=t")
        other.goto(here)
        theirs = other.locator("article[data-learner=ann]")
        theirs.get_by_text("2.5 of 3 points").wait_for()
        assert theirs.locator("textarea").input_value() == "How would *you*?"
        assert other.evaluate("document.documentElement.scrollWidth") == 390
        theirs.locator(".criterion").nth(1).get_by_role("button").click()
        theirs.get_by_text("3 of 3 points").wait_for()
        other.locator("#status", has_text="Saved").wait_for()
        assert [e for e in watch.errors if "favicon" not in e] == []
        ann.click(position={"x": 5, "y": 5})
        page.keyboard.press("0")
        told = ann.get_by_role("alert")
        told.get_by_text("3 points (2 + 1)").wait_for()
        assert grades_of(graded, "ann") == (None, 3.0, False)
        told.get_by_role("button", name="Take theirs").click()
        ann.locator("output", has_text="3 of 3 points").wait_for()
    page.reload()
    page.wait_for_function("document.activeElement.dataset.learner === 'ann'")  # one goes on where one was
    assert [e for e in watch.errors if "409" not in e and "favicon" not in e] == []
    assert watch.foreign == []

    cookie = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    assert asked(f"{here}/state", cookie=cookie) == 200
    assert asked(f"{here}/state") == 403
    body = b'{"learner": "ann", "given": [0, 0], "comment": "", "revision": ""}'
    assert asked(f"{here}/answer", body, cookie) == 403  # without the token that only our page can send
    assert asked(f"{here}/answer?token=t", b"[]") == 400
    course.show_feedback(graded, "hw")
    shown = BeautifulSoup((graded / "feedback" / "ann" / "hw" / "hw.html").read_text(), "html.parser")
    rows = shown.find("strong", string="Points by criterion").find_next("ul").find_all("li")
    assert [row.text for row in rows] == ["✓ Names the mechanism. — 2 of 2", "✓ Says how to measure it. — 1 of 1"]


def test_equal_answers_get_one_decision_by_keys_which_is_undone(page, watch, graded, running):
    for learner in ("ann", "bob"):
        path = graded / "autograded" / learner / "hw" / "hw.ipynb"
        notebook = nbformat.read(path, as_version=4)
        cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
        cell = cells["mine-why"]
        cell.pop("attachments", None)
        cell.source = "The same words." if learner == "ann" else "the same  words"
        path.unlink()
        nbformat.write(notebook, path)
    page.goto(f"{running}/api/status?token=t")
    page.goto(f"{running}/gpubook/by_hand/hw/mine-why")
    ann = page.locator("article[data-learner=ann]")
    assert ann.locator(".alike").inner_text() == "1 other wrote the same"
    ann.click(position={"x": 5, "y": 5})
    for key in ("f", "g"):
        page.keyboard.press(key)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("the same words", exact=False).first.wait_for()
    checked(page, "body")
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button", name="Give 1 answer this grade").click()
    page.locator("#status", has_text="1 graded together").wait_for()
    assert grades(graded, "bob", ("mine-why",))["mine-why"][1] == 3.0
    page.locator("#together summary").click()
    page.locator("#together").get_by_role("button", name="Undo").click()
    page.locator("#status", has_text="1 as before").wait_for()
    assert grades(graded, "bob", ("mine-why",))["mine-why"][1] is None
    assert grades(graded, "ann", ("mine-why",))["mine-why"][1] == 3.0
    assert [e for e in watch.errors if "favicon" not in e] == []


def grades_of(folder, who):
    return grades(folder, who, ("mine-why",))["mine-why"]
