"""`gpubook progress` in a study folder: its table, and a record that comes in and goes out."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.cli.progress import chapters
from autograder.learner import progress, record
from autograder.values.book_root import book_root

RIGHT = {"say": "Right.", "kind": "right", "reason": "", "score": 1.0, "points": 1.0, "mistakes": []}


def run(*arguments):
    return CliRunner().invoke(commands.main, ["progress", *map(str, arguments)])


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.delenv("GPUBOOK_PROGRESS", raising=False)
    progress.mark(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def first():
    """The first chapter's name and public records."""
    return next(chapters(book_root()))


def row(output, name):
    return next(line.split() for line in output.splitlines() if line.startswith(name))


def test_the_table_has_each_chapter_with_what_is_done(study, first):
    name, exercises = first
    assert "Nothing is recorded yet" in run(study).output
    judged = next(one for one in exercises if one["kind"] != "Written" and not one["predict"])
    progress.Progress.below(study).attempt(judged["id"], "1", RIGHT)
    (study / name).mkdir()
    for folder in (study, study / name):
        result = run(folder)
        assert result.exit_code == 0, result.output
        points = sum(one["points"] for one in exercises if one["kind"] != "Written")
        done, count, reached, available = row(result.output, name)[1:]
        assert (done, count) == ("1", str(len(exercises)))
        assert (float(reached), float(available)) == (judged["points"], points)
        assert row(result.output, "all")[1] == "1"


def test_beside_the_study_folder_it_is_about_that(study, first, monkeypatch):
    judged = next(one for one in first[1] if one["kind"] != "Written" and not one["predict"])
    progress.Progress.below(study).attempt(judged["id"], "1", RIGHT)
    (study / progress.EDITIONS).mkdir(parents=True, exist_ok=True)
    for folder in (study.parent, study):
        monkeypatch.chdir(folder)
        assert row(run().output, "all")[1] == "1"


def test_a_record_comes_in_and_goes_out(study, tmp_path):
    own = progress.Progress.below(study)
    own.attempt("a-b", "1", RIGHT)
    result = run(study, "--export", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    assert record.read((tmp_path / "out.json").read_text()) == own.data()
    other = progress.Progress(tmp_path / "other.json")
    other.attempt("c-d", "2", RIGHT)
    other.next_hint("a-b", 3)
    result = run(study, "--import", other.path)
    assert "of 2 exercises, 1 new, 1 changed" in result.output
    assert own.hints_shown("a-b") == 1
    assert own.entry("c-d")["answer"]["source"] == "2"
    assert "of 2 exercises, 0 new, 0 changed" in run(study, "--import", other.path).output


@pytest.mark.parametrize(("text", "part"), [("no", "not JSON"), ('{"format": 3}', "newer version")])
def test_what_is_no_record_is_said_in_one_line_and_changes_nothing(study, tmp_path, text, part):
    own = progress.Progress.below(study)
    own.attempt("a-b", "1", RIGHT)
    before = own.path.read_text()
    (tmp_path / "in.json").write_text(text)
    result = run(study, "--import", tmp_path / "in.json")
    assert result.exit_code == 1
    assert part in result.output
    assert own.path.read_text() == before
    assert run(study, "--import", tmp_path / "nowhere.json").exit_code == 1
    assert json.loads(before)["format"] == 2
