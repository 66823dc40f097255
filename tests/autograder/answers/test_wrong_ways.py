"""An exercise's numbers tell standard wrong ways from the right one, or its self-test says which they do not."""

from math import ceil as up

import pytest

from autograder.answers import Count, Function, Quantity
from autograder.answers.selftest import selftest
from autograder.answers.wrong_ways import ENOUGH, _inert
from autograder.declaration import Exercise, Mistake
from hwlib.collectives import allgather_bandwidth, outer_axis_allgather_time
from hwlib.formula import ceil, maximum
from hwlib.specs import Level

GB = 1e9


def exercise(solution, given, answer=None, prompt="?", mistakes=(), **changes):
    far = (Mistake(lambda: 1e30, "Far."), Mistake(lambda: 1e33, "Farther."))
    fields = {"id": "t-x", "prompt": prompt, "answer": answer or Quantity("1"), "given": given, "solution": solution}
    return Exercise(**fields, mistakes=(*mistakes, *far), **changes)


def ways(solution, given, answer=None, prompt="?", mistakes=()):
    made = exercise(solution, given, answer, prompt, mistakes)
    return {weak.way for weak in made.answer.weaknesses(made, made.variants())}


SIDES = [{"a": 10.0, "b": 4.0}, {"a": 3.0, "b": 9.0}]


@pytest.mark.parametrize("larger", [lambda a, b: max(a, b), lambda a, b: max([a, b]), lambda a, b: maximum(a, b)])
def test_the_sum_for_a_maximum_lies_far_from_it(larger):
    assert ways(larger, SIDES) == set()
    assert ways(larger, [*SIDES, {"a": 100.0, "b": 1.0}]) == {"the sum for the max"}
    assert ways(larger, [*SIDES, {"a": 100.0, "b": 96.0}]) == {"side 2 of the max alone"}


def test_each_side_decides_somewhere():
    assert ways(lambda a, b: max(a, b), [SIDES[0], {"a": 10.0, "b": 5.0}]) == {"side 1 of the max alone"}
    assert ways(lambda a, b: min(a, b), [SIDES[0], {"a": 10.0, "b": 5.0}]) == {"side 2 of the min alone"}


@pytest.mark.parametrize(
    ("prompt", "weak"),
    [("{S} KiB?", True), ("{S} MiB?", True), ("{S} kB?", False), ("{S} files of a KiB?", False), ("KiB?", False)],
)
def test_thousands_for_a_unit_that_the_prompt_spells_behind_a_number(prompt, weak):
    size = 2**20 if "MiB" in prompt else 2**10
    found = ways(lambda S: S * size + 2.0 * size, [{"S": 5}, {"S": 2}], prompt=prompt)
    assert ({way for way in found if way.startswith("powers")} == {f"powers of 1,000 for S {prompt[4:7]}"}) is weak
    assert "powers of 1,000 for S MiB" not in ways(
        lambda S: S * 2**20, [{"S": 5}, {"S": 20}], Quantity("1", rtol=0.005), "{S} MiB?"
    )


def test_a_mistake_that_is_told_is_not_weak():
    near = Mistake(lambda a, b: a + b, "You added them.")
    rows = [*SIDES, {"a": 100.0, "b": 3.0}]
    assert ways(lambda a, b: max(a, b), rows) == {"the sum for the max"}
    assert ways(lambda a, b: max(a, b), rows, mistakes=[near]) == set()


def test_operations_are_found_in_what_a_solution_calls():
    levels = [{"W1": 450 * GB, "W2": 300 * GB}, {"W1": 100 * GB, "W2": 300 * GB}]

    def solution(W1, W2):
        return allgather_bandwidth([Level("node", 8, W1), Level("leaf", 4, W2)])

    assert ways(solution, levels) == set()
    assert ways(solution, levels[:1]) == {"side 2 of the min alone"}
    again = max(1, 2), min(1, 2), maximum(1, 2), ceil(1.5), up(1.5)
    assert again == (2, 1, 2, 2, 2)


def test_a_bound_of_the_library_is_not_a_side():
    rows = [{"S": GB, "W_in": 450 * GB, "W_out": w * GB} for w in (40, 70)]
    found = ways(lambda S, W_in, W_out: outer_axis_allgather_time(S, 2, 8, 32, W_in, W_out), rows)
    assert found == {"side 2 of max no. 5 alone"}


@pytest.mark.parametrize("solution", [lambda n, k: ceil(n / k), lambda n, k: up(n / k)])
def test_rounding_matters_in_every_row_or_in_none(solution):
    assert ways(solution, [{"n": 17, "k": 4}, {"n": 22, "k": 5}], Count()) == set()
    assert ways(solution, [{"n": 16, "k": 4}, {"n": 20, "k": 5}], Count()) == set()
    assert ways(solution, [{"n": 17, "k": 4}, {"n": 20, "k": 5}], Count()) == {
        "the ceil left out",
        "the floor for the ceil",
    }


def test_of_several_roundings_the_last_is_left_out_and_all():
    def solution(m, n, k):
        return up(up(m / 128) * up(n / 128) / k)

    found = ways(solution, [{"m": 300, "n": 600, "k": 7}, {"m": 256, "n": 640, "k": 10}], Count())
    assert found == {
        *("ceil no. 3 left out", "the floor for ceil no. 3"),
        *("every ceil left out", "the floor for every ceil"),
    }


@pytest.mark.parametrize(
    ("prompt", "solution", "row", "found"),
    [
        ("{W:B/s}", lambda W, b: min(W / 1.02, b), {"W": 100.0, "b": 100.0}, {"W taken for both directions"}),
        ("{W}", lambda W, b: min(W / 1.02, b), {"W": 100.0, "b": 100.0}, set()),
        ("{C:FLOP/s}", lambda C, b: 1 / (C + b), {"C": 1.0, "b": 60.0}, {"C taken for the rate with sparsity"}),
        ("{S:B}", lambda S, a: a + S, {"S": 1.0, "a": 2.0}, {"S taken for GiB", "S taken for GB"}),
    ],
)
def test_numbers_are_misread_by_their_unit(prompt, solution, row, found):
    got = {way for way in ways(solution, [row], prompt=prompt) if way.startswith(prompt[1])}
    assert found <= got
    assert bool(found) == bool(got)


def test_a_share_is_told_from_the_rest_of_it():
    assert ways(lambda p: 1 + p, {"p": [0.25, 0.4]}) == set()
    assert ways(lambda p: 1 + p, {"p": [0.25, 0.5]}) == {"1 - p for p"}
    assert ways(lambda p: 1 + p, {"p": [0.25, 0.49]}) == {"1 - p for p"}


def test_one_rank_more_or_less_shows():
    def ratio(n):
        return n / (n - 1)

    assert ways(ratio, {"n": [4, 8]}) == set()
    assert ways(ratio, {"n": [4, 16]}) == {"n - 1 for n throughout", "n + 1 for n throughout"}
    assert ways(ratio, {"n": [4, 32]}) == {"n for n - 1"}  # and one more of 32 ranks nobody could tell
    assert ways(ratio, {"n": [4, 32]}, mistakes=[Mistake(lambda: 1.0, "To first order.")]) == set()


def test_a_number_that_does_not_matter_is_no_weakness():
    assert ways(lambda n: 7.0, {"n": [4, 8]}) == set()
    rows = [{"W": 100.0, "V": 300.0}, {"W": 100.0, "V": 40.0}]
    assert ways(lambda W, V: min(W, V), rows, prompt="{W:B/s} {V:B/s}") == set()


def test_the_self_test_says_what_it_found_and_what_is_asked():
    close = exercise(lambda a, b: max(a, b), [*SIDES, {"a": 100.0, "b": 2.0}])
    (said,) = selftest(close)
    assert "the sum for the max" in said
    assert "102" in said
    assert f"2 tolerances from the right answer ({ENOUGH:g} are asked for)" in said
    assert "choose other numbers" in said


def test_a_way_may_be_declared_harmless_with_a_reason():
    rows = [*SIDES, {"a": 100.0, "b": 2.0}]
    assert selftest(exercise(lambda a, b: max(a, b), rows, harmless={"the sum for the max": "b is noise"})) == []
    assert selftest(exercise(lambda a, b: max(a, b), rows, harmless={"the sum for the max": " "})) != []
    (said,) = selftest(exercise(lambda a, b: max(a, b), SIDES, harmless={"the sum for the max": "b is noise"}))
    assert "harmless" in said


def test_the_cases_of_a_function_tell_its_operations():
    def clocks(a, b):
        return max(a, b)

    def found(cases):
        made = exercise(clocks, {}, Function("clocks", "clocks(a, b)", cases=cases))
        return {weak.way for weak in made.answer.weaknesses(made, [{}])}

    assert found([(2.0, 3.0), (5.0, 1.0)]) == set()
    assert found([(2.0, 3.0), (4.0, 5.0)]) == {"side 2 of the max alone"}
    assert found([(0.0, 3.0), (0.0, 5.0)]) == {"the sum for the max", "side 2 of the max alone"}


@pytest.mark.parametrize(
    ("solution", "value", "inert"),
    [
        (lambda n: round(n), 5, True),  # asked near where it is: 5.000005
        (lambda n: 2 * n, 5, False),
        (lambda n: 7, 5, True),
        (lambda n: len(range(n)), 5, False),  # takes whole numbers only: asked with 4 and 6
        (lambda n: len(range(0, n, 100)), 5, True),
        (lambda n: round(n), 5.0, True),
        (lambda n: 1 / 0 if n != 5.0 else 5.0, 5.0, False),
    ],
)
def test_a_number_plays_no_part_where_others_near_it_give_the_same(solution, value, inert):
    assert _inert(solution, {"n": value}, "n", solution(value)) is inert
