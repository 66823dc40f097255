"""`gpubook hang`: files, folders and standard input, and the exit status."""

import json
import pickle

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib.traces import draw_flight


def run(*words, data=None):
    return CliRunner().invoke(commands.main, ["hang", *map(str, words)], input=data)


@pytest.fixture
def folder(tmp_path):
    for rank, dump in draw_flight("absent", 3, 20).items():
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump, 2))
    (tmp_path / "notes.txt").write_text("of the night of the 3rd", "utf-8")
    return tmp_path


def test_a_folder_of_dumps_names_the_culprit_and_what_was_skipped(folder):
    done = run(folder)
    assert done.exit_code == 1, done.output
    assert "Rank 3 did not enter " in done.output
    assert "Skipped" in done.output
    assert "notes.txt" in done.output
    record = json.loads(run("--json", folder).output)
    assert (record["culprits"], record["reason"], len(record["skipped"])) == ([3], "missing", 1)


def test_the_exit_status_is_the_verdict(folder, tmp_path):
    healthy = json.dumps(draw_flight("none"))
    assert run("-", data=healthy).exit_code == 0
    alone = run(folder / "nccl_trace_rank_3")  # the culprit, which waits in no call: the others may
    assert (alone.exit_code, "nothing hangs" in alone.output) == (1, False)
    assert run(folder / "nccl_trace_rank_2").exit_code == 1
    for words in (("-",), (folder / "notes.txt",), (folder / "absent",), (folder, folder / "nccl_trace_rank_3", "-")):
        done = run(*words, data="not a dump")
        assert (done.exit_code, done.output.count("\n")) == (2, 1)


def test_a_folder_without_a_dump_is_unreadable(tmp_path):
    assert run(tmp_path).exit_code == 2
    (tmp_path / "a.txt").write_text("x", "utf-8")
    assert run(tmp_path).exit_code == 2
