"""A book that is built again after a change is the book that is built from nothing, and most of it is kept."""

import shutil

import nbformat
import pytest

from autograder.book.site import html, sphinx_site
from tests.autograder.small_book import lay_out_site


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.nightly
def test_the_book_is_the_one_that_is_built_from_nothing(tmp_path, root, monkeypatch):
    seen, real = [], sphinx_site._sphinx
    monkeypatch.setattr(sphinx_site, "_sphinx", lambda *places: seen.append(places[2].exists()) or real(*places))
    book = lay_out_site(tmp_path / "book", root)
    html.build(book, book / "out", course=True)
    text = book / "solutions" / "07-links" / "07-links.md"
    text.write_text(text.read_text().replace("and I wait.", "and I sit.").replace("Doubler(x=21)", "Doubler(x=4)"))
    again = files(html.build(book, book / "out", course=True))
    for folder in ("book", "assembled", "search"):
        shutil.rmtree(book / ".build" / folder)
    fresh = files(html.build(book, tmp_path / "fresh", course=True))
    assert seen == [False, True, False], "the second build kept what it could"
    assert "and I sit" in fresh[next(path for path in fresh if path.name == "07-links.html")].decode()
    assert again.keys() == fresh.keys()
    assert [str(name) for name in again if again[name] != fresh[name]] == []


PAGE = """# Links

A sentence with {cite}`hill1990`.

(deep)=
## Hops

Another one.
"""


@pytest.mark.parametrize(
    ("old", "new", "anew"),
    [
        ("A sentence", "Two sentences", False),
        ("Another one.", "Another one, with `code`, $x$ and [a link](https://example.org).", False),
        ("# Links", "# Wires", True),
        ("(deep)=", "(deeper)=", True),
        ("hill1990", "hill1991", True),
        ("Another one.", '<span id="mark"></span>', True),
        ("Another one.", "```{toctree}\nother\n```", True),
    ],
)
def test_what_other_pages_may_know_of_a_page_is_its_frame(tmp_path, old, new, anew):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(PAGE, id="a")])
    nbformat.write(notebook, tmp_path / "one.ipynb")
    (tmp_path / "two.md").write_text(PAGE)
    before = sphinx_site._frame(tmp_path, tmp_path / "kept")
    assert old in PAGE
    (tmp_path / "two.md").write_text(PAGE.replace(old, new, 1))
    after = sphinx_site._frame(tmp_path, tmp_path / "kept")
    notebook.cells[0].source = PAGE.replace(old, new, 1)
    nbformat.write(notebook, tmp_path / "one.ipynb")
    assert (before != after, after != sphinx_site._frame(tmp_path, tmp_path / "kept")) == (anew, anew)


@pytest.mark.parametrize("place", ["_static/book.css", "conf.py", "three.md", "extra/file.csv"])
def test_the_settings_and_which_files_there_are_belong_to_the_frame(tmp_path, place):
    (tmp_path / "one.md").write_text(PAGE)
    before = sphinx_site._frame(tmp_path, tmp_path / "kept")
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("x")
    assert before != sphinx_site._frame(tmp_path, tmp_path / "kept")


def test_a_build_that_failed_keeps_nothing(tmp_path, monkeypatch):
    source, kept = tmp_path / "source", tmp_path / "kept"
    source.mkdir()
    (source / "one.md").write_text(PAGE)
    seen = []

    def sphinx(own, raw, doctrees):
        seen.append(doctrees.exists())
        raw.mkdir(exist_ok=True)
        doctrees.mkdir(exist_ok=True)
        if len(seen) == 2:
            raise html.BookError("a warning")

    monkeypatch.setattr(sphinx_site, "_sphinx", sphinx)
    sphinx_site.write_site(source, kept, tmp_path / "1")
    with pytest.raises(html.BookError):
        sphinx_site.write_site(source, kept, tmp_path / "2")
    sphinx_site.write_site(source, kept, tmp_path / "3")
    sphinx_site.write_site(source, kept, tmp_path / "4")
    assert seen == [False, True, False, True]
