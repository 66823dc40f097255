"""The same grades from a dask.distributed cluster of processes, also when a worker is lost on the way."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from autograder import course
from autograder.book.source.release import CourseError
from autograder.course.run import dask_cluster
from autograder.grading.restore import read_notebook
from tests.autograder import tiny
from tests.autograder.course.test_class_run import NAME, everything, make_class

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def running():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """A class as this machine grades it."""
    folder = make_class(tmp_path_factory.mktemp("here"), 10)
    course.grade(folder, NAME, cell_limit=5.0)
    return everything(folder)


def keys_left() -> list[Path]:
    return list(Path(os.environ.get("TMPDIR", "/tmp")).glob("gpubook-key-*"))


def test_a_cluster_gives_the_same(tmp_path, running, expected):
    folder, before = make_class(tmp_path, 10), keys_left()
    course.grade(folder, NAME, cell_limit=5.0, scheduler=running.scheduler_address)
    assert everything(folder) == expected
    assert keys_left() == before, "a key stayed on a worker"


def test_a_changed_key_is_judged_again_on_a_cluster_too(tmp_path, running):
    folder = make_class(tmp_path, 3)
    course.grade(folder, NAME, cell_limit=5.0, scheduler=running.scheduler_address)
    declared = folder / "exercises" / "tiny.py"
    declared.write_text(declared.read_text().replace("solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1"))
    course.grade(folder, NAME, cell_limit=5.0, scheduler=running.scheduler_address, resume=True)
    again = everything(folder)
    course.grade(folder, NAME, cell_limit=5.0)
    assert again == everything(folder)


def test_a_worker_that_is_lost_loses_no_submission(tmp_path, running, expected):
    folder = make_class(tmp_path, 10)
    killed: list[int] = []

    def kill_one(_):
        if not killed:
            with distributed.Client(running.scheduler_address, set_as_default=False) as client:
                killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    course.grade(folder, NAME, progress=kill_one, cell_limit=5.0, scheduler=running.scheduler_address)
    assert killed
    assert everything(folder) == expected


def test_a_learners_process_knows_of_no_cluster(tmp_path, running):
    folder = make_class(tmp_path, 1)
    release = read_notebook(folder / "release" / NAME / f"{NAME}.ipynb")
    looking = "import os, glob\nprint(glob.glob('/tmp/gpubook-key-*'), [k for k in os.environ if 'DASK' in k])"
    path = folder / "submitted" / "learner00" / NAME / f"{NAME}.ipynb"
    path.write_text(json.dumps(tiny.fill(release, tiny.RIGHT | {"tiny-spread": looking})))
    course.grade(folder, NAME, cell_limit=5.0, scheduler=running.scheduler_address)
    assert "[] []" in (folder / "autograded" / "learner00" / NAME / f"{NAME}.ipynb").read_text()


def test_no_cluster_is_a_clear_error(tmp_path, monkeypatch):
    folder = make_class(tmp_path, 1)
    monkeypatch.setattr(dask_cluster, "FIRST", 0.5)
    with pytest.raises(CourseError, match=r"dask.* tcp://127\.0\.0\.1:9"):
        course.grade(folder, NAME, scheduler="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CourseError, match=r"pip install 'gpubook\[cluster\]'"):
        course.grade(folder, NAME, scheduler="tcp://127.0.0.1:9")


def test_nothing_to_grade_asks_no_cluster(tmp_path):
    folder = make_class(tmp_path, 1)
    course.grade(folder, NAME, cell_limit=5.0)
    course.grade(folder, NAME, cell_limit=5.0, resume=True, scheduler="tcp://127.0.0.1:9")
