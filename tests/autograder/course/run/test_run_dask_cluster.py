"""Jobs on a cluster: what is sent, how often again, and what is an error. The cluster is made up."""

import sys
from concurrent.futures import Future
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest
from nbformat.v4 import new_notebook

from autograder.book.course_error import CourseError
from autograder.course.run import dask_cluster
from autograder.grading.submission import RunSettings
from autograder.grading.worker import GradingJob, JobOutcome
from autograder.sandbox import Limits

JOB = GradingJob("ann", "{}")


class KilledWorker(Exception):
    pass


class CancelledError(Exception):
    pass


class CommClosedError(Exception):
    pass


class Task(Future):
    """A task of a cluster, which ends at once with what was prepared for it."""


class Client:
    """A client of a cluster of `threads`, whose jobs end with `ends` in turn."""

    threads: ClassVar[dict[str, int]] = {"a": 2, "b": 1}
    ends: ClassVar[list] = []
    error = waits = None
    made: ClassVar[list] = []

    def __init__(self, address, timeout, set_as_default):
        if self.error:
            raise self.error
        self.address, self.timeout, self.status = address, timeout, "running"
        self.sent, self.cancelled, self.ran = [], None, []
        Client.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wait_for_workers(self, count, timeout):
        self.waited = (count, timeout)
        if self.waits:
            raise self.waits

    def register_plugin(self, plugin):
        self.plugin = plugin

    def nthreads(self):
        return self.threads

    def submit(self, function, *arguments, pure):
        task = Task()
        if function is dict:
            return task
        self.sent.append(arguments[1])
        ending = self.ends.pop(0)
        if ending == "gone":
            self.status, ending = "closed", CommClosedError("gone")
        if isinstance(ending, Exception):
            task.set_exception(ending)
        elif ending is not None:
            task.set_result(ending)
        return task

    def cancel(self, tasks):
        self.cancelled = tasks

    def run(self, function, *arguments):
        self.ran.append((function, *arguments))


@pytest.fixture
def cluster(monkeypatch):
    """The class of the client, to be prepared."""
    package, comm = ModuleType("distributed"), ModuleType("distributed.comm")
    package.CancelledError, package.KilledWorker, package.WorkerPlugin = CancelledError, KilledWorker, object
    comm.CommClosedError = CommClosedError

    class Prepared(Client):
        ends: ClassVar[list] = []

    package.Client = Prepared
    monkeypatch.setitem(sys.modules, "distributed", package)
    monkeypatch.setitem(sys.modules, "distributed.comm", comm)
    monkeypatch.setattr(Client, "made", [])
    return Prepared


@pytest.fixture
def assignment(tmp_path):
    """An assignment with a key of two files."""
    folder = tmp_path / "solutions" / "ch"
    folder.mkdir(parents=True)
    (folder / "exercises.py").write_text("BANK = 1\n")
    bank = SimpleNamespace(paths=[folder])
    return SimpleNamespace(bank=bank, release=new_notebook(), settings=RunSettings(Limits(), True, False, "s", {}))


@pytest.fixture
def outcome(cluster, assignment):
    """What becomes of a job whose tasks end so, and the client."""

    def outcome(*ends):
        cluster.ends = list(ends)
        with dask_cluster.executor(assignment, "tcp://here") as (submit, _):
            return submit(JOB), Client.made[-1]

    return outcome


GOOD = JobOutcome("{}", [], ["odd"]).as_plain()


def test_a_job_ends_with_what_the_worker_made_of_it(outcome):
    future, client = outcome(GOOD)
    assert future.result(0) == JobOutcome("{}", [], ["odd"])
    assert [sent["learner"] for sent in client.sent] == ["ann"]
    assert (client.address, client.timeout, client.waited) == ("tcp://here", 30.0, (1, 30.0))
    ((function, spec),) = client.ran
    assert (function, len(spec) > 10) == (dask_cluster.close_grader, True)


@pytest.mark.parametrize("lost", [CommClosedError("gone"), CancelledError("gone")])
@pytest.mark.parametrize("times", [1, 3])
def test_a_job_whose_worker_was_lost_is_sent_again_three_times(outcome, lost, times):
    future, client = outcome(*[lost] * times, GOOD)
    assert future.result(0).problems == ["odd"]
    assert len(client.sent) == times + 1


def test_a_job_that_is_lost_once_more_ends_the_run(outcome):
    future, client = outcome(*[CommClosedError("gone")] * 4, GOOD)
    with pytest.raises(CourseError, match=r"the cluster at tcp://here is gone .*--resume"):
        future.result(0)
    assert len(client.sent) == 4


def test_nothing_is_sent_to_a_cluster_that_is_gone(outcome):
    future, client = outcome("gone", GOOD)
    with pytest.raises(CourseError, match="is gone"):
        future.result(0)
    assert len(client.sent) == 1


def test_a_submission_that_kills_its_workers_is_that_learners_problem(outcome):
    future, _ = outcome(KilledWorker("oom"))
    assert "the grader failed on this submission" in future.result(0).problem


def test_any_other_error_is_the_runs(outcome):
    future, _ = outcome(ZeroDivisionError("odd"))
    with pytest.raises(ZeroDivisionError):
        future.result(0)


def test_what_is_on_its_way_is_cancelled_at_the_end(cluster, assignment):
    cluster.ends = [None, GOOD]
    with dask_cluster.executor(assignment, "tcp://here") as (submit, _):
        submit(JOB)
        submit(JOB)
    assert len(Client.made[-1].cancelled) == 1


@pytest.mark.parametrize(("workers", "count"), [(None, 3), (2, 2), (3, 3), (9, 3)])
def test_as_many_are_graded_at_once_as_there_are_threads_or_as_was_said(cluster, assignment, workers, count):
    with dask_cluster.executor(assignment, "tcp://here", workers) as (_, at_once):
        assert at_once == count


@pytest.mark.parametrize("error", [OSError("no"), ValueError("no"), TimeoutError("no")])
def test_a_scheduler_that_does_not_respond_is_an_error(cluster, assignment, monkeypatch, error):
    monkeypatch.setattr(cluster, "error", error)
    with (
        pytest.raises(CourseError, match="no dask scheduler responds at tcp://here: no"),
        dask_cluster.executor(assignment, "tcp://here"),
    ):
        pass


def test_a_cluster_without_workers_is_an_error(cluster, assignment, monkeypatch):
    monkeypatch.setattr(cluster, "waits", TimeoutError("none"))
    with pytest.raises(CourseError, match="tcp://here has no workers"), dask_cluster.executor(assignment, "tcp://here"):
        pass


def test_without_the_package_a_cluster_is_an_error(assignment, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(CourseError, match=r"pip install 'gpubook\[cluster\]'"),
        dask_cluster.executor(assignment, "tcp://here"),
    ):
        pass


def test_a_key_travels_as_text_and_is_gone_after_it_was_read(assignment):
    spec = dask_cluster.task_spec(assignment)
    with dask_cluster._key(spec) as (path,):
        assert path.name == "ch"
        assert (path / "exercises.py").read_text() == "BANK = 1\n"
    assert not path.exists()
    assert spec["settings"]["variants"] is True
    other = dask_cluster.task_spec(SimpleNamespace(**{**vars(assignment), "release": new_notebook(metadata={"a": 1})}))
    assert other["digest"] != spec["digest"]


class FakeGrader:
    """What a worker has started."""

    def __init__(self):
        self.events = []

    def grade(self, job):
        assert job.kept == ()
        self.events.append(job.learner)
        return JobOutcome(job.notebook)

    def stop(self):
        self.events.append("stop")

    def close(self):
        self.events.append("close")


def test_a_worker_starts_a_grader_for_each_assignment_once_and_ends_it(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_here", {})
    graders = {}
    monkeypatch.setattr(dask_cluster, "_start", lambda spec: graders.setdefault(spec["digest"], FakeGrader()))
    job = {"learner": "ann", "notebook": "{}", "kept": []}
    for digest in ("one", "one", "two"):
        assert dask_cluster.grade_on_worker({"digest": digest}, job)["notebook"] == "{}"
    assert graders["one"].events == ["ann", "ann"]
    dask_cluster.close_grader("one")
    dask_cluster.close_grader("one")
    assert graders["one"].events == ["ann", "ann", "stop", "close"]
    assert graders["two"].events == ["ann"]
    dask_cluster.close_grader()
    assert graders["two"].events == ["ann", "stop", "close"]
    assert dask_cluster._here == {}
