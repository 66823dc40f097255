"""solutions/ to chapters/: the same bytes every time, nothing but the learner's, and clear errors."""

import hashlib
import json
import os
import re
import subprocess
import sys

import nbformat
import pytest

from autograder.book.source import chapters
from autograder.book.source.notebook import ChapterError
from autograder.declaration import DeclarationError
from tests.autograder.small_book import EXERCISES, SOURCE, lay_out


@pytest.fixture(scope="module")
def built(tmp_path_factory, root):
    book = lay_out(tmp_path_factory.mktemp("book"), root)
    lines = chapters.build(book)
    return book, lines


def digests(folder):
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_a_chapter_is_its_notebook_and_its_public_exercises(built):
    book, lines = built
    folder = book / "chapters" / "07-links"
    assert sorted(digests(folder)) == ["07-links.ipynb", "exercises.json"]
    assert lines == [
        "chapters/07-links/07-links.ipynb: written",
        "chapters/07-links/exercises.json: written",
    ]
    nb = nbformat.read(folder / "07-links.ipynb", as_version=4)
    nbformat.validate(nb)
    text = "\n".join(c.source for c in nb.cells)
    assert "A link of 50 GB/s carries 100 GB in 2 s" in text
    assert "hushed" not in text
    assert "SOLUTION" not in text
    assert "mistake-sentence" not in text
    options = re.search(r"answer = \.\.\.  # one of (.+)", text)[1]
    assert sorted(options.split(", ")) == ['"half"', '"same"', '"twice"']
    assert "def half(x):" in text
    locked = {c.id: c.metadata.nbgrader for c in nb.cells if "nbgrader" in c.metadata}
    assert locked["links-time-grade"].points == 2
    assert locked["links-time-grade"].locked
    assert not locked["links-time"].locked
    assert locked["links-time-prompt"].locked
    assert "model-answer-of" not in text
    cells = {c.id: c for c in nb.cells}
    why, own = cells["links-why"], locked["links-why"]
    assert (why.cell_type, why.source) == ("markdown", "*Your answer*")
    assert (own.grade, own.solution, own.locked, own.points) == (True, True, False, 3)
    assert own.checksum
    assert "- Gives *one* number. (1 point)" in cells["links-why-prompt"].source
    assert "links-why-grade" not in cells
    assert all(not c.get("outputs") for c in nb.cells)


def test_a_caption_stands_under_its_figure(built):
    nb = nbformat.read(built[0] / "chapters" / "07-links" / "07-links.ipynb", as_version=4)
    at = next(i for i, c in enumerate(nb.cells) if c.source.startswith("plt.plot"))
    figure, caption = nb.cells[at : at + 2]
    assert (caption.cell_type, caption.id) == ("markdown", f"{figure.id}-caption")
    assert caption.source == "**Figure 7.1.** 3 points on a *line*, as $x$ has it."
    assert figure.metadata == {"alt": 'A line that rises: from 1 to "three" & on.'}
    assert [c.source[:15] for c in nb.cells if "caption" in c.id] == ["**Figure 7.1.**", "**Figure 7.2.**"]


def test_the_text_knows_what_its_cells_import_from_the_library_and_the_exercises_go_first(tmp_path, root):
    cell = "```{code-cell} ipython3\nfrom hwlib.units import MiB as M, GB as W\nfrom json import dumps\n```\n"
    source = f"{SOURCE}\n\n{{n}}`M/2**20`, {{n}}`int(W)`\n\n{cell}"
    book = lay_out(tmp_path, root, source)
    chapters.build(book)
    nb = nbformat.read(book / "chapters" / "07-links" / "07-links.ipynb", as_version=4)
    assert "1, 50,000,000,000" in "\n".join(c.source for c in nb.cells)
    (book / "solutions" / "07-links" / "07-links.md").write_text(f"{source}\n{{n}}`dumps(1)`\n")
    with pytest.raises(ChapterError, match="NameError: name 'dumps'"):
        chapters.build(book)


def test_exercises_json_tells_learners_what_they_may_know(built):
    data = json.loads((built[0] / "chapters" / "07-links" / "exercises.json").read_text())
    assert list(data["exercises"]) == ["links-time", "links-count", "links-guess", "links-half", "links-why"]
    assert data["exercises"]["links-time"]["unit"] == "s"
    assert data["exercises"]["links-time"]["hints"]
    for record in data["exercises"].values():
        assert not {"solution", "mistakes", "explain"} & set(record)


def test_a_chapter_reads_without_any_extension(built):
    nb = nbformat.read(built[0] / "chapters" / "07-links" / "07-links.ipynb", as_version=4)
    prose = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
    assert ":::" not in prose
    assert "(later)=" not in prose
    assert "{cite}" not in prose
    assert "<span" not in prose
    assert "> **By the way.** The `{n}` in code stays." in prose


def test_two_builds_are_the_same_bytes_whatever_the_hash_seed(built, tmp_path, root):
    again = lay_out(tmp_path, root)
    code = (
        f"from autograder.book.source import chapters; from pathlib import Path; chapters.build(Path({str(again)!r}))"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code], cwd=root, env=env, check=True)
    assert digests(again / "chapters") == digests(built[0] / "chapters")
    assert chapters.build(again) == []


def test_check_writes_nothing_and_names_what_differs(built, tmp_path, root):
    book = lay_out(tmp_path, root)
    chapters.build(book)
    assert chapters.build(book, check=True) == []
    (book / "chapters" / "07-links" / "exercises.json").write_text("{}")
    (book / "chapters" / "07-links" / "extra.txt").write_text("by hand")
    (book / "chapters" / "07-links" / "07-links.ipynb").unlink()
    (book / "solutions" / "07-links" / "built.json").write_text('{"links-gone": []}')
    (book / "chapters" / "09-gone").mkdir()
    before = digests(book / "chapters")
    assert chapters.build(book, check=True) == [
        "solutions/07-links/built.json: differs from what the library computes now",
        "chapters/07-links/07-links.ipynb: is missing",
        "chapters/07-links/exercises.json: differs from its source",
        "chapters/07-links/extra.txt: is not made by its source",
        "chapters/09-gone: has no source in solutions/",
    ]
    assert digests(book / "chapters") == before
    assert chapters.build(book) == [
        "solutions/07-links/built.json: computed anew",
        "chapters/07-links/07-links.ipynb: written",
        "chapters/07-links/exercises.json: written anew",
        "chapters/07-links/extra.txt: removed: its source does not make it",
        "chapters/09-gone: removed: it has no source in solutions/",
    ], "what was wrong before is right now"
    assert chapters.build(book) == []
    assert not (book / "solutions" / "07-links" / "built.json").exists()
    assert chapters.build(book, check=True) == []
    assert digests(book / "chapters") == digests(built[0] / "chapters")


def test_files_are_released_by_name_and_nothing_else(tmp_path, root):
    book = lay_out(tmp_path, root)
    folder = book / "solutions" / "07-links"
    (folder / "files").mkdir()
    (folder / "files" / "rates.csv").write_text("a,b\n")
    (folder / "notes.txt").write_text("for the author")
    chapters.build(book)
    assert sorted(digests(book / "chapters" / "07-links")) == [
        "07-links.ipynb",
        "exercises.json",
        "files/rates.csv",
    ]


UNASKED = SOURCE[: SOURCE.index("```{code-cell} ipython3\n:exercise: links-half")]


@pytest.mark.parametrize(
    ("source", "exercises", "error", "says"),
    [
        (
            SOURCE.replace(": links-half", ": links-hafl"),
            EXERCISES,
            ChapterError,
            r"md:\d+: unknown exercise",
        ),
        (
            SOURCE.replace("{n}`2`", "{n}`2/0`"),
            EXERCISES,
            ChapterError,
            r"07-links.md:10: .*ZeroDivisionError",
        ),
        (
            UNASKED,
            EXERCISES,
            ChapterError,
            r"exercises.py:\d+: .*'links-half' .*links.md",
        ),
        (SOURCE, EXERCISES + "\n1/0\n", DeclarationError, r"exercises.py:\d+: ZeroDivisionError"),
        (
            SOURCE.replace(":alt: A number and its <double>.\n", ""),
            EXERCISES,
            ChapterError,
            r"md:\d+: .*:caption: .*:alt:; ",
        ),
        (
            SOURCE.replace(":exercise: links-half\n", ":exercise: links-half\n:caption: A.\n:alt: B.\n"),
            EXERCISES,
            ChapterError,
            r"md:\d+: .*caption .*figure",
        ),
        (
            SOURCE.replace(":alt: A number", ":alt: {n}`1` number: "),
            EXERCISES,
            ChapterError,
            r"links.md: Code cell .*quotes",
        ),
        (SOURCE.replace(":alt: A number and its <double>.", ":alt: 8"), EXERCISES, ChapterError, r":alt: is 8; a text"),
        (
            SOURCE,
            EXERCISES.replace("words=40)", "words=40), points=2"),
            DeclarationError,
            r"links-why: points is 2; .* 3$",
        ),
    ],
    ids=["unknown", "number", "unasked", "python", "no-alt", "no-figure", "yaml", "no-text", "points"],
)
def test_a_chapter_that_cannot_be_built_says_where_and_why(tmp_path, root, source, exercises, error, says):
    book = lay_out(tmp_path, root, source, exercises)
    with pytest.raises(error, match=says):
        chapters.build(book)
    assert not (book / "chapters").exists()


def test_an_unknown_chapter_is_named_with_those_there_are(tmp_path, root):
    with pytest.raises(ChapterError, match=r"08-none.md .*: 07-links"):
        chapters.build(lay_out(tmp_path, root), ["08-none"])


def test_the_books_own_chapters_are_what_their_sources_give(root, monkeypatch):
    monkeypatch.setattr(chapters, "prove", lambda chapter: None)  # of which tests/test_exercises.py has all
    assert chapters.build(root, check=True) == []


def test_exercises_that_fail_their_own_test_are_named_with_their_lines(tmp_path, root):
    one_mistake = EXERCISES.replace(
        ',\n              Mistake(lambda n, m: n + m, "Added, not multiplied: mistake-sentence-four.")', ","
    )
    book = lay_out(tmp_path, root, SOURCE, one_mistake.replace('Mistake("same", "Only', 'Mistake("same", "Only {x}'))
    with pytest.raises(ChapterError) as raised:
        chapters.build(book)
    head, *lines = str(raised.value).split("\n")
    assert re.fullmatch("07-links: .* 2 things:", head)
    declared = book.resolve() / "solutions" / "07-links" / "exercises.py"
    count, guess = lines
    assert count.startswith(f"  {declared}:17: links-count: 1 mistake; ")
    assert guess.startswith(f"  {declared}:22: links-guess: the field {{x}} ")
    assert not (book / "chapters").exists()
