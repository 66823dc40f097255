"""No answer that its author had not seen judged is judged falsely; what the wrong ones are told has been rated."""

from collections import Counter

import pytest

from . import unseen

EXERCISES = unseen.exercises()
FEWEST_RIGHT, FEWEST_WRONG = 4, 6
MOST_WRONG_SENTENCES, MOST_GENERIC = 0.01, 0.15


@pytest.mark.slow
@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_right_answers_are_taken_and_wrong_ones_refused(exercise_id):
    chapter, exercise = EXERCISES[exercise_id]
    answers = unseen.cells(chapter, exercise_id)
    count = Counter(cell.right for cell in answers)
    assert count[True] >= FEWEST_RIGHT, f"{count[True]} right answers in {chapter}/{exercise_id}.py"
    said = {}
    for cell in answers:
        for row in unseen.rows(exercise, cell):
            verdict = unseen.answered(chapter, exercise, cell, row)
            assert (verdict.score == 1) is cell.right, (cell.title, row, verdict)
            said.setdefault(cell.title, (verdict.kind, verdict.reason))
    recorded = unseen.told(chapter).get(exercise_id, {})
    wrong = {cell.title: said[cell.title] for cell in answers if not cell.right}
    undeclared = [title for title, (kind, _) in wrong.items() if kind != "mistake"]
    assert len(undeclared) >= FEWEST_WRONG, f"{len(undeclared)} undeclared wrong answers in {chapter}/{exercise_id}.py"
    assert wrong == {title: (one["kind"], one["reason"]) for title, one in recorded.items()}, (
        "what is told has changed: `python -m tests.unseen` writes it, and new sentences are to be rated"
    )


def test_every_file_belongs_to_an_exercise():
    files = {path.stem for path in unseen.HERE.glob("*/*.py")}
    assert files == set(EXERCISES)


def test_hardly_a_sentence_is_wrong_and_few_are_generic():
    chapters = sorted({chapter for chapter, _ in EXERCISES.values()})
    ratings = Counter(
        one["rating"] for chapter in chapters for by_title in unseen.told(chapter).values() for one in by_title.values()
    )
    assert set(ratings) <= set(unseen.RATINGS), f"{ratings[None]} sentences are not rated"
    everything = sum(ratings.values())
    assert ratings[0] <= MOST_WRONG_SENTENCES * everything, ratings
    assert ratings[1] <= MOST_GENERIC * everything, ratings
