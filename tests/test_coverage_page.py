"""docs/coverage.md and docs/course.md name exercises and sections that exist, and every row of the first says where.

What a row names of a chapter that is not written yet is looked up when it is.
"""

import re

import pytest

from autograder.book.source import concept_order
from autograder.book.source.chapters import chapter_names
from autograder.book.source.contents import WRITTEN, contents

ROW = re.compile(r"^\| (.*?) \| (.*?) \|$", re.M)
CODE = re.compile(r"`([^`\n]+)`")
SECTION = re.compile(r"(\d+), \*([^*\n]+)\*")
PLACES = re.compile(rf"(?:{SECTION.pattern}|{CODE.pattern})(?:; (?:{SECTION.pattern}|{CODE.pattern}))*")
PAGES = ("coverage.md", "course.md")


@pytest.fixture(scope="module")
def texts(root):
    """The two pages by their names."""
    return {page: (root / "docs" / page).read_text(encoding="utf-8") for page in PAGES}


@pytest.fixture(scope="module")
def rows(texts):
    """(what, where) of every row of the coverage page's tables."""
    found = [row for row in ROW.findall(texts["coverage.md"]) if row[1] != "where" and set(row[0]) != {"-"}]
    assert len(found) > 180
    return found


@pytest.fixture(scope="module")
def planned(root):
    """The chapters that are not written yet."""
    return [entry for entry in contents(root) if entry.state != WRITTEN]


def named(text, topics):
    """The ids of exercises in a text: code that begins with a chapter's topic."""
    return {key for key in CODE.findall(text) if key.startswith(topics)}


@pytest.mark.parametrize("page", PAGES)
def test_every_exercise_exists(root, texts, planned, page):
    sources = [(root / "solutions" / name / f"{name}.md").read_text(encoding="utf-8") for name in chapter_names(root)]
    known = {key for text in sources for key in re.findall(r"^:exercise: (\S+)$", text, re.M)}
    topics = tuple(f"{entry.topic}-" for entry in contents(root))
    lost = named(texts[page], topics) - known
    assert sorted(key for key in lost if not key.startswith(tuple(f"{entry.topic}-" for entry in planned))) == []
    assert len(named(texts[page], topics)) > 100


def test_every_code_of_a_row_is_an_exercise(root, rows):
    topics = tuple(f"{entry.topic}-" for entry in contents(root))
    assert sorted({key for _, where in rows for key in CODE.findall(where)} - named(str(rows), topics)) == []


def test_every_section_exists(root, texts, planned):
    written = {
        (name.partition("-")[0].lstrip("0"), line.text.lstrip("# "))
        for name in chapter_names(root)
        for line in concept_order.text_of(root / "solutions" / name / f"{name}.md").prose
        if line.text.startswith("##")
    }
    numbers = {entry.number for entry in planned}
    assert sorted(pair for pair in set(SECTION.findall(texts["coverage.md"])) - written if pair[0] not in numbers) == []


def test_every_row_says_where_and_nothing_else(rows):
    """Neither an empty cell nor a promise, such as "not written yet" or "in part"."""
    assert [what for what, where in rows if not what or not PLACES.fullmatch(where)] == []


def test_every_chapter_is_somewhere(root, rows):
    topics = {entry.topic: entry.number for entry in contents(root)}
    places = "; ".join(where for _, where in rows)
    told = {number for number, _ in SECTION.findall(places)}
    told |= {number for topic, number in topics.items() if f"`{topic}-" in places}
    assert sorted(set(topics.values()) - told) == []
