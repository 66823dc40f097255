"""The same unit of work on many machines: jobs of `grader` go to the workers of a dask.distributed cluster.

Each worker has a zygote and a judge of its own, started with the first job of a run; deadlines are kept by our
supervisor beside them, for Dask has none. A job that a worker takes down with it goes to another. Jobs and outcomes
are plain data, the key travels as the text of its files, and nothing is written but by the one who sent the job.
"""

import contextlib
import hashlib
import json
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..book.release import CourseError
from ..declaration.bank import declared_files, load_bank
from ..grading.judge import Judge
from ..grading.worker import Grader, Job, Outcome, Terms
from ..sandbox import Limits
from .banks import CourseBank

if TYPE_CHECKING:
    from .class_run import Submit, Work

AGAIN = 3  # times that a job is sent anew whose worker was lost, beside those that Dask itself sends it
FIRST = 30.0  # seconds to find the scheduler, and then a worker

_here: dict[str, Grader] = {}  # what this worker grades, by the digest of the order
_lock = threading.Lock()


def order_of(work: "Work") -> dict[str, Any]:
    """What a worker needs to grade an assignment, as plain data: the release, the files of the key, the terms."""
    files = [
        [
            path.parent.name,
            path.name,
            {str(file.relative_to(path.parent)): file.read_text(encoding="utf-8") for file in declared_files(path)},
        ]
        for path in work.bank.paths
    ]
    order = {"release": json.dumps(work.release), "files": files, "terms": asdict(work.terms)}
    return {**order, "digest": hashlib.sha256(json.dumps(order, sort_keys=True).encode()).hexdigest()}


@contextlib.contextmanager
def _key(order: dict[str, Any]) -> Iterator[list[Path]]:
    """The files of the key, in a folder for no other user, while they are read: a worker that is lost leaves none."""
    with tempfile.TemporaryDirectory(prefix="gpubook-key-") as folder:
        paths = []
        for number, (parent, name, texts) in enumerate(order["files"]):
            chapter = Path(folder, str(number), parent)
            for file, text in texts.items():
                (chapter / file).parent.mkdir(parents=True, exist_ok=True)
                (chapter / file).write_text(text, encoding="utf-8")
            paths.append(chapter / name)
        yield paths


def _start(order: dict[str, Any]) -> Grader:
    """A grader for an order."""
    from nbformat import from_dict

    def judges() -> Judge:
        with _key(order) as paths:
            return Judge(paths)

    with _key(order) as paths:
        bank = CourseBank([load_bank(path) for path in paths])
    terms = Terms(**{**order["terms"], "limits": Limits(**order["terms"]["limits"])})
    return Grader(from_dict(json.loads(order["release"])), bank, judges, terms)


def grade_on_worker(order: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Grade one submission, where a worker runs; plain data in and out."""
    with _lock:
        grader = _here.get(order["digest"])
        if grader is None:
            grader = _here[order["digest"]] = _start(order)
    return grader.grade(Job(**{**job, "kept": tuple(job["kept"])})).as_plain()


def close_grader(digest: str | None = None) -> None:
    """End what this worker has started for one order, or for all of them."""
    with _lock:
        for one in [digest] if digest else list(_here):
            if (grader := _here.pop(one, None)) is not None:
                grader.stop()
                grader.close()


@contextlib.contextmanager
def workplace(work: "Work", address: str, workers: int | None = None) -> Iterator[tuple["Submit", int]]:
    """How to submit a job to the cluster whose scheduler is at `address`, and how many it grades at once.

    `workers` bounds that number. Raises CourseError where there is no cluster.
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
            """The worker goes."""
            from .dask_cluster import close_grader

            close_grader()

    try:
        client = Client(address, timeout=FIRST, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise CourseError(f"no dask scheduler answers at {address}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=FIRST)
        except TimeoutError:
            said = f"the scheduler at {address} has no workers; `dask worker {address}` starts one"
            raise CourseError(said) from None
        client.register_plugin(Graders())
        plain = order_of(work)
        order: Any = client.submit(dict, plain, pure=False)  # a task, which a lost worker's place does again
        sent: set[Any] = set()

        def submit(job: Job) -> "Future[Outcome]":
            done: Future[Outcome] = Future()
            send(job, done, AGAIN)
            return done

        def send(job: Job, done: "Future[Outcome]", left: int) -> None:
            task = client.submit(grade_on_worker, order, asdict(job), pure=False)
            sent.add(task)
            task.add_done_callback(lambda task: finish(task, job, done, left))

        def finish(task: Any, job: Job, done: "Future[Outcome]", left: int) -> None:
            sent.discard(task)
            try:
                done.set_result(Outcome.of(task.result()))
            except KilledWorker as error:
                done.set_result(Outcome(problem=f"the grader failed on this submission: {error}"))
            except (CancelledError, CommClosedError) as error:
                try:
                    if not left or client.status != "running":
                        said = f"the cluster at {address} is gone ({error}); what is graded is kept: --resume"
                        raise CourseError(said) from None
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
