"""What a learner may hand in where the platform takes anything: neither the class nor the teacher's time is lost."""

import io
import json
import shutil
import struct
import zipfile

import pytest

from autograder.course.intake import archives, collect_archive, notebook_choice
from autograder.course.intake.download_names import Owner, Upload
from autograder.grading.restore import MAX_BYTES, MAX_VALUES, SubmissionError, notebook_in
from tests.abuse.test_long_texts import bounded
from tests.autograder.course.downloads import notebook, packed, small_course

NB = notebook("a", "b")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return small_course(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def folder(course, tmp_path):
    return shutil.copytree(course, tmp_path / "course")


def zip_of(count, name="{}.txt"):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(count):
            archive.writestr(name.format(number), "")
    return content.getvalue()


def directory_of(count):
    """A zip that has only a directory, of so many files."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    named = min(count, 0xFFFF)
    return entry * count + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, named, named, len(entry) * count, 0, 0)


MANY = zip_of(1000)
NOTEBOOKS = zip_of(1000, "{}.ipynb")
FLOODS = {
    "zips": {f"ada/{number}.zip": MANY for number in range(21)},
    "notebooks and others": {f"ada/{number}.zip": (MANY, NOTEBOOKS)[number % 2] for number in range(18)},
    "directories": {f"ada/{number}.zip": directory_of(420_000) for number in range(5)},
}


@pytest.mark.parametrize("flood", FLOODS)
def test_many_files_of_one_learner_stop_nobody(folder, tmp_path, flood):
    members = {**FLOODS[flood], "bob/mine.zip": packed(tmp_path / "b.zip", {"week1.ipynb": NB}).read_bytes()}
    archive = packed(tmp_path / "homework.zip", {**members, "kim1/week1.ipynb": NB})

    def collected():
        report = collect_archive.collect(folder, "week1", archive)
        kinds = {outcome.learner: outcome.kind for outcome in report.outcomes}
        assert (kinds["bob"], kinds["kim1"]) == ("new", "new")
        assert kinds.get("ada", "refused") == "refused"

    bounded(collected)


def test_a_zip_that_unpacks_to_nothings_is_not_unpacked(tmp_path, monkeypatch):
    small = bytes(archives.SMALL)
    nothing, some = bytes(archives.SMALL + (2 << 10) * archives.DENSEST), zip_of(archives.MAX_INSIDE)
    members = {f"ada/{number}.zip": nothing for number in range(40)} | {"bob/1.zip": some, "kim1/1.zip": small}
    monkeypatch.setattr(archives.Member, "read", lambda member: {"bob": some, "kim1": some}[member.path[0]])
    with archives.opened(packed(tmp_path / "homework.zip", members)) as contents:
        assert {member.path[0] for member in contents.members} == {"bob", "kim1"}
        assert [line.partition(":")[0] for line in contents.refused] == [f"ada/{number}.zip" for number in range(40)]


def uploaded(title, content):
    return Upload(archives.Member(("ada", title), None, lambda: content), Owner("folder", "ada"), title)


def notebook_of(size, values=0):
    begin, end = b'{"nbformat": 4, "cells": [], "metadata": {"a": [', b"0]}}"
    content = begin + b"0," * values + end
    return content.ljust(size)


@pytest.mark.parametrize(("size", "values"), [(5_000, 0), (0, 500)])
def test_the_notebooks_of_one_learner_are_read_up_to_a_size_of_all(monkeypatch, size, values):
    monkeypatch.setattr(notebook_choice, "MAX_TOGETHER", 10_000)
    monkeypatch.setattr(notebook_choice, "MAX_VALUES", 1_000)
    content = notebook_of(size, values)
    uploads = [uploaded(f"{number}.ipynb", content + b" " * number) for number in range(notebook_choice.MAX_NOTEBOOKS)]
    with pytest.raises(archives.Refused, match="values together"):
        notebook_choice.choose("week1", uploads, {})
    with pytest.raises(archives.Refused, match="was expected") as refused:
        notebook_choice.choose("week1", uploads[:2], {})
    assert "together" not in str(refused.value)


@pytest.mark.parametrize("values", ["{},", "[],", "0,", "[[[[[[[[]]]]]]]],"])
def test_what_has_more_values_than_a_notebook_is_refused_before_they_are_made(values):
    begin, end = '{"nbformat": 4, "cells": [], "metadata": {"a": [', "0]}}"
    content = (begin + values * ((MAX_BYTES - len(begin + end)) // len(values)) + end).encode()

    def read():
        with pytest.raises(SubmissionError, match="values in it"):
            notebook_in(content, "mine.ipynb")

    bounded(read)


def test_signs_within_texts_are_no_values():
    cell = {"cell_type": "markdown", "metadata": {}, "source": '[{",\\" ' * MAX_VALUES}
    text = json.dumps({"nbformat": 4, "cells": [cell | {"source": cell["source"][:2_000_000]}], "metadata": {}})
    assert len(notebook_in(text.encode(), "mine.ipynb").cells) == 1
