import json
import re
import shlex
import shutil
from datetime import datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder.cli import commands, group


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
    assert f"{name!r} is not " in result.output


@pytest.mark.parametrize("error", [ValueError, KeyError])
def test_a_message_has_nothing_in_it_that_a_terminal_obeys(error):
    assert group.error_text(error("known:\te\x1b[31mve,\n zo\udceb")) == "known:\te\ufffd[31mve,\n zo\ufffd"


@pytest.mark.parametrize("name", ["week3", "03-rooflines", "Week 3", "hw_1.2"])
def test_ordinary_names_pass(name):
    assert commands.assignment_name(None, None, name) == name


def test_a_folder_that_is_no_book_is_left_alone_and_named_in_one_line(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    result = CliRunner().invoke(commands.main, ["book", "--out", str(tmp_path)])
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert result.output.startswith("Error: ")
    assert str(tmp_path) in result.output
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_chosen_exercises_may_have_spaces_between(tmp_path, monkeypatch):
    from autograder import course

    asked = []
    monkeypatch.setattr(course, "assign", lambda *_args, exercises, **_more: asked.extend(exercises))
    monkeypatch.setattr("autograder.cli.course.tell_of_stale", lambda *_: None)
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


ROOT = Path(__file__).resolve().parents[3]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
COMMAND = re.compile(r"^\$ (gpubook .*?)(?:  +#.*)?$", re.MULTILINE)
LINES = [line for page in PAGES for line in COMMAND.findall(page.read_text())]


@pytest.mark.parametrize("line", sorted(set(LINES)))
def test_every_command_of_the_pages_is_understood(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"[\w-]+\.(?:md|csv|zip|txt|json)", line):
        (tmp_path / name).write_text("")
    _, *words = shlex.split(line)
    command: click.Command = commands.main
    while isinstance(command, click.Group):
        name, *words = words
        command = command.commands[name]
    assert command.make_context(name, words).params


@pytest.fixture
def book(tmp_path, root, monkeypatch):
    """A book without chapters, which the commands take for theirs."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "docs").symlink_to(root / "docs")
    monkeypatch.setattr(commands, "book_root", lambda: tmp_path)
    return tmp_path


def run(*command):
    result = CliRunner().invoke(commands.main, command)
    return result.exit_code, result.output


def test_an_author_is_led_from_the_skeleton_to_the_rules(book):
    code, said = run("new", "chapter", "08-sharded-matmuls", "--sections")
    assert code == 0
    assert f"Wrote {book}/solutions/08-sharded-matmuls/exercises/first_section.py\n" in said
    assert "[08-sharded-matmuls] in docs/chapters.toml" not in said, "it has an entry"
    _, other = run("new", "chapter", "98-storage")
    assert "[98-storage] in docs/chapters.toml" in other
    shutil.rmtree(book / "solutions" / "98-storage")
    for command in ("gpubook chapters 08-sharded-matmuls", "gpubook rules 08-sharded-matmuls", "gpubook book --drafts"):
        assert command in said
    assert run("chapters", "--check") == (
        0,
        "08-sharded-matmuls: a draft, left out of chapters/; to list broken rules: gpubook rules 08-sharded-matmuls\n",
    )
    code, said = run("rules")
    assert code == 1
    assert "solutions/08-sharded-matmuls/08-sharded-matmuls.md:1: 4 exercises; 8 to 18 were expected\n" in said
    assert re.search(r"\nError: .* \d+ places; docs/authors/chapter.md .*\n$", said)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["new", "chapter", "sharded"], "'sharded' "),
        (["rules", "08-none"], "08-none.md is missing"),
        (["chapters", "08-none"], "08-none.md is missing"),
    ],
)
def test_an_authors_slip_is_one_line(book, command, says):
    code, said = run(*command)
    assert (code, said.count("\n")) == (1, 1)
    assert says in said


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("raise KeyError('no such row; there is a')", "Error: no such row; there is a\n"),
        ("{}['Ranking']", "<string>:1: unknown key 'Ranking' in ``; --debug shows the traceback\n"),
    ],
)
def test_a_key_alone_is_said_with_its_place(monkeypatch, program, says):
    from autograder.book.source import chapters

    monkeypatch.setattr(chapters, "build", lambda *_args, **_more: exec(program))
    code, said = run("chapters")
    assert code == 1
    assert said.endswith(says)


def test_every_command_is_in_one_list_of_the_help():
    listed = [name for names in group.READERS.values() for name in names]
    assert sorted(listed) == sorted(commands.main.commands)


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_help_lists_the_commands_by_reader(arguments):
    said = CliRunner().invoke(commands.main, arguments).output
    places = [said.index(f"\n{title}:\n") for title in group.READERS]
    assert places == sorted(places)
    places = [said.index(f"\n  {name} ") for names in group.READERS.values() for name in names]
    assert places == sorted(places)
    assert "Other commands" not in said


def assigned(monkeypatch, *options):
    """What the library is asked for by `course assign` with these options, and what it says."""
    from autograder import course

    asked: dict = {}
    monkeypatch.setattr(course, "assign", lambda *_args, **more: asked.update(more))
    result = CliRunner().invoke(commands.main, ["course", "assign", "c", "hw", "--chapter", "03-rooflines", *options])
    return result, asked


def test_a_deadline_is_told_as_it_was_read(monkeypatch):
    result, asked = assigned(monkeypatch, "--due", "2027-07-01 22:00 Europe/Berlin")
    assert asked["due"] == datetime(2027, 7, 1, 20)
    assert "Due 2027-07-01 20:00 UTC, 2027-07-01 22:00 in Europe/Berlin\n" in result.output
    result, asked = assigned(monkeypatch, "--due", "2027-07-01T22:00", "--points", "a-b=2", "--without", "c-d, e-f")
    assert (asked["due"], asked["points"], asked["without"]) == (datetime(2027, 7, 1, 22), {"a-b": 2.0}, ["c-d", "e-f"])
    assert "without a zone, a time is UTC" in result.output
    assert "deadline is over" not in result.output
    result, asked = assigned(monkeypatch, "--due", "2026-07-01T22:00")
    assert (result.exit_code, asked["due"]) == (0, datetime(2026, 7, 1, 22))
    assert "this deadline is over" in result.output
    result, asked = assigned(monkeypatch, "--no-due")
    assert (asked["due"], asked["no_due"]) == (None, True)


@pytest.mark.parametrize(
    "options",
    [["--due", "2027-03-28 02:30 Europe/Berlin"], ["--points", "a-b"], ["--points", "=2"], ["--points", "a=x"]],
)
def test_what_cannot_be_read_is_refused_before_anything_is_done(monkeypatch, options):
    result, asked = assigned(monkeypatch, *options)
    assert (result.exit_code, asked) == (2, {})
    assert repr(options[1]) in result.output


@pytest.mark.parametrize(
    "options", [[], ["ann"], ["ann", "--days", "1", "--remove"], ["--days", "1"], ["ann", "--list"], ["--remove"]]
)
def test_an_extension_is_one_thing_for_somebody(tmp_path, options):
    result = CliRunner().invoke(commands.main, ["course", "extend", str(tmp_path), "hw", *options])
    assert result.exit_code == 2
    assert "expected" in result.output


def test_the_books_chapters_and_exercises_are_listed_without_a_course():
    code, said = run("course", "list", "--json")
    listed = json.loads(said)["chapters"]
    assert code == 0
    assert all(one["points"] > 0 and one["minutes"] > 0 and one["exercises"] for one in listed)
    code, said = run("course", "list", "--chapter", listed[0]["name"])
    assert code == 0
    assert all(exercise["id"] in said for exercise in listed[0]["exercises"])
    code, said = run("course", "list", "--chapter", "99-none")
    assert (code, listed[-1]["name"] in said) == (1, True)
