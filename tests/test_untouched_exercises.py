"""Which cells of a chapter are graded as its untouched exercises."""

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.autograder.tiny import write_bank
from tests.untouched_exercises import depending, with_what_they_need


def of(part: str, exercise: str) -> dict:
    return {"gpubook": {"exercise": exercise, "part": part}}


CELLS = [
    new_code_cell("import math\nfrom autograder import grade, reveal"),
    new_markdown_cell("Text."),
    new_code_cell("size = math.pi"),
    new_code_cell("drawn = plot(size)"),
    new_markdown_cell("How long?", metadata=of("prompt", "tiny-time")),
    new_code_cell("answer = ...", metadata=of("answer", "tiny-time")),
    new_code_cell('grade("tiny-time", answer)', metadata=of("grade", "tiny-time")),
    new_code_cell('reveal("tiny-guess")'),
    new_code_cell("def twice(x):\n    ...", metadata=of("answer", "tiny-double")),
    new_code_cell("def four(x):\n    return twice(size*x)"),
    new_code_cell("alone = size"),
    new_code_cell("four(1)"),
]
DEPENDING = {5, 6, 7, 8, 9, 11}
NEEDED = {0, 2}


def test_cells_of_exercises_and_those_that_name_one_or_read_its_answer_depend(tmp_path):
    assert depending(CELLS, write_bank(tmp_path)) == DEPENDING


def test_what_they_need_and_the_exercises_texts_stay_in_their_order():
    staying = with_what_they_need(CELLS, DEPENDING)
    assert staying == [CELLS[place] for place in sorted(DEPENDING | NEEDED | {4})]


def test_a_name_that_is_given_after_it_was_read_keeps_no_cell():
    cells = [new_code_cell("before = 1"), new_code_cell("before"), new_code_cell("before = 2")]
    assert with_what_they_need(cells, {1}) == cells[:2]
