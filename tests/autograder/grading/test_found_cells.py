"""Notebooks whose cells have lost their metadata: what is recognised, where it goes, and what is said of the rest."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.book.source import notebook
from autograder.declaration import load_bank
from autograder.grading import restore
from autograder.grading.found_cells import ExerciseCells, FoundCells, Search, graded_in, variable_of
from autograder.grading.merged_cells import KnownTexts
from tests.autograder import tiny

WHY = """
from autograder.answers import Written

WHY = Exercise(id="tiny-why", prompt="Why?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")
"""
ANSWERS = tiny.RIGHT | {"tiny-why": "Because of *this*."}
IDS = tuple(ANSWERS)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    path = tmp_path_factory.mktemp("found") / "exercises.py"
    path.write_text(tiny.EXERCISES + WHY)
    bank = load_bank(path)
    cells = [new_markdown_cell("# Tiny"), new_code_cell("import numpy as np")]
    for name in IDS:
        stub = "### BEGIN SOLUTION\n### END SOLUTION"
        cells += [new_markdown_cell(f"On {name}."), new_code_cell(stub, metadata={"exercise": name})]
        cells.append(new_code_cell("seen = 1 + 1\nseen"))
    nb = new_notebook(cells=cells)
    for number, cell in enumerate(nb.cells):
        cell.id = f"cell-{number}"
    return notebook.expand(nb, bank, edition="learner", chapter=tiny.NAME)


@pytest.fixture
def submitted(release):
    """A submission with all answers, and its cells by exercise and part."""
    return tiny.fill(copy.deepcopy(release), ANSWERS)


def cell_of(nb, exercise, part="answer"):
    return next(
        cell
        for cell in nb.cells
        if cell.metadata.get("gpubook", {}).get("exercise") == exercise and cell.metadata["gpubook"]["part"] == part
    )


def forget(cells, ids=True):
    for number, cell in enumerate(cells):
        cell.metadata = {}
        cell.id = f"copy-{number}" if ids else cell.id


def shape(nb):
    """What the cells are, in order, and what stands in them."""
    return [(restore.grade_id(cell), cell.cell_type, cell.source) for cell in nb.cells]


@pytest.mark.parametrize("ids", [True, False])
def test_a_notebook_without_any_metadata_is_the_notebook_with_it(release, submitted, ids):
    expected = restore.restore(submitted, release)
    assert FoundCells.of(expected).sentence == ""
    forget(submitted.cells, ids)
    restored = restore.restore(submitted, release)
    assert shape(restored) == shape(expected)
    found = FoundCells.of(restored)
    assert (found.missing, found.found, found.lost, found.own) == (IDS, IDS, (), 6)
    assert found.sentence.startswith("has none of the 6 answer cells, and 6 cells of its own; 6 found again")
    again = restore.restore(restored, release)
    assert (shape(again), FoundCells.of(again)) == (shape(restored), found)


@pytest.mark.parametrize("exercise", IDS)
@pytest.mark.parametrize(
    "parts", [("answer",), ("grade",), ("answer", "grade"), ("prompt", "answer"), ("prompt", "answer", "grade")]
)
def test_one_exercise_may_lose_it(release, submitted, exercise, parts):
    expected = shape(restore.restore(submitted, release))
    there = [(exercise, part) for part in parts if part != "grade" or exercise != "tiny-why"]
    forget([cell_of(submitted, *one) for one in there])
    restored = restore.restore(submitted, release)
    assert shape(restored) == expected
    assert FoundCells.of(restored).lost == ()


def test_prompts_are_known_by_number_and_title_where_they_are_worded_anew(release, submitted):
    expected = shape(restore.restore(submitted, release))
    forget(submitted.cells)
    for cell in submitted.cells:
        cell.source = cell.source.replace("points\n\n", "points\n\nIn an earlier wording: ")
    assert shape(restore.restore(submitted, release)) == expected


def test_white_space_is_no_other_text(release, submitted):
    expected = [one[0] for one in shape(restore.restore(submitted, release))]
    forget(submitted.cells)
    for cell in submitted.cells:
        if cell.cell_type == "markdown":
            cell.source = f"{cell.source}  \r\n"
    assert [one[0] for one in shape(restore.restore(submitted, release))] == expected


def test_an_answer_beside_other_cells_is_the_one_that_binds_it(release, submitted):
    at = submitted.cells.index(cell_of(submitted, "tiny-steps"))
    submitted.cells[at:at] = [new_code_cell("n = 8\nn"), new_markdown_cell("My notes.")]
    submitted.cells.insert(at + 3, new_code_cell("answer + 1"))
    forget(submitted.cells)
    restored = restore.restore(submitted, release)
    assert cell_of(restored, "tiny-steps").source == ANSWERS["tiny-steps"]
    assert FoundCells.of(restored).lost == ()


def test_a_cell_that_answers_and_grades_is_the_answer(release, submitted):
    answer, grade = cell_of(submitted, "tiny-steps"), cell_of(submitted, "tiny-steps", "grade")
    answer.source = f"{answer.source}\n{grade.source}"
    submitted.cells.remove(grade)
    forget(submitted.cells)
    restored = restore.restore(submitted, release)
    at = [one[0] for one in shape(restored)].index("tiny-steps")
    assert [one[0] for one in shape(restored)][at + 1] == "tiny-steps-grade"
    assert restored.cells[at].source == answer.source


def test_what_is_deleted_is_not_found_and_said_so(release, submitted):
    for exercise, parts in {"tiny-steps": ("answer", "grade"), "tiny-why": ("answer",)}.items():
        for part in parts:
            submitted.cells.remove(cell_of(submitted, exercise, part))
    found = FoundCells.of(restored := restore.restore(submitted, release))
    assert (found.missing, found.lost) == (("tiny-steps", "tiny-why"), ("tiny-steps", "tiny-why"))
    assert found.sentence == "has 4 of the 6 answer cells, and 0 cells of its own; not found: tiny-steps, tiny-why"
    assert FoundCells.of(restore.restore(restored, release)) == found


def test_several_answer_cells_are_mentioned_and_equal_ones_are_not(release, submitted):
    answer = cell_of(submitted, "tiny-steps")
    submitted.cells.insert(submitted.cells.index(answer) + 1, copy.deepcopy(answer))
    assert FoundCells.of(restore.restore(submitted, release)).sentence == ""
    answer.source = "answer = 7"
    restored = restore.restore(submitted, release)
    assert FoundCells.of(restored).sentence == "has several answer cells of tiny-steps: the last counts"
    assert cell_of(restored, "tiny-steps").source == ANSWERS["tiny-steps"]


WHOLE = ("prompt", "answer", "grade")


@pytest.mark.parametrize("lost", [WHOLE, ("answer", "grade"), None], ids=["exercise", "cells", "all"])
def test_of_several_drafts_that_are_graded_the_last_is_the_answer(release, submitted, lost):
    at = submitted.cells.index(cell_of(submitted, "tiny-steps"))
    grade = cell_of(submitted, "tiny-steps", "grade").source
    submitted.cells[at:at] = [new_code_cell("answer = 7"), new_code_cell(grade)]
    forget([cell_of(submitted, "tiny-steps", part) for part in lost] if lost else submitted.cells)
    restored = restore.restore(submitted, release)
    assert cell_of(restored, "tiny-steps").source == ANSWERS["tiny-steps"]
    names = [one[0] for one in shape(restored)]
    assert names.index("tiny-steps-grade") == names.index("tiny-steps") + 1
    found = FoundCells.of(restored)
    assert (found.repeated, found.lost) == (("tiny-steps",), ())
    again = restore.restore(restored, release)
    assert (shape(again), FoundCells.of(again)) == (shape(restored), found)


def test_a_second_copy_of_a_prompt_or_of_a_chapters_cell_hides_no_answer(release, submitted):
    expected = [one[0] for one in shape(restore.restore(submitted, release))]
    submitted.cells.append(new_markdown_cell(cell_of(submitted, "tiny-steps", "prompt").source))
    at = submitted.cells.index(cell_of(submitted, "tiny-guess"))
    submitted.cells.insert(at, new_code_cell("import numpy as np"))
    forget(submitted.cells)
    restored = restore.restore(submitted, release)
    assert {name: cell_of(restored, name).source for name in IDS} == ANSWERS
    assert sorted(filter(None, (one[0] for one in shape(restored)))) == sorted(filter(None, expected))
    assert (FoundCells.of(restored).lost, FoundCells.of(restored).repeated) == ((), ("tiny-steps",))


@pytest.mark.parametrize(
    ("above", "below", "repeated"),
    [
        ((), ("*Your answer*",), ()),
        (("*Your answer*",), (), ()),  # typed below the stub
        (("My notes.",), (), ("tiny-why",)),
    ],
)
def test_an_answer_in_words_is_the_last_cell_in_which_something_is_written(release, submitted, above, below, repeated):
    at = submitted.cells.index(cell_of(submitted, "tiny-why"))
    submitted.cells[at + 1 : at + 1] = map(new_markdown_cell, below)
    submitted.cells[at:at] = map(new_markdown_cell, above)
    forget(submitted.cells)
    restored = restore.restore(submitted, release)
    assert cell_of(restored, "tiny-why").source == ANSWERS["tiny-why"]
    assert (FoundCells.of(restored).lost, FoundCells.of(restored).repeated) == ((), repeated)


@pytest.mark.parametrize("answer", ["Because of *this*.", "Why?"])
def test_the_rest_of_a_prompt_in_two_cells_is_no_answer(release, submitted, answer):
    cell_of(submitted, "tiny-why").source = answer
    prompt = cell_of(submitted, "tiny-why", "prompt")
    head, _, rest = prompt.source.partition("\n")
    prompt.source = head
    submitted.cells.insert(submitted.cells.index(prompt) + 1, new_markdown_cell(rest))
    forget(submitted.cells)
    assert cell_of(restore.restore(submitted, release), "tiny-why").source == answer


def each_once(restored, release):
    names = [name for name, _, _ in shape(restored) if name]
    assert len(names) == len(set(names))
    locked = {restore.grade_id(c): c.source for c in release.cells if c.metadata.get("nbgrader", {}).get("locked")}
    assert {restore.grade_id(c): c.source for c in restored.cells if restore.grade_id(c) in locked} == locked


def test_a_doctored_or_repeated_grade_cell_is_the_released_one_once(release, submitted):
    forget(submitted.cells)
    grades = [cell for cell in submitted.cells if graded_in(cell.source)]
    for cell in grades:
        cell.source = cell.source.replace("answer)", "14)")
    submitted.cells += [copy.deepcopy(cell) for cell in grades] * 2
    submitted.cells.insert(0, new_code_cell('grade("tiny-time", 2.0)\ngrade("tiny-steps", 14)'))
    each_once(restore.restore(submitted, release), release)


def test_marks_of_its_own_say_nothing_else(release, submitted):
    submitted.metadata["gpubook"] = {"answer_cells": {"asked": "x", "missing": [7, "tiny-time", "../x"], "found": 3}}
    found = FoundCells.of(restored := restore.restore(submitted, release))
    assert (found.asked, found.missing, found.found) == (6, ("tiny-time",), ())
    each_once(restored, release)
    nbformat.validate(restored)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('grade("a-b", answer)', ("a-b", True)),
        ("# mine\n\ngrade('a-b',\n      answer)\n", ("a-b", True)),
        ('answer = 2\ngrade("a-b", answer)', ("a-b", False)),
        ('grade("a", 1)\ngrade("b", 1)', None),
        ('grade("a", 1); grade("a", 2)', ("a", False)),
        ('x = grade("a", 1)', None),
        ("grade(name, 1)", None),
        ('other.grade("a", 1)', None),
        ('grade("a", 1', None),
        ("upgrade = 1", None),
        ("grade()", None),
    ],
)
def test_what_a_cell_grades(source, expected):
    assert graded_in(source) == expected


AGAIN = "1 found again by prompt, name or `grade` line"


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (FoundCells(3), ""),
        (FoundCells(3, ("a",), ("a",), 1), f"has 2 of the 3 answer cells, and 1 cell of its own; {AGAIN}"),
        (FoundCells(1, ("a",)), "has none of the 1 answer cells, and 0 cells of its own; not found: a"),
        (FoundCells(3, repeated=("a", "b")), "has several answer cells of a, b: the last counts"),
        (
            FoundCells(2, ("a",), ("a",), 2, ("b",)),
            f"has 1 of the 2 answer cells, and 2 cells of its own; {AGAIN}; several answer cells of b: the last counts",
        ),
    ],
)
def test_what_is_said_of_the_cells_that_were_found(found, sentence):
    assert found.sentence == sentence
    assert FoundCells.of_plain(found.as_plain()) == found


@pytest.mark.parametrize("plain", [None, [], "x", {}, {"asked": True, "own": 1.5, "missing": "ab"}])
def test_what_does_not_say_it_says_nothing(plain):
    assert FoundCells.of_plain(plain) == FoundCells()


def test_what_was_missing_before_is_still_told_after_it_was_put_back():
    before = FoundCells(3, ("a", "gone", "b"), ("a",), 5, ("c",))
    after = FoundCells(3, ("c",), (), 1, ("a",)).after(before, ["c", "b", "a"])
    assert after == FoundCells(3, ("c", "b", "a"), ("a",), 5, ("c", "a"))
    assert FoundCells(3, ("a",), (), 1).after(FoundCells(3, ("a",), ("a",), 5), ["a"]) == FoundCells(3, ("a",), (), 1)


@pytest.mark.parametrize(
    ("source", "variable"),
    [
        ('grade("a-b", answer)', "answer"),
        (" grade( 'a' ,  ring ) ", "ring"),
        ('grade("a", f(x))', ""),
        ("grade(a, b)", ""),
    ],
)
def test_the_variable_that_a_grade_cell_hands_over(source, variable):
    assert variable_of(source) == variable


def search(*sources, names=(), plain=()):
    """A search in cells of code, of which some have a name; "*" begins one of text."""
    cells = [new_markdown_cell(one) if one.startswith("*") else new_code_cell(one) for one in sources]
    known = [*names, *[None] * (len(cells) - len(names))]
    originals = {
        name: new_code_cell("", metadata={"gpubook": {"exercise": "e"}, "nbgrader": {}}) for name in names if name
    }
    return Search(cells, known, originals, set(plain))


def test_a_cell_is_the_learners_own_where_nobody_knows_it():
    made = search("a = 1", "b = 2", "  ", "import numpy", names=("known",), plain=("import numpy",))
    assert [made.free(at) for at in range(4)] == [False, True, False, False]
    assert (made.at("known"), made.at("none"), made.at("")) == (0, None, None)
    assert search("a", "b", names=("x", "x")).at("x") == 1


@pytest.mark.parametrize(
    ("sources", "names", "start"),
    [
        (["a = 1", "b = 2", "grade"], (), 0),
        (["a = 1", "b = 2", "grade"], ("known",), 1),
        (["a = 1", "b = 2", "grade"], (None, "known"), 2),
        (['grade("x", a)', "b = 2", "grade"], (), 1),
    ],
)
def test_the_learners_own_cells_above_a_grade_cell(sources, names, start):
    assert search(*sources, names=names)._before(2) == start


def test_an_answer_goes_by_the_name_that_only_its_exercise_asks_for():
    cells = ["ring = 1", "*ring = 2", "ring = 3", "other = 1", 'x = 1\ngrade("e", x)']
    made = search(*cells)
    assert made._by_name(ExerciseCells("e", variable="ring")) == 2
    assert made._by_name(ExerciseCells("e", variable="answer")) == 4
    assert made._by_name(ExerciseCells("e")) == 4
    assert made._by_name(ExerciseCells("none", variable="tree")) is None


def test_a_section_ends_at_a_cell_of_the_chapter_or_of_another_exercise():
    exercise = ExerciseCells("e", prompt="p")
    assert search("p", "a", "b", names=("p",))._section(exercise) == range(1, 3)
    assert search("p", "a", "np", "b", names=("p",), plain=("np",))._section(exercise) == range(1, 2)
    assert search("p", "a", "q", names=("p", None, "q"))._section(exercise) == range(1, 3)
    made = search("p", "a", "q", names=("p", None, "q"))
    made.originals["q"].metadata["gpubook"]["exercise"] = "another"
    assert made._section(exercise) == range(1, 2)
    assert made._section(ExerciseCells("e", prompt="none")) is None
    assert made._section(ExerciseCells("e")) is None


def merged(nb, joins):
    """The cells of a notebook, of which each that `joins` the one before is in one cell with it, without metadata."""
    out = []
    for cell in nb.cells:
        if out and out[-1].cell_type == cell.cell_type and joins(cell):
            out[-1].source += f"\n\n{cell.source}"
        else:
            out.append(cell)
    nb.cells[:] = out
    forget(nb.cells)


def code_of(nb):
    """The lines that run, in order, without those that grade."""
    lines = [line for cell in nb.cells if cell.cell_type == "code" for line in cell.source.splitlines()]
    return [line for line in lines if line.strip() and not line.startswith("grade(")]


@pytest.mark.parametrize("kind", ["code", "markdown"])
def test_merged_cells_are_parted_and_each_part_is_found(release, submitted, kind):
    expected = restore.restore(submitted, release)
    merged(submitted, lambda cell: cell.cell_type == kind)
    restored = restore.restore(submitted, release)
    assert FoundCells.of(restored).lost == ()
    assert code_of(restored) == code_of(expected)
    for name in IDS:
        assert cell_of(restored, name).source.startswith(ANSWERS[name])
    each_once(restored, release)
    assert shape(restore.restore(restored, release)) == shape(restored)


def test_several_answers_in_one_cell_of_code_are_each_the_cell_above_their_line(release, submitted):
    lines = [f'{ANSWERS[name]}\ngrade("{name}", answer)' for name in ("tiny-time", "tiny-steps")]
    submitted.cells[:] = [new_code_cell("\n".join([*lines, "after = 1"]))]
    restored = restore.restore(submitted, release)
    assert [cell_of(restored, name).source for name in ("tiny-time", "tiny-steps")] == lines
    assert FoundCells.of(restored).found == ("tiny-time", "tiny-steps")
    assert code_of(restored).index("after = 1") > code_of(restored).index(lines[1].splitlines()[0])


def test_who_grades_over_and_over_in_one_cell_keeps_that_cell(release, submitted):
    source = "\n".join(['grade("tiny-time", 2)\ngrade("tiny-steps", 14)'] * 2000)
    submitted.cells.insert(1, new_code_cell(source))
    assert source in [cell.source for cell in restore.restore(submitted, release).cells]


@pytest.mark.parametrize("answer", [None, "*Your answer*", "My own words."])
@pytest.mark.parametrize("metadata", [True, False])
def test_words_in_the_prompts_cell_are_the_answer_unless_one_stands_in_its_own(release, submitted, answer, metadata):
    prompt, own = cell_of(submitted, "tiny-why", "prompt"), cell_of(submitted, "tiny-why")
    prompt.source += f"\n\n{ANSWERS['tiny-why']}"
    if answer is None:
        submitted.cells.remove(own)
    else:
        own.source = answer
    if not metadata:
        forget(submitted.cells)
    restored = restore.restore(submitted, release)
    assert cell_of(restored, "tiny-why").source == (answer if answer == "My own words." else ANSWERS["tiny-why"])
    assert cell_of(restored, "tiny-why", "prompt").source == cell_of(release, "tiny-why", "prompt").source
    assert FoundCells.of(restored).lost == ()


@pytest.mark.parametrize(("notes", "lost"), [((), ()), (("My notes.",), ("tiny-why",))])
def test_words_without_a_prompt_are_found_by_their_place_where_only_one_text_is_there(release, submitted, notes, lost):
    at = submitted.cells.index(cell_of(submitted, "tiny-why"))
    submitted.cells[at - 1 : at] = map(new_markdown_cell, notes)  # in the prompt's place
    forget(submitted.cells)
    restored = restore.restore(submitted, release)
    assert FoundCells.of(restored).lost == lost
    assert (cell_of(restored, "tiny-why").source == ANSWERS["tiny-why"]) == (not lost)


def test_answers_of_one_name_in_another_place_are_nobodys(release, submitted):
    own = [cell for cell in submitted.cells if cell.metadata.get("gpubook", {}).get("part") == "answer"]
    submitted.cells[:] = [cell for cell in submitted.cells if cell not in own] + own
    forget(submitted.cells)
    found = FoundCells.of(restore.restore(submitted, release))
    assert found.lost == ("tiny-time", "tiny-steps", "tiny-guess", "tiny-spread")
    assert found.found == ("tiny-double", "tiny-why")


def test_only_text_beside_a_prompt_parts_a_cell():
    texts = KnownTexts(["**Exercise 1** · 2 points\n\nWhy?"], ["Read this.", "Read this.\n\nAnd that."])
    ask = "**Exercise 1** · 2 points\n\nWhy?"
    assert texts.parts(ask) == [ask]
    assert texts.parts("Read this.\n\nMine.") == ["Read this.\n\nMine."]
    assert texts.parts(f"Read  this.\r\n \r\nAnd that.\r\n\r\n{ask}\n\nA.\n\nB.") == [
        "Read  this.\n\nAnd that.",
        ask,
        "A.\n\nB.",
    ]
