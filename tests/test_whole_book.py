"""Every chapter: the instructor's answers score full marks in the sandbox, wrong ones only what predicting is
worth, an untouched notebook nothing; and a learner's notebook runs from top to bottom in Jupyter's own kernel, without
torch but for its labs.

Each run of the tests grades the untouched exercises of every chapter, with the cells that depend on them; it grades the
whole untouched notebook and the answers of two chapters, runs a few in Jupyter without torch, and one with torch. Every
night it does so for all. A book is not built unless each chapter runs in Jupyter's kernel with torch, where its answers
score full marks, and tests/test_exercises.py judges each answer and each mistake by itself.
"""

import contextlib
import functools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder import course
from autograder.book.source import chapters
from autograder.declaration import Exercise, call_with
from autograder.declaration.bank import declared_below, load_bank
from tests import graded_chapter, untouched_exercises
from tests.blocked_packages import EXTRAS, block
from tests.clean_process import CleanProcess
from tests.imported import marked, new_report, report_from
from tests.kept import kept_by_imports
from tests.sample_class.layout import book_of

ROOT = Path(__file__).parents[1]
ALL = chapters.chapter_names(ROOT)
SEVERAL = ("03-rooflines", "06-collectives", "10-data-parallelism", "15-inference", "18-measuring")
"""Chapters that measure, start ranks, simulate, run kernels and read files: between them, whatever a chapter does."""
GRADED = ("06-collectives", "18-measuring")
"""Ranks, and files; the sample class (tests/test_grade_end_to_end.py) grades 03-rooflines."""
WITH_TORCH = ("06-collectives",)
"""Starts ranks and shows figures; with torch every chapter runs in Jupyter's kernel when the book is built."""
ANSWERED, UNTOUCHED = ("all_right", "declared_mistakes"), ("nothing",)
CARD = ("docs/_static/card.js", "docs/_static/exercise.css")  # what a notebook shows an exercise with
RUNNING = ("tests/test_whole_book.py", "tests/blocked_packages.py", *CARD)
GRADING = ("tests/graded_chapter.py", "tests/autograder/tiny.py", "tests/sample_class", *CARD)
UNTOUCHED_EXERCISES = ("tests/untouched_exercises.py", *CARD)
TEXTS = tuple(f"docs/{name}" for name in ("references.bib", "chapters.toml", "misconceptions.toml"))
REMEDY = "pip install 'gpubook[labs]'"
pytestmark = pytest.mark.slow


def graded_with(learners: tuple[str, ...], *, of_others: str):
    """Parametrises `graded`: with all learners for some chapters, and with these for the others, marked so. The sample
    class (tests/test_grade_end_to_end.py) has all of them for its own chapter."""
    every = [
        pytest.param((name, (*ANSWERED, *UNTOUCHED)), id=name)
        if name in GRADED
        else pytest.param((name, learners), id=name, marks=getattr(pytest.mark, of_others))
        for name in ALL
    ]
    return pytest.mark.parametrize("graded", every, indirect=True)


def each_of(always: Collection[str]):
    """Parametrises `name`: with all chapters, of which each run of the tests takes some."""
    every = [pytest.param(name, marks=() if name in always else pytest.mark.nightly) for name in ALL]
    return pytest.mark.parametrize("name", every)


@pytest.fixture(scope="module")
def grader():
    """`grader()`: the process that grades, started when first asked for."""
    with contextlib.ExitStack() as ends:

        @functools.cache
        def running() -> CleanProcess:
            process = ends.enter_context(CleanProcess())
            process.here(graded_chapter.begin)
            return process

        yield running


@pytest.fixture(scope="module")
def graded(request, grader):
    """The chapter's declarations in a course, and the results of its learners."""
    if sys.platform != "linux":
        pytest.skip("grading others' work needs Linux")
    name, learners = request.param

    def grade(folder: Path) -> Collection[str]:
        _, modules = grader().here(graded_chapter.grade, folder, learners, name)
        return modules

    parts = (*GRADING, *TEXTS, *_declarations(name))
    folder = kept_by_imports(f"graded-{'-'.join(learners)}-{name}", parts, grade) / "course"
    return book_of(folder, name), course.results(folder, name)


def _declarations(name: str) -> list[str]:
    """What a chapter is made of: its own folder, and what others declare."""
    others = sorted(path.relative_to(ROOT).as_posix() for path in declared_below(ROOT / "solutions"))
    return [f"solutions/{name}", *others]


def points(result, learner: str) -> dict[str, float]:
    return {r.exercise: r.points for r in result.learner(learner).results}


@graded_with(ANSWERED, of_others="nightly")
def test_the_instructor_scores_full_marks(graded):
    book, result = graded
    by_hand = {e.id for e in book.exercises if e.kind == "Written"}
    assert points(result, "all_right") == {e.id: 0.0 if e.id in by_hand else float(e.points) for e in book.exercises}
    assert {r.exercise for r in result.learner("all_right").results if r.kind == "waiting"} == by_hand


@graded_with(ANSWERED, of_others="nightly")
def test_declared_mistakes_score_what_predicting_is_worth(graded):
    book, result = graded
    found = points(result, "declared_mistakes")
    assert found == {e.id: e.points * (1.0 if e.predict else share(e)) for e in book.exercises}


def share(exercise: Exercise) -> float:
    """What the mistake that the learner hands in is worth: nothing, but where it reaches some of a design's goals."""
    if not exercise.answer.partial:
        return 0.0
    row = exercise.variant()
    return exercise.judge(call_with(exercise.mistakes[0].value, row), row).score


@graded_with(UNTOUCHED, of_others="nightly")
def test_an_untouched_notebook_scores_nothing_and_fails_nowhere(graded):
    _, result = graded
    assert set(points(result, "nothing").values()) == {0.0}
    assert {r.kind for r in result.learner("nothing").results} <= {"empty", "unreadable"}
    path = Path(result.folder) / "autograded" / "nothing" / result.assignment / f"{result.assignment}.ipynb"
    assert failures(nbformat.read(path, as_version=4)) == []


@pytest.fixture(scope="module")
def sandbox():
    """`sandbox()`: the process that grades without a course, started when first asked for."""
    with contextlib.ExitStack() as ends:

        @functools.cache
        def running() -> CleanProcess:
            process = ends.enter_context(CleanProcess())
            process.here(untouched_exercises.begin)
            return process

        yield running


@pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
@pytest.mark.parametrize("name", [name for name in ALL if name not in GRADED])
def test_untouched_exercises_score_nothing_and_fail_nowhere(name: str, sandbox):
    def grade(folder: Path) -> Collection[str]:
        _, modules = sandbox().here(untouched_exercises.grade, folder, name)
        return modules

    parts = (f"chapters/{name}", *UNTOUCHED_EXERCISES, *TEXTS, *_declarations(name))
    folder = kept_by_imports(f"untouched-exercises-{name}", parts, grade)
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert set(results) == set(load_bank(ROOT / "solutions" / name))
    assert {points for points, _ in results.values()} == {0.0}
    assert {kind for _, kind in results.values()} <= {"empty", "unreadable"}
    assert failures(nbformat.read(folder / "executed.ipynb", as_version=4)) == []


def run_in_jupyter(name: str, target: Path, *, without: tuple[str, ...] = (), then: str = "") -> Collection[str]:
    """Run the untouched notebook of a chapter in a kernel of Jupyter's own, as a learner would, `without` some
    packages, and `then` one more cell; keep it in `target`. The modules that were imported."""
    with tempfile.TemporaryDirectory(prefix="gpubook-learner-") as scratch:
        folder = shutil.copytree(ROOT / "chapters" / name, Path(scratch) / name)
        nb = nbformat.read(folder / f"{name}.ipynb", as_version=4)
        env = {k: v for k, v in os.environ.items() if not k.startswith("GPUBOOK")}
        first, report = block(Path(scratch) / "blocked", without), new_report(Path(scratch) / "imported")
        report_from(first, report)
        path = os.pathsep.join([str(first), str(ROOT)])
        env |= {"GPUBOOK_PROGRESS": str(Path(scratch) / "progress.json"), "PYTHONPATH": path}
        here = {"metadata": {"path": str(folder)}}
        nb.cells += [nbformat.v4.new_code_cell(then)] if then else []
        client = NotebookClient(nb, timeout=120, kernel_name="python3", resources=here, allow_errors=bool(without))
        client.execute(env=env)
        modules = marked(report)
    nbformat.write(nb, target / f"{name}.ipynb")
    return modules


def failures(nb: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """What a notebook shows of errors, and whatever stands on stderr."""
    return [output for cell in nb.cells for output in failures_of(cell)]


def failures_of(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [o for o in cell.get("outputs", []) if o.output_type == "error" or o.get("name") == "stderr"]


@each_of(WITH_TORCH)
def test_the_learners_notebook_runs_in_jupyter(name: str):
    parts = (f"chapters/{name}", *RUNNING, *_declarations(name))
    folder = kept_by_imports(f"untouched-{name}", parts, lambda target: run_in_jupyter(name, target))
    nb = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    assert failures(nb) == []
    assert_nothing_scores(nb)


def assert_nothing_scores(nb: nbformat.NotebookNode) -> None:
    recorded = [c for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "grade"]
    assert recorded
    for cell in recorded:
        assert [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"] == ["0.0"]


@each_of(SEVERAL)
def test_without_torch_a_notebook_says_the_remedy_and_has_no_other_error(name: str):
    bank = load_bank(ROOT / "solutions" / name)
    numbers = {
        e.id: e.expected(e.variant()) for e in bank.values() if e.kind in ("Quantity", "Count") and not e.predict
    }
    then = f"[check(name, answer).kind for name, answer in {numbers!r}.items()]"
    parts = (f"chapters/{name}", *RUNNING, *_declarations(name))

    def run(target: Path) -> Collection[str]:
        return run_in_jupyter(name, target, without=EXTRAS, then=then)

    folder = kept_by_imports(f"without-{name}", parts, run, texts=[then])
    nb = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    unexplained = [cell.source for cell in nb.cells if failures_of(cell) and not says_the_remedy(cell)]
    assert unexplained == []
    assert_nothing_scores(nb)
    verdicts = nb.cells[-1].outputs[0].data["text/plain"]
    assert verdicts == repr(["right"] * len(numbers))


def says_the_remedy(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell ends in one error of what is missing, with what to install below it, and in nothing else."""
    kinds = [o.get("ename", o.output_type) for o in cell.outputs]
    if kinds[-2:] not in (["ModuleNotFoundError", "display_data"], ["NameError", "display_data"]):
        return False
    return len(failures_of(cell)) == 1 and REMEDY in cell.outputs[-1].data["text/plain"]
