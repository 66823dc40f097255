"""What a chapter owes its reader, one test a rule: all places of all chapters that break it are named."""

from pathlib import Path

import pytest

from autograder.book.rules.chapter_rules import RULES, ChapterReading
from autograder.book.source.chapters import chapter_names

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chapters() -> list[ChapterReading]:
    """Every chapter that is released."""
    return [ChapterReading.of(ROOT, name) for name in chapter_names(ROOT)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_chapters_keep_the_rule(chapters, rule):
    found = [line for chapter in chapters for line in rule(chapter)]
    assert not found, "\n".join([rule.__doc__.strip(), *found])


def test_every_cell_is_on_its_line(chapters):
    assert len(chapters) > 0
    for chapter in chapters:
        lines = chapter.source.text.split("\n")
        for cell in chapter.cells:
            assert lines[cell.line - 1] == cell.text.split("\n")[0], chapter.at(cell.line)
