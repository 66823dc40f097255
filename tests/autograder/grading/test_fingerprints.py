"""What makes a verdict stale: another key of the same exercise, and no other's."""

import ast

import nbformat
import pytest

from autograder.declaration import Bank, load_bank
from autograder.grading import fingerprints
from autograder.grading.fingerprints import Fingerprint
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


NOW = Fingerprint("s", "r", {"a": "1", "b": "2"}, "w")


@pytest.mark.parametrize(
    ("before", "unchanged"),
    [
        (NOW, {"a", "b"}),
        (Fingerprint("s", "r", {"a": "1", "b": "3", "c": "4"}, "other words"), {"a"}),
        (Fingerprint("s", "r", {}), set()),
        (Fingerprint("other", "r", NOW.keys), None),
        (Fingerprint("s", "other", NOW.keys), None),
    ],
)
def test_a_key_is_unchanged_where_the_submission_and_the_release_are(before, unchanged):
    assert before.unchanged_keys(NOW) == unchanged


def released(prompt="How long?", points=2.0, full=False, answer="answer = ...", text="Text.", extra=None):
    """A release with a prompt, an answer, a grade cell and a text."""

    def cell(source, part, **own):
        about = {
            "gpubook": {"part": part, "full_marks": full},
            "nbgrader": {"grade_id": part, "checksum": source} | own,
        }
        return nbformat.v4.new_code_cell(source, metadata=about | (extra or {}), id=part)

    text = nbformat.v4.new_markdown_cell(text, id="text", metadata={"gpubook": {"part": "prompt"}})
    cells = [cell(prompt, "prompt"), cell(answer, "answer"), cell("grade()", "grade", points=points), text]
    return nbformat.v4.new_notebook(cells=cells)


def print_of(settings=("x",), submission="{}", **about):
    bank = Bank([])
    return fingerprints.of_run(released(**about), list(settings), [], bank, [])(submission)


@pytest.mark.parametrize("about", [{"prompt": "How much?"}, {"points": 3.0}, {"full": True}])
def test_wording_and_points_follow_without_a_run(about):
    before, after = print_of(), print_of(**about)
    assert (before.release, before.submission) == (after.release, after.submission)
    assert before.wording != after.wording


@pytest.mark.parametrize(
    "about", [{"answer": "answer = 1"}, {"text": "Another."}, {"extra": {"tags": ["measured"]}}, {"settings": ["y"]}]
)
def test_whatever_else_is_released_or_set_needs_a_run(about):
    assert print_of().release != print_of(**about).release


def test_a_submission_is_known_by_its_notebook_and_the_keys_are_those_of_the_assignment(tmp_path):
    assert print_of().submission != print_of(submission="{ }").submission
    (tmp_path / "s.py").write_text(SHARED)
    bank = load_bank(tmp_path / "s.py")
    made = fingerprints.of_run(released(), [], [tmp_path / "s.py"], bank, ["s-first"])("{}")
    assert list(made.keys) == ["s-first"]


def test_a_file_that_is_imported_from_counts_for_all_that_does(tmp_path):
    def names(**texts):
        return fingerprints._imported("main", {"main": texts.pop("main"), **texts})

    assert names(main="from .other import x", other="", more="") == {"other"}
    assert names(main="from .other import x", other="from . import more", more="from .main import y") == {
        "other",
        "more",
    }
    assert names(main="from .other.deep import x", other="") == {"other"}
    assert names(main="from other import x\nfrom ..other import y\nimport other", other="") == set()
    assert names(main="from .none import x\nfrom .main import y") == set()


def test_exercises_are_declared_by_an_id_that_is_written_out():
    def declared(text):
        return fingerprints._declares(ast.parse(text).body[0])

    assert declared("A = Exercise(id='a', title='b')") == {"a"}
    assert declared("A = [Exercise(id='a'), Exercise(id='b')]") == {"a", "b"}
    assert (
        declared("A = Exercise(id=name, n=3)") == declared("A = Exercise(id=3)") == declared("A = {'id': 'a'}") == set()
    )
    assert fingerprints._binds(ast.parse("a = b = f(c)").body[0]) == {"a", "b"}
