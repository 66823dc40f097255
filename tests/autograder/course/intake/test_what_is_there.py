"""What becomes of a downloaded notebook beside the one that is there already."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from types import SimpleNamespace

import pytest

from autograder.course.intake import collect_archive
from autograder.course.intake.archives import Member, Refused
from autograder.course.intake.collect_archive import Outcome, Report, taken
from autograder.course.intake.notebook_choice import Chosen
from autograder.course.submissions.collected_files import Collected

NOON = datetime(2026, 3, 1, 12)
SECOND = timedelta(seconds=1)


def digest(text):
    return sha256(text.encode()).hexdigest()


@pytest.fixture
def kind_of(tmp_path):
    """What is done with a notebook "new" where `there` is, by what is `known` of it and the time `at` of it."""

    def kind_of(there, known=None, at=None, when=None, member=None, replace_others=False):
        times = SimpleNamespace(of=lambda learner: at)
        work = collect_archive._Collecting(tmp_path, "hw", times, replace_others, dry_run=True)
        if known is not None:
            work.before["ann"] = known
        if there is not None:
            home = tmp_path / "submitted" / "ann" / "hw"
            home.mkdir(parents=True)
            (home / "hw.ipynb").write_text(there)
        upload = SimpleNamespace(member=Member(("ann.ipynb",), member, lambda: b""))
        return work._kind("ann", Chosen(upload, "new"), when)

    return kind_of


def came(text, archived="", over=""):
    return Collected(digest(text), "", archived, "ann.ipynb", over)


def test_where_nothing_is_there_it_is_new(kind_of):
    assert kind_of(None) == ("new", [])


def test_the_same_is_unchanged_where_it_is_ours(kind_of):
    assert kind_of("new", came("new")) == ("unchanged", [])


def test_the_same_from_elsewhere_is_kept(kind_of):
    assert kind_of("new") == ("kept", ["it is there already"])


def test_another_s_notebook_stays(kind_of):
    kind, (note,) = kind_of("old")
    assert (kind, "--replace" in note) == ("kept", True)


def test_another_s_notebook_stays_though_one_of_ours_was_there_before(kind_of):
    assert kind_of("old", came("older"))[0] == "kept"


def test_another_s_notebook_is_replaced_where_that_is_wanted(kind_of):
    assert kind_of("old", replace_others=True) == ("updated", [])


def test_what_ours_was_about_to_replace_is_ours_too(kind_of):
    assert kind_of("old", came("new", over=digest("old"))) == ("updated", [])


@pytest.mark.parametrize(("late", "kind"), [(-SECOND, "kept"), (timedelta(), "updated"), (SECOND, "updated")])
def test_the_time_of_the_submission_decides_where_both_are_known(kind_of, late, kind):
    assert kind_of("old", at=NOON, when=(NOON + late).replace(tzinfo=UTC))[0] == kind


@pytest.mark.parametrize(("late", "kind"), [(-SECOND, "kept"), (timedelta(), "updated"), (SECOND, "updated")])
def test_of_two_archives_the_later_one_counts(kind_of, late, kind):
    assert kind_of("old", came("old", NOON.isoformat()), member=NOON + late)[0] == kind


def test_an_archive_without_times_updates_what_came_by_one(kind_of):
    assert kind_of("old", came("old", NOON.isoformat())) == ("updated", [])


def test_a_link_and_a_file_in_place_of_a_folder_are_refused(kind_of, tmp_path):
    (tmp_path / "submitted").mkdir()
    learner = tmp_path / "submitted" / "ann"
    learner.write_text("")
    with pytest.raises(Refused, match="a file or a link"):
        kind_of(None)
    learner.unlink()
    (learner / "hw").mkdir(parents=True)
    (learner / "hw" / "hw.ipynb").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match=r"hw\.ipynb: a link"):
        kind_of(None)


def test_work_is_taken_where_not_all_are_refused():
    refused = Outcome("ann", "refused")
    assert not taken(Report())
    assert not taken(Report([refused]))
    assert taken(Report([refused, Outcome("bob", "kept")]))
