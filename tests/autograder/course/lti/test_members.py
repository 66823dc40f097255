"""A platform's roster comes into the gradebook, to the right learner or to a note."""

import pytest

from autograder.course import gradebook
from autograder.course.lti import members
from tests.autograder.course.lti.loopback_platform import TEACHER


def compared(folder, joined, by="email"):
    return members.compared(folder, members.read(joined), by)


def test_learners_are_known_by_number_id_or_address_and_others_are_new(folder, platform, joined):
    platform.member("17", email="other@x.org")  # ann's lms_user_id
    platform.member("b-1", email="+1@X.org")  # bob's address
    platform.member("c-1", lis_person_sourcedid="sis-9")  # cy's
    platform.member("n-1", email="new@x.org", given_name="Nia", family_name="New")
    platform.member("t-1", role=TEACHER, email="teacher@x.org")
    platform.member("g-1", status="Inactive", email="gone@x.org")
    change = compared(folder, joined)
    assert change.known == {"17": "ann", "b-1": "bob", "c-1": "cy"}
    assert {learner: member.shown for learner, member in change.new.items()} == {"new@x.org": "Nia New"}
    assert change.notes == ["in the gradebook, not in the platform's roster: dee"]
    assert "new@x.org" not in gradebook.learners(folder)  # nothing is written yet
    members.enter(folder, change)
    assert "new@x.org" in gradebook.learners(folder)
    assert members.load(folder) == change.users
    again = compared(folder, joined)
    assert (again.new, again.known) == ({}, change.users)


def test_who_is_known_stays_known_whatever_becomes_of_the_address(folder, platform, joined):
    platform.member("b-1", email="+1@x.org")
    members.enter(folder, compared(folder, joined))
    platform.members.clear()
    platform.member("b-1", email="ann@x.org")  # ann's
    assert compared(folder, joined).known == {"b-1": "bob"}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("17", {"email": "+1@x.org"})], "ann or bob"),  # two keys disagree
        ([("17", {}), ("x", {"email": "ann@x.org"})], "so is another"),
        ([("x", {"given_name": "Ann"})], "does not say the email"),
        ([("x", {"email": "../up@x.org"})], "not a learner's id"),
    ],
)
def test_who_is_not_one_learner_is_nobody_and_is_told(folder, platform, joined, rows, words):
    for user, about in rows:
        platform.member(user, **about)
    change = compared(folder, joined)
    assert change.users == {}
    assert words in change.notes[0]


@pytest.mark.parametrize(("by", "learner"), [("email", "nia@x.org"), ("login", "nia"), ("sis", "s-5"), ("user", "u-5")])
def test_the_id_of_who_is_new_is_what_was_asked_for(folder, platform, joined, by, learner):
    platform.member("u-5", email="nia@x.org", lis_person_sourcedid="s-5")
    assert list(compared(folder, joined, by).new) == [learner]


def test_an_id_that_is_somebody_elses_is_not_given_again(folder, platform, joined):
    platform.member("x", email="dee@y.org")
    platform.member("y", email="nia@y.org")
    platform.member("z", email="nia@z.org")
    change = compared(folder, joined, "login")
    assert list(change.new) == ["nia"]
    assert [note.partition(" would")[0] for note in change.notes[:2]] == ["dee@y.org", "nia@z.org"]


def test_a_broken_list_of_members_is_named(folder):
    (folder / ".gpubook" / members.FILE).write_text('{"u": 1}')
    with pytest.raises(ValueError, match=members.FILE):
        members.load(folder)
