import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder.cli import commands


@pytest.mark.parametrize("command", [["course", "assign"], ["grade"]])
@pytest.mark.parametrize("name", ["..", ".", "", "../x", "a/b", "/x", "a\\b", ".hidden", "week3."])
def test_an_assignments_name_is_never_a_path(tmp_path, monkeypatch, command, name):
    from autograder import course

    def reached(*_args, **_more):
        raise AssertionError("a path got through")

    monkeypatch.setattr(course, "assign", reached)
    monkeypatch.setattr(course, "grade", reached)
    more = ["--chapter", "03-rooflines"] if command[0] == "course" else []
    result = CliRunner().invoke(commands.main, [*command, str(tmp_path), name, *more])
    assert result.exit_code == 2
    assert "names no assignment" in result.output


@pytest.mark.parametrize("name", ["week3", "03-rooflines", "Week 3", "hw_1.2"])
def test_ordinary_names_pass(name):
    assert commands.assignment_name(None, None, name) == name


def test_a_folder_that_is_no_book_is_left_alone_and_named_in_one_line(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    result = CliRunner().invoke(commands.main, ["book", "--out", str(tmp_path)])
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert result.output.startswith("Error: ")
    assert "holds no book" in result.output
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_chosen_exercises_may_have_spaces_between(tmp_path, monkeypatch):
    from autograder import course

    asked = []
    monkeypatch.setattr(course, "assign", lambda *_args, exercises, **_more: asked.extend(exercises))
    command = ["course", "assign", str(tmp_path), "week3", "--chapter", "03-rooflines", "--exercises", "a-b, c-d"]
    assert CliRunner().invoke(commands.main, command).exit_code == 0
    assert asked == ["a-b", "c-d"]


@pytest.mark.parametrize(
    "command", [[], ["grade"], ["export"], ["course"], ["course", "init"], ["course", "assign"], ["course", "late"]]
)
def test_help_is_no_error(command):
    result = CliRunner().invoke(commands.main, [*command, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")
    assert "Error" not in result.output


PAGES = [Path(__file__).resolve().parents[3] / page for page in ("docs/teaching.md", "README.md")]
COMMAND = re.compile(r"^\$ (gpubook .*?)(?:  +#.*)?$", re.MULTILINE)
LINES = [line for page in PAGES for line in COMMAND.findall(page.read_text())]


@pytest.mark.parametrize("line", sorted(set(LINES)))
def test_every_command_of_the_pages_is_understood(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"[\w-]+\.(?:md|csv)", line):
        (tmp_path / name).write_text("")
    _, *words = shlex.split(line)
    command: click.Command = commands.main
    while isinstance(command, click.Group):
        name, *words = words
        command = command.commands[name]
    assert command.make_context(name, words).params
