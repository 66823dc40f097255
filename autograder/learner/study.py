"""Self-study: a learner's own copy of the book."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ..values.atomic_write import naming
from ..values.book_root import book_root
from ..values.own_file import loaded
from ..values.own_folder import refuse_links
from . import progress, shown, start_page
from .editions import LearnerCopy, UpdateReport
from .notebook_file import bytes_of


class StudyError(ValueError):
    """The learner's folder is not what it should be; the message says what was found and what was expected."""


def start(folder: Path, reset: Sequence[str] = ()) -> UpdateReport:
    """Copy the book into `folder`, or bring the learner's copy there to the installed edition; nothing that the
    learner wrote is lost, see `editions`. The chapters named in `reset` are copied afresh. The start page shows the
    record as it is now.

    A notebook that is open in JupyterLab is to be closed before.
    """
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is a file; a folder for the book was expected")
    copy = LearnerCopy(folder, book_root() / "chapters", shown.shown_in)
    names = [_chapter(name, copy.chapters()) for name in reset]
    refuse_links(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        copy.reset(name)
    copy.update()
    progress.mark(folder)
    start_page.renew(copy)
    return copy.report


def without_figures() -> str:
    """What is said where no build of the book has put figures into fresh notebooks; "" where one has."""
    if any(shown.folder().glob("*")):
        return ""
    make = "; `make book` once puts them there beforehand" if (book_root() / "Makefile").is_file() else ""
    return f"Figures appear as you run the cells{make}."


def _chapter(name: str, chapters: Sequence[str]) -> str:
    """The chapter that is meant by its name, its number or its topic."""
    for chapter in chapters:
        number, _, topic = chapter.partition("-")
        if name in (chapter, number, number.lstrip("0"), topic):
            return chapter
    raise StudyError(f"there is no chapter {name!r}; expected was one of {', '.join(chapters)}")


def whoami(folder: Path, learner: str) -> list[Path]:
    """Write the learner's gradebook id into the book's notebooks in `folder` and in the folders right below it;
    variants are drawn for this id. Every other notebook is left as it is."""
    if not learner.isprintable() or not learner.strip() or "/" in learner:
        raise StudyError(f"{learner!r} cannot be a gradebook id: printable characters without a slash were expected")
    notebooks = {
        path: notebook
        for pattern in ("*.ipynb", "*/*.ipynb")
        for path in sorted(folder.glob(pattern))
        if ".ipynb_checkpoints" not in path.parts and (notebook := _of_the_book(path))
    }
    if not notebooks:
        raise StudyError(
            f"no notebook of the book in {folder}, nor in a folder right below it; run this where yours "
            "are, or name the folder with --folder"
        )
    for path, notebook in notebooks.items():
        notebook["metadata"]["gpubook"]["learner"] = learner
        beside = path.with_suffix(".ipynb.new")
        with naming(path):
            data = (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
            beside.unlink(missing_ok=True)  # a link that somebody put there, too
            beside.write_bytes(data)
            os.replace(beside, path)
    return list(notebooks)


def _of_the_book(path: Path) -> dict | None:
    """The notebook at `path` where the book or a course made it; None for any other file."""
    try:
        notebook = loaded(bytes_of(path) or b"")
        return notebook if isinstance(notebook["metadata"]["gpubook"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
