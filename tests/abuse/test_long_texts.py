"""What a learner's text may cost outside the sandbox: seconds and memory are bounded, whatever the text is.

Each step takes two megabytes of it in a process of its own, whose processor time and memory are limited.
"""

import io
import json
import os
import resource
import signal
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from rich.console import Console

from autograder.course import feedback, layout
from autograder.course.assigning.instructor_notebook import own_bank
from autograder.course.class_results import class_result, results_table
from autograder.course.run import gradebook_writer, nbgrader_steps
from autograder.course.run.class_run import ReleasedAssignment
from autograder.declaration.verdict import Verdict
from autograder.grading import results, submission
from autograder.grading.outputs import cell_outputs
from autograder.grading.rank_processes import needed_cells
from autograder.grading.restore import MAX_TEXT, GradeCell, read_notebook, restore
from autograder.values.error_advice import ErrorContext, advice
from autograder.values.texts import quoted
from tests.autograder.course.test_operations import NAME, make_course

SECONDS, MEMORY = 5, 500 << 20  # of a step, beyond what the process has used and mapped before
PIECE = 10_000  # characters of a cell, where there are many
COSTLY = {  # each took minutes or gigabytes somewhere, once
    "blank lines": " \n",
    "broad spaces": "\u2003\n",
    "a dotted import": ".a",
    "powers": "operand type",
    "files": "[](files/",
    "brackets": "[",
    "colours": "\x1b[m",
    "a long colour": "1;",
}
OTHERS = {
    "empty lines": "\n",
    "spaces": " ",
    "parentheses": "(",
    "closing": ")",
    "links": "[a](",
    "stars": "**a ",
    "backticks": "`a ``",
    "backslashes": "\\\\(",
    "dollars": "$a",
    "quotes": '"""',
    "tags": "<a b=",
    "pictures": "](attachment:",
    "magics": "\n%%a",
    "words": "a = b + 1\n",
}
SHAPES = COSTLY | OTHERS
BEGINS = {"a dotted import": "import a", "a long colour": "\x1b["}


def bounded(work):
    """Run it in a forked process; fails where it does not end well within SECONDS and MEMORY."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, for a process with threads
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # a forked process has used none
            work()
            status = 0
        except MemoryError:
            status = 2
        finally:
            os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    said = {0: "", 2: "too much memory", -signal.SIGXCPU: "too long", -signal.SIGKILL: "too long"}
    assert said.get(code, f"it failed: {code}") == ""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A course with one assignment, and what a run over it has."""
    folder, release = make_course(tmp_path_factory.mktemp("long"))
    assigned = ReleasedAssignment(
        folder / "release" / NAME / f"{NAME}.ipynb", release, own_bank(folder), submission.RunSettings(secret="s")
    )
    feedback.mathml("x", "inline")  # what it imports is no text's fault
    return SimpleNamespace(folder=folder, release=release, assigned=assigned)


def cells_of(text, size):
    """The text as code, as Markdown and as what code printed, in cells of that size."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    third = -(-len(pieces) // 3)
    code = [new_code_cell(piece) for piece in pieces[:third]]
    markdown = [new_markdown_cell(piece) for piece in pieces[third : 2 * third]]
    said = [
        new_output("stream", text=piece)
        if number % 2
        else new_output("error", ename="E", evalue="e", traceback=[piece])
        for number, piece in enumerate(pieces[2 * third :])
    ]
    return [*code, *markdown, new_code_cell("1", outputs=said)]


def notebook_of(place, cells):
    return from_dict({**place.release, "cells": [*place.release.cells, *cells]})


def record(place, text):
    """The gradebook, autograded/ and the feedback page, of one cell and of many."""
    config = layout.read_config(place.folder)
    with gradebook_writer.GradebookWriter(place.folder, NAME, config, nbgrader_steps.GradeInSandbox) as writer:
        writer.record("mallory", json.dumps(notebook_of(place, cells_of(text, PIECE))))


def record_whole(place, text):
    config = layout.read_config(place.folder)
    whole = [
        new_code_cell(text),
        new_markdown_cell(text),
        new_code_cell("1", outputs=[new_output("stream", text=text)]),
    ]
    with gradebook_writer.GradebookWriter(place.folder, NAME, config, nbgrader_steps.GradeInSandbox) as writer:
        writer.record("mallory", json.dumps(notebook_of(place, whole)))


def read_and_restore(place, text):
    path = place.folder / "long.ipynb"
    half = text[: MAX_TEXT // 2 - PIECE * 10]
    cells = [new_code_cell(half), *(new_markdown_cell(half[at : at + PIECE]) for at in range(0, len(half), PIECE))]
    path.write_text(json.dumps(notebook_of(place, cells)))
    restore(read_notebook(path), place.release)


def fingerprint(place, text):
    place.assigned.fingerprint(json.dumps(notebook_of(place, [new_code_cell(text)])))


def find_needed(_, text):
    needed_cells([text, "answer = 1"], [False, True])
    needed_cells([text[at : at + PIECE] for at in range(0, len(text), PIECE)], [False] * -(-len(text) // PIECE))


def advise(_, text):
    assert advice("TypeError", text) == advice("TypeError", text[:100])
    asked = ErrorContext("t-late", "f", "f(n, W)", given=("n",), letters=("p",), options=("up",))
    for error in ("NameError", "SyntaxError", "KeyError", "AttributeError", "TypeError"):
        advice(error, text, f"given({text}\nanswer = 3 {text}", asked)
    quoted(text)


def outputs(_, text):
    sent = [{"output_type": "stream", "text": text}, {"output_type": "display_data", "data": {"text/plain": text}}]
    assert len(cell_outputs(sent, lambda said: said)) == 2


def written(_, text):
    role = GradeCell("t", "written", 1.0)
    results.written_result(new_markdown_cell(text), role)


def table(_, text):
    result = results.result_of("t", 1.0, Verdict(0.0, quoted(text, 300), "wrong"), quoted(text))
    learner = class_result.Learner("mallory", [result], problem=text)
    shown = class_result.ClassResult("t", {"t": 1.0}, [learner], folder="/c", gradebook="/c/gradebook.db")
    console = Console(file=io.StringIO())
    results_table.print_class(shown, console)
    results_table.show(shown, "mallory", console)


STEPS = [record, record_whole, read_and_restore, fingerprint, find_needed, advise, outputs, written, table]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("shape", [*COSTLY, *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHERS)])
def test_no_text_takes_long_or_much_outside_the_sandbox(place, shape, step):
    unit = SHAPES[shape]
    text = (BEGINS.get(shape, "") + unit * (MAX_TEXT // len(unit)))[:MAX_TEXT]
    bounded(lambda: step(place, text))


def test_formgraders_page_has_the_same_bounds(place):
    exporter = HTMLExporter(config=layout.read_config(place.folder))
    exporter.from_notebook_node(place.release)
    for name, own in feedback.FILTERS.items():
        assert exporter.environment.filters[name] is own
