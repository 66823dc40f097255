"""Numbers that are related to the right one: its inverse, square or root, its other part, a rounding, one more or less.

Each comes with what is said of it behind "Yours is", as a question. Reasons: turned-over, off-by-one, other-part,
off-by-number, power-of-answer, rounded-to, factor-of-prompt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .prompt_numbers import Number

Related = tuple[str, float, str]

STEPS = (16, 32, 64, 128, 256)  # to which people round
FEW = 100  # of a smaller number the root, or the square of what was typed, is another small number by chance
LARGE = 1e3  # times the answer: a number of the prompt that is larger hides what is added to it
WHICH = "which of the two is asked for?"


def related(
    want: float, numbers: Sequence[Number], unit: str, counts: Sequence[tuple[str, float]]
) -> Iterator[Related]:
    """All of these to a right number in this unit, given the prompt's numbers and those of them that count things."""
    if not want or not math.isfinite(want):
        return
    yield "one over the answer: is something turned over, or how often for how long?", 1 / want, "turned-over"
    yield from _parts(want, numbers, unit)
    if unit == "1":
        yield "one more than the answer: is it a change, or a whole, that is asked for?", want + 1, "off-by-one"
        yield "one less than the answer: is it a change, or a whole, that is asked for?", want - 1, "off-by-one"
        yield f"what the answer lacks to one: {WHICH}", 1 - want, "other-part"
        yield from _powers(want)
    yield from _roundings(want, unit)
    for shown, count in counts:
        say = f"as many times too {{}} as {shown} less one: is it one of the others, or all of them, that is asked for?"
        yield say.format("large"), want * (count - 1), "factor-of-prompt"
        yield say.format("small"), want / (count - 1), "factor-of-prompt"


def _parts(want: float, numbers: Sequence[Number], unit: str) -> Iterator[Related]:
    """The answer with a number of the prompt of its unit added or taken off, and the difference of two."""
    alike = [number for number in numbers if number.unit == unit and 0 < number.value < LARGE * abs(want)]
    for number in alike if unit != "1" else ():
        say = f"off by just {number.shown}: is that counted where it should not be, or left out?"
        yield say, want - number.value, "off-by-number"
        yield say, want + number.value, "off-by-number"
        for other in alike:
            if other.value < number.value:
                say = f"{number.shown} less {other.shown}: is the difference asked for?"
                yield say, number.value - other.value, "number-of-prompt"


def _powers(want: float) -> Iterator[Related]:
    if want >= FEW:
        yield "the square of the answer: is a root missing?", want**2, "power-of-answer"
        yield "the root of the answer: is a square missing?", math.sqrt(want), "power-of-answer"
        yield "a root too many of the answer: which root, or none?", want ** (1 / 3), "power-of-answer"


def _roundings(want: float, unit: str) -> Iterator[Related]:
    """Powers of two and round multiples next to a pure number or a count."""
    if unit in ("1", "FLOP/B") and want > 2:
        for side in (math.floor, math.ceil):
            yield (
                "a power of two next to the answer: is it to be rounded to one?",
                2.0 ** side(math.log2(want)),
                "rounded-to",
            )
            for step in (step for step in STEPS if step < want):
                say = f"a multiple of {step} next to the answer: is it to be rounded to one?"
                yield say, float(step * side(want / step)), "rounded-to"
