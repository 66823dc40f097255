import json
import threading
from datetime import datetime
from pathlib import Path

import pytest

from autograder.learner import study
from autograder.learner.progress import Progress, done, mark, points, totals
from autograder.learner.record import ATTEMPTS, LONGEST, MAX_SIZE, NewerFormat
from autograder.values.own_folder import LinkInTheWay

RIGHT = {"say": "Right.", "kind": "right", "reason": "", "score": 1.0, "points": 2.0, "mistakes": []}
WRONG = {"say": "Not yet.", "kind": "wrong", "reason": "far", "score": 0.0, "points": 0.0, "mistakes": ["prefix"]}
OLD = {
    "format": 1,
    "predictions": {"a-b": {"answer": "up", "time": "2026-01-02T03:04:05+00:00"}},
    "hints": {"c-d": 2},
    "solutions": {"c-d": "2026-01-02T03:04:06+00:00"},
}


@pytest.fixture
def progress(tmp_path):
    return Progress(tmp_path / "deep" / "progress.json")


def test_the_first_prediction_is_kept_with_its_time(progress):
    first = progress.predict("a-b", "memory")
    again = progress.predict("a-b", "compute")
    assert (first.answer, first.first) == ("memory", True)
    assert (again.answer, again.first, again.time) == ("memory", False, first.time)
    assert datetime.fromisoformat(first.time).utcoffset().total_seconds() == 0
    assert progress.prediction("a-b").answer == "memory"
    assert progress.prediction("other-one") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b'{"format": "2"}',
        b"\xff\xfe",
        b'{"format": 1, "predictions": {"a-b": 3}}',
        b'{"format": 2, "exercises": {"a-b": {"hints": "one"}}}',
        b'{"format": 2, "exercises": {"a-b": {"attempts": {"yesterday": {"kind": "right", "score": 1}}}}}',
    ],
)
def test_an_unreadable_file_is_set_aside_not_lost(progress, content):
    progress.path.parent.mkdir(parents=True)
    progress.path.write_bytes(content)
    assert progress.predict("a-b", 1).first
    (aside,) = progress.set_aside()
    assert aside.read_bytes() == content
    assert json.loads(progress.path.read_text())["exercises"]["a-b"]["prediction"]["answer"] == 1
    progress.path.write_bytes(b"again")
    assert progress.prediction("a-b") is None
    assert len(progress.set_aside()) == 2


def test_many_writers_lose_nothing(progress):
    def write(i):
        progress.predict(f"exercise-{i}", i)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [progress.prediction(f"exercise-{i}").answer for i in range(16)] == list(range(16))
    assert {p.name for p in progress.path.parent.iterdir()} == {"progress.json", "progress.json.lock"}


def test_a_folder_that_cannot_be_made_is_an_oserror(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        Progress(tmp_path / "file" / "progress.json").predict("a-b", 1)


def test_hints_come_one_by_one_and_stop_at_the_last(progress):
    assert [progress.next_hint("a-b", 2) for _ in range(3)] == [1, 2, 2]
    assert progress.next_hint("c-d", 2) == 1


def test_an_attempt_is_kept_with_its_source_and_the_best_stays(progress):
    progress.attempt("a-b", "answer = 1", RIGHT)
    progress.attempt("a-b", "answer = 2", WRONG)
    progress.attempt("a-b", "answer = ...", {**WRONG, "kind": "empty"})
    entry = progress.entry("a-b")
    assert entry["answer"]["source"] == "answer = 2"
    assert entry["answer"]["verdict"] == WRONG
    assert entry["best"]["score"] == 1
    assert [one["kind"] for _, one in sorted(entry["attempts"].items())] == ["right", "wrong"]
    assert [one["mistakes"] for _, one in sorted(entry["attempts"].items())] == [[], ["prefix"]]


def test_the_latest_attempts_are_kept_and_no_part_of_a_long_source(progress):
    for n in range(ATTEMPTS + 3):
        progress.attempt("a-b", str(n), WRONG)
    entry = progress.entry("a-b")
    assert len(entry["attempts"]) == ATTEMPTS
    assert entry["answer"]["time"] == max(entry["attempts"])
    progress.attempt("a-b", "x" * (LONGEST + 1), WRONG)
    assert progress.entry("a-b")["answer"]["source"] == ""


def test_a_file_of_the_first_format_is_read_and_becomes_one_of_the_second(progress):
    progress.path.parent.mkdir(parents=True)
    progress.path.write_text(json.dumps(OLD))
    assert progress.prediction("a-b").answer == "up"
    assert progress.prediction("a-b").time == "2026-01-02T03:04:05.000Z"
    assert not progress.predict("a-b", "down").first
    assert progress.next_hint("c-d", 5) == 3
    assert json.loads(progress.path.read_text())["format"] == 2
    assert progress.solution_seen("c-d") == "2026-01-02T03:04:06.000Z"
    assert progress.set_aside() == []


def test_a_file_of_a_newer_version_is_left_as_it_is(progress):
    progress.path.parent.mkdir(parents=True)
    progress.path.write_text('{"format": 3, "secret": 1}')
    for use in (lambda: progress.predict("a-b", 1), lambda: progress.prediction("a-b")):
        with pytest.raises(NewerFormat, match=r"format 3 of a newer version.*left as it is"):
            use()
    assert progress.path.read_text() == '{"format": 3, "secret": 1}'
    assert progress.set_aside() == []


def test_a_file_too_large_to_be_one_is_set_aside(progress):
    progress.path.parent.mkdir(parents=True)
    progress.path.write_bytes(b" " * (MAX_SIZE + 1))
    assert progress.data()["exercises"] == {}
    assert len(progress.set_aside()) == 1


def test_a_study_folder_has_one_file_which_takes_over_those_of_its_chapters(tmp_path, monkeypatch):
    monkeypatch.delenv("GPUBOOK_PROGRESS", raising=False)
    folder = tmp_path / "study"
    for name, data in (("03-rooflines", OLD), ("06-collectives", {"format": 1, "hints": {"c-d": 1, "e-f": 1}})):
        (folder / name / ".gpubook").mkdir(parents=True)
        (folder / name / ".gpubook" / "progress.json").write_text(json.dumps(data))
    monkeypatch.chdir(folder / "03-rooflines")
    assert Progress.here().path == folder / "03-rooflines" / ".gpubook" / "progress.json"
    study.start(folder)
    progress = Progress.here()
    assert progress.path == folder / ".gpubook" / "progress.json"
    assert progress.prediction("a-b").answer == "up"
    assert [progress.hints_shown(name) for name in ("c-d", "e-f")] == [2, 1]
    assert not (folder / "03-rooflines" / ".gpubook" / "progress.json").exists()
    monkeypatch.chdir(folder / "06-collectives")
    progress.path.write_text('{"format": 2, "exercises": {}}')
    assert Progress.here().hints_shown("c-d") == 0  # once
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(tmp_path / "mine.json"))
    assert Progress.here().path == tmp_path / "mine.json"


def test_an_older_file_that_cannot_be_taken_over_stays(tmp_path, monkeypatch):
    monkeypatch.delenv("GPUBOOK_PROGRESS", raising=False)
    older = tmp_path / "03-rooflines" / ".gpubook" / "progress.json"
    older.parent.mkdir(parents=True)
    older.write_text('{"format": 3}')
    study.progress.mark(tmp_path)
    assert Progress.below(older.parents[1]).data()["exercises"] == {}
    assert older.read_text() == '{"format": 3}'


def test_what_is_done_and_how_many_points_there_are():
    asked = [
        {"id": "q", "kind": "Quantity", "points": 2, "unit": "s"},
        {"id": "p", "kind": "Choice", "points": 1, "options": {"a": "A", "b": "B"}},
        {"id": "w", "kind": "Written", "points": 3, "rubric": [["It says why.", 3]]},
    ]
    data = {
        "exercises": {
            "q": {"best": {"score": 0.5}},
            "p": {"prediction": {"answer": "a"}},
            "w": {"solution": "2026-01-01T00:00:00.000Z"},
        }
    }
    assert [done(data["exercises"][one["id"]], one) for one in asked] == [False, True, True]
    assert [points(data["exercises"][one["id"]], one) for one in asked] == [1, 1, 0]
    assert totals(data, asked) == (2, 2, 3)
    assert totals({"exercises": {}}, asked) == (0, 0, 3)


@pytest.mark.parametrize("link", [".gpubook", ".gpubook/progress.json", ".gpubook/progress.json.lock"])
def test_nothing_is_recorded_through_a_link(tmp_path, link):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "mine" / link).parent.mkdir(parents=True)
    target = tmp_path / "elsewhere" / ("" if link == ".gpubook" else "file")
    (tmp_path / "mine" / link).symlink_to(target)
    with pytest.raises(LinkInTheWay):
        Progress.below(tmp_path / "mine").attempt("a-b", "answer = 1", RIGHT)
    assert not list((tmp_path / "elsewhere").iterdir())
    with pytest.raises(LinkInTheWay):
        mark(tmp_path / "mine") if link == ".gpubook" else Progress.below(tmp_path / "mine").next_hint("a-b", 2)


@pytest.mark.parametrize("link", ["01-a", "01-a/.gpubook", "01-a/.gpubook/progress.json"])
def test_a_record_elsewhere_is_not_taken_over_through_a_link(tmp_path, link):
    other = Progress(tmp_path / "other" / ".gpubook" / "progress.json")
    other.attempt("a-b", "answer = 1", RIGHT)
    mark(tmp_path / "mine")
    (tmp_path / "mine" / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "mine" / link).symlink_to((tmp_path / "other").joinpath(*Path(link).parts[1:]))
    assert not Progress.below(tmp_path / "mine").entry("a-b")
    assert other.path.is_file()
    assert other.entry("a-b")
