"""Whom a platform means by a name and a number: nobody is guessed, and two keys that disagree are nobody's."""

import pytest

from autograder.course.gradebook import GradebookLearner
from autograder.course.intake.archives import Member, Refused
from autograder.course.intake.download_names import Owner, Upload
from autograder.course.intake.roster_match import Roster, fold
from autograder.course.moodle.moodle_worksheet import Participant

ANN = GradebookLearner("ann", "Ann", "Other", "Ann@x.org", "11")
VIC = GradebookLearner("vic", "Vic", "Tor", "", "")
KIM = [GradebookLearner("kim1", "Kim", "Lee"), GradebookLearner("kim2", "Kim", "Lee")]
PEOPLE = (ANN, VIC, *KIM)
LINES = {
    "31": Participant(ANN, "Ann Other", ""),
    "32": Participant(VIC, "", ""),
    "33": Participant(None, "Zed Nobody", ""),
}


def owner(platform, who, number="", lines=None):
    upload = Upload(Member(("x.ipynb",), None, bytes), Owner(platform, who, number), "x.ipynb")
    return Roster(PEOPLE, lines).owner(upload).id


@pytest.mark.parametrize(
    ("platform", "who", "number", "lines", "learner"),
    [
        ("plain", "ann", "", None, "ann"),
        ("plain", "ann@X.org", "", None, "ann"),
        ("plain", "11", "", None, "ann"),
        ("plain", "Other Ann", "", None, "ann"),
        ("plain", "kim2", "", None, "kim2"),
        ("canvas", "otherann", "11", None, "ann"),
        ("canvas", "unknown", "11", None, "ann"),  # the name is another's of nobody here
        ("canvas", "torvic", "99", None, "vic"),  # whose number nobody knows
        ("moodle", "Ann Other", "99", None, "ann"),
        ("moodle", "Ann Other", "31", LINES, "ann"),
        ("moodle", "Vic Tor", "32", LINES, "vic"),
    ],
)
def test_a_learner_is_known_by_an_id_an_address_a_number_or_a_name(platform, who, number, lines, learner):
    assert owner(platform, who, number, lines) == learner


@pytest.mark.parametrize(
    ("platform", "who", "number", "lines", "problem"),
    [
        ("plain", "zed", "", None, "'zed' is nobody"),
        ("plain", "Kim Lee", "", None, "'Kim Lee' may be kim1 or kim2"),
        ("canvas", "otherann", "99", None, "the name of ann, whose number is 11, with the number 99"),
        ("canvas", "torvic", "11", None, "by the number 11 of ann, by the name of vic"),
        ("canvas", "leekim", "11", None, "by the number 11 of ann, by the name of kim1 or kim2"),
        ("canvas", "zed", "99", None, "'zed' is nobody"),
        ("moodle", "Ann Other", "34", LINES, "participant 34 is not in the worksheet"),
        ("moodle", "Vic Tor", "31", LINES, "participant 31 is Ann Other in the worksheet"),
        ("moodle", "Zed Nobody", "33", LINES, "line of participant 33 is nobody"),
        ("moodle", "Kim Lee", "34", None, "may be kim1 or kim2"),
    ],
)
def test_nobody_is_guessed(platform, who, number, lines, problem):
    with pytest.raises(Refused, match=f"^x.ipynb: .*{problem}"):
        owner(platform, who, number, lines)


@pytest.mark.parametrize(
    ("platform", "who", "number", "known"),
    [
        ("moodle", "anybody", "1", True),
        ("canvas", "anybody", "11", True),
        ("canvas", "otherann", "99", True),
        ("canvas", "anybody", "99", False),
        ("canvas", "anybody", "", False),
        ("plain", "ann", "", True),
        ("plain", "Ann Other", "", True),
        ("plain", "anybody", "", False),
    ],
)
def test_a_name_is_known_that_is_anybodys_or_made_by_a_platform(platform, who, number, known):
    assert Roster(PEOPLE).knows(Owner(platform, who, number)) is known


@pytest.mark.parametrize(("name", "folded"), [("O'Lovelace", "olovelace"), ("Müller Ōta", "müllerōta"), ("-_ ", "")])
def test_letters_and_digits_of_a_name_count(name, folded):
    assert fold(name) == folded
