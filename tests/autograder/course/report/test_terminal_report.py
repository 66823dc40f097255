"""Each part of a report in a terminal, line by line, from made-up reports."""

import io

import pytest
from rich.console import Console

from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.report import copies as copied
from autograder.course.report import terminal_report
from autograder.course.report.beliefs import Belief, Borrowed, Unexplained
from autograder.course.report.copies import Copy
from autograder.course.report.items import ItemStatistics
from autograder.course.report.of_class import AssignmentReport, Term
from autograder.grading.results import Result

IDS = ("week-time", "week-steps")


def item(number, outcomes, mean=None, discrimination=None):
    return ItemStatistics(number, IDS[number - 1], "", 1.5, outcomes, mean, discrimination)


def report(name="hw", points=(("ann", 1.0), ("bob", 3.0)), **parts):
    learners = [Learner(who, [Result(IDS[0], value, 2.0, "")]) for who, value in points]
    result = ClassResult(name, {IDS[0]: 2.0, IDS[1]: 2.0}, learners)
    empty = {"items": [], "beliefs": [], "unexplained": [], "borrowed": [], "copies": [], "missing": []}
    names = {who: who for who, _ in points}
    return AssignmentReport(name, result, {}, **({"names": names} | empty | parts))


def printed(made, **options):
    """The lines without their spaces, but for those between words."""
    out = io.StringIO()
    terminal_report.show(made, Console(file=out, width=200), **options)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_the_exercises_have_the_columns_that_somebody_needs():
    items = [item(1, {"right": 3, "wrong": 1}, 0.5, -0.25), item(2, {"empty": 2, "right": 2}, None, None)]
    lines = printed(report(items=items), table=False)
    assert lines[:4] == [
        "hw: exercises",
        "exercise of right mean discr other empty",
        "1 time 1.5 75 50 -0.25 1",
        "2 steps 1.5 50 – – 2",
    ]
    assert not any("total" in line for line in lines)
    assert any("total" in line for line in printed(report(items=items)))


@pytest.mark.parametrize(("discrimination", "yellow"), [(-0.01, True), (0.0, False), (0.5, False), (None, False)])
def test_a_discrimination_below_zero_stands_out(discrimination, yellow):
    out = io.StringIO()
    console = Console(file=out, width=200, force_terminal=True, color_system="standard")
    terminal_report.print_items(report(items=[item(1, {"right": 1}, 1.0, discrimination)]), console)
    assert ("\x1b[33m" in out.getvalue()) == yellow


def test_mistakes_that_several_make_are_named_the_most_frequent_first():
    beliefs = [
        Belief(IDS[0], "a", "Turn it\nover.", "You flip.", ("ann", "bob")),
        Belief(IDS[0], "b", "Twice.", "", ("ann", "bob", "cy")),
        Belief(IDS[0], "c", "Alone.", "", ("ann",)),
    ]
    items = [item(1, {"right": 3, "wrong": 1, "waiting": 2})]
    lines = printed(report(items=items, beliefs=beliefs))
    at = lines.index("What the class believes: mistakes with a name, by how many make them")
    assert lines[at + 1 : at + 4] == [
        "3 of 4 time Twice.",
        "2 of 4 time Turn it over. [You flip.]",
        "and 1 that one learner each makes: in --html and --csv",
    ]
    lines = printed(report(items=items, beliefs=beliefs[:2]))
    assert not any("one learner each" in line for line in lines)
    assert "1 that one learner each makes: in --html and --csv" in printed(report(items=items, beliefs=beliefs[2:]))
    assert not any("believes" in line for line in printed(report()))


def test_what_nobody_explains_has_its_answer_and_its_declaration():
    groups = [
        Unexplained(IDS[0], "5 s", "No.", "1/4 of it", "Mistake(...)", ("ann", "bob")),
        Unexplained(IDS[1], "", "Never.", "", "", ("cy",)),
    ]
    lines = printed(report(unexplained=groups))
    at = next(at for at, line in enumerate(lines) if line.startswith("Wrong answers that several"))
    assert lines[at + 1 : at + 6] == [
        "2 gave 5 s, 1/4 of it time",
        "ann, bob; told: No.",
        "Mistake(...)",
        "1 were told the same steps",
        "cy; told: Never.",
    ]


def test_answers_for_others_numbers_are_counted_by_owner():
    names = {"ann": "Ann Lee", "bob": "bob"}
    borrowed = [Borrowed(IDS[0], "ann", ("bob",)), Borrowed(IDS[1], "ann", ("bob",)), Borrowed(IDS[0], "bob", ())]
    lines = printed(report(borrowed=borrowed, names=names))
    at = lines.index("Right for somebody else's numbers")
    assert lines[at + 1 : at + 3] == [
        "Ann Lee (ann): 2 of 2 such answers right for the numbers of bob",
        "bob: time, for nobody's in this course",
    ]
    lines = printed(report(borrowed=borrowed[:1], names=names))
    assert "Ann Lee (ann): the one such answer right for the numbers of bob" in lines


def test_the_same_work_is_told_with_who_has_how_many_pieces_in_common():
    copies = [Copy(IDS[0], ("ann", "bob"), 1.0), Copy(IDS[1], ("ann", "bob", "cy"), 0.6)]
    lines = printed(report(copies=copies))
    at = lines.index("The same work, names and layout aside: a reason to look, and no proof")
    assert lines[at + 1 : at + 4] == [
        "time: the same (2): ann, bob",
        "steps: alike by 60 % or more (3): ann, bob, cy",
        copied.LIMIT,
    ]
    assert lines[at + 4] == "ann and bob have 2 pieces of work in common"
    lines = printed(report())
    assert not any("same work" in line for line in lines)
    assert f"No work is the same. {copied.LIMIT}" in lines


def test_the_scores_are_bars_the_longest_of_forty_letters():
    lines = printed(report(points=(("ann", 0.1), ("bob", 4.0), ("cy", 4.0))))
    assert "Scores of 3: mean 2.7 of 4 (68 %), median 4, from 0.1 to 4" in lines
    bars = {line.partition(" to ")[0]: line for line in lines if " to " in line and "Scores" not in line}
    assert bars["0"] == f"0 to 0.5 {'█' * 20} 1"
    assert bars["3.5"] == f"3.5 to 4 {'█' * 40} 2"
    assert bars["1"] == "1 to 1.5 0"
    assert "Scores of 0: nobody is graded" in printed(report(points=()))


@pytest.mark.parametrize(("unkept", "told"), [(0, False), (3, True)])
def test_answers_that_no_run_has_kept_are_told(unkept, told):
    lines = printed(report(unkept=unkept))
    assert ("Not in this report" in lines) == told
    assert any(line.startswith("The answers of 3 learners") for line in lines) == told


def test_a_term_has_its_assignments_and_its_learners_by_name():
    first = report("a", names={"ann": "Zoe", "bob": "bob"})
    second = report("b", points=(("ann", 4.0),), names={"ann": "Zoe", "bob": "bob"})
    lines = printed(Term("course", [first, second]))
    assert lines[:4] == [
        "course: 2 assignments",
        "assignment graded missing of mean mean % median by hand",
        "a 2 0 4 2 50 2",
        "b 1 0 4 4 100 4",
    ]
    at = lines.index("learner name a b total %")
    assert lines[at + 1 : at + 4] == ["bob 3 – 3 38", "ann Zoe 1 4 5 62", "of 4 4 8"]
    assert "learner name a b total %" not in printed(Term("course", [first]), table=False)


def test_a_term_whose_assignments_have_no_points_has_no_share():
    made = report("a", points=(("ann", 0.0),))
    made.result.exercises.clear()
    assert "ann 0 0 0" in printed(Term("course", [made]))


def test_a_term_says_what_recurs_and_which_exercises_to_look_at():
    items = [item(1, {"right": 1, "wrong": 3}, 0.25, -0.5), item(2, {"right": 1}, 1.0, None)]
    lines = printed(Term("course", [report("a", items=items)]))
    assert "a/week-time: 25 % right, discrimination -0.50" in lines
    assert "a/week-steps: 100 % right, discrimination –" in lines
    assert not any("Misconceptions" in line for line in lines)


def test_who_works_together_over_a_term_is_told_from_two_on():
    copies = [Copy(IDS[0], ("ann", "bob"), 1.0)]
    borrowed = [Borrowed(IDS[0], "cy", ("ann",))]
    once = printed(Term("course", [report("a", copies=copies), report("b")]))
    assert not any("Together" in line for line in once)
    lines = printed(Term("course", [report(name, copies=copies, borrowed=borrowed) for name in ("a", "b")]))
    at = lines.index("Together, over the term: a reason to look, and no proof")
    assert lines[at + 1 :] == [
        "ann and bob: 2 pieces of work in common",
        "cy: 2 of 2 answers right for the numbers of ann",
    ]
    one = printed(Term("course", [report("a", borrowed=borrowed)]))
    assert any("Together" in line for line in one)
    assert not any("answers right" in line for line in one)


def test_the_constants_of_a_report():
    assert (terminal_report.MOST_NAMES, terminal_report.BAR, terminal_report.WIDEST) == (12, 40, 20)
    long = item(1, {"right": 1}, 1.0)
    made = report(items=[long])
    made.result.exercises = {"x" * 20: 1.0, "y" * 21: 1.0}
    items = [
        ItemStatistics(number, name, "", 1.0, {"right": 1}, 1.0, None)
        for number, name in enumerate(made.result.exercises, start=1)
    ]
    lines = printed(report_of(made, items), table=False)
    assert lines[2].split()[1] == "x" * 20
    assert lines[3].split()[1] == "y" * 19 + "…"


def report_of(made, items):
    parts = ("beliefs", "unexplained", "borrowed", "copies", "missing")
    return AssignmentReport(made.name, made.result, {}, made.names, items, *(getattr(made, part) for part in parts))
