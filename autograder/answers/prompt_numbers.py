"""The numbers that a prompt shows, each as it stands there and in SI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..values.texts import FIELD

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

NAME = 40  # characters of what stands before a number
MANY = 8  # numbers of a prompt whose products and quotients are tried
WORD = re.compile(r"(\w{1,40}) ?$")
NAMES = frozenset({"Llama", "Qwen", "Chapter", "Figure", "Table", "Exercise", "Section"})
NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?!\d|-[a-z])(?:\s?([A-Za-z]+(?:/[A-Za-z]+)*))?")


class Number(NamedTuple):
    """A number of the prompt: as it stands there, in SI, its unit, and the letter of a given one."""

    shown: str
    value: float
    unit: str = "1"
    letter: str = ""


def numbers_of(exercise: Exercise, given: Mapping[str, Any]) -> list[Number]:
    """The numbers of the prompt, the given ones exactly as they are and the typed ones as they are read."""
    numbers: dict[float, Number] = {}
    for match in FIELD.finditer(exercise.prompt):
        value = given.get(match[1])
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value:
            number = Number(exercise.fill(match[0], given), float(value), match[2] or "1", match[1])
            numbers.setdefault(number.value, number)
    prompt = FIELD.sub(" ", exercise.prompt)
    for match in NUMBER.finditer(prompt):
        number = _typed(match[1], match[2] or "")
        if number.value and not (number.unit == "1" and _ends_a_name(prompt[: match.start()])):
            numbers.setdefault(number.value, number)
    return list(numbers.values())[:MANY]


def _ends_a_name(before: str) -> bool:
    """Whether a number behind this text is a part of a name, as of NVLink 5."""
    word = WORD.search(before[-NAME:])
    return word is not None and (word[1] in NAMES or sum(map(str.isupper, word[1])) > 1)


def _typed(digits: str, unit: str) -> Number:
    from hwlib.units import UnitError, parse

    plain = digits.replace(",", "")
    with suppress(UnitError):
        read = parse(f"{plain} {unit}".strip())
        return Number(f"{digits} {unit}".strip(), read.value, read.unit)
    return Number(digits, float(plain))
