"""Sources: their names in a text, the letters that tell them apart, and what an entry of the book's own owes."""

import re

import pytest
from pybtex.database import parse_file, parse_string

from autograder.book.bibliography import Bibliography, for_page

SOURCES = """
@misc{b, author = {{NVIDIA}}, title = {{B} is second}, year = {2025}, url = {https://b.example}}
@misc{a, author = {{NVIDIA}}, title = {A is first}, year = {2025}, eprint = {2501.00001}}
@misc{old, author = {{NVIDIA}}, title = {Older}, year = {2024}}
@article{two, author = {Hill, Ann and Lee, Bo}, title = {T}, year = {2025}, doi = {10.1/2}}
@misc{more, author = {Hill, Ann and others}, title = {M}, year = {2025}}
"""


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "references.bib").write_text(SOURCES)
    return Bibliography(tmp_path / "references.bib")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("a", "[NVIDIA, 2025a](https://arxiv.org/abs/2501.00001)"),
        ("b", "[NVIDIA, 2025b](https://b.example)"),
        ("old", "NVIDIA, 2024"),
        ("two", "[Hill and Lee, 2025](https://doi.org/10.1/2)"),
        ("more", "Hill et al., 2025"),
    ],
)
def test_a_source_is_its_authors_its_year_and_a_letter_where_that_is_not_enough(sources, key, text):
    assert sources.cite(key) == text


def test_the_page_has_the_same_letters(sources):
    years = {key: entry.fields["year"] for key, entry in parse_string(for_page(SOURCES), "bibtex").entries.items()}
    assert years == {"a": "2025a", "b": "2025b", "old": "2024", "two": "2025", "more": "2025"}
    titles = {key: entry.fields["title"] for key, entry in parse_string(for_page(SOURCES), "bibtex").entries.items()}
    assert (titles["a"], titles["b"]) == ("{A is first}", "{{B} is second}"), "Sphinx keeps capitals between braces"


def test_letters_do_not_end_with_the_alphabet():
    many = "".join(f"@misc{{k{n:02}, author = {{{{X}}}}, title = {{T {n:02}}}, year = {{2025}}}}\n" for n in range(28))
    years = [entry.fields["year"] for entry in parse_string(for_page(many), "bibtex").entries.values()]
    assert years[25:] == ["2025z", "2025aa", "2025ab"]


def test_no_two_sources_of_the_book_have_one_name(root):
    path = root / "docs" / "references.bib"
    names = [re.sub(r"\]\(.*", "", Bibliography(path).cite(key)) for key in parse_file(path, "bibtex").entries]
    assert len(set(names)) == len(names)


PRINTED = {"cuda-occupancy", "own-h200-steps"}
"""Sources that lie on no page of their own: a header file of a toolkit, and what was measured for this book."""


def test_every_source_of_the_book_has_a_link(root):
    path = root / "docs" / "references.bib"
    assert {key for key in parse_file(path).entries if not Bibliography(path).cite(key).startswith("[")} == PRINTED
