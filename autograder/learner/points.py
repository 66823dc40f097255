"""What a notebook shows of the points that `grade` returns: words, beside the float that nbgrader reads as text."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from ..declaration.verdict import Verdict

_returned: list[tuple[float, str]] = []  # what `grade` returned last in this kernel, and its words


def in_words(reached: float, verdict: Verdict, points: float | None) -> float:
    """`reached` as a float of its own, which a notebook shows as "1 of 2 points"; `points` is None without a key."""
    reached = float(str(reached))  # a new object: it is known again by its identity
    _returned[:] = [(reached, _words(reached, verdict, points))]
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    formatter = getattr(shell, "display_formatter", None)  # a shell in another kernel has none
    if formatter is not None:
        formatter.formatters["text/html"].for_type(float, _html)
        if formatter.active_types == ["text/plain"]:  # a terminal's: nothing reads what it prints
            plain = formatter.formatters["text/plain"]
            plain.for_type(float, partial(_print, plain))
    return reached


def _words(reached: float, verdict: Verdict, points: float | None) -> str:
    if points is None:
        return "Its points come with the grading." if verdict.kind == "recorded" else "No answer is recorded."
    return f"{reached:g} of {points:g} point{'' if points == 1 else 's'}"


def _html(value: Any) -> str | None:
    """The words for that float; None, and so the number alone, for any other."""
    phrase = _phrase(value)
    return phrase and f'<span class="gpubook-points">{phrase}</span>'


def _print(formatter: Any, value: Any, printer: Any, _: bool) -> None:
    """The words for that float in a terminal; any other as it is there, `%precision` included."""
    printer.text(_phrase(value) or formatter.float_format % value)


def _phrase(value: Any) -> str | None:
    return next((words for one, words in _returned if one is value), None)
