"""The command over a file, standard input and what is no log."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.cli.explain_run import answer

LOGS = Path(__file__).resolve().parents[2] / "hwlib" / "data" / "run_logs"
WHOLE, SAVING = LOGS / "torchtitan_whole.log", LOGS / "planted" / "save_nanogpt.log"


def run(*words, text=None):
    return CliRunner().invoke(commands.main, ["explain-run", *map(str, words)], input=text)


@pytest.mark.parametrize(("file", "status"), [(WHOLE, 0), (SAVING, 1)])
def test_the_status_says_whether_something_was_found(file, status):
    done = run(file)
    assert done.exit_code == status, done.output
    assert done.output.startswith("A log of ")


@pytest.mark.parametrize("text", ["", "hello\n"])
def test_what_is_no_log_has_status_2(text):
    assert run(text=text).exit_code == 2


def test_a_file_that_is_missing_has_status_2(tmp_path):
    assert run(tmp_path / "nothing.log").exit_code == 2


@pytest.mark.parametrize("words", [("--tp", "2,4"), ("--model", "nonsense"), ("--on", "nonsense"), ("--batch", "many")])
def test_an_option_that_is_wrong_has_status_2(words):
    assert run(WHOLE, *words).exit_code == 2


def test_standard_input_may_be_compressed():
    done = CliRunner().invoke(commands.main, ["explain-run", "--json"], input=gzip.compress(SAVING.read_bytes()))
    assert json.loads(done.output)["program"] == "nanogpt"


def test_options_say_what_the_log_does_not():
    words = ("--model", "llama3-8b", "--on", "dgx-h100", "--gpus", "8", "--batch", "64x1024", "--micro", "8", "--json")
    record = json.loads(run(SAVING, *words).output)
    assert record["ran"]["batch_tokens"] == {"value": 65536, "origin": "option"}
    assert record["ran"]["sequence"]["value"] == 1024
    assert record["model"]["seconds"] > 0
    assert {part["name"] for part in record["gap"]["parts"]} >= {"compute", "checkpoint"}


def test_a_page_or_an_agent_gets_the_same_with_its_text():
    got = answer(WHOLE.read_text("utf-8"))
    assert got["text"] in run(WHOLE).output
    assert got["fine"] is True
