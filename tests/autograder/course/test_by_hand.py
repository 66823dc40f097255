"""Grading answers in words: rubric and model answer for graders only, points by criterion, two graders at once."""

import csv
import importlib
import io
import json
import shutil
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from autograder import course
from autograder.book.course_error import CourseError
from autograder.cli import commands
from autograder.course import feedback, gradebook, layout
from autograder.course.assigning import marked_exercises
from autograder.course.by_hand import marks, page, second_marks, table, together
from autograder.course.by_hand.answers import Conflict, answers, enter, picture
from autograder.course.by_hand.questions import question, questions
from autograder.course.by_hand.rubric_steps import RubricInFormgrader
from autograder.course.gradebook_url import opened
from autograder.course.run.gradebook_writer import GradebookWriter
from autograder.course.run.nbgrader_steps import GradeInSandbox
from tests.autograder.answers.test_written import DECLARED, HOSTILE
from tests.autograder.course.made_class import grade_of, hand_in, in_formgrader, make_class
from tests.autograder.grading.test_attachments import base, png

ROOT = Path(__file__).resolve().parents[3]
CLASS = {
    "ada": {"mine-why": "Latency.", "mine-secret": "Else."},
    "bob": {"mine-why": "Bandwidth.\n\nAnd more.", "mine-secret": "Nothing else."},
    "cy": {},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_class(tmp_path_factory.mktemp("by_hand") / "course", CLASS)


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "course"))


@pytest.fixture
def why(folder):
    return question(folder, "hw", "mine-why")


def one(folder, asked, learner):
    (found,) = answers(folder, asked, learner)
    return found


def give(folder, asked, learner, *given, comment="", by="tina"):
    return enter(folder, asked, learner, given, comment, one(folder, asked, learner).revision, by)


def test_a_question_has_its_rubric_and_model_answer_hidden_criteria_too(folder):
    why, secret = questions(folder, "hw")
    assert (why.exercise, why.title, why.max_score) == ("mine-why", "1 · Why", 3.0)
    assert why.rubric == (("Names the mechanism.", 2.0), ("Says how to measure it.", 1.0))
    assert "Why is it slower?" in why.prompt
    assert why.model_answer() == "Because of the *model answer*."
    assert (why.hidden, secret.hidden) == (False, True)
    assert secret.rubric == (("A hidden criterion.", 2.0),)
    marked_exercises.mark(folder / "source" / "hw" / "hw.ipynb", "mine-secret", False, 2)
    assert [asked.exercise for asked in questions(folder, "hw")] == ["mine-why"]
    with pytest.raises(CourseError, match=r"no written exercise 'mine-secret'; it has mine-why$"):
        question(folder, "hw", "mine-secret")
    with pytest.raises(CourseError, match="never released"):
        questions(folder, "hw2")
    (folder / "source" / "hw" / "hw.ipynb").unlink()
    with pytest.raises(CourseError, match=r"hw\.ipynb is missing; the instructor's notebook"):
        questions(folder, "hw")


def test_a_learner_with_numbers_of_their_own_has_a_model_answer_of_their_own(folder):
    declared = DECLARED.replace('prompt="Why is', 'given=dict(n=[3, 5, 7, 11]), prompt="Why {n} is')
    (folder / "exercises" / "mine.py").write_text(declared.replace("*model answer*", "*model answer* {n}"))
    assert not question(folder, "hw", "mine-why").has_own_numbers
    with (folder / layout.CONFIG_FILE).open("a") as config:
        config.write("c.GradeInSandbox.variants = True\n")
    asked = question(folder, "hw", "mine-why")
    shown = {asked.model_answer(who) for who in ("ada", "bob", "cy", "dora", "emil", "fay")}
    assert len(shown) > 1
    assert asked.model_answer("ada") == f"Because of the *model answer* {asked.declared.variant('ada')['n']}."
    assert "below each answer" in page.page("/", "/r", "/r/q", asked, answers(folder, asked))


def test_points_by_criterion_become_the_grade_in_the_gradebook(folder, why):
    assert {a.learner: a.state for a in answers(folder, why)} == {"ada": "waiting", "bob": "waiting", "cy": "empty"}
    now = give(folder, why, "ada", 2, 0.5, comment=" How **would** you? ")
    assert (now.state, now.score, now.given, now.name) == ("graded", 2.5, (2.0, 0.5), "Ada Lovelace")
    assert grade_of(folder, "ada") == (2.5, False, "How **would** you?")
    assert gradebook.scores(folder, ["hw"])["hw"][0].raw == 2.5
    assert gradebook.by_hand(gradebook.url_of(folder), "hw")["ada", "mine-why"] == (2.5, "How **would** you?")
    assert give(folder, why, "ada", 0, 0).score == 0.0
    assert grade_of(folder, "ada") == (0.0, False, None)


def test_a_draft_waits_and_a_grade_can_be_taken_back(folder, why):
    draft = give(folder, why, "ada", 2, None, comment="So far.")
    assert (draft.state, draft.score, draft.given) == ("waiting", None, (2.0, None))
    assert grade_of(folder, "ada") == (None, True, "So far.")
    assert gradebook.waiting(folder, "hw") == {"ada": 2, "bob": 2}
    give(folder, why, "ada", 2, 1)
    back = give(folder, why, "ada", None, None)
    assert (back.state, back.score, back.given, back.mark) == ("waiting", None, None, None)
    given = give(folder, why, "cy", 1, 0)
    assert (given.state, given.score) == ("graded", 1.0)
    assert give(folder, why, "cy", None, None).state == "empty"


def test_an_assignment_may_give_an_exercise_other_points_than_its_rubric(folder):
    source = folder / "source" / "hw" / "hw.ipynb"
    source.write_text(source.read_text().replace('"points": 3,', '"points": 6,'))
    asked = question(folder, "hw", "mine-why")
    assert give(folder, asked, "ada", 1, 1).score == 4.0
    now = one(folder, asked, "ada")
    assert now.given == (1.0, 1.0)
    assert marks.as_markdown(now.mark, [None, "Says it."]).splitlines()[2:] == [
        "- ◐ Criterion 1 — 2 of 4",
        "- ✓ Says it. — 2 of 2",
    ]
    assert "counts 6 points" in page.page("/", "/r", "/r/q", asked, [now])


def test_the_second_of_two_graders_is_told_what_the_first_did(folder, why):
    read = one(folder, why, "ada").revision
    enter(folder, why, "ada", (2, 1), "Good.", read, "tina")
    with pytest.raises(Conflict) as told:
        enter(folder, why, "ada", (0, 0), "", read, "tom")
    assert (told.value.by, told.value.now.score, told.value.now.comment) == ("tina", 3.0, "Good.")
    assert grade_of(folder, "ada") == (3.0, False, "Good.")
    read = told.value.now.revision
    in_formgrader(folder, "ada", manual_score=1.0)
    with pytest.raises(Conflict) as told:
        enter(folder, why, "ada", (0, 0), "", read, "tom")
    assert (told.value.by, told.value.now.score) == ("", 1.0)
    hand_in(folder, "bob", {"mine-why": "Another text."})
    seen = one(folder, why, "bob").revision
    hand_in(folder, "bob", {"mine-why": "And a third."})
    with pytest.raises(Conflict):
        enter(folder, why, "bob", (2, 1), "", seen)


def test_of_grades_given_at_the_same_moment_one_is_entered(folder, why):
    read = one(folder, why, "ada").revision

    def attempt(points):
        try:
            return enter(folder, why, "ada", (points, 0), "", read, f"grader {points}").score
        except Conflict:
            return None

    with ThreadPoolExecutor(4) as pool:
        entered = [score for score in pool.map(attempt, (0.5, 1, 1.5, 2)) if score is not None]
    assert len(entered) == 1
    assert grade_of(folder, "ada")[0] == entered[0]
    assert one(folder, why, "ada").given == (entered[0], 0.0)


def test_criteria_that_do_not_add_up_to_the_grade_any_more_are_forgotten(folder, why):
    give(folder, why, "ada", 2, 0)
    in_formgrader(folder, "ada", manual_score=2.75)
    now = one(folder, why, "ada")
    assert (now.state, now.score, now.given) == ("graded", 2.75, None)
    assert give(folder, why, "ada", 2, 1).given == (2.0, 1.0)
    in_formgrader(folder, "ada", needs_manual_grade=True)  # as a run does, where the answer has changed
    again = one(folder, why, "ada")
    assert (again.state, again.given) == ("review", (2.0, 1.0))
    assert give(folder, why, "ada", 2, 1).state == "graded"


def test_points_that_no_rubric_gives_are_refused(folder, why):
    read = one(folder, why, "ada").revision
    for given in ((2,), (2, 1, 0), (3, 0), (-1, 0), ("2", 0), (True, 0), (float("nan"), 0), "21", None):
        with pytest.raises(CourseError, match="expected"):
            enter(folder, why, "ada", given, "", read)
    assert grade_of(folder, "ada") == (None, True, None)


def test_who_has_no_graded_submission_cannot_be_graded(folder, why):
    for learner in ("nobody", "../ada"):
        with pytest.raises(CourseError, match="no graded submission"):
            enter(folder, why, learner, (2, 1), "", "")


def test_an_answer_that_the_gradebook_has_no_comment_for_cannot_be_graded(folder, why):
    with opened(gradebook.url_of(folder)) as book:
        book.db.delete(book.find_comment("mine-why", "hw", "hw", "ada"))
        book.db.commit()
    with pytest.raises(CourseError, match="the gradebook has no such answer"):
        give(folder, why, "ada", 2, 1)


def test_a_file_of_marks_that_is_not_ours_is_named_and_stays(folder, why):
    give(folder, why, "ada", 2, 1)
    path = folder / ".gpubook" / "by_hand" / "hw" / "mine-why.json"
    path.write_text('{"answers": {"ada": {"given": [9, 9], "rubric": []}}}')
    with pytest.raises(CourseError, match=r"mine-why\.json.*the gradebook"):
        answers(folder, why)
    assert "9, 9" in path.read_text()


def notes(nb, resources, step=RubricInFormgrader):
    made, _ = step().preprocess(nb, resources)
    return [cell.source for cell in made.cells if cell.metadata.get("gpubook", {}).get("part") == "graders"]


def graded_notebook(folder, learner):
    return nbformat.read(folder / "autograded" / learner / "hw" / "hw.ipynb", as_version=4)


def test_formgrader_shows_rubric_and_model_answer_and_no_other_page_does(folder):
    about = {"submission_id": "s", "assignment_id": "hw", "notebook_id": "hw", "student": "ada"}
    about["metadata"] = {"path": str(folder / "autograded" / "ada" / "hw")}
    why, secret = notes(graded_notebook(folder, "ada"), about)
    assert "Names the mechanism. (2 points)" in why
    assert "Because of the *model answer*." in why
    assert "(#by-hand:hw/mine-why)" in why
    assert "A hidden criterion. (2 points)" in secret
    assert "Learners do not see" in secret
    assert notes(graded_notebook(folder, "ada"), {"nbgrader": {}, "unique_key": "hw"}) == []
    config = Config()
    course.configure(config)
    for exporter, registered in ((HTMLExporter, True), (feedback.FeedbackPage, False)):
        steps = exporter(config=config)._preprocessors
        assert any(isinstance(step, RubricInFormgrader) for step in steps) is registered
    (folder / "exercises" / "mine.py").write_text("1/0")
    assert all("cannot be shown" in note for note in notes(graded_notebook(folder, "ada"), about))


def shown_criteria(folder, learner, **settings):
    """What a learner's feedback says by criterion, of each exercise."""
    config = layout.read_config(folder)
    for name, value in settings.items():
        section, _, option = name.partition("__")
        config[section][option] = value
    with GradebookWriter(folder, "hw", config, GradeInSandbox) as writer:
        html = writer.show(learner).read_text()
    soup = BeautifulSoup(html, "html.parser")
    assert "For graders" not in soup.get_text()
    heads = [strong for strong in soup.find_all("strong") if strong.text == "Points by criterion"]
    return [[item.text for item in head.find_next("ul").find_all("li")] for head in heads], soup.get_text()


@pytest.mark.slow
def test_feedback_says_which_criteria_were_reached_while_they_are_what_the_grade_is_made_of(folder, why):
    secret = question(folder, "hw", "mine-secret")
    assert shown_criteria(folder, "ada")[0] == []
    give(folder, why, "ada", 2, 0.5)
    give(folder, secret, "ada", 1)
    why_rows = ["✓ Names the mechanism. — 2 of 2", "◐ Says how to measure it. — 0.5 of 1"]
    rows, text = shown_criteria(folder, "ada")
    assert rows == [why_rows, ["◐ Criterion 1 — 1 of 2"]]
    assert "hidden criterion" not in text
    assert "model answer" not in text
    rows, _ = shown_criteria(folder, "ada", CriteriaInFeedback__hidden_too=True)
    assert rows[1] == ["◐ A hidden criterion. — 1 of 2"]
    due = datetime(2026, 1, 1)
    gradebook.set_due(gradebook.url_of(folder), "hw", due)  # solutions, which have the rubric, are shown from then on
    rows, _ = shown_criteria(folder, "ada", WorkedSolutions__after_due=True)
    assert rows[1] == ["◐ A hidden criterion. — 1 of 2"]
    gradebook.set_due(gradebook.url_of(folder), "hw", datetime(9999, 1, 1))
    assert shown_criteria(folder, "ada", WorkedSolutions__after_due=True)[0][1] == ["◐ Criterion 1 — 1 of 2"]
    in_formgrader(folder, "ada", extra_credit=1.0)
    assert shown_criteria(folder, "ada")[0][0] == why_rows
    in_formgrader(folder, "ada", manual_score=3.0)
    in_formgrader(folder, "ada", cell="mine-secret", needs_manual_grade=True)
    assert shown_criteria(folder, "ada")[0] == []
    give(folder, why, "bob", 2, None)
    assert shown_criteria(folder, "bob")[0] == []


def test_the_page_obeys_nothing_that_a_learner_wrote(folder):
    pictures = {"mine.png": {"image/png": base(png())}, "bad.svg": {"image/svg+xml": "<svg onload='alert(1)'/>"}}
    hostile = HOSTILE + "</article></script><script>alert(4)</script> ![plot](attachment:mine.png)"
    hand_in(folder, "ada", {"mine-why": hostile}, pictures)
    asked = question(folder, "hw", "mine-why")
    in_formgrader(folder, "ada", comment="</script><script>alert(5)</script>")
    html = page.page(
        "/user/t/", "/user/t/gpubook/by_hand", "/user/t/gpubook/by_hand/hw/mine-why", asked, answers(folder, asked)
    )
    soup = BeautifulSoup(html, "html.parser")
    assert [script.get("src") or script["type"] for script in soup.find_all("script")] == [
        "/user/t/gpubook/by_hand/_static/by_hand.js",
        "application/json",
    ]
    start = {state["learner"]: state for state in json.loads(soup.find("script", id="start").string)}
    assert start["ada"]["comment"] == "</script><script>alert(5)</script>"
    assert len(soup.find_all("article")) == 3
    assert not [name for tag in soup.find_all(True) for name in tag.attrs if name.startswith("on")]
    sources = {img["src"] for img in soup.find("article", {"data-learner": "ada"}).find_all("img")}
    assert sources == {"/user/t/gpubook/by_hand/hw/mine-why/picture?learner=ada&name=mine.png"}
    assert picture(folder, asked, "ada", "mine.png")[0] == "image/png"
    for learner, name in (("ada", "bad.svg"), ("nobody", "mine.png"), ("../autograded/ada", "mine.png")):
        with pytest.raises(CourseError, match="no picture"):
            picture(folder, asked, learner, name)


def rows_of(made):
    return list(csv.reader(io.StringIO(made.text)))


def write_rows(path, rows, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


def test_a_table_of_answers_is_filled_in_and_read_back(folder, why, tmp_path):
    give(folder, why, "bob", 1, 0, comment="First.\n\n=Second.")
    head, *rows = rows_of(table.table(folder, why))
    assert head[4:6] == ["1: Names the mechanism. (2)", "2: Says how to measure it. (1)"]
    by_learner = {row[0]: row for row in rows}
    assert by_learner["bob"][3:7] == ["Bandwidth. And more.", "1", "0", "First. =Second."]
    by_learner["bob"][5] = "0,5"
    by_learner["ada"][4:7] = ["2", "1", "'=Well done"]
    path = write_rows(tmp_path / "filled.csv", [head, *rows], ";")
    entered = table.read(folder, why, path, "tina")
    assert (sorted(entered.learners), entered.unchanged, entered.refused) == (["ada", "bob"], 1, [])
    assert grade_of(folder, "ada") == (3.0, False, "=Well done")
    assert grade_of(folder, "bob") == (1.5, False, "First.\n\n=Second.")
    again = table.read(folder, why, path)
    assert (again.learners, again.unchanged) == ([], 3)
    by_learner["ada"][5] = "0"
    stale = table.read(folder, why, write_rows(path, [head, *rows]))
    assert (stale.learners, stale.unchanged, len(stale.refused)) == ([], 2, 1)
    assert grade_of(folder, "ada")[0] == 3.0


WRONG = {  # the cells of two rows of a table, and what is said of them
    "columns are": [("learner", "1")],
    "7 cells; 8 were expected": [("ada", "", "", "", "2", "1", "")],
    "a second row for": [("ada", *[""] * 7), ("ada", *[""] * 7)],
    "'nobody' has no graded submission": [("nobody", *[""] * 7)],
    "between 0 and 2": [("ada", "", "", "", "3", "1", "", "")],
    "'1e0' points": [("ada", "", "", "", "1e0", "1", "", "")],
    "points for all 2 criteria": [("ada", "", "", "", "2", "", "", "")],
}


def test_a_table_with_an_error_enters_nothing(folder, why, tmp_path):
    head, *_ = rows_of(table.table(folder, why))
    right = ["bob", "", "", "", "2", "1", "", one(folder, why, "bob").revision]
    for said, wrong in WRONG.items():
        rows = wrong if "columns" in said else [head, right, *wrong]
        with pytest.raises(CourseError, match=said):
            table.read(folder, why, write_rows(tmp_path / "t.csv", rows))
    assert all(answer.score is None for answer in answers(folder, why))


def test_the_command_prints_a_hidden_rubric_and_writes_and_reads_a_table(folder, tmp_path):
    def run(*args):
        return CliRunner().invoke(commands.main, ["course", "rubric", str(folder), "hw", *args])

    assert "A hidden criterion. (2)" in run().output
    assert "Because of the *model answer*." in run("mine-why").output
    assert run("mine-what").exit_code == 1
    assert run("--write", "x.csv").exit_code == 2
    path = tmp_path / "t.csv"
    assert run("mine-why", "--write", str(path)).exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert "unchanged 3" in run("mine-why", "--read", str(path)).output


def test_the_package_turns_the_page_on_in_jupyter_servers():
    """The file that it installs names the module that is the extension."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    (ours,) = (source for source, target in build["shared-data"].items() if "jupyter_server_config.d/" in target)
    (module,) = json.loads((ROOT / ours).read_text())["ServerApp"]["jpserver_extensions"]
    made = importlib.import_module(module)
    assert made._jupyter_server_extension_points() == [{"module": module}]
    assert made._load_jupyter_server_extension


def test_grades_follow_a_rubric_that_was_changed_midway(folder, why):
    give(folder, why, "ada", 2, 0.5)
    give(folder, why, "bob", 1, 1)
    declared = DECLARED.replace('("Says how to measure it.", 1)', '("Says how to measure it.", 2), ("Is short.", 1)')
    (folder / "exercises" / "mine.py").write_text(declared)
    run = CliRunner()
    command = ["course", "rubric", str(folder), "hw", "mine-why"]
    shown = run.invoke(commands.main, [*command, "--changed", "--same", "3=1"])
    assert "ada: 2.5 -> 2.4 points" in shown.output  # 2, 1 and 1 of 5, which count 3 as long as it is released so
    assert grade_of(folder, "ada")[0] == 2.5
    done = run.invoke(commands.main, [*command, "--follow"])
    assert "0 of 2 follow; 2 wait for another look" in done.output
    asked = question(folder, "hw", "mine-why")
    assert (one(folder, asked, "ada").state, one(folder, asked, "ada").given) == ("review", (2.0, 1.0, None))
    assert give(folder, asked, "ada", 2, 1, 1).state == "graded"
    assert "No grade" in run.invoke(commands.main, [*command, "--changed"]).output
    for wrong in (["--same", "1=1"], ["--changed", "--same", "x=1"], ["--changed", "--follow"]):
        assert run.invoke(commands.main, [*command, *wrong]).exit_code == 2


def revisions(folder, asked, *learners):
    return {learner: one(folder, asked, learner).revision for learner in learners}


def test_one_decision_for_several_answers_is_undone_where_nobody_has_changed_them_since(folder, why):
    in_formgrader(folder, "bob", manual_score=1.5, needs_manual_grade=False, comment="Before.")
    give(folder, why, "cy", 2, None, comment="So far.")
    asked = revisions(folder, why, "ada", "bob", "cy")
    outcome = together.decide(folder, why, {**asked, "ada": "an older one"}, [2, 0], "Same.", "tina")
    assert {answer.learner for answer in outcome.now} == {"bob", "cy"}
    assert [refused.now.learner for refused in outcome.refused] == ["ada"]
    assert grade_of(folder, "bob") == grade_of(folder, "cy") == (2.0, False, "Same.")
    assert grade_of(folder, "ada") == (None, True, None)
    (decision,) = together.decisions(folder, why)
    assert (decision.by, set(decision.before)) == ("tina", {"bob", "cy"})
    undone = together.undo(folder, why, decision.number)
    assert len(undone.now) == 2
    assert grade_of(folder, "bob") == (1.5, False, "Before.")
    assert (one(folder, why, "cy").given, one(folder, why, "cy").comment) == ((2.0, None), "So far.")
    assert together.decisions(folder, why) == []
    with pytest.raises(CourseError, match=r"no decision 1 .* there is none"):
        together.undo(folder, why, 1)
    again = together.decide(folder, why, revisions(folder, why, "ada", "bob"), [1, 0], "")
    give(folder, why, "ada", 2, 1)
    undone = together.undo(folder, why, again.number)
    assert ([a.learner for a in undone.now], [r.now.learner for r in undone.refused]) == (["bob"], ["ada"])
    assert grade_of(folder, "ada")[0] == 3.0


def test_a_decision_for_several_answers_is_a_whole_one_over_answers_that_are_there(folder, why):
    asked = revisions(folder, why, "ada")
    for given, more, message in (([2, None], {}, "all criteria"), ([2, 1], {"nobody": "r"}, "no graded submission")):
        with pytest.raises(CourseError, match=message):
            together.decide(folder, why, {**asked, **more}, given, "")
    assert together.decide(folder, why, {"ada": "older"}, [2, 1], "").now == []
    assert together.decisions(folder, why) == []
    with marks.alone(folder, "hw", "mine-why"):
        together._save(folder, why, [together.SharedDecision(n, "", "", {}) for n in range(1, 52)])
    assert [decision.number for decision in together.decisions(folder, why)] == list(range(2, 52))


def test_a_sample_is_graded_twice_without_a_change_of_the_grade(folder, why):
    give(folder, why, "ada", 2, 0.5, comment="Good.")
    assert second_marks.second_answers(folder, why) == []
    assert set(second_marks.draw(folder, why, 1).learners) < {"ada", "bob"}
    assert set(second_marks.draw(folder, why, 9).learners) == {"ada", "bob"}
    seen = {answer.learner: answer for answer in second_marks.second_answers(folder, why)}
    ada = seen["ada"]
    assert (ada.state, ada.score, ada.given, ada.comment) == ("waiting", None, None, "")
    with pytest.raises(CourseError, match="tina graded this answer first"):
        second_marks.enter(folder, why, "ada", [2, 1], ada.revision, "tina")
    with pytest.raises(CourseError, match="not in the sample"):
        second_marks.enter(folder, why, "cy", [2, 1], "", "tom")
    now = second_marks.enter(folder, why, "ada", [2, 1], ada.revision, "tom")
    assert (now.state, now.score) == ("graded", 3.0)
    with pytest.raises(Conflict, match=r"by tom .* 3 points"):
        second_marks.enter(folder, why, "ada", [0, 0], ada.revision, "tim")
    assert grade_of(folder, "ada") == (2.5, False, "Good.")
    sample = second_marks.load(folder, why)
    assert second_marks.draw(folder, why, 0).learners == ("ada",)  # who was graded twice stays
    agreement = second_marks.agreement(sample, answers(folder, why), why)
    assert [(pair.learner, pair.first, pair.second, pair.by) for pair in agreement.pairs] == [
        ("ada", 2.5, 3.0, ("tina", "tom"))
    ]
    assert second_marks.enter(folder, why, "ada", [None, None], now.revision, "tom").state == "waiting"
    assert second_marks.load(folder, why).marks == {}


def test_the_graders_of_an_assignment_are_set_shown_and_taken_back(folder, why):
    run, command = CliRunner(), ["course", "graders", str(folder)]
    give(folder, why, "ada", 2, 1, by="zoe")
    assert "zoe: 1 graded" in run.invoke(commands.main, [*command, "hw"]).output
    assert run.invoke(commands.main, [*command, "--grader", "tina=2", "--grader", "tom"]).exit_code == 0
    told = run.invoke(commands.main, [*command, "hw", "--grader", "tina", "--grader", "tom", "--by", "question"])
    assert "tina: mine-why" in told.output
    assert "tina: a share of 2, 1 to be graded, 0 graded" in told.output
    assert "tom: a share of 2, 2 to be graded, 0 graded" in told.output
    run.invoke(commands.main, [*command, "hw", "--twice", "50%"])
    second = second_marks.load(folder, why)
    assert len(second.learners) == 1
    (learner,) = second.learners
    give(folder, why, learner, 2, 1, by="zoe")
    seen = {answer.learner: answer for answer in second_marks.second_answers(folder, why)}
    second_marks.enter(folder, why, learner, [2, 0], seen[learner].revision, "tom")
    shown = run.invoke(commands.main, [*command, "hw", "--agreement"]).output
    assert "mine-why: 1 of 1 graded twice; 0 % the same points" in shown
    assert f"{learner}: 3 by zoe, 2 by tom" in shown
    run.invoke(commands.main, [*command, "hw", "--remove"])
    assert "evenly" in run.invoke(commands.main, [*command, "hw"]).output  # the course's
    for wrong in (
        ["--grader", "a"],
        ["hw", "--grader", "a=x"],
        ["--twice", "3"],
        ["hw", "--twice", "101%"],
        ["hw", "--twice", "-1"],
        ["hw", "--remove", "--agreement"],
    ):
        done = run.invoke(commands.main, ["course", "graders", str(folder), *wrong])
        assert (done.exit_code == 0) is (wrong == ["--grader", "a"]), done.output


@pytest.mark.slow
def test_a_learner_asks_for_another_look_and_reads_the_answer_in_the_feedback(folder, why, tmp_path):
    with (folder / layout.CONFIG_FILE).open("a") as config:
        config.write("c.RegradeRequests.offered = True\nc.RegradeRequests.mail = 'ta@host.org'\n")
    give(folder, why, "ada", 1, 0)

    def page_of(learner):
        with GradebookWriter(folder, "hw", layout.read_config(folder), GradeInSandbox) as writer:
            return BeautifulSoup(writer.show(learner).read_text(), "html.parser")

    def asked(*arguments):
        return CliRunner().invoke(commands.main, ["course", "requests", *map(str, arguments)])

    form = page_of("ada").find(id="verdicts").details
    assert form.a["href"].startswith("mailto:ta@host.org?subject=Regrade")
    text = form.pre.text + "Look <script>alert(1)</script> again.\nPlease."
    (tmp_path / "ada.txt").write_text(text)
    (tmp_path / "forged.txt").write_text(text.replace("learner: ada", "learner: bob"))
    done = asked("add", folder, tmp_path / "forged.txt", tmp_path / "ada.txt")
    assert done.exit_code == 1
    assert "Request 1 of hw: ada/mine-why" in done.output
    assert "Refused: " in done.output
    assert (
        "Request 2 of hw: cy/mine-secret" in asked("add", folder, "--for", "hw/cy/mine-secret", "--reason", "x").output
    )
    listed = asked("list", folder).output
    assert "request 1 of hw: ada/mine-why" in listed
    assert "  Please." in listed
    give(folder, why, "ada", 2, 0)
    assert "1 point before, 2 points now" in asked("answer", folder, "hw", 1, "*Right*: more.", "--by", "tina").output
    assert "request 1" not in asked("list", folder, "hw").output
    assert "answer: *Right*" in asked("list", folder, "--all").output
    request = page_of("ada").find(class_="regrade")
    assert request.blockquote.text == "Look <script>alert(1)</script> again.\nPlease."
    assert "Answered by tina, 1 point before, 2 points now" in request.text
    assert request.em.text == "Right"
    assert "taken until 2026" in asked("until", folder, "hw", "2026-01-01").output
    waiting, graded = page_of("bob").text, page_of("cy").text
    assert "Please" not in waiting
    assert "another look" not in waiting  # at what is not graded yet
    assert "No other request is taken: requests were taken until 2026-01-01" in graded
    for wrong in (["add", folder], ["add", folder, "--for", "hw/ada"], ["add", folder, "--for", "x", "--reason", "y"]):
        assert asked(*wrong).exit_code == 2
