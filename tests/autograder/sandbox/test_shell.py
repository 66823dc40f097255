"""What a cell shows: text, in order, up to a number of characters."""

import os
import signal
import sys
import time
from types import SimpleNamespace

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


class Ended(BaseException):
    """The process ends."""


@pytest.fixture
def cells(shell, monkeypatch):
    """`cells(act, ...)`: what a cell that does `act` comes to, and the errors that IPython tells of it."""
    shell.capture, shell.pid = OutputCapture(100), os.getpid()

    def ends(status):
        raise Ended(status)

    monkeypatch.setattr(os, "_exit", ends)  # which would end the tests, and nobody would notice

    def run(act=lambda: None, limit=5.0, before=None, during=None):
        def run_cell(source, store_history):
            assert (source, store_history) == ("x", False)
            act()
            return SimpleNamespace(error_before_exec=before, error_in_exec=during)

        shell.ip = SimpleNamespace(run_cell=run_cell)
        return shell.run("x", limit)

    run.shell = shell
    return run


def test_a_cell_shows_its_outputs_and_the_error_that_ended_it(cells):
    done = cells(lambda: cells.shell.capture.stream("stdout", "a"))
    assert done == {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "a"}],
        "expired": False,
        "error": None,
        "message": "",
    }
    assert cells()["outputs"] == []
    for about in ({"before": ValueError("so")}, {"during": ValueError("so")}):
        done = cells(**about)
        assert (done["error"], done["message"], done["expired"]) == ("ValueError", "so", False)
    syntax = SyntaxError("invalid (<ipython-input-1-ab>, line 3)")
    assert cells(before=syntax)["message"] == "invalid (line 3)"
    assert cells(during=ValueError("v" * 501))["message"] == "v" * 500

    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    assert cells(during=Silent())["message"] == ""


def test_a_cell_that_ran_out_of_its_time_says_so_once(cells):
    def late():
        cells.shell.capture.stream("stdout", "a")
        try:
            time.sleep(5)
        finally:
            cells.shell.capture.error("CellTimeout", "", [])

    done = cells(late, limit=0.01)
    assert (done["expired"], done["error"], done["message"]) == (True, "CellTimeout", "the cell ran longer than 0.01 s")
    assert [one["output_type"] for one in done["outputs"]] == ["stream", "error"]


def test_the_copy_that_a_cell_has_forked_ends_with_the_cell(cells):
    cells()
    cells.shell.pid += 1
    with pytest.raises(Ended) as ended:
        cells()
    assert ended.value.args == (0,)


def test_a_submission_begins_with_its_own_streams_and_alarm(shell, monkeypatch):
    shell.capture = OutputCapture(1)
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    shell.begin(77)
    streams = [(type(one), one.name) for one in (sys.stdout, sys.stderr)]
    assert streams == [(Stream, "stdout"), (Stream, "stderr")]
    assert (shell.capture.limit, shell.pid) == (77, os.getpid())
    assert signal.getsignal(signal.SIGALRM) == shell._alarm


def test_what_ipython_shows_is_captured(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setattr(InteractiveShell, "instance", classmethod(lambda cls, config: (cls, config)))
    made = Shell("/folder")
    kind, config = made.ip
    assert made.capture.limit == 200_000
    assert (config.InteractiveShell.cache_size, config.HistoryManager.enabled) == (0, False)
    assert config.InteractiveShell.ipython_dir == "/folder"
    kind.display_pub_class.publish(None, {"text/plain": "shown", "text/html": "<b>"})
    hook = SimpleNamespace(
        update_user_ns=lambda _: None, compute_format_data=lambda value: ({"text/plain": str(value)}, {})
    )
    for value in (None, 0, 7):
        kind.displayhook_class.__call__(hook, value)
    assert [(one["output_type"], one["data"]["text/plain"]) for one in made.capture.outputs] == [
        ("display_data", "shown"),
        ("execute_result", "0"),
        ("execute_result", "7"),
    ]

    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    kind._showtraceback(None, ValueError, ValueError("so"), ["a", "b"])
    kind._showtraceback(None, Silent, Silent(), [])
    assert [(one["ename"], one["evalue"], one["traceback"]) for one in made.capture.outputs[3:]] == [
        ("ValueError", "so", ["a", "b"]),
        ("Silent", "(its message could not be made)", []),
    ]


@pytest.mark.parametrize(("letters", "kept"), [(199, 199), (200, 200), (201, 200)])
def test_the_name_of_an_error_has_two_hundred_letters(letters, kept):
    capture = OutputCapture(10_000)
    capture.error("E" * letters, "v" * 2001, [])
    assert len(capture.outputs[0]["ename"]) == kept
    assert capture.outputs[0]["evalue"] == "v" * 2000
