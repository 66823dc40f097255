"""The outermost name of a path, which a platform or a teacher made, says whose a file is; a title never does."""

import unicodedata

import pytest

from autograder.course.gradebook import GradebookLearner
from autograder.course.intake.archives import Member
from autograder.course.intake.download_names import is_submitted, upload
from autograder.course.intake.ownership import by_owner, listed
from autograder.course.intake.roster_match import Roster
from autograder.course.moodle.moodle_worksheet import Participant

ANN = GradebookLearner("ann", "Ann", "Other", "ann@x.org", "11")
VIC = GradebookLearner("vic", "Vic", "Tor", "vic@x.org", "12")
MAL = GradebookLearner("mal", "Mal", "Lory", "mal@x.org", "22")
PARTICIPANTS = {"41": ANN, "42": VIC, "52": MAL}
WORKSHEET = {
    number: Participant(person, f"{person.first_name} {person.last_name}", "")
    for number, person in PARTICIPANTS.items()
}
SHAPES = (
    "{canvas}_{file}_{title}.ipynb",
    "{canvas}_{file}_{title}/week1.ipynb",  # a zip of a learner's, unpacked
    "CS 101/{canvas}_{file}_{title}.ipynb",
    "{moodle}_assignsubmission_file/{title}.ipynb",
    "{moodle}_assignsubmission_file_/{title}/week1.ipynb",
    "101-week1-9/{moodle}_assignsubmission_file/sub/{title}.ipynb",
    "{moodle}_assignsubmission_file_{title}.ipynb",
    "{id}/{title}.ipynb",
    "{email}/{title}.ipynb",
    "{name}/{title}/week1.ipynb",
    "{lms}/{title}/week1/week1.ipynb",
    "submissions/{id}/{title}/week1.ipynb",
    "class/{email}/{title}/hw.ipynb",
    "anything at all/2030/{id}/{title}.ipynb",
)
TITLES = (
    "week1", "vic", "vic@x.org", "Vic Tor", "torvic", "12", "42", "torvic_12_34_week1", "torvic_LATE_12_34_week1",
    "Vic Tor_42_assignsubmission_file", "Vic Tor_42_assignsubmission_file_week1", "12_34_torvic", "LATE_12_34_vic",
    "anon_x7Qaz_6_week1",
)  # fmt: skip


def path(shape, person, number, title="week1"):
    return shape.format(
        canvas=f"{person.last_name}{person.first_name}_{person.lms_id}".lower(),
        file=9000 + int(number),
        moodle=f"{person.first_name} {person.last_name}_{number}",
        name=f"{person.first_name} {person.last_name}",
        id=person.id,
        email=person.email,
        lms=person.lms_id,
        title=title,
    )


def owned(*paths, people=(ANN, VIC, MAL), lines=None, generic=("week1",)):
    members = [Member(tuple(one.split("/")), None, bytes) for one in paths]
    return by_owner(members, Roster(people, lines), generic)


def owners(*paths, **more):
    return {learner: [upload.member.name for upload in files] for learner, files in owned(*paths, **more).files.items()}


@pytest.mark.parametrize("lines", [None, WORKSHEET], ids=["bare", "worksheet"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_title_that_names_another_changes_no_owner(shape, lines):
    for title in TITLES:
        mine, honest = path(shape, MAL, "52", title), path(shape, VIC, "42")
        assert owners(mine, honest, lines=lines) == {"mal": [mine], "vic": [honest]}, title
        alone = {} if shape.startswith("anything") else {"mal": [mine]}  # such a folder may be a learner's as well
        assert owners(mine, lines=lines) == alone, title


@pytest.mark.parametrize("below", ["vic/hw.ipynb", "vic.ipynb", "Vic Tor/vic/week1.ipynb", "vic@x.org/a/12.ipynb"])
@pytest.mark.parametrize(
    "outermost", ["Some Body", "section 2", "Zed Nobody_99_assignsubmission_file", "nobodyzed_77_78_x", "Kim Lee"]
)
def test_below_a_folder_that_cannot_be_told_nobody_is_asked(outermost, below):
    people = (ANN, VIC, MAL, GradebookLearner("kim1", "Kim", "Lee"), GradebookLearner("kim2", "Kim", "Lee"))
    mine = f"{outermost}/{below}"
    for beside in ([], ["vic/week1.ipynb"], ["vic@x.org/week1.ipynb", "mal/week1.ipynb"]):
        found = owned(mine, *beside, people=people)
        assert len(found.refused) == 1, beside
        assert found.refused[0].startswith(mine)
        assert sorted(found.files) == sorted({one.split("/")[0].split("@")[0] for one in beside})


@pytest.mark.parametrize(
    ("paths", "learners"),
    [
        (["submissions/ann/week1.ipynb"], ["ann"]),
        (["Week1/week1/ann/week1.ipynb"], ["ann"]),  # called as the assignment, or as the archive
        (["Some Class/ann/week1.ipynb"], []),  # it may be a learner's name as well
        (["Some Class/ann/week1.ipynb", "Some Class/vic.ipynb"], ["ann", "vic"]),
        (["Some Class/ann/week1.ipynb", "Some Class/ann/vic.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "Some Class/Zed/week1.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "Other Class/vic/week1.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "vic/week1.ipynb"], ["vic"]),
        (["A/ann/week1.ipynb", "A/vic/week1.ipynb", "about.txt", "__MACOSX/x", "Z/.DS_Store"], ["ann", "vic"]),
        (["CS 101/otherann_11_9_week1.ipynb"], ["ann"]),  # no folder of a learner's has a platform's names alone in it
        (["CS 101/otherann_11_9_week1.ipynb", "CS 101/notes.ipynb"], []),
        (["ann/vic/week1.ipynb", "ann/mal/week1.ipynb"], ["ann"]),
    ],
)
def test_a_folder_around_everything_is_nobodys(paths, learners):
    assert sorted(owners(*paths)) == learners


def test_a_name_with_a_platforms_own_marker_in_it_is_not_read_as_another():
    folder = "Vic Tor_42_assignsubmission_file_x_52_assignsubmission_file"
    odd = GradebookLearner("mal", "Vic Tor_42_assignsubmission_file_x", "", "mal@x.org", "22")
    lines = {**WORKSHEET, "52": Participant(odd, odd.first_name, "")}
    for more in ({}, {"lines": lines}):
        for name in (f"{folder}/week1.ipynb", f"{folder}_week1.ipynb"):  # vic may have called a file so
            assert not owners(name, people=(VIC, odd), **more)
    unpacked = "Mal Lory_52_assignsubmission_file_Vic Tor_42_assignsubmission_file"
    for name in (folder, unpacked):
        assert not owners(f"{name}/week1.ipynb")
        assert list(owners(f"{name}/week1.ipynb", "Vic Tor_42_assignsubmission_file/week1.ipynb")) == ["vic"]
    assert not owners("torvic_12_22_9052_week1.ipynb")  # by somebody called torvic_12, or of vic's with this name
    assert list(owners("torvic_12_9042_22_week1.ipynb")) == ["vic"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("id_form", ["NFC", "NFD"])
@pytest.mark.parametrize("title", ["week1", "torvic_12_34_week1"])
@pytest.mark.parametrize("shape", ["{id}.ipynb", "{id}/{title}.ipynb", "submitted/{id}/week1/{title}.ipynb"])
def test_an_accent_may_be_a_character_of_its_own(shape, title, id_form, form):
    umlaut = GradebookLearner(unicodedata.normalize(id_form, "jürgen"), "Jo", "Doe")
    member = unicodedata.normalize(form, shape.format(id="jürgen", title=title))
    assert owners(member, people=(ANN, VIC, umlaut)) == {umlaut.id: [member]}
    assert list(owners(member, people=())) == ["jürgen"]
    around = unicodedata.normalize(form, f"Übung/{shape.format(id='ann', title=title)}")
    assert list(owners(around, generic=("Übung", "week1"))) == ["ann"]


@pytest.mark.parametrize(
    ("member", "learner"),
    [
        ("eve.ipynb", "eve"),
        ("eve/hw.ipynb", "eve"),
        ("eve/week1/week1.ipynb", "eve"),
        ("eve/final/final.ipynb", "eve"),
        ("submitted/eve/week1/week1.ipynb", "eve"),
        ("week1/eve/week1.ipynb", "eve"),
        ("dave/sub/week1.ipynb", None),
        ("class of 2030/eve/final.ipynb", None),
        ("x/eve/week1/week1.ipynb", None),
        ("a_1_2_week1.ipynb", None),
    ],
)
def test_without_a_roster_only_the_shapes_that_are_documented_tell_an_owner(member, learner):
    found = owned(member, people=())
    assert list(found.files) == ([learner] if learner else [])
    assert len(found.refused) == (learner is None)


@pytest.mark.parametrize(
    ("path", "around", "who", "title"),
    [
        (("ann", "week1.ipynb"), 0, "ann", "week1.ipynb"),
        (("class", "ann", "week1.ipynb"), 1, "ann", "week1.ipynb"),
        (("class", "of", "ann.ipynb"), 2, "ann", "ann.ipynb"),
        (("class", "ann.ipynb"), 2, "ann", "ann.ipynb"),  # above where the others are
        (("class", "ann.ipynb"), 3, "ann", "ann.ipynb"),
    ],
)
def test_the_outermost_name_below_the_folders_around_says_whose_a_file_is(path, around, who, title):
    found = upload(Member(path, None, bytes), around, {"ann"})
    assert (found.owner.who, found.title) == (who, title)


@pytest.mark.parametrize(
    ("path", "submitted"),
    [
        (("ann", "week1.ipynb"), True),
        (("ann", "_.ipynb"), True),
        (("ann", "._week1.ipynb"), False),
        (("__MACOSX", "ann", "week1.ipynb"), False),
    ],
)
def test_what_a_system_packs_beside_is_nobodys_work(path, submitted):
    assert is_submitted(Member(path, None, bytes)) is submitted


def test_the_files_of_two_people_who_seem_to_be_one_learner_are_nobodys():
    files = owned("ann/week1.ipynb", "ann@x.org/week1.ipynb", "vic/week1.ipynb", "vic/more.ipynb")
    assert list(files.files) == ["vic"]
    assert files.refused == [
        "ann/week1.ipynb, ann@x.org/week1.ipynb: files of several people, all of whom seem to be ann"
    ]


@pytest.mark.parametrize("count", [5, 6])
def test_five_files_are_named(count):
    files = owned(*(f"ann/{at}.ipynb" for at in range(count)), "vic/week1.ipynb").files["ann"]
    assert listed(files) == ", ".join(f"ann/{at}.ipynb" for at in range(5))


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("ann.ipynb", True),
        ("ann/hw.ipynb", True),
        ("ann/week1/hw.ipynb", True),
        ("ann/hw/hw.ipynb", True),
        ("ann/week1/week1/hw.ipynb", False),
        ("ann/bob/hw.ipynb", False),
    ],
)
def test_without_a_roster_a_path_is_of_a_learner_and_an_assignment(path, taken):
    files = owned(path, "zoe/hw.ipynb", people=())
    assert list(files.files) == ["ann", "zoe"] if taken else ["zoe"]
    assert len(files.refused) == (not taken)


@pytest.mark.parametrize("learner", [".ann", "a\u200bb", "a\\b", " "])
def test_what_cannot_be_a_learners_folder_is_refused(learner):
    files = owned(f"{learner}/hw.ipynb", "zoe/hw.ipynb", people=())
    assert list(files.files) == ["zoe"]
    assert "is not the name of a learner's folder" in files.refused[0]
