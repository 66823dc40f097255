"""`gpubook check` on the small book: a learner's notebook that is right, wrong, empty, crashes or never stops."""

import json
import sys
from contextlib import ExitStack, nullcontext
from functools import cache

import pytest
from click.testing import CliRunner

from autograder import sandbox
from autograder.book.source import chapters
from autograder.cli import commands
from autograder.grading import judge
from autograder.learner import progress
from tests.autograder import small_book, tiny

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="cells run in processes that only Linux has"),
]
RIGHT = {
    "links-time": "answer = '2 ms'",
    "links-count": "answer = 24",
    "links-guess": "answer = 'half'",  # a prediction, which need not come true
    "links-half": "def half(x):\n    return x/2",
}
POINTS = {"links-time": 2, "links-count": 1, "links-guess": 1, "links-half": 1, "links-why": 3}
TEXT = small_book.SOURCE[: small_book.SOURCE.index("```{code-cell} ipython3\n:caption:")]  # without its figures


@pytest.fixture(scope="module")
def book(tmp_path_factory, root):
    made = small_book.lay_out(tmp_path_factory.mktemp("check"), root, source=TEXT)
    chapters.build(made)
    return made


@pytest.fixture(scope="module")
def judges():
    """One judge for each set of declarations, as starting one takes seconds."""
    with ExitStack() as ends:
        yield cache(lambda paths, start=judge.Judge: ends.enter_context(start(paths)))


@pytest.fixture(autouse=True)
def _lent(monkeypatch, zygotes, judges):
    monkeypatch.setattr(sandbox, "Zygote", lambda: tiny.Lent(zygotes()))
    monkeypatch.setattr(sandbox, "zygote_ahead", nullcontext)
    monkeypatch.setattr(judge, "Judge", lambda paths: nullcontext(judges(tuple(paths))))
    for name in ("GPUBOOK_PROGRESS", "GPUBOOK_SOLUTIONS", "GPUBOOK_OWNER", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def study(book, tmp_path, monkeypatch):
    """A folder of the learner's own, in which `write(answers)` leaves a notebook; its key is that of the small book."""
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(book / "solutions"))
    monkeypatch.chdir(tmp_path)
    progress.mark(tmp_path)
    folder = tmp_path / "07-links"
    folder.mkdir()
    for name in ("07-links.ipynb", "exercises.json"):
        (folder / name).write_text((book / "chapters" / "07-links" / name).read_text())

    def write(answers, edit=lambda cells: cells, name="07-links.ipynb"):
        nb = json.loads((book / "chapters" / "07-links" / "07-links.ipynb").read_text())
        for cell in nb["cells"]:
            own = cell["metadata"].get("gpubook", {})
            if own.get("part") == "answer" and own["exercise"] in answers:
                cell["source"] = answers[own["exercise"]]
        nb["cells"] = edit(nb["cells"])
        (folder / name).write_text(json.dumps(nb))
        return folder / name

    return write


def run(*arguments):
    return CliRunner().invoke(commands.main, ["check", *map(str, arguments)])


def checked(*arguments, expected):
    """What --json prints, after the exit status is as expected."""
    done = run(*arguments, "--json")
    assert done.exit_code == expected, done.output
    return json.loads(done.stdout)


def by_id(told):
    (notebook,) = told["notebooks"]
    return {one["id"]: one for one in notebook["exercises"]}


def kinds(told):
    return {name: one["verdict"]["kind"] for name, one in by_id(told).items()}


def test_what_is_right_passes_and_the_record_stays_as_it_was(study, tmp_path):
    path = study(RIGHT)
    before = sorted(tmp_path.rglob("*"))
    told = checked(path, expected=0)
    assert told["passed"] is True
    assert kinds(told) == {
        "links-time": "right",
        "links-count": "right",
        "links-guess": "predicted",
        "links-half": "right",
        "links-why": "empty",
    }
    assert sorted(tmp_path.rglob("*")) == before


def test_the_json_has_the_fields_that_its_help_names(study):
    told = checked(study(RIGHT), expected=0)
    totals = {"exercises": 5, "answered": 4, "unanswered": 1, "judged": 4, "full": 4, "points": 5.0, "score": 5.0}
    assert (told["schema"], told["totals"]) == (1, totals)
    (notebook,) = told["notebooks"]
    assert notebook.keys() == {"notebook", "chapter", "passed", "totals", "exercises", "answer_cells"}
    assert notebook["answer_cells"] == {"asked": 5, "missing": [], "found": [], "own": 0, "repeated": []}
    assert (notebook["chapter"], notebook["totals"]) == ("07-links", totals)
    fields = ("id", "title", "kind", "points", "score", "judged", "answered", "verdict")
    assert all(tuple(one) == fields for one in notebook["exercises"])
    assert all(one["verdict"].keys() == {"kind", "reason", "sentence"} for one in notebook["exercises"])
    assert {one["id"]: one["points"] for one in notebook["exercises"]} == POINTS
    first, *_, last = notebook["exercises"]
    assert (first["title"], first["kind"], first["score"], first["answered"]) == ("One buffer", "Quantity", 2.0, True)
    assert (last["kind"], last["judged"], last["answered"]) == ("Written", False, False)
    said = " ".join(CliRunner().invoke(commands.main, ["check", "--help"]).output.split())
    assert all(name in said for name in (*told, *totals, *notebook, *fields, *notebook["answer_cells"]))


def test_a_mistake_is_named_and_costs_the_exit_status(study):
    told = checked(study(RIGHT | {"links-time": "answer = '6 ms'"}), expected=1)
    time = by_id(told)["links-time"]
    assert (time["score"], time["verdict"]["kind"]) == (0.0, "mistake")
    assert "mistake-sentence-one" in time["verdict"]["sentence"]
    assert told["passed"] is False
    assert told["totals"]["full"] == 3


def test_what_is_not_answered_is_said_as_such(study):
    told = checked(study({}), expected=1)
    assert set(kinds(told).values()) == {"empty"}
    assert {one["answered"] for one in by_id(told).values()} == {False}
    assert told["totals"]["unanswered"] == 5
    assert "5 without an answer" in run(study({})).output


@pytest.mark.parametrize(
    "cell", ["import os\nos._exit(3)", "while True:\n    pass", "answer = 1/0"], ids=["crashing", "endless", "failing"]
)
def test_a_cell_that_fails_or_hangs_costs_only_its_own_exercise(study, cell):
    told = checked(study(RIGHT | {"links-count": cell}), "--cell-limit", 1, expected=1)
    count = by_id(told).pop("links-count")
    assert (count["score"], count["answered"]) == (0.0, True)
    assert "Your cell " in count["verdict"]["sentence"]
    assert told["totals"]["full"] == 3


def test_an_exercise_that_was_taken_out_still_counts(study):
    def without(cells):
        return [cell for cell in cells if cell["metadata"].get("gpubook", {}).get("exercise") != "links-count"]

    told = checked(study(RIGHT, without), expected=1)
    assert kinds(told)["links-count"] == "lost"
    assert told["totals"]["points"] == 5.0
    assert told["notebooks"][0]["answer_cells"]["missing"] == ["links-count"]
    assert "has 4 of the 5 answer cells, and 0 cells of its own; not found: links-count\n" in run("07-links").stdout


def bare(cells):
    return [{**cell, "metadata": {}, "id": f"copy-{number}"} for number, cell in enumerate(cells)]


@pytest.mark.parametrize("own", [True, False])
def test_a_notebook_that_lost_its_metadata_is_checked_as_the_one_with_it(study, own):
    why = {"links-why": "Since a ring sends less."}
    expected = kinds(checked(study(RIGHT | why), expected=0))
    path = study(RIGHT | why, bare)
    if not own:
        path = path.rename(path.with_name("Untitled.ipynb"))
        nb = json.loads(path.read_text())
        path.write_text(json.dumps({**nb, "metadata": {}}))
    told = checked(path, expected=0)
    assert kinds(told) == expected
    cells = told["notebooks"][0]["answer_cells"]
    assert (cells["missing"], cells["found"]) == (list(expected), list(expected))
    assert "has none of the 5 answer cells" in run(path).stdout


@pytest.mark.parametrize("lost", [("answer",), ("prompt", "answer", "grade")])
def test_where_a_part_of_the_metadata_is_lost_every_exercise_still_counts(study, lost):
    def partly(cells):
        def loses(cell):
            about = cell["metadata"].get("gpubook", {})
            return about.get("exercise") == "links-count" and about["part"] in lost

        return [{**cell, "metadata": {}, "id": "copy"} if loses(cell) else cell for cell in cells]

    path = study(RIGHT, partly)
    nb = json.loads(path.read_text())
    path.write_text(json.dumps({**nb, "metadata": {}}))
    told = checked(path, expected=0)
    assert (told["totals"]["exercises"], kinds(told)["links-count"]) == (5, "right")
    assert told["notebooks"][0]["answer_cells"]["found"] == ["links-count"]


def test_several_answer_cells_of_an_exercise_are_mentioned(study):
    def doubled(cells):
        at = next(i for i, cell in enumerate(cells) if cell["metadata"].get("gpubook", {}).get("part") == "answer")
        return [*cells[:at], {**cells[at], "source": "answer = 7", "id": "twin"}, *cells[at:]]

    done = run(study(RIGHT, doubled))
    assert done.exit_code == 0
    assert "has several answer cells of links-time: the last counts" in done.stdout


def test_what_an_assignment_asks_and_the_notebook_lacks_is_named(study, tmp_path):
    file = tmp_path / "07-links" / "exercises.json"
    public = json.loads(file.read_text()) | {"assignment": {"name": "week3", "due": "", "shows_solutions": False}}
    file.write_text(json.dumps(public))

    def without(cells):
        return [cell for cell in cells if cell["metadata"].get("gpubook", {}).get("exercise") != "links-count"]

    assert (
        "has 4 of the 5 answer cells, and 0 cells of its own; not found: links-count"
        in run(study(RIGHT, without)).stdout
    )
    refused = run(study(RIGHT, bare))
    assert refused.exit_code == 2
    assert "the metadata that mark its cells" in refused.stderr


def test_it_records_where_it_is_asked_to(study, tmp_path):
    done = run(study(RIGHT | {"links-time": "answer = 0.006"}), "--record")
    assert done.exit_code == 1
    assert f"Recorded 4 exercises in {tmp_path}/.gpubook/progress.json" in done.stderr
    kept = json.loads((tmp_path / ".gpubook" / "progress.json").read_text())["exercises"]
    assert kept.keys() == RIGHT.keys()
    assert kept["links-guess"]["prediction"]["answer"] == "half"
    time = kept["links-time"]["answer"]
    assert (time["source"], time["verdict"]["mistakes"]) == ("0.006", ["links-time#1"])
    assert kept["links-half"]["best"]["score"] == 1


def test_several_notebooks_and_a_chapters_name(study, tmp_path, monkeypatch):
    study(RIGHT), study({}, name="second.ipynb")
    told = checked("07-links", "07-links/second.ipynb", expected=1)
    assert [one["passed"] for one in told["notebooks"]] == [True, False]
    assert told["totals"]["exercises"] == 10
    table = run("07-links", "07-links/second.ipynb").output
    assert "All 2 notebooks: 5 of 10 points" in table
    assert "The explanation-of-time." in table
    (tmp_path / "study").mkdir()
    (tmp_path / "07-links").rename(tmp_path / "study" / "07-links")
    assert checked("07-links", expected=0)["passed"]


def test_an_assignment_is_judged_as_it_was_released(study, tmp_path):
    """Of a course's own exercise the key is not at hand, and the book's release does not say what is asked."""

    def chosen(cells):
        asked = [cell for cell in cells if cell["metadata"].get("gpubook", {}).get("exercise") == "links-time"]
        own = json.loads(json.dumps(asked).replace("links-time", "own-one"))
        return [*(cell for cell in cells if "gpubook" not in cell["metadata"]), *asked, *own]

    file = tmp_path / "07-links" / "exercises.json"
    public = json.loads(file.read_text())
    public["assignment"] = {"name": "week3", "due": "", "shows_solutions": False}
    public["exercises"]["own-one"] = {**public["exercises"]["links-time"], "id": "own-one", "title": "Ours"}
    file.write_text(json.dumps(public))
    told = checked(study(RIGHT, chosen), expected=0)
    assert kinds(told) == {"links-time": "right", "own-one": "recorded"}
    own = by_id(told)["own-one"]
    assert (own["title"], own["judged"], own["answered"]) == ("Ours", False, None)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("07-none", None, "07-none.ipynb"),
        ("no.ipynb", None, "there is no such file"),
        ("text.ipynb", "hello", "not JSON"),
        ("plain.ipynb", json.dumps({"nbformat": 4, "metadata": {}, "cells": []}), "no cell of an exercise"),
    ],
)
def test_what_cannot_be_checked_is_one_line(study, tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_text(content)
    done = run(study(RIGHT), name, "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert name in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_any_key_nothing_is_judged(study, tmp_path, monkeypatch):
    (tmp_path / "none").mkdir()
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(tmp_path / "none"))
    done = run(study(RIGHT))
    assert done.exit_code == 2
    assert "GPUBOOK_SOLUTIONS" in done.stderr


def test_numbers_of_ones_own_need_to_know_whose(study, tmp_path, monkeypatch):
    file = tmp_path / "07-links" / "exercises.json"
    path = study(RIGHT | {"links-time": "answer = given('links-time')['S']/50e9"})
    public = json.loads(file.read_text())
    public["exercises"]["links-time"]["variants"] = [{"S": 1e8, "W": 5e10}, {"S": 3e8, "W": 5e10}]
    file.write_text(json.dumps(public))
    done = run(path)
    assert done.exit_code == 2
    assert "gpubook whoami" in done.stderr
    monkeypatch.setenv("GPUBOOK_OWNER", "ann")
    assert checked(path, expected=0)["passed"]


def test_elsewhere_than_on_linux_it_says_what_to_do(study, monkeypatch):
    path = study(RIGHT)
    monkeypatch.setattr(sys, "platform", "darwin")
    done = run(path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "container" in done.stderr
