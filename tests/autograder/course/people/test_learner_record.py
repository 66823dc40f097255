"""After a learner was removed, the id stands nowhere in the bytes of the course; until then it can be handed out."""

import json
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace
from datetime import datetime

import pytest
from click.testing import CliRunner

from autograder.book.course_error import CourseError
from autograder.cli import commands
from autograder.course import gradebook
from autograder.course.agreements import extensions, learner_groups
from autograder.course.assigning import dropped_exercises
from autograder.course.by_hand import marks, shares
from autograder.course.class_results import class_result, removed_statistics
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.class_results.stored_results import results_path
from autograder.course.people import learner_record, own_files
from autograder.course.run.journal import Journal
from autograder.course.service.attempts import Ledger
from autograder.course.service.tokens import CourseTokens
from autograder.course.submissions import collected_files, refused_uploads
from autograder.course.submissions.collected_files import Collected
from autograder.course.terms import accommodations, exam_starts, group_shares
from autograder.course.terms.agreed_terms import Extension
from autograder.course.terms.group_shares import GroupShare
from autograder.course.terms.lateness import Lateness
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.results import Result
from autograder.grading.worker import JobOutcome
from tests.autograder.course.made_class import make_class

IDS = ("zoë-müller", "o'neil", 'quo"te', "l1", "ann.b@uni.example")
STAYS = "l1-2"
TEXT = "Because of l1's cache."  # what another learner wrote stays, whoever is called like a word in it


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A class that was graded, late, dropped, graded by hand, checked and grouped; everybody in every file."""
    everybody = [*IDS, STAYS]
    words = {"mine-why": "Because.", "mine-secret": "So."}
    folder = make_class(tmp_path_factory.mktemp("people") / "course", dict.fromkeys(everybody, words))
    (folder / "nbgrader_config.py").chmod(0o600)
    with gradebook_open(folder) as book:
        book.update_or_create_assignment("hw", duedate=datetime(2030, 1, 1))
    extensions.extend(folder, "hw", everybody, Extension(days=1))
    learner_groups.form(folder, "hw", {"A": everybody[:3]})
    for who in everybody:
        work = folder / "submitted" / who / "hw" / "hw.ipynb"
        work.parent.mkdir(parents=True)
        shutil.copy(folder / "release/hw/hw.ipynb", work)
        page = folder / "feedback" / who / "hw" / "hw.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"<p>{who}</p>\n<p>Submitted by {IDS[0]}, for your group.</p>")
    with Journal.open(folder, "hw") as journal:
        journal.begin(restart=False)
        for who in everybody:
            answers = {"mine-why": {"message": TEXT}}
            outcome = JobOutcome(notebook=json.dumps({"cells": [who]}), results=[result("mine-why")], answers=answers)
            journal.keep(who, fingerprint(), outcome)
            journal.record(who, Lateness())
        journal.end()
    rows = [Learner(who, [result("mine-why"), result("mine-secret", 0.0)]) for who in everybody]
    rows[1].submitted_by = everybody[0]
    notes = [f"timestamp.txt of {who} does not count." for who in everybody]
    class_result.save(ClassResult("hw", {"mine-why": 2.0, "mine-secret": 1.0}, rows, notes), results_path(folder, "hw"))
    dropped = {who: ["mine-secret", 1.0, 1.0, None, False] for who in everybody}
    dropped_exercises._write(folder, "hw", {"grade-mine-secret": dropped})
    group_shares.write(folder, "hw", {everybody[1]: GroupShare(everybody[0]), everybody[2]: GroupShare(everybody[0])})
    collected_files.save(folder, "hw", {who: Collected("d", "", "", f"{who}_hw.ipynb") for who in everybody})
    rubric = (("Names it.", 2.0),)
    with marks.alone(folder, "hw", "mine-why"):
        marks.save(folder, "hw", "mine-why", {who: marks.Mark((1.0,), rubric, 1.0, "teacher") for who in everybody})
    CourseTokens(folder).issue(everybody, days=9)
    with Ledger(folder) as ledger:
        for who in everybody:
            ledger.take(who, "mine-why", "d1", allowed=3, key="k", assignment="hw")
            ledger.keep(who, "mine-why", "d1", key="k", verdict={"say": who})
    (folder / ".gpubook" / "history.jsonl").write_text(
        "".join(
            json.dumps({"what": f"extend hw {who}", "learners": [who, STAYS], "by": "teacher"}) + "\n" for who in IDS
        )
    )
    accommodations.grant(folder, everybody, 1.5)
    exam_starts.enter(folder, "hw", dict.fromkeys(everybody, datetime(2030, 1, 1)))
    refused_uploads.save(folder, "hw", {who: f"{who}.ipynb: the file is empty" for who in everybody})
    for who in everybody:
        copy = folder / ".gpubook" / "exams" / "hw" / "copies" / who / "20300101T000000Z.ipynb"
        copy.parent.mkdir(parents=True)
        copy.write_text("{}")
    rows = {
        "graders.json": {
            "version": 1,
            "shares": {"hw": {"way": "evenly", "weights": {"teacher": 1}}},
            "order": {"hw": everybody},
        },
        "by_hand/hw/together/mine-why.json": {"decisions": [{"by": "teacher", "before": [{"learner": everybody[0]}]}]},
        "by_hand/hw/second/mine-why.json": {
            "learners": everybody,
            "marks": {who: {"points": [1]} for who in everybody},
        },
        "requests/hw.json": {"requests": [{"number": at, "learner": who} for at, who in enumerate(everybody)]},
        "lti-members.json": {"users": {f"user-{at}": who for at, who in enumerate(everybody)}},
        "hw.lti-sent.json": {"column": "c", "sent": {who: {"share": 1.0} for who in everybody}},
    }
    for name, plain in rows.items():
        path = folder / ".gpubook" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(plain))
    (folder / ".nbgrader.log").write_text("".join(f"grading {who}\n" for who in everybody))
    return folder


def gradebook_open(folder):
    from autograder.course.gradebook_url import opened

    return opened(gradebook.url_of(folder))


def fingerprint():
    return Fingerprint(**{name: ({} if name == "keys" else "x") for name in Fingerprint.__dataclass_fields__})


def result(exercise, points=1.0):
    return Result(exercise, points, 2.0, "It is.", kind="right" if points else "wrong")


@pytest.fixture
def course(template, tmp_path):
    return shutil.copytree(template, tmp_path / "course")


def holders(folder, who):
    """Every file with the id in its path or its bytes, as UTF-8 or escaped."""
    forms = {who.encode(), json.dumps(who)[1:-1].encode(), json.dumps(who, ensure_ascii=False)[1:-1].encode()}
    whole = [re.compile(rb"(?<![\w-])" + re.escape(form) + rb"(?![\w-])") for form in forms]
    return [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if any(search.search(bytes(path) + (path.read_bytes() if path.is_file() else b"")) for search in whole)
    ]


@pytest.mark.parametrize("who", IDS)
def test_the_id_of_a_removed_learner_stands_nowhere_in_the_course(course, who):
    before = holders(course, who)
    assert {path.partition("/")[0] for path in before} >= {"submitted", "autograded", "feedback", ".gpubook"}
    assert len([path for path in before if path.startswith(".gpubook/")]) >= 9
    others = {one: learner_record.of(course, one) for one in (STAYS, "o'neil" if who != "o'neil" else "l1")}
    left = learner_record.forget(learner_record.of(course, who))
    journal = [".gpubook/hw.journal"] if who == "l1" else []  # others' words have it
    assert holders(course, who) == journal == [path.as_posix() for path in left]
    for one, had in others.items():
        now = learner_record.of(course, one)
        assert now.homes == had.homes
        assert now.gradebook == had.gradebook
        shares = {".gpubook/hw.shared.json"}  # in a submission that is gone
        assert now.own.keys() | shares == had.own.keys() | shares, "what others have is in the same files"
    with pytest.raises(CourseError, match="holds nothing about"):
        learner_record.of(course, who)


def test_what_is_left_of_the_course_can_be_read(course):
    for who in IDS:
        learner_record.forget(learner_record.of(course, who))
    assert [one.name for one in class_result.load(results_path(course, "hw")).learners] == [STAYS]
    with Journal.open(course, "hw") as journal:
        assert list(journal.entries) == [STAYS]
        assert journal.entries[STAYS].answers["mine-why"]["message"] == TEXT
        assert len(list(journal.notebooks.iterdir())) == 1
    assert list(marks.load(course, "hw", "mine-why")) == [STAYS]
    assert list(collected_files.load(course, "hw")) == [STAYS]
    assert [one.learner for one in extensions.listed(course, "hw")] == [STAYS]
    assert group_shares.read(course, "hw") == {}, "the others' points are their own now"
    with closing(sqlite3.connect(course / ".gpubook" / "checks.db")) as db:
        assert db.execute("SELECT learner FROM attempts").fetchall() == [(STAYS,)]
    counts = removed_statistics.read(course)["hw"]
    assert counts.learners == len(IDS)
    assert counts.points["mine-why"] == {"1": len(IDS)}
    assert counts.kinds["mine-secret"] == {"wrong": len(IDS)}
    assert counts.mean == 1.0
    assert counts.sentence([7.0]) == "5 learners were removed from the course; with their points the mean is 2."
    assert removed_statistics.RemovedLearners().sentence([7.0]) == ""


def test_without_statistics_nothing_is_counted(course):
    learner_record.forget(learner_record.of(course, "o'neil"), statistics=False)
    assert removed_statistics.read(course) == {}


def test_the_command_asks_first_and_a_kill_in_between_is_finished_by_the_same_again(course, monkeypatch):
    run = lambda *words, **more: CliRunner().invoke(commands.main, ["course", "forget", str(course), *words], **more)
    asked = run("o'neil", input="n\n")
    assert asked.exit_code == 1
    assert "Remove all of it" in asked.output
    assert "Error: nothing was removed" in asked.output
    assert learner_record.of(course, "o'neil")
    with monkeypatch.context() as patch:
        patch.setattr(learner_record.gradebook_rows, "forget", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run("o'neil", "--yes").exit_code != 0
    done = run("o'neil", "--yes")
    assert done.exit_code == 0, done.output
    assert holders(course, "o'neil") == []
    assert removed_statistics.read(course)["hw"].learners == 1, "counted once"
    near = run("l2", "--yes")
    assert near.exit_code == 1
    assert "did you mean l1" in near.output


def test_a_teachers_own_file_is_named_and_stays(course):
    (course / "grades.csv").write_text("o'neil,5\n")
    ours = course / "grades-csv.csv"
    ours.write_bytes(b"learner,score\r\n\"o'neil\",5\r\no'neil-2,4\r\n")
    done = CliRunner().invoke(commands.main, ["course", "forget", str(course), "o'neil", "--yes"])
    assert "still stands in grades.csv" in done.output
    assert (course / "grades.csv").read_text() == "o'neil,5\n"
    assert ours.read_bytes() == b"learner,score\r\no'neil-2,4\r\n"


def test_nothing_is_removed_while_a_run_writes_or_where_an_id_is_ambiguous(course):
    with Journal.open(course, "hw"), pytest.raises(CourseError, match="in use"):
        learner_record.forget(learner_record.of(course, "o'neil"))
    assert (course / "submitted" / "o'neil").is_dir()
    (course / "release" / "o'neil").mkdir()
    with pytest.raises(CourseError, match="also the name of an assignment"):
        learner_record.forget(learner_record.of(course, "o'neil"))
    (course / ".gpubook" / "hw.shared.json").write_text("{half")
    with pytest.raises(CourseError, match="cannot be read"):
        learner_record.of(course, "l1")


def test_data_is_all_of_it_and_no_key(course, tmp_path):
    out = tmp_path / "l1.zip"
    done = CliRunner().invoke(commands.main, ["course", "data", str(course), "l1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(out) as archive:
        names, read = archive.namelist(), lambda name: json.loads(archive.read(f"l1/{name}"))
        assert {"l1/submitted/hw/hw.ipynb", "l1/feedback/hw/hw.html", "l1/about.txt"} <= set(names)
        assert not any("autograded" in name for name in names)
        kept, rows = read("course.json"), read("gradebook.json")
        text = " ".join(archive.read(name).decode() for name in names)
    assert {path.rpartition("/")[2] for path in kept} >= {
        *("hw.journal", "hw.results.json", "hw.set-aside.json", "hw.collected.json", "terms.json", "tokens.json"),
        *("mine-why.json", "checks.db", "history.jsonl"),
    }
    assert rows["person"]["id"] == "l1"
    assert [row["assignment"] for row in rows["submissions"]] == ["hw"]
    assert {row["cell"] for row in rows["submissions"][0]["grades"]} == {"mine-why", "mine-secret"}
    assert "Names it." not in text, "criteria that learners do not see"
    assert STAYS not in text.replace(f'"{STAYS}"', ""), "nobody else's"
    again = CliRunner().invoke(commands.main, ["course", "data", str(course), "l1", "--out", str(out)])
    assert again.exit_code == 1
    assert "already exists" in again.output


def test_every_file_below_gpubook_is_read_whatever_its_name(course):
    (course / ".gpubook" / "new").mkdir()
    (course / ".gpubook" / "new" / "thing.json").write_text(json.dumps({"a": [{"student": "l1", "x": 1}, {"y": "l1"}]}))
    assert ".gpubook/new/thing.json" in own_files.about(course, "l1")
    own_files.forget(course, "l1")
    assert json.loads((course / ".gpubook/new/thing.json").read_text()) == {"a": [{"y": "(removed)"}]}


def test_a_grader_who_is_called_as_a_learner_is_stays(course):
    shares.give(course, "hw", shares.GradingShares("evenly", {"l1": 2, "zed": 1}))
    shares.places(course, "hw", ["l1", STAYS])
    every = marks.load(course, "hw", "mine-why")
    marks.save(course, "hw", "mine-why", every | {STAYS: replace(every[STAYS], by="l1")})
    assert {"in": "shares.hw.weights", "is": 2} not in learner_record.of(course, "l1").own[".gpubook/graders.json"]
    learner_record.forget(learner_record.of(course, "l1"))
    assert shares.of(course, "hw").weights == {"l1": 2, "zed": 1}
    assert "l1" not in shares.places(course, "hw", [STAYS]), "as a learner, l1 is gone"
    assert marks.load(course, "hw", "mine-why")[STAYS].by == "l1"
    shares.give(course, "hw", None)
    assert own_files.spared_keys(course, "l1") == ()
