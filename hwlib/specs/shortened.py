"""A value that a file brought, as an error repeats it: cut, on one line, and with nothing that a terminal obeys."""

from typing import Any

MOST = 60  # characters


def short(value: Any) -> str:
    """`repr` of a value, cut.

    >>> short("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    if isinstance(value, int) and abs(value) >= 10**MOST:
        return f"a number of more than {MOST} digits"
    text = repr(value[: 2 * MOST] if isinstance(value, (str, list)) else value)
    return text if len(text) <= MOST else text[: MOST - 3] + "..."


def short_name(name: str) -> str:
    """The name of a field as it stands, where it can be that of a field of ours."""
    return name if name.isidentifier() and len(name) <= MOST else short(name)
