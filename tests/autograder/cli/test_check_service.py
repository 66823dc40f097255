"""The teacher's commands around the check service."""

import csv
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.course import layout
from autograder.course.service.attempts import Ledger
from autograder.course.service.tokens import CourseTokens


@pytest.fixture
def folder(tmp_path):
    layout.init(tmp_path / "c")
    return tmp_path / "c"


def run(*words):
    return CliRunner().invoke(commands.main, ["course", *map(str, words)])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_tokens_are_written_once_and_replaced_when_stolen(folder):
    assert run("tokens", folder, "ann", "=bob()").exit_code == 0
    rows = read(folder / "tokens.csv")
    assert [row[0] for row in rows] == ["id", "ann", "'=bob()"]
    assert (folder / "tokens.csv").stat().st_mode & 0o777 == 0o600
    kept = CourseTokens(folder)
    assert [kept.learner(row[1]) for row in rows[1:]] == ["ann", "=bob()"]
    assert run("tokens", folder, "ann").exit_code == 1  # has one
    assert rows == read(folder / "tokens.csv")
    assert run("tokens", folder, "--renew", "ann", "--output", folder / "new.csv").exit_code == 0
    assert kept.learner(rows[1][1]) is None
    assert kept.learner(read(folder / "new.csv")[1][1]) == "ann"
    assert run("tokens", folder, "--revoke", "ann").exit_code == 0
    assert kept.learner(read(folder / "new.csv")[1][1]) is None


@pytest.mark.parametrize("words", [["--renew"], ["--revoke"], ["--days", "0"]])
def test_what_would_touch_everybody_is_refused(folder, words):
    assert run("tokens", folder, *words).exit_code == 2


def test_used_attempts_are_shown_inert_and_given_again(folder):
    assert run("attempts", folder).exit_code == 1
    with Ledger(folder) as ledger:
        ledger.take("ann\x1b[31m", "mine-a", "x", allowed=5, key="k", assignment="w")
        ledger.take("bob", "mine-a", "x", allowed=5, key="k", assignment="w")
    shown = run("attempts", folder)
    assert shown.exit_code == 0
    assert "\x1b" not in shown.output
    assert run("attempts", folder, "bob").output.count("mine-a") == 1
    assert run("attempts", folder, "--csv", folder / "used.csv").exit_code == 0
    assert [row[:3] for row in read(folder / "used.csv")[1:]] == [["ann [31m", "mine-a", "1"], ["bob", "mine-a", "1"]]
    assert run("attempts", folder, "--again", "bob/mine-a").exit_code == 0
    assert run("attempts", folder, "bob").exit_code == 1


@pytest.mark.parametrize("command", ["serve", "tokens", "attempts"])
def test_a_folder_that_is_no_course_is_named(tmp_path, command):
    result = run(command, tmp_path)
    assert result.exit_code == 1
    assert "not a course" in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def served(folder, monkeypatch):
    """What `course serve` says and how it would serve, with an address in the course's configuration."""

    def run_with(url, *words, fault=()):
        with open(folder / "nbgrader_config.py", "a") as config:
            config.write(f"\nc.CheckService.url = {url!r}\n")
        options = {}

        async def serve(course, make, *, listening, ready, reached, **rest):
            options.update(rest)
            listening(4711)
            for word in fault:
                reached(word)

        monkeypatch.setattr("autograder.course.service.server.serve", serve)
        with ThreadPoolExecutor(1) as thread:  # a browser of other tests runs its event loop in this one
            return thread.submit(run, "serve", folder, *words).result(), options

    for name in ("JUPYTERHUB_API_TOKEN", "JUPYTERHUB_SERVICE_NAME", "JUPYTERHUB_SERVICE_URL"):
        monkeypatch.delenv(name, raising=False)
    return run_with


@pytest.mark.parametrize(
    ("url", "paths"),
    [
        ("https://gpu101.example.org/check", ("/", "/check/")),
        ("https://gpu101.example.org", ("/", "/")),
        ("/services/check/", ("/", "/services/check/")),
    ],
)
def test_it_serves_the_address_that_the_configuration_promises_and_names_it(served, url, paths):
    result, options = served(url)
    assert result.exit_code == 0, result.output
    assert f"{url.rstrip('/')}/" in result.output
    assert "http://127.0.0.1:4711/" in result.output
    assert options["paths"] == paths


def test_it_says_whether_it_is_reached_where_notebooks_ask(served):
    url = "https://gpu101.example.org/check/"
    result, options = served(url, fault=("the proxy is away", ""))
    assert options["address"] == url
    assert "Note: the proxy is away." in result.output
    assert f"Reached at {url}" in result.output
    assert "Reached" not in served("", fault=("",))[0].output


def test_a_prefix_is_served_beside_it(served):
    _, options = served("https://gpu101.example.org/check/", "--prefix", "/x/")
    assert options["paths"] == ("/x/", "/check/")


def test_without_an_address_it_says_that_no_notebook_asks(served):
    result, options = served("")
    assert "c.CheckService.url" in result.output
    assert options["paths"] == ("/",)


def test_an_address_to_which_no_token_may_go_is_told_before_it_listens(served):
    result, options = served("http://gpu101.example.org/")
    assert result.exit_code == 1
    assert "c.CheckService.url" in result.output
    assert options == {}
