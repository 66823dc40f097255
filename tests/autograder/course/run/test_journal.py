"""What a journal holds is read again, also where an earlier version wrote it."""

import errno
import json
import os
import sys

import pytest

from autograder.book.course_error import CourseError
from autograder.course.run.journal import Journal, finished_entries, recorded_lateness, reporting_full_machine
from autograder.course.terms.lateness import Lateness
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.results import Result
from autograder.grading.worker import JobOutcome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
FINGERPRINT = Fingerprint("notebook", "release", {"t-one": "key"})


@pytest.fixture
def kept(tmp_path):
    with Journal.open(tmp_path, "hw") as journal:
        outcome = JobOutcome('{"cells": []}', [Result("t-one", 1.0, 2.0, "Half.")], answers={"t-one": {"message": 1}})
        return journal.path, journal.keep("ann", FINGERPRINT, outcome)


def test_an_entry_comes_back_as_it_was_kept(tmp_path, kept):
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.entries == {"ann": kept[1]}
        assert journal.notebook(kept[1]) == '{"cells": []}'


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
        journal.keep("ann", FINGERPRINT, JobOutcome('{"cells": [ ]}', list(entry.results)))
    assert recorded_lateness(tmp_path, "hw") == {}


def test_a_journal_is_read_while_a_run_writes_it(tmp_path, kept):
    path, entry = kept
    with Journal.open(tmp_path, "hw"), path.open("ab") as file:
        file.write(b'{"learner": "bob", "fing')
        file.flush()
        assert finished_entries(tmp_path, "hw") == {"ann": entry}
    assert path.read_bytes().endswith(b'"fing')  # which nobody has cut off
    assert finished_entries(tmp_path, "other") == {}


def test_a_journal_is_its_owners_alone_and_open_for_one_run_at_a_time(tmp_path):
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(CourseError, match="hw is being graded by another run"):
            Journal.open(tmp_path, "hw")
        with Journal.open(tmp_path, "other"):
            pass
    with Journal.open(tmp_path, "hw"):
        pass


@pytest.mark.parametrize(("resume", "words"), [(True, "with 1 graded."), (False, "which are graded again now")])
def test_a_run_that_did_not_end_is_remarked_on(tmp_path, kept, resume, words):
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.finished, "a learner alone was graded, which is no run over the class"
        journal.begin(restart=False)
    with Journal.open(tmp_path, "hw") as journal:
        assert not journal.finished
        assert words in journal.remark(resume)
        journal.end()
        assert journal.remark(resume) == ""
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.finished
        assert journal.remark(resume) == ""
        journal.keep("bob", FINGERPRINT, JobOutcome("{}", []))
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.finished, "nor is one after it"
        journal.begin(restart=False)
    with Journal.open(tmp_path, "hw") as journal:
        assert not journal.finished  # the last line counts


def test_a_run_that_graded_nobody_needs_no_remark(tmp_path):
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.finished
        journal.begin(restart=False)
    with Journal.open(tmp_path, "hw") as journal:
        assert not journal.finished
        assert journal.remark(resume=True) == ""


def test_a_run_from_the_start_discards_the_entries_with_its_first_submission(tmp_path, kept):
    path, entry = kept
    with Journal.open(tmp_path, "hw") as journal:
        journal.begin(restart=True)
    assert finished_entries(tmp_path, "hw") == {"ann": entry}
    with Journal.open(tmp_path, "hw") as journal:
        journal.begin(restart=True)
        journal.keep("bob", FINGERPRINT, JobOutcome('{"cells": [ ]}'))
        journal.keep("cy", FINGERPRINT, JobOutcome('{"cells": [  ]}'))
    assert set(finished_entries(tmp_path, "hw")) == {"bob", "cy"}
    assert json.loads(path.read_bytes().splitlines()[0]) == {"begun": True}
    assert len(list((path.parent / "hw.graded").iterdir())) == 2


def test_a_notebook_stays_while_an_entry_names_it(tmp_path, kept):
    path, entry = kept
    notebooks = path.parent / "hw.graded"
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.keep("ann", FINGERPRINT, JobOutcome('{"cells": []}')).notebook == entry.notebook
        assert [file.name for file in notebooks.iterdir()] == [entry.notebook]
        now = journal.keep("ann", FINGERPRINT, JobOutcome('{"cells": [ ]}'))
        assert [file.name for file in notebooks.iterdir()] == [now.notebook]
        assert journal.notebook(now) == '{"cells": [ ]}'


def test_an_entry_without_its_notebook_does_not_count(tmp_path, kept):
    path, entry = kept
    with Journal.open(tmp_path, "hw") as journal:
        journal.record("ann", Lateness())
    (path.parent / "hw.graded" / entry.notebook).unlink()
    with Journal.open(tmp_path, "hw") as journal:
        assert (journal.entries, journal.recorded) == ({}, {})


def test_a_line_that_a_kill_cut_off_is_ignored_and_written_over(tmp_path, kept):
    path, entry = kept
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"learner": "bob", "fing')
    with Journal.open(tmp_path, "hw") as journal:
        assert journal.entries == {"ann": entry}
        assert path.read_bytes() == whole
        journal.end()
    assert path.read_bytes() == whole + b'{"finished": true}\n'


def test_a_disk_that_is_full_leaves_whole_lines_and_is_told(tmp_path, kept, monkeypatch):
    path, _ = kept
    whole, write = path.read_bytes(), os.write

    def until_full(handle, data):
        if len(data) <= 5:
            raise OSError(errno.ENOSPC, "full")
        return write(handle, data[:5])

    with Journal.open(tmp_path, "hw") as journal:
        monkeypatch.setattr(os, "write", until_full)
        with pytest.raises(OSError, match="full"):
            journal.end()
        monkeypatch.undo()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("file", [None, "elsewhere"])
def test_a_full_disk_is_reported_with_the_place_and_how_to_go_on(tmp_path, number, file):
    advice = r"free some space, then `gpubook grade .* hw --resume`"
    with pytest.raises(CourseError, match=advice) as caught, reporting_full_machine(tmp_path, "hw"):
        raise OSError(number, os.strerror(number), file)
    where = file or tmp_path / ".gpubook" / "hw.journal"
    assert str(caught.value).startswith(f"{where}: {os.strerror(number)}")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_too_many_open_files_are_reported_as_nobodys_fault(tmp_path, number):
    with pytest.raises(CourseError, match=r"no submission's fault.*ulimit -n"), reporting_full_machine(tmp_path, "hw"):
        raise OSError(number, os.strerror(number))


def test_any_other_error_of_the_system_stays_what_it_is(tmp_path):
    with pytest.raises(PermissionError), reporting_full_machine(tmp_path, "hw"):
        raise PermissionError(errno.EACCES, "no")
