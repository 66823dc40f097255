"""What a learner submits beside the notebook is kept under a name by which no browser obeys it."""

from pathlib import Path

import pytest

from autograder.course.submissions import inert_files

ACTIVE = ["a.html", "a.HTM", "b/a.svg", "a.svgz", "a.xml", "a.js", "a.mjs", "a.xht", "a.mht", "a.rdf", "a.html.gz",
          "a.atom", "a.xsl", "html.html"]  # fmt: skip
HARMLESS = [
    "a.csv",
    "a.htm.TXT",
    "a.txt",
    "a.png",
    "a.jpg",
    "a.ipynb",
    "a.json",
    "a.html.txt",
    "html",
    "a",
    "a.npy",
    ".hidden",
]


@pytest.mark.parametrize("name", ACTIVE)
def test_what_a_browser_obeys_becomes_text(name):
    assert inert_files.stored_as(Path(name)) == Path(f"{name}.txt")


@pytest.mark.parametrize("name", HARMLESS)
def test_all_else_keeps_its_name(name):
    assert inert_files.stored_as(Path(name)) == Path(name)


def test_a_folder_is_neutralised_but_for_what_is_the_teachers(tmp_path):
    folder, trusted = tmp_path / "autograded", tmp_path / "source"
    for name in ("figure.svg", "evil.svg", "x/evil.html", "notes.txt", "data.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    trusted.mkdir()
    (trusted / "figure.svg").write_text("the teacher's")
    inert_files.neutralise(folder, trusted)
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert left == ["data.csv", "evil.svg.txt", "figure.svg", "notes.txt", "x/evil.html.txt"]
    assert inert_files.renamed_in(folder) == ["evil.svg.txt", "x/evil.html.txt"]
