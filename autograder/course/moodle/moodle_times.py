"""The times of Moodle's worksheet, which it writes as words, in the time zone of whoever downloaded it."""

from datetime import UTC, datetime, tzinfo

DAYS = ("%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%Y-%m-%d", "%d/%m/%Y")
HOURS = ("%I:%M %p", "%H:%M", "%I:%M:%S %p", "%H:%M:%S")
FORMS = [f"{day}{comma} {hour}" for day in DAYS for comma in (",", "") for hour in HOURS]
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def read(text: str, zone: tzinfo) -> datetime | None:
    """The moment in UTC, to the minute; None for a cell without one. ValueError for what is no time.

    "Monday, 7 January 2030, 10:00 AM" and "Monday, January 7, 2030, 10:00 AM" are Moodle's own.
    """
    words = " ".join(text.split())
    if words in ("", "-"):
        return None
    first, comma, rest = words.partition(", ")
    time_text = rest if comma and first.startswith(WEEKDAYS) else words
    for form in FORMS:
        try:
            return datetime.strptime(time_text, form).replace(tzinfo=zone).astimezone(UTC)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is not a time; one like 'Monday, 7 January 2030, 10:00 AM' was expected")
