"""A learner's folder and a book that gets a new edition, file by file."""

import json
import os
import shutil
from pathlib import Path

import pytest

from autograder.learner import editions
from autograder.learner.editions import BACKUP, LearnerCopy
from autograder.learner.progress import EDITIONS
from autograder.values.own_folder import LinkInTheWay
from tests.autograder.learner.test_notebook_merge import OTHER, Q, cell, exercise, notebook, of, plain, text

NAME = "03-t"
FILE = f"{NAME}/{NAME}.ipynb"


@pytest.fixture
def book(tmp_path):
    """Write an edition: the chapter's cells, and its other files."""
    folder = tmp_path / "chapters"

    def write(*cells, name=NAME, **files):
        here = folder / name
        for old in [path for path in here.rglob("*") if path.is_file()]:
            old.unlink()
        (here / "files").mkdir(parents=True, exist_ok=True)
        asked = {one["metadata"]["gpubook"]["exercise"]: {} for one in cells if one["metadata"]}
        (here / f"{name}.ipynb").write_bytes(written(notebook(*cells)))
        (here / "exercises.json").write_text(json.dumps({"exercises": asked}))
        for file, content in files.items():
            (here / "files" / f"{file}.txt").write_text(content)
        return folder

    return write


@pytest.fixture
def mine(tmp_path):
    return tmp_path / "study"


def written(nb):
    return (json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def update(book, mine):
    return LearnerCopy(mine, book).update()


def write_answer(path, answer="answer = 1", name="x-ring"):
    nb = json.loads(path.read_text())
    of(nb, name)["source"] = [answer]
    path.write_text(json.dumps(nb))


def everything(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def chapters_of(mine):
    return {path: data for path, data in everything(mine).items() if path.parts[0] != ".gpubook"}


def test_an_untouched_copy_equals_the_new_edition_byte_for_byte(book, mine):
    folder = book(plain("a"), *exercise("x-ring", Q), a="1", b="2")
    assert len(update(folder, mine).new) == 4
    assert chapters_of(mine) == everything(folder)
    book(plain("b"), *exercise("x-ring", OTHER), a="3", c="4")
    report = update(folder, mine)
    assert chapters_of(mine) == everything(folder)
    assert [path.name for path in report.new] == ["c.txt"]
    assert [path.name for path in report.updated] == [f"{NAME}.ipynb", "a.txt"]
    assert (report.said, report.backup) == ([], None)


def test_an_answer_stays_what_was_replaced_is_backed_up_and_a_second_time_does_nothing(book, mine):
    folder = book(plain("a"), *exercise("x-ring", Q))
    update(folder, mine)
    write_answer(mine / FILE)
    before = (mine / FILE).read_bytes()
    book(plain("b"), *exercise("x-ring", Q))
    report = update(folder, mine)
    now = json.loads((mine / FILE).read_text())
    assert text(of(now, "x-ring")) == "answer = 1"
    assert text(now["cells"][0]) == "b"
    assert report.backup.parent == mine / BACKUP
    assert (report.backup / FILE).read_bytes() == before
    assert report.said == [f"{NAME}: cells: 1 new, 1 gone"]

    found = everything(mine)
    again = update(folder, mine)
    assert everything(mine) == found
    assert (again.new, again.said, again.backup) == ([], [], None)


def test_a_renamed_and_a_removed_exercise_are_told_in_the_chapters_line(book, mine):
    folder = book(*exercise("x-ring", Q), *exercise("x-other", OTHER))
    update(folder, mine)
    write_answer(mine / FILE)
    write_answer(mine / FILE, "answer = 2", "x-other")
    book(*exercise("x-loop", Q))
    (line,) = update(folder, mine).said
    assert line.startswith(f"{NAME}: ")
    assert "x-ring is now x-loop" in line
    assert line.endswith(": x-other")


def test_files_of_the_chapter_are_updated_and_a_changed_one_is_backed_up(book, mine):
    folder = book(plain("a"), changed="1", same="1", gone="1", gone_but_mine="1")
    update(folder, mine)
    for name in ("changed", "same", "gone_but_mine"):
        (mine / NAME / "files" / f"{name}.txt").write_text("mine")
    (mine / NAME / "files" / "own.txt").write_text("own")
    book(plain("a"), changed="2", same="1")
    report = update(folder, mine)
    found = {path.stem: path.read_text() for path in (mine / NAME / "files").iterdir()}
    assert found == {"changed": "2", "same": "mine", "gone_but_mine": "mine", "own": "own"}
    assert (report.backup / NAME / "files" / "changed.txt").read_text() == "mine"
    assert "files/changed.txt" in report.said[0]


@pytest.mark.parametrize(
    "broken", ["no JSON", "[]", '{"nbformat": 3}', '{"nbformat": 4, "metadata": {}, "cells": [1]}']
)
def test_a_notebook_that_cannot_be_read_is_told_and_its_chapter_left_alone(book, mine, broken):
    folder = book(plain("a"))
    update(folder, mine)
    (mine / FILE).write_text(broken)
    for cells in ([plain("a")], [plain("b")]):
        book(*cells)
        before = everything(mine)
        (line,) = update(folder, mine).said
        assert line.startswith(f"{NAME}: {NAME}.ipynb is not a notebook")
        assert everything(mine) == before


def test_a_copy_from_before_editions_were_noted_is_not_changed_where_nothing_is_new(book, mine):
    folder = book(cell("0123456789ab", "prose"), *exercise("x-ring", Q))
    update(folder, mine)
    write_answer(mine / FILE)
    before = chapters_of(mine)
    for path in (mine / EDITIONS / NAME).iterdir():
        path.unlink() if path.is_file() else path.rmdir()
    report = update(folder, mine)
    assert chapters_of(mine) == before
    assert report.said == []
    book(cell("0123456789ab", "other prose"), *exercise("x-ring", Q))
    update(folder, mine)
    assert "other prose" in (mine / FILE).read_text()


def test_a_fresh_copy_of_a_chapter_keeps_the_old_one_and_the_learners_id(book, mine):
    folder = book(plain("a"), *exercise("x-ring", Q), a="1")
    update(folder, mine)
    nb = json.loads((mine / FILE).read_text())
    nb["metadata"]["gpubook"]["learner"] = "ada"
    nb["cells"][0]["source"] = ["mine"]
    (mine / FILE).write_bytes(written(nb))
    (mine / NAME / "own.txt").write_text("own")
    report = LearnerCopy(mine, folder).reset(NAME)
    now = json.loads((mine / FILE).read_text())
    assert now["metadata"]["gpubook"].pop("learner") == "ada"
    assert now == json.loads((folder / FILE).read_text())
    assert (report.backup / FILE).read_bytes() == written(nb)
    assert (mine / NAME / "own.txt").read_text() == "own"
    assert report.lines() == [f"{NAME}: a fresh copy", f"What was replaced is in {report.backup}"]

    (mine / FILE).write_text("no JSON")
    LearnerCopy(mine, folder).reset(NAME)
    assert (mine / FILE).read_bytes() == (folder / FILE).read_bytes()


def test_a_chapter_with_another_number_takes_the_learners_notebook_along(book, mine):
    folder = book(*exercise("x-ring", Q))
    update(folder, mine)
    write_answer(mine / FILE)
    book()
    for path in sorted((folder / NAME).rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (folder / NAME).rmdir()
    book(*exercise("x-ring", Q, number="4.1"), name="04-t")
    report = update(folder, mine)
    assert not (mine / NAME).exists()
    assert "answer = 1" in (mine / "04-t" / "04-t.ipynb").read_text()
    assert report.said[0] == "04-t: this was 03-t"


def test_a_chapter_with_another_number_overwrites_no_notebook_of_its_new_name(book, mine):
    folder = book(*exercise("x-ring", Q))
    update(folder, mine)
    write_answer(mine / FILE)
    (mine / NAME / "04-t.ipynb").write_bytes(own := written(notebook(plain("my own"))))
    answered = (mine / FILE).read_bytes()
    shutil.rmtree(folder / NAME)
    book(*exercise("x-ring", Q, number="4.1"), name="04-t")
    update(folder, mine)
    assert {own, answered} <= set(everything(mine).values())
    assert update(folder, mine).said == []


def test_a_chapter_that_the_book_has_no_more_is_told_once(book, mine):
    folder = book(plain("a"), name="05-u")
    book(plain("a"))
    update(folder, mine)
    for path in sorted((folder / "05-u").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (folder / "05-u").rmdir()
    assert update(folder, mine).said == ["05-u: not in this edition of the book; yours is left as it is"]
    assert (mine / "05-u" / "05-u.ipynb").is_file()
    assert update(folder, mine).said == []


def test_a_crash_leaves_each_file_whole_and_the_next_start_ends_the_work(book, mine, monkeypatch):
    folder = book(plain("a"), *exercise("x-ring", Q), a="1")
    update(folder, mine)
    write_answer(mine / FILE)
    before = (mine / FILE).read_bytes()
    book(plain("b"), *exercise("x-ring", OTHER), a="2")
    whole, left = os.replace, []

    def crash(source, target, **folders):
        if not left:
            raise OSError("no space left")
        whole(source, target, **folders)
        left.pop()

    monkeypatch.setattr(editions.os, "replace", crash)
    for writes in range(3):
        left[:] = [None] * writes
        with pytest.raises(OSError, match="no space"):
            update(folder, mine)
        json.loads((mine / FILE).read_text())
    monkeypatch.undo()
    update(folder, mine)
    assert text(of(json.loads((mine / FILE).read_text()), "x-ring")) == "answer = 1"
    assert before in everything(mine / BACKUP).values()
    assert [path for path in everything(mine) if path.name.endswith(".new")] == []
    assert everything(mine / EDITIONS) == everything(folder)


def test_a_linked_notebook_stays_a_link_and_keeps_its_rights(book, mine, tmp_path):
    folder = book(plain("a"), *exercise("x-ring", Q))
    update(folder, mine)
    write_answer(mine / FILE)
    os.replace(mine / FILE, tmp_path / "elsewhere.ipynb")
    (tmp_path / "elsewhere.ipynb").chmod(0o600)
    (mine / FILE).symlink_to(tmp_path / "elsewhere.ipynb")
    book(plain("b"), *exercise("x-ring", Q))
    update(folder, mine)
    assert (mine / FILE).is_symlink()
    assert (tmp_path / "elsewhere.ipynb").stat().st_mode & 0o777 == 0o600
    assert "answer = 1" in (tmp_path / "elsewhere.ipynb").read_text()


def test_the_answer_to_an_exercise_that_is_in_another_chapter_now_goes_along(book, mine):
    """And stays below a note where it was; a second time does nothing."""
    folder = book(plain("a"), *exercise("x-ring", Q), *exercise("x-other", OTHER))
    book(plain("b"), name="05-u")
    update(folder, mine)
    write_answer(mine / FILE)
    book(plain("a"), *exercise("x-other", OTHER))
    book(plain("b"), *exercise("x-ring", Q, number="5.1"), plain("c"), name="05-u")
    report = update(folder, mine)
    now = json.loads((mine / "05-u" / "05-u.ipynb").read_text())
    assert [one["id"] for one in now["cells"]][1:4] == ["x-ring-prompt", "x-ring", "x-ring-grade"]
    assert text(of(now, "x-ring")) == "answer = 1"
    assert "5.1" in text(of(now, "x-ring-prompt"))
    assert "answer = 1" in (mine / FILE).read_text()
    assert report.said == [
        "05-u: cells: 1 new, 1 changed; the exercise x-ring is now here, with your answer in 03-t",
        "03-t: cells: 2 gone; exercises that are gone from this chapter, your answers kept: x-ring",
    ]
    found = everything(mine)
    assert update(folder, mine).said == []
    assert everything(mine) == found


def test_it_goes_along_into_a_chapter_that_is_new_and_from_one_that_is_gone(book, mine):
    folder = book(*exercise("x-ring", Q), *exercise("x-other", OTHER), name="05-u")
    update(folder, mine)
    write_answer(mine / "05-u" / "05-u.ipynb")
    shutil.rmtree(folder / "05-u")
    book(plain("a"), *exercise("x-ring", OTHER), *exercise("x-other", OTHER))
    lines = update(folder, mine).said
    now = json.loads((mine / FILE).read_text())
    assert [text(of(now, name)) for name in ("x-ring", "x-other")] == ["answer = 1", "answer = ..."]
    assert "exercises that have changed, your answers as they were: x-ring" in lines[0]
    assert update(folder, mine).said == []


def test_an_answer_that_the_other_chapter_has_already_stays(book, mine, monkeypatch):
    """What a crash between the two chapters leaves: the one that asks it now is done first."""
    folder = book(*exercise("x-ring", Q))
    book(plain("b"), name="05-u")
    update(folder, mine)
    write_answer(mine / FILE)
    book(plain("a"))
    book(plain("b"), *exercise("x-ring", Q), name="05-u")
    noted = LearnerCopy._note

    def crash(copy, name):
        noted(copy, name)
        raise OSError("no space left")

    monkeypatch.setattr(LearnerCopy, "_note", crash)
    with pytest.raises(OSError, match="no space"):
        update(folder, mine)
    monkeypatch.undo()
    write_answer(mine / "05-u" / "05-u.ipynb", "answer = 2")
    update(folder, mine)
    assert text(of(json.loads((mine / "05-u" / "05-u.ipynb").read_text()), "x-ring")) == "answer = 2"


def linked(path, target):
    """Put a link where something of ours is, or would be; what is there is moved to the target first."""
    if path.exists():
        shutil.copytree(path, target, dirs_exist_ok=True) if path.is_dir() else shutil.copy(path, target)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


LINKS = [
    ".gpubook",
    EDITIONS,
    f"{EDITIONS}/{NAME}",
    f"{EDITIONS}/{NAME}/files",
    f"{EDITIONS}/{FILE}",
    f"{EDITIONS}/{NAME}/new",
    f"{EDITIONS}/99-gone",
    BACKUP,
    f"{BACKUP}/2030/old",
]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("action", ["update", "reset", "renew"])
def test_nothing_is_done_through_a_link_among_the_editions(book, mine, tmp_path, link, action):
    """A copy that somebody else has made: the link leads to the files of whoever opens it."""
    folder = book(plain("a"), *exercise("x-ring", Q), a="1")
    update(folder, mine)
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "thesis.txt").write_text("years")
    target = elsewhere / "file" if link.endswith(".ipynb") else elsewhere
    linked(mine / link, target)
    book(plain("b"), *exercise("x-ring", OTHER), b="2")
    before, outside = chapters_of(mine), everything(elsewhere)
    copy = LearnerCopy(mine, folder)
    actions = {
        "update": copy.update,
        "reset": lambda: copy.reset(NAME),
        "renew": lambda: copy.renew(Path("00-start.ipynb"), written(notebook(plain("x"))), None),
    }
    with pytest.raises(LinkInTheWay) as raised:
        actions[action]()
    assert raised.value.link == mine / link
    assert (chapters_of(mine), everything(elsewhere)) == (before, outside)
    assert (copy.report.new, copy.report.updated) == ([], [])


@pytest.mark.parametrize("link", [NAME, f"{NAME}/files"])
def test_a_file_that_the_edition_has_no_more_is_not_removed_through_a_link(book, mine, tmp_path, link):
    folder = book(plain("a"), old="")
    update(folder, mine)
    linked(mine / link, tmp_path / "elsewhere")
    (old,) = (tmp_path / "elsewhere").rglob("old.txt")
    book(plain("a"))
    update(folder, mine)
    assert old.read_text() == ""
    assert (mine / link).is_symlink()


def test_a_link_where_a_file_is_written_at_first_leads_nowhere(book, mine, tmp_path):
    (tmp_path / "thesis").write_text("years")
    folder = book(plain("a"))
    (mine / NAME).mkdir(parents=True)
    (mine / NAME / f".{NAME}.ipynb.new").symlink_to(tmp_path / "thesis")
    update(folder, mine)
    assert (tmp_path / "thesis").read_text() == "years"
    assert not (mine / FILE).is_symlink()
    assert chapters_of(mine) == everything(folder)
