"""What a journal holds is read again, also where an earlier version wrote it."""

import json
import sys

import pytest

from autograder.course.journal import Journal, finished_entries
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


def test_a_journal_is_read_while_a_run_writes_it(tmp_path, kept):
    path, entry = kept
    with Journal.open(tmp_path, "hw"), path.open("ab") as file:
        file.write(b'{"learner": "bob", "fing')
        file.flush()
        assert finished_entries(tmp_path, "hw") == {"ann": entry}
    assert path.read_bytes().endswith(b'"fing')  # which nobody has cut off
    assert finished_entries(tmp_path, "other") == {}
