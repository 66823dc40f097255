"""Call a learner's function: within a time limit, on plain data, with an error that shows the learner's line."""

from __future__ import annotations

import json
import linecache
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..values import encoding
from .answer import Call
from .verdict import AnswerError
from .withholding import without

SECONDS_A_CALL = 2.0


def through_json(value: Any) -> Any:
    """A value as it comes out of a process: encoded, sent as JSON, decoded."""
    return encoding.decode(json.loads(json.dumps(encoding.encode(value))))


def local_call(
    function: Any,
    withholds: Sequence[str] = (),
    seconds: float = SECONDS_A_CALL,
    calls: Callable[[Any], Callable[..., Any]] = lambda function: function,
) -> Call:
    """A `call` for `Exercise.judge` that runs the function here, within a time limit where the system has
    one. `calls(function)` is what is called, where that is not the function itself."""
    called = calls(function)

    def call(args: tuple) -> Any:
        try:
            with without(withholds, function), limited(seconds):
                result = called(*through_json(args))
            return through_json(result)
        except AnswerError:
            raise
        except encoding.NotEncodable as error:
            raise AnswerError(f"what it returns is no answer: {error}", "no-plain-data") from None
        except TimeUp:
            raise AnswerError(f"it takes more than {seconds:g} s", "time-limit") from None
        except SystemExit:
            raise AnswerError("it ends Python (sys.exit)", "exits-python") from None
        except Exception as error:
            reason = getattr(error, "reason", "")
            raise AnswerError(failure(error, function), reason if type(reason) is str else "") from None

    return call


def failure(error: BaseException, function: Any) -> str:
    """An exception in a learner's function, with the learner's line: "ZeroDivisionError: division by zero, in
    line 3: x/0"."""
    try:
        say = f"{encoding.type_name(error)}: {str(error)[:200]}"
    except Exception:
        say = encoding.type_name(error)
    code, trace, line = getattr(function, "__code__", None), error.__traceback__, 0
    while trace is not None:
        if code is not None and trace.tb_frame.f_code.co_filename == code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    if not line or code is None:
        return say
    source = linecache.getline(code.co_filename, line).strip()
    return f"{say}, in line {line}" + (f": {source[:80]}" if source else "")


AGAIN = 0.05  # seconds until the next alarm: what is raised in a callback of the garbage collector, Python swallows
PATIENCE = 4  # times as long by the clock as on a processor: other programs compute too, and to sleep is no answer


class TimeUp(BaseException):
    """Not an Exception, so that a learner's `except Exception` does not swallow it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimeUp in the block after `seconds` on a processor, or `PATIENCE` times as many of the clock, where the
    system has an alarm and this is its thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    computed, begun = time.thread_time(), time.monotonic()

    def stop(*_: Any) -> None:
        if time.thread_time() - computed >= seconds or time.monotonic() - begun >= PATIENCE * seconds:
            raise TimeUp

    def hook(swallowed: Any) -> None:
        if swallowed.exc_type is not TimeUp:
            previous(swallowed)

    previous, sys.unraisablehook = sys.unraisablehook, hook
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = previous
