"""The glossary and the index of formulas: what the chapters define, each with a link to where."""

import re

import pytest

from autograder.book import indexes
from autograder.book.indexes.uses import uses_of
from autograder.book.source import chapters
from tests.autograder.small_book import SOURCE, lay_out

SECTIONS = """\
## What a $W$ is

**Packets** cross a **hop**, {n}`2` a time.

### Two hops

A hop, a **route**.

"""
TEXT = SOURCE.replace("(later)=", SECTIONS + "(later)=")


@pytest.fixture(scope="module")
def chapter(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("index")
    lay_out(folder, root, TEXT)
    return chapters.load(folder, "07-links")


def test_a_term_is_defined_by_its_sentence_and_links_to_its_section(chapter):
    text = indexes.glossary([chapter])
    where = "([chapter 7, *What a $W$ is*](07-links.ipynb))"
    crossed = f"  **Packets** cross a **hop**, 2 a time. {where}"
    assert text.split("```{glossary}\n")[1].split("\n") == [
        "hop", crossed, "", "packets", crossed, "",
        "route", "  A hop, a **route**. ([chapter 7, *Two hops*](07-links.ipynb#two-hops))", "", "```", "",
    ]  # fmt: skip


def test_a_formula_has_its_name_equation_source_and_section_once(chapter):
    text = indexes.formula_index([chapter, chapter], uses_of([chapter]))
    assert text.count('<span id="memory_time"></span>**`memory_time`**') == 1
    assert "## 7. Links" in text
    assert "([chapter 7](07-links.ipynb); " in text
    assert "| $W$ | bandwidth, one direction | B/s |" in text
    assert re.search(r'class="used">Used in <span>chapter 7: <a href="07-links.html">its beginning</a></span>', text)


def test_a_book_without_chapters_has_every_page():
    made = indexes.pages([], {})
    assert set(made) == {
        "glossary.md",
        "formulas.md",
        "notation.md",
        "exercises.md",
        "specs.md",
        "disagreements.md",
    }
    assert "```" not in made["glossary.md"]
    assert 'id="h100-sxm"' in made["specs.md"]
