"""Whether the numbers given for a symbol are in its domain, and the error that says which are not."""

from collections.abc import Iterator
from typing import Any

from hwlib.notation import NOTATION
from hwlib.units import COUNTS


def check_domain(who: str, letter: str, x: Any) -> None:
    """Raise ValueError for a number, or an element of an array or a sequence, outside the symbol's domain.

    `who` names the function in the message. Symbolic values pass, because their numbers are not known yet.

    >>> check_domain("ring_time", "n", 0)
    Traceback (most recent call last):
    ValueError: ring_time: n (ranks in the group) is at least 1, got 0
    """
    domain = NOTATION[letter].domain
    if type(x) in (int, float):
        if not domain.has(x):
            raise _refusal(who, letter, x)
    elif getattr(x, "ndim", 0) and getattr(x.dtype, "kind", "f") == "f":  # torch's dtypes have no kind
        if not (fits := domain.has(x)).all():
            raise _refusal(who, letter, next(iter(x[~fits])))
    else:
        for value in _numbers(x):
            try:
                fits = not isinstance(value, complex) and domain.has(value)
            except (TypeError, ArithmeticError):  # a string; a Decimal that is not a number
                fits = False
            if not fits:
                raise _refusal(who, letter, value)


def _numbers(x: Any) -> Iterator[Any]:
    """The numbers in a number, an array or a nested sequence, without the symbolic ones."""
    if hasattr(x, "free_symbols"):
        return
    if hasattr(x, "__iter__") and getattr(x, "ndim", True) and not isinstance(x, str):
        for element in x:
            yield from _numbers(element)
    else:
        yield x


def _refusal(who: str, letter: str, x: Any) -> ValueError:
    _, unit, meaning, domain = NOTATION[letter]
    of = "" if unit in ("1", *COUNTS) else f" {unit}"
    got = repr(x) if isinstance(x, str) else x
    return ValueError(f"{who}: {letter} ({meaning}) is {domain}{of}, got {got}")
