import json
import re

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.learner import shown, study
from autograder.learner.notebook_file import written


def write(path, metadata):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def learner(path):
    return json.loads(path.read_text())["metadata"].get("gpubook", {}).get("learner")


def test_start_writes_the_chapters_once_and_keeps_what_is_there(tmp_path, root):
    report = study.start(tmp_path)
    notebook = tmp_path / "03-rooflines" / "03-rooflines.ipynb"
    assert notebook in report.new
    assert tmp_path / "00-start.ipynb" in report.new
    assert (report.said, report.backup) == ([], None)
    bare = shown.shown_in("03-rooflines").taken_out(json.loads(notebook.read_text()))
    assert written(bare) == (root / "chapters/03-rooflines/03-rooflines.ipynb").read_bytes()
    mine = json.loads(notebook.read_text())
    mine["cells"][0]["source"] = ["mine"]
    notebook.write_text(json.dumps(mine))
    report = study.start(tmp_path)
    assert (report.new, report.said, report.backup) == ([], [], None)
    assert json.loads(notebook.read_text()) == mine


@pytest.mark.parametrize("named", ["03-rooflines", "03", "3", "rooflines"])
def test_the_command_brings_a_fresh_copy_of_a_chapter(tmp_path, named):
    study.start(tmp_path)
    notebook = tmp_path / "03-rooflines" / "03-rooflines.ipynb"
    fresh = notebook.read_bytes()
    notebook.write_text("mine, and no JSON")
    result = CliRunner().invoke(commands.main, ["start", str(tmp_path), "--reset", named])
    assert result.exit_code == 0, result.output
    assert notebook.read_bytes() == fresh
    (backup,) = (tmp_path / ".gpubook" / "backup").iterdir()
    assert (backup / "03-rooflines" / "03-rooflines.ipynb").read_text() == "mine, and no JSON"
    assert result.output.splitlines()[:2] == ["03-rooflines: a fresh copy", f"What was replaced is in {backup}"]


def test_an_unknown_chapter_is_told_before_anything_is_written(tmp_path):
    with pytest.raises(study.StudyError, match="there is no chapter"):
        study.start(tmp_path / "study", reset=["nine"])
    assert not (tmp_path / "study" / "03-rooflines").exists()


def test_whoami_writes_into_the_books_notebooks_here_and_right_below_and_nowhere_else(tmp_path):
    here = write(tmp_path / "week3.ipynb", {"gpubook": {"chapter": "03-rooflines"}})
    below = write(tmp_path / "04-links" / "04-links.ipynb", {"gpubook": {"chapter": "04-links", "learner": "before"}})
    others = [
        write(tmp_path / "thesis.ipynb", {"kernelspec": {}}),
        write(tmp_path / "course" / "submitted" / "bob" / "week3.ipynb", {"gpubook": {"learner": "bob"}}),
        write(tmp_path / ".ipynb_checkpoints" / "week3.ipynb", {"gpubook": {}}),
    ]
    broken = tmp_path / "broken.ipynb"
    broken.write_text("this is no JSON")
    before = [path.read_text() for path in (*others, broken)]

    assert set(study.whoami(tmp_path, "ada")) == {here, below}
    assert (learner(here), learner(below)) == ("ada", "ada")
    assert [path.read_text() for path in (*others, broken)] == before


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\nb"])
def test_an_id_that_no_gradebook_takes_is_refused(tmp_path, name):
    write(tmp_path / "a.ipynb", {"gpubook": {}})
    with pytest.raises(study.StudyError, match=f"^{re.escape(repr(name))} "):
        study.whoami(tmp_path, name)


def test_the_command_says_in_one_line_that_there_is_no_notebook_of_the_book(tmp_path):
    write(tmp_path / "thesis.ipynb", {})
    result = CliRunner().invoke(commands.main, ["whoami", "ada", "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output.startswith("Error: no notebook of the book in ")
    assert len(result.output.splitlines()) == 1


def test_a_book_without_archives_says_how_its_figures_come(tmp_path, monkeypatch):
    monkeypatch.setattr(shown, "folder", lambda: tmp_path)
    assert study.without_figures().startswith("Figures appear as you run the cells; `make book`")
    (tmp_path / "03-t.json.gz").touch()
    assert study.without_figures() == ""


@pytest.mark.parametrize("link", [".gpubook", ".gpubook/editions/03-rooflines", ".gpubook/study", ".gpubook/lab"])
@pytest.mark.parametrize("command", [["start"], ["start", "--reset", "03"], ["lab", "--no-browser"]])
def test_a_copy_with_a_link_among_what_is_ours_is_refused_whole(tmp_path, link, command):
    mine, elsewhere = tmp_path / "study", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.txt").write_text("years")
    (mine / link).parent.mkdir(parents=True)
    (mine / link).symlink_to(elsewhere)
    result = CliRunner().invoke(commands.main, [*command, str(mine)])
    assert result.exit_code == 1
    assert f"{mine / link}: a link" in result.output
    assert [path.name for path in elsewhere.iterdir()] == ["thesis.txt"]
    assert [path.name for path in mine.iterdir()] == [".gpubook"]


def test_whoami_writes_through_no_link_beside_a_notebook(tmp_path):
    (tmp_path / "thesis").write_text("years")
    here = write(tmp_path / "mine" / "week3.ipynb", {"gpubook": {"chapter": "03-rooflines"}})
    (tmp_path / "mine" / "week3.ipynb.new").symlink_to(tmp_path / "thesis")
    study.whoami(tmp_path / "mine", "ada")
    assert (learner(here), here.is_symlink()) == ("ada", False)
    assert (tmp_path / "thesis").read_text() == "years"
