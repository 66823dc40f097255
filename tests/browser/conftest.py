"""A real browser, a JupyterLab server and the built book for the browser tests."""

import contextlib
import os
import socket
import sys
from dataclasses import dataclass, field

import pytest

from autograder.book.print.chromium import find_chromium
from tests.browser.started import started
from tests.conftest import ROOT

HERE = ("127.0.0.1", "localhost")
LOCAL = (*(f"{p}://{host}" for p in ("http", "ws") for host in HERE), "data:", "blob:", "file:", "about:")
# Headless and silent: no first-run pages and no calls home; no sandbox of its own, since CI runs as root.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Watch:
    """What a page asked of other hosts, and what it complained about."""

    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def attach(self, page):
        page.on("request", lambda r: None if r.url.startswith(LOCAL) else self.foreign.append(r.url))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        return page


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail("REQUIRE_BROWSER=1, but neither $CHROMIUM nor an installed Chromium or Chrome was found")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def page(chromium, watch):
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    yield watch.attach(context.new_page())
    context.close()


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A JupyterLab over a fresh copy of the book, as `gpubook lab` starts it; yields (url, folder)."""
    study, port = tmp_path_factory.mktemp("lab") / "study", free_port()
    log = study.parent / "lab.log"
    # Every cell stays in the document, however far it is scrolled away.
    tracker = study.parent / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    tracker.write_text('{"windowingMode": "none"}')
    env = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(study.parent / "config"),
        "JUPYTERLAB_SETTINGS_DIR": str(study.parent / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(study.parent / "workspaces"),
    }
    command = [sys.executable, "-m", "autograder", "lab", str(study), "--no-browser"]
    command += ["--port", str(port), "--token", "t"]
    url = f"http://127.0.0.1:{port}"
    with started(command, f"{url}/api/status?token=t", log, cwd=ROOT, env=env):
        yield url, study
