"""What an assignment is made of: a chapter or a part of it, exercises of the teacher's own, a text. No chapter of the
book is read: the tiny one of these tests stands for it."""

import json
from datetime import datetime
from types import SimpleNamespace

import nbformat
import pytest
from traitlets.config import Config

from autograder.book.course_error import CourseError
from autograder.course import layout
from autograder.course.assigning import instructor_notebook
from autograder.course.assigning.instructor_notebook import own_bank, stage
from autograder.course.service.settings import CheckService
from autograder.declaration.verdict import DeclarationError
from tests.autograder import tiny

MINE = """
from autograder.answers import Count
from autograder.declaration import Exercise, Mistake

def ring(key, points=2):
    return Exercise(
        id=key, points=points, prompt="How many steps has a ring of {n}?", given=dict(n=[8]), answer=Count(),
        solution=lambda n: 2*(n - 1),
        mistakes=(Mistake(lambda n: n - 1, "One phase."), Mistake(lambda n: 2*n, "One less.")))

PLANES = 7
"""
FRONT = "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n---\n\n"
HEAD = FRONT + "# Mine, of {n}`PLANES`\n\n"
ASK = "```{code-cell} ipython3\n:exercise: mine-one\n\n### BEGIN SOLUTION\nanswer = 14\n### END SOLUTION\n```\n"
FIGURE = '```{code-cell} ipython3\n:caption: "Bars."\n:alt: "A bar of {n}`PLANES`."\n\n1 + 1\n```\n\n'


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return tiny.write_bank(tmp_path_factory.mktemp("book"))


@pytest.fixture
def folder(tmp_path, bank, monkeypatch):
    """A course with two exercises of its own beside a book of one chapter, which releases a picture too."""
    folder = tmp_path / "course"
    layout.init(folder)
    (folder / "exercises" / "mine.py").write_text(MINE + 'ONE = ring("mine-one")\nTWO = ring("mine-two")\n')

    def load(root, name, *, variants, course):
        assert (name, course) == (tiny.NAME, True)
        nb = tiny.instructor(bank)
        nb.metadata["variants"] = variants
        return SimpleNamespace(name=name, bank=bank, instructor=nb, exercises=list(tiny.IDS))

    def staged(made, scratch):
        (scratch / made.name).mkdir()
        for name in (f"{made.name}.ipynb", "picture.svg"):
            (scratch / made.name / name).write_text("<svg/>")
        return scratch / made.name / f"{made.name}.ipynb"

    monkeypatch.setattr(instructor_notebook.chapters, "load", load)
    monkeypatch.setattr(instructor_notebook.chapters, "stage", staged)
    return folder


def asked(path):
    cells = nbformat.read(path, as_version=4).cells
    return [c.metadata.gpubook.exercise for c in cells if c.metadata.get("gpubook", {}).get("part") == "prompt"]


def numbers(path):
    own = [cell.metadata.get("gpubook", {}) for cell in nbformat.read(path, as_version=4).cells]
    return [one["number"] for one in own if "number" in one]


def public(path):
    return json.loads((path.parent / "exercises.json").read_text())


def test_a_chapter_alone_is_assigned_as_it_is_with_its_files(folder):
    path = stage(folder, "hw", chapter=tiny.NAME)
    assert path == folder / "source" / "hw" / "hw.ipynb"
    assert asked(path) == list(tiny.IDS)
    assert sorted(file.name for file in path.parent.iterdir()) == ["exercises.json", "hw.ipynb", "picture.svg"]
    assert list(public(path)["exercises"]) == list(tiny.IDS)
    assert public(path)["assignment"] == {"name": "hw", "due": "", "shows_solutions": False}
    nb = nbformat.read(path, as_version=4)
    assert nb.metadata.gpubook.chapter == tiny.NAME
    assert nb.cells[0].source == "# Tiny"


def test_learners_know_when_it_is_due_and_what_follows(folder):
    path = stage(folder, "hw", chapter=tiny.NAME, due=datetime(2030, 1, 1, 22, 30), shows_solutions=True)
    assert public(path)["assignment"] == {"name": "hw", "due": "2030-01-01 22:30 UTC", "shows_solutions": True}


def test_of_a_chapter_some_exercises_are_left_out_or_named(folder):
    left = [name for name in tiny.IDS if name != "tiny-steps"]
    assert asked(stage(folder, "hw", chapter=tiny.NAME, without=["tiny-steps"])) == left
    path = stage(folder, "hw", chapter=tiny.NAME, exercises=["tiny-guess", "tiny-time", "tiny-guess"])
    assert asked(path) == ["tiny-time", "tiny-guess"]
    assert list(public(path)["exercises"]) == ["tiny-time", "tiny-guess"]
    assert "On tiny-steps." in [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_exercises_of_ones_own_stand_behind_the_chapters_or_alone(folder):
    path = stage(folder, "hw", chapter=tiny.NAME, exercises=["mine-two", "tiny-time", "mine-one"])
    assert asked(path) == ["tiny-time", "mine-two", "mine-one"]
    assert numbers(path) == ["1.1", "1.6", "1.7"], "on from the chapter's five, whichever are asked"
    path = stage(folder, "own", exercises=["mine-one"])
    nb = nbformat.read(path, as_version=4)
    assert asked(path) == ["mine-one"]
    assert numbers(path) == ["1"]
    assert nb.cells[0].source == "# own"
    assert nb.cells[1].source.startswith("from autograder import check")
    assert nb.metadata.gpubook.chapter == "own"
    assert nb.metadata.kernelspec.name == "python3"
    assert sorted(file.name for file in path.parent.iterdir()) == ["exercises.json", "own.ipynb"]
    assert [cell.id for cell in nb.cells][:2] == ["own-0", "own-1"]


def test_where_book_and_course_declare_an_exercise_the_courses_word_counts(folder):
    (folder / "exercises" / "again.py").write_text(MINE + 'AGAIN = ring("tiny-steps", points=5)\n')
    path = stage(folder, "hw", chapter=tiny.NAME, exercises=["tiny-steps"])
    assert public(path)["exercises"]["tiny-steps"]["points"] == 5


def test_other_points_are_in_the_notebook_and_in_what_is_public(folder):
    path = stage(folder, "hw", chapter=tiny.NAME, points={"tiny-steps": 4.5})
    cells = nbformat.read(path, as_version=4).cells
    points = {
        c.metadata.gpubook.exercise: c.metadata.nbgrader.points
        for c in cells
        if c.metadata.get("nbgrader", {}).get("grade")
    }
    assert points == tiny.POINTS | {"tiny-steps": 4.5}
    assert public(path)["exercises"]["tiny-steps"]["points"] == 4.5
    with pytest.raises(CourseError, match="'mine-one', which is not asked"):
        stage(folder, "hw", chapter=tiny.NAME, points={"mine-one": 4.5})


def test_a_text_asks_exercises_and_is_read_as_a_chapter_is(folder):
    text = folder / "mine.md"
    text.write_text(HEAD + FIGURE + ASK)
    path = stage(folder, "hw", text=text)
    nb = nbformat.read(path, as_version=4)
    assert nb.cells[0].source == "# Mine, of 7"
    assert [cell.metadata.alt for cell in nb.cells if "alt" in cell.metadata] == ["A bar of 7."]
    assert next(cell.source for cell in nb.cells if cell.cell_type == "code") == "1 + 1"
    assert asked(path) == ["mine-one"]
    assert "**Exercise 1**" in next(c.source for c in nb.cells if "How many steps" in c.source)
    assert nb.metadata.gpubook.chapter == "hw"
    assert sorted(file.name for file in path.parent.iterdir()) == ["exercises.json", "hw.ipynb"]
    path = stage(folder, "hw", text=text, chapter=tiny.NAME)
    assert nbformat.read(path, as_version=4).metadata.gpubook.chapter == tiny.NAME
    assert asked(path) == ["mine-one"]
    assert not (path.parent / "picture.svg").exists()  # a text releases no files of the chapter


def test_a_text_may_ask_what_the_chapter_declares(folder):
    text = folder / "mine.md"
    text.write_text(HEAD + ASK.replace("mine-one", "tiny-steps"))
    assert asked(stage(folder, "hw", text=text, chapter=tiny.NAME)) == ["tiny-steps"]


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ({}, "nothing to assign"),
        ({"exercises": []}, "nothing to assign"),
        ({"text": True, "exercises": ["mine-one"]}, "already names its exercises"),
        ({"without": ["tiny-steps"], "exercises": ["mine-one"]}, "left out of a chapter; which"),
        ({"text": True, "without": ["tiny-steps"]}, "left out of a chapter; which"),
        ({"chapter": tiny.NAME, "without": ["tiny-time"], "exercises": ["tiny-steps"]}, "out of the list"),
        ({"chapter": tiny.NAME, "without": ["tiny-what"]}, "01-tiny has no exercise tiny-what; it has tiny-time, "),
        ({"chapter": tiny.NAME, "exercises": ["tiny-what"]}, "01-tiny has no exercise tiny-what; it has .*mine-one"),
        ({"exercises": ["mine-what"]}, "the course declares no exercise mine-what; it has mine-one, mine-two$"),
        ({"exercises": ["tiny-steps"]}, "the course declares no exercise tiny-steps"),
    ],
)
def test_what_cannot_be_assigned_is_refused(folder, what, problem):
    if what.get("text"):
        (folder / "mine.md").write_text(HEAD + ASK)
        what = {**what, "text": folder / "mine.md"}
    with pytest.raises(CourseError, match=problem):
        stage(folder, "hw", **what)
    assert not (folder / "source" / "hw" / "hw.ipynb").exists()


def test_nothing_of_ones_own_is_said_to_be_none_with_what_was_left_out(folder):
    (folder / "exercises" / "mine.py").unlink()
    with pytest.raises(CourseError, match="it has none; declare your own"):
        stage(folder, "hw", exercises=["mine-one"])
    (folder / "exercises" / "bad.py").write_text("1/0")
    with pytest.raises(CourseError, match=r"left out: .*bad\.py"):
        stage(folder, "hw", exercises=["mine-one"])


def test_an_id_is_declared_once_and_a_file_that_fails_stops_only_what_it_may_declare(folder):
    (folder / "exercises" / "zzz.py").write_text(MINE + 'ONE = ring("mine-one")\n')
    with pytest.raises(CourseError, match=r"zzz\.py: the exercise 'mine-one' is declared in .*mine\.py too"):
        own_bank(folder)
    (folder / "exercises" / "zzz.py").write_text('1/0  # "mine-three"')
    bank = own_bank(folder, ["mine-one"])
    assert list(bank) == ["mine-one", "mine-two"]
    assert ["zzz.py" in line for line in bank.left_out] == [True]
    assert bank.namespace["PLANES"] == 7
    for ids in (["mine-three"], None):
        with pytest.raises(DeclarationError):
            own_bank(folder, ids)


def test_only_the_teachers_own_exercises_are_checked_by_a_service(folder):
    service = CheckService(config=Config({"CheckService": {"url": "https://host/check"}}))
    path = stage(folder, "hw", chapter=tiny.NAME, exercises=["tiny-time", "mine-one"], service=service)
    assert public(path)["assignment"]["service"] == {"url": "https://host/check/", "attempts": {"mine-one": 5}}
    assert "service" not in public(stage(folder, "hw", chapter=tiny.NAME, service=service))["assignment"]


@pytest.mark.parametrize("variants", [True, False])
def test_learners_may_have_numbers_of_their_own(folder, variants):
    path = stage(folder, "hw", exercises=["mine-one"], variants=variants)
    prompt = next(c.source for c in nbformat.read(path, as_version=4).cells if "How many steps" in c.source)
    assert ("Run the next cell" in prompt) == variants
    path = stage(folder, "hw", chapter=tiny.NAME, variants=variants)
    assert nbformat.read(path, as_version=4).metadata.variants == variants


def test_a_file_that_may_declare_what_a_chapter_asks_is_not_passed_over(folder):
    (folder / "exercises" / "bad.py").write_text('1/0  # "mine-three"')
    stage(folder, "hw", chapter=tiny.NAME)
    (folder / "exercises" / "bad.py").write_text('1/0  # "tiny-steps"')
    stage(folder, "hw", chapter=tiny.NAME, exercises=["tiny-time"])
    for what in ({"chapter": tiny.NAME}, {"chapter": tiny.NAME, "exercises": ["tiny-steps"]}):
        with pytest.raises(DeclarationError):
            stage(folder, "hw", **what)
