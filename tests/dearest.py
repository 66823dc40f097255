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
    "tests/test_whole_book.py": 1143,
    "tests/browser/test_live_cells.py": 752,
    "tests/test_unseen_answers.py": 707,
    "tests/autograder/course/test_class_run.py": 245,
    "tests/test_exercises.py": 217,
    "tests/browser/test_explorer.py": 210,
    "tests/test_page_python.py": 201,
    "tests/browser/test_every_page.py": 188,
    "tests/browser/test_printing.py": 159,
    "tests/browser/test_memory.py": 144,
    "tests/browser/test_search.py": 111,
    "tests/autograder/book/test_epub.py": 109,
    "tests/abuse/test_resources.py": 94,
    "tests/autograder/book/test_html.py": 86,
    "tests/test_leaks.py": 71,
    "tests/browser/test_answer_boxes.py": 70,
    "tests/browser/test_drag.py": 66,
    "tests/autograder/course/test_operations.py": 66,
    "tests/autograder/book/test_incremental.py": 56,
    "tests/autograder/course/test_dask_cluster.py": 55,
    "tests/browser/test_start_page.py": 51,
    "tests/browser/test_exercise_card.py": 45,
    "tests/abuse/test_run_ranks.py": 44,
    "tests/browser/test_rings.py": 41,
    "tests/browser/test_lab.py": 39,
    "tests/abuse/test_ranks.py": 38,
    "tests/autograder/grading/test_worker.py": 38,
    "tests/hwlib/test_algorithms.py": 38,
    "tests/browser/test_front_page.py": 36,
    "tests/browser/test_ring_breaker_figure.py": 33,
    "tests/autograder/course/test_gradebook.py": 33,
    "tests/test_grade_end_to_end.py": 33,
    "tests/autograder/answers/test_own_kind.py": 31,
    "tests/autograder/answers/test_written.py": 31,
    "tests/test_kernels_without_numpy.py": 30,
    "tests/abuse/test_long_texts.py": 30,
    "tests/hwlib/test_virtual_shapes.py": 29,
    "tests/autograder/book/test_chapters.py": 27,
    "tests/hwlib/test_consistency.py": 27,
    "tests/hwlib/test_ranks_failures.py": 27,
    "tests/browser/test_figures.py": 25,
    "tests/autograder/answers/test_distributed.py": 25,
    "tests/abuse/test_answers.py": 23,
    "tests/hwlib/test_topology.py": 23,
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
