"""Feedback shows worked solutions when nobody can submit any more, and not a minute sooner."""

import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder import course
from autograder.cli import commands
from autograder.course import gradebook
from autograder.course.feedback import feedback_steps, worked_solutions
from autograder.declaration import load_bank
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
DUE = datetime(2030, 1, 1)
MORE = """
from autograder.answers import Expression, Written, positive

WHY = Exercise(id="tiny-why", prompt="Why?", answer=Written(rubric=(("Names it.", 1),)), solution="The *model answer*.",
               hints=("Think.",))
RATIO = Exercise(
    id="tiny-ratio", prompt="How long?", answer=Expression({"S": positive("B"), "W": positive("B/s")}, "s"),
    solution=lambda S, W: S/W, explain="Bytes over bytes per second.",
    mistakes=(Mistake(lambda S, W: W/S, "Upside down."), Mistake(lambda S, W: S*W, "Divide.")))

def triple(x):
    return 3*x

TRIPLE = Exercise(
    id="tiny-triple", prompt="Write thrice.", solution=triple,
    answer=Function(name="thrice", signature="thrice(x)", cases=[(1.0,), (2.5,), (-3.0,)]),
    mistakes=(Mistake(lambda x: x*x, "Square."), Mistake(lambda x: x + 2, "Plus.")))
"""
ASKED = ["tiny-time", "tiny-ratio", "tiny-triple", "tiny-why"]
KEYS = ["Answer: 2 s", "Bytes over bytes per second.", "return 3*x", "The model answer."]


def period(**late):
    config = Config()
    if late:
        config.AssignLatePenalties.plugin_class = "autograder.gradebook.LatePerDay"
        config.LatePerDay.update(late)
    return gradebook.late_period(config)


@pytest.mark.parametrize(
    ("late", "days", "minutes"),
    [({}, 0, 0), ({"fraction": 1.0}, 0, 0), ({"fraction": 0.1}, 9, 0), ({"fraction": 0.3, "grace": 15.0}, 3, 15)],
)
def test_late_work_is_taken_for_as_long_as_it_is_worth_something(late, days, minutes):
    found = period(**late)
    assert found == timedelta(days=days, minutes=minutes)
    if late:
        plugin, seconds = gradebook.LatePerDay(**late), found.total_seconds()
        assert plugin.late_submission_penalty("ann", 10.0, seconds + 1) == 10.0
        assert not seconds or plugin.late_submission_penalty("ann", 10.0, seconds) < 10.0


def test_late_work_without_a_penalty_is_taken_for_ever():
    assert period(fraction=0.0) is None


def test_a_solution_is_code_or_the_declared_function_with_the_answer_for_the_learners_numbers(tmp_path):
    (tmp_path / "exercises.py").write_text(tiny.EXERCISES + MORE)
    bank = load_bank(tmp_path)
    cell = "### BEGIN SOLUTION\nanswer = 4e9/2e9\n### END SOLUTION"
    text = worked_solutions.worked(bank["tiny-time"], cell)
    assert text == "**Worked solution**\n\n```python\nanswer = 4e9/2e9\n```\n\n**Answer:** 2 s"
    owners = [o for o in map(str, range(20)) if bank["tiny-time"].variant(o)["S"] == 8e9]
    assert worked_solutions.worked(bank["tiny-time"], cell, owners[0]).endswith("**Answer:** 4 s")
    own = "### BEGIN SOLUTION\n# tiny-triple: its solution is declared in exercises/\n### END SOLUTION"
    assert "```python\ndef triple(x):\n    return 3*x\n```" in worked_solutions.worked(bank["tiny-triple"], own)
    text = worked_solutions.worked(bank["tiny-why"], "The *model answer*.")
    assert text == "**A model answer**\n\nThe *model answer*.\n\n**Points are for**\n\n- Names it. (1 point)"
    assert r"\frac{S}{W}" in worked_solutions.worked(bank["tiny-ratio"], "")


OWN = """
from math import ceil
from hwlib.collectives import ring_allreduce_time
from hwlib.units import us

def made(id, solution, given, answer=None, **more):
    say = (Mistake(lambda: 1.0, "One."), Mistake(lambda: 2.0, "Two."))
    return Exercise(id=id, prompt="{S:B} at {W:B/s}", given=given, answer=answer or Quantity("s"), solution=solution,
                    mistakes=say, **more)

GIVEN = dict(S=[1e8, 4e8], W=[5e10])
def slow(S, W):
    return S/W if S < 2e8 else 2*S/W

ALL = [
    made("own-copy", lambda S, W: S/W, GIVEN, explain="Each byte crosses once."), made("own-two", slow, GIVEN),
    made("own-ring", lambda S, W: ring_allreduce_time(8, S, 2*us, W), GIVEN),
    made("own-ceil", lambda S, W: ceil(S/W), GIVEN), made("own-odd", lambda S, W: S/W/3e8, GIVEN),
    made("own-eight", lambda S, W: S/W if S == 1e8 else 2*S/W, GIVEN),
    made("own-long", lambda S, W: (
        ceil(S/W)  # begun
        + 1), GIVEN), made("own-fixed", 3.0, {}), made("own-count", lambda n: n//3, dict(n=[8]), Count()),
]
PAIR = lambda x: x + 1, lambda x, y=2: (x - 1)/(y + x - 1)
SHARE = Exercise(id="own-share", prompt="Write it.", solution=PAIR[1], mistakes=(
    Mistake(lambda x, y=2: x/y, "a."), Mistake(lambda x, y=2: x*y, "b.")),
    answer=Function(name="share", signature="share(x, y=2)", cases=[(1.5, 2.0), (3.0, 4.0)]))
"""
LETTERS = "with $S$ = 100 MB and $W$ = 50 GB/s."


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("copy", rf"$$|\frac{{S}}{{W}}|$$||{LETTERS}||**Answer:** 2 ms||Each byte crosses once."),
        ("two", f"```python|def slow(S, W):|    return S/W if S < 2e8 else 2*S/W|```||{LETTERS}||**Answer:** 2 ms"),
        ("ring", rf"$$|\frac{{7 S}}{{4 W}} + 2.8 \cdot 10^{{-5}}|$$||{LETTERS}||**Answer:** 3.528 ms"),
        ("ceil", f"```python|answer = ceil(S/W)|```||{LETTERS}||**Answer:** 1 s"),
        ("odd", f"```python|answer = S/W/3e8|```||{LETTERS}||**Answer:** 6.667 ps"),
        ("eight", f"```python|answer = S/W if S == 1e8 else 2*S/W|```||{LETTERS}||**Answer:** 2 ms"),
        ("long", f"```python|answer = ceil(S / W) + 1|```||{LETTERS}||**Answer:** 2 s"),
        ("fixed", "**Answer:** 3 s"),
        ("count", r"$$|\left\lfloor{\frac{n}{3}}\right\rfloor|$$||with $n$ = 8.||**Answer:** 2"),
        ("share", "```python|def share(x, y=2):|    return (x - 1)/(y + x - 1)|```"),
    ],
)
def test_an_own_exercise_shows_how_its_answer_is_reached(tmp_path, name, shown):
    (tmp_path / "exercises.py").write_text(tiny.EXERCISES + OWN)
    found = load_bank(tmp_path)[f"own-{name}"]
    said = worked_solutions.worked(found, "### BEGIN SOLUTION\n# declared in exercises/\n### END SOLUTION")
    assert said == "**Worked solution**\n\n" + shown.replace("|", "\n")


@pytest.fixture(scope="module")
def zygote(zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield zygotes()


@pytest.fixture
def folder(tmp_path, zygote):
    """A course in which ann has an extension of three days."""
    folder = tmp_path / "course"
    course.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES + MORE)
    released = course.assign(folder, "hw", exercises=ASKED, due=DUE)
    for who in ("ann", "bob"):
        hand_in(folder, who, nbformat.read(released, as_version=4), name="hw")
        submitted_at(folder, who, "hw", "2029-12-31 00:00:00 UTC")
    course.grade(folder, "hw")
    with Gradebook(gradebook.url_of(folder)) as opened:
        opened.grant_extension("hw", "ann", days=3)
    return folder


def configure(folder, *lines):
    path = folder / "nbgrader_config.py"
    path.write_text(path.read_text() + "\n".join(["", *lines, ""]))


def shown(folder, monkeypatch, now, write=course.show_feedback):
    """Which of the solutions each learner's page shows, written at that time."""
    monkeypatch.setattr(feedback_steps.WorkedSolutions, "clock", staticmethod(lambda: now))
    write(folder, "hw")
    found = {}
    for who in ("ann", "bob"):
        page = BeautifulSoup((folder / "feedback" / who / "hw" / "hw.html").read_text(), "html.parser")
        text = " ".join(page.get_text().split())
        found[who] = [key for key in KEYS if key in text]
        assert "That is the square" not in text
    return found


@pytest.mark.slow
def test_solutions_are_shown_after_the_deadline_and_to_each_after_their_own(folder, monkeypatch):
    long_after = DUE + timedelta(days=400)
    assert shown(folder, monkeypatch, long_after) == {"ann": [], "bob": []}  # nobody has asked for it
    configure(folder, "c.WorkedSolutions.after_due = True")
    assert shown(folder, monkeypatch, DUE) == {"ann": [], "bob": []}
    assert shown(folder, monkeypatch, DUE + timedelta(seconds=1)) == {"ann": [], "bob": KEYS}
    assert shown(folder, monkeypatch, DUE + timedelta(days=3)) == {"ann": [], "bob": KEYS}
    assert shown(folder, monkeypatch, DUE + timedelta(days=3, seconds=1), course.grade) == {"ann": KEYS, "bob": KEYS}
    assert "model answer" not in (folder / "autograded" / "bob" / "hw" / "hw.ipynb").read_text()


@pytest.mark.slow
def test_solutions_wait_for_late_work(folder, monkeypatch):
    configure(
        folder,
        "c.WorkedSolutions.after_due = True",
        "c.LatePerDay.fraction = 0.25",
        'c.AssignLatePenalties.plugin_class = "autograder.gradebook.LatePerDay"',
    )
    assert shown(folder, monkeypatch, DUE + timedelta(days=3)) == {"ann": [], "bob": []}
    assert shown(folder, monkeypatch, DUE + timedelta(days=3, seconds=1)) == {"ann": [], "bob": KEYS}
    configure(folder, "c.WorkedSolutions.late_days = 10")
    assert shown(folder, monkeypatch, DUE + timedelta(days=10)) == {"ann": [], "bob": []}
    assert shown(folder, monkeypatch, DUE + timedelta(days=13, seconds=1)) == {"ann": KEYS, "bob": KEYS}
    with Gradebook(gradebook.url_of(folder)) as opened:
        opened.find_assignment("hw").duedate = None
        opened.db.commit()
    assert shown(folder, monkeypatch, DUE + timedelta(days=400)) == {"ann": [], "bob": []}


@pytest.mark.slow
def test_nbgraders_own_feedback_shows_them_too_and_the_command_says_how_many_pages(folder):
    configure(folder, "c.WorkedSolutions.after_due = True", "c.WorkedSolutions.late_days = -10_000")  # long since
    program = Path(sys.executable).parent / "nbgrader"
    command = [program, "generate_feedback", "hw", "--force"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    theirs = (folder / "feedback" / "bob" / "hw" / "hw.html").read_text()
    assert "<math" in theirs[theirs.index("Worked solution") :]
    said = CliRunner().invoke(commands.main, ["course", "feedback", str(folder), "hw"])
    assert said.output == f"2 pages in {folder}/feedback/LEARNER/hw\n"
    assert (folder / "feedback" / "bob" / "hw" / "hw.html").read_text() == theirs
