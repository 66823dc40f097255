"""The page on how answers are read says what is so, and is reached from notebook and page alike."""

import re

import nbformat
import numpy as np
import pytest

import autograder
from autograder.answers import Choice, Count, Quantity
from autograder.answers.function import Function
from autograder.answers.kernel import language
from autograder.book.site import page
from autograder.book.source import notebook
from autograder.declaration import Exercise
from autograder.declaration.bank import declared_below, load_bank
from autograder.values import encoding
from autograder.values.numbers import Unreadable
from hwlib.units import show
from tests.autograder.book.test_notebook import BANK, expanded


@pytest.fixture(scope="module")
def text(root):
    return (root / "docs" / "answers.md").read_text(encoding="utf-8")


def test_every_notation_is_read_as_the_table_says(text):
    rows = re.findall(r"^\| `(.+?)` \| (\S+) \| (.+?) \|$", text, re.MULTILINE)
    assert len(rows) > 10
    for typed, unit, read in rows:
        assert show(float(Quantity(unit).read(eval(typed, {}))), unit) == read, typed


def test_counts_choices_and_units_are_read_as_it_says(text):
    (counts,) = re.findall(r"A count may be written (.+?)\.\n", text)
    assert {Count().read(eval(typed, {})) for typed in re.findall("`(.+?)`", counts)} == {24, 1024}
    assert Choice({"a": "It rises", "b": "It falls"}).read("It falls") == "b"
    (counted,) = re.findall(r"Behind a count may stand what is counted: `(.+?)`", text)
    assert Count(of="GPU").read(eval(counted, {})) == 21
    for other in (Count(), Count(of="node")):
        with pytest.raises(Unreadable):
            other.read(eval(counted, {}))
    scope = {}
    for code in re.findall(r"`(from hwlib.units .+?|answer = 4.+?)`", text):
        exec(code, scope)
    assert scope["answer"] == pytest.approx(4 / 450)


def test_it_lists_what_kernels_may_use_as_prompts_do(text):
    listed = [line for line in language().splitlines() if line.startswith("- ") and not line.startswith("- Signs")]
    assert len(listed) > 5
    assert not [line for line in listed if line not in text.splitlines()]


def returns_a_tuple(x):
    x.clear()  # its own
    return 1, 64.0


@pytest.mark.parametrize(
    ("f", "score"),
    [(returns_a_tuple, 1), (lambda x: np.array([1, 64]), 1), (lambda x: iter([1, 64]), 0)],
    ids=["tuple", "array", "iterator"],
)
def test_functions_are_read_as_it_says(f, score):
    kind = Function("f", "f(x)", cases=[([1, 2],), ([3],)])
    exercise = Exercise(id="t-f", prompt="", answer=kind, solution=lambda x: [1, 64])
    assert exercise.judge_message(encoding.encode(f), None, kind.local_call(f)).score == score


def test_the_tolerances_are_those_of_the_book(text, root):
    banks = [load_bank(path) for path in declared_below(root / "solutions")]
    kinds = [exercise.answer for bank in banks for exercise in bank.values()]
    named = {float(percent) / 100 for percent in re.findall(r"within ([\d.]+) %", text)}
    assert {kind.rtol for kind in kinds if isinstance(kind, Quantity)} == named
    exercises = [one for bank in banks for one in bank.values() if type(one.answer) is Function]
    loose = {
        one.id: f"ithin {100 * one.answer.rtol:.1f} %" in one.prompt for one in exercises if one.answer.rtol != 1e-9
    }
    assert all(loose.values()), loose  # its prompt says so


def test_a_notebook_shows_the_page_which_leads_nowhere_else(text):
    assert autograder.how_to_answer().text == text
    assert not re.search(r"\]\((?!https?:)|^```\{|\{\w+\}`", text, re.MULTILINE)


def test_without_the_book_nothing_raises(monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.learner.guidance.book_root", lambda: tmp_path)
    assert "tolerance" not in autograder.how_to_answer().text


def test_the_first_exercise_of_a_notebook_points_to_it_and_no_other(tmp_path):
    nb = expanded(tmp_path)
    for _ in range(2):
        notebook.point_to_guide(nb)
    assert [notebook.POINTER in c.source for c in nb.cells if c.id.endswith("-prompt")] == [True, False]
    rest = nbformat.from_dict(nb)
    rest.cells = [cell for cell in nb.cells if not cell.id.startswith("links-time")]
    notebook.point_to_guide(rest)
    assert [notebook.POINTER in c.source for c in rest.cells if c.id.endswith("-prompt")] == [True]


def test_the_first_card_of_a_page_links_to_it():
    made = [page.card(BANK["links-time"], "7.1", "", "07-links", course=False, first=first) for first in (True, False)]
    assert ["](answers.md)" in card for card in made] == [True, False]
