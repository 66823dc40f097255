"""Answers everything as the instructor does."""

from .book import answer


def submit(nb, book):
    for exercise in book.exercises:
        answer(nb, exercise.id, book.solution(exercise.id))
