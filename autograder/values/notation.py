"""What a typed expression lacks to be read: the sign of a multiplication, a bracket. It is said with the place and with
what to write; the reasons are those of `TreeError`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from .texts import quoted
from .trees import TreeError

NUMBER = r"(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?"
TOKEN = re.compile(rf"(?P<number>{NUMBER})|(?P<name>[^\W\d]\w*)|(?P<other>\S)")
WORDS = ("if", "else", "and", "or", "not", "is", "in")
AROUND = 24  # characters of the text that are shown of a place


class NotationToken(NamedTuple):
    """A piece of the text: a number, a name or another sign, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def check(text: str, source: str, names: Collection[str], functions: Collection[str]) -> None:
    """Raise TreeError where a bracket or the sign of a product is missing. `text` is as it was typed, `source` as it is
    read; `names` are the letters of the exercise, `functions` are called."""
    _check_brackets(text)
    tokens = [NotationToken(found.lastgroup or "", found[0], *found.span()) for found in TOKEN.finditer(source)]
    for token, after in pairwise([*tokens, NotationToken("other", "", 0, 0)]):
        if token.kind == "name" and token.text not in {*names, *functions} and after.text != "(":
            _check_name(token.text, names)
    for at, (token, after) in enumerate(pairwise(tokens)):
        begins = after.kind in ("name", "number") and after.text not in WORDS
        if token.text in functions and begins:
            say = f"{quoted(token.text)} is a function; write its argument in brackets: `{token.text}(…)`"
            raise TreeError(say, "arguments")
        if token.kind == "name" and after.text == "(" and token.text not in names:
            continue  # a call
        ends = token.text == ")" or (token.kind in ("name", "number") and token.text not in WORDS)
        if ends and (begins or after.text == "("):
            left, right = source[_start(tokens, at, functions) : token.end], source[after.start : _end(tokens, at + 1)]
            left = left if len(left) <= AROUND else f"…{left[-AROUND:]}"
            right = right if len(right) <= AROUND else f"{right[:AROUND]}…"
            say = f"there is no sign between {quoted(left)} and {quoted(right)}; write the multiplication: "
            raise TreeError(f"{say}{quoted(f'{left}*{right}')}", "multiplication-sign")


def _start(tokens: Sequence[NotationToken], at: int, functions: Collection[str]) -> int:
    """Where the factor begins that ends with the token `at`: a bracket with all that is in it, and its function."""
    depth = 0
    for place in range(at, -1, -1):
        depth += (tokens[place].text == ")") - (tokens[place].text == "(")
        if not depth:
            called = place and tokens[place].text == "(" and tokens[place - 1].text in functions
            return tokens[place - bool(called)].start
    return 0


def _end(tokens: Sequence[NotationToken], at: int) -> int:
    """Where the factor ends that begins with the token `at`."""
    depth = 0
    for token in tokens[at:]:
        depth += (token.text == "(") - (token.text == ")")
        if not depth:
            return token.end
    return tokens[-1].end


def _check_brackets(text: str) -> None:
    open_ones: list[int] = []
    for at, character in enumerate(text):
        if character == "(":
            open_ones.append(at)
        elif character == ")" and not open_ones:
            before = text[max(0, at - AROUND) : at].strip()
            where = f"right after {quoted(before)}" if before else "at the beginning"
            raise TreeError(
                f"a `)` {where} has no `(`: there is one too many, or a `(` is missing before it", "brackets"
            )
        elif character == ")":
            open_ones.pop()
    if open_ones:
        rest = quoted(text[open_ones[-1] :].strip(), AROUND)
        raise TreeError(f"the bracket that opens in {rest} is not closed: a `)` is missing", "brackets")


def _check_name(name: str, letters: Collection[str]) -> None:
    """Raise TreeError for a name that is several of the exercise's letters."""
    if parts := _split(name, sorted(letters, key=len, reverse=True)):
        product = "*".join(parts)
        say = f"{quoted(name)} is read as one name; write the multiplication: `{product}`"
        raise TreeError(say, "multiplication-sign")


def _split(name: str, letters: Sequence[str]) -> list[str]:
    """The letters whose names make up a name, the long ones tried first; [] for none."""
    for letter in letters:
        if name == letter:
            return [letter]
        if letter and name.startswith(letter) and (rest := _split(name[len(letter) :], letters)):
            return [letter, *rest]
    return []
