"""The table of fields, `fields.csv`: what each program prints, in which unit, and what of a `RunLog` it is."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).resolve().with_name("fields.csv")
UNITS = {
    **dict.fromkeys(("", "words", "s", "B", "FLOP/s", "tokens", "sequences"), 1.0),
    **dict.fromkeys(("tokens/s", "samples/s", "steps/s", "requests/s"), 1.0),
    **{"ms": 1e-3, "h": 3600.0, "%": 0.01},
    **{"TFLOP/s": 1e12, "GB": 1e9, "1e6": 1e6},
    **{"GiB": 2.0**30, "MiB": 2.0**20},
}
"""The units of the table, in SI."""
MOST_NAMES = 10_000  # of a program that are remembered
HOLDERS = ("step", "setting", "benchmark", "timer", "event")
MOST = 1e30  # no quantity of a run is above it: such a number was mangled
LONGEST = 400  # characters of a number
PLAIN = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?")
"""What a number looks like as programs print it; others are taken apart."""


class LogField(NamedTuple):
    """A field of a program: its `name` there, where it is held (HOLDERS) and as what, its unit, its meaning, the
    releases or dates since and until when it is printed, and where that was read.
    """

    program: str
    name: str
    holder: str
    quantity: str
    unit: str
    meaning: str
    since: str
    until: str
    source: str

    def number(self, text: str) -> float | None:
        """The number that a text says, in SI; None where it says none, or one that no run has."""
        value = number_of(text)
        return None if value is None or not abs(value) < MOST else value * UNITS[self.unit]


@cache
def log_fields() -> tuple[LogField, ...]:
    """The whole table.

    >>> {field.unit for field in log_fields() if field.name == "elapsed time per iteration (ms)"}
    {'ms'}
    """
    return tuple(LogField(**row) for row in csv.DictReader(StringIO(TABLE.read_text("utf-8"))))


@cache
def fields_of(program: str, holder: str) -> dict[str, LogField]:
    """The fields of a program that are held in the same way, by the `key_of` their names."""
    mine = (field for field in log_fields() if (field.program, field.holder) == (program, holder))
    return {key_of(field.name): field for field in mine}


def key_of(name: str) -> str:
    """A name in small letters without spaces: a terminal that cuts a line may have eaten one."""
    return "".join(name.lower().split())


def number_of(text: str) -> float | None:
    """The number at the start of a text, thousands apart by commas or not, whatever unit follows; None if it is none or
    not finite.

    >>> number_of("10,049"), number_of("13.99%"), number_of("nan"), number_of("9.02GB")
    (10049.0, 13.99, None, 9.02)
    """
    digits = text.strip()[:LONGEST].replace(",", "")
    end = 0
    while end < len(digits) and digits[end] in "0123456789.+-eE":
        end += 1
    while end and digits[end - 1] not in "0123456789.":
        end -= 1
    try:
        value = float(digits[:end])
    except ValueError:
        return None
    return value if isfinite(value) else None


def is_nan(text: str) -> bool:
    """Whether a text says that a value is not a number, or infinite."""
    return text.strip().lower().lstrip("+-").startswith(("nan", "inf"))


def quantities(program: str, pairs: Iterable[tuple[str, str]], holder: str) -> Iterator[tuple[str, float]]:
    """The quantities of pairs of a name and a text, as far as the table knows the names; a loss that is not a number is
    passed on as one.
    """
    known = _fields_by_name(program, holder)
    for name, text in pairs:
        field = known[name]
        if field is None:
            continue
        value = float(text) * UNITS[field.unit] if PLAIN.fullmatch(text) else field.number(text)
        if value is not None:
            yield field.quantity, value
        elif field.quantity in ("loss", "grad_norm") and is_nan(text):
            yield field.quantity, float("nan")


class _Names(dict[str, LogField | None]):
    """Fields by their names as a program writes them, with any spaces and letters."""

    def __init__(self, fields: Mapping[str, LogField]):
        super().__init__()
        self.fields = fields

    def __missing__(self, name: str) -> LogField | None:
        field = self.fields.get(key_of(name))
        if len(self) < MOST_NAMES:
            self[name] = field
        return field


@cache
def _fields_by_name(program: str, holder: str) -> _Names:
    return _Names(fields_of(program, holder))
