"""The contents of the book: every chapter that is written, under the title that its text has."""

import pytest

from autograder.book.contents import HEADING, IN_WORK, PLANNED, WRITTEN, contents, numbered
from autograder.book.notebook import ChapterError

LISTED = """\
[01-links]
title = "Links"
about = "wires"
[02-switches]
title = "Switches"
about = "boxes"
"""


def write(root, name, head="", title="Own title"):
    folder = root / "solutions" / name
    folder.mkdir(parents=True)
    (folder / f"{name}.md").write_text(f"---\nx: y\n{head}---\n\n# {title}\n")


def test_a_chapter_is_written_in_work_or_planned(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "chapters.toml").write_text(LISTED + '[03-racks]\ntitle = "Racks"\nabout = "rows"\n')
    write(tmp_path, "01-links")
    write(tmp_path, "02-switches", head="draft: true\n")
    made = contents(tmp_path)
    assert [(e.number, e.topic, e.title, e.state) for e in made] == [
        ("1", "links", "Links", WRITTEN),
        ("2", "switches", "Switches", IN_WORK),
        ("3", "racks", "Racks", PLANNED),
    ]


def test_a_book_without_the_file_has_its_sources_under_their_headings(tmp_path):
    write(tmp_path, "appendix")
    assert [(e.name, e.label, e.title, e.state) for e in contents(tmp_path)] == [
        ("appendix", "Own title", "Own title", WRITTEN)
    ]


def test_a_file_that_is_not_toml_is_named(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "chapters.toml").write_text("[01-links\n")
    with pytest.raises(ChapterError, match=r"chapters\.toml"):
        contents(tmp_path)


@pytest.mark.parametrize(("name", "title"), [("06-collectives", "6. Collectives"), ("glossary", "Collectives")])
def test_a_chapter_with_a_number_shows_it(name, title):
    assert numbered("Collectives", name) == title


def test_the_titles_of_the_book_are_those_of_its_chapters(root):
    """All eighteen are listed, in their order; a chapter that is written has the title of the list."""
    made = contents(root)
    assert [e.number for e in made] == [str(n) for n in range(1, 19)]
    for entry in made:
        source = root / "solutions" / entry.name / f"{entry.name}.md"
        if entry.state != PLANNED:
            assert HEADING.search(source.read_text(encoding="utf-8"))[1] == entry.title
        assert entry.about
