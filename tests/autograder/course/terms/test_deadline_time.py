"""A time as a teacher writes it: with an offset, a zone or neither, and none that the clocks show twice or never."""

from datetime import datetime

import pytest

from autograder.book.course_error import CourseError
from autograder.course.terms.deadline_time import read_time


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2027-02-01T22:00", datetime(2027, 2, 1, 22)),
        ("2027-02-01", datetime(2027, 2, 1)),
        ("2027-02-01 9:05:07", datetime(2027, 2, 1, 9, 5, 7)),
        ("2027-02-01T22:00Z", datetime(2027, 2, 1, 22)),
        ("2027-02-01 22:00 UTC", datetime(2027, 2, 1, 22)),
        ("2027-02-01T22:00+01:00", datetime(2027, 2, 1, 21)),
        ("2027-02-01T22:00-05:30", datetime(2027, 2, 2, 3, 30)),
        ("2027-02-01 22:00 Europe/Berlin", datetime(2027, 2, 1, 21)),
        ("2027-07-01 22:00 Europe/Berlin", datetime(2027, 7, 1, 20)),
        ("2027-10-31T02:30+02:00", datetime(2027, 10, 31, 0, 30)),
    ],
)
def test_a_time_is_read_as_utc(written, utc):
    assert read_time(written).utc == utc
    assert read_time(str(read_time(written)).split(",")[0]).utc == utc  # and shown as it can be read again


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("tomorrow", "2027-02-01T22:00"),
        ("2027-02-30", "day"),
        ("2027-02-01 25:00", "hour"),
        ("2027-02-01 22:00 Europe/Atlantis", "not a time zone"),
        ("2027-02-01 22:00 europe/berlin", r"did you mean Europe/Berlin\?"),
        ("2027-02-01 22:00+99:00", "offset"),
        ("2027-02-01 22:00 ../../etc/passwd", "2027-02-01T22:00"),
        ("0001-01-01 00:00+01:00", "years"),
        ("2027-03-28 02:30 Europe/Berlin", "forward"),
        ("2027-10-31 02:30 Europe/Berlin", r"2027-10-31T02:30\+0200 or 2027-10-31T02:30\+0100"),
    ],
)
def test_what_is_not_one_time_is_refused_with_what_was_expected(written, says):
    with pytest.raises(CourseError, match=says):
        read_time(written)
