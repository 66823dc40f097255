"""A chapter's notebook, run once: what its cells put out, kept until code or something that it uses changes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ...declaration.bank import bank_files
from ..build_cache import contents_of, files_below, kept, key_of
from ..source import chapters
from .measured_cells import MEASURED_ON, measured_on

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..source.chapters import Chapter

CELL_LIMIT = 180
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
IN_A_RUN = ("values", "declaration", "ranks", "answers", "learner")  # what a chapter can see of this package
KERNEL_CONFIG = """\
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.rc = {"svg.hashsalt": "gpubook"}
"""
PACKAGE = Path(__file__).resolve().parents[2]


class BookError(RuntimeError):
    """The book could not be built; the message names the chapter and the cell, or quotes Sphinx."""


def execute(chapter: Chapter, root: Path, work: Path) -> NotebookNode:
    """The instructor's notebook with its outputs."""
    return joined(chapter, run(chapter, root, work))


def run(chapter: Chapter, root: Path, work: Path) -> Path:
    """The file that keeps what the cells put out. They run once for each state of the code and of what that depends
    on, so a change of the text runs nothing.

    BookError if a cell fails, or if the solution of an exercise does not score its points.
    """
    import nbformat

    def make(path: Path) -> None:
        nb = nbformat.from_dict(chapter.instructor)
        with tempfile.TemporaryDirectory(prefix="gpubook-run-") as scratch:
            _run(nb, chapter, root, Path(scratch))
        nb.metadata[MEASURED_ON] = measured_on()
        _full_marks(nb, chapter)
        nbformat.write(nb, path)

    return kept(work / "executed", chapter.name, _key(chapter), ".ipynb", make)


def joined(chapter: Chapter, ran: Path) -> NotebookNode:
    """The instructor's notebook as it is now, with the outputs that the file `ran` keeps."""
    import nbformat

    done, nb = nbformat.read(ran, as_version=4), nbformat.from_dict(chapter.instructor)
    for name in (MEASURED_ON, "widgets"):
        if name in done.metadata:
            nb.metadata[name] = done.metadata[name]
    outputs = iter(cell for cell in done.cells if cell.cell_type == "code")
    for cell in nb.cells:
        if cell.cell_type == "code":
            executed = next(outputs)
            cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
    return nb


def _run(nb: NotebookNode, chapter: Chapter, root: Path, scratch: Path) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    chapters.stage(chapter, scratch)
    profile = scratch / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text(KERNEL_CONFIG)
    package = str(PACKAGE.parent)
    env = {
        k: v for k, v in os.environ.items() if k not in ("NBGRADER_EXECUTION", "GPUBOOK_EXERCISES", "GPUBOOK_OWNER")
    } | {
        "GPUBOOK_SOLUTIONS": str(root / "solutions"),
        "GPUBOOK_PROGRESS": str(scratch / "progress.json"),
        "IPYTHONDIR": str(scratch / "ipython"),
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")])),
    }
    client = NotebookClient(
        nb,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        store_widget_state=True,
        resources={"metadata": {"path": str(scratch / chapter.name)}},
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client.execute(env=env, stderr=subprocess.DEVNULL)
    except CellTimeoutError as error:
        raise BookError(f"{chapter.source.path}: a cell ran longer than {CELL_LIMIT} s\n{error}") from None
    except CellExecutionError as error:
        failed = next(c for c in nb.cells if any(o.output_type == "error" for o in c.get("outputs", [])))
        where = chapter.source.at(failed.source.strip().splitlines()[0])
        shown = re.sub(r"\x1b\[[0-9;]*m", "", error.traceback)[-2000:]
        raise BookError(f"{where}: a cell fails with {error.ename}: {error.evalue}\n{shown}") from None
    except DeadKernelError:
        raise BookError(f"{chapter.source.path}: the kernel died while the notebook ran") from None


def _full_marks(nb: NotebookNode, chapter: Chapter) -> None:
    for cell in nb.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") != "grade":
            continue
        exercise = chapter.bank[own["exercise"]]
        got = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
        if got != [str(float(exercise.points))]:
            text = " ".join(str(o.get("data", {}).get("text/markdown", "")) for o in cell.outputs).strip()
            raise BookError(
                f"{chapter.source.at(exercise.id)}: the solution of {exercise.id!r} scores "
                f"{', '.join(got) or 'nothing'}; {float(exercise.points)} was expected. {text}"
            )


def _key(chapter: Chapter) -> str:
    """A digest of what the outputs depend on: the code and the exercises, without the text around them."""
    code = [f"{cell.id}\n{cell.source}" for cell in chapter.instructor.cells if cell.cell_type == "code"]
    files = files_below(PACKAGE.parent / "hwlib")
    files += [PACKAGE / "__init__.py", *(path for name in IN_A_RUN for path in sorted((PACKAGE / name).rglob("*.py")))]
    files += bank_files(chapter.bank.path) if chapter.bank.path else []
    files += files_below(chapter.source.path.parent / "files")
    return key_of(sys.version, KERNEL_CONFIG, chapters.public_json(chapter), *code, *contents_of(files))


__all__ = ["BookError", "execute", "joined", "run"]
