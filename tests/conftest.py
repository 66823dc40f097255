"""What every test may use; and browser tests are left out, loudly, where there is no browser."""

import contextlib
import functools
import gc
import os
import sys
from pathlib import Path

import pytest

from autograder.book.print.chromium import find_chromium
from autograder.cli import lazy_jsonschema
from tests import dearest
from tests.dearest import FOLDER, pytest_runtest_protocol, pytest_sessionfinish, pytest_testnodedown  # noqa: F401

ROOT = Path(__file__).resolve().parent.parent
NO_BROWSER = "no Chromium or Chrome found"
SLOW = {
    "": "attention_kernel kernel_exercises",
    "autograder/answers": "distributed kernel named_ranks named_ranks_grading own_kind ragged_ranks written",
    "autograder/book": "chapters drafts drag folder_bank front",
    "autograder/book/indexes": "specs",
    "autograder/cli": "reader_environment",
    "autograder/course": "agreed class_run gradebook operations",
    "autograder/grading": "judge rank_processes",
    "autograder/learner": "cell_errors jupyterlab record study",
    "autograder/live": "cells",
    "autograder/ranks": "local_ranks memory_meter network",
    "autograder/sandbox": "sandbox",
    "benchmarks/fit": "stacks",
    "benchmarks/grading": "costs",
    "benchmarks/planner": "planner",
    "hwlib": "algorithms calibrated_gemm chunk_trains consistency consistency_pipelines expert_traffic footprint_torch"
    " grid_axes labs_bandwidth labs_collectives labs_decoders lockstep_run measure parallel_torch"
    " pipeline_torch plots plots_* ranks ranks_failures row_exchange sharded_programs sharding_dtensor"
    " topology topology_fat_tree_design torch_groups transformer_torch virtual virtual_exchange"
    " virtual_pipelines virtual_scripts virtual_shapes virtual_threads widgets widgets_*",
}
"""Files that take long as a whole, though not each of their tests: many processes, figures, or torch, which takes long
to import in each worker."""
LONGER = {
    "": "contributing exercises serving_claims",
    "autograder/cli": "plan",
    "autograder/course": "by_hand class_grading collection export",
    "autograder/course/assigning": "assign_and_drop",
    "autograder/learner": "check_service",
    "benchmarks/fit": "long_context one_gpu",
    "benchmarks/planner": "published_plans",
    "hwlib": "docstrings every_chip least_times planner published_models stages steptime_kernels traces"
    " windowed_models",
}
"""Files of some seconds, which are left out of `make check` too, and among what mutants are tried on."""


def files_of(names: dict[str, str]) -> set[Path]:
    """The files of such a list."""
    files = set()
    for folder, stems in names.items():
        for stem in stems.split():
            path = ROOT / "tests" / folder / f"test_{stem}.py"
            files |= set(path.parent.glob(path.name)) or {path}
    return files


SLOW_FILES, LONGER_FILES = files_of(SLOW), files_of(LONGER)
SLOW_FOLDERS = {ROOT / "tests" / name for name in ("abuse", "browser")}  # which mark all of their tests

lazy_jsonschema.notebooks()  # in every process of a run: a second of it otherwise


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """As many as there are cores, and with the slow tests one more: a good part of these wait for other processes. With
    two more, what has two seconds for it takes longer."""
    more = "not slow" not in (config.option.markexpr or "")
    return len(os.sched_getaffinity(0)) + more if hasattr(os, "sched_getaffinity") else None


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):
        for suspect in FOLDER.glob("*.suspect"):
            suspect.with_suffix(".made").unlink(missing_ok=True)
            suspect.unlink()


def pytest_ignore_collect(collection_path, config):
    """A run without the slow tests does not import the files that have no others: each worker would import torch."""
    wanted = config.option.markexpr or ""
    left_out = "not longer" in wanted and collection_path in LONGER_FILES
    return True if left_out or ("not slow" in wanted and _all_slow(collection_path)) else None


def _all_slow(path: Path) -> bool:
    if path in SLOW_FOLDERS or path in SLOW_FILES:
        return True
    if path.suffix != ".py":
        return False
    marks = path.read_text(encoding="utf-8").partition("\npytestmark = ")[2].partition("\n\n")[0]
    return "mark.slow" in marks


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items):
    if missing := [path.name for path in SLOW_FILES | LONGER_FILES if not path.is_file()]:
        raise pytest.UsageError(f"SLOW and LONGER in tests/conftest.py: no {', '.join(missing)}; was it renamed?")
    for item in items:
        if item.path in SLOW_FILES:
            item.add_marker(pytest.mark.slow)
        if item.path in LONGER_FILES:
            item.add_marker(pytest.mark.longer)
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))  # a browser shares its cores with all that runs beside it
    dearest.dearest_first(items)
    if find_chromium() or os.environ.get("REQUIRE_BROWSER") == "1":
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


def pytest_collection_finish():
    """What was imported and collected stays: the garbage collector went through all of it, a second each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and "tests.kept" in sys.modules:
        sys.modules["tests.kept"].forget()
    return report


def pytest_terminal_summary(terminalreporter):
    dearest.show(terminalreporter)
    if again := [report.nodeid for report in terminalreporter.stats.get("rerun", [])]:
        terminalreporter.section("browser tests that failed, and were run again")
        terminalreporter.write_line("\n".join(again))
    left_out = [r for r in terminalreporter.stats.get("skipped", []) if NO_BROWSER in str(r.longrepr)]
    if left_out:
        terminalreporter.section("browser tests")
        terminalreporter.write_line(
            f"{len(left_out)} browser tests were left out: install Chromium or Chrome "
            "(Debian: apt-get install chromium), or name one with CHROMIUM=<path>, and run `make test` again."
        )


@pytest.fixture(scope="module", autouse=True)
def kept_by_this_file():
    """What later runs rebuild after a failure."""
    if "tests.kept" in sys.modules:
        sys.modules["tests.kept"].begin()


@pytest.fixture(scope="module", autouse=True)
def schema_of_a_new_gradebook():
    """nbgrader has a program of two seconds say which schema each new gradebook has: here it asks once."""
    if "autograder.course" in sys.modules:
        from nbgrader import api

        if not hasattr(api.get_alembic_version, "cache_info"):
            api.get_alembic_version = functools.cache(api.get_alembic_version)


@pytest.fixture(scope="session")
def zygotes():
    """`zygotes()`: the zygote that the files of a worker share, for starting one takes seconds; started when first
    asked for. There is one for each value of GPUBOOK_PRELOAD."""
    from autograder.sandbox import Zygote

    with contextlib.ExitStack() as ends:

        @functools.cache
        def running(_preload: str | None) -> Zygote:
            return ends.enter_context(Zygote())

        yield lambda: running(os.environ.get("GPUBOOK_PRELOAD"))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources(root) -> set[str]:
    """The keys of the bibliography."""
    from pybtex.database import parse_file

    return set(parse_file(root / "docs" / "references.bib", "bibtex").entries)


def stable_id(value):
    """An id for a parameter that is the same in every process, without an object's address in it."""
    return getattr(value, "id", None) or getattr(value, "__name__", None) or str(value)
