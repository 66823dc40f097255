"""One exercise cell becomes three, with steady ids; a mistake in a source is named with its line."""

from dataclasses import replace

import nbformat
import pytest

from autograder.answers import Choice, Count, Quantity
from autograder.book.source import chapters, notebook
from autograder.book.source.notebook import ChapterError, ChapterSource
from autograder.declaration import Exercise, Mistake
from autograder.declaration.worked import solution_of
from tests.autograder.small_book import lay_out

TIME = Exercise(
    id="links-time",
    title="One buffer",
    points=2,
    prompt="How long does {S:B} take at {W:B/s}?",
    given={"S": [1e8, 3e8], "W": [5e10]},
    answer=Quantity("s"),
    solution=lambda S, W: S / W,
    mistakes=(Mistake(lambda S, W: 5 * S / W, "five"), Mistake(lambda S, W: W / S, "upside down")),
    hints=("Divide.",),
)
COUNT = Exercise(id="links-count", prompt="How many?", answer=Count(), solution=3)
GUESS = Exercise(
    id="links-guess",
    prompt="Which?",
    predict=True,
    answer=Choice({"up": "It rises.", "down": "It falls."}),
    solution="up",
)
BANK = {e.id: e for e in (TIME, COUNT, GUESS)}
CELL = """```{{code-cell}} ipython3
:exercise: {0}

### BEGIN SOLUTION
answer = {1}
### END SOLUTION
```
"""
TEXT = "# Links\n\nText.\n\n" + CELL.format("links-time", "secret") + "\n" + CELL.format("links-count", 3)


def source(tmp_path, text=TEXT):
    (tmp_path / "07-links.md").write_text(text)
    return ChapterSource.read(tmp_path / "07-links.md")


def expanded(tmp_path, text=TEXT, **options):
    src = source(tmp_path, text)
    return notebook.expand(notebook.read(src), BANK, source=src, chapter="07-links", **options)


def test_a_cell_becomes_prompt_answer_and_grade(tmp_path):
    nb = expanded(tmp_path)
    nbformat.validate(nb)
    assert [c.id for c in nb.cells[1:]] == [
        "links-time-prompt",
        "links-time",
        "links-time-grade",
        "links-count-prompt",
        "links-count",
        "links-count-grade",
    ]
    prompt, answer, grade = nb.cells[1:4]
    assert prompt.source.startswith("**Exercise 7.1** · One buffer · 2 points\n\nHow long does 100 MB take at 50 GB/s?")
    assert 'hint("links-time")' in prompt.source
    assert "secret" in answer.source
    assert grade.source == 'grade("links-time", answer)'
    flags = [
        (c.metadata.nbgrader.solution, c.metadata.nbgrader.grade, c.metadata.nbgrader.locked) for c in nb.cells[1:4]
    ]
    assert flags == [(False, False, True), (True, False, False), (False, True, True)]
    assert grade.metadata.nbgrader.points == 2
    assert [c.metadata.gpubook.part for c in nb.cells[1:4]] == ["prompt", "answer", "grade"]
    assert notebook.used_exercises(nb) == ["links-time", "links-count"]


def test_the_learners_edition_has_the_stub_and_no_solution(tmp_path):
    nb = expanded(tmp_path, edition="learner")
    assert nb.cells[2].source == TIME.stub()
    assert not any("secret" in c.source or "SOLUTION" in c.source for c in nb.cells)


def test_with_variants_the_prompt_has_letters_and_a_cell_for_the_numbers(tmp_path):
    nb = expanded(tmp_path, variants=True)
    assert "100 MB" not in nb.cells[1].source
    assert "next cell" in nb.cells[1].source
    assert nb.cells[2].source == 'from autograder import exercise\n\nexercise("links-time")'
    assert nb.cells[2].metadata.nbgrader.locked
    without_numbers = [c.id for c in nb.cells[5:7]]
    assert without_numbers == ["links-count-prompt", "links-count"]


def test_a_choice_lists_its_options_but_not_what_is_said_of_them(tmp_path):
    nb = expanded(tmp_path, "# T\n\n" + CELL.format("links-guess", '"up"'))
    assert '- `"up"`: It rises.\n- `"down"`: It falls.' in nb.cells[1].source
    assert "prediction" in nb.cells[1].source


def test_a_prompt_names_what_its_answer_must_do_without():
    names = ("hwlib.algorithms", "hwlib.simulate")
    prompt = notebook.prompt_markdown(replace(COUNT, withholds=names), "1.1")
    assert all(f"`{name}`" in prompt for name in (*names, "Step", "blocks")), prompt
    assert "`Step`" not in notebook.prompt_markdown(replace(COUNT, withholds=names[1:]), "1.1")
    assert "hwlib" not in notebook.prompt_markdown(COUNT, "1.1")


def test_ids_depend_on_the_source_alone(tmp_path):
    twice = TEXT + "\n+++\n\nSame.\n\n+++\n\nSame.\n"
    first, second = ([c.id for c in notebook.read(source(tmp_path, twice)).cells] for _ in range(2))
    assert first == second
    assert len(set(first)) == len(first)
    assert first[-1] == first[-2] + "-2"


def test_solution_of_gives_what_stands_between_the_markers(tmp_path):
    cell = "before\n### BEGIN SOLUTION\na = 1\nb = 2\n### END SOLUTION\nafter"
    assert solution_of(cell) == "a = 1\nb = 2"
    assert solution_of("no markers") == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            TEXT.replace(": links-count", ": links-cuont"),
            r"07-links.md:14: unknown exercise 'links-cuont'; .*links-count",
        ),
        (
            TEXT.replace(": links-count", ": links-time"),
            r"07-links.md:\d+: the exercise 'links-time' .*twice",
        ),
        (
            TEXT.replace("### BEGIN SOLUTION\nanswer = 3", "answer = 3"),
            "'links-count' lacks its solution",
        ),
        ('+++ {"exercise": "links-time"}\n\ntext', "markdown cell; a code cell"),
    ],
)
def test_a_wrong_source_is_named_with_its_line(tmp_path, text, says):
    with pytest.raises(ChapterError, match=says):
        expanded(tmp_path, text)


def test_a_source_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(ChapterError, match=r"none\.md: "):
        ChapterSource.read(tmp_path / "none.md")
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ChapterError, match="UTF-8"):
        ChapterSource.read(tmp_path / "bytes.md")


def test_a_prompt_links_to_its_card_where_the_pages_are_published(tmp_path, root):
    lay_out(tmp_path, root)
    listed = tmp_path / "docs" / "chapters.toml"
    listed.write_text('[07-links]\ntitle = "Links"\n')
    alone = chapters.load(tmp_path, "07-links")
    assert [c.id for c in alone.instructor.cells if "In the book's page" in c.source] == []
    listed.write_text('site = "https://example.org/book"\n[07-links]\ntitle = "Links"\n')
    linked = chapters.load(tmp_path, "07-links")
    prompts = [c for c in linked.instructor.cells if c.id.endswith("-prompt")]
    assert len(prompts) == 5
    for prompt in prompts:
        card = f"https://example.org/book/07-links.html#exercise-{prompt.id.removesuffix('-prompt')}"
        assert prompt.source.endswith(f"\n\n[In the book's page]({card})")
    course = chapters.load(tmp_path, "07-links", course=True)
    assert [c.id for c in course.instructor.cells if "example.org/book" in c.source] == []
