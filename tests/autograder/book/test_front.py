"""The front page: a card a chapter with its question, times and points that agree with the exercises, both editions."""

import json
import re
import shutil
import tomllib
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from autograder.book.site import front, glyphs
from autograder.book.source.chapters import chapter_names
from autograder.book.source.contents import contents
from autograder.book.source.notebook import ChapterError
from autograder.book.source.syllabus import Amount, BookCounts
from tests.conftest import ROOT
from tests.kept import loaded


@pytest.fixture(scope="module")
def chapters():
    return [loaded(ROOT, name) for name in chapter_names(ROOT)]


@pytest.fixture(scope="module")
def pages(chapters):
    """The front page of both editions, its Markdown with the generated parts."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    return {
        edition: front.filled(text, front.Front(ROOT, chapters, edition == "course")) for edition in ("open", "course")
    }


def soup(page):
    return BeautifulSoup("".join(re.findall(r"^````\{raw\} html\n(.*?)\n````$", page, re.S | re.M)), "html.parser")


def words(element):
    return " ".join(element.get_text(" ").split())


def chapter_with(first, path="links.md"):
    """A chapter whose first text is this."""
    cells = [SimpleNamespace(cell_type="code", source="x"), SimpleNamespace(cell_type="markdown", source=first)]
    source = SimpleNamespace(at=lambda needle: f"{path}:8")
    return SimpleNamespace(instructor=SimpleNamespace(cells=cells), source=source)


@pytest.mark.parametrize("edition", ["open", "course"])
def test_every_chapter_has_a_card_with_its_opening_question(pages, chapters, edition):
    cards = soup(pages[edition]).select("li.front-card")
    assert [words(card.h3) for card in cards] == [f"{e.number}. {e.title}" for e in contents(ROOT)]
    assert [card.a["href"] for card in cards] == [f"{chapter.name}.html" for chapter in chapters]
    for card, chapter in zip(cards, chapters, strict=True):
        asked = words(card.select_one(".front-question"))
        source = chapter.source.text
        opening = source[source.index("*“") : source.index("”*")]
        assert asked.startswith("“")
        assert asked.endswith("”")
        assert "{n}" not in asked
        for part in re.split(r"\{n\}`[^`]*`|`|\*", opening):  # what stands between its numbers
            assert " ".join(part.split()) in asked.replace(" ,", ","), chapter.name


def test_numbers_on_the_cards_are_those_of_the_exercises_and_of_the_plan(pages):
    book, found = BookCounts(ROOT), soup(pages["open"])
    total, by_machine = Amount(), 0
    for entry, card in zip(contents(ROOT), found.select("li.front-card"), strict=True):
        path = ROOT / "chapters" / entry.name / "exercises.json"
        records = json.loads(path.read_text(encoding="utf-8"))["exercises"]
        points, asked = sum(record["points"] for record in records.values()), book.amount(records)
        assert f"{len(records)} exercises, {points:g} points" in words(card)
        assert f"{front.spent(book.reading(int(entry.number)))} to read, {front.spent(asked)} to solve" in words(card)
        judged = sum(record["points"] for record in records.values() if record["kind"] != "Written")
        whole = "" if judged == points else " judged by machine"
        assert words(card.select_one("[data-chapter-progress]")) == f"0 of {judged:g} points{whole}"
        by_machine += judged
        assert card.select_one("[data-chapter-progress]")["data-chapter-progress"] == entry.name
        total += asked
    facts = words(found.select_one(".front-facts"))
    assert f"{len(book.exercises)} exercises" in facts
    assert f"{total.points:g} points, {by_machine:g} of them judged by machine" in facts
    assert f"{front.spent(total)} to solve" in facts


def test_the_course_edition_shows_no_progress(pages):
    places = "[data-chapter-progress], [data-book-progress], [data-continue], [data-repeat]"
    assert len(soup(pages["open"]).select(places)) == len(chapter_names(ROOT)) + 3
    assert not soup(pages["course"]).select(places)
    assert "data-continue" not in pages["course"]


def test_three_paths_come_to_what_the_plan_says(pages):
    made = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    wholes = re.findall(r"^\| the whole path \|  \| (\S+) \| (\S+) \|$", made, re.M)
    headings = re.findall(r"^### (An? .* engineer)$", made, re.M)
    paths = soup(pages["open"]).select(".front-paths li")
    assert [words(path.h3) for path in paths] == headings
    for path, title, (points, hours) in zip(paths, headings, wholes, strict=True):
        assert path.a["href"] == f"course.html#{title.lower().replace(' ', '-')}"
        assert f"{points} points, {hours} h" in words(path)


def test_the_version_and_the_licences_are_those_of_the_package(pages, chapters):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    told = words(soup(pages["open"]).select_one(".front-colophon"))
    assert f"Version {project['version']}" in told
    assert project["license"] == "MIT AND CC-BY-4.0"
    assert re.search(r"\(c\) \d+ (the gpubook authors)", licence)[1] in told
    assert "MIT" in told
    assert "CC BY 4.0" in told
    text, made = "<!-- front: colophon -->", front.Front(ROOT, chapters, False)
    assert "licences.html" not in front.filled(text, made)
    assert "licences.html" in front.filled(text, made, licences=True)


def test_the_figure_is_of_the_ring_and_asks_nothing_of_another_host(pages):
    figure = soup(pages["open"]).select_one("figure.live")
    data = json.loads(figure.script.get_text())
    assert data["state"]["calls"] == "together"
    assert 0 < data["state"]["time"] < 1e-3
    assert not re.findall(r"(?:src|href|url)\W{1,3}https?://", pages["open"].replace("https://creativecommons.org", ""))


def test_a_page_is_light(pages):
    assert len(pages["open"].encode()) < 120_000


def test_the_line_below_a_title_has_the_same_numbers(chapters, pages):
    made = front.Front(ROOT, chapters, False)
    for chapter, card in zip(chapters, soup(pages["open"]).select(".front-amount"), strict=False):
        asked, times = card.get_text("\n").split("\n")
        assert words(BeautifulSoup(made.head(chapter), "html.parser")) == f"About {times}: {asked}."


@pytest.mark.parametrize(
    "first",
    [
        "# Links\n\nA link is slow.",
        "# Links",
        "# Links\n\n*“Why?”* he said.",
        "# Links\n\n“Why?”",
        "*“Why?”*",
    ],
)
def test_a_chapter_without_an_opening_question_is_refused(first):
    with pytest.raises(ChapterError, match=r"^links\.md:8: .*opening question"):
        front.question(chapter_with(first))


def test_an_opening_question_may_have_code_and_stand_on_two_lines():
    asked = "*“I changed one `Shard(0)`;\nwhat is inserted?”*"
    assert front.question(chapter_with(f"# 8. Links\n\n{asked}\n\nMore.")) == asked[1:-1]


def test_a_chapter_that_is_not_written_is_marked_and_is_not_a_link(tmp_path):
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "course.toml", tmp_path / "docs")
    (tmp_path / "docs" / "chapters.toml").write_text('[01-links]\ntitle = "Links"\nabout = "what is slow"\n')
    (card,) = soup(front.filled("<!-- front: cards -->", front.Front(tmp_path, [], False))).select("li.front-card")
    assert not card.a
    assert "unwritten" in card["class"]
    assert words(card) == "1 1. Links what is slow not written yet"


def test_a_mark_that_is_not_known_is_refused(chapters):
    with pytest.raises(ChapterError, match="'prices'"):
        front.filled("<!-- front: prices -->", front.Front(ROOT, chapters, False))


@pytest.mark.parametrize(
    ("minutes", "said"), [(1, "5 min"), (68, "70 min"), (94, "95 min"), (215, "3.6 h"), (6278, "105 h")]
)
def test_times_are_as_exact_as_an_estimate_is(minutes, said):
    assert front.spent(Amount(minutes=minutes)) == said


def test_every_chapter_has_a_drawing_of_its_own(chapters):
    drawn = {chapter.name: glyphs.glyph(chapter.name.partition("-")[2]) for chapter in chapters}
    assert all(drawn.values())
    assert len({*drawn.values()}) == len(drawn)
    assert set(glyphs.SHOWN) == {chapter.name.partition("-")[2] for chapter in chapters}
    assert sum(map(len, drawn.values())) < 40_000
    for svg in drawn.values():
        points = [float(x) for pair in re.findall(r'points="([^"]+)"', svg) for x in re.split("[ ,]", pair)]
        places = [float(x) for x in re.findall(r' (?:x|y|cx|cy)="([^"]+)"', svg)]
        assert all(0 <= x <= glyphs.WIDTH for x in points + places)
    assert glyphs.glyph("links") == ""
