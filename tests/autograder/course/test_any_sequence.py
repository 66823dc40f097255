"""Whatever sequence of decisions led to it, a graded course is what one is that was made from nothing in its last
state."""

import json
import random
import shutil
import sys

import pytest
from nbgrader.api import Gradebook

from autograder import course
from autograder.course import gradebook
from autograder.course.agreements import extensions
from autograder.course.assigning.assign_and_drop import set_points
from autograder.course.terms import agreed_terms, assignment_state
from autograder.course.terms.agreed_terms import Extension
from tests.autograder.course.test_grade_inputs import ASKED, LEARNERS, differences, standing
from tests.autograder.course.test_grade_inputs import folder as folder
from tests.autograder.course.test_grade_inputs import graded as graded

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
]
JUDGED = ASKED[:2]  # whose points can be others


def decide(folder, rng):
    """One decision that can be made now, at random."""
    state, terms = assignment_state.read(folder, "hw"), agreed_terms.read(folder, "hw")
    exercise, judged, who = rng.choice(ASKED), rng.choice(JUDGED), rng.choice(LEARNERS)
    choices = {
        "assign": lambda: course.assign(folder, "hw", exercises=rng.choice([None, ASKED])),
        "assign with points": lambda: course.assign(folder, "hw", points={judged: rng.choice([1, 2.5, 6])}),
        "points": lambda: set_points(folder, "hw", {judged: rng.choice([1, 4, 7.5])}),
        "drop": lambda: course.drop(folder, "hw", exercise),
        "extend": lambda: extensions.extend(folder, "hw", [who], Extension(days=rng.choice([1, 3]))),
        "grade": lambda: course.grade(folder, "hw", resume=True),
    }
    if exercise not in state.dropped:
        choices["full marks"] = lambda: course.full_marks(folder, "hw", exercise)
    for undone, names in (("drop", state.dropped), ("full_marks", state.full)):
        for name in names:
            choices[f"{undone} {name}"] = lambda undone=undone, name=name: getattr(course, undone)(
                folder, "hw", name, undo=True
            )
    for name in state.points:
        choices[f"points {name}"] = lambda name=name: set_points(folder, "hw", {name: None})
    for name in terms.extensions:
        choices[f"extension {name}"] = lambda name=name: extensions.remove(folder, "hw", [name])
    made = rng.choice(sorted(choices))
    choices[made]()
    return made


def made_from_nothing(folder):
    """The same course, of which nothing is left but what is decided, and what was submitted."""
    state, terms = assignment_state.read(folder, "hw"), agreed_terms.read(folder, "hw")
    due = gradebook.due_date(gradebook.url_of(folder), "hw")
    for name in ("assignments.json", "terms.json", "gradebook.db"):
        (folder / name).unlink(missing_ok=True)
    for name in ("source/hw", "release/hw", "autograded", "feedback"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in (folder / ".gpubook").iterdir():
        if path.name != "secret":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    course.assign(folder, "hw", exercises=ASKED, points=state.points, due=due)
    with Gradebook(gradebook.url_of(folder)) as book:
        for who in (*LEARNERS, "dan"):
            book.add_student(who)
    for name in state.dropped:
        course.drop(folder, "hw", name)
    for name in state.full:
        course.full_marks(folder, "hw", name)
    for who, extension in terms.extensions.items():
        extensions.extend(folder, "hw", [who], extension)
    course.grade(folder, "hw")


def numbers(folder):
    """What the gradebook has of everybody."""
    rows = gradebook.scores(folder, ["hw"])["hw"]
    return {(row.person.id, name): getattr(row, name) for row in rows for name in ("raw", "max_score", "late_penalty")}


@pytest.mark.parametrize("seed", range(6))
def test_a_sequence_of_decisions_leaves_no_trace_but_its_end(folder, seed):
    rng = random.Random(f"decisions {seed}")
    made = [decide(folder, rng) for _ in range(8)]
    at_once = numbers(folder)
    course.grade(folder, "hw", resume=True)
    assert numbers(folder) == pytest.approx(at_once), made  # the gradebook had followed at once
    after = standing(folder)
    sources = [json.loads((folder / part / "hw" / "hw.ipynb").read_text()) for part in ("source", "release")]
    made_from_nothing(folder)
    assert differences(folder, after) == [], made
    anew = [json.loads((folder / part / "hw" / "hw.ipynb").read_text()) for part in ("source", "release")]
    assert anew == sources
