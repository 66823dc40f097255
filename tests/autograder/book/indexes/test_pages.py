"""The notation, the index of exercises, and where the sources disagree: complete, and without any answer."""

import re

import pytest
from bs4 import BeautifulSoup

from autograder.book.indexes.disagreements import disagreements_page
from autograder.book.indexes.exercise_index import asked_in, exercises_page
from autograder.book.indexes.notation import notation_page
from autograder.book.indexes.uses import tables
from autograder.book.source import chapters
from hwlib.notation import NOTATION
from tests.autograder.small_book import EXERCISES, SOURCE, lay_out


@pytest.fixture(scope="module")
def chapter(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("pages")
    erratum = EXERCISES.replace("links-count", "links-erratum-count").replace(
        "COUNT = Exercise(\n    id", 'COUNT = Exercise(\n    title="Find the error: 24 $x$", id'
    )
    lay_out(folder, root, SOURCE.replace("links-count", "links-erratum-count"), erratum)
    return chapters.load(folder, "07-links")


def words(element):
    return " ".join(element.get_text().split())


def test_every_symbol_has_its_row_and_comes_in_where_its_formula_does(chapter):
    text = notation_page([chapter])
    for name, symbol in NOTATION.items():
        assert f'| ${symbol.tex}$ | <span id="symbol-{name}"></span>`{name}` |' in text
    (row,) = (line for line in text.splitlines() if 'id="symbol-W"' in line)
    assert "| bandwidth, one direction | B/s | above 0 | [chapter 7](07-links.ipynb) |" in row
    assert '<a href="formulas.html#memory_time">' in row


def test_every_exercise_has_its_row_with_links_to_card_and_section(chapter):
    page = BeautifulSoup(exercises_page([chapter]), "html.parser")
    rows = page.select("tbody tr")
    assert [row["id"] for row in rows] == chapter.exercises
    first = [words(cell) for cell in rows[0].select("td, th")]
    assert first == ["7.1", "One buffer", "Quantity", "2", "7. Links", "Exercises"]
    assert [link["href"] for link in rows[0].select("a")] == [
        "07-links.html#exercise-links-time",
        "07-links.html#exercises",
    ]
    assert [words(row.select("td")[1]) for row in rows] == [
        "Quantity",
        "Count, erratum",
        "Prediction",
        "Function",
        "Written",
    ]


def test_every_figure_that_others_print_differently_is_told(chapter):
    page = BeautifulSoup(disagreements_page([chapter], {}), "html.parser")
    told = words(page)
    for table in tables().values():
        for record in table.values():
            for name, datum in record.data.items():
                for other in datum.also:
                    assert " ".join(other.split()) in told, (record.key, name)
                if datum.confidence.startswith("announced"):
                    assert datum.confidence in told, (record.key, name)


def test_every_figure_with_a_factor_is_told_under_its_reason(chapter):
    text = disagreements_page([chapter], {})
    used = text.split("## Printed and used")[1].split("## How surely")[0]
    parts = dict(zip(re.findall(r"### (.+)", used), used.split("### ")[1:], strict=True))
    assert set(parts) == {"Both directions", "Sparsity", "Of another thing", "Powers of two"}
    count = {name: len(BeautifulSoup(part, "html.parser").select("tbody tr")) for name, part in parts.items()}
    with_factor = [
        datum
        for table in tables().values()
        for record in table.values()
        for datum in record.data.values()
        if datum.factor != 1
    ]
    assert sum(count.values()) == len(with_factor)
    assert "L40S" in parts["Sparsity"]
    assert "H100 SXM5" in parts["Both directions"]
    assert "H100 SXM5" in parts["Powers of two"]


def test_the_counts_of_confidence_add_up_to_all_figures(chapter):
    page = BeautifulSoup(disagreements_page([chapter], {}), "html.parser")
    counts = page.select_one("[aria-label^='Figures by how surely'] table").select("td")
    assert sum(int(words(cell)) for cell in counts) == sum(len(r.data) for t in tables().values() for r in t.values())


def test_an_erratum_is_listed_by_its_title_alone(chapter):
    page = BeautifulSoup(disagreements_page([chapter], {}), "html.parser")
    (only,) = page.select(".errata li")
    assert words(only) == "Find the error: 24 x (7. Links, exercise 7.2)"
    assert only.a["href"] == "07-links.html#exercise-links-erratum-count"
    for secret in ("mistake-sentence", "explanation-of", "Each to each"):
        assert secret not in words(page)


@pytest.mark.slow
def test_the_whole_book_asks_every_exercise_once(root):
    from tests.kept import loaded

    every = [loaded(root, name) for name in chapters.chapter_names(root)]
    ids = [one.id for one in asked_in(every)]
    assert ids == [name for chapter in every for name in chapter.exercises]
    assert len(ids) == len(set(ids)) > 200
    assert sum(one.erratum for one in asked_in(every)) > 20
