"""A course's own files, below `.gpubook`, are neither read nor written through a link that somebody put there."""

import re

import pytest

from autograder.course.assigning import dropped_exercises
from autograder.course.by_hand import marks
from autograder.course.class_results import stored_results
from autograder.course.lti import keys as lti_keys
from autograder.course.lti import members, registration, sent_scores
from autograder.course.lti.registration import Registration
from autograder.course.report import of_class
from autograder.course.run.journal import Journal, finished_entries
from autograder.course.run.trail_file import TrailFile
from autograder.course.service.attempts import Ledger, used
from autograder.course.service.tokens import CourseTokens
from autograder.course.submissions import collected_files, refused_uploads
from autograder.course.terms import agreed_terms, assignment_state, group_shares, history
from autograder.ranks.seeds import secret_of
from autograder.values.own_folder import LinkInTheWay


def entered(make):
    def enter(folder):
        with make(folder):
            pass

    return enter


WRITERS = {
    "secret": secret_of,
    "week1.collected.json": lambda folder: collected_files.save(folder, "week1", {}),
    "week1.refused.json": lambda folder: refused_uploads.save(folder, "week1", {"ann": "x"}),
    "week1.shared.json": lambda folder: group_shares.write(folder, "week1", {}),
    "week1.results.json": lambda folder: stored_results.results_path(folder, "week1"),
    "week1.set-aside.json": lambda folder: dropped_exercises._path(folder, "week1"),
    "week1.trail.jsonl": lambda folder: TrailFile(folder, "week1").noticed("ann", ["files"]),
    "history.jsonl": lambda folder: history.record(folder, "drop", "week1"),
    "assignments.lock": entered(lambda folder: assignment_state.changing(folder, "week1")),
    "terms.lock": entered(lambda folder: agreed_terms.changing(folder, "week1")),
    "lti.json": lambda folder: registration.save(folder, Registration("other", "c", *["https://x.org/"] * 4)),
    "lti-key.pem": lti_keys.make,
    "lti-members.json": lambda folder: members.enter(folder, members.RosterChange()),
    "week1.lti-sent.json": lambda folder: sent_scores.load(folder, "week1", "column").save(),
    "tokens.json": CourseTokens,
    "tokens.lock": CourseTokens,
    "checks.db": Ledger,
    "checks.db-wal": Ledger,
    "checks.db-shm": Ledger,
    "by_hand": lambda folder: marks.exercises(folder, "week1"),
    "by_hand/week1/x.json": lambda folder: marks.save(folder, "week1", "x", {}),
    "by_hand/week1/x.lock": entered(lambda folder: marks.alone(folder, "week1", "x")),
    "week1.journal": entered(lambda folder: Journal.open(folder, "week1")),
    "week1.graded": entered(lambda folder: Journal.open(folder, "week1")),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("whole", [False, True], ids=["itself", "the folder"])
def test_a_link_is_refused_by_name(tmp_path, name, whole):
    course, elsewhere = tmp_path / "course", tmp_path / "elsewhere"
    link = course / ".gpubook" if whole else course / ".gpubook" / name
    link.parent.mkdir(parents=True)
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    with pytest.raises(LinkInTheWay, match=re.escape(f"{link}: a link")):
        WRITERS[name](course)
    assert sorted(elsewhere.rglob("*")) == before


def test_readers_follow_none_either(tmp_path):
    (tmp_path / ".gpubook").symlink_to(tmp_path)
    for read in (
        lambda: finished_entries(tmp_path, "week1"),
        lambda: of_class.of_term(tmp_path),
        lambda: used(tmp_path),
    ):
        with pytest.raises(LinkInTheWay):
            read()


def test_the_folder_is_named_in_one_place_only(root):
    """Elsewhere a path below it would be made without a look for links."""
    files = [path for path in sorted((root / "autograder").rglob("*.py")) if path.name != "own_folder.py"]
    assert [str(path) for path in files if re.search(r"""["'/]\.gpubook["'/]""", path.read_text())] == []
