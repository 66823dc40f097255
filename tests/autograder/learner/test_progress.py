import json
import threading
from datetime import datetime

import pytest

from autograder.learner.progress import Progress


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
    [b"", b"{", b"[1]", b'{"format": 99}', b"\xff\xfe", b'{"format": 1, "predictions": {"a-b": 3}}'],
)
def test_an_unreadable_file_is_set_aside_not_lost(progress, content):
    progress.path.parent.mkdir(parents=True)
    progress.path.write_bytes(content)
    assert progress.predict("a-b", 1).first
    (aside,) = progress.set_aside()
    assert aside.read_bytes() == content
    assert json.loads(progress.path.read_text())["predictions"]["a-b"]["answer"] == 1
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
