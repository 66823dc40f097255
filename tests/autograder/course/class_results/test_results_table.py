import io

import pytest
from rich.console import Console

from autograder.course.class_results import results_table
from autograder.course.class_results.class_result import Change, ClassResult, LateChange, Learner
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.grading.results import Result

IDS = ("links-ring-time", "links-waves")
CLASS = ClassResult(
    "week3",
    {IDS[0]: 2.0, IDS[1]: 1.0},
    [Learner("ada", [Result(IDS[0], 2.0, 2.0, "Right.", "right"), Result(IDS[1], 0.0, 1.0, "Round up.", "mistake")])],
)


def shown(what):
    out = io.StringIO()
    results_table.show(CLASS, what, Console(file=out, width=200))
    return out.getvalue()


def test_a_learners_sentences_are_shown():
    assert "Right." in shown("ada")
    assert "Round up." in shown("ada")


@pytest.mark.parametrize("name", ["links-waves", "waves", "2"])
def test_one_exercise_goes_by_its_id_and_by_what_the_table_calls_it(name):
    said = shown(f"ada/{name}")
    assert "Round up." in said
    assert "Right." not in said


def test_an_exercise_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(KeyError, match=r"'wave' in week3; .*: links-ring-time, links-waves"):
        shown("ada/wave")


def test_a_terminal_obeys_nothing_in_the_name_of_a_file():
    problem = "a\x1b]0;owned\x07\x1b[2J.ipynb: a link; files were expected"
    result = ClassResult("week3", {IDS[0]: 2.0}, [Learner("mal", problem=problem)], problems=["\x1b[2J"])
    out = io.StringIO()
    console = Console(file=out, width=200)
    results_table.print_class(result, console)
    results_table.show(result, "mal", console)
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().count("a link; files were expected") == 2


SCORES = {
    who: AssignmentScore(
        GradebookLearner(who, first, last), "week3", 3.0, graded=who != "zed", raw=raw, late_penalty=late
    )
    for who, first, last, raw, late in (
        ("ada", "Ada", "Zimmer", 2.0, 0.5),
        ("bo", "Bo", "Abel", 3.0, 0.0),
        ("zed", "Zed", "\x1b[2J", 0.0, 0.0),
    )
}
BO = Learner("bo", [Result(IDS[0], 2.0, 2.0, "Right.", kind="right"), Result(IDS[1], 0.0, 1.0, "…", kind="waiting")])
TWO = ClassResult("week3", CLASS.exercises, [*CLASS.learners, BO])


def printed(**more):
    out = io.StringIO()
    results_table.print_class(TWO, Console(file=out, width=100), **more)
    return out.getvalue()


def test_the_table_has_names_in_their_order_late_penalties_and_the_grade_that_counts():
    lines = printed(scores=SCORES).splitlines()
    assert [line.split() for line in lines[2:4]] == [
        ["bo", "Abel,", "Bo", "2", "…", "2", "3"],
        ["ada", "Zimmer,", "Ada", "2", "0", "2", "-0.5", "1.5"],
    ]
    below = [line.split() for line in lines[4:8] if line.strip()]
    assert ["mean", "%", "100", "–", "67", "75"] in below
    assert ["right", "%", "100", "–"] in below


def test_without_a_gradebook_the_table_has_ids_and_totals():
    lines = printed().splitlines()
    assert lines[1].split() == ["learner", "1", "2", "total"]
    assert [line.split()[0] for line in lines[2:4]] == ["ada", "bo"]


def test_names_are_left_out_where_there_is_no_room_for_them():
    out = io.StringIO()
    results_table.print_class(TWO, Console(file=out, width=34), scores=SCORES)
    lines = out.getvalue().splitlines()
    assert lines[1].split() == ["learner", "1", "2", "sum", "late", "grade"]
    assert [line.split()[0] for line in lines[2:4]] == ["ada", "bo"]


def test_who_submitted_nothing_is_counted_and_named():
    said = printed(scores=SCORES)
    assert "Nothing submitted by 1 of 3 in the gradebook: \N{REPLACEMENT CHARACTER}[2J, Zed (zed)" in said


def test_answers_to_be_graded_by_hand_are_counted_by_question():
    said = printed(waiting={IDS[1]: 31, "mine-essay": 2})
    assert "33 answers to be graded by hand, at /gpubook/by_hand of" in said
    assert ": 31 of waves, 2 of mine-essay" in said


def test_an_exercise_is_shown_over_the_class_with_what_was_answered():
    out = io.StringIO()
    results_table.show(TWO, "/waves", Console(file=out, width=200), lambda who, _: f"3 of {who}\x1b")
    said = out.getvalue()
    assert "0/1 links-waves  [3 of ada\N{REPLACEMENT CHARACTER}]  Round up." in said
    assert "bo: 2 points" in said
    assert "links-ring-time" not in said
    with pytest.raises(KeyError, match=r"'wave' in week3; known: links-ring-time"):
        results_table.show(TWO, "/wave")


def test_changes_are_told_from_what_to_what():
    before, after = Result(IDS[0], 0.0, 2.0, "No.", kind="wrong"), Result(IDS[0], 2.0, 2.0, "Right.", kind="right")
    out = io.StringIO()
    results_table.print_changes(
        [Change("bo", after, before, True), Change("ada\x1b", before, after, False)], Console(file=out, width=200)
    )
    assert [" ".join(line.split()) for line in out.getvalue().splitlines()] == [
        "2 results of 2 changed since the run before:",
        "ada\N{REPLACEMENT CHARACTER} links-ring-time 0 → 2 of 2 (wrong → right)",
        "bo links-ring-time 2 → 0 of 2 (right → wrong) submitted again",
    ]
    results_table.print_changes([], None)


def test_a_changed_penalty_is_a_changed_result():
    out, late = io.StringIO(), [LateChange("bo\x1b", 0.0, 0.3), LateChange("ada", 4.2, 0.0)]
    before = Result(IDS[0], 0.0, 2.0, "No.", kind="wrong")
    results_table.print_changes([Change("ada", before, before, False)], Console(file=out, width=200), late)
    assert [" ".join(line.split()) for line in out.getvalue().splitlines()] == [
        "3 results of 2 changed since the run before:",
        "ada links-ring-time 0 → 0 of 2 (wrong → wrong)",
        "ada late -4.2 → 0 points",
        "bo\N{REPLACEMENT CHARACTER} late 0 → -0.3 points",
    ]
