"""Knows all answers, but four of the cells go wrong: an exception, an endless loop, a dead kernel, and one
too late to matter."""

from .book import answer


def submit(nb, book):
    for exercise in book.exercises:
        answer(nb, exercise.id, book.solution(exercise.id))
    raising, looping, dying, late = (exercise.id for exercise in book.judged[:4])
    answer(nb, raising, "answer = 1/0")
    answer(nb, looping, "while True:\n    pass")
    answer(nb, dying, "import os\nos._exit(3)")
    answer(nb, late, book.solution(late) + "\nraise RuntimeError('after the answer')")
