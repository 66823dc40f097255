"""Mutants in copies of the project, and what the closest tests say of each."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from tests.mutants.closest import Imports
from tests.mutants.errors import Mutant

FAST = "not slow and not browser and not nightly"
LEFT_OUT = (".git", ".venv", ".build", "build", "dist", "study", "__pycache__", ".*_cache", ".hypothesis")  # of a copy
QUICKER = 3  # times: a run cut at its limit counts as a failure where the unchanged source passes so much sooner
LAST_LINE = re.compile(
    r"(?:passed|skipped|deselected|xfailed|no tests ran).* in [\d.]+s"
)  # of a run that came to its end
MEMORY = 8 << 30  # of a run: a loop that an error makes endless may fill the machine's
CAUGHT, EQUIVALENT, SURVIVED = "caught", "equivalent", "survived"


@dataclass(frozen=True)
class Run:
    """A run of tests: the first that failed, "" where none did; the `seconds` it took, and whether it was cut."""

    failed: str
    seconds: float
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s{', cut' if self.cut else ''}"


@dataclass
class Tree:
    """A copy of the project, in which one file at a time is changed. `unsound` are tests that fail without a mutant,
    and `sound` those that do not, as far as this came up."""

    root: Path
    sound: set[str] = field(default_factory=set)
    unsound: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, project: Path, root: Path) -> "Tree":
        """A copy at `root`."""
        shutil.copytree(project, root, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        return cls(root)

    def run(self, tests: Sequence[str], limit: float) -> Run:
        """Run the fast ones of these tests, as far as the copy has them, up to the first failure."""
        tests = [test for test in tests if (self.root / test.partition("::")[0]).exists()]
        if not tests:
            return Run("", 0.0)
        skipped = [f"--deselect={test}" for test in sorted(self.unsound)]
        command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", FAST, *skipped, *tests]
        environment = os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Run("", limit, cut=True)
        return Run(_first_failure(process.returncode, output), time.monotonic() - began)

    def try_out(self, mutant: Mutant, tests: Sequence[str], limit: float) -> Run:
        """The run with an error in its file, which is as before at the end. What fails without it too is left out."""
        path = self.root / mutant.file
        before = path.read_bytes()
        while True:
            try:
                path.write_bytes(mutant.of(before))
                run = self.run(tests, limit)
            finally:
                path.write_bytes(before)
            if run.cut and self.run(tests, limit).seconds < limit / QUICKER:
                return Run("the time limit", run.seconds, cut=True)
            if self._is_sound(run.failed, limit):
                return run

    def _is_sound(self, test: str, limit: float) -> bool:
        test = test.partition("[")[0]  # with all of its cases
        if not test.startswith("tests/") or test in self.sound:
            return True
        if test in self.unsound:
            raise click.ClickException(f"{test} fails without a mutant too, and cannot be left out")
        failed = self.run([test], limit).failed
        (self.unsound if failed else self.sound).add(test)
        return not failed


def _first_failure(status: int, output: str) -> str:
    """The test that failed, or what else ended a run; no tests at all are no failure. What ends the tests' own process
    as if all were well, such as one that takes itself for a fork of it, leaves the run without its last line."""
    if status in (0, 5) and LAST_LINE.search(output):
        return ""
    failure = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.M)
    return failure[1] if failure else f"exit status {status}: {output.strip()[-200:]}"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: caught, survived or equivalent, and `why`."""

    mutant: Mutant
    word: str
    why: str

    def __str__(self) -> str:
        return f"{self.word:10} {self.mutant}  ({self.why})"


def outcome(
    tree: Tree, mutant: Mutant, imports: Imports, equivalent: Mapping[tuple[str, str, str], str], limit: float
) -> Outcome:
    """Whether the closest tests see a mutant that is not known to be `equivalent`, for a reason."""
    if reason := equivalent.get((mutant.file, mutant.was, mutant.becomes)):
        return Outcome(mutant, EQUIVALENT, reason)
    tests = imports.closest_tests(mutant.file)
    run = tree.try_out(mutant, tests, limit) if tests else Run("", 0.0)
    if run.failed:
        return Outcome(mutant, CAUGHT, f"{run}, by {run.failed}")
    return Outcome(mutant, SURVIVED, f"{run}, {len(tests)} files of tests")
