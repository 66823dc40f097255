"""Our steps within nbgrader's own commands: where they look, what they enter, and how a course is configured."""

import shutil
import sys
import warnings
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, Configurable

from autograder.course import gradebook
from autograder.course.gradebook_url import opened
from autograder.course.layout import read_config
from autograder.course.run import nbgrader_steps
from autograder.course.run.nbgrader_steps import LatePenalties, Restore, SaveGrades, configure
from autograder.course.terms import agreed_terms
from autograder.course.terms.agreed_terms import Extension
from tests.autograder.course.made_class import make_class

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
DUE = datetime(2030, 1, 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A class of two who submitted a day late, where half of the score is lost each day."""
    folder = tmp_path_factory.mktemp("made") / "course"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_class(folder, {"ann": {"mine-why": "Because."}, "bob": {"mine-why": "Since."}})
        with opened(gradebook.url_of(folder)) as book:
            book.update_or_create_assignment("hw", duedate=DUE)
            for who in ("ann", "bob"):
                book.update_or_create_submission("hw", who, timestamp=DUE + timedelta(hours=24))
                book.find_grade("mine-why", "hw", "hw", who).manual_score = 2.0
            book.db.commit()
    config = folder / "nbgrader_config.py"
    rule = 'c.AssignLatePenalties.plugin_class = "autograder.gradebook.LatePerDay"\nc.LatePerDay.fraction = 0.5\n'
    config.write_text(config.read_text() + rule)
    return folder


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def step(kind, course):
    """A step as nbgrader makes it: its parent is an exporter, whose parent is the converter."""
    config = read_config(course)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    converter.log.propagate = False
    return kind(parent=Configurable(parent=converter, config=config), config=config)


def about(course, who="ann"):
    return {"nbgrader": {"assignment": "hw", "notebook": "hw", "student": who, "db_url": gradebook.url_of(course)}}


def test_a_locked_cell_is_as_it_was_released(course):
    nb, _ = step(Restore, course).preprocess(new_notebook(), about(course))
    assert "Why is it slower?" in "".join(cell.source for cell in nb.cells)
    assert step(Restore, course)._release(about(course)) == course / "release" / "hw" / "hw.ipynb"


@pytest.mark.parametrize(("who", "extension", "penalty"), [("ann", 1, None), ("bob", None, 1.0)])
def test_a_late_penalty_counts_from_the_deadline_with_what_was_granted(course, who, extension, penalty):
    with agreed_terms.changing(course, "hw") as terms:
        terms.extensions["ann"] = Extension(days=1)
    step(LatePenalties, course).preprocess(new_notebook(), about(course, who))
    with opened(gradebook.url_of(course)) as book:
        assert book.find_submission("hw", who).extension == (extension and timedelta(days=extension))
        assert book.find_submission_notebook("hw", "hw", who).late_submission_penalty == penalty


@pytest.fixture
def saved():
    """What is saved of a grade cell where a teacher gave `by_hand`: the score, whether it waits, whether it is safe."""

    def saved(cell, by_hand=None):
        grade = SimpleNamespace(auto_score="before", manual_score=by_hand, needs_manual_grade=True, max_score=3.0)
        commits = []
        made = SaveGrades()
        made.notebook_id = made.assignment_id = "hw"
        made.student_id = "ann"
        made.gradebook = SimpleNamespace(
            find_grade=lambda *where: grade, db=SimpleNamespace(commit=lambda: commits.append(grade.auto_score))
        )
        made._add_score(cell, {})
        assert commits[-1] == grade.auto_score
        return grade.auto_score, grade.needs_manual_grade

    return saved


def cell(solution=True, points=3.0, **gpubook):
    own = {"grade": True, "grade_id": "w", "solution": solution, "points": points, "cell_type": "markdown"}
    own |= {"locked": not solution, "schema_version": 3, "checksum": "other"}
    return new_markdown_cell("Because.", metadata={"nbgrader": own, "gpubook": {"exercise": "w", **gpubook}})


@pytest.mark.parametrize(("by_hand", "waits"), [(None, False), (1.0, True)])
def test_where_everybody_gets_the_same_it_is_the_score_and_a_grade_by_hand_is_looked_at_again(saved, by_hand, waits):
    assert saved(cell(full_marks=True), by_hand) == (3.0, waits)
    assert saved(cell(points=0), by_hand) == (0, waits)


def test_any_other_written_answer_waits(saved):
    assert saved(cell()) == (None, True)
    assert saved(cell(), 1.0) == (None, True)


def test_an_answer_that_no_teacher_reads_has_nbgraders_own_score(saved, monkeypatch):
    monkeypatch.setattr(nbgrader_steps, "automatic_score", lambda cell, log: 2.5)
    grade = cell(solution=False)
    grade.cell_type, grade.outputs = "code", []
    assert saved(grade) == (3.0, False)  # its tests printed nothing


def test_a_course_is_configured_to_grade_in_the_sandbox_and_its_templates_are_there():
    config = Config()
    configure(config)
    assert nbgrader_steps.GradeInSandbox in config.Autograde.autograde_preprocessors
    assert nbgrader_steps.Restore in config.Autograde.sanitize_preprocessors
    paths = [Path(path) for path in config.FeedbackPage.extra_template_paths]
    assert (paths[0] / "feedback.tpl").is_file() or list(paths[0].glob("feedback*"))
    assert list(paths[1].glob("bootstrap*.css"))
    assert all(Path(path).is_dir() for path in config.HTMLExporter.extra_template_basedirs)
