"""Two numbers that differ, written with as many digits as it takes to see that they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

FEWEST, MOST = 6, 17  # digits: 17 tell any two floats apart


def apart(
    first: Any, second: Any, write: Callable[[Any, int], str], digits: Iterable[int] = range(FEWEST, MOST + 1)
) -> tuple[str, str]:
    """Both as `write(number, digits)` has them, with the fewest digits that make a difference; else with the most.

    >>> apart(1.0, 2.0, written), apart(1.0397612, 1.0397613, written)
    (('1', '2'), ('1.0397612', '1.0397613'))
    """
    texts = ("", "")
    for count in digits:
        texts = write(first, count), write(second, count)
        if texts[0] != texts[1]:
            break
    return texts


def written(number: Any, digits: int) -> str:
    """A number with so many digits; a whole one that has more is written out at the most."""
    if digits == MOST and float(number).is_integer():
        return str(int(number))
    return f"{number:.{digits}g}"
