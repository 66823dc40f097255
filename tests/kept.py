"""What takes long to make and follows from files alone is made once: the workers of a run share it, and so do later
runs, until one of those files changes. It lies in .build/tests; `make nightly` rebuilds it."""

import functools
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import distributions
from pathlib import Path

from filelock import FileLock

from autograder.book import chapters, html
from tests.dearest import FOLDER

ROOT = Path(__file__).resolve().parent.parent
_seen: set[Path] = set()  # by this process
_used: set[Path] = set()  # by the file whose tests run


def kept(name: str, parts: Iterable[str], make: Callable[[Path], object]) -> Path:
    """The folder that `make(folder)` filled, for these `parts`, relative to the repository."""
    digest = hashlib.sha256("\0".join([_run(), _installed(), *map(_content, parts)]).encode()).hexdigest()[:20]
    folder = FOLDER / f"{name}-{digest}"
    if folder not in _seen:
        FOLDER.mkdir(parents=True, exist_ok=True)
        with FileLock(FOLDER / f"{name}.lock"):
            if not _mark(folder).is_file():
                for old in FOLDER.glob(f"{name}-*"):
                    if old.is_dir():
                        shutil.rmtree(old)
                    else:
                        old.unlink()
                folder.mkdir()
                make(folder)
                _mark(folder).touch()
    _seen.add(folder)
    _used.add(folder)
    return folder


def begin() -> None:
    """The tests of another file begin."""
    _used.clear()


def forget() -> None:
    """A test failed: later runs rebuild what its file has used, which may be at fault."""
    for folder in _used:
        if _mark(folder).is_file():  # others use it until this run ends
            _mark(folder).with_suffix(".suspect").touch()


def _mark(folder: Path) -> Path:
    """The file that says that what is in the folder is whole."""
    return folder.with_name(f"{folder.name}.made")


def built(root: Path, course: bool = False) -> Path:
    """The folder of the book's own pages."""
    edition = "course" if course else "open"
    parts = ("hwlib", "autograder", "solutions", "docs")
    return kept(f"book-{edition}", parts, lambda folder: html.build(root, folder / "html", course=course)) / "html"


def loaded(root: Path, name: str, course: bool = False) -> chapters.Chapter:
    """The chapter as `chapters.load` gives it, read once by each worker. It is shared: change nothing in it."""
    changed = [path.stat().st_mtime_ns for path in sorted((root / "solutions").rglob("*")) if path.is_file()]
    return _loaded(root, name, course, (*changed, (root / "docs" / "references.bib").stat().st_mtime_ns))


@functools.cache
def _loaded(root: Path, name: str, course: bool, changed: tuple[int, ...]) -> chapters.Chapter:
    return chapters.load(root, name, course=course)


def _run() -> str:
    """Empty, or with KEPT=rebuild what tells this run of the tests from all others."""
    if os.environ.get("KEPT") != "rebuild":
        return ""
    return os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())


@functools.cache
def _installed() -> str:
    """The Python and the packages that run the tests."""
    return "\0".join([sys.version, *sorted(f"{d.name} {d.version}" for d in distributions())])


@functools.cache
def _content(part: str) -> str:
    """The digest of a file, or of all files below a folder."""
    path = ROOT / part
    files = [path] if path.is_file() else (p for p in sorted(path.rglob("*")) if p.is_file())
    lines = [
        f"{p.relative_to(ROOT)} {hashlib.sha256(p.read_bytes()).hexdigest()}"
        for p in files
        if "__pycache__" not in p.parts and ".ipynb_checkpoints" not in p.parts
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
