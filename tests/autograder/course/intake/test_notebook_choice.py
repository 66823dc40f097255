"""Which of a learner's files is the notebook of an assignment, by its questions and then by its name."""

import nbformat
import pytest

from autograder.course.intake.archives import Refused
from autograder.course.intake.download_names import Owner, Upload
from autograder.course.intake.notebook_choice import MAX_NOTEBOOKS, asked, choose

QUESTIONS = {"hw": {"h1", "h2", "h3"}, "lab": {"l1", "l2", "l3"}}


class Packed:
    """As much of an archive's member as its content."""

    def __init__(self, cells):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in cells])
        for number, cell in enumerate(notebook.cells):
            cell.id = f"c{number}"
        self.content = nbformat.writes(notebook).encode()

    def read(self):
        return self.content


def files(**cells_by_title):
    return [Upload(Packed(cells), Owner("plain", "ann"), title) for title, cells in cells_by_title.items()]


def chosen(by_title):
    return choose("hw", files(**by_title), QUESTIONS)


@pytest.mark.parametrize(
    ("by_title", "title", "notes"),
    [
        ({"hw.ipynb": ["h1"]}, "hw.ipynb", 0),
        ({"HW.IPYNB": ["h1"]}, "HW.IPYNB", 0),
        ({"mine.ipynb": ["h1"]}, "mine.ipynb", 0),  # by its questions
        ({"mine.ipynb": ["h1", "h2", "l1"]}, "mine.ipynb", 0),  # most of them
        ({"mine.ipynb": ["h1", "l1"]}, "mine.ipynb", 0),  # as many: this assignment comes first
        ({"mine.ipynb": ["nothing"]}, "mine.ipynb", 1),  # as the only one
        ({"hw.ipynb": ["nothing"], "other.ipynb": ["else"]}, "hw.ipynb", 2),  # by its name
        ({"hw.ipynb": ["l1"], "mine.ipynb": ["h1"]}, "mine.ipynb", 1),
        ({"a.ipynb": ["h1"], "hw (1).ipynb": ["h2"]}, "hw (1).ipynb", 1),
        ({"a.ipynb": ["h1"], "hw-2.ipynb": ["h2"]}, "hw-2.ipynb", 1),
        ({"a.ipynb": ["h1"], "b.ipynb": ["h1"]}, "a.ipynb", 0),  # the same file twice
        ({"a.ipynb": ["h1"], "hw.ipynb": ["h1"]}, "hw.ipynb", 0),
        ({"a.ipynb": ["h1"], "data.csv": []}, "a.ipynb", 1),
    ],
)
def test_the_notebook_is_chosen_by_its_questions_and_then_its_name(by_title, title, notes):
    result = chosen(by_title)
    assert (result.upload.title, len(result.notes)) == (title, notes)
    assert result.text == result.upload.member.content.decode()


@pytest.mark.parametrize(
    "by_title",
    [
        {},
        {"data.csv": []},
        {"mine.ipynb": ["l1"]},  # of another assignment
        {"hw.ipynb": ["l1", "l2", "h1"]},
        {"a.ipynb": ["h1"], "b.ipynb": ["h2"]},  # each may be it
        {"hw.ipynb": ["h1"], "hw-1.ipynb": ["h2"]},
        {"a.ipynb": ["nothing"], "b.ipynb": ["else"]},
    ],
)
def test_what_is_not_clear_is_refused(by_title):
    with pytest.raises(Refused):
        chosen(by_title)


@pytest.mark.parametrize(("count", "is_refused"), [(MAX_NOTEBOOKS, False), (MAX_NOTEBOOKS + 1, True)])
def test_only_so_many_notebooks_are_looked_into(count, is_refused):
    by_title = {"hw.ipynb": ["h1"]} | {f"n{number}.ipynb": [f"x{number}"] for number in range(1, count)}
    assert MAX_NOTEBOOKS == 20
    if is_refused:
        with pytest.raises(Refused):
            chosen(by_title)
    else:
        assert chosen(by_title).upload.title == "hw.ipynb"


@pytest.mark.parametrize(("others", "ending"), [(5, "x4.csv"), (6, "and 1 more"), (8, "and 3 more")])
def test_at_most_five_files_that_are_left_out_are_named(others, ending):
    (note,) = chosen({"hw.ipynb": ["h1"]} | {f"x{number}.csv": [] for number in range(others)}).notes
    assert note.endswith(ending)
    assert "x4.csv" in note
    assert "x5.csv" not in note


def test_where_no_notebook_can_be_read_each_reason_is_told():
    uploads = files(**{"a.ipynb": ["h1"], "b.ipynb": ["h1"]})
    for upload in uploads:
        upload.member.content = b"{"
    with pytest.raises(Refused, match=r"^a\.ipynb: not JSON .*; b\.ipynb: not JSON [^;]*; [^;]*$") as caught:
        choose("hw", uploads, QUESTIONS)
    assert "a notebook of hw was expected" not in str(caught.value)


def test_a_notebook_is_told_by_the_names_of_its_cells_and_the_text_of_prompts_and_tests(tmp_path):
    def cell(make, part, text, **nbgrader):
        return make(text, metadata={"gpubook": {"exercise": "h", "part": part}, "nbgrader": nbgrader})

    cells = [
        nbformat.v4.new_markdown_cell("Read this."),
        cell(nbformat.v4.new_markdown_cell, "prompt", "How many?", grade_id="h-prompt"),
        cell(nbformat.v4.new_code_cell, "answer", "n = ...", grade_id="h-answer", solution=True),
        cell(nbformat.v4.new_code_cell, "grade", "grade(n)", grade_id="h-grade", grade=True, points=1),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "hw.ipynb")
    assert asked(tmp_path / "hw.ipynb") == {"h-prompt", "h-answer", "h-grade", "How many?", "grade(n)"}
