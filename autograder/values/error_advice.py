"""Python errors that beginners meet in an answer's cell, and what to write instead.

The notebook says it below the traceback, the grader in the verdict, and both out of the same texts: an error's class
and message, the cell's source, and what was asked. Nothing of a learner's is repeated but names, and numbers with a
unit.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
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
TIMES = "A multiplication needs its sign: `n*(a + b)`, and not `n(a + b)`, which calls `n` as a function."
QUOTES = (
    "Python's quotes are straight, `\"` or `'`: those of a word processor (`“`, `”`, `‘`, `’`, `„`, `«`) are no quotes."
)
COLAB = "`google.colab` is Colab's own and nowhere else: keep what needs it in a cell of its own, without an answer."
TYPED_IN = "Nobody can type anything while a notebook is judged: set the value in the cell instead of asking for it."
TEXT = (
    "A text cannot be computed with. Units are numbers: `from hwlib.units import ms`, then `3.85*ms`. Or the text "
    'alone is the answer: `answer = "3.85 ms"`.'
)
SYMPY = "(Symbol|Add|Mul|Pow|Max|Min|Piecewise|log|exp|ceiling|floor)"
NUMERIC = "(int|float|Integer|Float|Rational|Half|One|Zero|NegativeOne)"
MAX_MESSAGE = 1000  # characters that are looked at: the messages below are shorter
MAX_LINE, MAX_LINES = 200, 200  # of a cell, the same
# What Python, sympy and numpy say of them, all as a TypeError.
SAID = (
    (r"^unsupported operand type\(s\) for \^=?: |operand type.*'Xor'", POWER),
    (r"^cannot determine truth value of Relational", LARGER),
    (rf"^Cannot convert (expression|symbols) to|argument \d+ of type {SYMPY} which has no callable", NUMBERS),
    (rf"^'({SYMPY}|{NUMERIC})' object is not callable", TIMES),
    (r"^unsupported operand type\(s\) for [-+*/]{1,2}: .*'str'|^can't multiply sequence by non-int", TEXT),
)
LIBRARIES = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "sympy": "import sympy",
    "torch": "import torch",
    "dist": "import torch.distributed as dist",
    "tl": "from hwlib import tl",
    "Step": "from hwlib.algorithms import Step",
    "maximum": "from hwlib.formula import maximum",
    "minimum": "from hwlib.formula import minimum",
    "where": "from hwlib.formula import where",
}
OF_SYMPY = ("Max", "Min", "Piecewise", "Rational", "ceiling", "floor", "sqrt", "log", "exp", "pi", "Symbol")
OF_MATH = ("ceil", "floor", "sqrt", "log", "log2", "exp", "pi", "inf", "prod")
FOR_LETTERS = {"ceil": "ceiling", "log2": "log2"}  # of math: what takes letters too
VERBS = (
    "card",
    "check",
    "exercise",
    "given",
    "grade",
    "hint",
    "how_to_answer",
    "progress",
    "reveal",
    "solution",
    "symbols",
)
EXTRAS = {"torch": "labs", "cloudpickle": "labs", "triton": "kernels"}  # what an install without extras lacks
DOWNLOAD = (
    "On Linux pip may fetch several GB of CUDA with torch: without a GPU, first run `%pip install torch --index-url` "
    "with the index of CPU builds that pytorch.org names (about 200 MB)."
)
NAME = re.compile(r"[A-Za-z_]\w{0,40}", re.ASCII)
SET = re.compile(r"\s*([A-Za-z_]\w{0,40})\s*=\s*([-+]?\.?\d[^#\"'=]*?)\s*(?:#.*)?", re.ASCII)


@dataclass(frozen=True)
class ErrorContext:
    """What of an exercise an error in its cell may be about; all of it is public."""

    id: str = ""
    name: str = "answer"  # the variable or the function that the cell sets
    signature: str = ""
    given: Collection[str] = ()
    letters: Collection[str] = ()
    options: Collection[str] = ()

    @classmethod
    def of(cls, public: Mapping[str, Any]) -> ErrorContext:
        """Out of the public record of an exercise."""
        variants = public.get("variants") or [{}]
        return cls(
            id=public.get("id", ""),
            name=public.get("answer_name", "answer"),
            signature=public.get("signature") or "",
            given=tuple(public.get("given") or variants[0]),
            letters=tuple(public.get("symbols") or ()),
            options=tuple(public.get("options") or ()),
        )


NOTHING_ASKED = ErrorContext()


def advice(error: str, message: str, source: str = "", asked: ErrorContext = NOTHING_ASKED) -> str:
    """What to write instead, where the error (its class's name, and what it says) comes of a slip that beginners make;
    or "". `source` is the cell's."""
    message = message[:MAX_MESSAGE]
    if error == "NameError":
        match = re.match(r"(?:free variable|name) '([^']{1,41})'", message)
        return _undefined(match[1], asked) if match and NAME.fullmatch(match[1]) else ""
    if error == "ModuleNotFoundError":
        match = re.match(r"No module named '(\w{1,40})[.\w]*'", message)
        if match and match[1] == "google":
            return COLAB
        return install(match[1]) if match and match[1] in EXTRAS else ""
    if error in ("EOFError", "StdinNotImplementedError") and re.search(r"\binput\b", source):
        return TYPED_IN
    if error == "SyntaxError":
        return _unread(source, asked)
    if error == "KeyError" and "given(" in source:
        return _no_number(message, asked)
    if error == "AttributeError":
        match = re.match(r"'dict' object has no attribute '(\w{1,40})'", message)
        return _taken(match[1], asked) if match and match[1] in asked.given else ""
    if error != "TypeError":
        return ""
    general = next((say for pattern, say in SAID if re.search(pattern, message)), "")
    return general or _not_taken(message, source, asked) or _called(message, asked)


def advice_on(failure: str, context: ErrorContext) -> str:
    """The same for a function that the judge called, of which it says "NameError: name 'x' is not defined, in line 3:
    y = x"; with a blank before it, or ""."""
    error, _, message = failure.partition(": ")
    say = advice(error, message, asked=context)
    return say and f" {say}"


def install(package: str) -> str:
    """How a package of an extra is installed, and how to do so without what only a GPU needs."""
    extra = EXTRAS[package]
    say = f"`{package}` is not installed: run `%pip install 'gpubook[{extra}]'` in a cell, and restart the kernel."
    return say + (f" {DOWNLOAD}" if extra == "labs" else "")


def _undefined(name: str, context: ErrorContext) -> str:
    """Where a name comes from that the cell does not know."""
    if name in context.letters:
        return f'`{", ".join(context.letters)} = symbols("{context.id}")` defines the letters of this exercise.'
    if name in context.given:
        return _taken(name, context)
    if name in context.options:
        return f'An option is a text, so it stands between quotes: `answer = "{name}"`.'
    if name in _arguments(context.signature):
        return f"`{name}` is an argument of `{context.signature}`: does the `def` line name it so?"
    if other := [one for one in (*context.letters, *context.given) if one.casefold() == name.casefold()]:
        return f"Is `{other[0]}` meant? Python tells large letters from small ones."
    return _import(name, bool(context.letters))


def _taken(name: str, context: ErrorContext) -> str:
    return f'`{name}` is one of the numbers of this exercise: write `g = given("{context.id}")`, then `g["{name}"]`.'


def _no_number(message: str, context: ErrorContext) -> str:
    key = message.strip("'\"")
    if not context.given or key in context.given or not NAME.fullmatch(key):
        return ""
    return f'`given("{context.id}")` has {", ".join(f"`{name}`" for name in context.given)}, and no `{key}`.'


def _not_taken(message: str, source: str, context: ErrorContext) -> str:
    """What to leave out where a function is called with all of the given, and does not take some of it."""
    match = re.match(r"(?:.*\.)?(\w{1,40})\(\) got an unexpected keyword argument '(\w{1,40})'", message)
    if not match or match[2] not in context.given or "**" not in source:
        return ""
    taken = f'`{match[1]}` takes no `{match[2]}`, which `given("{context.id}")` has beside its numbers'
    return f"{taken}: name those that it takes, e.g. `g = given(...)`, then `{match[1]}(g[...], g[...])`."


def _import(name: str, letters: bool) -> str:
    """The import that a name lacks; `letters`: the cell is to take letters, not numbers."""
    if name in VERBS:
        return f"The import is missing: `from autograder import {name}`."
    if name in LIBRARIES:
        return f"The import is missing: `{LIBRARIES[name]}`."
    if letters and name in FOR_LETTERS:
        module = "sympy" if name == "ceil" else "hwlib.formula"
        instead = FOR_LETTERS[name]
        return f"Of letters it is `{instead}`, which has to be imported: `from {module} import {instead}`."
    if name in OF_SYMPY and (letters or name not in OF_MATH):
        return f"The import is missing: `from sympy import {name}`."
    if name in OF_MATH:
        return f"The import is missing: `from math import {name}`."
    if len(name) > 1 and name in _units():
        return f"Units are numbers, and have to be imported: `from hwlib.units import {name}`."
    return ""


@cache
def _units() -> frozenset[str]:
    from hwlib import units

    return frozenset(name for name, value in vars(units).items() if type(value) is float and not name.isupper())


def _unread(source: str, context: ErrorContext) -> str:
    """What is wrong with the first line that sets a number and is not Python."""
    for line in source.splitlines()[:MAX_LINES]:
        if len(line) > MAX_LINE or not (match := SET.fullmatch(line)) or _is_python(line.strip()):
            continue
        name, typed = match[1], match[2]
        if _is_quantity(typed):
            return f'A number with its unit is a text, so it stands between quotes: `{name} = "{typed}"`.'
        times = re.search(r"(?<![\w.])(\d+)\s*([A-Za-z_]\w{0,40})", typed, re.ASCII)
        if times and times[2] in (*context.letters, *context.given):
            return f"A multiplication needs its sign: `{times[1]}*{times[2]}`."
    if any(quote in source[: MAX_LINE * MAX_LINES] for quote in "“”„‟‘’‚‛«»"):
        return QUOTES
    signs = next((sign for sign in "×·÷−" if sign in source[: MAX_LINE * MAX_LINES]), "")
    written = {"×": "*", "·": "*", "÷": "/", "−": "-"}
    return f"Python's sign for `{signs}` is `{written[signs]}`." if signs else ""


def _is_python(line: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_quantity(text: str) -> bool:
    from hwlib.units import UnitError, parse

    if not text.isprintable() or set(text) & set("`<>&"):
        return False
    try:
        parse(text)
    except UnitError:
        return False
    return True


def _called(message: str, context: ErrorContext) -> str:
    """What a function is asked to take, where the judge's call or the learner's own does not fit it."""
    if not context.signature or not re.match(
        rf"(?:[\w.<>]{{1,200}}\.)?(?:{re.escape(context.name)}|<lambda>)\(\) (?:takes|missing|got an unexpected)",
        message,
    ):
        return ""
    arguments = _arguments(context.signature)
    many = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
    return f"It is asked for as `{context.signature}`, with {many} in this order."


def _arguments(signature: str) -> list[str]:
    return re.findall(r"(?<!\w)(\w++)\s*(?::[^,=]*)?(?:=[^,]*)?(?:,|$)", signature.partition("(")[2].rstrip(")"))
