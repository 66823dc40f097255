"""What each file of tests took: the dearest are run first and named at the end. (The hooks are conftest's.)

xdist hands whole files to its workers in the order of the collection, given --no-loadscope-reorder: a file of a minute
that is begun last leaves the other workers idle for a minute.
"""

import json
import resource
import time
from collections import defaultdict
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / ".build" / "tests"  # what runs of the tests keep
SPENT = FOLDER / "spent.json"
BEFORE = {
    "tests/test_exercises.py": 260,
    "tests/test_unseen_answers.py": 200,
    "tests/test_whole_book.py": 160,
    "tests/browser/test_live_cells.py": 160,
    "tests/autograder/course/test_class_run.py": 95,
    "tests/browser/test_every_page.py": 90,
    "tests/test_page_python.py": 80,
    "tests/browser/test_memory.py": 60,
    "tests/browser/test_explorer.py": 60,
    "tests/autograder/course/test_dask_cluster.py": 50,
    "tests/benchmarks/test_grading.py": 45,
    "tests/browser/test_rings.py": 45,
    "tests/browser/test_exercise_card.py": 45,
    "tests/abuse/test_resources.py": 45,
    "tests/autograder/grading/test_worker.py": 35,
    "tests/autograder/course/test_operations.py": 35,
    "tests/browser/test_answer_boxes.py": 32,
    "tests/autograder/answers/test_written.py": 25,
    "tests/autograder/grading/test_rejudging.py": 25,
    "tests/browser/test_lab.py": 26,
    "tests/autograder/book/test_html.py": 45,
    "tests/autograder/book/test_incremental.py": 40,
    "tests/browser/test_drag.py": 40,
    "tests/autograder/book/test_epub.py": 30,
    "tests/browser/test_printing.py": 30,
    "tests/browser/test_search.py": 30,
    "tests/autograder/course/test_postgres.py": 25,
    "tests/hwlib/test_formula_registry.py": 22,
    "tests/abuse/test_submitted_folders.py": 22,
    "tests/test_grade_end_to_end.py": 20,
    "tests/abuse/test_run_ranks.py": 20,
    "tests/benchmarks/test_ranks.py": 19,
    "tests/hwlib/test_consistency_pipelines.py": 18,
    "tests/browser/test_formgrader.py": 17,
    "tests/hwlib/test_ranks_failures.py": 17,
    "tests/hwlib/test_topology.py": 16,
}
"""Seconds of the dearest files, for a checkout where nothing has run yet."""
TEN = 10

_spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # by file: seconds, and those of the processor


def _processor() -> float:
    """Seconds that this process and those it has waited for have computed."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def dearest_first(items: list[pytest.Item]) -> None:
    """Sort whole files by what they took last; those nobody knows of come last, in their order."""
    took = dict(BEFORE)
    if SPENT.is_file():
        took |= {file: seconds for file, (seconds, _) in json.loads(SPENT.read_text()).items()}
    items.sort(key=lambda item: -took.get(item.nodeid.partition("::")[0], 0.0))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    began, computed = time.monotonic(), _processor()
    try:
        return (yield)
    finally:
        spent = _spent[item.nodeid.partition("::")[0]]
        spent[0] += time.monotonic() - began
        spent[1] += _processor() - computed


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["spent"] = dict(_spent)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    for file, (seconds, computed) in getattr(node, "workeroutput", {}).get("spent", {}).items():
        _spent[file][0] += seconds
        _spent[file][1] += computed


def show(terminalreporter) -> None:
    """Write what the dearest files took, and keep it for the next run."""
    if len(_spent) < 2:
        return
    terminalreporter.section("dearest files", "-")
    for file, (seconds, computed) in sorted(_spent.items(), key=lambda one: -one[1][1])[:TEN]:
        terminalreporter.write_line(f"{computed:7.1f} s of processor time, {seconds:6.1f} s  {file}")
    known = json.loads(SPENT.read_text()) if SPENT.is_file() else {}
    SPENT.parent.mkdir(parents=True, exist_ok=True)
    SPENT.write_text(json.dumps(known | _spent, indent=1, sort_keys=True) + "\n")
