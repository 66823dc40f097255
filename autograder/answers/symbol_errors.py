"""Python errors that an exercise's symbols cause, and what to write instead."""

from __future__ import annotations

import re
import sys
from typing import Any

POWER = "A power is written `p**w`: `^` is something else in Python."
LARGER = (
    "Python cannot tell which of two expressions in letters is larger. Write `maximum(a, b)` for `max(a, b)`, "
    "`minimum(a, b)` for `min(a, b)`, both from `hwlib.formula`, and for an `if` sympy's `Piecewise((a, a > b), "
    '(b, True))`. Or give the answer as a text: `answer = "max(a, b)"`.'
)
NUMBERS = (
    "Functions of `math` and `numpy` take numbers, and letters are none: `from sympy import log, sqrt, exp, floor, "
    "ceiling` has those that take both."
)
SYMPY = "(Symbol|Add|Mul|Pow|Max|Min|Piecewise|log|exp|ceiling|floor)"
MAX_MESSAGE = 1000  # characters that are looked at: the messages below are shorter
# What Python, sympy and numpy say of them, all as a TypeError.
SAID = (
    (r"^unsupported operand type\(s\) for \^=?: |operand type.*'Xor'", POWER),
    (r"^cannot determine truth value of Relational", LARGER),
    (rf"^Cannot convert (expression|symbols) to|argument \d+ of type {SYMPY} which has no callable", NUMBERS),
)


def advice(error: str, message: str) -> str:
    """What to write instead, where the error (its class's name, and what it says) comes of a slip with letters; or
    ""."""
    if error != "TypeError":
        return ""
    return next((say for pattern, say in SAID if re.search(pattern, message[:MAX_MESSAGE])), "")


def explain_errors() -> None:
    """From now on a cell that ends in such an error says below it what to write instead; in a notebook only."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and _explain not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _explain)


def _explain(result: Any) -> None:
    from IPython.display import display

    error = result.error_in_exec
    if error is None:
        return
    try:
        say = advice(type(error).__name__, str(error))
    except Exception:  # of a class of the learner's own
        return
    if say:
        display({"text/plain": say, "text/markdown": say}, raw=True)
