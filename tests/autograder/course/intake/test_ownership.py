"""The outermost name of a path, which a platform or a teacher made, says whose a file is; a title never does."""

import re
import unicodedata
from dataclasses import replace

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
    "CS 101/{moodle}_assignsubmission_file/sub/{title}.ipynb",
    "{moodle}_assignsubmission_file_{title}.ipynb",
    "{id}/{title}.ipynb",
    "{email}/{title}.ipynb",
    "{name}/{title}/week1.ipynb",
    "{lms}/{title}/week1/week1.ipynb",
    "submissions/{id}/{title}/week1.ipynb",
    "class/{email}/{title}/hw.ipynb",
    "submitted/class/CS 101/week1/{id}/{title}.ipynb",
    "{id}.zip/{title}.ipynb",
    "{id}.zip/{title}.zip/{title}.ipynb",
    "{moodle}_assignsubmission_file_{title}.zip/{title}/hw.ipynb",
    "{canvas}_{file}_{title}.zip/{title}.ipynb",
)
TITLES = (
    "week1", "vic", "vic@x.org", "Vic Tor", "torvic", "12", "42", "torvic_12_34_week1", "torvic_LATE_12_34_week1",
    "Vic Tor_42_assignsubmission_file", "Vic Tor_42_assignsubmission_file_week1", "12_34_torvic", "LATE_12_34_vic",
    "anon_x7Qaz_6_week1", "Vic", "Tor", "VIC", "ann", "11", "41", "12_9042_week1",
)  # fmt: skip
MARK = "_assignsubmission_file"


def is_open(shape, title, *, platform_is_known):
    """Whether a name can be read in two ways, since its title or whoever it names wrote as a platform does."""
    outermost = next(part for part in shape.split("/") if "{" in part)
    if "{title}" not in outermost:
        return False
    if "{canvas}" in outermost:
        may_be_moodle = f"{MARK}_" in title or (outermost.endswith("{title}") and MARK in title)
        return (may_be_moodle and not platform_is_known) or re.match(r"[1-9]\d*_", title) is not None
    return MARK in title or (re.search(r"(?:^|_)\d+_\d+_", title) is not None and not platform_is_known)


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


def owned(*paths, people=(ANN, VIC, MAL), lines=None, name="week1", archive="CS 101.zip"):
    members = [Member(tuple(one.split("/")), None, bytes) for one in paths]
    return by_owner(members, Roster(people, lines), name, archive)


def owners(*paths, **more):
    return {learner: [upload.member.name for upload in files] for learner, files in owned(*paths, **more).files.items()}


@pytest.mark.parametrize("lines", [None, WORKSHEET], ids=["bare", "worksheet"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_title_that_names_another_changes_no_owner(shape, lines):
    for title in TITLES:
        mine, honest = path(shape, MAL, "52", title), path(shape, VIC, "42")
        taken = {} if is_open(shape, title, platform_is_known=True) else {"mal": [mine]}
        assert owners(mine, honest, lines=lines) == {**taken, "vic": [honest]}, title
        alone = (
            {}
            if is_open(shape, title, platform_is_known=lines is not None and "{moodle}" in shape)
            else {"mal": [mine]}
        )
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
        (["Some Class/ann/week1.ipynb", "Some Class/vic.ipynb"], []),  # all of which may be this learner's choice
        (["CS 101/ann/week1.ipynb", "CS 101/vic.ipynb"], ["ann", "vic"]),
        (["Some Class.zip/ann/week1.ipynb", "Some Class.zip/vic/week1.ipynb"], []),
        (["nobodyzed_77_78_x.zip/ann.ipynb", "nobodyzed_77_78_x.zip/vic.ipynb"], []),
        (["submission_123/ann.ipynb", "submission_123/vic.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "Some Class/ann/vic.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "Some Class/Zed/week1.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "Other Class/vic/week1.ipynb"], []),
        (["Some Class/ann/week1.ipynb", "vic/week1.ipynb"], ["vic"]),
        (["class/ann/week1.ipynb", "class/vic/week1.ipynb", "about.txt", "__MACOSX/x", "Z/.DS_Store"], ["ann", "vic"]),
        (["CS 101/otherann_11_9_week1.ipynb"], ["ann"]),
        (["Some Class/otherann_11_9_week1.ipynb"], []),
        (["CS 101/otherann_11_9_week1.ipynb", "CS 101/notes.ipynb"], ["ann"]),
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
    assert not owners("torvic_12_9042_22_week1.ipynb")
    assert list(owners("torvic_12_9042_02_week1.ipynb")) == ["vic"]  # no number begins with a nought
    assert list(owners("torvic_12_9042_22_week.ipynb", name="22_week")) == ["vic"]


MOODLE_NAMES = (
    "Vic Tor_12_34_x",
    "Vic Tor_LATE_12_34_x",
    "Vic Tor_42_assignsubmission_file",
    "Vic Tor_42_assignsubmission_file_x",
)
NO_NUMBERS = tuple(replace(one, lms_id="") for one in (ANN, VIC, MAL))


@pytest.mark.parametrize("people", [(ANN, VIC, MAL), NO_NUMBERS], ids=["numbers", "names"])
@pytest.mark.parametrize("title", ["_week1.ipynb", "/week1.ipynb", "_/vic.ipynb"])
@pytest.mark.parametrize("has_worksheet", [False, True])
def test_who_takes_a_name_with_a_platforms_marks_is_nobody_else_in_moodle(people, title, has_worksheet):
    _, vic, mal = people
    honest = f"Vic Tor_42{MARK}{title}"
    for name in MOODLE_NAMES:
        mine = f"{name}_52{MARK}{title}"
        lines = {"42": Participant(vic, "Vic Tor", ""), "52": Participant(mal, name, "")} if has_worksheet else None
        may_be = ({}, {"mal": [mine]})  # by the worksheet
        assert owners(mine, people=people, lines=lines) in may_be, mine
        taken = owners(mine, honest, people=people, lines=lines)
        assert taken in [{"vic": [honest], **mine_too} for mine_too in may_be], mine


@pytest.mark.parametrize("people", [(ANN, VIC, MAL), NO_NUMBERS], ids=["numbers", "names"])
@pytest.mark.parametrize("title", ["week1.ipynb", "vic.zip/vic.ipynb", "x/vic.ipynb"])
def test_who_takes_a_name_with_a_platforms_marks_is_nobody_else_in_canvas(people, title):
    honest = f"torvic_12_9042_{title}"
    for name in ("torvic_12", "torvic_99"):  # Canvas leaves out of a name what is between two _
        mine = f"{name}_22_9052_{title}"
        assert owners(mine, people=people) == {}, mine
        assert owners(mine, honest, people=people) == {"vic": [honest]}, mine


@pytest.mark.parametrize(
    ("archive", "path", "learners"),
    [
        ("mal.zip", "vic/hw.ipynb", []),
        ("mal.zip", "vic.ipynb", []),
        ("mal", "vic@x.org/hw.ipynb", []),
        ("Mal Lory_52_assignsubmission_file_", "Vic Tor.ipynb", []),
        ("lorymal_22_9052_hw.zip", "vic/week1.ipynb", []),
        ("mal.zip", "mal/hw.ipynb", ["mal"]),
        ("mal.zip", "week1.ipynb", []),
        ("week1.zip", "vic/hw.ipynb", ["vic"]),
        ("anything.zip", "vic/hw.ipynb", ["vic"]),
    ],
)
def test_an_archive_that_is_called_as_a_learner_has_nobody_elses_files(archive, path, learners):
    found = owned(path, archive=archive)
    assert list(found.files) == learners
    assert len(found.refused) == (not learners)
    assert all(line.startswith(path) for line in found.refused)


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
    assert list(owners(around, archive="Übung.zip")) == ["ann"]


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
    (line,) = files.refused
    assert line.startswith(
        "ann/week1.ipynb, ann@x.org/week1.ipynb: files of several people, all of whom seem to be ann"
    )


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
