"""One zygote and one judge for all attacks, and what is looked at after each."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits, Zygote

from . import course

HERE = Path(__file__).parent
LIMITS = Limits(cell=2.0, grace=0.9, total=20.0, memory=2 << 30, processes=24, scratch=32 << 20)
SHARED = [Path(path) for path in {tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/", os.path.expanduser("~")}]
MARK = "gpubook-abuse"  # what attacks call their files, wherever they manage to write one


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):  # a hook is handed the tests of all folders
            item.add_marker(pytest.mark.slow)  # a second each, but more than a hundred of them
            if sys.platform != "linux":
                item.add_marker(pytest.mark.skip(reason="the sandbox needs Linux namespaces"))


class Watched(Zygote):
    """A zygote that remembers the worlds of its children: the namespaces of their processes."""

    def __init__(self):
        super().__init__()
        self.worlds = set()

    def spawn(self, *given, **options):
        child = super().spawn(*given, **options)
        info = Path(f"/proc/self/fdinfo/{child._handle}").read_text()
        (pid,) = [line.split()[1] for line in info.splitlines() if line.startswith("Pid:")]
        self.worlds.add(_world(pid))
        return child

    def alive(self):
        """The processes that still run in a world of this zygote's children."""
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and _world(pid) in self.worlds]


def _world(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:  # it has just ended
        return ""


@pytest.fixture(scope="session")  # a package's would end whenever a file of another one comes between
def classroom(tmp_path_factory):
    """A course's folder: the key, the gradebook, what another learner has submitted; and the bank."""
    root = tmp_path_factory.mktemp("class")
    for name in ("gradebook.db", "submitted/bob/06-abuse/06-abuse.ipynb", "autograded/bob/grades.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(course.SECRET)
    bank = course.write_bank(root)
    with Watched() as zygote, Judge([bank.path]) as judge:
        zygote.worlds.discard("")
        yield root, bank, zygote, judge


def _folder(root):
    return {str(p): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and p.suffix != ".pyc"}


@pytest.fixture
def attacked(classroom):
    """Grade an attack and look around: gives its results by exercise and its notebook."""
    root, bank, zygote, judge = classroom

    def run(attack, limits=LIMITS):
        before, begun = _folder(root), time.monotonic()
        nb, release = course.submission_of(bank, attack)
        done = grade_notebook(nb, release, bank, "mallory", RunSettings(limits), zygote=zygote, judge=judge)
        took = time.monotonic() - begun
        assert done.problems == [], done.problems
        results = {result.exercise: result for result in done.results}
        said = "\n".join(f"{name}: {result.points:g}, {result.say}" for name, result in results.items())
        assert sum(result.points for result in results.values()) == attack.earns, said
        assert sum(result.max_points for result in results.values()) == 3.0 * len(attack.asked)
        shown = json.dumps([cell.outputs for cell in done.nb.cells if cell.cell_type == "code"])
        assert course.SECRET not in shown, "the key, or a file of the course, is shown"
        known = str(attack.answers).count(str(course.CONSTANT))
        assert known or str(course.CONSTANT) not in shown, "an answer is shown"
        assert not attack.reason or attack.reason in {result.reason for result in results.values()}, said
        assert attack.words in said, said
        assert took < limits.total + 10, f"took {took:.1f} s"  # a loaded machine is slow; a lost limit is for ever
        assert _folder(root) == before
        return results, done.nb

    yield run
    for _ in range(400):  # on a loaded machine those of many processes come last
        if not (alive := zygote.alive()):
            break
        time.sleep(0.05)
    assert alive == [], f"processes outlive the submission: {alive}"
    zygote.worlds.clear()  # the kernel gives a dead world's number to a new one, of another worker's perhaps
    left = [str(path) for folder in SHARED for path in folder.glob(f"*{MARK}*")]
    assert left == [], "files outlive the submission"
    _next_learner(bank, zygote, judge)


# Where Python or this package itself lies below /tmp, the sandbox has the way to it there.
HOMES = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parent.parent.parent))
SOFTWARE = sorted({Path(home).parts[2] for home in HOMES if Path(home).parts[1] == "tmp"})
CLEAN = f"""
import builtins, gc, glob, signal, threading
assert np.isclose(1, 1) and not np.isclose(1, 2), "isclose"
assert sympy.Symbol("x") - 1 != 0 and sympy.sqrt(4) == 2, "sympy"
assert sorted(os.listdir(".")) == ["exercises.json"] and os.listdir("/dev/shm") == [], "files"
assert set(os.listdir("/tmp")) == {{"work", *{SOFTWARE!r}}}, os.listdir("/tmp")
assert [p for p in os.listdir("/proc") if p.isdigit()] == ["1"] and threading.active_count() == 1, "company"
assert not get_ipython().ast_transformers and not get_ipython().input_transformers_post, "transformers"
assert len([1, 2]) == 2 and isinstance(1, int) and float("1.5") == 1.5, "builtins"
assert "{MARK}" not in os.environ and "mallory" not in os.environ.values(), "environment"
assert sys.gettrace() is None and threading.gettrace() is None, "trace"
answer = 2.0
"""


def _next_learner(bank, zygote, judge):
    """Who is graded right after finds a clean world, and gets what is due."""
    answers = {"abuse-time": CLEAN, "abuse-scaled": course.RIGHT["abuse-scaled"]}
    nb, release = course.submission_of(bank, course.Attack("honest", answers=answers, asked=tuple(answers)))
    done = grade_notebook(nb, release, bank, "bob", RunSettings(LIMITS), zygote=zygote, judge=judge)
    assert [result.points for result in done.results] == [3.0, 3.0], [result.say for result in done.results]
