"""The times of Moodle's worksheet, in the forms in which it writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from autograder.course.moodle.moodle_times import read

ZONE = timezone(timedelta(hours=2))
WHEN = datetime(2030, 1, 7, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Monday, 7 January 2030, 10:00 AM",
        "Monday, January 7, 2030, 10:00 AM",
        "  Monday,  7 January 2030, 10:00 AM ",
        "January 7, 2030, 10:00 AM",  # its first comma ends no weekday
        "7 Jan 2030 10:00",
        "2030-01-07 10:00:00",
        "07/01/2030, 10:00",
    ],
)
def test_a_time_is_read_in_the_zone_of_the_worksheet(text):
    assert read(text, ZONE) == WHEN


@pytest.mark.parametrize("text", ["", "-", "  ", " - "])
def test_a_cell_without_a_time_has_none(text):
    assert read(text, ZONE) is None


@pytest.mark.parametrize("text", ["--", "soon", "Monday, soon", "32 January 2030, 10:00 AM"])
def test_what_is_not_a_time_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        read(text, ZONE)
