"""What comes of the solution's own steps, done otherwise, is recognised, and said truly."""

import math

import pytest

from autograder.answers import Quantity
from autograder.answers.changed_steps import LINES, SolutionChanges
from autograder.answers.recognised import recognise
from autograder.answers.traced_numbers import MOST, TooLong, altered, calculated
from autograder.declaration import Exercise
from hwlib.units import GB, us

RING = Exercise(
    id="a-ring-time",
    prompt="{n} GPUs pass on {S:B} at {W:B/s}; a step costs {alpha:s}. How long?",
    given={"n": [7], "S": [3.7 * GB], "W": [53 * GB], "alpha": [4100 * us]},
    answer=Quantity("s"),
    solution=lambda n, S, W, alpha: (n - 1) * (alpha + S / n / W),
)
ROUNDED = Exercise(
    id="a-printed-rate",
    prompt="{k} links of {W:B/s} carry {S:B}, after {alpha:s}. How long?",
    given={"k": [7], "W": [26.5625 * GB], "S": [1.3 * GB], "alpha": [1700 * us]},
    answer=Quantity("s"),
    solution=lambda k, W, S, alpha: alpha + S / (k * W),
)


def _recognised(exercise, answer):
    given = exercise.variant()
    value = answer(**{name: given[name] for name in given})
    return recognise(exercise, value, exercise.solution(**given), given, unit=exercise.answer.unit, near=1e-6)


@pytest.mark.parametrize(
    ("answer", "reason", "words"),
    [
        (lambda n, S, W, alpha: (n - 1) * (alpha - S / n / W), "step-changed", "taken off 4.1 ms"),
        (lambda n, S, W, alpha: (n - 1) * (2 * alpha + S / n / W), "step-changed", "4.1 ms is counted twice"),
        (lambda n, S, W, alpha: (n - 1) * (alpha + S * n / W), "step-changed", "multiplied by 7"),
        (lambda n, S, W, alpha: (n - 2) * (alpha + S / n / W), "step-changed", "with 2 in place of the 1 beside 7"),
        (lambda n, S, W, alpha: (n - 2) * (2 * alpha + S / n / W), "two-steps-changed", ", and "),
    ],
)
def test_one_or_two_steps_done_otherwise_are_named(answer, reason, words):
    finding = _recognised(RING, answer)
    assert finding.reason == reason
    assert words in finding.say
    assert finding.say.startswith("Your number is also ")


def test_the_numbers_of_the_prompt_may_be_typed_as_they_are_printed():
    typed = _recognised(ROUNDED, lambda k, W, S, alpha: alpha + k * S / 26.56e9)
    assert typed.reason in ("step-changed", "two-steps-changed")
    assert _recognised(ROUNDED, lambda k, W, S, alpha: 2.1 * alpha + S / (k * 26.56e9)) is None


def test_a_value_on_the_way_is_named():
    finding = _recognised(ROUNDED, lambda k, W, S, alpha: S / (k * W))
    assert finding.reason in ("value-on-the-way", "number-left-out")
    finding = _recognised(ROUNDED, lambda k, W, S, alpha: k * W)
    assert (finding.reason, "made of 7 and 26.56 GB/s" in finding.say) == ("value-on-the-way", True)


def test_a_step_is_done_otherwise_where_it_stands():
    steps = calculated(RING.solution, RING.variant())
    assert [step.kind for step in steps] == ["-", "/", "/", "+", "*"]
    given = {"n": 4, "S": 8.0, "W": 2.0, "alpha": 1.0}
    assert altered(RING.solution, given, {}) == 6.0
    assert altered(RING.solution, given, {3: lambda a, b: a - b}) == 0.0
    assert math.isnan(altered(RING.solution, given, {0: lambda a, b: 1 // 0}))


def test_numbers_that_take_part_stay_numbers():
    steps = calculated(lambda n, S: max(range(n)) + round(abs(-S), 1) + math.ceil(S) + 2**n, {"n": 3, "S": 0.25})
    assert [step.result for step in steps][-1] == 2 + 0.2 + 1 + 8


@pytest.mark.parametrize(("terms", "fits"), [(MOST, True), (MOST + 1, False)])
def test_a_calculation_of_too_many_steps_is_not_looked_at(terms, fits):
    if fits:
        assert len(calculated(lambda n: sum(n for _ in range(terms)), {"n": 2})) == MOST
        return
    with pytest.raises(TooLong):
        calculated(lambda n: sum(n for _ in range(terms)), {"n": 2})


def test_a_change_that_makes_a_loop_endless_is_given_up():
    def solution(n, W):
        left, steps = n * W, 0
        while left > 1 and steps < LINES * 10:
            left, steps = left - 1, steps + 1
        return float(steps)

    exercise = Exercise(
        id="a-loop", prompt="{n} at {W:B/s}", given={"n": [3], "W": [4.0]}, answer=Quantity("1"), solution=solution
    )
    assert SolutionChanges.of(exercise, {"n": 3, "W": 4.0e9}).steps == []


@pytest.mark.parametrize("answer", [5e-324, -5e-324, 1.7e308, math.inf, math.nan, 0.0])
def test_no_answer_is_too_small_or_too_large_for_two_changes(answer):
    assert SolutionChanges.of(RING, RING.variant()).pair(answer, 1e-6) == ""
