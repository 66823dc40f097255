"""Lay out the course of the sample class: release the chapter, and submit what each learner makes of it."""

import copy
import importlib
import shutil
from pathlib import Path

import nbformat

from autograder import course
from autograder.declaration import load_bank
from autograder.values.book_root import book_root

from . import LEARNERS
from .book import Book

CHAPTER = "03-rooflines"


def book_of(folder: Path, chapter: str = CHAPTER) -> Book:
    """The chapter as the course in `folder` has it."""
    source = folder / "source" / chapter / f"{chapter}.ipynb"
    return Book(load_bank(book_root() / "solutions" / chapter), nbformat.read(source, as_version=4))


def lay_out(folder: Path, learners=LEARNERS, chapter: str = CHAPTER) -> Path:
    """A new course in `folder` (an older one there is replaced) in which `learners` have submitted
    `chapter`."""
    folder = Path(folder).resolve()
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "nbgrader_config.py").is_file():
            raise SystemExit(f"{folder} is not empty and no course; an empty folder, or one to replace, was expected")
        shutil.rmtree(folder)
    course.init(folder)
    release = nbformat.read(course.assign(folder, chapter, chapter=chapter), as_version=4)
    book = book_of(folder, chapter)
    for name in learners:
        nb = copy.deepcopy(release)
        importlib.import_module(f"{__package__}.{name}").submit(nb, book)
        hand_in(folder, name, nb, chapter)
    return folder


def hand_in(folder: Path, learner: str, nb, chapter: str = CHAPTER) -> Path:
    """Write `nb` where nbgrader collects it; no validation, as in life."""
    path = folder / "submitted" / learner / chapter / f"{chapter}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nb if isinstance(nb, str) else nbformat.v4.writes(nb), encoding="utf-8")
    return path
