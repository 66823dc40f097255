"""What a journal holds is read again, also where an earlier version wrote it."""

import json
import sys

import pytest

from autograder.course.run.journal import Journal, finished_entries, recorded_lateness
from autograder.course.terms.lateness import Lateness
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.results import Result
from autograder.grading.worker import JobOutcome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
FINGERPRINT = Fingerprint("notebook", "release", {"t-one": "key"})


@pytest.fixture
def kept(tmp_path):
    with Journal.open(tmp_path, "hw") as journal:
        outcome = JobOutcome("{}", [Result("t-one", 1.0, 2.0, "Half.")], answers={"t-one": {"message": 1}})
        return journal.path, journal.keep("ann", FINGERPRINT, outcome)


def test_an_entry_comes_back_as_it_was_kept(tmp_path, kept):
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.entries == {"ann": kept[1]}
        assert journal.notebook(kept[1]) == "{}"


def test_an_entry_of_an_earlier_version_is_read(tmp_path, kept):
    path, entry = kept
    line = json.loads(path.read_text())
    line["stamp"] = line.pop("fingerprint")
    del line["answers"]
    path.write_text(json.dumps(line) + "\n")
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.entries["ann"].fingerprint == FINGERPRINT
        assert journal.entries["ann"].results == entry.results
        assert journal.entries["ann"].answers == {}


def test_how_late_an_entry_counts_is_read_again_and_an_earlier_version_kept_none(tmp_path, kept):
    path, entry = kept
    late = Lateness("2030-01-02 12:00:00 UTC", True, "2030-01-01T00:00:00", 0.1 + 0.2)
    with Journal.open(tmp_path, "hw") as journal:
        journal.record("ann", late)
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.recorded == recorded_lateness(tmp_path, "hw") == {"ann": late}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[-1]["lateness"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.recorded == {"ann": None}
        journal.keep("ann", FINGERPRINT, JobOutcome("{ }", list(entry.results)))
    assert recorded_lateness(tmp_path, "hw") == {}


def test_a_journal_is_read_while_a_run_writes_it(tmp_path, kept):
    path, entry = kept
    with Journal.open(tmp_path, "hw"), path.open("ab") as file:
        file.write(b'{"learner": "bob", "fing')
        file.flush()
        assert finished_entries(tmp_path, "hw") == {"ann": entry}
    assert path.read_bytes().endswith(b'"fing')  # which nobody has cut off
    assert finished_entries(tmp_path, "other") == {}
