"""A new chapter passes as it stands, and a name that cannot be one leaves nothing behind."""

import re
import shutil
import subprocess
import sys

import pytest

from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest
from autograder.book import skeleton
from autograder.book.outputs import executed
from autograder.book.rules import chapter_rules
from autograder.book.skeleton import SkeletonError, new_chapter
from autograder.book.source import chapters

NAME = "08-sharded-matmuls"


@pytest.fixture
def book(tmp_path, root):
    """A book without chapters."""
    (tmp_path / "solutions").mkdir()
    shutil.copytree(root / "docs", tmp_path / "docs")
    return tmp_path


def left_to_do(book):
    return list(chapter_rules.nothing_is_left_to_write(chapter_rules.ChapterReading.of(book, NAME)))


@pytest.mark.slow
@pytest.mark.parametrize("sections", [False, True])
def test_it_builds_and_tests_itself(book, sections):
    files = new_chapter(book, NAME, sections=sections)
    declared = "exercises/first_section.py" if sections else "exercises.py"
    assert [str(f.relative_to(book / "solutions" / NAME)) for f in files] == [f"{NAME}.md", declared]
    assert sorted(p for p in (book / "solutions").rglob("*") if p.is_file()) == sorted(files)
    assert chapters.build(book) == chapters.build(book, check=True) == []
    chapter = chapters.load(book, NAME)
    assert len(chapter.exercises) == 4
    for exercise in chapter.bank.values():
        assert selftest(exercise) + library_overlap(exercise) == []


def test_it_is_a_draft_whose_rules_say_what_is_left(book):
    new_chapter(book, NAME)
    assert chapters.chapter_names(book) == []
    counting = (
        chapter_rules.number_of_exercises,
        chapter_rules.kinds_that_every_chapter_asks,
        chapter_rules.live_figures,
    )
    counting = (*counting, chapter_rules.numbers_can_be_dragged)
    unmet = (*counting, chapter_rules.prose_for_each_line_of_code, chapter_rules.nothing_is_left_to_write)
    reading = chapter_rules.ChapterReading.of(book, NAME)
    assert [rule for rule in chapter_rules.RULES if list(rule(reading))] == [
        r for r in chapter_rules.RULES if r in unmet
    ]
    assert len(left_to_do(book)) > 8


def test_no_name_of_the_template_is_left(book):
    for file in new_chapter(book, NAME):
        text = file.read_text().lower()
        assert "the-topic" not in text
        assert "the topic" not in text
        assert "chapter nn" not in text
        assert "sharded" in text or "chapter 8" in text


def test_its_exercises_are_formatted_as_the_repository_asks(book, root):
    _, exercises = new_chapter(book, NAME)
    for command in (["check", "--ignore", "D,ARG005,C408"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(root / "pyproject.toml"), str(exercises)]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_its_notebook_runs_and_scores(book):
    new_chapter(book, NAME)
    nb = executed.execute(chapters.load(book, NAME), book, book / ".build")
    assert any("image/svg+xml" in o.get("data", {}) for c in nb.cells for o in c.get("outputs", []))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sharded-matmuls", "'sharded-matmuls' .*two digits"),
        ("8-sharded", "'8-sharded' .*two digits"),
        ("08-Sharded", "'08-Sharded' .*two digits"),
        ("08-", "'08-' .*two digits"),
        ("08-a/../b", "two digits"),
        ("08-a--b", "'08-a--b' .*two digits"),
        ("08-a\n", "two digits"),
        (NAME, "08-sharded-matmuls already"),
        ("08-other", "number 08 .*08-sharded-matmuls; .* 09$"),
        ("09-sharded-matmuls", "topic .*08-sharded-matmuls"),
    ],
)
def test_a_name_that_cannot_be_one(book, name, says):
    new_chapter(book, NAME)
    before = sorted(book.rglob("*"))
    with pytest.raises(SkeletonError, match=says):
        new_chapter(book, name)
    assert sorted(book.rglob("*")) == before


def test_nothing_half_written_stays(book, monkeypatch):
    def full(source, target):
        raise OSError("No space left on device")

    monkeypatch.setattr(skeleton.shutil, "move", full)
    with pytest.raises(OSError, match="No space left"):
        new_chapter(book, NAME)
    assert list((book / "solutions").iterdir()) == []


def test_an_installed_book_takes_no_chapter(tmp_path):
    (tmp_path / "_book" / "solutions").mkdir(parents=True)
    with pytest.raises(SkeletonError, match=re.escape(str(tmp_path / "_book"))):
        new_chapter(tmp_path / "_book", NAME)
