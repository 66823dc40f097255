"""What functions and algorithms have in common as answers: a stub, the solution itself, and cases."""

import pytest

from autograder.answers import Algorithm, Distributed, Function
from autograder.answers.code import Coded
from autograder.declaration import DeclarationError, Exercise
from autograder.values import encoding
from autograder.values.numbers import Unreadable
from hwlib.algorithms import Step


def ring(rank, n, x):
    yield Step(x, to=(rank + 1) % n, frm=(rank - 1) % n)
    return x


def made(answer, solution=ring, lines=2):
    return Exercise(id="t-coded", prompt="Write it.", solution=solution, answer=answer, lines=lines)


KINDS = {
    "a function was expected, `def f(x)`": Function("f", cases=[(1,)]),
    "a generator was expected, `def turn(rank, n, x)`": Algorithm("turn", cases=[(2, 8)]),
    "a generator was expected, `def send(rank, n, x)`": Distributed("send", cases=[(2, 8)]),
}


@pytest.mark.parametrize(("says", "answer"), KINDS.items(), ids=[type(one).__name__ for one in KINDS.values()])
def test_a_kind_says_what_it_asks_for(says, answer):
    assert isinstance(answer, Coded)
    with pytest.raises(Unreadable) as error:
        answer.readable(3)
    assert says in str(error.value)
    assert answer.readable(encoding.Callable("mine")).endswith("`mine`")
    for lines, size in ((1, "about 1 line"), (7, "about 7 lines")):
        exercise = made(answer, lines=lines)
        assert f"def {answer.signature}:\n    ...  # {size}" in exercise.stub()
    assert exercise.stub() == f"def {answer.signature}:\n    ...  # about 7 lines{answer.ending}"
    assert answer.expected(exercise, {}) is ring


def test_cases_are_made_once_and_by_the_exercises_own_numbers():
    answer = Function("f", cases=lambda rng: [rng.random() for _ in range(3)])
    exercise = made(answer, solution=abs)
    assert answer.inputs(exercise) is answer.inputs(exercise)
    again = made(Function("f", cases=answer.cases), solution=abs)
    assert again.answer.inputs(again) == answer.inputs(exercise)


@pytest.mark.parametrize(
    ("cases", "says"), [(lambda _: [], "0 cases; 1 to 500"), (lambda _: 3, "t-coded: 'int' object is not iterable")]
)
def test_cases_that_cannot_be(cases, says):
    exercise = made(Function("f", cases=cases), solution=abs)
    with pytest.raises(DeclarationError, match=says):
        exercise.answer.inputs(exercise)
