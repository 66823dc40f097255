"""What entering a graded notebook does to a gradebook, and what feedback shows of it."""

import logging
from datetime import timedelta

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.utils import compute_checksum
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from autograder.book.course_error import CourseError
from autograder.course.gradebook import LatePerDay, grade_entry
from autograder.course.gradebook.grade_entry import PATIENCE, GradeEntry, automatic_score
from tests.autograder.course.gradebook.in_memory import DUE, fill, new_engine, opened_book, submit

LOG = logging.getLogger("gpubook.test")


def graded(grade_id="q-grade", points=2.0, output=None, source="check()"):
    own = {"grade": True, "solution": False, "grade_id": grade_id, "points": points}
    outputs = [] if output is None else [new_output("execute_result", data={"text/plain": repr(output)})]
    return new_code_cell(source, metadata={"nbgrader": own}, outputs=outputs)


def written(grade_id="r", points=3.0, source="Because.", as_released="*Your answer*"):
    own = {"grade": True, "solution": True, "grade_id": grade_id, "points": points}
    cell = new_markdown_cell(as_released, metadata={"nbgrader": own})
    cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
    cell.source = source
    return cell


def notebook(output=1.5, source="Because."):
    return new_notebook(cells=[new_markdown_cell("Text."), graded(output=output), written(source=source)])


@pytest.fixture
def engine(monkeypatch):
    made = new_engine()
    with opened_book(made) as book:
        fill(book)
    monkeypatch.setattr(grade_entry, "opened", lambda _: opened_book(made))
    monkeypatch.setattr(grade_entry, "create_engine", lambda *_, **__: made)
    return made


def entry(config=None, name="hw"):
    return GradeEntry("course", name, "sqlite:///gradebook.db", config or Config(), LOG)


def row(engine, cell="r", who="ann"):
    with opened_book(engine) as book:
        grade = book.find_grade(cell, "hw", "hw", who)
        return grade.auto_score, grade.manual_score, grade.needs_manual_grade, grade.score


def by_hand(engine, points, waits=False, cell="r"):
    with opened_book(engine) as book:
        grade = book.find_grade(cell, "hw", "hw", "ann")
        grade.manual_score, grade.needs_manual_grade = points, waits


def nothing():
    raise AssertionError("the former notebook was asked for")


def test_scores_are_entered_and_shown_in_the_cells(engine):
    nb = notebook()
    assert entry().enter("ann", nb, nothing) == {"score": 1.5, "max_score": 5.0, "late_penalty": 0}
    assert row(engine, "q-grade") == (1.5, None, False, 1.5)
    assert row(engine) == (None, None, True, 0.0)
    _, code, words = (cell.metadata.get("nbgrader", {}) for cell in nb.cells)
    assert (code["score"], code["points"], code["waits"]) == (1.5, 2.0, False)
    assert "comment" not in code
    assert (words["score"], words["points"], words["waits"], words["comment"]) == (0.0, 3.0, True, None)


def test_a_written_answer_that_was_not_begun_is_worth_nothing_and_told_so(engine):
    nb = notebook(source="*Your answer*")
    entry().enter("ann", nb, nothing)
    assert row(engine) == (0.0, None, False, 0.0)
    assert nb.cells[2].metadata.nbgrader["comment"] == "No response."
    again = notebook()
    entry().enter("ann", again, nothing)
    assert again.cells[2].metadata.nbgrader["comment"] is None


def test_of_a_task_nobody_says_that_it_has_no_response(engine):
    with opened_book(engine) as book:
        book.add_task_cell("t", "hw", "hw", max_score=1.0, cell_type="markdown")
    own = {"grade": False, "solution": False, "task": True, "grade_id": "t", "points": 1.0}
    cell = new_markdown_cell("Do it.", metadata={"nbgrader": own})
    cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
    nb = new_notebook(cells=[cell])
    entry().enter("ann", nb, nothing)
    assert cell.metadata.nbgrader["comment"] is None
    assert (cell.metadata.nbgrader["points"], cell.metadata.nbgrader["waits"]) == (1.0, True)


@pytest.mark.parametrize(
    ("nb", "waits"),
    [
        (notebook(), False),
        (notebook(source="Because of bytes."), True),
        (notebook(source="*Your answer*"), True),  # its automatic score is another
    ],
)
def test_a_grade_by_hand_stays_reviewed_where_nothing_changed_under_it(engine, nb, waits):
    entry().enter("ann", notebook(), nothing)
    by_hand(engine, 2.0)
    entry().enter("ann", nb, lambda: {"r": "Because.", "q-grade": "check()"})
    assert row(engine)[1:3] == (2.0, waits)
    assert row(engine, "q-grade")[2] is False


def test_a_grade_by_hand_for_code_stays_while_its_score_does(engine):
    entry().enter("ann", notebook(), nothing)
    by_hand(engine, 2.0, cell="q-grade")
    former = {"r": "Because.", "q-grade": "check()"}
    entry().enter("ann", notebook(), lambda: former)
    assert row(engine, "q-grade") == (1.5, 2.0, False, 2.0)
    entry().enter("ann", notebook(output=0.5), lambda: former)
    assert row(engine, "q-grade") == (0.5, 2.0, True, 2.0)


def test_a_grade_by_hand_that_waits_already_goes_on_waiting(engine):
    entry().enter("ann", notebook(), nothing)
    by_hand(engine, 2.0, waits=True)
    entry().enter("ann", notebook(), nothing)  # whatever was graded before
    assert row(engine)[2] is True


def test_all_or_nothing_is_entered(engine):
    nb = notebook()
    nb.cells.append(graded("none-such"))
    with pytest.raises(KeyError):
        entry().enter("ann", nb, nothing)
    assert entry().learners() == set()
    entry().enter("ann", notebook(), nothing)
    with opened_book(engine) as book:
        submit(book, "bob", "other")
    assert entry().learners() == {"ann"}


def test_what_feedback_shows_is_the_gradebook_as_it_is(engine):
    entry().enter("ann", notebook(), nothing)
    by_hand(engine, 2.5)
    with opened_book(engine) as book:
        book.find_comment("r", "hw", "hw", "ann").manual_comment = "Well."
        book.find_submission_notebook("hw", "hw", "ann").late_submission_penalty = 1.0
    nb = notebook()
    assert entry().show("ann", nb) == {"score": 3.0, "max_score": 5.0, "late_penalty": 1.0}
    own = nb.cells[2].metadata.nbgrader
    assert (own["score"], own["waits"], own["comment"]) == (2.5, False, "Well.")


def late(fraction=0.5):
    config = Config()
    config.AssignLatePenalties.plugin_class = LatePerDay
    config.LatePerDay.fraction = fraction
    return config


@pytest.mark.parametrize(("seconds", "lost"), [(0, 0), (1, 0.75), (86401, 1.5), (9 * 86400, 1.5)])
def test_a_late_submission_loses_what_the_courses_rule_takes(engine, seconds, lost):
    scores = entry(late()).enter("ann", notebook(), nothing, timestamp=DUE + timedelta(seconds=seconds))
    assert scores == {"score": 1.5 - lost, "max_score": 5.0, "late_penalty": lost}
    again = entry(late()).enter("ann", notebook(), nothing, timestamp=DUE)
    assert again["late_penalty"] == 0  # nothing of an earlier run is left


@pytest.mark.parametrize(
    ("rule", "seconds", "penalty"),
    [(3.0, 0, None), (3.0, -1, None), (3.0, 1, 3.0), (None, 1, None), (-1.0, 1, 0), (7.0, 1, 5.0), (5.0, 1, 5.0)],
)
def test_a_penalty_lies_between_nothing_and_the_score(engine, rule, seconds, penalty):
    made = entry()
    made.penalties.late_submission_penalty = lambda *_: rule
    assert made.penalty("ann", 5.0, seconds) == penalty


@pytest.mark.parametrize(
    ("cell", "score"),
    [
        (graded(output=1.5), 1.5),
        (graded(), 2.0),
        (written(), None),
        (written(source="*Your answer*"), 0.0),
    ],
)
def test_the_automatic_score_is_what_nbgrader_reads(cell, score):
    assert automatic_score(cell, LOG) == score


@pytest.mark.parametrize(("points", "full", "score"), [(3.0, True, 3.0), (0.0, False, 0.0), (3.0, False, None)])
def test_where_the_answer_does_not_matter_everybody_has_the_points(points, full, score):
    cell = written(points=points)
    cell.metadata["gpubook"] = {"exercise": "mine-why", "full_marks": full}
    assert automatic_score(cell, LOG) == score
    code = graded(points=2.0, output=1.0)
    code.metadata["gpubook"] = {"exercise": "mine-why", "full_marks": full}
    assert automatic_score(code, LOG) == 1.0


def test_an_assignment_that_the_gradebook_does_not_have_is_refused(engine):
    with pytest.raises(CourseError, match=r"gradebook.db has no assignment 'none'"):
        entry(name="none")


@pytest.mark.parametrize(("words", "locked"), [("database is locked", True), ("disk I/O error", False)])
def test_a_database_that_fails_says_how_to_go_on(engine, words, locked):
    made = entry()
    with pytest.raises(CourseError) as failed, made._transaction():
        raise OperationalError("INSERT", {}, Exception(words))
    assert words in str(failed.value)
    assert "`gpubook grade course hw --resume`" in str(failed.value)
    assert (", for 30 s, by another program" in str(failed.value)) == locked


@pytest.mark.parametrize(
    ("url", "options"), [("sqlite:///gradebook.db", {"timeout": PATIENCE}), ("postgresql+psycopg://x/y", {})]
)
def test_a_file_is_waited_for(engine, monkeypatch, url, options):
    made = []
    monkeypatch.setattr(grade_entry, "create_engine", lambda url, connect_args: made.append((url, connect_args)))
    GradeEntry("course", "hw", url, Config(), LOG)
    assert made == [(url, options)]
    assert PATIENCE == 30.0
