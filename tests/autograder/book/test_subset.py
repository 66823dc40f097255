"""What of a chapter stays without some of its exercises: names are followed through the cells in their order."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.book.source.output_dependence import SPOILER
from autograder.book.source.subset import SUPPLIED, without

SOLUTION = "### BEGIN SOLUTION\n{}\n### END SOLUTION"


def exercise(key, stub, solution=""):
    """The cells of an exercise, with its solution as the instructor's notebook has it."""

    def own(part):
        return {"gpubook": {"exercise": key, "part": part} | ({"stub": stub} if part == "answer" else {})}

    return [
        new_markdown_cell("Write it.", id=f"{key}-prompt", metadata=own("prompt")),
        new_code_cell(SOLUTION.format(solution or stub), id=key, metadata=own("answer")),
        new_code_cell(f'grade("{key}", answer)', id=f"{key}-grade", metadata=own("grade")),
    ]


def cell(name, source, **metadata):
    return new_code_cell(source, id=name, metadata=metadata)


def left(cells, *left_out):
    """The sources that stay, by cell."""
    return {made.id: made.source for made in without(new_notebook(cells=cells), left_out)}


RING = exercise("t-ring", "def ring(n):\n    ...", "def ring(n):\n    return n")


def test_a_figure_goes_with_the_function_that_it_draws_and_its_caption_with_the_figure():
    figure = [cell("figure", "plots.draw(ring)"), new_markdown_cell("**Figure 1.**", id="figure-caption")]
    text = new_markdown_cell("Above you wrote `ring`.", id="text")
    cells = [*RING, *figure, text]
    assert list(left(cells, "t-ring")) == ["text"]
    assert list(left(cells)) == [made.id for made in cells]


@pytest.mark.parametrize(
    ("before", "source", "stays"),
    [
        ("", 'reveal("t-ring")', False),
        ("", 'reveal("t-other")', True),
        ("", 'lockstep("ring", 8)', True),
        ("", "{ring: 3 for ring in names}", True),
        ("", "def attempt(rank):\n    return ring(rank)\n\nrun_ranks(attempt, 4)", False),
        ("", "f = lambda n: ring(n) + 1", False),
        ("made = ring(4)", "table(made)", False),
        ("made = ring(4)\nmade = 3", "table(made)", True),
        ("ring = 3", "ring + 1", True),
        ("while True:\n    lap = ring(2)", "lap", False),
        ("%matplotlib inline", "1 + 1", True),
    ],
)
def test_what_needs_an_answer_goes_and_nothing_else_does(before, source, stays):
    cells = [*RING, *([cell("before", before)] if before else []), cell("after", source)]
    assert ("after" in left(cells, "t-ring")) == stays


def test_a_function_that_reads_an_answer_when_it_is_called_is_called_no_more():
    helper = cell("helper", "def times(n):\n    return [ring(k) for k in range(n)]")
    cells = [helper, cell("early", "ring = abs\ntimes(3)"), *RING, cell("late", "times(4)")]
    assert list(left(cells, "t-ring")) == ["helper", "early"]


def test_an_earlier_value_is_not_taken_for_the_one_that_is_lost():
    letters = exercise("t-letters", 'W = symbols("t-letters")')
    assert list(left([cell("w", "W = 5"), *letters, cell("table", "table(W)")], "t-letters")) == ["w"]


def test_of_a_cell_that_goes_what_others_need_stays():
    mixed = cell(
        "mixed",
        "from random import Random\n\n# both tables have these\nsizes = [1, 2]    # MB\nfirst = ring(2)\n\n"
        "def both(x):\n    return x + offset\noffset = 3; table(first)",
        tags=[SPOILER, "measured"],
        alt="A table.",
    )
    cells = [*RING, mixed, cell("after", "table(sizes, Random(1))")]
    made = {one.id: one for one in without(new_notebook(cells=cells), ["t-ring"])}
    assert made["mixed"].source == "from random import Random\n\n# both tables have these\nsizes = [1, 2]    # MB"
    assert made["mixed"].metadata == {"tags": ["measured"]}
    assert cells[3].metadata.alt == "A table."  # the chapter's own cell is as it was
    assert list(left([*RING, mixed], "t-ring")) == []


def test_what_an_exercises_solution_needs_of_a_cell_stays_too():
    mixed = cell("mixed", "import math\ntable(ring(2))")
    area = exercise("t-area", "answer = ...", "answer = math.pi")
    assert left([*RING, mixed, *area], "t-ring")["mixed"] == "import math"


def test_an_exercise_that_may_use_another_gets_it_as_the_book_has_it():
    twice = exercise("t-twice", "def twice(n):\n    ...", "def twice(n):\n    return 2*ring(n)")
    cells = [*RING, cell("figure", "draw(ring)"), *twice, cell("both", "draw(ring, twice)"), cell("r", "'t-ring'")]
    made = left(cells, "t-ring")
    assert made["t-ring-supplied"] == f"{SUPPLIED}\ndef ring(n):\n    return n"
    assert list(made) == ["t-ring-supplied", "figure", *(one.id for one in twice), "both"]
    assert list(left(cells, "t-ring", "t-twice")) == []
