"""A submission brought back to the form of its release: read with checks, its locked cells restored; the rest stays
the learner's."""

import errno
import json
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..answers.written import untouched
from ..values.json_size import least_values
from . import attachments, found_cells, merged_cells
from .found_cells import FoundCells

MAX_BYTES = 20 << 20
MAX_CELLS = 2000
MAX_TEXT = 2_000_000  # characters of all sources
MAX_VALUES = 500_000  # in all of the file: nbgrader makes an object of each
FULL_MARKS = "full_marks"  # in a grade cell's metadata.gpubook: everybody gets all points
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
BEGINNINGS = {
    b"<": "a web page, as of a link that asks to sign in",
    b"version https://git-lfs": "the pointer of a file in Git LFS, which `git lfs pull` fetches",
    b"PK\x03\x04": "an archive or an office document",
    b"%PDF": "a PDF",
}
CONFLICT = (b"<<<<<<< ", b">>>>>>> ")
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class SubmissionError(ValueError):
    """The submission cannot be graded; the message names the file and what was expected."""


@dataclass(frozen=True)
class GradeCell:
    """The role of a cell: which exercise, which part of it ("answer", "grade", "written", ...), how many points, and
    whether everybody gets all of them (`full`)."""

    exercise: str
    part: str
    points: float
    full: bool = False


def read_notebook(path: Path) -> Any:
    """The notebook at `path` (version 4), its text free of characters that cannot be written back; SubmissionError if
    it is not a notebook."""
    if not path.exists() and not path.is_symlink():
        raise SubmissionError(f"{path}: missing; the submitted notebook was expected there")
    if path.is_symlink() or not path.is_file():
        raise SubmissionError(f"{path}: a link or a folder; a notebook was expected")
    if path.stat().st_size > MAX_BYTES:
        raise SubmissionError(
            f"{path}: {path.stat().st_size:,} bytes; a notebook of at most {MAX_BYTES:,} bytes was expected"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        raise SubmissionError(f"{path}: {error.strerror}; a readable file was expected") from None
    return notebook_in(content, path)


def notebook_in(content: bytes, path: Path | str) -> Any:
    """The notebook that a file holds, as `read_notebook` gives it; `path` is what an error calls it."""
    import nbformat

    try:
        text = content.decode(_encoding(content))
        if (values := least_values(text)) > MAX_VALUES:
            raise SubmissionError(_too_many(path, values))
        data = json.loads(text)
    except SubmissionError:
        raise
    except (ValueError, RecursionError) as error:
        kind = _kind(content)
        raise SubmissionError(
            f"{path}: not JSON ({kind}{str(error)[:200]}); a Jupyter notebook (.ipynb) was expected"
        ) from None
    if type(data) is not dict or type(data.get("nbformat")) is not int or not isinstance(data.get("cells"), list):
        raise SubmissionError(f"{path}: JSON, but not a notebook; nbformat 4 with a list of cells was expected")
    if len(data["cells"]) > MAX_CELLS:
        raise SubmissionError(f"{path}: {len(data['cells'])} cells; at most {MAX_CELLS} were expected")
    if (values := _size(data)) > MAX_VALUES:
        raise SubmissionError(_too_many(path, values))
    cells = [_cell(path, number, cell) for number, cell in enumerate(data["cells"], start=1)]
    metadata = data.get("metadata") if isinstance(data.get("metadata"), dict) else {}
    if (written := sum(len(cell["source"]) for cell in cells)) > MAX_TEXT:
        raise SubmissionError(f"{path}: {written} characters in its cells; at most {MAX_TEXT} were expected")
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": _clean(metadata), "cells": cells})


def _too_many(path: Path | str, values: int) -> str:
    return f"{path}: {values} values in it; a notebook of at most {MAX_VALUES} was expected"


def _encoding(content: bytes) -> str:
    """UTF-8, also with the mark that some editors begin a file with; UTF-16 where a shell wrote that."""
    return "utf-16" if content.startswith(UTF_16) else "utf-8-sig"


def _kind(content: bytes) -> str:
    """What a file is that is not a notebook, as far as its contents tell it, and a colon."""
    text = content.strip()
    if not text:
        return "the file is empty: "
    for begin, kind in BEGINNINGS.items():
        if text.startswith(begin):
            return f"{kind}: "
    if any(line.startswith(CONFLICT) for line in text.splitlines()):
        return "marks of a merge conflict are in it: "
    if text.startswith(b"{") and not text.endswith(b"}"):
        return "the file is cut: "
    return ""


def _cell(path: Path | str, number: int, cell: Any) -> dict[str, Any]:
    kind = cell.get("cell_type") if isinstance(cell, dict) else None
    source = cell.get("source") if isinstance(cell, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if kind not in ("code", "markdown", "raw") or not isinstance(source, str):
        raise SubmissionError(
            f"{path}: cell {number} is not a notebook cell; a cell_type (code, markdown, raw) and a source expected"
        )
    metadata = cell.get("metadata")
    clean: dict[str, Any] = {
        "cell_type": kind,
        "source": _clean(source),
        "id": str(cell.get("id", "")),
        "metadata": _clean(metadata) if isinstance(metadata, dict) else {},
    }
    if kind == "code":
        clean |= {"outputs": [], "execution_count": None}
    elif pictures := attachments.accepted(cell.get("attachments")):
        clean["attachments"] = pictures
    return clean


def _clean(value: Any, depth: int = 0) -> Any:
    """JSON data without lone surrogates, which no file can hold, and without parts that are nested too deep."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if depth > 20:
        return None
    if isinstance(value, list):
        return [_clean(v, depth + 1) for v in value]
    if isinstance(value, dict):
        return {_clean(k): _clean(v, depth + 1) for k, v in value.items()}
    return value


def _size(data: Any) -> int:
    """How many values there are in JSON data, at any depth."""
    count, waiting = 0, [data]
    while waiting:
        value = waiting.pop()
        count += 1
        if isinstance(value, (dict, list)):
            waiting += value.values() if isinstance(value, dict) else value
    return count


def grade_id(cell: Any) -> str | None:
    """nbgrader's name for a cell, if it has one."""
    own = cell.metadata.get("nbgrader")
    name = own.get("grade_id") if isinstance(own, dict) else None
    return name if isinstance(name, str) else None


def grade_cell(cell: Any) -> GradeCell | None:
    """The role of a cell of a restored notebook; None for the learner's own and for plain text and
    code."""
    own, nbgrader = cell.metadata.get("gpubook", {}), cell.metadata.get("nbgrader", {})
    if not nbgrader.get("grade_id"):
        return None
    points, full = float(nbgrader.get("points", 0)), own.get(FULL_MARKS) is True
    if nbgrader.get("grade") and not nbgrader.get("solution"):
        return GradeCell(own.get("exercise", ""), "grade", points, full)
    if nbgrader.get("grade") and own.get("exercise"):
        return GradeCell(own["exercise"], "written", points, full)
    return GradeCell(own.get("exercise", ""), own.get("part", ""), 0.0)


def only(release: Any, exercise: str) -> Any:
    """The release of one exercise: its answer and its grade cell alone."""
    import nbformat

    parts = ("answer", "grade")
    cells = [c for c in release.cells if (r := grade_cell(c)) and r.exercise == exercise and r.part in parts]
    return nbformat.from_dict({**release, "cells": cells})


def restore(submitted: Any, release: Any) -> Any:
    """A new notebook: the learner's cells, with every locked cell of `release` as it was released and at its
    place.

    A cell keeps its role only where the release has a cell of that grade id; of several, the last one does
    (as in nbgrader), and of a written one the last in which something is written. An answer keeps the learner's
    source, a written one its pictures too, and gets the release's metadata; a written one in which nothing was written
    is as it was released. A cell that has lost its metadata is found again where that is safe, see `found_cells`, and
    the notebook's metadata say so. Restoring twice changes nothing.
    """
    import nbformat

    originals = {name: cell for cell in release.cells if (name := grade_id(cell))}
    others = [cell for cell in release.cells if grade_id(cell) is None]
    texts = [cell.source for cell in others if cell.cell_type == "markdown"]
    theirs = merged_cells.parted(submitted.cells, originals, texts)
    plain = {found_cells.normalised(cell.source) for cell in others} - {""}
    names, report = _found_again(theirs, originals, plain, FoundCells.of(submitted))
    last: dict[str, int] = {}
    for number, (name, cell) in enumerate(zip(names, theirs, strict=True)):
        if name is None or name not in originals:
            continue
        if not (name in last and _by_hand(originals[name]) and untouched(cell.source)):
            last[name] = number
    cells: list[Any] = []
    for number, (name, cell) in enumerate(zip(names, theirs, strict=True)):
        if name in originals and last[name] == number:
            cells.append(_as_released(cell, originals[name]))
        elif name in originals and _locked(originals[name]):
            continue  # an extra copy of a locked cell
        else:
            cells.append(_ordinary(cell))
    _put_back(cells, originals)
    out = nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": release.metadata, "cells": cells})
    learner = submitted.metadata.get("gpubook")
    if isinstance(learner, dict) and isinstance(learner.get("learner"), str):
        out.metadata.setdefault("gpubook", {})["learner"] = learner["learner"]
    if report.sentence:
        out.metadata.setdefault("gpubook", {})[found_cells.KEY] = report.as_plain()
    _name_cells(out.cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nbformat.validate(out)
    return out


def _found_again(
    cells: list[Any], originals: dict[str, Any], plain: set[str], earlier: FoundCells
) -> tuple[list[str | None], FoundCells]:
    """The name of each submitted cell, also where its metadata is lost, and which answer cells had none."""
    names = [grade_id(cell) for cell in cells]
    different = {(name, found_cells.normalised(cell.source)) for name, cell in zip(names, cells, strict=True)}
    there = Counter(name for name, _ in different)
    exercises = [one for one in found_cells.asked(originals) if one.answer]
    missing = [one for one in exercises if one.answer not in there]
    repeated = {one.exercise for one in exercises if there[one.answer] > 1}
    again: tuple[str, ...] = ()
    own = 0
    if originals.keys() - there.keys():
        search = found_cells.Search(cells, names, originals, plain)
        for number, name in search.run(exercises).items():
            names[number] = name
        repeated |= search.repeated
        again = tuple(one.exercise for one in missing if one.answer in names)
        own = sum(map(search.free, range(len(names)))) + len(again)
    several = tuple(one.exercise for one in exercises if one.exercise in repeated)
    report = FoundCells(len(exercises), tuple(one.exercise for one in missing), again, own, several)
    return names, report.after(earlier, [one.exercise for one in exercises])


def _locked(original: Any) -> bool:
    return not original.metadata["nbgrader"].get("solution")


def _as_released(cell: Any, original: Any) -> Any:
    import copy

    import nbformat

    fresh = copy.deepcopy(original)
    if not _locked(original) and not (_by_hand(original) and untouched(cell.source)):
        fresh.source = cell.source
        if _by_hand(original) and fresh.cell_type == "markdown":
            fresh.pop("attachments", None)
            if pictures := attachments.accepted(cell.get("attachments")):
                fresh.attachments = nbformat.from_dict(pictures)
    return fresh


def _by_hand(original: Any) -> bool:
    """Whether a cell holds an answer and its grade: a teacher reads it."""
    return bool(original.metadata["nbgrader"].get("grade")) and not _locked(original)


def _ordinary(cell: Any) -> Any:
    import nbformat

    plain = {"cell_type": cell.cell_type, "source": cell.source, "metadata": {}, "id": cell.id}
    if cell.cell_type == "code":
        plain |= {"outputs": [], "execution_count": None}
    if cell.cell_type == "raw":  # or a page made from the notebook would hold it as it is
        plain["metadata"] = {"raw_mimetype": "text/plain"}
    return nbformat.from_dict(plain)


def _put_back(cells: list[Any], originals: dict[str, Any]) -> None:
    """Insert each cell with a grade or a lock that is missing right behind the released cell that comes before it."""
    import copy

    before: str | None = None
    for name, original in originals.items():
        present = {grade_id(cell): number for number, cell in enumerate(cells)}
        back = _locked(original) or _by_hand(original)
        if name not in present and back:
            cells.insert(0 if before is None else present[before] + 1, copy.deepcopy(original))
        if name in present or back:
            before = name


def _name_cells(cells: list[Any]) -> None:
    """Every cell has an id of its own; released cells keep theirs."""
    taken = {cell.id for cell in cells if grade_id(cell)}
    for number, cell in enumerate(cells):
        if grade_id(cell):
            continue
        if not CELL_ID.fullmatch(cell.id) or cell.id in taken:
            cell.id = f"learner-{number}"
            while cell.id in taken:
                cell.id += "x"
        taken.add(cell.id)
