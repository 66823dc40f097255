import pytest
import sympy

from autograder.answers import Choice, Count, Expression, Function, Quantity, integers, positive
from autograder.answers import selftest as module
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import VARIANTS, junk, selftest
from autograder.declaration import Exercise, Mistake
from autograder.values.numbers import Unreadable
from autograder.values.texts import quoted

TWO = (Mistake(lambda n: n + 1, "One too many."), Mistake(lambda n: n * 3, "Three?"))


def exercise(**changes):
    fields = {
        "id": "t-x",
        "prompt": "From {n}?",
        "answer": Quantity("s"),
        "given": {"n": [5, 7]},
        "solution": lambda n: n * 1.7,
        "mistakes": TWO,
    }
    return Exercise(**(fields | changes))


def problems(**changes):
    return " / ".join(selftest(exercise(**changes)))


def test_a_good_exercise_of_each_kind_has_no_problem():
    assert not problems()
    assert not problems(answer=Count(of="rank"), solution=lambda n: n * 7)
    assert "of is empty" in problems(answer=Count(), solution=lambda n: n * 7)
    assert not problems(answer=Choice(("x", "y")), solution="x", mistakes=(Mistake("y", "No."),), given={}, prompt="?")
    assert not problems(answer=Expression({"n": integers(1, 9)}), solution=lambda n: n**2, given={}, prompt="?")
    assert not problems(
        answer=Function("f", "f(n)", cases=[(1,), (3,), (4,)]), solution=lambda n: n**2, given={}, prompt="?"
    )


def test_what_is_wrong_is_said():
    assert "'Nearly.' is within" in problems(mistakes=(Mistake(lambda n: n * 1.701, "Nearly."), TWO[0]))
    assert "scores 1" in problems(mistakes=(Mistake(lambda n: n * 1.701, "Nearly."), TWO[0]))
    assert "0 mistakes" in problems(mistakes=())
    assert "two mistakes" in problems(mistakes=(TWO[0], TWO[0]))
    assert "{m:B}" in problems(prompt="From {m:B}?")
    assert "unknown unit" in problems(prompt="From {n:xyz}?")
    assert "prompt is empty" in problems(prompt=" ")
    assert "(ZeroDivisionError: " in problems(solution=lambda n: n / 0)
    assert "'m'" in problems(solution=lambda m: m)
    assert "(NameError: " in problems(mistakes=(Mistake(lambda n: undefined, "Who?"), TWO[0]))  # noqa: F821
    assert "(AttributeError: " in problems(solution=lambda n: n.seconds)
    assert "'One too many.' stands" in problems(hints=("One too many.",))
    assert "'y' has" in problems(
        answer=Choice(
            ("w", "v"),
        ),
        solution="a",
        mistakes=(),
        given={},
        prompt="?",
    ).replace("'b'", "'y'")
    assert "integer" in problems(answer=Count())


def test_a_mistake_of_an_expression_that_is_the_solution_is_found():
    wrong = (Mistake(lambda n: n * (n + 1) - n, "Hm."), TWO[0])
    assert "scores 1" in problems(
        answer=Expression({"n": integers(1, 9)}),
        solution=lambda n: n**2,
        mistakes=wrong,
        given={},
        prompt="?",
    )


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        (lambda value: f"What is {str(value)[:100]}?", "is told its own HTML, not quoted"),
        (lambda value: f"What is {quoted(str(value), 5000)}?", "characters; at most 4000 were expected"),
        (lambda value: f"What is {quoted(str(value), 3900)}?", ""),
    ],
)
def test_what_came_in_is_quoted_cut_and_inert(monkeypatch, sentence, problem):
    def read(self, value):
        if isinstance(value, str):
            raise Unreadable(sentence(value))
        return exact(self, value)

    exact = Count.read
    monkeypatch.setattr(Count, "read", read)
    found = problems(answer=Count(of="rank"), solution=lambda n: n * 7)
    assert problem in found
    assert bool(found) == bool(problem)


def test_a_case_that_is_never_reached_is_found():
    assert "never reached" in problems(
        answer=Expression({"n": integers(1, 9)}), solution=lambda n: sympy.Max(n, 100), given={}, prompt="?"
    )


SHAPE = {"F": positive("FLOP"), "M": positive("B"), "C": positive("FLOP/s"), "W": positive("B/s")}


def test_the_library_is_not_the_answer():
    roof = exercise(
        answer=Expression(SHAPE, unit="s"),
        solution=lambda F, M, C, W: sympy.Max(F / C, M / W),
        mistakes=(),
        given={},
        prompt="?",
    )
    assert "hwlib.roofline.roofline_time " in " ".join(library_overlap(roof))
    withheld = exercise(
        answer=Expression(SHAPE, unit="s"),
        solution=lambda F, M, C, W: sympy.Max(F / C, M / W),
        mistakes=(),
        given={},
        prompt="?",
        withholds=("hwlib.roofline",),
    )
    assert not library_overlap(withheld)
    twist = exercise(
        answer=Expression(SHAPE, unit="s"),
        solution=lambda F, M, C, W: sympy.Max(F / C, 2 * M / W),
        mistakes=(),
        given={},
        prompt="?",
    )
    assert not library_overlap(twist)


def test_a_function_is_held_against_the_library_too_in_any_order_of_its_arguments():
    cases = [(3.35e12, 9.9e14), (8e12, 2.25e15), (2e12, 3.12e14)]
    ridge = exercise(
        answer=Function("f", "f(W, C)", cases=cases),
        solution=lambda W, C: C / W,
        mistakes=(),
        given={},
        prompt="?",
    )
    assert "hwlib.roofline.ridge " in " ".join(library_overlap(ridge))
    assert not library_overlap(
        exercise(
            answer=Function("f", "f(W, C)", cases=cases),
            solution=lambda W, C: C / W + 1,
            mistakes=(),
            given={},
            prompt="?",
        )
    )


def few_cases(solution):
    answer = Function("f", "f(p)", cases=[(2.0,), (4.0,), (6.0,)])
    return exercise(answer=answer, solution=solution, mistakes=(), given={}, prompt="?")


def test_what_agrees_with_the_library_by_chance_in_few_cases_is_not_its_own():
    accident = few_cases(lambda p: p + 1 + (p - 2) * (p - 4) * (p - 6))
    assert not library_overlap(accident)
    same = few_cases(lambda p: p + 1)
    assert [line for line in library_overlap(same) if "dualpipe_in_flight" in line]
    assert not library_overlap(same, least=2)  # one operation: written sooner than it is found


def test_calling_the_library_is_the_point_of_a_quantity():
    assert library_overlap(exercise()) == []


def test_junk_has_a_number_that_equals_everything_and_cannot_be_looked_at():
    liar = next(value for value in junk() if type(value).__name__ == "Liar")
    assert liar == "anything"
    for look in (float, repr):
        with pytest.raises(RuntimeError):
            look(liar)


@pytest.mark.parametrize(
    ("numbers", "tested"), [(VARIANTS - 1, VARIANTS - 1), (VARIANTS, VARIANTS), (VARIANTS + 1, VARIANTS)]
)
def test_so_many_variants_are_tested_the_books_first(monkeypatch, numbers, tested):
    rows = []
    monkeypatch.setattr(module, "_solution", lambda exercise, row, published: rows.append(row["n"]) or ())
    assert not problems(given={"n": list(range(5, 5 + numbers))})
    assert rows[0] == 5
    assert len(set(rows)) == len(rows) == tested
