"""docs/coverage.md names exercises and sections that exist, and calls a chapter unwritten only while it is."""

import re

import pytest

from autograder.book import order
from autograder.book.chapters import chapter_names
from autograder.book.contents import WRITTEN, contents

ROW = re.compile(r"^\| (.+?) \| (.+?) \|$", re.M)


@pytest.fixture(scope="module")
def places(root):
    """The second column of every row of the page's tables."""
    rows = ROW.findall((root / "docs" / "coverage.md").read_text(encoding="utf-8"))
    found = [(what, where) for what, where in rows if where != "where"]
    assert len(found) > 100
    return found


def test_every_exercise_exists(root, places):
    texts = [(root / "solutions" / name / f"{name}.md").read_text(encoding="utf-8") for name in chapter_names(root)]
    known = {key for text in texts for key in re.findall(r"^:exercise: (\S+)$", text, re.M)}
    named = {key for _, where in places for key in re.findall(r"`([^`]+)`", where)}
    assert sorted(named - known) == []


def test_every_section_exists(root, places):
    written = {
        (name.partition("-")[0].lstrip("0"), line.text.lstrip("# "))
        for name in chapter_names(root)
        for line in order.text_of(root / "solutions" / name / f"{name}.md").prose
        if line.text.startswith("##")
    }
    named = {pair for _, where in places for pair in re.findall(r"(\d+), \*([^*]+)\*", where)}
    assert sorted(named - written) == []


def test_a_chapter_is_unwritten_only_while_it_is(root, places):
    written = {entry.number for entry in contents(root) if entry.state == WRITTEN}
    for what, where in places:
        assert "not written yet" in where or re.search(r"`|\*", where), what
        for numbers in re.findall(r"chapters? ([\d to]+), not written yet", where):
            first, *last = map(int, numbers.split(" to "))
            assert not {str(n) for n in range(first, max([first, *last]) + 1)} & written, what
