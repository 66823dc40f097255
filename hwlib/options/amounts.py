"""Amounts as people write them: tokens of a batch, bytes of a budget, times, numbers and words to choose from."""

import re
from typing import NamedTuple

from hwlib.units import UnitError, parse, show

POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
MOST_NUMBERS = 256  # of a list: a plan for as many sizes of a machine takes seconds
REPEATED = 60  # characters of a text that an error repeats
DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_NUMBER = r"(\d{1,30}(?:\.\d*)?(?:e\d{1,2})?)\s*"  # so that no power of it is beyond the range of a float


def without_groups(text: str, *, whole: bool = False) -> str:
    """A text without the commas between groups of three digits. Raises ValueError for a comma that may be a decimal
    one: of a number that must be `whole`, alone, none can be.

    >>> without_groups("4,194,304"), without_groups("1,024", whole=True), without_groups("1,024.5")
    ('4194304', '1024', '1024.5')
    """
    text = text.strip()
    sure = r"(,\d{3}){2,}(\.\d*)?|,\d{3}\.\d*" + (r"|,\d{3}" if whole else "")
    if "," in text and not re.fullmatch(rf"[-+]?[1-9]\d{{0,2}}({sure})", text):
        raise ValueError(f"{text!r}: a comma may be read in two ways; expected a point, or neither")
    return text.replace(",", "")


def tokens_of(text: str) -> tuple[int, int | None]:
    """A number of tokens, and those of a sequence where the text says so. Raises ValueError.

    K, M and G are powers of 1024, as batches are:

    >>> tokens_of("4M"), tokens_of("512x8192"), tokens_of("4,194,304")
    ((4194304, None), (4194304, 8192), (4194304, None))
    """
    if pair := re.fullmatch(r"(\d+)x(\d+)", text):
        many, long = map(int, pair.groups())
        return many * long, long
    number = re.fullmatch(_NUMBER + "([kmg]?)", without_groups(text, whole=True).lower())
    if not number:
        raise ValueError(f"{text!r} is not a number of tokens; expected e.g. 4194304, 4M or 512x8192")
    count = float(number[1]) * POWERS[number[2]]
    if count != int(count):
        raise ValueError(f"{text!r} is not a whole number of tokens")
    return int(count), None


def run_tokens_of(text: str) -> float:
    """Tokens of a whole run; the letters are powers of 1000, as papers count. Raises ValueError.

    >>> run_tokens_of("15T"), run_tokens_of("300B")
    (15000000000000.0, 300000000000.0)
    """
    number = re.fullmatch(_NUMBER + "([kmbt]?)", without_groups(text, whole=True).lower())
    if not number or not float(number[1]):
        raise ValueError(f"{text!r} is not a number of tokens; expected e.g. 15T, 300B or 15.6e12")
    return float(number[1]) * DECIMAL[number[2]]


def whole_numbers_of(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas, after which none begins with 0: "1,024" is one number to most who write it.
    At most `MOST_NUMBERS`, for a planner may plan for each. Raises ValueError.

    >>> whole_numbers_of("1,8, 1_024")
    (1, 8, 1024)
    """
    if (count := 1 + text.count(",")) > MOST_NUMBERS:
        raise ValueError(f"{count:,} numbers: expected at most {MOST_NUMBERS} whole numbers separated by commas")
    if re.search(r",\s*0\d", text):
        plain = text.replace(",", "")
        raise ValueError(f"{text!r}: a comma separates two numbers; expected {plain}, or numbers such as 8,16")
    try:
        return tuple(int(word.replace("_", "")) for word in text.split(","))
    except ValueError:
        raise ValueError(f"{text[:REPEATED]!r}: expected whole numbers separated by commas") from None


def words_of(text: str) -> tuple[str, ...]:
    """Words, separated by commas. Raises ValueError.

    >>> words_of("1f1b, zb_h1")
    ('1f1b', 'zb_h1')
    """
    words = tuple(word.strip() for word in text.split(","))
    if not all(words):
        raise ValueError(f"{text!r}: expected words separated by commas")
    return words


class _Usual(NamedTuple):
    """What is written with a unit: its name, an example, and two units that a bare number may have been meant in."""

    name: str
    example: str
    units: tuple[str, str]


_LATENCY = _Usual("time", "50ms", ("ms", "s"))
_BUDGET = _Usual("number of bytes", "72GB", ("GB", "GiB"))
_NAMES = {"s": "time", "B/s": "rate", "1": "share"}
_UNITS = {"s": ("min", "h"), "B/s": ("GB/s", "TB/s")}
_BYTES = 2**20  # from here on a bare number of bytes, or of bytes a second, cannot have been meant as gigabytes


def _amount(text: str, unit: str, usual: _Usual) -> float:
    """A number above 0 with a unit, in SI. Raises ValueError, also for one without a unit, of which only 0 is the same
    in all units.
    """
    try:
        measure = parse(text)
    except UnitError as error:
        raise ValueError(f"{text!r} is not a {usual.name}, e.g. {usual.example}: {error}") from None
    bare = re.fullmatch(r"[-+−\d.,_eE]+", text.strip()) is not None
    if measure.value <= 0 and (bare or measure.unit == unit):
        raise ValueError(f"{text!r} is not a {usual.name} above 0, e.g. {usual.example}")
    if bare:
        raise ValueError(
            f"{text!r} has no unit; expected {' or '.join(_ways(text.strip(), measure.value, unit, usual))}"
        )
    if measure.unit != unit:
        raise ValueError(f"{text!r} is not a {usual.name}, e.g. {usual.example}: it is in {measure.unit}")
    return float(measure.value)


def _ways(number: str, value: float, unit: str, usual: _Usual) -> tuple[str, str]:
    """What a bare number may have been meant to be, in two ways."""
    first, second = usual.units
    if unit == "1":
        return f"{number}%", f"{100 * value:g}%"
    if unit.startswith("B") and value >= _BYTES:
        return f"{number} {unit}", show(value, unit)
    return f"{number} {first}", f"{number} {second}"


def seconds_of(text: str) -> float:
    """A time above 0 that somebody waits, with its unit: 50 may be ms or s. Raises ValueError.

    >>> seconds_of("50ms"), seconds_of("2s")
    (0.05, 2.0)
    """
    return _amount(text, "s", _LATENCY)


def in_unit_of(text: str, unit: str, example: str) -> float:
    """A number above 0 with a unit, of a time of hours, a rate or a share, in SI. Raises ValueError.

    >>> in_unit_of("2TB/s", "B/s", "2TB/s"), in_unit_of("1.5%", "1", "1.5%")
    (2000000000000.0, 0.015)
    """
    return _amount(text, unit, _Usual(_NAMES[unit], example, _UNITS.get(unit, ("%", "%"))))


def spares_of(text: str) -> int | str:
    """A number of nodes kept aside, or what their number is to make least: price or time. Raises ValueError.

    >>> spares_of("8"), spares_of("time")
    (8, 'time')
    """
    if text in ("price", "time"):
        return text
    if not re.fullmatch(r"\d{1,5}", text):
        raise ValueError(f"{text!r}: expected a number of nodes, price or time")
    return int(text)


def bytes_of(text: str) -> float:
    """Bytes above 0 of a text such as "72 GB". Raises ValueError.

    >>> bytes_of("72GB")
    72000000000.0
    """
    if bits := re.fullmatch(r"(.*\d)\s*([A-Za-z]*?)(?:b|bits?)", text.strip()):
        raise ValueError(f"{text!r} is in bits; expected bytes, e.g. {bits[1]} {bits[2]}B")
    return _amount(text, "B", _BUDGET)
