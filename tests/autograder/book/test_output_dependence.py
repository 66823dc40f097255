"""Whose program an output shows: names are followed from an exercise's answer through the cells of a chapter."""

import copy
from itertools import pairwise

import pytest
from nbformat.v4 import new_markdown_cell, new_output

from autograder.book.site.page import PageError, assemble
from autograder.book.source import chapters
from autograder.book.source.output_dependence import DependentNames, line
from tests.autograder.small_book import SOURCE, lay_out


@pytest.fixture
def answered():
    found = DependentNames()
    found.asked("ring", "6.3")
    found.asked("scatter", "6.4")
    return found


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("draw(ring)", ["6.3"]),
        ("draw(scatter, ring)", ["6.3", "6.4"]),
        ("def attempt(rank):\n    return ring(rank)\n\nrun(attempt)", ["6.3"]),
        ("{name: ring for name, ring in counts.items()}", []),
        ("def draw(ring):\n    return ring", []),
        ("lap = 2*ring_time", []),
        ("ring = 3\nring + 1", []),
        ("%matplotlib inline", []),
    ],
)
def test_a_cell_depends_on_the_answers_that_it_reads(answered, source, numbers):
    assert answered.ran(source) == numbers


def test_what_a_cell_makes_of_an_answer_depends_on_it_too_until_it_is_made_anew(answered):
    answered.ran("made = ring(4)\nother = 3")
    assert answered.ran("table(made)") == ["6.3"]
    assert answered.ran("table(other)") == []
    answered.ran("def made():\n    return 4")
    assert answered.ran("table(made)") == []


def test_exercises_stand_in_their_order():
    found = DependentNames()
    for name, number in (("a", "6.10"), ("b", "6.9")):
        found.asked(name, number)
    assert found.ran("a, b") == ["6.9", "6.10"]
    assert line(["6.9", "6.10"]) == "With the book's solutions of exercises 6.9 and 6.10; the notebook runs your own."


CELLS = """\
```{code-cell} ipython3
half(3)
```

```{code-cell} ipython3
:tags: [spoiler]

[half(x) for x in range(9)]
```

```{code-cell} ipython3
W/2
```
"""


@pytest.fixture
def chapter(tmp_path, root):
    lay_out(tmp_path, root, f"{SOURCE}\n{CELLS}")
    return chapters.load(tmp_path, "07-links")


def assembled(chapter, course):
    """The code cells of the page by source, and what stands below each, where every cell has shown a text."""
    executed = copy.deepcopy(chapter.instructor)
    for cell in executed.cells:
        if cell.cell_type == "code":
            cell.outputs = [new_output("execute_result", data={"text/plain": "shown"})]
    cells = assemble(chapter, chapter.instructor, executed, course).cells
    pairs = pairwise([*cells, new_markdown_cell()])
    return {one.source: (one, after.source) for one, after in pairs if one.cell_type == "code"}


def test_a_page_says_with_whose_program_an_output_came(chapter):
    found = assembled(chapter, course=False)
    assert "the book's solution of exercise 7.4; the notebook runs your own" in found["half(3)"][1]
    assert "solution" not in found["W/2"][1]
    folded, below = found["[half(x) for x in range(9)]"]
    assert "hide-output" in folded.metadata["tags"]
    assert folded.metadata["mystnb"]["code_prompt_show"] == "With the book's solution of exercise 7.4"
    assert folded.outputs
    assert "solution" not in below


def test_the_course_edition_shows_nothing_that_gives_an_answer_away(chapter):
    found = assembled(chapter, course=True)
    assert found["half(3)"][0].outputs
    assert not found["[half(x) for x in range(9)]"][0].outputs


def test_a_spoiler_that_depends_on_no_answer_is_refused(tmp_path, root):
    lay_out(tmp_path, root, f"{SOURCE}\n{CELLS.replace('half(x) for', 'W*x for')}")
    with pytest.raises(PageError, match=r"07-links.md:\d+: a cell with the tag spoiler reads no function"):
        assembled(chapters.load(tmp_path, "07-links"), course=False)
