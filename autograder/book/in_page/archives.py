"""The archives that the page's Python unpacks: zip files with the same bytes every time."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..source.chapters import public_json

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..source.chapters import Chapter

DATA = {".py", ".toml", ".csv", ".json", ".txt", ".log"}
# What of this project no cell of a page can use: it draws with matplotlib, or starts processes.
NOT_HERE = (
    "hwlib/plots/",
    "hwlib/widgets/",
    "hwlib/virtual/",
    "hwlib/labs/",
    "autograder/sandbox/",
    "autograder/book/",
    "autograder/grading/",
    "autograder/course/",
    "autograder/cli/",
)
TEXT_ONLY = "text.py"  # of a folder of exercises: names for the chapter's prose, which the page has as text
ALWAYS = ("markdown_it", "mdit_py_plugins", "mdurl", "markupsafe")  # that every cell needs
ON_DEMAND = ("mpmath", "sympy", "networkx")  # when a cell first imports it
# Of the packages, what no cell needs: tests, and fields that `import sympy` does not touch.
DROPPED = (
    "/tests/", "/benchmarks/", "sympy/parsing/autolev", "sympy/parsing/latex", "sympy/parsing/c/",
    "sympy/parsing/fortran", "sympy/physics/mechanics", "sympy/physics/control", "sympy/physics/quantum",
    "sympy/physics/biomechanics", "sympy/physics/continuum", "sympy/physics/optics", "sympy/integrals/rubi",
    "sympy/sandbox", "sympy/liealgebras", "sympy/crypto", "networkx/generators/atlas.dat.gz",
)  # fmt: skip
Files = Mapping[str, bytes]


def library(package_root: Path) -> dict[str, bytes]:
    """The source of `hwlib` and `autograder`, as far as a page can use it, with its tables."""
    files = {}
    for name in ("hwlib", "autograder"):
        for path in _files(package_root / name):
            place = path.relative_to(package_root).as_posix()
            if not place.startswith(NOT_HERE) and "_book/" not in place and path.suffix in DATA:
                files[place] = path.read_bytes()
    return files


def questions(asked: Iterable[tuple[Chapter, NotebookNode]]) -> dict[str, bytes]:
    """What a learner has: the public exercises of each chapter, and the code of its cells by their place.

    `asked` are the chapters, each with its learner's notebook.
    """
    files, cells = {}, {}
    for chapter, learner in asked:
        files[f"chapters/{chapter.name}/exercises.json"] = public_json(chapter).encode()
        files |= _beside(chapter, f"chapters/{chapter.name}")
        cells[chapter.name] = list(_places(learner))
    return files | {"cells.json": _json(cells)}


def answers(asked: Iterable[tuple[Chapter, NotebookNode]], solutions: Path) -> dict[str, bytes]:
    """The declarations of each chapter, with what was computed for them: for the open edition only."""
    files = {}
    for chapter, _ in asked:
        folder = solutions / chapter.name
        for path in _files(folder):
            place = path.relative_to(folder).as_posix()
            declares = place == "exercises.py" or (place.startswith("exercises/") and path.name != TEXT_ONLY)
            if (declares and path.suffix == ".py") or place == "built.json":
                files[f"solutions/{chapter.name}/{place}"] = path.read_bytes()
        files |= _beside(chapter, f"solutions/{chapter.name}")
        if heavy := chapter.bank.heavy():
            files[f"solutions/{chapter.name}/heavy.json"] = _json(heavy)
    return files


def package(name: str) -> dict[str, bytes]:
    """The Python files of an installed package, with its licence."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"the package {name} is not installed; pip install 'gpubook[book]' brings it")
    folder = Path(spec.submodule_search_locations[0])
    files = {}
    for path in _files(folder):
        place = f"{name}/{path.relative_to(folder).as_posix()}"
        if path.suffix in {".py", ".gz", ".json"} and not any(part in place for part in DROPPED):
            files[place] = path.read_bytes()
    return files


def pack(out: Path, files: Files) -> None:
    """Write a zip file of these, the same bytes for the same files."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)


def _places(learner: NotebookNode) -> Iterator[Sequence[str]]:
    """Each cell of code with its id; where an exercise stands, or a section begins, its id alone."""
    for cell in learner.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "prompt":
            yield own["exercise"], ""
        elif cell.cell_type == "code" and not own.get("part"):
            yield cell.id, cell.source
        elif cell.cell_type == "markdown" and cell.source.startswith("## "):
            yield cell.id, ""


def _beside(chapter: Chapter, place: str) -> dict[str, bytes]:
    """The files that a chapter reads, in its folder files/."""
    folder = chapter.source.path.parent
    return {f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in _files(folder / "files")}


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]


def _json(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
