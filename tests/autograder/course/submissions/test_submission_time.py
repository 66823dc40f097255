"""The time of a submission is the exchange's: one that a learner writes beside it does not count."""

import os
from datetime import datetime

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course.layout import read_config
from autograder.course.submissions.submission_time import SubmissionTime
from autograder.grading.restore import SubmissionError
from tests.autograder.exchange import kept_at

WHEN = "2030-01-01 12:00:00.123456 UTC"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'gpu'\n")
    for who in ("ann", "bob"):
        (tmp_path / "submitted" / who / "hw").mkdir(parents=True)
    kept_at(tmp_path, "ann", "hw", WHEN)
    return tmp_path


def write(folder, who, said=WHEN):
    (folder / "submitted" / who / "hw" / "timestamp.txt").write_text(said)


def times(folder, **more):
    config = read_config(folder)
    config.merge(Config(more))
    return SubmissionTime(folder, "hw", config, CourseDirectory(config=config))


def test_the_exchanges_time_counts(folder):
    write(folder, "ann")
    assert times(folder).of("ann") == datetime(2030, 1, 1, 12, 0, 0, 123456)
    assert list(times(folder).doubted(["ann", "bob"])) == []


@pytest.mark.parametrize(
    ("who", "said"), [("bob", WHEN), ("ann", "2029-01-01 12:00:00 UTC"), ("ann", f"{WHEN}+"), ("bob", "no time")]
)
def test_any_other_time_does_not_and_the_teacher_is_told(folder, who, said):
    write(folder, who, said)
    assert times(folder).of(who) is None
    (told,) = times(folder).doubted(["ann", "bob"])
    assert f"of {who}: " in told
    assert "--trust-timestamps" in told


def test_without_a_file_nobody_knows(folder):
    assert times(folder).of("bob") is None
    (folder / "submitted" / "bob" / "hw" / "timestamp.txt").write_text(" ")
    assert times(folder, SubmissionTime={"trusted": True}).of("bob") is None


def test_a_trusted_file_counts(folder):
    write(folder, "bob", "2030-02-03 04:05:06 UTC")
    trusted = times(folder, SubmissionTime={"trusted": True})
    assert trusted.of("bob") == datetime(2030, 2, 3, 4, 5, 6)
    assert list(trusted.doubted(["bob"])) == []


def test_an_exchange_of_another_make_is_trusted(folder):
    write(folder, "bob", "2030-02-03 04:05:06 UTC")
    other = "nbgrader.exchange.abc.ExchangeCollect"
    assert times(folder, ExchangeFactory={"collect": other}).of("bob") == datetime(2030, 2, 3, 4, 5, 6)


def test_what_is_no_time_is_an_error_where_it_counts(folder):
    write(folder, "ann", "yesterday")
    with pytest.raises(SubmissionError, match="yesterday"):
        times(folder, SubmissionTime={"trusted": True}).of("ann")


def test_many_are_counted_and_some_named(folder):
    learners = [f"l{n:02d}" for n in range(14)]
    for who in learners:
        (folder / "submitted" / who / "hw").mkdir(parents=True)
        write(folder, who)
    (told,) = times(folder).doubted(learners)
    assert "l09 and 4 more: " in told
    assert "l10" not in told


def test_neither_a_pipe_nor_a_link_nor_a_large_file_is_read_on(folder):
    os.mkfifo(folder / "submitted" / "ann" / "hw" / "timestamp.txt")
    assert times(folder).of("ann") is None
    (folder / "submitted" / "cy").mkdir()
    (folder / "submitted" / "cy" / "hw").symlink_to(folder / "submitted" / "bob" / "hw")
    write(folder, "bob", WHEN + " " * 10**7)
    assert times(folder, SubmissionTime={"trusted": True}).of("cy") is None
    assert times(folder, SubmissionTime={"trusted": True}).of("bob") is not None


def test_the_exchange_may_stand_in_the_configuration_of_all_servers(folder, tmp_path, monkeypatch):
    config, machine = folder / "nbgrader_config.py", tmp_path / "machine"
    machine.mkdir()
    first, *_, root = config.read_text().splitlines()
    config.write_text(f"{first}\n")
    (machine / "nbgrader_config.py").write_text(f"{first}\nc.CourseDirectory.course_id = 'gpu'\n{root}\n")
    write(folder, "ann")
    assert times(folder).of("ann") is None
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(machine))
    assert times(folder).of("ann") == datetime(2030, 1, 1, 12, 0, 0, 123456)
    config.write_text(f"{first}\nc.Exchange.root = '/nowhere'\n")  # a course's own word counts
    assert times(folder).of("ann") is None
