"""Points by criterion: what is taken of them, what they add up to, and what is kept."""

import json
import math

import pytest

from autograder.book.course_error import CourseError
from autograder.course.by_hand import marks
from autograder.course.by_hand.marks import Mark

RUBRIC = (("Names it.", 2.0), ("Says why.", 1.5))


@pytest.mark.parametrize("given", [(0, 1.5), (2, 0), (None, None), [1, 0.25], (1 / 3, None)])
def test_points_within_their_criteria_are_taken(given):
    taken = marks.checked(given, RUBRIC)
    assert taken == tuple(None if one is None else round(one, 4) for one in given)


@pytest.mark.parametrize(
    "given",
    [(2.001, 1), (2, 1.5001), (-0.001, 1), (True, 1), ("1", 1), (math.nan, 1), (1,), (1, 1, 1), None, {}, "ab"],
)
def test_any_others_are_refused(given):
    with pytest.raises(CourseError, match="expected"):
        marks.checked(given, RUBRIC)


@pytest.mark.parametrize(
    ("given", "scale", "points"),
    [
        ((2, 1.5), 1.0, 3.5),
        ((2, None), 1.0, 2.0),
        ((None, None), 1.0, 0.0),
        ((2, 1.5), 2.0, 7.0),
        ((0.1, 0.2), 1.0, 0.3),
    ],
)
def test_points_add_up(given, scale, points):
    assert marks.total(given, scale) == points


@pytest.mark.parametrize(
    ("given", "points", "score", "stands"),
    [
        ((2.0, 1.0), 3.0, 3.0, True),
        ((2.0, 1.0), 3.0, 3.0 + 9e-7, True),
        ((2.0, 1.0), 3.0, 3.00001, False),
        ((2.0, None), 2.0, 2.0, False),
        ((2.0, 1.0), None, 3.0, False),
        ((2.0, 1.0), 3.0, None, False),
    ],
)
def test_a_mark_stands_while_it_is_decided_and_the_gradebook_has_its_sum(given, points, score, stands):
    assert Mark(given, RUBRIC, points).stands(score) is stands


@pytest.mark.parametrize(
    ("given", "most", "sign"), [(2, 2, "✓"), (3, 2, "✓"), (1.999, 2, "◐"), (0.001, 2, "◐"), (0, 2, "✗")]
)
def test_a_sign_says_how_much_was_reached(given, most, sign):
    assert marks.sign(given, most) == sign


def test_criteria_are_told_with_their_points_and_without_what_a_learner_may_not_read():
    told = marks.as_markdown(Mark((2.0, None), RUBRIC, scale=2.0), ["Names\n it.", None]).splitlines()
    assert told[2:] == ["- ✓ Names it. — 4 of 4", "- ✗ Criterion 2 — 0 of 3"]


def test_marks_are_read_as_they_were_saved(tmp_path):
    assert marks.load(tmp_path, "hw", "why") == {}
    made = {"zoë": Mark((2.0, None), RUBRIC, None, "ada", "2030-01-01", 0.5), "ann": Mark((0.0, 1.5), RUBRIC, 1.5)}
    with marks.alone(tmp_path, "hw", "why"):
        marks.save(tmp_path, "hw", "why", made)
    assert marks.load(tmp_path, "hw", "why") == made
    assert marks.exercises(tmp_path, "hw") == ["why"]
    assert marks.exercises(tmp_path, "other") == []


@pytest.mark.parametrize("change", [{"given": [3, 1]}, {"rubric": [["x"]]}, {"by": None, "given": 7}])
def test_a_file_of_marks_that_is_not_ours_is_named(tmp_path, change):
    with marks.alone(tmp_path, "hw", "why"):
        marks.save(tmp_path, "hw", "why", {"ann": Mark((2.0, 1.0), RUBRIC)})
    path = tmp_path / ".gpubook" / "by_hand" / "hw" / "why.json"
    held = json.loads(path.read_text())
    held["answers"]["ann"] |= change
    path.write_text(json.dumps(held))
    with pytest.raises(CourseError):
        marks.load(tmp_path, "hw", "why")
    path.write_text("{")
    with pytest.raises(CourseError, match=r"why\.json: .*move it away"):
        marks.load(tmp_path, "hw", "why")


def test_a_point_of_a_rubric_is_a_point_of_the_assignment_unless_it_is_said():
    mark = Mark((2.0, 1.0), RUBRIC)
    assert (mark.scale, marks.total(mark.given)) == (1.0, 3.0)
    assert marks.as_markdown(mark, ["A", "B"]).splitlines()[2] == "- ✓ A — 2 of 2"


@pytest.mark.parametrize(("score", "stands"), [(3.0000005, True), (3.000005, False)])
def test_a_sum_stands_within_the_noise_of_floats(score, stands):
    assert Mark((2.0, 1.0), RUBRIC, 3.0).stands(score) is stands


def test_marks_are_the_teachers_alone_and_say_which_version_wrote_them(tmp_path):
    with marks.alone(tmp_path, "hw", "why"):
        marks.save(tmp_path, "hw", "why", {"ann": Mark((2.0, 1.0), RUBRIC)})
    folder = tmp_path / ".gpubook" / "by_hand" / "hw"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "why.json": 0o600,
        "why.lock": 0o600,
    }
    assert json.loads((folder / "why.json").read_text())["version"] == 1


@pytest.mark.parametrize(
    ("rubric", "same", "given"),
    [
        (RUBRIC, None, (2.0, 0.5)),
        ((("Says  why.", 1.5), ("Names it.", 2.0)), None, (0.5, 2.0)),  # another order, other blanks
        ((("Names it.", 3.0), ("Says why.", 3.0)), None, (3.0, 1.0)),  # worth more
        ((("Names it.", 2.0),), None, (2.0,)),
        ((("Names it.", 2.0), ("New.", 1.0)), None, (2.0, None)),
        ((("Names it at last.", 2.0), ("Says why.", 1.5)), None, (None, 0.5)),
        ((("Names it at last.", 2.0), ("Says why.", 1.5)), {1: 1}, (2.0, 0.5)),
        ((("Says why.", 1.5),), {1: 1}, (1.5,)),  # what is stated goes before what the text says
    ],
)
def test_points_are_carried_to_another_rubric_where_they_can_be_known(rubric, same, given):
    assert marks.carried(Mark((2.0, 0.5), RUBRIC, 2.5), rubric, same) == given


def test_what_was_not_decided_is_not_decided_in_another_rubric():
    assert marks.carried(Mark((None, 0.5), RUBRIC), (("Names it.", 4.0), ("Says why.", 1.5))) == (None, 0.5)
