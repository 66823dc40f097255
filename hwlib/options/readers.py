"""How texts of options are read: every door reads one in the same way."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any

from hwlib.options.amounts import (
    bytes_of,
    in_unit_of,
    run_tokens_of,
    seconds_of,
    spares_of,
    tokens_of,
    whole_numbers_of,
    without_groups,
    words_of,
)


class Kind(Enum):
    """What an option takes: a text, a number within bounds, one of a few words, yes or no, or nothing at all."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole number"
    CHOICE = "choice"
    SWITCH = "switch"
    FLAG = "flag"


@dataclass(frozen=True)
class Reader:
    """How the text of an option is read.

    `read` makes the value of a text, or raises ValueError; `name` is what such a text is called in a list of options.
    Where a text may hold several values, `single` reads exactly one. A number is at least `low`, or `above` it; a
    choice is one of `words`.
    """

    name: str
    read: Callable[[str], Any]
    kind: Kind = Kind.TEXT
    single: Callable[[str], Any] | None = None
    low: float = -inf
    above: bool = False
    words: tuple[str, ...] = ()

    @property
    def read_single(self) -> Callable[[str], Any]:
        """What reads exactly one value."""
        return self.single or self.read


def number_of(text: str, *, whole: bool = False) -> float:
    """A number. Raises ValueError."""
    plain = without_groups(text, whole=whole)
    try:
        return float(plain)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def whole_number_of(text: str) -> int:
    """A whole number. Raises ValueError."""
    number = number_of(text, whole=True)
    if not number.is_integer():
        raise ValueError(f"{text!r} is not a whole number")
    return int(number)


def word_of(text: str) -> str:
    """A text without the space around it."""
    return text.strip()


def yes_or_no(text: str) -> bool:
    """Whether a text says yes. Raises ValueError for any but yes and no."""
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r}: expected yes or no")
    return text == "yes"


def _single_whole(text: str) -> int:
    if len(numbers := whole_numbers_of(text)) > 1:
        raise ValueError(f"{text!r}: expected one whole number")
    return numbers[0]


def numbers(low: float = -inf, *, above: bool = False) -> Reader:
    """A number of at least `low`, or above it."""

    def read(text: str) -> float:
        number = number_of(text)
        if not low <= number < inf or (above and number == low):
            raise ValueError(f"{text!r}: expected a number {'above' if above else 'of at least'} {low:g}")
        return number

    return Reader("number", read, Kind.NUMBER, low=low, above=above)


def counts(low: int) -> Reader:
    """A whole number of at least `low`."""

    def read(text: str) -> int:
        if (number := whole_number_of(text)) < low:
            raise ValueError(f"{text!r}: expected a whole number of at least {low}")
        return number

    return Reader("whole number", read, Kind.WHOLE, low=low)


def choices(*words: str) -> Reader:
    """One of a few words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r}: expected one of {', '.join(words)}")
        return text

    return Reader("|".join(words), read, Kind.CHOICE, words=words)


def amounts(name: str, unit: str, example: str, words: tuple[str, ...] = ()) -> Reader:
    """A number with a unit, as `hwlib.units` reads it, or one of a few words."""
    return Reader(name, lambda text: text if text in words else in_unit_of(text, unit, example))


TEXT = Reader("text", word_of)
SWITCH = Reader("yes|no", yes_or_no, Kind.SWITCH)
FLAG = Reader("", yes_or_no, Kind.FLAG)
BATCH = Reader("tokens", tokens_of)
RUN_TOKENS = Reader("tokens", run_tokens_of)
NUMBERS = Reader("n[,n...]", whole_numbers_of, single=_single_whole)
GPU_COUNTS = Reader("n[,n...]", whole_numbers_of, single=whole_number_of)
WORDS = Reader("word[,word...]", words_of, single=word_of)
BYTES = Reader("text", bytes_of)
SECONDS = Reader("time", seconds_of)
SPARES = Reader("nodes|price|time", spares_of)
