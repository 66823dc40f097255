"""Training logs that were cut, pasted or mangled: an answer, or one sentence."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from hwlib.run_logs.explain import explain_run, run_log_record
from hwlib.run_logs.run_text import run_log_text
from tests.hostile import PIECES, damaged, reads

FOLDER = Path(__file__).parent / "data" / "run_logs"
SOUND = [path.read_text("utf-8")[:4000] for path in sorted(FOLDER.rglob("*.log"))]
LONG = 20_000  # lines


def answered(text):
    answer = explain_run(text)
    return run_log_record(answer), run_log_text(answer)


@given(damaged(SOUND))
@settings(max_examples=30, deadline=None)
def test_a_damaged_log_ends_in_an_answer_or_a_sentence(text):
    reads(answered, text)


@pytest.mark.nightly
@given(damaged(SOUND))
@settings(max_examples=10_000, deadline=None)
def test_many_damaged_logs_end_in_an_answer_or_a_sentence(text):
    reads(answered, text, memory=True)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize(
    "line", ["iter {}: loss {}, time {}ms, mfu {}%", " iteration {}/ {} | lm loss: {} |", "Step {} | loss:{} lr:{}"]
)
def test_an_odd_value_is_no_fault(line, piece):
    reads(answered, f"iter 1: loss 2.0, time 10.0ms\n{line.replace('{}', piece)}\n")


@pytest.mark.nightly
def test_a_long_log_is_read_in_linear_time():
    lines = [f"iter {step}: loss 2.0, time {10 + step % 7}.00ms, mfu 10.00%" for step in range(LONG)]
    reads(answered, "\n".join(lines))
