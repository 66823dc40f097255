"""The book as static HTML: each chapter's notebook runs once, the page joins outputs to the learner's text.

A run is kept by the digest of all it depends on. Sphinx then runs nothing; its warnings are errors. Scripts
and fonts come from .build/vendor, so the pages ask no other host for anything and read from file:// too.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .. import in_page, indexes
from ..bibliography import for_page
from ..build_cache import contents_of, files_below, kept, key_of
from ..finishing.finish import finish
from ..finishing.mathml import MathError
from ..indexes.formulas import introduced
from ..indexes.uses import uses_of
from ..outputs import executed, prerun_outputs
from ..outputs.executed import WIDGET_STATE, BookError, execute
from ..source import chapters, syllabus
from ..source.contents import contents
from . import (
    front,
    licences,
    machine_readable,
    notebook_download,
    planner_pages,
    reading_page,
    script_data,
    search,
    sphinx_site,
    vendor,
)
from .page import PageError, assemble

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..source.chapters import Chapter

PACKAGE = Path(__file__).resolve().parents[2]
UNPUBLISHED = ("vendor.json", "licences.toml", "licences", "screenshots")  # of docs/, what a page is made from


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
        front_page = front.Front(root, every, course)
        front.write(pages, front_page)
        planner_pages.write(pages)
        reading_page.write(pages)
        learners = []
        indexed = {formula.name for chapter in every for formula, _ in introduced(chapter)}
        for chapter in every:
            name = chapter.name
            released = chapters.release(chapter, work)
            learner = nbformat.read(released / f"{name}.ipynb", as_version=4)
            learners.append((chapter, learner))
            ran = executed.run(chapter, root, work)
            prerun_outputs.keep(work / "shown", chapter, learner, ran)
            page = _page(chapter, learner, ran, course, indexed, work)
            title, _, rest = page.cells[0].source.partition("\n")
            page.cells[0].source = f"{title}\n\n{front_page.head(chapter)}\n{_notebook_line(name)}\n{rest}"
            nbformat.write(page, pages / f"{name}.ipynb")
            shutil.copytree(released, pages / "extra" / "notebooks" / name)
            notebook_download.add_instructions(pages / "extra" / "notebooks" / name / f"{name}.ipynb")
            if (released / "files").is_dir():
                shutil.copytree(released / "files", pages / "files", dirs_exist_ok=True)
        script_data.write(pages / "_static", root, learners, contents(root), course=course)
        site = pages.with_name(f"{pages.name}-site")
        shutil.rmtree(site, ignore_errors=True)
        sphinx_site.write_site(pages, pages.with_name(f"{pages.name}-sphinx"), site)
        machine_readable.write(site, every, uses, contents(root))
        search.write(site, work / "search")
        _finish(site, work / "vendor")
        scripts = vendor.fetch(root / "docs" / "vendor.json", work / "vendor")
        in_page.build(
            site / "_static" / "python",
            learners,
            vendored=scripts / "pyodide",
            worker=root / "docs" / "_static" / "python-worker.js",
            work=work,
            solutions=None if course else root / "solutions",
        )
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(site, out)
    return out


def _page(
    chapter: Chapter, learner: NotebookNode, ran: Path, course: bool, indexed: Collection[str], work: Path
) -> NotebookNode:
    """The page's notebook, kept until anything changes that it is made of; `ran` is the file of its outputs."""
    import nbformat

    folder = chapter.source.path.parent
    sources = folder.parent.parent / "docs" / "references.bib"
    files = [*files_below(PACKAGE.parent / "hwlib", PACKAGE, folder), ran, sources]
    key = key_of(str(course), *sorted(indexed), json.dumps(chapter.instructor), *contents_of(files))

    def make(path: Path) -> None:
        done = executed.joined(chapter, ran)
        nbformat.write(assemble(chapter, learner, done, course, indexed), path)

    edition = "course" if course else "open"
    return nbformat.read(kept(work / "assembled" / edition, chapter.name, key, ".ipynb", make), as_version=4)


def work_folder(root: Path) -> Path:
    """Where intermediate files go: .build in a checkout, the user's cache for an installed book."""
    if root.name == "_book":
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpubook"
    return root / ".build"


def _lay_out(root: Path, work: Path, pages: Path) -> None:
    """The Sphinx source: docs/ as it is, and the vendored scripts."""
    scripts = vendor.fetch(root / "docs" / "vendor.json", work / "vendor")
    shutil.copytree(root / "docs", pages, ignore=shutil.ignore_patterns("__pycache__", *UNPUBLISHED))
    vendor.ship(root / "docs" / "vendor.json", scripts, pages / "_static" / "vendor")
    course = pages / "course.md"
    if course.is_file():
        text = syllabus.filled(
            course.read_text(encoding="utf-8"), syllabus.BookCounts(root), lambda e: f"{e.name}.ipynb"
        )
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
