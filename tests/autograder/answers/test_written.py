"""Answers in words: declared, asked, submitted, graded by hand through nbgrader's own gradebook and formgrader."""

import io
import re
import subprocess
import sys
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from nbgrader.api import Gradebook
from rich.console import Console

from autograder import course
from autograder.answers import Written, answer_from, written
from autograder.answers.selftest import selftest
from autograder.book.site.page import card
from autograder.book.source.notebook import prompt_markdown
from autograder.cli import commands
from autograder.course import export, gradebook
from autograder.course.class_results import results_table
from autograder.declaration import DeclarationError, Exercise
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at
from tests.autograder.grading.test_attachments import base, png
from tests.kept import loaded

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
ROOT = Path(__file__).resolve().parents[3]
RUBRIC = (("Names the mechanism.", 2), ("Says how to measure it.", 1))
DECLARED = """
from autograder.answers import Count, Written
from autograder.declaration import Exercise, Mistake

WHY = Exercise(
    id="mine-why", title="Why", prompt="Why is it slower?", hints=("Think.",),
    answer=Written(rubric=(("Names the mechanism.", 2), ("Says how to measure it.", 1)), words=30),
    solution="Because of the *model answer*.")
SECRET = Exercise(
    id="mine-secret", prompt="And why else?", solution="Another model answer.",
    answer=Written(rubric=(("A hidden criterion.", 2),), criteria=False))
STEPS = Exercise(
    id="mine-steps", points=2, prompt="How many steps has a ring of {n}?", given=dict(n=[8]), answer=Count(),
    solution=lambda n: 2*(n - 1),
    mistakes=(Mistake(lambda n: n - 1, "That is one phase."), Mistake(lambda n: 2*n, "The last is not needed.")))
"""
HOSTILE = """It is **slow** since $t = S/W$.

<script>alert(1)</script><img src=x onerror="alert(2)"> [here](javascript:alert(3)) ![x](https://host/y.png)
"""


def exercise(**changes):
    fields = {"id": "t-why", "prompt": "Why?", "answer": Written(rubric=RUBRIC, words=10), "solution": "Because."}
    return Exercise(**(fields | changes))


def test_the_rubric_makes_the_points():
    assert exercise().points == 3
    assert exercise(points=3).points == 3
    assert exercise(answer=Written(rubric=[["One.", 0.5]])).points == 0.5
    with pytest.raises(DeclarationError, match=r"t-why: points is 4; .*rubric.* 3$"):
        exercise(points=4)
    for rubric in ((), "Names it.", (("Names it.",),), (("Names it.", 0),), (("", 1),), (("Names it.", True),)):
        with pytest.raises(DeclarationError, match="t-why: rubric is "):
            exercise(answer=Written(rubric=rubric))
    with pytest.raises(DeclarationError, match="t-why: words is 0"):
        exercise(answer=Written(rubric=RUBRIC, words=0))
    with pytest.raises(DeclarationError, match=r"prediction .* Choice .* Written$"):
        exercise(predict=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"solution": "one two three four five six seven eight nine ten - eleven"}, "11 words, "),
        ({"solution": " "}, "model answer in Markdown"),
        ({"solution": lambda: 1}, "model answer in Markdown"),
        ({"hints": ("Because.",)}, "answer stands"),
        ({"answer": Written(rubric=(RUBRIC[0], RUBRIC[0]))}, "two criteria"),
        ({"prompt": "From {n}?"}, "{n}"),
    ],
)
def test_it_tests_itself(changes, said):
    problems = selftest(exercise(**changes))
    assert said in " ".join(problems)
    assert bool(problems) == bool(said)


def test_nothing_is_judged_and_nothing_raises():
    public = exercise().public()
    assert answer_from(public).readable("two words") == "2 words"
    assert "Because" not in str(public)
    assert exercise(answer=Written(rubric=RUBRIC, criteria=False)).public()["rubric"] == []
    for value in ("Because.", 3, ["x"]):
        assert (exercise().judge(value).score, exercise().judge(value).kind) == (0.0, "waiting")
    assert exercise().judge("").kind == "empty"


def test_who_studies_alone_is_told_that_nobody_grades_and_where_the_model_answer_is():
    say = exercise().judge("Because.").say
    assert say.startswith("Nobody grades an answer in words here: compare yours with the model answer, which `solution")
    assert "waits" not in say
    alone, in_course = (prompt_markdown(exercise(), "1.1", alone=alone) for alone in (True, False))
    assert f'Nobody grades it here: `solution("{exercise().id}")` shows a model answer' in alone
    assert "Nobody" not in in_course
    for prompt in (alone, in_course):
        assert "In a course it is graded by hand, with points for" in prompt


def test_a_chapter_is_one_to_study_alone_unless_it_is_for_a_course():
    name, ids = "01-gpu-architecture", set()
    for course_edition in (False, True):
        nb = loaded(ROOT, name, course=course_edition).instructor
        said = [cell.id for cell in nb.cells if "Nobody grades it here" in cell.source]
        assert bool(said) is not course_edition
        ids.add(tuple(cell.id for cell in nb.cells))
    assert len(ids) == 1


def test_a_criterion_that_would_give_the_answer_away_stands_with_the_solution():
    hidden = exercise(answer=Written(rubric=RUBRIC, words=10, criteria=False))
    for one, before in ((exercise(), True), (hidden, False)):
        question, _, solution = card(one, "1.1", "Because.", "01-x", course=False).partition(
            '<details class="solution">'
        )
        assert ("Names the mechanism. (2 points)" in question) is before
        assert ("Names the mechanism. (2 points)" in solution) is not before
        assert ("Names the mechanism" in card(one, "1.1", "", "01-x", course=True)) is before


@pytest.mark.parametrize("text", ["", " \n", "*Your answer*", "\n*Your  answer*\n"])
def test_an_untouched_cell_is_told_from_one_with_an_answer(text):
    assert written.untouched(text)
    assert not written.untouched(text + " x")


@pytest.fixture(scope="module")
def zygote(zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield zygotes()


@pytest.fixture
def folder(tmp_path, zygote):
    folder = tmp_path / "course"
    course.init(folder)
    (folder / "exercises" / "mine.py").write_text(DECLARED)
    course.assign(folder, "hw", exercises=["mine-why", "mine-secret", "mine-steps"], due=datetime(2030, 1, 1))
    return folder


@contextmanager
def book(folder):
    with Gradebook(gradebook.url_of(folder)) as opened:
        yield opened
        opened.db.commit()


def submit(folder, who, answers, steps="answer = 14", pictures=()):
    """`answers`: the text of each written answer; None takes its cell out. `pictures`: what is attached to them."""
    nb = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    for cell in list(nb.cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name == "mine-steps":
            cell.source = steps
        elif name in answers and answers[name] is None:
            nb.cells.remove(cell)
        elif name in answers:
            cell.source = answers[name]
            if pictures:
                cell.attachments = dict(pictures)
    hand_in(folder, who, nb, name="hw")


def give(folder, who, points, comment="", cell="mine-why"):
    """What formgrader does when a teacher types a score and a comment: its handlers set these columns."""
    with book(folder) as opened:
        grade = opened.find_grade(cell, "hw", "hw", who)
        grade.manual_score, grade.needs_manual_grade = points, False
        if comment:
            opened.find_comment(cell, "hw", "hw", who).manual_comment = comment


def grades(folder, who, cells=("mine-why", "mine-secret")):
    with book(folder) as opened:
        found = {cell: opened.find_grade(cell, "hw", "hw", who) for cell in cells}
        return {cell: (g.auto_score, g.manual_score, g.needs_manual_grade) for cell, g in found.items()}


def page(folder, who):
    return BeautifulSoup((folder / "feedback" / who / "hw" / "hw.html").read_text(), "html.parser")


def verdicts(folder, who):
    return [" ".join(row.get_text(" ").split()) for row in page(folder, who).select("#verdicts tr")]


def printed(result):
    console = Console(width=120, record=True, file=io.StringIO())
    results_table.print_class(result, console)
    return console.export_text()


def test_a_learner_gets_the_question_and_a_cell_and_no_model_answer(folder):
    nb = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    cells = {c.metadata.nbgrader.grade_id: c for c in nb.cells if "nbgrader" in c.metadata}
    assert [name for name in cells if "why" in name] == ["mine-why-prompt", "mine-why"]
    assert "- Names the mechanism. (2 points)" in cells["mine-why-prompt"].source
    assert " 30 words" in cells["mine-why-prompt"].source
    assert (cells["mine-why"].cell_type, cells["mine-why"].source) == ("markdown", "*Your answer*")
    text = nbformat.v4.writes(nb) + (folder / "release" / "hw" / "exercises.json").read_text()
    assert "model answer" not in text
    assert "hidden criterion" not in text
    with book(folder) as opened:
        assert opened.find_assignment("hw").max_score == 7.0


@pytest.mark.slow
def test_what_is_written_waits_and_what_is_not_scores_nothing_at_once(folder):
    submit(folder, "ann", {"mine-why": HOSTILE, "mine-secret": "Else."})
    submit(folder, "bob", {"mine-why": "Latency."})
    submit(folder, "cy", {"mine-why": "  \n", "mine-secret": None})
    result = course.grade(folder, "hw")
    points = {learner.name: [(r.points, r.kind) for r in learner.results] for learner in result.learners}
    assert points == {
        "ann": [(0.0, "waiting"), (0.0, "waiting"), (2.0, "right")],
        "bob": [(0.0, "waiting"), (0.0, "empty"), (2.0, "right")],
        "cy": [(0.0, "empty"), (0.0, "lost"), (2.0, "right")],
    }
    assert grades(folder, "ann") == {"mine-why": (None, None, True), "mine-secret": (None, None, True)}
    assert grades(folder, "bob") == {"mine-why": (None, None, True), "mine-secret": (0.0, None, False)}
    assert grades(folder, "cy") == {"mine-why": (0.0, None, False), "mine-secret": (0.0, None, False)}
    assert gradebook.waiting(folder, "hw") == {"ann": 2, "bob": 1}
    made = export.table(folder, ["hw"])
    at = made.rows[0].index("needs_manual_grade")  # and how many answers wait
    assert [row[at : at + 2] for row in made.rows[1:]] == [["yes", "2"], ["yes", "1"], ["no", "0"]]
    (note,) = made.notes
    assert note.startswith("3 answers ")
    assert note.endswith(": ann (hw), bob (hw)")
    assert "ann" in printed(result)
    said = CliRunner().invoke(commands.main, ["grade", str(folder), "hw", "--resume"])
    assert re.search(r"^3 answers .*by_hand .*: 1 of secret, 2 of why$", said.output, re.MULTILINE)
    assert re.search(r"ann\s+…\s+…\s+2\s+2", said.output)
    assert re.fullmatch(r"Exercise 1 · Why · 3 points … .*; .* 0\.0 of 3\.0 points", verdicts(folder, "ann")[0])
    assert verdicts(folder, "cy")[0] == "Exercise 1 · Why · 3 points 0.0 of 3.0 points: No response."
    back = nbformat.read(folder / "autograded" / "cy" / "hw" / "hw.ipynb", as_version=4)
    assert [c.source for c in back.cells if c.id in ("mine-why", "mine-secret")] == ["*Your answer*"] * 2


@pytest.mark.slow
def test_feedback_shows_what_was_written_and_obeys_none_of_it(folder):
    submit(folder, "ann", {"mine-why": HOSTILE})
    course.grade(folder, "hw")
    soup = page(folder, "ann")
    assert soup.find("strong", string="slow")
    assert soup.find("math")
    assert "<script>alert(1)</script>" in soup.get_text()
    assert soup.find_all(["script", "img"]) == []
    assert not [a for a in soup.find_all("a") if "javascript" in a.get("href", "")]
    assert "onerror" not in {name for tag in soup.find_all(True) for name in tag.attrs}


@pytest.mark.slow
def test_a_picture_is_in_the_feedback_and_with_another_one_a_grade_by_hand_is_reviewed(folder):
    red, blue = ({"mine.png": {"image/png": base(png(colour=c))}} for c in (b"\xff\x00\x00", b"\x00\x00\xff"))
    both = {"mine-why": "Look: ![plot](attachment:mine.png)", "mine-secret": "![plot](attachment:other.svg)"}
    submit(folder, "ann", both, pictures=red | {"other.svg": {"image/svg+xml": "<svg onload='alert(1)'/>"}})
    result = course.grade(folder, "hw")
    why, secret, _ = result.learner("ann").results
    assert (why.kind, secret.kind) == ("waiting", "waiting")
    assert secret.say.startswith(f"{why.say} ")
    assert ": `other.svg`; " in secret.say
    assert "`mine.png`" not in secret.say + why.say
    shown = page(folder, "ann")
    assert [i["src"][:22] for i in shown.find_all("img")] == ["data:image/png;base64,"] * 2  # the second without a text
    assert "[A picture was left out here.]" in shown.get_text()
    assert "img-src data:" in shown.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert "svg" not in {tag.name for tag in shown.find_all(True)}
    give(folder, "ann", 2.5)
    for pictures, reviewed in ((red, False), (blue, True)):
        submit(folder, "ann", both, pictures=pictures)
        course.grade(folder, "hw")
        assert grades(folder, "ann")["mine-why"] == (None, 2.5, reviewed)


@pytest.mark.slow
def test_a_grade_by_hand_stays_until_the_answer_changes_and_is_in_the_feedback(folder):
    submit(folder, "ann", {"mine-why": "Latency."})
    submit(folder, "bob", {"mine-why": "Latency, too."})
    course.grade(folder, "hw")
    give(folder, "ann", 2.5, "How would you <b>measure</b> it?")
    give(folder, "bob", 1.0)
    assert [len(course.show_feedback(folder, "hw")), gradebook.waiting(folder, "hw")] == [2, {}]
    assert verdicts(folder, "ann")[0].endswith("2.5 of 3.0 points: How would you <b>measure</b> it?")
    assert "Comments: How would you <b>measure</b> it?" in " ".join(page(folder, "ann").get_text(" ").split())
    assert page(folder, "ann").find("b", string="measure") is None
    said = course.results(folder, "hw").learner("ann").results[0]
    assert (said.points, said.say, said.kind) == (2.5, "How would you <b>measure</b> it?", "by hand")

    submit(folder, "bob", {"mine-why": "Bandwidth."})
    result = course.grade(folder, "hw")
    assert grades(folder, "ann")["mine-why"] == (None, 2.5, False)
    assert grades(folder, "bob")["mine-why"] == (None, 1.0, True)
    assert verdicts(folder, "ann")[0].endswith("2.5 of 3.0 points: How would you <b>measure</b> it?")
    assert verdicts(folder, "bob")[0].endswith("… Waits for the teacher; so far 1.0 of 3.0 points")
    first = {learner.name: learner.results[0] for learner in result.learners}
    assert {who: (r.points, r.kind) for who, r in first.items()} == {"ann": (2.5, "by hand"), "bob": (0.0, "waiting")}
    assert [s.score for s in gradebook.scores(folder, ["hw"])["hw"]] == [4.5, 3.0]

    submit(folder, "ann", {"mine-why": None})  # taken back: nothing waits, and the old grade counts until it is changed
    course.grade(folder, "hw")
    assert grades(folder, "ann")["mine-why"] == (0.0, 2.5, True)


@pytest.mark.slow
def test_a_late_answer_loses_its_part_of_the_grade_by_hand(folder):
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    submit(folder, "ann", {"mine-why": "Latency."})
    submitted_at(folder, "ann", "hw", "2030-01-01 12:00:00 UTC")
    course.grade(folder, "hw")
    assert [(s.raw, s.late_penalty) for s in gradebook.scores(folder, ["hw"])["hw"]] == [(2.0, pytest.approx(0.2))]
    give(folder, "ann", 3.0)
    course.show_feedback(folder, "hw")
    assert [(s.raw, s.late_penalty) for s in gradebook.scores(folder, ["hw"])["hw"]] == [(5.0, pytest.approx(0.5))]
    assert verdicts(folder, "ann")[-1] == "Handed in late −0.5 points"


@pytest.mark.slow
def test_a_changed_model_answer_changes_no_grade(folder):
    submit(folder, "ann", {"mine-why": "Latency."})
    course.grade(folder, "hw")
    give(folder, "ann", 2.0)
    declared = folder / "exercises" / "mine.py"
    declared.write_text(declared.read_text().replace("the *model answer*", "something else"))
    result = course.grade(folder, "hw", resume=True)
    assert grades(folder, "ann")["mine-why"] == (None, 2.0, False)
    assert result.learner("ann").points == 4.0


@pytest.mark.slow
def test_a_dropped_written_exercise_waits_for_nobody(folder):
    submit(folder, "ann", {"mine-why": "Latency."})
    course.grade(folder, "hw")
    course.drop(folder, "hw", "mine-why")
    assert gradebook.waiting(folder, "hw") == {}
    assert [(s.raw, s.max_score) for s in gradebook.scores(folder, ["hw"])["hw"]] == [(2.0, 4.0)]


@pytest.mark.nightly  # each time tests/autograder/course/test_operations.py asks nbgrader itself
def test_nbgraders_own_commands_say_the_same(folder):
    submit(folder, "ann", {"mine-why": HOSTILE, "mine-secret": "Else."})
    submit(folder, "bob", {"mine-why": "", "mine-secret": "*Your answer*"})

    def state():
        pages = {who: (verdicts(folder, who), page(folder, who).get_text()) for who in ("ann", "bob")}
        return pages, {who: grades(folder, who) for who in ("ann", "bob")}

    course.grade(folder, "hw")
    ours = state()
    for command in ("autograde", "generate_feedback"):
        program = Path(sys.executable).parent / "nbgrader"
        done = subprocess.run(
            [program, command, "hw", "--force"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    theirs = state()
    assert theirs[1] == ours[1]
    assert [theirs[0][who][0] for who in theirs[0]] == [ours[0][who][0] for who in ours[0]]
    assert theirs[0] == ours[0]
    assert "<script>alert(1)</script>" in theirs[0]["ann"][1]
