import json
import math
import sys
import time
from collections import OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.values import encoding, trees
from hwlib import plain

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner)
    ),
    max_leaves=20,
)


def through(value):
    return encoding.decode(json.loads(json.dumps(encoding.encode(value))))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_what_is_plain_comes_back_with_its_types(value):
    back = through(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (..., ...),
        (np.float64(1.5), 1.5),
        (np.int32(7), 7),
        (np.bool_(True), True),
        (np.str_("NV18"), "NV18"),
        (np.array([["X", "NV18"], ["NV18", "X"]]), [["X", "NV18"], ["NV18", "X"]]),
        ({np.str_("a"): 1}, {"a": 1}),
        (OrderedDict(a=1, b=[2]), {"a": 1, "b": [2]}),
        (namedtuple("Fit", "alpha W")(2e-6, 4e11), (2e-6, 4e11)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (math.inf, math.inf),
        (2**200, 2**200),
        (-(2**60), -(2**60)),
        (3 + 4j, 3 + 4j),
    ],
)
def test_numbers_of_other_libraries_become_builtin(value, back):
    assert through(value) == back
    assert type(through(value)) is type(back)


@pytest.mark.parametrize("under", ["0x0", "0x00", "-0x000"])
def test_a_fraction_over_zero_is_no_number(under):
    assert math.isnan(encoding.decode({"$": "fraction", "v": ["0x1", under]}))


SEVERAL = [
    None,
    True,
    0,
    -(2**60),
    2**200,
    1.5,
    math.inf,
    3 + 4j,
    "text",
    "\ud800",
    ...,
    Fraction(1, 3),
    Decimal("0.1"),
    [1, (2.0, [None])],
    {"a": [1], (1, 2): "b"},
    OrderedDict(a=1),
    namedtuple("Fit", "alpha W")(2e-6, 4e11),
    [],
    np.float32(1.5),
    np.bool_(True),
    [np.arange(3), {"x": np.ones((2, 1))}],
    "x" * encoding.MAX_TEXT,
    "\u00b5s",
    "\ud800",
]
ARRAYS = [np.arange(6).reshape(2, 3).T, np.array(2.5), np.zeros((0, 3)), np.array([1, 2], ">i4"), np.eye(3)[::2]]


@pytest.mark.parametrize("value", [*SEVERAL, *ARRAYS, *(np.ones(2, name) for name in encoding.ITEM_BYTES)], ids=repr)
def test_what_is_plain_is_what_comes_through_a_message(value):
    direct, sent = encoding.plain(value), encoding.decode(encoding.encode(value))
    assert (type(direct), repr(direct)) == (type(sent), repr(sent))
    if isinstance(sent, np.ndarray):
        assert (direct.dtype.str, direct.flags.c_contiguous, direct.flags.writeable) == (sent.dtype.str, True, True)
        assert direct.base is None
        assert not np.shares_memory(direct, value)


@pytest.mark.parametrize(
    "value",
    [object(), "x" * (encoding.MAX_TEXT + 1), [open], {"a": {1}}, np.array([None]), np.zeros(1, "M8[s]"), [[int]]],
)
def test_what_is_not_plain_is_refused_with_the_sentence_of_a_message(value):
    sentences = []
    for way in (encoding.plain, lambda one: encoding.decode(encoding.encode(one))):
        try:
            sentences.append(repr(way(value)))
        except (encoding.NotEncodable, encoding.BadMessage) as error:
            sentences.append(str(error))
    assert sentences[0] == sentences[1]


def test_what_is_plain_is_as_large_and_as_deep_as_a_message():
    def nested(depth):
        return [nested(depth - 1)] if depth else 1

    endless = []
    endless.append(endless)
    assert encoding.plain(nested(encoding.MAX_DEPTH)) == nested(encoding.MAX_DEPTH)
    assert len(encoding.plain([1] * (encoding.MAX_NODES - 1))) == encoding.MAX_NODES - 1
    for value in (nested(encoding.MAX_DEPTH + 1), endless, [1] * encoding.MAX_NODES):
        with pytest.raises(encoding.NotEncodable):
            encoding.plain(value)
    with pytest.raises(encoding.NotEncodable, match="an array of"):
        encoding.plain(np.zeros(encoding.MAX_BYTES // 8 + 1))


def test_arrays_of_the_small_numpy_are_plain(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", plain)
    array = plain.array([[1.5, 2.5], [3.5, 4.5]])
    copy = encoding.plain([array.T])[0]
    array[0, 1] = 9.0
    assert (copy.tolist(), copy.dtype.name) == ([[1.5, 3.5], [2.5, 4.5]], "float64")


def test_nan_comes_back_as_nan():
    assert math.isnan(through(math.nan))


@pytest.mark.parametrize(
    "array", [np.arange(6).reshape(2, 3), np.array(2.5), np.zeros((0, 3), "float32"), np.array([True])]
)
def test_arrays_keep_type_shape_and_values(array):
    back = through(array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back, array)


@pytest.mark.slow  # to import torch takes two seconds
def test_torch_tensors_become_arrays():
    torch = pytest.importorskip("torch")
    assert np.array_equal(through(torch.tensor([1.0, 2.0])), np.array([1.0, 2.0], "float32"))
    assert through(torch.tensor([1.5], dtype=torch.bfloat16)).tolist() == [1.5]


def test_a_sympy_expression_becomes_a_tree_and_a_function_a_marker():
    n = sympy.Symbol("n")
    assert through(n + 1) == trees.from_sympy(n + 1)
    assert through(len) == encoding.Callable("len")


class Liar(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


class Metaliar(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class Nameless(metaclass=Metaliar):
    def __getattribute__(self, name):
        raise SystemError("no attribute")


DEEP = []
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [
        Liar(1.0),
        type("Text", (str,), {})("1"),
        object(),
        int,
        DEEP,
        10**100_000,
        "x" * 2_000_000,
        [0] * 300_000,
        b"bytes",
        {1, 2},
        iter([]),
        sys,
        sympy.S,
        sympy.N,
        sympy.oo,
        sympy.I,
        np.array([object()]),
        Decimal("1e999999"),
        np.datetime64("2020-01-01"),
    ],
    ids=lambda v: encoding.type_name(v),
)
def test_anything_else_is_refused_with_a_sentence(value):
    with pytest.raises(encoding.NotEncodable) as refused:
        encoding.encode(value)
    assert len(str(refused.value)) > 10


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("most", "beyond"),
    [
        (Decimal("1e400"), Decimal("1e401")),
        (Decimal("1e-400"), Decimal("1e-401")),
        (2**encoding.MAX_BITS - 1, 2**encoding.MAX_BITS),
        (Fraction(1, 2**encoding.MAX_BITS - 1), Fraction(1, 2**encoding.MAX_BITS + 1)),
        ("x" * encoding.MAX_TEXT, "x" * (encoding.MAX_TEXT + 1)),
        (nested(encoding.MAX_DEPTH), nested(encoding.MAX_DEPTH + 1)),
    ],
    ids=lambda value: encoding.type_name(value),
)
def test_a_value_is_as_large_as_may_be(most, beyond):
    assert through(most) == (Fraction(most) if isinstance(most, Decimal) else most)
    with pytest.raises(encoding.NotEncodable):
        encoding.encode(beyond)


@pytest.mark.parametrize("value", [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1])
def test_an_integer_is_exact_where_a_float_of_json_is_not(value):
    assert through(value) == value
    assert isinstance(encoding.encode(value), int) is (abs(value) < 2**53)


def test_an_object_that_raises_at_every_touch_is_refused_too():
    with pytest.raises(encoding.NotEncodable, match="Nameless"):
        encoding.encode(Nameless())


def test_sympys_own_letters_are_named():
    for letter in (sympy.S, sympy.N):
        with pytest.raises(encoding.NotEncodable, match=f" {'S' if letter is sympy.S else 'N'}, ") as refused:
            encoding.encode(letter)
        assert refused.value.reason == "letter-of-sympy"


@pytest.mark.parametrize(
    "message",
    [
        [1],
        {},
        {"$": 1},
        {"$": "no"},
        {"$": "int", "v": "0x" + "f" * 9999},
        {"$": "int", "v": 3},
        {"$": "float", "v": "1e5"},
        {"$": "list", "v": "abc"},
        {"$": "dict", "v": [[{"$": "list", "v": []}, 1]]},
        {"$": "dict", "v": [[1]]},
        {"$": "array", "t": "object", "s": [1], "v": "AAAA"},
        {"$": "array", "t": "int8", "s": [9], "v": "AA=="},
        {"$": "array", "t": "int8", "s": [10**12], "v": ""},
        {"$": "array", "t": "int8", "s": [-1, -1], "v": "AA=="},
        {"$": "array", "t": "int8", "s": [1], "v": "!!"},
        {"$": "tree", "v": ["system", ["num", "1"]]},
        {"$": "tree"},
        {"$": "fraction", "v": ["0x1"]},
        {"$": "complex", "v": ["1", "2" * 99]},
        {"$": "fraction", "v": ["0x1", 0]},
        {"$": "callable", "v": 3},
        2**30_000,
        object(),
        {"$": "tree", "v": ["num", "9" * 9999]},
        {"$": "array", "t": ["int8"], "s": [1], "v": "AA=="},
    ],
    ids=lambda m: encoding.type_name(m),
)
def test_a_message_that_encode_does_not_write_is_refused(message):
    with pytest.raises(encoding.BadMessage):
        encoding.decode(message)


def test_a_deep_message_is_refused():
    message = 1
    for _ in range(60):
        message = {"$": "list", "v": [message]}
    with pytest.raises(encoding.BadMessage):
        encoding.decode(message)


@pytest.mark.parametrize("key", [lambda at: at * (2**61 - 1), lambda at: (1, at * (2**61 - 1))], ids=["int", "tuple"])
def test_keys_that_are_made_to_share_a_hash_are_few(key):
    def message(count):
        return {"$": "dict", "v": [[encoding.encode(key(at)), 0] for at in range(1, count + 1)]}

    assert len(encoding.decode(message(encoding.MAX_ALIKE))) == encoding.MAX_ALIKE
    with pytest.raises(encoding.BadMessage, match=str(encoding.MAX_ALIKE)):
        encoding.decode(message(encoding.MAX_ALIKE + 1))
    begun = time.process_time()
    with pytest.raises(encoding.BadMessage):
        encoding.decode(message(30_000))
    assert time.process_time() - begun < 2


def test_many_keys_of_their_own_hashes_are_read():
    values = {at: str(at) for at in range(50_000)}
    assert encoding.decode(encoding.encode(values)) == values
