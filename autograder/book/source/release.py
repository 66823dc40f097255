"""The learner's notebook out of the instructor's, by nbgrader: solutions become stubs that run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    SaveCells,
)
from nbgrader.utils import is_solution
from traitlets.config import Config

from ..course_error import CourseError

NEVER_RELEASED = ["*.md", "*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints"]


class WriteStubs(ClearSolutions):
    """Replaces a solution by the cell's own stub (`metadata.gpubook.stub`), which runs, unlike nbgrader's."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Write the stub; a cell without one of its own is cleared as nbgrader clears it."""
        own = cell.metadata.get("gpubook", {})
        stub = own.pop("stub", None)
        if stub is None or not is_solution(cell):
            return super().preprocess_cell(cell, resources, cell_index)
        cell.source = stub
        return cell, resources


# nbgrader's own list, with our stubs; IncludeHeaderFooter and InstantiateTests serve features the book has no
# use for.
RELEASE = [LockCells, WriteStubs, ClearOutput, CheckCellMetadata, ComputeChecksums, SaveCells,
           ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata]  # fmt: skip


def release(source_dir: Path | str, release_dir: Path | str, name: str, db_url: str | None = None) -> Path:
    """Write `release_dir/name/` from `source_dir/name/name.ipynb` and return the learner's notebook.

    Other files of the source folder are copied too, except text and code (which may hold solutions).
    Without `db_url` no gradebook is touched; with one, the assignment's cells are recorded in it.
    """
    source_dir, release_dir = Path(source_dir).resolve(), Path(release_dir).resolve()
    notebook = source_dir / name / f"{name}.ipynb"
    if not notebook.is_file():
        raise CourseError(f"{notebook} is missing; the instructor's notebook of {name!r} was expected there")
    root = Path(os.path.commonpath([source_dir, release_dir]))
    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.source_directory = str(source_dir.relative_to(root))
    config.CourseDirectory.release_directory = str(release_dir.relative_to(root))
    config.CourseDirectory.ignore = NEVER_RELEASED
    config.GenerateAssignment.preprocessors = [p for p in RELEASE if db_url or p is not SaveCells]
    config.GenerateAssignment.no_database = db_url is None
    if db_url is not None:
        config.CourseDirectory.db_url = db_url
        config.CourseDirectory.course_id = "default_course"  # nbgrader's own; PostgreSQL refuses an empty one
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    api.log.propagate = False
    with programs_on_path():
        done = api.generate_assignment(name, force=True, create=True)
    if not done["success"]:
        raise CourseError(f"nbgrader could not release {notebook}: {_last(done)}")
    return release_dir / name / f"{name}.ipynb"


def _last(done: dict[str, Any]) -> str:
    """What nbgrader stumbled over, out of the log of what it said about it."""
    lines = (done.get("log", "") + "\n" + done.get("error", "")).strip().splitlines()
    named = [line.strip() for line in lines if re.match(r"\s*[\w.]*(Error|Exception): ", line)]
    causes = [line for line in named if "NbGraderException" not in line] or named or lines
    return causes[-1] if causes else ""


@contextmanager
def programs_on_path() -> Iterator[None]:
    """nbgrader calls the program `alembic` for every new gradebook: find it beside this Python, venv active
    or not."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
