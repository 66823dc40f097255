"""The fields of a record: what each means, which values it may have, and how one is read.

Every field is bounded, so that no record makes work without end. Reasons: those of `values.numbers` and of a Quantity;
out-of-range, not-whole, not-an-option, not-a-list, no-items, too-many-items.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from random import Random
from typing import Any

from ..declaration.verdict import DeclarationError
from ..values.numbers import Unreadable, as_float, described
from ..values.slips import SECONDS, TIMES
from ..values.texts import quoted
from .count import power_worked_out
from .quantity import Quantity, has_letters

MOST_ITEMS = 1000
SHOWN_ITEMS = 12  # of a list, where it is said back
GROUPS = re.compile(r"[-+−]?[1-9]\d{0,2}(,\d{3})+")  # 2,520 of what is counted
PLAIN = re.compile(r"[-+−]?[\d.,_]+(?:[eE][-+−]?\d+)?")  # without a unit
OF_TIME, MANY = ("us", "ms", "min", "h", "day", "year"), ("day", "year")  # of which a number is shown as it is
NAMED = {"seconds": "s", "minutes": "min", "hours": "h", "days": "day", "years": "year"}  # fields without a unit
EXACT = 10**15  # an integer from which on a sentence rounds it


@dataclass(frozen=True)
class Field:
    """One field: a number in `unit` from `least` to `most`, an integer where it is `whole`; or one of the texts
    `options`. With `items` it is a list of one to so many of these. The model takes the number in that unit, of SI or
    not: with "h", 12 and "12 h" and "720 min" are twelve."""

    meaning: str
    least: float = 0
    most: float = 0
    unit: str = "1"
    whole: bool = False
    options: Sequence[str] = ()
    items: int = 0

    def declare(self, where: str) -> None:
        """Raise DeclarationError where it cannot be what it should."""
        words = self.meaning
        if not isinstance(words, str) or not words.strip() or not words.isprintable() or "|" in words:
            raise DeclarationError(f"{where}: meaning is {words!r}; one line of words without | was expected")
        if isinstance(self.options, str) or not all(isinstance(one, str) for one in self.options):
            raise DeclarationError(f"{where}: options is {self.options!r}; a tuple of texts was expected")
        if not self.options and not -math.inf < self.least < self.most < math.inf:
            raise DeclarationError(
                f"{where}: from {self.least} to {self.most}; least < most, which bound the work, were expected"
            )
        if not isinstance(self.items, int) or not 0 <= self.items <= MOST_ITEMS:
            raise DeclarationError(f"{where}: items is {self.items!r}; at most {MOST_ITEMS} were expected")

    def public(self) -> dict[str, Any]:
        """It as JSON."""
        return {**asdict(self), "options": list(self.options)}

    def read(self, value: Any, name: str = "") -> Any:
        """The value as the model takes it: an int, a float, a text, or a list of them; Unreadable says what came and
        what was expected. Behind a number without a unit the field's own `name` may stand, "72 GPUs" for `gpus`."""
        return self._several(value, name) if self.items else self._one(value, name)

    def shown(self, value: Any) -> str:
        """A value that was read, for a sentence."""
        if self.items:
            cut = ", …" if len(value) > SHOWN_ITEMS else ""
            return f"[{', '.join(map(self._shown, value[:SHOWN_ITEMS]))}{cut}]"
        return self._shown(value)

    @property
    def allowed(self) -> str:
        """Which values it may have, in Markdown."""
        if self.options:
            some = " or ".join(f'`"{one}"`' for one in self.options)
        else:
            some = f"{self._shown(self.least)} to {self._shown(self.most)}{', whole' if self.whole else ''}"
        return f"a list of 1 to {self.items}, each {some}" if self.items else some

    def drawn(self, rng: Random) -> Any:
        """Some value that it may have; the ends of its range are likely."""
        return [self._drawn(rng) for _ in range(rng.randint(1, self.items))] if self.items else self._drawn(rng)

    def _drawn(self, rng: Random) -> Any:
        if self.options:
            return rng.choice(self.options)
        value = rng.choice([self.least, self.most, self.least + rng.random() ** 3 * (self.most - self.least)])
        return math.floor(value) if self.whole else float(value)

    def _several(self, value: Any, name: str) -> list[Any]:
        kind = type(value)
        if kind.__name__ == "ndarray" and kind.__module__ == "numpy" and value.ndim == 1:
            value = value[: self.items + 1].tolist()
        if type(value) not in (list, tuple):
            raise Unreadable(f"{described(value)}; a list was expected", reason="not-a-list")
        if not value:
            raise Unreadable("an empty list; an entry or more was expected", reason="no-items")
        if len(value) > self.items:
            say = f"a list of {len(value):,} entries; at most {self.items:,} were expected"
            raise Unreadable(say, reason="too-many-items")
        return [self._one(one, name) for one in value]

    def _one(self, value: Any, name: str) -> Any:
        if self.options:
            return self._option(value)
        exact = self._exact(self._plain(value, name) if type(value) is str else value)
        if self.whole and exact.denominator != 1:
            say = f"{self._shown(as_float(exact))} is not whole; an integer was expected"
            raise Unreadable(say, reason="not-whole")
        if not Fraction(self.least) <= exact <= Fraction(self.most):
            say = f"{self._shown(exact)}; {self._shown(self.least)} to {self._shown(self.most)} was expected"
            if unit_of(self, name) in SECONDS and not (type(value) is str and has_letters(value)):
                say += f", and a number without a unit is read in {TIMES.get(unit_of(self, name), self.unit)}"
            raise Unreadable(say, reason="out-of-range")
        return int(exact) if self.whole else as_float(exact)

    def _exact(self, value: Any) -> Fraction:
        """The number in the field's unit."""
        from hwlib.units import parse

        scale = parse(f"1 {self.unit}" if self.unit not in ("", "1") else "1")
        if scale.value == 1:
            return Quantity(self.unit).read(value)
        if type(value) is not str or PLAIN.fullmatch(value.strip()):
            return Quantity("1").read(value)
        return Fraction(as_float(Quantity(scale.unit).read(value)) / scale.value)

    def _plain(self, text: str, name: str) -> str:
        """A text without the field's name behind its number; of a count without commas and powers as well."""
        named = {name.lower(), name.lower().removesuffix("s")} if self.unit in ("", "1") else set()
        word = re.fullmatch(r"(.*\d)\s*([A-Za-z]+)", text.strip())
        if word and word[2].lower() in named:
            text = word[1]
        if not self.whole:
            return text
        return power_worked_out(text.replace(",", "") if GROUPS.fullmatch(text.strip()) else text)

    def _option(self, value: Any) -> str:
        text = value.strip() if type(value) is str else None
        if text not in self.options:
            some = " or ".join(map(quoted, self.options))
            raise Unreadable(f"{described(value)}; {some} was expected", reason="not-an-option")
        return str(text)

    def _shown(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        if self.unit in OF_TIME:
            return f"{shown_number(value, '1')} {self.unit}{'s' if self.unit in MANY and value != 1 else ''}"
        return shown_number(value, self.unit)


def unit_of(field: Field, name: str) -> str:
    """The unit of a field's numbers; where it has none, that of a time by which it is named, such as `days`."""
    return NAMED.get(name, "1") if field.unit in ("", "1") else field.unit


def shown_number(value: Any, unit: str) -> str:
    """A number with its unit, however large it is."""
    from hwlib.units import show

    if unit not in ("", "1"):
        return show(as_float(Fraction(value)) if abs(value) < math.inf else float(value), unit, 4)
    if abs(value) < EXACT:
        if value == int(value) or abs(value) >= 99_999:
            return f"{round(value):,}"
        return f"{float(value):.5g}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value:g}"  # as with a unit: no fraction is infinite
    size = as_float(Fraction(value))
    return f"about {size:.3g}" if math.isfinite(size) else "more than 1e308"


def fields_from(public: Mapping[str, Mapping[str, Any]]) -> dict[str, Field]:
    """The fields of a public record."""
    return {name: Field(**{**one, "options": tuple(one["options"])}) for name, one in public.items()}
