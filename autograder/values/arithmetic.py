"""A number typed as a calculation with units: `12*2^30/3.35e12 s`, `4 GB / (450 GB/s)`, `3.85 × 10^-3`.

Read and worked out term by term with exact fractions, never by evaluating the text. A unit belongs to the product or
quotient of plain numbers before it: `41943040/32 B/(90 GB/s)` is (41943040/32) B through 90 GB/s. Behind a number with
a unit it belongs to its own number or bracket: `10 GB/8/90 GB/s` divides by 90 GB/s. The only unit, where it stands at
the end, belongs to the whole calculation, sums included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from hwlib.units import UnitError, dimension, labels, parse, spell

MAX_LENGTH = 200
MAX_POWER = 400  # of an exponent: 2^400 is beyond every number of the book
MAX_BITS = 4096
MAX_DEPTH = 20
SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "÷": "/"})
GROUPED = re.compile(r"(?<![\w.,])([1-9]\d{0,2})((?:[, ]\d{3})+)(?![\d,])")  # 3,850 and 3 850
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)"
    r"|(?P<unit>[A-Za-zµμ%$][A-Za-zµμ]*(?:(?:\^|\*\*)-?[1-9](?![\d.]))?)|(?P<sign>\*\*|[-+*/^()]))"
)
UNIT_AT_END = re.compile(r"(.*[\d)])\s*([A-Za-zµμ%$](?:[A-Za-zµμ%$/*\s]|\^-?[1-9])*)")
E_NOTATION = re.compile(r"(?i)(?<=[\d.])e[-+]?\d+")


@dataclass(frozen=True)
class Calculation:
    """What a calculation comes to, in SI, the powers of its base units, and where it could be read in two ways, as what
    it was read: its text with the brackets that it lacks."""

    value: Fraction
    powers: Mapping[str, int]
    reading: str = ""

    @property
    def unit(self) -> str:
        """Its unit as `hwlib.units` spells it."""
        return spell(self.powers)


def is_calculation(text: str) -> bool:
    """Whether a text is more than one number with a unit: it has an operation between numbers, or a bracket."""
    bare = E_NOTATION.sub("0", _tidy(text)).strip()
    return bool(re.search(r"[\d.)]\s*(?:\*\*|[-+*/^])\s*[-+]?[\d.(]|\(|[A-Za-z%]\s*(?:[-+*/]|\*\*)\s*[\d.(]", bare))


def worked_out(text: str) -> Calculation:
    """The value of a calculation, and its unit; UnitError, with a sentence for the learner, for anything else."""
    if len(text) > MAX_LENGTH:
        raise UnitError(f"a calculation of {len(text)} characters; at most {MAX_LENGTH} were expected", "length")
    tidy = _tidy(text)
    whole = UNIT_AT_END.fullmatch(tidy)
    if whole and not re.search(r"[A-Za-zµμ%$]", E_NOTATION.sub("", whole[1])):
        reader, unit = _Reader(whole[1]), whole[2].strip()
        size, powers = _unit(unit)
        value = reader.all().value * size
        return _within(Calculation(value, powers, f"({whole[1]}) {unit}" if reader.in_parts else ""))
    return _within(_Reader(tidy).all())


def ungrouped(text: str) -> str:
    """The text without the commas or spaces between groups of three digits: "3,850 us" is "3850 us".

    A number that begins with a zero has none: `0,850` stays, for its comma is a decimal one.
    """
    return GROUPED.sub(lambda found: found[1] + re.sub(r"[, ]", "", found[2]), text)


def _tidy(text: str) -> str:
    crossed = re.sub(r"(?<=[\d)])\s*[xX]\s*(?=[\d(])", "*", text.strip())
    return ungrouped(crossed.translate(SIGNS))


def _within(worked: Calculation) -> Calculation:
    if max(worked.value.numerator.bit_length(), worked.value.denominator.bit_length()) > MAX_BITS:
        raise UnitError("the calculation is beyond the range of a float", "range")
    return worked


def _unit(text: str) -> tuple[Fraction, dict[str, int]]:
    measure = parse(f"1 {text}")
    return Fraction(repr(measure.value)), {**dimension(measure.unit), **labels(measure.unit)}


class _Reader:
    """One calculation, read from left to right by the rules of arithmetic."""

    def __init__(self, text: str):
        self.text, self.at, self.depth = text, 0, 0
        self.in_parts = False  # whether it is a sum or a quotient, and not the bracket around one
        self.tokens: list[tuple[str, str]] = []
        self.spans: list[tuple[int, int]] = []  # where each stands in the text
        self.brackets: list[tuple[int, str]] = []  # which a reader might set elsewhere, and where they stand
        place = 0
        while place < len(text.rstrip()):
            match = TOKEN.match(text, place)
            if not match:
                raise UnitError(f"{text[place:].strip()[:1]!r} has no place in a calculation", "character")
            self.tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            self.spans.append(match.span(str(match.lastgroup)))
            place = match.end()

    def all(self) -> Calculation:
        """The whole of it."""
        worked = self._sum()
        if self.at < len(self.tokens):
            raise UnitError(f"something is missing before {self.tokens[self.at][1]!r}", "sign")
        return Calculation(worked.value, worked.powers, self._reading())

    def _reading(self) -> str:
        """The text with the brackets that decide to what a unit belongs; "" where it has none to decide."""
        text = self.text
        for place, bracket in sorted(self.brackets, reverse=True):
            text = text[:place] + bracket + text[place:]
        return text if self.brackets else ""

    def _next(self, *signs: str) -> str:
        kind, what = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind == "sign" and what in signs:
            self.at += 1
            return what
        return ""

    def _sum(self) -> Calculation:
        worked = self._product()
        while sign := self._next("+", "-"):
            self.in_parts |= self.depth == 0
            other = self._product()
            if worked.powers != other.powers:
                raise UnitError(f"{worked.unit} and {other.unit} cannot be added", "sum")
            worked = Calculation(worked.value + (other.value if sign == "+" else -other.value), worked.powers)
        return worked

    def _product(self) -> Calculation:
        start = self.at
        worked = self._with_unit(self._signed())
        while sign := self._next("*", "/"):
            if sign == "*":
                worked = self._with_unit(_times(worked, self._signed()))
            else:
                worked = self._divided(worked, start)
        return worked

    def _divided(self, worked: Calculation, start: int) -> Calculation:
        """What was read since token `start` over what follows, the unit behind it that of all if they have none."""
        self.in_parts |= self.depth == 0
        first = self.at
        divisor = self._signed()
        end, plain = self.at, not self._has_unit(start)
        if plain:
            worked = self._with_unit(_times(worked, _inverse(divisor)))
        else:
            worked = _times(worked, _inverse(self._with_unit(divisor)))
        if self.at > end:
            opening, closing = (start, end) if plain else (first, self.at)
            self.brackets += [(self.spans[opening][0], "("), (self.spans[closing - 1][1], ")")]
        return worked

    def _has_unit(self, start: int) -> bool:
        """Whether there is a unit among the tokens from `start` to here."""
        return any(kind == "unit" for kind, _ in self.tokens[start : self.at])

    def _with_unit(self, worked: Calculation) -> Calculation:
        """What was read, with the unit that follows, if there is one."""
        unit = self._units()
        return _times(worked, Calculation(*_unit(unit))) if unit else worked

    def _signed(self) -> Calculation:
        if self._next("-"):
            worked = self._signed()
            return Calculation(-worked.value, worked.powers)
        return self._signed() if self._next("+") else self._raised()

    def _raised(self) -> Calculation:
        worked = self._atom()
        if self._next("^", "**"):
            exponent = self._signed()
            if exponent.powers or exponent.value.denominator != 1 or abs(exponent.value) > MAX_POWER:
                raise UnitError(f"an exponent is a whole number up to {MAX_POWER}", "power")
            if not worked.value and exponent.value < 0:
                raise UnitError("a division by zero", "zero")
            worked = _power(worked, int(exponent.value))
        return worked

    def _atom(self) -> Calculation:
        """A number or a bracket, without the unit that follows; or a unit alone, as in 4*GB."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnitError("the calculation is nested too deeply", "length")
        kind, what = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind == "unit":
            worked = Calculation(*_unit(self._units()))
        elif kind == "number":
            self.at += 1
            worked = Calculation(Fraction(what.replace("_", "")), {})
        elif self._next("("):
            worked = self._sum()
            if not self._next(")"):
                raise UnitError("a bracket is not closed", "bracket")
        else:
            raise UnitError(f"a number is missing {f'before {what!r}' if what else 'at the end'}", "number")
        self.depth -= 1
        return worked

    def _units(self) -> str:
        """The unit that follows, as far as names go: in `GB/s * 8` it ends with the second."""
        text = ""
        while self.at < len(self.tokens):
            kind, what = self.tokens[self.at]
            after = self.tokens[self.at + 1][0] if self.at + 1 < len(self.tokens) else ""
            if kind == "unit" and what == "per" and text and after == "unit":
                text += "/"
            elif kind == "unit":
                unit = what.replace("**", "^")
                text += unit if not text or text.endswith(("/", "*")) else f"*{unit}"
            elif what in ("/", "*") and text and after == "unit":
                text += what
            else:
                break
            self.at += 1
        return text


def _times(left: Calculation, right: Calculation) -> Calculation:
    powers = {name: left.powers.get(name, 0) + right.powers.get(name, 0) for name in {*left.powers, *right.powers}}
    return _within(Calculation(left.value * right.value, {name: power for name, power in powers.items() if power}))


def _inverse(divisor: Calculation) -> Calculation:
    if not divisor.value:
        raise UnitError("a division by zero", "zero")
    return _power(divisor, -1)


def _power(base: Calculation, exponent: int) -> Calculation:
    size = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    if size * abs(exponent) > MAX_BITS:
        raise UnitError("the calculation is beyond the range of a float", "range")
    return Calculation(base.value**exponent, {name: power * exponent for name, power in base.powers.items()})
