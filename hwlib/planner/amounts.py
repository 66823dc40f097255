"""Amounts as people write them: tokens of a batch, bytes of a budget, times, numbers and words to choose from."""

import re

from hwlib.units import UnitError, parse

POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def tokens_of(text: str) -> tuple[int, int | None]:
    """A number of tokens, and those of a sequence where the text says so. Raises ValueError.

    K, M and G are powers of 1024, as batches are:

    >>> tokens_of("4M"), tokens_of("512x8192"), tokens_of("4,194,304")
    ((4194304, None), (4194304, 8192), (4194304, None))
    """
    if pair := re.fullmatch(r"(\d+)x(\d+)", text):
        many, long = map(int, pair.groups())
        return many * long, long
    found = re.fullmatch(r"(\d+(?:\.\d*)?(?:e\d{1,2})?)\s*([kmg]?)", text.strip().replace(",", "").lower())
    if not found:
        raise ValueError(f"{text!r} is not a number of tokens, e.g. 4194304, 4M or 512x8192")
    count = float(found[1]) * POWERS[found[2]]
    if count != int(count):
        raise ValueError(f"{text!r} is not a whole number of tokens")
    return int(count), None


def whole_numbers_of(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas. Raises ValueError.

    >>> whole_numbers_of("1,8, 1_024")
    (1, 8, 1024)
    """
    try:
        return tuple(int(word.replace("_", "")) for word in text.split(","))
    except ValueError:
        raise ValueError(f"{text!r}: expected whole numbers separated by commas") from None


def words_of(text: str) -> tuple[str, ...]:
    """Words, separated by commas. Raises ValueError.

    >>> words_of("1f1b, zb_h1")
    ('1f1b', 'zb_h1')
    """
    words = tuple(word.strip() for word in text.split(","))
    if not all(words):
        raise ValueError(f"{text!r}: expected words separated by commas")
    return words


def seconds_of(text: str) -> float:
    """A time above 0: "50ms", or a number of seconds. Raises ValueError.

    >>> seconds_of("50ms"), seconds_of("2")
    (0.05, 2.0)
    """
    try:
        found = parse(text)
    except UnitError as error:
        raise ValueError(f"{text!r} is not a time, e.g. 50ms: {error}") from None
    if found.unit not in ("s", "1") or not found.value > 0:
        raise ValueError(f"{text!r} is not a time above 0, e.g. 2s or 50ms")
    return float(found.value)


def bytes_of(text: str) -> float:
    """Bytes of a text such as "72 GB". Raises ValueError.

    >>> bytes_of("72GB")
    72000000000.0
    """
    try:
        found = parse(text)
    except UnitError as error:
        raise ValueError(f"{text!r} is not a number of bytes, e.g. 72GB: {error}") from None
    if found.unit not in ("B", "1"):
        raise ValueError(f"{text!r} is not a number of bytes, e.g. 72GB")
    if found.unit == "1" and 0 < found.value < 2**20:  # GB were meant
        raise ValueError(f"{text!r} has no unit and would mean bytes; expected e.g. 72GB")
    return found.value
