"""What a check service judges: the teacher's own exercises in the assignments that are released, as they are now."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...declaration.answer import JudgedBy
from ...declaration.bank import bank_files
from ...declaration.exercise import Exercise
from ...declaration.renewal import current
from ...declaration.verdict import DeclarationError
from ...grading.fingerprints import of_keys, of_program
from ...grading.restore import SubmissionError, grade_cell, read_notebook
from ...grading.submission import RunSettings
from ...values.digest import digest
from ..banks import CourseBank
from ..layout import CONFIG_FILE, read_config
from .settings import CheckService

log = logging.getLogger("gpubook.service")


@dataclass(frozen=True)
class Served:
    """An exercise that the service judges: its declaration, how many verdicts a learner gets, the digest of its key."""

    exercise: Exercise
    allowed: int
    key: str

    @property
    def is_code(self) -> bool:
        """Whether its answer is run, and not read."""
        return self.exercise.answer.judged_by is not JudgedBy.VALUE


@dataclass(frozen=True)
class Catalogue:
    """What is judged, by assignment and exercise; the bank, a notebook with the cells of all of them, and how a run
    over one is set."""

    by_assignment: Mapping[str, Mapping[str, Served]]
    bank: CourseBank
    release: Any
    settings: RunSettings
    version: str = field(default="")  # of the files that it was read from

    def find(self, assignment: Any, exercise: Any) -> Served | None:
        """The exercise of that id, if that assignment asks it; whatever else is asked for is not there."""
        if type(assignment) is not str or type(exercise) is not str:
            return None
        return self.by_assignment.get(assignment, {}).get(exercise)

    @property
    def exercises(self) -> dict[str, Served]:
        """All that is judged, by id."""
        return {name: one for served in self.by_assignment.values() for name, one in served.items()}

    @property
    def runs_code(self) -> bool:
        return any(one.is_code for one in self.exercises.values())


def version_of(folder: Path) -> str:
    """A mark of the files that a catalogue is read from: another one where one of them has changed."""
    files = [folder / CONFIG_FILE, *sorted((folder / "release").glob("*/*.ipynb"))]
    files += [file for path in sorted((folder / "exercises").glob("*.py")) for file in bank_files(path)]
    marks = []
    for file in files:
        try:
            about = file.stat()
        except FileNotFoundError:
            continue
        marks.append(f"{file}\0{about.st_mtime_ns}\0{about.st_size}\0{about.st_ino}")
    return digest(*marks)


def read(folder: Path, unsafe: bool = False) -> Catalogue:
    """The catalogue of the course in `folder`. A file of exercises, or a release, that cannot be read is told in the
    log, and left out; CourseError where the folder is not a course."""
    import nbformat

    from ..run.nbgrader_steps import GradeInSandbox

    version, config = version_of(folder), read_config(folder)
    service, sandbox = CheckService.of(config), GradeInSandbox(config=config)
    bank = _own(folder)
    releases = [path for path in sorted((folder / "release").glob("*/*.ipynb")) if path.stem == path.parent.name]
    settings = replace(sandbox.run_settings(folder, *releases), unsafe=unsafe or sandbox.unsafe)
    settings = replace(settings, limits=replace(settings.limits, total=service.total_limit))
    keys = of_keys(bank.paths, bank) if bank else {}
    cells: dict[str, Any] = {}
    by_assignment = {}
    for path in releases:
        try:
            nb = read_notebook(path)
        except SubmissionError as error:
            log.error("%s; it is not served", error)
            continue
        served = {}
        for cell in nb.cells:
            role = grade_cell(cell)
            if role is None or role.exercise not in bank:
                continue
            exercise = bank[role.exercise]
            if role.part == "grade" and (allowed := service.allowed(exercise)):
                key = digest(keys[exercise.id], of_program(), str(settings.variants))
                served[exercise.id] = Served(exercise, allowed, key)
            cells.setdefault(cell.metadata["nbgrader"]["grade_id"], cell)
        if served:
            by_assignment[path.stem] = served
    release = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"gpubook": {"chapter": ""}}, "cells": list(cells.values())}
    )
    return Catalogue(by_assignment, bank, release, settings, version)


def _own(folder: Path) -> CourseBank:
    """The teacher's own exercises, of every file that can be read."""
    banks = []
    for file in sorted((folder / "exercises").glob("*.py")):
        try:
            banks.append(current(file))
        except DeclarationError as error:
            log.error("%s; its exercises are not served", error)
    return CourseBank(banks)
