"""A progress.json from somebody else is read in bounds, and holds only what a browser can read again."""

import pytest

from autograder.learner import record
from tests.abuse.test_long_texts import bounded

TIME = "2026-03-01T12:00:00.000Z"
PREDICTION = '{"format": 2, "exercises": {"a": {"prediction": {"answer": %s, "source": "", "time": "' + TIME + '"}}}}'
UNKNOWN = '{"format": 2, "exercises": {"a": {"new": [%s]}}}'


@pytest.mark.parametrize("number", ["1" + "0" * 309, "-1" + "0" * 309, "1e309", "NaN", "-Infinity"])
@pytest.mark.parametrize("text", [PREDICTION, UNKNOWN])
def test_a_number_that_a_browser_has_not_is_refused(text, number):
    with pytest.raises(record.BadRecord, match=r"mine\.json"):
        record.read(text % number, "mine.json")


@pytest.mark.parametrize("number", ["1" + "0" * 308, "-1e308", "0.1", "18446744073709551616"])
@pytest.mark.parametrize("text", [PREDICTION, UNKNOWN])
def test_any_other_number_stays(text, number):
    data = record.read(text % number)
    assert record.read(record.written(data)) == data


def test_a_time_of_an_older_format_that_is_none_is_refused():
    text = '{"format": 1, "predictions": {"a": {"answer": 1, "time": "9999-12-31T23:59:59-14:00"}}}'
    with pytest.raises(record.BadRecord):
        record.read(text)


@pytest.mark.parametrize("value", ["{},", '"",', "[" * 100 + "]" * 100 + ","])
def test_a_record_of_too_many_values_is_refused_before_they_are_made(value):
    begin, end = '{"format": 2, "exercises": {}, "a": [', "0]}"
    text = begin + value * ((record.MAX_SIZE - len(begin + end)) // len(value)) + end

    def read():
        with pytest.raises(record.BadRecord, match="values in it"):
            record.read(text)

    bounded(read)


def test_a_record_has_a_largest_size():
    text = '{"format": 2, "exercises": {}}'
    assert record.read(text.ljust(record.MAX_SIZE)) == record.empty()
    with pytest.raises(record.BadRecord, match="too large"):
        record.read(text.ljust(record.MAX_SIZE + 1))
