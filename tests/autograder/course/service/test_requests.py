"""What is sent is read with bounds; two answers are one where rounding alone tells them apart."""

import json

import pytest

from autograder.course.service.requests import MAX_CELLS, BadRequest, read
from autograder.values import encoding


def body(**parts):
    return json.dumps({"assignment": "w", "exercise": "a-b", **parts}).encode()


def code(*cells, answer=0):
    return body(code={"cells": list(cells), "answer": answer})


JUNK = {
    "nothing": b"",
    "no JSON": b"\xff\xfe\x00",
    "deep": b'{"assignment":"w","exercise":"a-b","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a list": b"[]",
    "nan": b'{"assignment":"w","exercise":"a-b","value":NaN}',
    "a long number": b'{"assignment":"w","exercise":"a-b","value":' + b"9" * 100_000 + b"}",
    "no names": b'{"value": 1}',
    "an id that is a list": body(exercise=["a-b"], value=1),
    "an id that is long": body(exercise="a" * 100_000, value=1),
    "no answer": body(),
    "both": body(value=1, code={"cells": ["x"], "answer": 0}),
    "whose it is": body(value=1, learner="bob"),
    "no cells": code(),
    "too many cells": code(*["x"] * (MAX_CELLS + 1)),
    "cells that are none": body(code={"cells": [1], "answer": 0}),
    "a cell that is not there": code("x", answer=1),
    "a cell before the first": code("x", answer=-1),
    "a bool for a number": body(code={"cells": ["x", "y"], "answer": True}),
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_junk_is_refused_with_what_was_expected(junk):
    with pytest.raises(BadRequest, match="expected"):
        read(junk)


@pytest.mark.parametrize(
    "value", [2.5, 10**400, "1 GB", (1, [2.0, {"a": ...}]), float("inf"), "\udc80 \0 ﷽", None], ids=str
)
def test_what_a_notebook_sends_is_read(value):
    message = json.loads(json.dumps(encoding.encode(value)))
    assert read(body(value=message)).value == message


def test_an_answer_that_differs_by_rounding_alone_is_the_same():
    same = [read(body(value=value)).digest for value in (0.1 + 0.2, 0.3, 0.30000000000001)]
    assert len(set(same)) == 1
    nested = [read(body(value={"$": "list", "v": [value]})).digest for value in (0.1 + 0.2, 0.3)]
    assert len(set(nested)) == 1
    others = [read(body(value=value)).digest for value in (0.3, 0.3001, 3, "0.3", [0.3], None)]
    assert len(set(others)) == 6


def test_cells_are_an_answer_by_their_text_and_place():
    asked = [code("x = 1", "y = 2"), code("x = 1", "y = 2", answer=1), code("x = 1\ny = 2"), code("y = 2", "x = 1")]
    assert len({read(one).digest for one in asked}) == 4
    assert read(code("\udc80")).code.cells == ["?"]
