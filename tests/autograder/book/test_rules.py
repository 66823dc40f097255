"""Each rule finds what breaks it, and says where, what it found and what it expected."""

import pytest

from autograder.book.rules import chapter_rules

EXERCISES = """\
from autograder.answers import Choice, Count, Expression, Quantity, Written, positive
from autograder.declaration import Exercise, Mistake

GUESS = Exercise(id="links-guess", prompt="Which, to first order?", predict=True, hints=("Which?",),
                 answer=Choice({"a": "x", "b": "y"}), solution="a", mistakes=(Mistake("b", "No."),))
PICK = Exercise(id="links-pick", prompt="Which, exactly?", hints=("Which?",),
                answer=Choice({"a": "x", "b": "y"}), solution="a", mistakes=(Mistake("b", "No."),))
HALF = Exercise(id="links-half", prompt="A third of x, exactly?", hints=("Divide.",),
                answer=Expression({"x": positive()}), solution=lambda x: x/3)
WHY = Exercise(id="links-why", prompt="Why?", answer=Written(rubric=(("Says why.", 1),)), solution="So.")
MORE = [Exercise(id=f"links-{n}x", prompt="How long, exactly?", hints=("Divide.",), given=dict(n=[n]),
                 answer=Count(), solution=lambda n: n) for n in range(4)]
"""
FIGURE = """
```{code-cell} ipython3
:caption: What there is to see in this.
:alt: What is drawn here, said in words.

widgets.one()
```
"""

FIRST = "\n```{{code-cell}} ipython3\n{}\nfrom autograder import grade\n{}\n```\n"
CALLS = "\n```{code-cell} ipython3\nfrom hwlib.roofline import ridge\n\nridge(1, 2)\n```\n"


MEASURED = "\n## Plans\n\n```{{code-cell}} ipython3\nfrom hwlib.specs import {0}\n\nrows = {0}()\n```\n\n{1}\n"
COMPUTED = "a number computed from it, or “of the rows here”, was expected"


def asks(*names):
    return "".join(f"\n```{{code-cell}} ipython3\n:exercise: links-{name}\n\nanswer = 1\n```\n" for name in names)


REVEAL = '\n```{code-cell} ipython3\nreveal("links-guess")\n```\n'
LINES = (
    "This is a line of nine words or so.\n" * 11
    + "This is a {drag}`n = 2 in 1..3` {drag}`m = 2 in 1..3` {drag}`k = 2 in 1..3` {n}`n + m + k` or so.\n"
)
TEXT = "".join(
    (
        "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n---\n\n",
        "# Links\n\n*Needs:* nothing.\n\n",
        LINES,
        FIGURE,
        FIGURE.replace("one", "two"),
        asks("guess"),
        REVEAL,
        asks("pick", "half", "why", "0x", "1x", "2x", "3x"),
    )
)


def cell(lines):
    return "\n```{code-cell} ipython3\n" + "x = 1\n" * lines + "```\n"


@pytest.fixture
def reading(tmp_path):
    """Reads a chapter of a text and exercises, in which something is replaced."""

    def read(old="", new=""):
        folder = tmp_path / "solutions" / "07-links"
        folder.mkdir(parents=True)
        assert not old or TEXT.count(old) + EXERCISES.count(old) >= 1
        (folder / "07-links.md").write_text(TEXT.replace(old, new) if old else TEXT)
        (folder / "exercises.py").write_text(EXERCISES.replace(old, new) if old else EXERCISES)
        return chapter_rules.ChapterReading.of(tmp_path, "07-links")

    return read


def test_a_chapter_may_keep_all_rules(reading):
    assert list(chapter_rules.broken(reading())) == []


@pytest.mark.parametrize("more", [4, 14])
def test_a_chapter_may_have_8_to_18_exercises(reading, more):
    assert list(chapter_rules.number_of_exercises(reading("range(4)", f"range({more})"))) == []


BROKEN = [
    ("number_of_exercises", "range(4)", "range(15)", ["md:1: 19 exercises; 8 to 18 were expected"]),
    ("number_of_exercises", "range(4)", "range(3)", ["md:1: 7 exercises; 8 to 18 were expected"]),
    (
        "kinds_of_answer",
        "answer=Count()",
        'answer=Expression({"n": positive()})',
        ["md:1: 3 kinds of answer (Choice, Expression, Written); at least 4 were expected"],
    ),
    (
        "kinds_that_every_chapter_asks",
        'Expression({"x": positive()})',
        'Quantity("s")',
        ["md:1: no Expression exercises, predictions aside; at least 1 was expected"],
    ),
    (
        "kinds_that_every_chapter_asks",
        '"Which, exactly?",',
        '"Which, exactly?", predict=True,',
        ["md:1: no Choice exercises, predictions aside; at least 1 was expected"],
    ),
    (
        "kinds_that_every_chapter_asks",
        "answer=Count(), solution=lambda n: n",
        'answer=Written(rubric=(("So.", 1),)), solution="So."',
        ["md:1: 5 Written exercises, predictions aside; at most 2 were expected"],
    ),
    (
        "a_prediction",
        "predict=True, ",
        "",
        ["md:1: no exercise has predict=True; at least one prediction was expected"],
    ),
    (
        "ids_begin_with_the_topic",
        'id="links-half"',
        'id="half-links"',
        ["exercises.py:8: the id is 'half-links'; one that begins with 'links-' was expected"],
    ),
    (
        "each_exercise_is_asked_once",
        ":exercise: links-half",
        ":exercise: links-third",
        [
            "exercises.py:8: 'links-half' is asked by no cells; one was expected",
            "md:55: 'links-third' is asked and declared nowhere; an exercise of that id was expected",
        ],
    ),
    (
        "each_exercise_is_asked_once",
        REVEAL,
        REVEAL + asks("guess"),
        ["exercises.py:4: 'links-guess' is asked by 2 cells; one was expected"],
    ),
    (
        "every_prompt_says_how_exact",
        "A third of x, exactly?",
        "A third of x?",
        ["exercises.py:8: the prompt of 'links-half' says neither 'exact' nor 'first order'"],
    ),
    (
        "every_exercise_hints",
        '"A third of x, exactly?", hints=("Divide.",)',
        '"A third of x, exactly?"',
        ["exercises.py:8: 'links-half' has no hints; at least one was expected"],
    ),
    (
        "a_reveal_follows_each_prediction",
        REVEAL,
        "",
        ["exercises.py:4: 'links-guess' is never revealed; reveal(\"links-guess\") was expected after it"],
    ),
    (
        "a_reveal_follows_each_prediction",
        REVEAL,
        asks("pick") + REVEAL,
        ["md:49: 'links-guess' is revealed, and the cell before asks 'links-pick'; that prediction was expected"],
    ),
    (
        "a_reveal_follows_each_prediction",
        REVEAL,
        "\nWords.\n" + REVEAL,
        ["md:45: 'links-guess' is revealed, and the cell before asks nothing; that prediction was expected"],
    ),
    (
        "a_reveal_follows_each_prediction",
        "predict=True, ",
        "",
        ["md:43: 'links-guess' is revealed, and is not a prediction; predict=True was expected"],
    ),
    (
        "live_figures",
        "widgets.two",
        "plots.two",
        ["md:1: 1 live figure (widgets.one); at least 2 different ones were expected"],
    ),
    (
        "live_figures",
        "widgets.two",
        "widgets.one",
        ["md:1: 1 live figure (widgets.one); at least 2 different ones were expected"],
    ),
    (
        "every_figure_is_described",
        FIGURE.replace("one", "two"),
        "\n```{code-cell} ipython3\n:alt: Too short for anybody.\n\nwidgets.two()\n```\n",
        [
            "md:32: the figure has no :caption:; at least 6 words were expected",
            "md:32: the figure has a :alt: of 4 words; at least 6 words were expected",
        ],
    ),
    (
        "captions_are_true_on_a_page",
        "What there is to see in this.",
        "Your machine, beside a chip of your choice.",
        [f"md:{at}: the :caption: says “Your machine”, and a page shows the book's own run" for at in (26, 33)],
    ),
    ("code_cells_are_short", FIGURE, FIGURE + cell(26), ["md:30: a code cell of 26 lines; at most 25 were expected"]),
    (
        "code_cells_are_short",
        "# Links\n",
        "# Links\n" + cell(9) * 12,
        ["md:1: code cells of 9 lines at the median; at most 8 were expected"],
    ),
    (
        "the_first_cell_needs_no_torch",
        FIGURE,
        FIRST.format("import numpy as np", "import time, torch.nn\nfrom triton import language") + FIGURE,
        [
            "md:23: numpy is imported before autograder; after it was expected",
            "md:25: torch is imported in the first cell; next to its lab was expected",
            "md:26: triton is imported in the first cell; next to its lab was expected",
        ],
    ),
    (
        "a_line_is_a_sentence",
        "# Links\n",
        "# Links\n\nOne line.\nThe first has an end. The second begins.\n",
        ["md:8: two sentences in a line, at “The first has an end. The second begins.”; one was expected"],
    ),
    (
        "prose_for_each_line_of_code",
        LINES,
        "Few words.\n",
        ["md:1: 6 words of prose for 11 lines of code, 0.5 for each; 8 to 20 were expected"],
    ),
    (
        "numbers_come_from_the_code",
        "# Links\n",
        "# Links\n\nWords, and `code\nof lines`.\nIt moves 450 GB/s.\n",
        ["md:9: “Links Words, and . It moves 450 GB/s” is typed by hand; {n}`…` was expected"],
    ),
    (
        "the_head_says_what_is_needed",
        "*Needs:* nothing.",
        "*Needed:* nothing.",
        ["md:1: no line “*Needs:* …” before the first section; one was expected"],
    ),
    (
        "formulas_are_introduced",
        FIGURE,
        FIGURE + CALLS,
        [
            "md:32: uses ridge, which no chapter up to here introduces; {f}`ridge`, or a sentence with `ridge` in it, "
            "was expected"
        ],
    ),
    (
        "of_a_sample_only_what_is_computed",
        FIGURE,
        FIGURE + MEASURED.format("measured_plans", "The table has no published run of it."),
        [f"md:37: “no published run”, and of measured_plans.csv only a part is here; {COMPUTED}"],
    ),
    (
        "numbers_can_be_dragged",
        " {drag}`m = 2 in 1..3`",
        "",
        ["md:1: 2 {drag}s; at least 3 were expected"],
    ),
    (
        "numbers_can_be_dragged",
        "{n}`n + m + k`",
        "{n}`n + k`",
        ["md:20: no number follows 'm'; {n}`…` with it was expected"],
    ),
    (
        "nothing_is_left_to_write",
        "# Links\n",
        "# Links\n\nTODO: a question.\n",
        ["md:7: “TODO: a question.” is left; your text was expected"],
    ),
    (
        "nothing_is_left_to_write",
        "GUESS =",
        "# TODO\nGUESS =",
        ["exercises.py:4: “TODO” is left; your text was expected"],
    ),
]


@pytest.mark.parametrize(
    ("rule", "old", "new", "says"), BROKEN, ids=lambda value: value if str(value).isidentifier() else ""
)
def test_a_broken_rule_says_where_what_was_found_and_what_was_expected(reading, rule, old, new, says):
    chapter = "solutions/07-links/"
    found = list(getattr(chapter_rules, rule)(reading(old, new)))
    assert found == [chapter + (line if line.startswith("exercises") else f"07-links.{line}") for line in says]


HEAD = "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n---\n\n# Wires\n\n"
ORDER = [  # what stands in the chapters 06-wires and 08-racks, in the one between them, and what is said of that
    (
        "the_head_says_what_is_needed",
        "{f}`ridge`",
        "",
        CALLS,
        ["md:33: uses ridge, which 06-wires introduces; 06-wires"],
    ),
    ("the_head_says_what_is_needed", "{f}`ridge`", "", "*Needs:* {chapter}`6`" + CALLS, []),
    (
        "the_head_says_what_is_needed",
        "",
        "",
        "*Needs:* {chapter}`8` (racks)",
        ["md:7: 08-racks is needed, and comes later"],
    ),
    ("the_head_says_what_is_needed", "", "", "*Needs:* {chapter}`9` (rows)", ["md:7: {chapter}`9` is not a chapter"]),
    ("formulas_are_introduced", "The `ridge` divides.", "", CALLS, []),
    ("formulas_are_introduced", "", "", "The `ridge(C, W)` divides.\n" + CALLS, []),
    ("formulas_are_introduced", "", "{f}`ridge`", CALLS, ["md:33: uses ridge, which only 08-racks introduces"]),
    (
        "terms_are_introduced",
        "",
        "A **rack row** is a line.",
        "Two rack-rows.",
        ["md:29: “rack row” is introduced in 08-racks"],
    ),
    ("terms_are_introduced", "", "A **rack row** is a line.", "Rack rows ({chapter}`racks`).\n\nTwo rack rows.", []),
    ("terms_are_introduced", "A **rack row** is.", "A **rack row** is a line.", "Two rack rows.", []),
    ("terms_are_introduced", "", "A **rack row** is a line.", "`rack row` and *“a rack row”* are not words.", []),
    ("terms_are_introduced", "", "The **core** is a switch.", "Apples have a core.", []),
]


@pytest.mark.parametrize(("rule", "before", "after", "text", "says"), ORDER)
def test_a_chapter_keeps_to_the_order_of_the_book(reading, tmp_path, rule, before, after, text, says):
    chapter = (
        reading("*Needs:* nothing.", text) if text.startswith("*Needs:*") else reading(FIGURE, FIGURE + "\n" + text)
    )
    for name, content in (("06-wires", before), ("08-racks", after)):
        (tmp_path / "solutions" / name).mkdir()
        (tmp_path / "solutions" / name / f"{name}.md").write_text(f"{HEAD}{content}\n")
    found = list(getattr(chapter_rules, rule)(chapter))
    assert len(found) == len(says)
    for line, start in zip(found, says, strict=True):
        assert line.startswith(f"solutions/07-links/07-links.{start}")


@pytest.mark.parametrize(
    ("before", "after", "then", "broken"),
    [
        ("import math", "import numpy\n\ndef lazy():\n    import torch", "import torch", []),
        ("from hwlib import tl", "from . import torch", "import triton", []),
        ("try:\n    import torch\nexcept ImportError:\n    pass", "", "", [24]),
        ("%matplotlib inline\nimport torch", "", "", []),  # which Python cannot read
    ],
)
def test_torch_stands_in_any_cell_but_the_first(reading, before, after, then, broken):
    text = FIRST.format(before, after) + f"\n```{{code-cell}} ipython3\n{then}\n```\n" + FIGURE
    found = list(chapter_rules.the_first_cell_needs_no_torch(reading(FIGURE, text)))
    assert [int(line.split(":")[1]) for line in found] == broken


def test_no_package_comes_before_the_cell_that_imports_autograder(reading):
    text = "\n```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell} ipython3\nimport sympy\n```\n"
    found = list(chapter_rules.the_first_cell_needs_no_torch(reading(FIGURE, text + FIRST.format("", "") + FIGURE)))
    assert [line.split(": ")[1].split()[0] for line in found] == ["sympy"]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The largest run has {n}`max(row.gpus for row in rows)` GPUs.", 0),
        ("The largest run has {n}`2 + 2` GPUs.", 1),
        ("Of the rows here the largest run is the best measured one.", 0),
        ("The largest array waits.", 0),  # speaks of no table
        ("*“The largest run”*, says `the largest run`.", 0),
        ("Nobody splits so {cite}`qin2024,vtrain`.", 1),
        ("Nobody splits so {cite}`qin2024`.", 0),  # a source of another table
        ("## Others\n\nThe largest run waits.", 0),  # a section that reads no table
    ],
)
def test_a_claim_is_held_against_what_is_here(reading, text, claims):
    chapter = reading(FIGURE, FIGURE + MEASURED.format("measured_plans", text))
    assert len(list(chapter_rules.of_a_sample_only_what_is_computed(chapter))) == claims


@pytest.mark.parametrize(("table", "claims"), [("measured_interruptions", 0), ("measured_mixtures", 1)])
def test_of_a_whole_table_anything_may_be_claimed(reading, table, claims):
    chapter = reading(FIGURE, FIGURE + MEASURED.format(table, "No run of the table is faster."))
    assert len(list(chapter_rules.of_a_sample_only_what_is_computed(chapter))) == claims


def test_a_claim_below_a_figure_or_in_a_prompt_is_one_of_its_table(reading):
    cell = MEASURED.format("measured_plans", "").replace("rows =", ":caption: The largest array waits.\n\nrows =")
    drawn = cell.replace("ipython3\nfrom hwlib.specs import measured_plans\n\n:caption", "ipython3\n:caption").replace(
        "rows = measured_plans()", "from hwlib.specs import measured_plans\nrows = measured_plans()"
    )
    assert len(list(chapter_rules.of_a_sample_only_what_is_computed(reading(FIGURE, FIGURE + drawn)))) == 1


def test_a_prompt_that_reads_a_table_is_held_against_it(reading):
    asked = 'from hwlib.specs import measured_plans\n\nROWS = measured_plans()\nHALF = Exercise(id="links-half", '
    asked += 'prompt="A third of the largest published run, exactly?"[: len(ROWS) + 99], '
    old = 'HALF = Exercise(id="links-half", prompt="A third of x, exactly?", '
    (line,) = chapter_rules.of_a_sample_only_what_is_computed(reading(old, asked))
    assert line.startswith("solutions/07-links/exercises.py:11: “the largest”")


def test_every_rule_is_tried():
    assert {rule for rule, *_ in (*BROKEN, *ORDER)} == {rule.__name__ for rule in chapter_rules.RULES}


def test_an_answer_that_the_library_hands_over_is_named(reading):
    symbols = '{"C": positive(), "W": positive()}'
    chapter = reading(
        'Expression({"x": positive()}), solution=lambda x: x/3', f"Expression({symbols}), solution=lambda C, W: C/W"
    )
    (line, *_) = chapter_rules.broken(chapter)
    assert line.startswith("solutions/07-links/exercises.py:8: links-half: hwlib.")
    assert "solution" in line
