"""A chapter's source as a notebook, in which one cell that names an exercise is three: ask, answer, grade.

A source cell with the metadata `exercise: ID` becomes a locked prompt, readable before anything runs; the
answer cell; and a locked grade cell, unless a teacher grades it: then the answer is a Markdown cell. Cell ids are the
grade id, or a digest of the cell's source: the page joins outputs to text by them, and two conversions of one source
are the same bytes.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...declaration.answer import JudgedBy
from ...declaration.withholding import not_for_use
from ...declaration.worked import BEGIN, END

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ...declaration.exercise import Exercise

GUIDE = "which tolerance, units and notations hold, what *exact* and *to first order* mean, and what is counted"
POINTER = f"*New here? `how_to_answer()` says {GUIDE}.*"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class ChapterError(ValueError):
    """A chapter's source is invalid; the message names file and line, and what was expected."""


@dataclass(frozen=True)
class ChapterSource:
    """The text of a chapter's source and where it lies, so that an error can say on which line it is."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> ChapterSource:
        """Read `path`; the message of a failure names it."""
        try:
            return cls(path, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ChapterError(f"{path}: a chapter's source in UTF-8 was expected here ({error})") from None

    def at(self, needle: str, start: int = 0) -> str:
        """`path:line` of the first place where `needle` stands, or the path alone."""
        where = self.text.find(needle, start)
        return f"{self.path}:{self.text.count(chr(10), 0, where) + 1}" if where >= 0 else str(self.path)


def parse(source: ChapterSource) -> NotebookNode:
    """The MyST source as the converter reads it; ChapterError where a cell's options cannot be read."""
    import jupytext
    from jupytext.myst import MystMetadataParsingError

    try:
        return jupytext.reads(source.text, fmt="md:myst")
    except MystMetadataParsingError as error:
        say = " ".join(str(error).split())
        raise ChapterError(
            f"{source.path}: {say}; an option with a colon, or that begins with a brace, goes between quotes, as "
            "in :caption: '{n}`x`: so many'"
        ) from None


def read(source: ChapterSource) -> NotebookNode:
    """The MyST source as a notebook with repeatable cell ids and no trace of the converter."""
    import nbformat

    nb = parse(source)
    seen: dict[str, int] = {}
    for cell in nb.cells:
        graded = cell.metadata.get("nbgrader", {}).get("grade_id")
        base = graded or hashlib.sha256(f"{cell.cell_type}\0{cell.source}".encode()).hexdigest()[:12]
        seen[base] = seen.get(base, 0) + 1
        cell.id = base if seen[base] == 1 else f"{base}-{seen[base]}"
    nb.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    nb.nbformat, nb.nbformat_minor = 4, 5
    return nb


def expand(
    nb: NotebookNode,
    bank: Mapping[str, Exercise],
    edition: str = "instructor",
    *,
    source: ChapterSource | None = None,
    chapter: str = "",
    variants: bool = False,
    alone: bool = False,
    before: int = 0,
) -> NotebookNode:
    """A notebook in which each cell that names an exercise of `bank` is its prompt, answer and grade cell.

    `edition`: "instructor" keeps the solution between its markers, for nbgrader to take out; "learner" has
    the stub. `chapter` ("03-rooflines") numbers the exercises 3.1, 3.2, ..., on from those `before`. With `variants`
    the prompt has letters, and a locked cell below it shows each learner their own numbers. `alone`: it is for
    self-study, and says where the answers are that nobody grades. Raises ChapterError, with the file and line where
    `source` is given.
    """
    import nbformat

    if edition not in ("instructor", "learner"):
        raise ValueError(f"edition {edition!r}: 'instructor' or 'learner' was expected")
    out = nbformat.from_dict(nb)
    number = chapter.split("-")[0].lstrip("0")
    used: list[str] = []
    cells = []
    for cell in out.cells:
        name = cell.metadata.pop("exercise", None)
        if name is None:
            cells.append(cell)
            continue
        exercise = _named(name, cell, bank, used, source)
        used.append(name)
        place = before + len(used)
        label = f"{number}.{place}" if number.isdigit() else str(place)
        cells += _cells(cell, exercise, label, edition, variants, alone)
    out.cells = cells
    _unique(cells, source)
    return out


def point_to_guide(nb: NotebookNode) -> None:
    """Have the first exercise of a notebook say how answers are read, unless another of them does: the first may have
    been left out since."""
    prompts = [c for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "prompt"]
    if prompts and not any(POINTER in prompt.source for prompt in prompts):
        prompts[0].source += f"\n\n{POINTER}"


def point_to_page(nb: NotebookNode, page: str) -> None:
    """Have each prompt link to its card on the chapter's page, at the address where that is published."""
    for prompt in nb.cells:
        if prompt.metadata.get("gpubook", {}).get("part") == "prompt":
            prompt.source += f"\n\n[In the book's page]({page}#exercise-{prompt.metadata['gpubook']['exercise']})"


def used_exercises(nb: NotebookNode) -> list[str]:
    """The ids of the exercises of an expanded notebook, in order."""
    return [
        c.metadata["gpubook"]["exercise"] for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "prompt"
    ]


def prompt_markdown(exercise: Exercise, label: str, *, variants: bool = False, alone: bool = False) -> str:
    """The prompt as the learner reads it: number, title and points; the question; how to answer."""
    head = f"**Exercise {label}**" + (f" · {exercise.title}" if exercise.title else "") + f" · {points(exercise)}"
    text = exercise.prompt_text(letters=True) if variants else exercise.prompt_text()
    say = how_to_answer(exercise)
    tail = f"*{say[0].upper()}{say[1:]}.*"
    if exercise.answer.judged_by is JudgedBy.TEACHER and alone:
        tail += f' *Nobody grades it here: `solution("{exercise.id}")` shows a model answer.*'
    if exercise.hints:
        tail += f' *Stuck? `hint("{exercise.id}")`.*'
    if variants and exercise.given:
        tail = "*Run the next cell for your numbers.* " + tail
    how = exercise.answer.asked_of(None if variants and exercise.given else exercise.variant())
    return "\n\n".join(part for part in (head, text.strip(), how, tail) if part)


def points(exercise: Exercise) -> str:
    """ "1 point", "3 points"."""
    return f"{exercise.points:g} point" + ("" if exercise.points == 1 else "s")


def how_to_answer(exercise: Exercise) -> str:
    """The kind of value that the answer cell is to hold, and what it must do without, as a sentence without its full
    stop."""
    predict = "it is a prediction, and its points are for making one" if exercise.predict else ""
    return "; ".join(part for part in (exercise.answer.how, predict, not_for_use(exercise.withholds)) if part)


def _named(
    name: Any, cell: NotebookNode, bank: Mapping[str, Exercise], used: list[str], source: ChapterSource | None
) -> Exercise:
    where = source.at(str(name)) if source else f"cell {cell.id}"
    if name not in bank:
        close = difflib.get_close_matches(str(name), list(bank), n=1, cutoff=0.5)
        known = f"did you mean {close[0]}? " if close else ""
        raise ChapterError(f"{where}: unknown exercise {name!r}; {known}declared are: {', '.join(bank) or 'none'}")
    if name in used:
        raise ChapterError(f"{where}: the exercise {name!r} is asked twice in this chapter; once was expected")
    if cell.cell_type != "code":
        raise ChapterError(
            f"{where}: the exercise {name!r} is named by a {cell.cell_type} cell; a code cell was expected"
        )
    if bank[name].answer.judged_by is not JudgedBy.TEACHER and not 0 <= cell.source.find(BEGIN) < cell.source.find(END):
        raise ChapterError(f"{where}: the cell of {name!r} lacks its solution between '{BEGIN}' and '{END}'")
    return bank[name]


def _cells(
    cell: NotebookNode, exercise: Exercise, label: str, edition: str, variants: bool, alone: bool
) -> list[NotebookNode]:
    from nbformat.v4 import new_code_cell, new_markdown_cell

    name, stub = exercise.id, exercise.stub()

    def metadata(part: str, grade_id: str, **nbgrader: Any) -> dict[str, Any]:
        base = {"schema_version": 3, "task": False, "grade": False, "solution": False, "locked": True}
        graded = base | {"grade_id": grade_id} | nbgrader
        return {"nbgrader": graded, "gpubook": {"exercise": name, "part": part}}

    prompt = new_markdown_cell(
        prompt_markdown(exercise, label, variants=variants, alone=alone),
        id=f"{name}-prompt",
        metadata=metadata("prompt", f"{name}-prompt"),
    )
    prompt.metadata["gpubook"]["number"] = label
    if exercise.answer.judged_by is JudgedBy.TEACHER:
        own = metadata("answer", name, solution=True, locked=False, grade=True, points=exercise.points)
        model = exercise.expected(exercise.variant())
        text = new_markdown_cell(stub if edition == "learner" else model, id=name, metadata=own)
        text.metadata["gpubook"]["stub"] = stub
        return [prompt, *_numbers(exercise, metadata, variants), text]
    answer = new_code_cell(
        stub if edition == "learner" else cell.source,
        id=name,
        metadata={**cell.metadata, **metadata("answer", name, solution=True, locked=False)},
    )
    answer.metadata["gpubook"]["stub"] = stub
    grade = new_code_cell(
        f'grade("{name}", {exercise.answer_name})',
        id=f"{name}-grade",
        metadata=metadata("grade", f"{name}-grade", grade=True, points=exercise.points),
    )
    return [prompt, *_numbers(exercise, metadata, variants), answer, grade]


def _numbers(exercise: Exercise, metadata: Callable[..., dict[str, Any]], variants: bool) -> list[NotebookNode]:
    """The cell that shows each learner their own numbers, where there are any."""
    from nbformat.v4 import new_code_cell

    if not (variants and exercise.given):
        return []
    name = exercise.id
    numbers = new_code_cell(
        f'from autograder import exercise\n\nexercise("{name}")',  # whatever the chapter itself imports
        id=f"{name}-numbers",
        metadata=metadata("numbers", f"{name}-numbers"),
    )
    return [numbers]


def _unique(cells: list[NotebookNode], source: ChapterSource | None) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            where = source.at(cell.id) if source else "the notebook"
            raise ChapterError(f"{where}: two cells have the id {cell.id!r}; an nbgrader grade_id must be unique")
        seen.add(cell.id)
