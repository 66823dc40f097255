import io

import pytest
from rich.console import Console

from autograder.course import results_table
from autograder.course.class_result import ClassResult, Learner
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
