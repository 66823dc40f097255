"""What a cell shows: text, in order, up to a number of characters."""

import signal
import time

import pytest

from autograder.sandbox.limits import LEAST_SCRATCH, LEAST_SHARE, Limits
from autograder.sandbox.shell import CellTimeout, OutputCapture, Shell, Stream

CUT = "\n[output cut after 5 characters]\n"


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["abcde"], ["abcde"]),
        (["abcdef"], ["abcde" + CUT]),
        (["abc", "de"], ["abc", "de"]),
        (["abc", "def"], ["abc", "de" + CUT]),
        (["abcde", "f", "g"], ["abcde", CUT, ""]),  # the first cut says so
        (["abcdef", "g"], ["abcde" + CUT, ""]),
        (["", "abcde", ""], ["", "abcde", ""]),
    ],
)
def test_as_much_as_fits_is_kept_and_one_cut_is_told(texts, kept):
    capture = OutputCapture(5)
    assert [capture.fit(text) for text in texts] == kept
    capture.clear()
    assert (capture.outputs, capture.fit("abcde")) == ([], "abcde")


def test_text_on_one_stream_is_one_output_until_something_else_comes():
    capture = OutputCapture(100)
    out, err = Stream("stdout", capture), Stream("stderr", capture)
    assert out.write("a") == 1
    out.writelines(["b", "c"])
    err.write("d")
    capture.show("display_data", {"text/plain": "e", "image/png": "f"})
    capture.show("display_data", {"image/png": "f"})
    out.write("")
    out.write("g")
    capture.error("E" * 300, "v" * 3000, ["line"])
    shown = [(one["output_type"], one.get("text") or one.get("data") or len(one["ename"])) for one in capture.outputs]
    assert shown == [
        ("stream", "abc"),
        ("stream", "d"),
        ("display_data", {"text/plain": "e"}),
        ("stream", "g"),
        ("error", 200),
    ]
    assert capture.outputs[-1]["evalue"].startswith("v" * 94 + "\n[output cut")


@pytest.mark.parametrize(
    ("memory", "ranks", "share"),
    [
        (4 << 30, 1, 4 << 30),
        (4 << 30, 16, 256 << 20),
        (4 << 30, 32, LEAST_SHARE),
        (4 << 30, 33, LEAST_SHARE),
        (64 << 20, 4, 64 << 20),  # less in all than what each has at least
    ],
)
def test_ranks_share_the_memory_of_a_submission(memory, ranks, share):
    assert Limits(memory=memory).among(ranks).share == share


@pytest.mark.parametrize(
    ("scratch", "ranks", "own"), [(256 << 20, 2, 128 << 20), (256 << 20, 17, LEAST_SCRATCH), (1, 9, 1)]
)
def test_ranks_share_the_private_folder(scratch, ranks, own):
    limits = Limits(scratch=scratch).among(ranks)
    assert (limits.scratch, limits.ranks, limits.cell) == (own, ranks, Limits().cell)


@pytest.fixture
def shell():
    """One without IPython, whose alarm is this process's."""
    made = Shell.__new__(Shell)
    before = signal.signal(signal.SIGALRM, made._alarm)
    yield made
    signal.signal(signal.SIGALRM, before)


def test_what_runs_longer_than_its_time_is_stopped(shell):
    with pytest.raises(CellTimeout):
        shell.timed(0.01, lambda: time.sleep(5))
    assert shell.expired
    assert shell.timed(5.0, lambda: 7) == 7
    assert not shell.expired
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_one_that_catches_the_first_alarm_has_another(shell):
    asked = []

    def stubborn():
        try:
            time.sleep(5)
        except CellTimeout:
            asked.append(signal.getitimer(signal.ITIMER_REAL))

    shell.timed(0.01, stubborn)
    assert shell.expired
    assert 0 < asked[0][0] <= asked[0][1] == 1.0
