import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from click.testing import CliRunner
from jupyter_client import BlockingKernelClient

from autograder.cli import commands
from autograder.learner import jupyterlab, study
from autograder.learner.progress import Progress, mark

RIGHT = {"kind": "right", "reason": "", "mistakes": [], "score": 1.0, "points": 1, "say": ""}


@pytest.fixture
def mine(tmp_path):
    """A study folder of two chapters with an exercise each."""
    for name in ("01-a", "02-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.ipynb").write_text(
            json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        )
        (tmp_path / name / "exercises.json").write_text(json.dumps({"exercises": {f"{name[3:]}-x": {}}}))
    mark(tmp_path)
    return tmp_path


def opened(folder):
    found = jupyterlab.first_shown(folder)
    return found and found.name


def test_a_beginner_begins_with_the_first_chapter(mine, tmp_path):
    assert opened(mine) == "01-a.ipynb"
    assert opened(tmp_path / "01-a") is None


def test_a_beginner_begins_with_the_start_page_where_there_is_one(mine):
    (mine / "00-start.ipynb").write_text("{}")
    assert opened(mine) == "00-start.ipynb"
    Progress.below(mine).attempt("of-no-chapter", "answer = 1", RIGHT)
    assert opened(mine) == "00-start.ipynb"
    Progress.below(mine).attempt("b-x", "answer = 1", RIGHT)
    assert opened(mine) == "02-b.ipynb"


def test_it_opens_the_chapter_of_the_last_answer_or_prediction(mine):
    progress = Progress.below(mine)
    progress.attempt("b-x", "answer = 1", RIGHT)
    assert opened(mine) == "02-b.ipynb"
    progress.attempt("of-no-chapter", "answer = 1", RIGHT)
    assert opened(mine) == "02-b.ipynb"
    data = progress.data()
    data["exercises"]["a-x"] = {"prediction": {"answer": 1, "source": "", "time": "2999-01-01T00:00:00.000Z"}}
    progress.merge(data)
    assert opened(mine) == "01-a.ipynb"


@pytest.mark.parametrize("record", ["no JSON", '{"format": 99}'])
def test_a_record_that_cannot_be_read_opens_the_first_chapter(mine, record):
    (mine / ".gpubook" / "progress.json").write_text(record)
    (mine / "01-a" / "exercises.json").write_text("no JSON")
    assert opened(mine) == "01-a.ipynb"


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path):
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(commands.main, ["lab", str(tmp_path), "--no-browser", "--port", port])
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: the port {port} is taken; ")
    assert len(result.output.splitlines()) == 1


def test_a_missing_jupyterlab_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(jupyterlab, "find_spec", lambda name: None)
    result = CliRunner().invoke(commands.main, ["lab", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output == "Error: JupyterLab is not installed here: pip install jupyterlab\n"


@contextlib.contextmanager
def running(folder, env):
    """`gpubook lab` on a folder: its first line, and the process, which is ended by Ctrl-C."""
    command = [sys.executable, "-m", "autograder", "lab", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as server:
        lines = (line for line in iter(server.stdout.readline, "") if line.rstrip() != study.without_figures())
        try:
            yield next(lines, ""), server
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


LINE = re.compile(r"Your book is at (http://localhost:\d+)/lab/tree/(\S+)\.ipynb(\?token=\w+) \(Ctrl-C ends it\)\n")


def wait_until_ready(client):
    """A client takes a heartbeat that is late by a second, as on a busy machine, for the kernel's death: ask again."""
    end = time.monotonic() + 60
    while True:
        try:
            return client.wait_for_ready(60)
        except RuntimeError:
            if time.monotonic() > end:
                raise


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_server_says_where_the_book_is_and_nothing_else(tmp_path):
    own = {"HOME": "home", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime"}
    env = {**os.environ, **{name: str(tmp_path / folder) for name, folder in own.items()}}
    notes = {study.without_figures()}  # of a book that another test may be building
    with running(tmp_path / "study", env) as (line, server):
        found = LINE.fullmatch(line)
        assert found, line
        assert found[2] == "00-start"

        def ask(path, data=None):
            with urllib.request.urlopen(f"{found[1]}/api/{path}{found[3]}", data, timeout=60) as answer:
                return json.load(answer)

        kernel = ask("kernels", json.dumps({"name": "python3"}).encode())
        client = BlockingKernelClient(connection_file=str(tmp_path / "runtime" / f"kernel-{kernel['id']}.json"))
        client.load_connection_file()
        client.start_channels()
        wait_until_ready(client)
        client.stop_channels()
        server.send_signal(signal.SIGINT)
        notes.add(study.without_figures())
        assert server.stdout.read().removesuffix("\n") in notes
        assert server.wait(60) == 0
