"""What takes long to make and follows from files alone is made once: the workers of a run share it, and so do later
runs, until one of those files changes. It lies in .build/tests; `make nightly` rebuilds it.

What a run of learners' code depends on, of the packages, is what it has imported: a change elsewhere costs nothing.
"""

import functools
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import distributions
from pathlib import Path

from filelock import FileLock

from autograder.book.site import html
from autograder.book.source import chapters
from tests.dearest import FOLDER
from tests.imported import PACKAGES, all_modules

ROOT = Path(__file__).resolve().parent.parent
RECORDING = tuple(f"tests/{name}.py" for name in ("kept", "imported", "import_recorder", "clean_process"))
UNREAD = ("__pycache__", ".ipynb_checkpoints")
ABOVE_PAGES = ("course", "cli")
"""The rooms of `autograder` above the book, which imports nothing of them: tests/test_layers.py."""
_seen: set[Path] = set()  # by this process
_used: set[Path] = set()  # by the file whose tests run


def kept(name: str, parts: Iterable[str], make: Callable[[Path], object]) -> Path:
    """The folder that `make(folder)` filled, for these `parts`, relative to the repository."""

    def make_all(folder: Path) -> dict[str, str]:
        make(folder)
        return {}

    return _kept(name, map(_content, parts), make_all)


def kept_by_imports(
    name: str, parts: Iterable[str], make: Callable[[Path], Collection[str]], texts: Iterable[str] = ()
) -> Path:
    """The same for a run of code: `make` returns the modules that all of its processes have imported, and of the
    packages only these count, with the data beside them. Where it returns none, all of the packages count. `texts`
    count as they are."""

    def make_and_note(folder: Path) -> dict[str, str]:
        dependencies(ROOT, all_modules(ROOT))  # their digests stay as they are before the run
        return dependencies(ROOT, make(folder))

    return _kept(name, [*map(_content, (*parts, *RECORDING)), _importable(), *texts], make_and_note)


def _kept(name: str, parts: Iterable[str], make: Callable[[Path], dict[str, str]]) -> Path:
    """`make` returns what else it depends on: files and folders, each with its digest."""
    digest = hashlib.sha256("\0".join([_run(), _installed(), *parts]).encode()).hexdigest()[:20]
    folder = FOLDER / f"{name}-{digest}"
    if folder not in _seen:
        FOLDER.mkdir(parents=True, exist_ok=True)
        with FileLock(FOLDER / f"{name}.lock"):
            if not _whole(folder):
                for old in FOLDER.glob(f"{name}-{'?' * len(digest)}*"):
                    if old.is_dir():
                        shutil.rmtree(old)
                    else:
                        old.unlink()
                folder.mkdir()
                _mark(folder).write_text(json.dumps(make(folder), indent=0), encoding="utf-8")
    _seen.add(folder)
    _used.add(folder)
    return folder


def _whole(folder: Path) -> bool:
    """Whether it was filled, and all that this has depended on is as it was then."""
    mark = _mark(folder)
    return mark.is_file() and not changed(ROOT, json.loads(mark.read_text(encoding="utf-8") or "{}"))


def dependencies(root: Path, modules: Collection[str]) -> dict[str, str]:
    """What a run depends on that has imported these modules, below `root`: their files; of each package among them the
    names of all its files, one of which could come in the way of another, and the data, which any of them may read.
    All packages, where a module has no file, or where there is none."""
    everything = {package: digest_of(root, package) for package in PACKAGES}
    if not modules:
        return everything
    with_parents = {name.rsplit(".", k)[0] for name in modules for k in range(name.count(".") + 1)}
    depends = {}
    for name in sorted(with_parents):
        place = name.replace(".", "/")
        if (root / place / "__init__.py").is_file():
            depends[f"{place}/"] = digest_of(root, f"{place}/")
            place = f"{place}/__init__"
        if not (root / f"{place}.py").is_file():
            return everything
        depends[f"{place}.py"] = digest_of(root, f"{place}.py")
    return depends


def changed(root: Path, depends: dict[str, str]) -> list[str]:
    """The dependencies that are not as they were."""
    return [part for part, digest in depends.items() if digest_of(root, part) != digest]


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
    parts = (*makes_pages(), "solutions")
    return kept(f"book-{edition}", parts, lambda folder: html.build(root, folder / "html", course=course)) / "html"


def makes_pages() -> tuple[str, ...]:
    """The files and folders that make pages of chapters."""
    rooms = [path.name for path in (ROOT / "autograder").iterdir() if path.name not in (*UNREAD, *ABOVE_PAGES)]
    return ("hwlib", "docs", *(f"autograder/{name}" for name in sorted(rooms)))


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
    """The digest of a file, or of all files below a folder, as this process first saw them."""
    return digest_of(ROOT, part)


def _importable() -> str:
    """What would hide an installed package of the same name: the repository's root is where Python looks first."""
    return " ".join(
        sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.py"), *ROOT.glob("*/__init__.py")))
    )


@functools.cache
def digest_of(root: Path, part: str) -> str:
    """The digest of a file, of all files below a folder, or, where `part` ends in a slash, of a package: what it has
    but the content of its modules."""
    path = root / part
    files, lines = [path] if path.is_file() else _files_below(path), []
    if part.endswith("/") and path.is_dir():
        files, lines = _data_of(path), sorted(p.name for p in path.iterdir() if p.name not in UNREAD)
    lines += [f"{p.relative_to(root)} {hashlib.sha256(p.read_bytes()).hexdigest()}" for p in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _files_below(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.rglob("*")) if p.is_file() and not set(UNREAD) & set(p.parts)]


def _data_of(package: Path) -> list[Path]:
    """The files of a package that are no modules, also in folders of it that are no packages."""
    data = []
    for path in sorted(package.iterdir()):
        if path.is_file() and path.suffix != ".py":
            data.append(path)
        elif path.is_dir() and path.name not in UNREAD and not (path / "__init__.py").is_file():
            data += _files_below(path)
    return data
