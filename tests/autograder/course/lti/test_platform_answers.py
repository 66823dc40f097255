"""A hostile platform of LTI: its answers are read to a largest size, and what is wrong with them is one sentence."""

import pytest

from autograder.course.lti import columns, connection


def items(joined):
    return columns.of_assignment(joined, "hw")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((200, {}, [{"id": "http://[x"}]), "address"),
        ((200, {"Link": '<http://[x>; rel="next"'}, []), "address"),
        ((200, {}, b'[{"id": "items/1", "label": "\\ud800"}]'), "JSON"),
        ((200, {}, b"[" * 100_000), "JSON"),
    ],
)
def test_what_no_address_or_text_can_be_is_a_sentence(platform, joined, reply, error):
    platform.faults["GET", "items"] = [reply]
    with pytest.raises(ValueError, match=error) as caught:
        items(joined)
    assert isinstance(caught.value, connection.CourseError)


@pytest.mark.parametrize("token", ["\u2603", "a\r\nX-Other: b"])
def test_a_token_that_no_header_holds_is_none(platform, joined, token):
    platform.faults["POST", "token"] = [(200, {}, {"access_token": token})]
    with pytest.raises(connection.CourseError, match="without a token"):
        items(joined)


@pytest.mark.parametrize(("digits", "maximum"), [(300, 1e300), (400, 0.0)])
def test_a_maximum_that_no_float_holds_is_none(platform, joined, digits, maximum):
    row = {"id": "items/1", "label": "hw", "tag": "gpubook", "resourceId": "hw", "scoreMaximum": 10**digits}
    platform.faults["GET", "items"] = [(200, {}, [row])]
    assert items(joined).maximum == maximum


@pytest.mark.parametrize("beyond", [0, 1])
def test_an_answer_is_read_to_its_largest_size(platform, joined, beyond, monkeypatch):
    monkeypatch.setattr(connection, "MOST_BYTES", 1 << 17)
    platform.faults["GET", "items"] = [(200, {}, b"[" + b" " * ((1 << 17) - 2 + beyond) + b"]")]
    if not beyond:
        assert items(joined) is None
        return
    with pytest.raises(connection.Lost, match="without an end"):
        items(joined)
