"""The table of answer kinds for teachers: all kinds are in it, and each example is an exercise that judges its own
solution right."""

import json

import pytest
from click.testing import CliRunner

from autograder import answers
from autograder.answers.selftest import judged, selftest
from autograder.cli import commands
from autograder.cli.course_kinds import examples
from autograder.declaration import Exercise, Mistake
from autograder.declaration.answer import Advice, Answer

ROWS = {row.kind: row for row in examples()}
GIVEN = {"Quantity": {"S": [1e8], "W": [5e10]}, "Count": {"n": [8]}}
WRONG = {
    "Quantity": lambda S, W: W / S,
    "Count": lambda n: n,
    "Choice": "tree",
    "Function": lambda n: n,
    "Expression": lambda S, n: 2 * S,
    "Estimates": lambda: [1.0, 1e-3],
    "Design": lambda: {"n": 1},
}


def exercise(row):
    scope = {}
    exec(row.imports, scope)
    value = eval(row.solution, scope)
    wrong = [Mistake(WRONG[row.kind], "Look again.")] if row.kind in WRONG else []
    if row.kind == "Choice":
        wrong.append(Mistake("star", "Look once more."))
    points = 3 if row.kind == "Written" else 1
    return Exercise(
        id=f"t-{row.kind.lower()}",
        points=points,
        prompt="What?",
        given=GIVEN.get(row.kind, {}),
        answer=eval(row.answer, scope),
        solution=value,
        mistakes=tuple(wrong),
    )


def test_every_kind_is_in_the_table():
    public = {name for name in answers.__all__ if isinstance(getattr(answers, name), type)}
    kinds = {name for name in public if issubclass(getattr(answers, name), Answer)} - {"Answer"}
    assert set(ROWS) == kinds


@pytest.mark.parametrize("kind", [kind for kind, row in ROWS.items() if row.solution])
def test_an_example_with_a_solution_is_an_exercise_without_a_problem(kind):
    made = exercise(ROWS[kind]).built()
    assert made.kind == kind
    assert [line for line in selftest(made) if not isinstance(line, Advice)] == []
    if kind != "Written":
        value = made.answer.as_learner(made, made.solution, made.variant())
        assert judged(made, value, made.variant()).score == 1


@pytest.mark.parametrize("kind", [kind for kind, row in ROWS.items() if not row.solution])
def test_an_example_that_takes_lines_is_an_answer_of_its_kind(kind):
    scope = {}
    exec(ROWS[kind].imports, scope)
    assert type(eval(ROWS[kind].answer, scope)).__name__ == kind


def test_the_command_prints_all_of_it():
    said = CliRunner().invoke(commands.main, ["course", "kinds"])
    assert said.exit_code == 0, said.output
    for row in ROWS.values():
        assert f"{row.kind}: {row.gives}\n" in said.output
        assert f"    answer={row.answer},\n" in said.output
    rows = json.loads(CliRunner().invoke(commands.main, ["course", "kinds", "--json"]).output)
    assert [row["kind"] for row in rows] == list(ROWS)
