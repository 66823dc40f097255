"""A function that may take so many steps and no more, whatever it is given: a model that judges a record has a limit.

A step is a line of Python, so the same record is judged alike on every machine, and neither a signal nor a thread is
needed. What one line does is bounded by the values that reach it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
from types import FrameType
from typing import Any


class TooManySteps(BaseException):
    """The function took more steps than it may; nothing that catches its own errors catches this one."""


def limited(function: Callable[[], Any], steps: int, free: Container[str] = ()) -> Any:
    """What the function returns; TooManySteps after so many lines of it and of what it calls. Lines of the files `free`
    are not counted."""
    left = steps

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal left
        if event == "call" and free and frame.f_code.co_filename in free:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                raise TooManySteps(steps)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return function()
    finally:
        sys.settrace(before)
