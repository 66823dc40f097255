"""Right everywhere, in other units, other forms and another case than the book's."""

from autograder.declaration import call_with
from hwlib.units import parse

from .book import answer, letters

OTHER_UNIT = {
    "s": "ms",
    "B": "GiB",
    "B/s": "Gbit/s",
    "FLOP/s": "TFLOP/s",
    "FLOP": "PFLOP",
    "FLOP/B": "TFLOP/TB",
}


def submit(nb, book):
    for exercise in book.exercises:
        answer(nb, exercise.id, WRITE[exercise.kind](exercise, book))


def quantity(exercise, book):
    unit = OTHER_UNIT.get(exercise.answer.unit, exercise.answer.unit)
    value = exercise.expected(exercise.variant())
    return f'answer = "{value / parse(f"1 {unit}").value:.12g} {"" if unit == "1" else unit}"'


def count(exercise, book):
    return f"import numpy as np\nanswer = np.array([{exercise.expected(exercise.variant())}.0])[0]"


def choice(exercise, book):
    text = exercise.answer.options[exercise.expected(exercise.variant())]
    return f"answer = {text.upper()!r}"


def expression(exercise, book):
    import sympy

    tree = call_with(exercise.solution, letters(exercise))
    return f"answer = {str(sympy.expand(3 * tree))!r} + ' - 2*(' + {str(tree)!r} + ')'"


def function(exercise, book):
    name = exercise.answer_name
    return (
        f"import numpy as np\n{book.solution(exercise.id)}\nas_float = {name}\n"
        f"def {name}(*arguments):\n    return np.float64(as_float(*arguments))"
    )


def kernel(exercise, book):
    name = exercise.answer_name
    return f"{book.solution(exercise.id)}\nas_written = {name}\ndef {name}(**arguments):\n    as_written(**arguments)"


def written(exercise, book):
    """One paragraph and no list, in capitals."""
    return " ".join(book.solution(exercise.id).upper().replace("- ", "").split())


WRITE = {
    "Quantity": quantity,
    "Count": count,
    "Choice": choice,
    "Expression": expression,
    "Function": function,
    "Kernel": kernel,
    "Written": written,
}
