"""Releases of software by year and month, as NVIDIA counts them: "26.02.01" is the first patch of February 2026."""

import re
from typing import NamedTuple

FORM = "a release such as 26.04 or 26.02.01: year, month, patch"
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


class Release(NamedTuple):
    """A year of this century, a month from 1 to 12, and the number of a patch; the later one is the greater."""

    year: int
    month: int
    patch: int = 0

    @property
    def date(self) -> str:
        """Month and year, in words.

        >>> release_of("26.06.01").date
        'June 2026'
        """
        return f"{MONTHS[self.month - 1]} 20{self.year:02}"

    def __str__(self) -> str:
        patch = f".{self.patch:02}" if self.patch else ""
        return f"{self.year:02}.{self.month:02}{patch}"


def release_of(text: str) -> Release:
    """The release that a text names. Raises ValueError.

    >>> release_of("26.02") < release_of("26.02.01") < release_of("26.04")
    True
    """
    match = re.fullmatch(r"(\d\d)\.(\d\d)(?:\.(\d\d?))?", text.strip()) if isinstance(text, str) else None
    if not match or not 1 <= int(match[2]) <= 12:
        raise ValueError(f"expected {FORM}, got {text!r}")
    return Release(*(int(digits or 0) for digits in match.groups()))
