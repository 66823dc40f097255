"""What a terminal would obey never reaches it, whoever wrote the text: all texts of commands leave by one function."""

import ast

import pytest
from click.testing import CliRunner

from autograder.cli import main, terminal
from tests.conftest import ROOT

HOSTILE = "\x1b]0;x\x07\x9b2J\u202ea\u2066\u200fb\r\x08"
OBEYED = "\x1b\x07\x9b\u202e\u2066\u200f\r\x08\u2028\x7f\x00"
DIRECT = ("click.echo", "click.secho", "print")
FILES = [path for path in (ROOT / "autograder" / "cli").rglob("*.py") if path.name != "terminal.py"]


def test_texts_of_commands_leave_by_one_function():
    nodes = [(path.name, node) for path in FILES for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    calls = [(name, node) for name, node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in DIRECT]
    direct = [f"{name}: {ast.unparse(node)}" for name, node in calls]
    assert direct == ["commands.py: click.echo(made.text, nl=False)"]  # a file that is written to a pipe


@pytest.mark.parametrize("character", OBEYED)
def test_what_a_terminal_obeys_is_inert(character):
    assert terminal.inert(f"a{character}b") == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("text", ["a\n\tb", "1\u202f024 B", "4\u00a0GB", "\u00e4\u2248\u00d7", "\U0001f600", ""])
def test_what_it_shows_stays(text):
    assert terminal.inert(text) == text


@pytest.mark.parametrize(
    "arguments",
    [
        [HOSTILE],
        ["plan", HOSTILE],
        ["plan", "llama3-8b", f"--{HOSTILE}"],
        ["plan", "llama3-8b", "--cluster", HOSTILE],
        ["plan", "llama3-8b", "--batch", HOSTILE],
        ["bandwidth", HOSTILE],
        ["bandwidth", "-", "--on", HOSTILE],
        ["topo", "-", HOSTILE],
        ["course", HOSTILE],
        ["token", HOSTILE],
    ],
    ids=["command", "model", "option", "cluster", "value", "file", "machine", "extra", "group", "token"],
)
def test_errors_are_inert(arguments):
    done = CliRunner().invoke(main, arguments, input="0")
    assert done.exit_code not in (0, None)
    assert not set(OBEYED) & set(done.output)


def test_an_answer_is_inert(tmp_path):
    cluster = tmp_path / "mine.toml"
    cluster.write_text('name = "a\\u001b]0;x\\u0007\\u202eb"\nnodes = 1\nnode = "dgx-h100"\n')
    done = CliRunner().invoke(main, ["plan", "llama3-8b", "--cluster", str(cluster), "--batch", "1M"])
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output
    assert "\u202e" not in done.output
    assert "a\N{REPLACEMENT CHARACTER}]0;x" in done.output
