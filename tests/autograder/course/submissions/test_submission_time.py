"""The time of a submission is the exchange's: one that a learner writes beside it does not count."""

import os
from datetime import datetime

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course.layout import read_config
from autograder.course.submissions import collected_files
from autograder.course.submissions.collected_files import Collected
from autograder.course.submissions.submission_time import CountedTime, SubmissionTime
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


@pytest.mark.parametrize(("count", "end"), [(10, "l09: "), (11, "l09 and 1 more: ")])
def test_ten_are_named(folder, count, end):
    learners = [f"l{n:02d}" for n in range(count)]
    for who in learners:
        (folder / "submitted" / who / "hw").mkdir(parents=True)
        write(folder, who)
    (line,) = times(folder).doubted(learners)
    assert end in line


def test_of_a_file_a_hundred_characters_are_read(folder):
    trusted = {"SubmissionTime": {"trusted": True}}
    text = "2030-02-03 04:05:06.1234 UTC"
    write(folder, "bob", " " * (100 - len(text)) + text + "no time")
    assert times(folder, **trusted).of("bob") == datetime(2030, 2, 3, 4, 5, 6, 123400)
    write(folder, "bob", " " * 94 + "no time")
    with pytest.raises(SubmissionError, match="'no tim' is not"):
        times(folder, **trusted).of("bob")


def test_one_learners_file_may_be_trusted_alone(folder):
    write(folder, "bob", "2030-02-03 04:05:06 UTC")
    made = times(folder)
    assert made.counted("bob") == CountedTime()
    assert made.counted("bob", trusted=True) == CountedTime("2030-02-03 04:05:06 UTC", True)
    write(folder, "ann")
    assert made.counted("ann", trusted=True) == CountedTime(WHEN)  # the exchange's, whoever trusts it
    assert made.counted("nobody", trusted=True) == CountedTime()
    assert made.read("bob", CountedTime()) is None


def test_what_was_collected_counts_as_the_exchange_s(folder):
    collected_files.save(folder, "hw", {"bob": Collected("d", WHEN, "", "b.ipynb")})
    write(folder, "bob")
    assert times(folder).of("bob") is not None
    write(folder, "bob", "2030-02-03 04:05:06 UTC")
    assert times(folder).of("bob") is None


def test_what_was_collected_is_kept_for_the_teacher_alone(folder):
    assert collected_files.load(folder, "hw") == {}
    first = Collected("d", WHEN, "2030-01-01T12:00:00", "b.ipynb", "o")
    collected_files.save(folder, "hw", {"bob": first, "ann": Collected("e", "", "", "a.ipynb")})
    assert (folder / ".gpubook").stat().st_mode & 0o777 == 0o700
    loaded = collected_files.load(folder, "hw")
    assert loaded["bob"] == first
    assert (loaded["bob"].archived_at, loaded["ann"].archived_at) == (datetime(2030, 1, 1, 12), None)
    assert collected_files.load(folder, "other") == {}
