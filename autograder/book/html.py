"""The book as static HTML: each chapter's notebook runs once, the page joins outputs to the learner's text.

A run is kept by the digest of all it depends on. Sphinx then runs nothing; its warnings are errors. Scripts
and fonts come from .build/vendor, so the pages ask no other host for anything and read from file:// too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..declaration.bank import bank_files, declared_below
from . import chapters, download, elsewhere, front, in_page, indexes, licences, memory, search, syllabus, vendor
from .bibliography import for_page
from .contents import contents
from .finishing import finish
from .indexes.formulas import introduced
from .indexes.uses import uses_of
from .mathml import MathError
from .measured import measured_on
from .page import MEASURED_ON, WIDGET_STATE, PageError, assemble

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from .chapters import Chapter

CELL_LIMIT = 180
UNPUBLISHED = ("vendor.json", "licences.toml", "licences", "screenshots")  # of docs/, what a page is made from
# Modules that no chapter's run depends on: how a page looks, and what a course does with it.
IN_A_RUN = ("values", "declaration", "ranks", "answers", "learner")  # what a chapter can see of this package
KERNEL_CONFIG = """\
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.rc = {"svg.hashsalt": "gpubook"}
"""


class BookError(RuntimeError):
    """The book could not be built; the message names the chapter and the cell, or quotes Sphinx."""


def build(root: Path, out: Path, course: bool = False, with_drafts: bool = False) -> Path:
    """Build the book of `root` (its solutions/ and docs/) into the folder `out`, and return it.

    The open edition has solutions, answer boxes and common mistakes; `course` leaves all of them out. Drafts are
    left out unless asked for. `out` is replaced as a whole, so that nothing of another edition stays; BookError
    if it is a folder that does not hold a book.
    """
    import nbformat

    root, out = root.resolve(), out.resolve()
    if out.exists() and any(out.iterdir()) and not (out / "searchindex.js").is_file():
        raise BookError(
            f"{out} is not empty and does not hold a book; an empty folder, or one from an earlier build, was expected"
        )
    work = work_folder(root)
    with _alone(work):
        pages = work / "book" / ("course" if course else "open")
        shutil.rmtree(pages, ignore_errors=True)
        _lay_out(root, work, pages)
        every = [chapters.load(root, name) for name in chapters.chapter_names(root, with_drafts=with_drafts)]
        uses = uses_of(every)
        for file, text in indexes.pages(every, uses).items():
            (pages / file).write_text(text, encoding="utf-8")
        told = front.Front(root, every, course)
        front.write(pages, told)
        asked = []
        indexed = {formula.name for chapter in every for formula, _ in introduced(chapter)}
        for chapter in every:
            name = chapter.name
            released = chapters.release(chapter, work)
            learner = nbformat.read(released / f"{name}.ipynb", as_version=4)
            asked.append((chapter, learner))
            page = assemble(chapter, learner, execute(chapter, root, work), course, indexed)
            title, _, rest = page.cells[0].source.partition("\n")
            page.cells[0].source = f"{title}\n\n{told.head(chapter)}\n{_notebook_line(name)}\n{rest}"
            nbformat.write(page, pages / f"{name}.ipynb")
            shutil.copytree(released, pages / "extra" / "notebooks" / name)
            download.add_instructions(pages / "extra" / "notebooks" / name / f"{name}.ipynb")
            if (released / "files").is_dir():
                shutil.copytree(released / "files", pages / "files", dirs_exist_ok=True)
        memory.write(pages / "_static", root, asked, contents(root), course=course)
        _sphinx(pages, pages / "_html")
        elsewhere.write(pages / "_html", every, uses, contents(root))
        search.write(pages / "_html")
        _finish(pages / "_html", work / "vendor")
        if not course:
            scripts = vendor.fetch(root / "docs" / "vendor.json", work / "vendor")
            in_page.build(
                pages / "_html" / "_static" / "python",
                asked,
                vendored=scripts / "pyodide",
                worker=root / "docs" / "_static" / "python-worker.js",
                work=work,
                solutions=root / "solutions",
            )
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(pages / "_html", out)
    return out


def execute(chapter: Chapter, root: Path, work: Path) -> NotebookNode:
    """The instructor's notebook with its outputs; run once for each state of what it depends on.

    BookError if a cell fails, or if the solution of an exercise does not score its points.
    """
    import nbformat

    kept = work / "executed" / f"{chapter.name}-{_run_digest(chapter, root)}.ipynb"
    if kept.is_file():
        return nbformat.read(kept, as_version=4)
    nb = nbformat.from_dict(chapter.instructor)
    with tempfile.TemporaryDirectory(prefix="gpubook-run-") as scratch:
        _run(nb, chapter, root, Path(scratch))
    nb.metadata[MEASURED_ON] = measured_on()
    _full_marks(nb, chapter)
    kept.parent.mkdir(parents=True, exist_ok=True)
    for old in kept.parent.glob(f"{chapter.name}-*.ipynb"):
        old.unlink()
    beside = kept.with_suffix(f".{os.getpid()}")
    nbformat.write(nb, beside)
    os.replace(beside, kept)
    return nb


def work_folder(root: Path) -> Path:
    """Where intermediate files go: .build in a checkout, the user's cache for an installed book."""
    if root.name == "_book":
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpubook"
    return root / ".build"


def _run(nb: NotebookNode, chapter: Chapter, root: Path, scratch: Path) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    chapters.stage(chapter, scratch)
    profile = scratch / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text(KERNEL_CONFIG)
    package = str(Path(__file__).resolve().parent.parent.parent)
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
            said = " ".join(str(o.get("data", {}).get("text/markdown", "")) for o in cell.outputs).strip()
            raise BookError(
                f"{chapter.source.at(exercise.id)}: the solution of {exercise.id!r} scores "
                f"{', '.join(got) or 'nothing'}; {float(exercise.points)} was expected. {said}"
            )


def _run_digest(chapter: Chapter, root: Path) -> str:
    import nbformat

    package = Path(__file__).resolve().parent.parent
    files = [p for p in sorted((package.parent / "hwlib").rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    files += [package / "__init__.py", *(p for name in IN_A_RUN for p in sorted((package / name).rglob("*.py")))]
    files += [file for bank in declared_below(root / "solutions") for file in bank_files(bank)]
    parts = [sys.version, KERNEL_CONFIG, nbformat.writes(chapter.instructor), chapter.digest]
    parts += [f"{p.name} {hashlib.sha256(p.read_bytes()).hexdigest()}" for p in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _lay_out(root: Path, work: Path, pages: Path) -> None:
    """The Sphinx source: docs/ as it is, and the vendored scripts."""
    scripts = vendor.fetch(root / "docs" / "vendor.json", work / "vendor")
    shutil.copytree(root / "docs", pages, ignore=shutil.ignore_patterns("__pycache__", *UNPUBLISHED))
    vendor.ship(root / "docs" / "vendor.json", scripts, pages / "_static" / "vendor")
    course = pages / "course.md"
    if course.is_file():
        text = syllabus.filled(course.read_text(encoding="utf-8"), syllabus.Book(root), lambda e: f"{e.name}.ipynb")
        course.write_text(text, encoding="utf-8")
    sources = pages / "references.bib"
    sources.write_text(for_page(sources.read_text(encoding="utf-8")), encoding="utf-8")
    (pages / "extra").mkdir()
    licences.lay_out(root / "docs", scripts, pages)


def _finish(site: Path, scripts: Path) -> None:
    try:
        finish(site, scripts)
    except MathError as error:
        raise BookError(str(error)) from None


def _notebook_line(name: str) -> str:
    return (
        '<p class="notebook-link">'
        f'<a href="notebooks/{name}/{name}.ipynb" download>Notebook of this chapter</a>'
        " for JupyterLab</p>"
    )


def _sphinx(source: Path, out: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-n",
        "-q",
        "-E",
        "-d",
        str(source / "_doctrees"),
        str(source),
        str(out),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "0"}
    )
    if done.returncode:
        raise BookError(f"Sphinx rejects the pages in {source}:\n{(done.stderr or done.stdout).strip()}")
    shutil.rmtree(out / "_sources", ignore_errors=True)
    (out / ".buildinfo").unlink(missing_ok=True)


@contextlib.contextmanager
def _alone(work: Path) -> Iterator[None]:
    """One build at a time in a work folder; a second one waits (not on Windows, which has no fcntl)."""
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "book.lock", "w", encoding="utf-8") as file:
        with contextlib.suppress(ImportError):
            from fcntl import LOCK_EX, flock

            flock(file, LOCK_EX)
        yield


__all__ = ["WIDGET_STATE", "BookError", "PageError", "build", "execute"]
