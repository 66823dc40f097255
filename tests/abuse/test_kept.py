"""What outlives a submission in a course: the answers that are kept of it, and the numbers that it is asked with."""

import json

import nbformat
import pytest

from autograder.course.run.journal import Journal
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.rejudging import judge_again
from autograder.grading.restore import grade_id
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.grading.worker import JobOutcome, _outcome
from autograder.sandbox import Limits

from . import course
from .conftest import LIMITS
from .course import QUICK, Attack

FORGED = """
import struct
from autograder.sandbox import wire
def send(channel, message):
    body = '{"number": %d, "value": VALUE, "message": "m\\\\ud800", "error": "e\\\\ud800", "outputs": []}'
    body = (body % message['number']).encode()
    channel.sendall(struct.pack('>I', len(body)) + body)
wire.send = send
"""
VALUES = {
    "lists in lists": "[" * 940 + "]" * 940,
    "objects in objects": '{"a":' * 900 + "1" + "}" * 900,
    "lists as they are sent": '{"$":"list","v":[' * 450 + "1" + "]}" * 450,
    "an infinity": "1e999",
    "no number as a key": '{"$":"dict","v":[[{"$":"float","v":"nan"},1]]}',
    "half a character": '"2 s\\\\ud800"',
    "half a character in a name": '{"$":"callable","v":"f\\\\ud800"}',
    "a tree of halves": '{"$":"tree","v":["add",["sym","n"],["sym","\\\\ud800"]]}',
    "a long integer": "7" * 4000,
    "another exercise's": '{"abuse-guess":"y","$":"abuse-guess","v":"y"}',
}


@pytest.mark.parametrize("value", VALUES, ids=lambda name: name.replace(" ", "-"))
def test_a_forged_answer_is_kept_as_any_other_and_judged_again(classroom, tmp_path, value):
    _, bank, zygote, judge = classroom
    answers = {"abuse-time": FORGED.replace("VALUE", VALUES[value])}
    nb, release = course.submission_of(bank, Attack(value, answers=answers, asked=QUICK))
    done = grade_notebook(nb, release, bank, "mallory", RunSettings(LIMITS), zygote=zygote, judge=judge)
    assert done.problems == []
    assert sum(one.points for one in done.results) == 0
    with Journal.open(tmp_path, "week1") as journal:
        journal.begin(restart=True)
        kept = journal.keep("mallory", Fingerprint("a", "b", {}), JobOutcome.of(_outcome(done).as_plain()))
        journal.keep("bob", Fingerprint("a", "b", {}), JobOutcome(json.dumps(release)))
    with Journal.open(tmp_path, "week1") as journal:
        assert set(journal.entries) == {"mallory", "bob"}
        entry = journal.entries["mallory"]
        assert entry.results == kept.results == tuple(done.results)
        executed = nbformat.from_dict(json.loads(journal.notebook(entry)))
    stay = [one for one in entry.results if one.exercise not in entry.answers]
    again = judge_again(executed, "mallory", False, judge, stay, entry.answers, {})
    assert again.problems == []
    assert [one.points for one in again.results] == [0.0] * len(QUICK)


SAYING = "def ring(rank, n, x):\n    raise ValueError(float(x[0]))\n    yield"


def test_one_text_as_another_program_is_asked_with_other_numbers(classroom):
    """Else each cell that is code or not would hand a bit of what a verdict has shown to the next submission."""
    _, bank, zygote, judge = classroom

    def said(edit):
        attack = Attack("bits", "bit = 1", {"abuse-ring": SAYING}, asked=("abuse-ring",), edit=edit)
        nb, release = course.submission_of(bank, attack)
        settings = RunSettings(Limits(cell=10.0), secret="s")
        done = grade_notebook(nb, release, bank, "mallory", settings, zygote=zygote, judge=judge)
        return done.results[0].say

    def turned(kind):
        def edit(nb):
            cell = nb.cells[1]
            nb.cells[1] = nbformat.from_dict({"cell_type": kind, "source": cell.source, "metadata": {}, "id": cell.id})

        return edit

    def twice(role):
        """The answer's cell two times, one of them with its role."""

        def edit(nb):
            cells = [c for c in nb.cells if c.cell_type == "code" and grade_id(c)]
            answer = next(c for c in cells if not c.metadata.nbgrader.grade)
            copies = [nbformat.v4.new_code_cell(SAYING, id=f"copy-{k}") for k in range(2)]
            copies[role].metadata = answer.metadata
            at = nb.cells.index(answer)
            nb.cells[at : at + 1] = copies

        return edit

    code = said(None)
    assert "ValueError: 1." in code
    assert said(None) == said(turned("code")) == code
    assert len({code, said(turned("markdown")), said(turned("raw"))}) == 3
    assert len({code, said(twice(0)), said(twice(1))}) == 3
