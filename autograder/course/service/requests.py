"""What a notebook sends, read with bounds: which exercise of which assignment, and the answer, a value or cells."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ...values.encoding import MAX_DEPTH
from .judging import Code

MAX_BODY = 256 << 10  # bytes
MAX_CELLS = 60
MAX_NAME = 200
DIGITS = 10  # of a number, to tell one answer from another


class BadRequest(ValueError):
    """What was sent is not a question; the message says what was expected."""


@dataclass(frozen=True)
class CheckRequest:
    """A question to the service: `value` is a message of `encoding.encode`, unless it is code."""

    assignment: str
    exercise: str
    value: Any = None
    code: Code | None = None

    @property
    def digest(self) -> str:
        """A digest of the answer: the same for numbers that differ by rounding only."""
        content = ["code", *self.code.cells, self.code.answer] if self.code else ["value", _rounded(self.value)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read(body: bytes) -> CheckRequest:
    """The question in a body of JSON; BadRequest for anything else."""
    try:
        data = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"JSON was expected ({type(error).__name__})") from None
    if type(data) is not dict:
        raise BadRequest("an object with assignment, exercise, and value or code was expected")
    assignment, exercise = checked_request_name(data.get("assignment")), checked_request_name(data.get("exercise"))
    if data.keys() == {"assignment", "exercise", "code"}:
        return CheckRequest(assignment, exercise, code=_code(data["code"]))
    if data.keys() == {"assignment", "exercise", "value"}:
        if _depth(data["value"]) > 3 * MAX_DEPTH:  # a level of a value takes at most three of JSON
            raise BadRequest("a value that is nested less deep was expected")
        return CheckRequest(assignment, exercise, value=data["value"])
    raise BadRequest("assignment, exercise, and one of value and code were expected")


def checked_request_name(data: Any) -> str:
    """A name in a question; BadRequest for anything else."""
    if type(data) is not str or not 0 < len(data) <= MAX_NAME:
        raise BadRequest("the names of an assignment and of an exercise were expected")
    return data


def _code(data: Any) -> Code:
    cells, answer = (data.get("cells"), data.get("answer")) if type(data) is dict else (None, None)
    if type(cells) is not list or not 0 < len(cells) <= MAX_CELLS or not all(type(cell) is str for cell in cells):
        raise BadRequest(f"1 to {MAX_CELLS} cells were expected, each a text")
    if type(answer) is not int or not 0 <= answer < len(cells):
        raise BadRequest("the number of the answer's cell was expected")
    return Code([cell.encode("utf-8", "replace").decode("utf-8") for cell in cells], answer)


def _no_constant(name: str) -> None:
    raise BadRequest(f"a number was expected, not {name}")


def _depth(value: Any) -> int:
    """How deep JSON data is nested, without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(item, (list, dict)):
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _rounded(value: Any) -> Any:
    if type(value) is float:
        return float(f"{value:.{DIGITS}g}")
    if type(value) is list:
        return [_rounded(one) for one in value]
    if type(value) is dict:
        return {key: _rounded(one) for key, one in value.items()}
    return value
