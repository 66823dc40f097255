"""Results by name: compared with their shapes, and the verdict names the result, the rank and what it looks like."""

import re

import numpy as np
import pytest

from autograder.ranks.buffers import Case
from autograder.ranks.named_results import by_name, same_named, wrong_named

CASE = Case(2, sizes={"b": 2, "d": 4})
Y = [np.arange(8.0).reshape(2, 4) + 1, np.arange(8.0).reshape(2, 4) ** 2 + 30]
G = [np.full((4, 4), 2.0), np.full((4, 4), 3.0)]
INPUTS = [{"x": np.full((2, 4), 0.5 + rank)} for rank in range(2)]


def wrong(first, second=(Y[1], G[1]), returns=("y", "g")):
    outputs = [by_name(value, returns) for value in (first, second)]
    wanted = [by_name((Y[rank], G[rank]), ("y", "g")) for rank in range(2)]
    return wrong_named(CASE, INPUTS, outputs, wanted, returns, 1e-12)


def test_right_results_in_every_form():
    assert wrong((Y[0], G[0])) is None
    assert wrong([Y[0], G[0]]) is None
    assert wrong({"g": G[0], "y": Y[0]}) is None
    assert wrong((Y[0] * (1 + 1e-15), G[0].astype("float32"))) is None


def test_infinities_of_both_signs_are_a_wrong_result_and_no_warning():
    assert wrong((Y[0] * np.inf, G[0]), (Y[1] * -np.inf, G[1])).reason == "wrong-element"


def test_lists_and_numbers():
    made = by_name([[Y[0], None], 2.0], ("grads", "loss"))
    assert list(made) == ["grads[0]", "grads[1]", "loss"]
    assert made["loss"].shape == ()
    assert list(by_name([Y[0], Y[1]])) == ["[0]", "[1]"]
    assert by_name(None, ("y", "g")) is None
    assert same_named(CASE, {"": Y[0]}, by_name(None), 0.0)


@pytest.mark.parametrize(
    ("value", "reason", "said"),
    [
        (None, "returns-nothing", "rank 0 returns nothing: is there a `return`"),
        (Y[0], "wrong-names", "returns one tensor, where y, g, in this order were expected"),
        ((Y[0],), "wrong-names", "returns 1 results, where y, g"),
        ({"y": Y[0], "z": G[0]}, "wrong-names", "returns y, z, where y, g"),
        ((Y[0], None), "returns-nothing", "(`None`) for g"),
        ((Y[0], "g"), "not-an-array", "for g; a tensor of numbers"),
        ((Y[0].T, G[0]), "transposed", "returns y of shape (4, 2), where (2, 4) was expected: that is the transposed"),
        ((np.concatenate([Y[0]] * 2), G[0]), "whole-for-a-part", "(4, 4), where (2, 4) was expected: 2 times as long"),
        ((Y[0][:, :2], G[0]), "part-for-a-whole", "(2, 2), where (2, 4) was expected: half as long on axis 1"),
        ((Y[0].reshape(-1), G[0]), "same-elements", "y of shape (8,), where (2, 4)"),
        ((Y[0][:, :3], G[0]), "wrong-shape", "y of shape (2, 3), where (2, 4) was expected."),
        ((Y[0] + np.eye(2, 4), G[0]), "wrong-element", "rank 0 has 2 in y[0, 0], where 1 was expected."),
        ((Y[0], G[0] * np.nan), "wrong-element", "has nan in g[0, 0] (never written, or 0/0), where 2"),
        ((INPUTS[0]["x"], G[0]), "untouched", "in y[0, 0], where 1 was expected: it is still the x"),
        ((Y[0] * 0, G[0]), "only-zeros", "all zeros"),
        ((Y[1], G[0]), "other-rank", "that is what rank 1 should return"),
        ((Y[0] * 2, G[0]), "n-times", "2 times as much"),
        ((Y[0] / 2, G[0]), "nth-part", "A mean, where a sum"),
        ((Y[0], np.triu(G[0])), "only-zeros-wrong", "in g[1, 0]"),
        ((Y[0] > 2, G[0]), "wrong-element", "rank 0 has 0 in y[0, 0], where 1 was expected."),
    ],
)
def test_what_is_wrong_is_named(value, reason, said):
    found = wrong(value)
    assert (found.reason, found.say.count("With 2 ranks, b = 2, d = 4, rank 0")) == (reason, 1), found.say
    assert said in found.say


def test_a_share_that_was_not_added_is_told():
    total = sum(Y)
    wanted = [by_name(total)] * 2
    found = wrong_named(CASE, INPUTS, [by_name(y) for y in Y], wanted, (), 1e-12)
    assert found.reason == "own-share"


def test_results_that_all_ranks_have_are_no_shares():
    total = sum(Y)
    found = wrong_named(CASE, INPUTS, [by_name(total / 2)] * 2, [by_name(total)] * 2, (), 1e-12)
    assert found.reason == "nth-part"
    odd = np.arange(8.0).reshape(2, 4) ** 3
    found = wrong_named(CASE, INPUTS, [by_name(odd)] * 2, [by_name(odd**2 + 1)] * 2, (), 1e-12)
    assert found.reason == "wrong-element"


def test_results_in_each_others_place_are_told_before_their_shapes():
    wanted = [by_name((Y[0], Y[0].T + 3), ("a", "b"))]
    found = wrong_named(CASE, INPUTS[:1], [by_name((Y[0].T + 3, Y[0]), ("a", "b"))], wanted, ("a", "b"), 1e-12)
    assert (found.reason, "belongs in b" in found.say) == ("other-result", True)
    found = wrong_named(CASE, INPUTS[:1], [by_name((Y[0].T, Y[0]), ("a", "b"))], wanted, ("a", "b"), 1e-12)
    assert found.reason == "transposed"


@pytest.mark.parametrize("digits", [7, 9, 12])
def test_numbers_that_differ_are_never_written_alike(digits):
    want = {"": np.array([1.03976, 2.0])}
    wrong_by = 10.0**-digits
    found = wrong_named(CASE, INPUTS[:1], [{"": want[""] + wrong_by}], [want], (), 1e-13)
    mine, right = re.findall(r"(?:has|where) ([\d.]+)", found.say)
    assert (mine != right, float(mine) - float(right)) == (True, pytest.approx(wrong_by, rel=0.5))
    assert found.reason == "nearly-right"


def test_the_measure_is_the_largest_number():
    want = {"": np.array([1e9, 1e-9])}
    assert same_named(CASE, {"": np.array([1e9, 0.0])}, want, 1e-12)
    assert not same_named(CASE, {"": np.array([1e9, 1e-2])}, want, 1e-12)
    single = Case(2, dtype="float32", sizes={"d": 2})
    assert same_named(single, {"": np.array([1e9, 1e3])}, want, 1e-12)
    whole = {"": np.array([3, 4])}
    assert not same_named(CASE, {"": np.array([3, 5])}, whole, 1e-12)
