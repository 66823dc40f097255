import dataclasses
import io

import pytest
from rich.console import Console

from autograder.course.class_results import results_table
from autograder.course.class_results.class_result import Change, ClassResult, LateChange, Learner
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.declaration.verdict import AS_PREDICTED
from autograder.grading.found_cells import FoundCells
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


def result(points=1.0, most=2.0, kind="wrong", **about):
    return Result(IDS[0], points, most, "", kind=kind, **about)


@pytest.mark.parametrize(
    ("made", "right"),
    [
        (result(2.0), True),
        (result(1.99), False),
        (result(2.5), True),
        (result(0.0, 0.0), False),
        (result(0.5, 0.5), True),
        (result(0.0, 0.0, "right"), True),
        (result(2.0, 2.0, "predicted"), False),
        (result(0.0, 2.0, "predicted", reason=AS_PREDICTED), True),
    ],
)
def test_right_is_all_points_or_a_prediction_that_came_true(made, right):
    assert results_table.is_right(made) is right


@pytest.mark.parametrize(("part", "whole", "text"), [(2, 3, "67"), (0, 3, "0"), (3, 3, "100"), (1, 0, "–")])
def test_percent(part, whole, text):
    assert results_table.percent(part, whole) == text


@pytest.mark.parametrize(
    ("made", "text", "style"),
    [
        (None, "–", "dim"),
        (result(kind="waiting"), "…", "yellow"),
        (result(2.0), "2", "green"),
        (result(0.5), "0.5", "yellow"),
        (result(0.0), "0", "red"),
        (result(0.0, kind="empty"), "0", "dim"),
        (result(0.0, 0.0, "empty"), "0", "green"),
    ],
)
def test_a_cell_is_green_for_all_yellow_for_some_and_red_for_none(made, text, style):
    cell = results_table._cell(made)
    assert (cell.plain, cell.style) == (text, style)


@pytest.mark.parametrize(
    ("names", "cut"),
    [(["a-x", "a-y-z"], ["x", "y-z"]), (["a-x", "b-y"], ["a-x", "b-y"]), (["a-x", "a"], ["a-x", "a"]), ([], [])],
)
def test_ids_go_without_the_word_that_all_begin_with(names, cut):
    assert results_table.short(names) == cut


@pytest.mark.parametrize(("score", "differs"), [(2.0, False), (2.0 + 0.9e-6, False), (2.0 + 1.1e-6, True), (1.9, True)])
def test_a_sum_differs_from_the_gradebooks_beyond_rounding(score, differs):
    learner = Learner("ada", [result(2.0)])
    scores = {"ada": AssignmentScore(GradebookLearner("ada"), "week3", 3.0, raw=score)}
    assert results_table._differs(learner, scores) is differs
    assert not results_table._differs(Learner("bo", [result(2.0)]), scores)


def test_the_sums_of_a_learner():
    def sums(learner, scores, late, differ):
        return [getattr(cell, "plain", cell) for cell in results_table._sums(learner, scores, late, differ)]

    ada, none = Learner("ada", [result(2.0)]), Learner("bo")
    scores = {"ada": AssignmentScore(GradebookLearner("ada"), "week3", 3.0, raw=2.0, late_penalty=0.5)}
    assert sums(none, {}, False, False) == ["none"]
    assert sums(none, {}, True, True) == ["none", "", ""]
    assert sums(ada, scores, True, True) == ["2", "-0.5", "1.5"]
    assert sums(ada, scores, False, True) == ["2", "1.5"]
    assert sums(ada, {}, True, True) == ["2", "", "2"]
    assert sums(ada, {}, False, False) == ["2"]
    assert [results_table._sums(ada, {}, False, differ)[0].style for differ in (True, False)] == ["", "bold"]


def test_below_the_table_stand_the_points_that_there_are_and_means_of_what_is_decided():
    made = ClassResult(
        "week3", CLASS.exercises, [Learner("a", [result(1.0)]), Learner("b", [result(2.0)]), Learner("c")]
    )
    below = dict(results_table._below(made, {}, False, False))
    assert below == {"mean %": ["75", "–", "50"], "right %": ["50", "–", ""], "of": ["2", "1", "3"]}
    assert dict(results_table._below(made, {}, True, True)) == {
        "mean %": ["75", "–", "50", "", "50"],
        "right %": ["50", "–", ""],
        "of": ["2", "1", "3", "", "3"],
    }
    nobody = ClassResult("week3", CLASS.exercises, [Learner("c")])
    assert [label for label, _ in results_table._below(nobody, {}, False, False)] == ["of"]


@pytest.mark.parametrize(
    ("first", "last", "name"), [("Ada", "Lee", "Lee, Ada"), ("Ada", "", "Ada"), ("", "Lee", "Lee"), ("", "", "")]
)
def test_a_name_is_the_last_one_first(first, last, name):
    scores = {"ada": AssignmentScore(GradebookLearner("ada", first, last), "week3", 3.0)}
    assert results_table._name(scores, "ada") == name
    assert results_table._name(scores, "bo") == ""


def test_learners_are_in_the_order_of_their_names_those_without_by_their_ids():
    learners = [Learner(who) for who in ("zoe", "Bo", "ada")]
    scores = {"zoe": AssignmentScore(GradebookLearner("zoe", "Zoe", "Abel"), "week3", 3.0)}
    assert [one.name for one in results_table.in_order(learners, scores)] == ["zoe", "ada", "Bo"]
    assert [one.name for one in results_table.in_order(learners, {})] == ["ada", "Bo", "zoe"]


@pytest.mark.parametrize(
    ("who", "width", "named"), [("ada", 25, False), ("ada", 26, True), ("a" * 12, 29, False), ("a" * 12, 30, True)]
)
def test_names_need_eight_letters_of_room(who, width, named):
    """Beside an id, two columns of 2 and 5 letters, and the spaces between."""
    learners = [Learner(who, [result(1.0)])]
    scores = {who: AssignmentScore(GradebookLearner(who, "A" * 30, "B" * 30), "week3", 3.0, raw=1.0)}
    table = results_table.class_table(ClassResult("w", {IDS[0]: 2.0}, learners), scores, width)
    assert [column.header for column in table.columns] == ["learner", *["name"] * named, "1", "total"]
    if named:
        assert table.columns[1].max_width == 8
    wide = results_table.class_table(ClassResult("w", {IDS[0]: 2.0}, learners), scores, 200)
    assert wide.columns[1].max_width == 22


def test_a_problem_is_told_once_and_lost_cells_of_who_submitted():
    lost = FoundCells(1, (IDS[0],))
    learners = [
        Learner("ada", problem="No file."),
        Learner("bo", [result()], cells=lost),
        Learner("cy", [result()], cells=lost, submitted_by="bo"),
    ]
    out = io.StringIO()
    results_table.print_table(
        ClassResult("week3", {IDS[0]: 2.0}, learners, problems=["No file.", "A note."]), Console(file=out, width=200)
    )
    lines = out.getvalue().splitlines()
    assert [line for line in lines if "No file." in line] == ["ada: No file."]
    assert "A note." in lines
    assert [line.split()[0] for line in lines if lost.sentence in line] == ["bo"]


def test_the_lines_below_the_table_are_there_where_they_say_something():
    assert results_table.missing_line(CLASS, {}) == ""
    graded = {"zed": AssignmentScore(GradebookLearner("zed"), "week3", 3.0, graded=True)}
    assert results_table.missing_line(CLASS, graded) == ""
    gone = {who: AssignmentScore(GradebookLearner(who), "week3", 3.0) for who in ("zed", "ada", "al")}
    assert results_table.missing_line(CLASS, gone) == "Nothing submitted by 2 of 3 in the gradebook: al; zed"
    assert results_table.waiting_line(CLASS, {}) == ""
    assert results_table.waiting_line(CLASS, {IDS[1]: 1}).startswith("1 answer to be graded by hand")
    assert results_table.waiting_line(CLASS, {IDS[1]: 2}).startswith("2 answers to be")


def test_the_end_says_where_everything_is(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(results_table.sys, "argv", ["/usr/bin/gpubook"])

    def end(folder, gradebook):
        out = io.StringIO()
        made = ClassResult(
            "w",
            {IDS[0]: 2.0},
            [Learner("ada", [result()]), Learner("bo")],
            folder=folder,
            gradebook=gradebook,
            seconds=1.25,
        )
        results_table.print_class(made, Console(file=out, width=300))
        return out.getvalue()

    said = end(str(tmp_path / "course"), "")
    assert "1 of 2 graded in 1.2 s. Gradebook: course/gradebook.db" in said
    assert "/usr/bin/gpubook grade course w --show" in said
    said = end("/elsewhere", "postgresql+psycopg://x.org/y")
    assert "Gradebook: postgresql+psycopg://x.org/y" in said
    assert "/elsewhere/feedback/LEARNER/w/w.html" in said
    monkeypatch.setattr(results_table.sys, "argv", ["pytest"])
    assert " gpubook report course w" in end(str(tmp_path / "course"), "")


@pytest.mark.parametrize(("count", "head"), [(1, "1 result of 1 changed"), (2, "2 results of 2 changed")])
def test_changes_are_counted(count, head):
    out = io.StringIO()
    before, after = result(0.0, 1.0), result(2.0, 2.0)
    changes = [Change(who, before, after, False) for who in ("ada", "bo")[:count]]
    results_table.print_changes(changes, Console(file=out, width=200))
    assert head in out.getvalue()
    assert "0 of 1 → 2 of 2" in out.getvalue()  # other points now


def test_the_sentences_of_a_learner_with_a_problem_and_of_one_without():
    assert results_table.sentences(Learner("ada", problem="No."), []).plain == "ada: No."
    text = results_table.sentences(BO, BO.results, lambda *_: " a \n b ")
    assert text.plain.splitlines()[0] == "bo: 2 points"
    assert "2/2 links-ring-time  [a b]  Right." in text.plain
    lost = Learner("cy", [], cells=FoundCells(1, (IDS[0],)))
    assert lost.cells.sentence in results_table.sentences(lost, []).plain
    with pytest.raises(KeyError, match=r"nobody has no result for 'none'.*known: links-ring-time, links-waves"):
        results_table.show(CLASS, "/none")
    with pytest.raises(KeyError, match="known: none"):
        results_table.show(ClassResult("w", {}, [Learner("ada")]), "ada/x")


def test_who_handed_in_what_was_refused_has_not_handed_in_nothing():
    gone = {who: dataclasses.replace(SCORES["zed"]) for who in ("zed", "al")}
    refused = {"al": "x\x1b.ipynb: the file is empty", "ada": "y.ipynb: the file is cut"}
    result = dataclasses.replace(CLASS, refused=refused)
    assert results_table.missing_line(result, gone).startswith("Nothing submitted by 1 of 2 in the gradebook: ")
    assert results_table.refused_lines(result) == [
        "al: refused when it was collected, x\N{REPLACEMENT CHARACTER}.ipynb: the file is empty",
        "ada: refused when it was collected, y.ipynb: the file is cut (what else they submitted counts)",
    ]
    out = io.StringIO()
    results_table.print_table(result, Console(file=out, width=200))
    assert results_table.refused_lines(result)[1] in out.getvalue()
