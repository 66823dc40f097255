"""Makes, in every exercise, the first mistake that its declaration knows."""

from autograder.declaration import call_with

from .book import answer, letters


def submit(nb, book):
    for exercise in book.exercises:
        answer(nb, exercise.id, wrong(exercise))


def wrong(exercise):
    if exercise.kind in ("Quantity", "Count", "Choice"):
        return f"answer = {call_with(exercise.mistakes[0].value, exercise.variant())!r}"
    tree = symbolic(exercise)
    if exercise.kind == "Expression":
        return f"answer = {str(tree)!r}"
    return f"def {exercise.answer.signature}:\n    return {tree}"


def symbolic(exercise):
    """The first mistake that can be written as one formula in the letters."""
    names = letters(exercise)
    for mistake in exercise.mistakes:
        try:
            return mistake.value(*names)
        except TypeError:               # it compares, which letters cannot
            continue
    raise LookupError(f"{exercise.id}: no mistake can be written as a formula")
