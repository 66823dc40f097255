"""What a typed expression lacks to be read: the signs of its products, which are put in, or a bracket.

What may be meant in two ways is said with the place and with what to write; the reasons are those of `TreeError`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from .texts import quoted
from .trees import TreeError

NUMBER = r"(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?"
TOKEN = re.compile(rf"(?P<number>{NUMBER})|(?P<name>[^\W\d]\w*)|(?P<other>\*\*|//|\S)")
WORDS = ("if", "else", "and", "or", "not", "is", "in")
DIVISIONS = ("/", "//", "%")
AROUND = 24  # characters of the text that are shown of a place


class NotationToken(NamedTuple):
    """A piece of the text: a number, a name or another sign, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def completed(text: str, source: str, names: Collection[str], functions: Collection[str]) -> str:
    """`source` with the signs of its products: `2BDF` and `2 B D F` are `2*B*D*F`. `text` is as it was typed, `source`
    as it is read; `names` are the letters of the exercise, `functions` are called.

    TreeError where a bracket is missing, and where a product without a sign may be meant in two ways: behind a division
    or a power, and in a name that is a letter of the book itself or several products of the exercise's letters.
    """
    _check_brackets(text)
    tokens = _tokens(source, names, functions)
    gaps = [
        (a.end, b.start)
        for at, (a, b) in enumerate(pairwise(tokens))
        if _is_product(source, tokens, at, names, functions)
    ]
    for end, start in reversed(gaps):
        source = f"{source[:end]}*{source[start:]}"
    return source


def _tokens(source: str, names: Collection[str], functions: Collection[str]) -> list[NotationToken]:
    """The pieces of the source; of a name that is several of the exercise's letters, these."""
    tokens: list[NotationToken] = []
    for match in TOKEN.finditer(source):
        token = NotationToken(match.lastgroup or "", match[0], *match.span())
        if token.kind == "name" and token.text not in {*names, *functions, *WORDS}:
            start = token.start
            for letter in _letters(token.text, names):
                tokens.append(NotationToken("name", letter, start, start + len(letter)))
                start += len(letter)
        else:
            tokens.append(token)
    return tokens


def _is_product(
    source: str, tokens: Sequence[NotationToken], at: int, names: Collection[str], functions: Collection[str]
) -> bool:
    """Whether the sign of a product is missing behind a token; TreeError where it may be meant in two ways."""
    token, after = tokens[at], tokens[at + 1]
    begins = after.kind in ("name", "number") and after.text not in WORDS
    if token.text in functions and begins:
        say = f"{quoted(token.text)} is a function; write its argument in brackets: `{token.text}(…)`"
        raise TreeError(say, "arguments")
    if token.kind == "name" and after.text == "(" and token.text not in names:
        return False  # a call
    ends = token.text == ")" or (token.kind in ("name", "number") and token.text not in WORDS)
    if not ends or not (begins or after.text == "("):
        return False
    known = (after.text == "(" or after.text in {*names, *functions}) and "\n" not in source[token.end : after.start]
    if not known or _is_ambiguous(tokens, at, names, functions):
        raise _without_sign(source, tokens, at, functions)
    return True


def _is_ambiguous(tokens: Sequence[NotationToken], at: int, names: Collection[str], functions: Collection[str]) -> bool:
    """Whether what comes behind the token `at` may belong to a divisor or an exponent: `S/2W`, `2^nS`; or whether the
    number that it is may be a product itself, as 2E3 where E is a letter."""
    if tokens[at].kind == "number" and {*re.findall("[eE]", tokens[at].text)} & {*names}:
        return True
    first, spaced = at, tokens[at + 1].start > tokens[at].end
    while True:
        first = _first(tokens, first, functions)
        before = tokens[first - 1].text if first else ""
        if before == "**" and not spaced:
            return True
        if before != "**" and not (first and _is_adjacent(tokens[first - 1], names)):
            return before in DIVISIONS
        first -= 2 if before == "**" else 1


def _is_adjacent(token: NotationToken, names: Collection[str]) -> bool:
    """Whether a token ends a factor, so that the one behind it is multiplied by it."""
    return token.text == ")" or token.kind == "number" or token.text in names


def _without_sign(source: str, tokens: Sequence[NotationToken], at: int, functions: Collection[str]) -> TreeError:
    left = source[_start(tokens, at, functions) : tokens[at].end]
    right = source[tokens[at + 1].start : _end(tokens, at + 1)]
    left = left if len(left) <= AROUND else f"…{left[-AROUND:]}"
    right = right if len(right) <= AROUND else f"{right[:AROUND]}…"
    say = f"there is no sign between {quoted(left)} and {quoted(right)}; write the multiplication: "
    return TreeError(f"{say}{quoted(f'{left}*{right}')}", "multiplication-sign")


def _start(tokens: Sequence[NotationToken], at: int, functions: Collection[str]) -> int:
    """Where the factor begins that ends with the token `at`."""
    return tokens[_first(tokens, at, functions)].start


def _first(tokens: Sequence[NotationToken], at: int, functions: Collection[str]) -> int:
    """The first token of the factor that ends with the token `at`: a bracket with all that is in it, and its
    function."""
    depth = 0
    for place in range(at, -1, -1):
        depth += (tokens[place].text == ")") - (tokens[place].text == "(")
        if not depth:
            called = place and tokens[place].text == "(" and tokens[place - 1].text in functions
            return place - bool(called)
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


def _letters(name: str, letters: Collection[str]) -> list[str]:
    """The letters of the exercise of which a name is the product, and the name alone where it is none; TreeError where
    it may be meant in two ways."""
    from hwlib.notation import NOTATION

    ways = _splits(name, sorted(letters, key=len, reverse=True))
    if not ways:
        return [name]
    if len(ways) > 1 or name in NOTATION:
        say = f"{quoted(name)} is read as one name; write the multiplication: `{'*'.join(ways[0])}`"
        raise TreeError(say, "multiplication-sign")
    return ways[0]


def _splits(name: str, letters: Sequence[str]) -> list[list[str]]:
    """The ways to make up a name of letters, at most two, the long letters tried first."""
    ways: list[list[list[str]]] = [[[]], *([] for _ in name)]  # by how much of the name they make up
    for end in range(1, len(name) + 1):
        for letter in letters:
            if letter and name.endswith(letter, 0, end):
                ways[end] += [[*way, letter] for way in ways[end - len(letter)]]
        ways[end] = ways[end][:2]
    return ways[-1]
