"""The glossary and the index of formulas: what the chapters define, each with a link to where."""

import pytest

from autograder.book import chapters, indexes
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
    text = indexes.formula_index([chapter, chapter])
    assert text.count("**`memory_time`**") == 1
    assert "## 7. Links" in text
    assert "([chapter 7](07-links.ipynb); " in text
    assert "| $W$ | bandwidth, one direction | B/s |" in text


def test_a_book_without_terms_or_formulas_has_both_pages(chapter):
    made = indexes.pages([])
    assert set(made) == {"glossary.md", "formulas.md"}
    assert "```" not in made["glossary.md"]
