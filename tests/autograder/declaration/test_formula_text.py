"""What is shown of a declaration's formula is what stands there."""

import functools

from autograder.declaration import load_bank
from autograder.declaration.formula_text import declared

TWO = (lambda S, W: S / W, lambda S, W: 2 * S / W)  # on one line


def twice(x, y):
    """Twice."""
    return x + y


def test_a_lambda_is_its_text_also_where_two_are_on_a_line():
    assert [declared(one).text for one in TWO] == ["lambda S, W: S / W", "lambda S, W: 2 * S / W"]
    assert declared(TWO[0]).place.startswith("test_formula_text.py:")


def test_a_function_is_its_source_and_a_value_itself():
    assert declared(twice).text.splitlines()[0] == "def twice(x, y):"
    assert declared("half").text == "'half'"
    partial = declared(functools.partial(twice, y=len))
    assert (partial.text, partial.place) == ("twice with y=len", declared(twice).place)


def test_a_declaration_that_is_loaded_by_path_is_read_there(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from autograder.answers import Quantity\nfrom autograder.declaration import Exercise, Mistake\n"
        "ONE = Exercise(id='mine-one', prompt='?', answer=Quantity('s'), solution=lambda: 3.0,\n"
        "    mistakes=(Mistake(lambda: 2.0 * 3, 'No.'), Mistake(lambda: 7, 'No!')))\n"
    )
    exercise = load_bank(file)["mine-one"]
    assert declared(exercise.solution) == ("lambda: 3.0", "mine.py:3")
    assert [declared(one.value) for one in exercise.mistakes] == [
        ("lambda: 2.0 * 3", "mine.py:4"),
        ("lambda: 7", "mine.py:4"),
    ]
