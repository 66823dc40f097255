"""What a grader with a login may send to the page for grades by hand: a grade, or it is refused as none."""

import json
from types import SimpleNamespace

import pytest
from tornado import web

from autograder.course.by_hand.server import MOST_BYTES, NewGrade

GRADE = {"learner": "ann", "given": [1.0], "comment": "well", "revision": "3"}
ODD = {
    "deep": b'{"learner": "ann", "comment": "", "revision": "", "given": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half a character": json.dumps(GRADE | {"comment": "\ud800"}).encode(),
    "half a character in a name": json.dumps(GRADE | {"learner": "\udfff"}).encode(),
    "bytes": b"\xff\xfe\x00",
    "a long number": b'{"given": ' + b"9" * 5000 + b"}",
    "a list": b"[]",
    "a text": b'"learner"',
    "nothing": b"",
    "a number for a comment": json.dumps(GRADE | {"comment": 3}).encode(),
}


def body_of(content):
    return NewGrade._body(SimpleNamespace(request=SimpleNamespace(body=content)))


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_grade_is_refused(odd):
    with pytest.raises(web.HTTPError) as raised:
        body_of(ODD[odd])
    assert raised.value.status_code == 400


def test_a_grade_is_read_and_too_large_a_request_is_not():
    assert body_of(json.dumps(GRADE | {"comment": "\U0001d538"}).encode()) == ("ann", [1.0], "\U0001d538", "3")
    with pytest.raises(web.HTTPError) as raised:
        body_of(b" " * (MOST_BYTES + 1))
    assert raised.value.status_code == 413
