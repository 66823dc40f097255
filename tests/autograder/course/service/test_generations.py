"""When the judging of changed files takes over, and when the one before is closed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from autograder.course.service import generations
from autograder.course.service.generations import Generations


class FakeJudging:
    def __init__(self, read):
        self.catalogue, self.closed = read, 0

    def close(self):
        self.closed += 1


@pytest.fixture
def files(monkeypatch):
    """The course's files: their version, and whether they can be read."""
    now = SimpleNamespace(version="1", broken=False, reads=[])

    def read(folder, unsafe):
        now.reads.append((folder, unsafe))
        if now.broken:
            raise ValueError("no such key")
        return SimpleNamespace(version=now.version, exercises=["a", "b"])

    monkeypatch.setattr(generations.served_assignments, "read", read)
    monkeypatch.setattr(generations.served_assignments, "version_of", lambda folder: now.version)
    monkeypatch.setattr(generations, "Judging", FakeJudging)
    return now


def test_files_that_have_not_changed_are_not_read_again(files, tmp_path):
    service = Generations(tmp_path)
    assert service.renew() is False
    assert files.reads == [(tmp_path, False)]
    Generations(tmp_path, unsafe=True)
    assert files.reads[1] == (tmp_path, True)


def test_changed_files_are_served_and_an_unused_generation_is_closed_at_once(files, tmp_path):
    service = Generations(tmp_path)
    with service.judging() as old:
        assert service.catalogue is old.catalogue
    assert old.closed == 0
    files.version = "2"
    assert service.renew() is True
    assert (old.closed, service.catalogue.version) == (1, "2")
    assert service.renew() is False


def test_a_generation_in_use_is_closed_once_by_its_last_user(files, tmp_path):
    service = Generations(tmp_path)
    with service.judging() as old:
        with service.judging() as same:
            assert same is old
            files.version = "2"
            assert service.renew() is True
            with service.judging() as new:
                assert new is not old
        assert old.closed == 0
    assert (old.closed, new.closed) == (1, 0)


def test_files_that_cannot_be_served_leave_the_old_ones_and_are_tried_once(files, tmp_path, caplog):
    service = Generations(tmp_path)
    files.version, files.broken = "2", True
    assert service.renew() is False
    assert "cannot be served as it is" in caplog.text
    assert "no such key" in caplog.text
    assert service.renew() is False
    assert len(files.reads) == 2
    assert service.catalogue.version == "1"
    files.version, files.broken = "3", False
    assert service.renew() is True
    assert service.catalogue.version == "3"


def test_closing_stops_the_judging_of_now_and_those_still_in_use(files, tmp_path):
    with Generations(tmp_path) as service, service.judging() as old:
        files.version = "2"
        service.renew()
        with service.judging() as new:
            service.close()
            assert (old.closed, new.closed) == (1, 1)


def test_an_error_while_judging_gives_the_generation_free(files, tmp_path):
    service = Generations(tmp_path)
    with pytest.raises(KeyError), service.judging() as old:
        raise KeyError
    files.version = "2"
    assert service.renew() is True
    assert old.closed == 1


def test_who_asks_while_another_thread_renews_waits_for_the_new_files(files, tmp_path, monkeypatch):
    service, began, go_on = Generations(tmp_path), threading.Event(), threading.Event()
    read = generations.served_assignments.read

    def slowly(*arguments):
        began.set()
        assert go_on.wait(10)
        return read(*arguments)

    monkeypatch.setattr(generations.served_assignments, "read", slowly)
    files.version = "2"
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(service.renew)
        assert began.wait(10)
        second = threads.submit(service.renew)
        with pytest.raises(TimeoutError):
            second.result(0.05)
        go_on.set()
        assert (first.result(10), second.result(10)) == (True, False)
    assert service.catalogue.version == "2"
