"""What makes a verdict stale: another key of the same exercise, and no other's."""

from autograder.declaration import load_bank
from autograder.grading import fingerprints
from tests.autograder import tiny

SHARED = """
from autograder.answers import Count
from autograder.declaration import Exercise, Mistake

def twice(n):
    return 2*n

def make(name, solution):
    return Exercise(id=name, points=1, prompt="?", given=dict(n=[8]), answer=Count(), solution=solution,
                    mistakes=(Mistake(lambda n: 7, "Seven."), Mistake(lambda n: 9, "Nine.")))

FIRST = Exercise(id="s-first", points=1, prompt="?", given=dict(n=[8]), answer=Count(), solution=twice,
                 mistakes=(Mistake(lambda n: 7, "Seven."), Mistake(lambda n: 9, "Nine.")))
SECOND = Exercise(id="s-second", points=1, prompt="?", given=dict(n=[8]), answer=Count(),
                  solution=lambda n: FIRST.solution(n) + 4,
                  mistakes=(Mistake(lambda n: 7, "Seven."), Mistake(lambda n: 9, "Nine.")))
MADE = [make(name, lambda n: n) for name in ("s-third", "s-fourth")]
"""


def keys(tmp_path, text):
    path = tmp_path / "s.py"
    path.write_text(text)
    bank = load_bank(path)
    return fingerprints.of_keys([path], bank)


def changed(tmp_path, old, new):
    before, after = keys(tmp_path, SHARED), keys(tmp_path, SHARED.replace(old, new))
    assert SHARED.replace(old, new) != SHARED
    return {name for name in before if before[name] != after[name]}


def test_every_exercise_has_a_digest_of_its_own(tmp_path):
    found = keys(tmp_path, SHARED)
    assert set(found) == {"s-first", "s-second", "s-third", "s-fourth"}
    bank = tiny.write_bank(tmp_path)
    assert len(set(fingerprints.of_keys([bank.path], bank).values())) == len(tiny.IDS)


def test_a_key_concerns_its_exercise_and_those_that_name_it(tmp_path):
    assert changed(tmp_path, "+ 4", "+ 5") == {"s-second", "s-third", "s-fourth"}
    assert changed(tmp_path, "solution=twice,", "solution=lambda n: n,") >= {"s-first", "s-second"}


def test_what_exercises_share_concerns_all(tmp_path):
    assert changed(tmp_path, "return 2*n", "return 3*n") == {"s-first", "s-second", "s-third", "s-fourth"}
    assert changed(tmp_path, "lambda n: n)", "lambda n: n + 1)") == {"s-first", "s-second", "s-third", "s-fourth"}


def test_words_and_comments_that_change_nothing_concern_none(tmp_path):
    assert changed(tmp_path, "FIRST = ", "# a remark\n\nFIRST = ") <= {"s-third", "s-fourth"}


def test_the_program_has_one_fingerprint():
    assert fingerprints.of_program() == fingerprints.of_program()
