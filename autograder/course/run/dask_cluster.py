"""The same unit of work on many machines: jobs of `grading.worker` go to the workers of a dask.distributed cluster.

Each worker has a zygote and a judge of its own, started with the first job of a run; deadlines are kept by our
supervisor beside them, for Dask has none. A job whose worker dies goes to another. Jobs and outcomes
are plain data, the key travels as the text of its files, and nothing is written except by the job's sender.
"""

import contextlib
import json
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...book.course_error import CourseError
from ...declaration.bank import bank_files, load_bank
from ...grading.judge import Judge
from ...grading.submission import RunSettings
from ...grading.worker import Grader, GradingJob, JobOutcome
from ...sandbox import Limits
from ...values.digest import digest
from ..banks import CourseBank

if TYPE_CHECKING:
    from .class_run import ReleasedAssignment, Submit

AGAIN = 3  # times that a job is sent again when its worker was lost, besides Dask's own attempts
FIRST = 30.0  # seconds to find the scheduler, and then a worker

_here: dict[str, Grader] = {}  # what this worker grades, by the digest of its spec
_lock = threading.Lock()


def task_spec(assignment: "ReleasedAssignment") -> dict[str, Any]:
    """What a worker needs to grade an assignment, as plain data: the release, the files of the key, the settings."""
    files = [
        [
            path.parent.name,
            path.name,
            {str(file.relative_to(path.parent)): file.read_text(encoding="utf-8") for file in bank_files(path)},
        ]
        for path in assignment.bank.paths
    ]
    spec = {"release": json.dumps(assignment.release), "files": files, "settings": asdict(assignment.settings)}
    return {**spec, "digest": digest(json.dumps(spec, sort_keys=True))}


@contextlib.contextmanager
def _key(spec: dict[str, Any]) -> Iterator[list[Path]]:
    """The files of the key, in a folder for no other user, while they are read: a worker that is lost leaves none."""
    with tempfile.TemporaryDirectory(prefix="gpubook-key-") as folder:
        paths = []
        for number, (parent, name, texts) in enumerate(spec["files"]):
            chapter = Path(folder, str(number), parent)
            for file, text in texts.items():
                (chapter / file).parent.mkdir(parents=True, exist_ok=True)
                (chapter / file).write_text(text, encoding="utf-8")
            paths.append(chapter / name)
        yield paths


def _start(spec: dict[str, Any]) -> Grader:
    """A grader for one assignment."""
    from nbformat import from_dict

    def judges() -> Judge:
        with _key(spec) as paths:
            return Judge(paths)

    with _key(spec) as paths:
        bank = CourseBank([load_bank(path) for path in paths])
    settings = RunSettings(**{**spec["settings"], "limits": Limits(**spec["settings"]["limits"])})
    return Grader(from_dict(json.loads(spec["release"])), bank, judges, settings)


def grade_on_worker(spec: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Grade one submission, where a worker runs; plain data in and out."""
    with _lock:
        grader = _here.get(spec["digest"])
        if grader is None:
            grader = _here[spec["digest"]] = _start(spec)
    return grader.grade(GradingJob(**{**job, "kept": tuple(job["kept"])})).as_plain()


def close_grader(digest: str | None = None) -> None:
    """End what this worker has started for one assignment, or for all of them."""
    with _lock:
        for key in [digest] if digest else list(_here):
            if (grader := _here.pop(key, None)) is not None:
                grader.stop()
                grader.close()


@contextlib.contextmanager
def executor(
    assignment: "ReleasedAssignment", address: str, workers: int | None = None
) -> Iterator[tuple["Submit", int]]:
    """How to submit a job to the cluster whose scheduler is at `address`, and how many it grades at once.

    `workers` bounds that number. Raises CourseError if no cluster responds.
    """
    try:
        from distributed import CancelledError, Client, KilledWorker, WorkerPlugin
        from distributed.comm import CommClosedError
    except ImportError:
        raise CourseError("--scheduler needs dask.distributed: pip install 'gpubook[cluster]'") from None

    class Graders(WorkerPlugin):
        """Ends a worker's zygote and judge with the worker."""

        name = "gpubook"

        def teardown(self, worker: Any) -> None:  # noqa: ARG002
            from .dask_cluster import close_grader

            close_grader()

    try:
        client = Client(address, timeout=FIRST, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise CourseError(f"no dask scheduler responds at {address}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=FIRST)
        except TimeoutError:
            problem = f"the scheduler at {address} has no workers; `dask worker {address}` starts one"
            raise CourseError(problem) from None
        client.register_plugin(Graders())
        plain = task_spec(assignment)
        spec: Any = client.submit(dict, plain, pure=False)  # a task, which a lost worker's place does again
        sent: set[Any] = set()

        def submit(job: GradingJob) -> "Future[JobOutcome]":
            done: Future[JobOutcome] = Future()
            send(job, done, AGAIN)
            return done

        def send(job: GradingJob, done: "Future[JobOutcome]", left: int) -> None:
            task = client.submit(grade_on_worker, spec, asdict(job), pure=False)
            sent.add(task)
            task.add_done_callback(lambda task: finish(task, job, done, left))

        def finish(task: Any, job: GradingJob, done: "Future[JobOutcome]", left: int) -> None:
            sent.discard(task)
            try:
                done.set_result(JobOutcome.of(task.result()))
            except KilledWorker as error:
                done.set_result(JobOutcome(problem=f"the grader failed on this submission: {error}"))
            except (CancelledError, CommClosedError) as error:
                try:
                    if not left or client.status != "running":
                        problem = f"the cluster at {address} is gone ({error}); what is graded is kept: --resume"
                        raise CourseError(problem) from None
                    send(job, done, left - 1)
                except Exception as error:
                    done.set_exception(error)
            except Exception as error:
                done.set_exception(error)

        threads = sum(client.nthreads().values())
        try:
            yield submit, min(threads, workers or threads)
        finally:
            client.cancel(list(sent))
            with contextlib.suppress(Exception):  # a worker that is gone has nothing left to end
                client.run(close_grader, plain["digest"])
