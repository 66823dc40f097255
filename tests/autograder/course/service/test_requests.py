"""What is sent is read with bounds; two answers are one where rounding alone tells them apart."""

import json

import pytest

from autograder.course.service import requests
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


@pytest.mark.parametrize(("length", "read_"), [(0, False), (1, True), (200, True), (201, False)])
def test_a_name_has_a_length(length, read_):
    for name in ("assignment", "exercise"):
        made = body(value=1, **{name: "n" * length})
        if read_:
            assert getattr(read(made), name) == "n" * length
        else:
            with pytest.raises(BadRequest, match="names"):
                read(made)


@pytest.mark.parametrize(("count", "read_"), [(1, True), (60, True), (61, False)])
def test_there_are_at_most_sixty_cells(count, read_):
    made = code(*["x"] * count, answer=count - 1)
    if read_:
        assert len(read(made).code.cells) == count
        assert read(made).code.answer == count - 1
    else:
        with pytest.raises(BadRequest, match="1 to 60 cells"):
            read(made)


@pytest.mark.parametrize("answer", [-1, 2, "0", 0.0, None])
def test_the_answers_cell_is_one_of_those_that_were_sent(answer):
    with pytest.raises(BadRequest, match="number of the answer"):
        read(code("x", "y", answer=answer))
    assert read(code("x", "y", answer=0)).code.answer == 0


@pytest.mark.parametrize("data", [{"cells": "xy", "answer": 0}, ["x"], {"cells": ["x", 1], "answer": 0}, {"answer": 0}])
def test_code_is_cells_that_are_texts(data):
    with pytest.raises(BadRequest, match="each a text"):
        read(body(code=data))


@pytest.mark.parametrize(("more", "read_"), [(-1, True), (0, True), (1, False)])
@pytest.mark.parametrize("nest", [lambda inner: [inner], lambda inner: {"k": inner}], ids=["list", "dict"])
def test_a_value_is_nested_as_deep_as_one_can_be_that_was_encoded(more, read_, nest):
    value = 1
    for _ in range(3 * encoding.MAX_DEPTH - 1 + more):
        value = nest(value)
    if read_:
        assert read(body(value=value)).value == value
    else:
        with pytest.raises(BadRequest, match="less deep"):
            read(body(value=value))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(1.0, 1.0000000004, True), (1.0, 1.0000000006, False), (1.2345678901, 1.2345678904, True)],
)
def test_numbers_are_the_same_to_ten_digits(one, other, same):
    first, second = (read(body(value={"$": [value]})).digest for value in (one, other))
    assert (first == second) == same


def test_the_bounds_are_those_that_the_server_states():
    assert (requests.MAX_BODY, requests.MAX_CELLS, requests.MAX_NAME, requests.DIGITS) == (262144, 60, 200, 10)
