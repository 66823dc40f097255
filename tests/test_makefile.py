"""Which environment a target of the Makefile sets up, with programs that only write down how they are called."""

import os
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >> "{log}"
echo "output of $(basename "$0")"
test "$(basename "$0")" != "$FAILS"
"""


@pytest.fixture
def make(tmp_path):
    """Run a target in an environment of its own, and return what it called."""
    log, programs = tmp_path / "log", tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "gpubook", "ruff", "mypy"):
        (programs / name).write_text(PROGRAM.format(log=log))
        (programs / name).chmod(0o755)

    def run(target):
        log.write_text("")
        subprocess.run(["make", target, f"VENV={tmp_path / 'venv'}"], cwd=ROOT, check=True, capture_output=True)
        return log.read_text()

    return run


def test_a_reader_gets_what_a_reader_needs_once(make):
    called = make("lab")
    assert " -e .\n" in called
    assert "dev" not in called
    assert "torch" not in called
    assert called.endswith("gpubook lab\n")
    assert make("lab") == "gpubook lab\n"
    assert "-e .[dev]" in make("chapters")


def test_an_installation_is_compiled_once_by_every_core_and_one_that_failed_is_none(make, tmp_path, monkeypatch):
    called = make("chapters")
    assert called.count("install -q --no-compile") == called.count("-m compileall -qq -j 0") == 1
    assert make("lab") == "gpubook lab\n"
    for mark in (".reader", ".ready"):
        (tmp_path / "venv" / mark).unlink(missing_ok=True)
    monkeypatch.setenv("FAILS", "python")
    with pytest.raises(subprocess.CalledProcessError):
        make("lab")
    assert not (tmp_path / "venv" / ".reader").exists()


def test_an_environment_with_everything_is_a_readers_too(make, tmp_path):
    assert "-e .[dev]" in make("chapters")
    assert make("lab") == "gpubook lab\n"
    (tmp_path / "venv" / ".reader").unlink()  # one that was made before there was such a mark
    assert make("lab") == "gpubook lab\n"
    os.utime(tmp_path / "venv" / ".ready", (0, 0))
    os.utime(tmp_path / "venv" / ".reader", (0, 0))
    assert " -e .\n" in make("lab")


def test_the_nightly_run_shows_coverage_and_counts_mutants_last(make):
    called = make("nightly").splitlines()
    steps = ["-m pytest -n auto", "-m coverage run -m pytest", "-m coverage report", "-m tests.mutants --count 100"]
    assert [next(step for step in steps if step in line) for line in called[-4:]] == steps


def test_a_check_runs_the_linters_the_tests_and_mypy(make):
    called = make("check")
    assert "ruff check .\nruff format --check -q .\n" in called
    assert sum(line.startswith("mypy") for line in called.splitlines()) == 1
    assert "-m not slow and not longer and not browser and not nightly" in called


@pytest.mark.parametrize("program", ["ruff", "mypy", "python"])
def test_a_check_fails_where_any_part_of_it_does(make, monkeypatch, program):
    make("check")  # sets the environment up
    monkeypatch.setenv("FAILS", program)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        make("check")
    assert f"output of {program}\n" in failed.value.stdout.decode()
