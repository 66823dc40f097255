"""What goes along each axis of a grid of ranks, as a limit of an algorithm."""

import pytest

from autograder.answers import Algorithm, Case, exactly
from autograder.declaration import DeclarationError, Exercise, Mistake
from autograder.ranks.outcomes import RanksOutcome
from hwlib.algorithms import Step
from tests.autograder.lab import judge


def along(*partners):
    """The sum over four ranks, of exchanges with the rank whose number differs in these bits."""

    def algorithm(rank, n, x):
        for bits in partners:
            x = x + (yield Step(x, to=rank ^ bits, frm=rank ^ bits))
        return x

    return algorithm


def twice(rank, n, x, again=1, once=2):
    other = yield Step(x, to=rank ^ again, frm=rank ^ again)
    yield Step(other, to=rank ^ again, frm=rank ^ again)
    x = x + other
    return x + (yield Step(x, to=rank ^ once, frm=rank ^ once))


def twice_slow(rank, n, x):
    return (yield from twice(rank, n, x, again=2, once=1))


def numbers(case, generator):
    return [{"x": generator.normal(size=case["d"])} for _ in range(case.n)]


def on_a_grid(sizes, more=(), **options):
    answer = Algorithm(
        "f", inputs=numbers, cases=[Case(4, sizes=sizes)], rank_bytes=None, total_bytes=None, rounds=None, **options
    )
    mistakes = (Mistake(along(1), "One."), Mistake(along(2), "Two."), *more)
    return Exercise(id="t-grid", prompt="Write it.", answer=answer, solution=along(1, 2), mistakes=mistakes)


def test_what_goes_along_each_axis_can_be_limited():
    exercise = on_a_grid({"slow": 2, "fast": 2, "d": 3}, axis_bytes={"slow": exactly(), "fast": exactly()})
    assert judge(exercise, along(1, 2)).score == judge(exercise, along(2, 1)).score == 1
    for wrong, reason, said in (
        (twice, "axis-bytes", "along `fast`"),
        (along(3, 1), "several-axes", "rank 0 to rank 3"),
    ):
        verdict = judge(exercise, wrong)
        assert (verdict.score, verdict.reason) == (0.0, reason)
        assert said in verdict.say
        assert judge(on_a_grid({"d": 3}), wrong).score == 1


def test_a_mistake_is_not_another_that_sends_as_much_along_other_axes():
    sizes, more = {"slow": 2, "fast": 2, "d": 3}, [Mistake(twice, "Twice.")]
    exercise = on_a_grid(sizes, more, axis_bytes={"slow": exactly(), "fast": exactly()})
    assert judge(exercise, twice).kind == "mistake"
    assert judge(exercise, twice_slow).reason == "axis-bytes"


def test_on_a_torus_a_message_goes_to_a_neighbour():
    run = RanksOutcome(sent_bytes=[0.0] * 20, pairs={(0, 1): 1.0, (0, 4): 1.0, (5, 9): 1.0, (0, 5): 1.0, (0, 15): 1.0})
    assert run.beyond_neighbours([4, 5]) is None
    assert run.beyond_neighbours() == (0, 4)
    for far in ((0, 2), (0, 10), (0, 6), (4, 5)):
        assert RanksOutcome(sent_bytes=[0.0] * 20, pairs={far: 1.0}).beyond_neighbours([4, 5]) == far


def leaping(rank, n, x):
    """A sum over a ring of four, two places on at once."""
    x = x + (yield Step(x, to=(rank + 2) % n, frm=(rank - 2) % n))
    return x + (yield Step(x, to=(rank + 1) % n, frm=(rank - 1) % n))


def test_who_is_a_neighbour_is_judged_before_bytes():
    sizes, axes = {"slow": 1, "fast": 4, "d": 3}, {"slow": exactly(), "fast": exactly()}

    def step(rank, n, x):
        there = yield Step(x, to=(rank + 1) % n, frm=(rank - 1) % n)
        back = yield Step(x, to=(rank - 1) % n, frm=(rank + 1) % n)
        far = yield Step(there, to=(rank + 1) % n, frm=(rank - 1) % n)
        return x + there + back + far

    answer = Algorithm(
        "f",
        inputs=numbers,
        cases=[Case(4, sizes=sizes)],
        rank_bytes=None,
        total_bytes=None,
        rounds=None,
        axis_bytes=axes,
        neighbours=True,
    )
    exercise = Exercise(id="t-torus", prompt="Write it.", answer=answer, solution=step)
    assert judge(exercise, step).score == 1
    assert judge(exercise, leaping).reason == "not-a-neighbour"


def test_a_grid_has_as_many_places_as_there_are_ranks():
    for sizes in ({"slow": 2, "d": 3}, {"slow": 2, "fast": 3, "d": 3}):
        with pytest.raises(DeclarationError, match="axis_bytes needs sizes slow x fast of 4 ranks"):
            on_a_grid(sizes, axis_bytes={"slow": exactly(), "fast": exactly()})


def test_bytes_are_counted_along_the_axis_of_the_two_ranks():
    run = RanksOutcome(sent_bytes=[0.0] * 12, pairs={(0, 1): 1.0, (0, 2): 2.0, (11, 5): 4.0, (0, 4): 8.0})
    slow, middle, fast = run.axis_bytes([2, 3, 2])
    assert (slow[11], middle[0], fast[0], sum(slow) + sum(middle) + sum(fast)) == (4.0, 10.0, 1.0, 15.0)
    assert run.beyond_axes([2, 3, 2]) is None
    assert RanksOutcome(pairs={(1, 2): 1.0}).beyond_axes([2, 3, 2]) == (1, 2, [1, 2])
