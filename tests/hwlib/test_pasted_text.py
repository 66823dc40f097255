"""Texts that a container's log driver or Markdown has wrapped: every reader takes them as the program wrote them."""

import json
from pathlib import Path

import pytest

from autograder.reading.held_file import HeldFile
from autograder.reading.recognition import recognised
from hwlib.calibrated.nccl_log import read_log
from hwlib.pasted_text import without_container, without_markdown
from hwlib.run_logs.reader import read_run_log
from hwlib.topology.machine_links import read_machine_links
from hwlib.traces.hangs.answers import answer

MATRIX = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\nGPU1\tNV4\t X \t0-7\n"
TABLE = "1073741824 268435456 float sum -1 3859.0 278.24 486.92 0\n"
STEPS = "iter 1: loss 4.2, time 900.00ms, mfu 20.00%\niter 2: loss 4.1, time 900.00ms, mfu 20.00%\n"
WATCHDOG = (Path(__file__).parent / "data" / "hangs" / "watchdog.txt").read_text("utf-8")
TEXTS = {"topo": MATRIX, "bandwidth": TABLE * 2, "explain-run": STEPS, "hang": WATCHDOG}
READERS = {
    "topo": read_machine_links,
    "bandwidth": lambda text: read_log(text).rows,
    "explain-run": lambda text: read_run_log(text).steps,
    "hang": lambda text: answer({"": text}).record,
}


def docker(text):
    return "".join(
        json.dumps({"log": line, "stream": "stdout", "time": "2026"}) + "\n" for line in text.splitlines(True)
    )


def in_pieces(text):
    """A long line comes in pieces, of which the last alone ends."""
    lines = text.splitlines(True)
    pieces = [piece for line in lines for piece in (line[:7], line[7:])]
    return "".join(json.dumps({"log": piece, "stream": "stderr"}) + "\n" for piece in pieces if piece)


def collector(text):
    return "\n".join(json.dumps({"timestamp": 1, "message": line}) for line in text.splitlines())


def kubernetes(text):
    return "".join(f"2026-11-01T10:00:00.123456789Z stdout F {line}\n" for line in text.splitlines())


def runtime_pieces(text):
    at = "2026-11-01T10:00:00.1+00:00"
    return "".join(f"{at} stderr P {line[:7]}\n{at} stderr F {line[7:]}\n" for line in text.splitlines())


@pytest.mark.parametrize("wrap", [docker, in_pieces, collector, kubernetes, runtime_pieces])
@pytest.mark.parametrize("kind", TEXTS)
def test_what_a_log_driver_wraps_is_read_as_if_it_had_not(kind, wrap):
    wrapped = wrap(TEXTS[kind])
    assert READERS[kind](wrapped) == READERS[kind](TEXTS[kind])
    assert recognised(HeldFile.of_text(wrapped))[0].kind.name == kind


def test_a_line_that_nothing_wraps_stays_between_others_that_are():
    text = docker("iter 1\n") + "Killed\n" + docker("iter 2\n")
    assert without_container(text) == "iter 1\nKilled\niter 2\n"


@pytest.mark.parametrize(
    "text", ['{"loss": 2.5, "step": 1}\n', '{"log": 3}\n', "{not JSON", "", "[1]\n", "2026-11-01 F x"]
)
def test_other_texts_stay_as_they_are(text):
    assert without_container(text) == text


def test_a_matrix_and_a_table_in_markdown_are_read():
    rows = [line.split("\t") for line in MATRIX.splitlines()]
    marked = ["| " + " | ".join(row) + " |" for row in rows]
    marked.insert(1, "|---|:---:|:---:|---|")
    assert read_machine_links("\n".join(marked)).codes == read_machine_links(MATRIX).codes
    named = "| size | count | type | redop | root | time | algbw | busbw | #wrong |\n|" + "---|" * 9
    row = "| " + " | ".join(TABLE.split()) + " |"
    assert read_log(f"{named}\n{row}\n").rows[0].S == read_log(TABLE).rows[0].S


def test_rows_without_a_rule_are_no_table():
    lines = ["| step 1 | loss 2 |", "| step 2 | loss 1 |"]
    assert without_markdown(lines) == lines
