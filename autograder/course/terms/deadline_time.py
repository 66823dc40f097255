"""A point in time as a teacher writes it, read as UTC: an offset or a zone may follow, and without one it is UTC.

A local time that a change of clocks skips, or repeats, is refused: it is no time, or two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from ...book.course_error import CourseError

WRITTEN = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}(?::\d{2})?))?\s*(Z|[+-]\d{2}:?\d{2}|[A-Za-z][\w+-]*(?:/[\w+-]+)*)?",
    re.ASCII,
)
EXAMPLES = "2027-02-01T22:00 (UTC), 2027-02-01T22:00+01:00 or '2027-02-01 22:00 Europe/Berlin'"


@dataclass(frozen=True)
class Moment:
    """A time in UTC, without a zone as the gradebook keeps it, and in which zone it was `written`."""

    utc: datetime
    written: str = "UTC"
    local: datetime | None = None

    @property
    def is_over(self) -> bool:
        """Whether this machine's clock is past it."""
        return self.utc <= datetime.now(UTC).replace(tzinfo=None)

    def __str__(self) -> str:
        if self.local is None:
            return shown(self.utc)
        return f"{shown(self.utc)}, {self.local:%Y-%m-%d %H:%M} in {self.written}"


def shown(utc: datetime) -> str:
    """ "2027-02-01 21:00 UTC", with seconds where there are any."""
    return f"{utc:%Y-%m-%d %H:%M:%S} UTC" if utc.second else f"{utc:%Y-%m-%d %H:%M} UTC"


def read_time(text: str) -> Moment:
    """The time that `text` says; CourseError where it says none, or more than one."""
    match = WRITTEN.fullmatch(text.strip())
    if match is None:
        raise CourseError(f"{text!r} is not a time; one like {EXAMPLES} was expected")
    day, clock, zone = match.groups("")
    hour, _, rest = (clock or "00:00").partition(":")
    try:
        local = datetime.fromisoformat(f"{day}T{hour:0>2}:{rest}")
    except ValueError as error:
        raise CourseError(f"{text!r} is not a time ({error}); one like {EXAMPLES} was expected") from None
    if not zone or zone.upper() in ("Z", "UTC", "GMT"):
        return Moment(local)
    try:
        utc = _one_time(text, local, _zone(text, zone)).astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise CourseError(f"{text!r} is beyond the years 1 to 9999; one like {EXAMPLES} was expected") from None
    return Moment(utc, zone, local)


def _zone(text: str, zone: str) -> tzinfo:
    if zone[0] in "+-":
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        if hours > 14 or minutes > 59:
            raise CourseError(f"{text!r}: {zone} is not an offset from UTC; +01:00 or -05:30 was expected")
        return timezone((timedelta(hours=hours, minutes=minutes)) * (-1 if zone[0] == "-" else 1))
    from zoneinfo import ZoneInfo, available_timezones

    known = available_timezones()
    if zone not in known:
        close = {name.lower(): name for name in known}.get(zone.lower())
        meant = f"did you mean {close}?" if close else "Europe/Berlin or America/New_York, say, was expected"
        raise CourseError(f"{text!r}: {zone} is not a time zone{'' if known else ' that this system knows'}; {meant}")
    return ZoneInfo(zone)


def _one_time(text: str, local: datetime, zone: tzinfo) -> datetime:
    """The local time in its zone, refused where the clocks there show it never or twice."""
    early, late = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    if early.utcoffset() == late.utcoffset():
        return early
    offsets = " or ".join(f"{local:%Y-%m-%dT%H:%M}{one:%z}" for one in (early, late))
    if early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        raise CourseError(f"{text!r}: the clocks there go forward over that time and never show it; say another")
    raise CourseError(f"{text!r}: the clocks there go back, and show that time twice; say which: {offsets}")
