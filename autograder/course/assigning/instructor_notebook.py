"""What an assignment is made of: a chapter or some of its exercises, the teacher's own exercises, the
teacher's own text."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...book.bibliography import Bibliography
from ...book.course_error import CourseError
from ...book.source import chapters, notebook, subset
from ...book.source.captions import add_captions
from ...book.source.contents import contents
from ...book.source.notebook import ChapterSource
from ...book.source.roles import Roles
from ...declaration.bank import Bank
from ...declaration.renewal import renewed
from ...declaration.worked import BEGIN, END
from ...values.book_root import book_root
from ..banks import CourseBank, load_own
from .exercise_points import set_points, with_points

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..service.settings import CheckService


ASKS = re.compile(r"""^:?[ ]*exercise:[ ]*["']?([\w-]+)""", re.MULTILINE)  # of a cell of a teacher's text
SETUP = "from autograder import check, exercise, given, grade, hint, how_to_answer, reveal, solution, symbols"


def stage(
    folder: Path,
    name: str,
    *,
    chapter: str | None = None,
    exercises: Sequence[str] | None = None,
    text: Path | None = None,
    variants: bool = False,
    due: datetime | None = None,
    shows_solutions: bool = False,
    without: Sequence[str] = (),
    points: Mapping[str, float] = MappingProxyType({}),
    earlier: Mapping[str, float] = MappingProxyType({}),
    service: CheckService | None = None,
) -> Path:
    """Write the instructor's notebook of the assignment `name` into the course's source/NAME/ and return it.

    `chapter` alone: the whole chapter. With `exercises`: those of the chapter that are named, in its order and with
    its text, then those of the teacher's own (declared in exercises/*.py) that are named. `text`: the
    teacher's own chapter, a MyST file whose cells ask exercises of exercises/*.py, or of `chapter`. Learners' notebooks
    know when it is `due`, in UTC, whether feedback shows solutions from then on, and which check `service` judges the
    teacher's own exercises until then. `without`: of a whole chapter, the exercises to leave out. `points`: of
    exercises that are to have others than they declare; `earlier`: those that were given before, of what is asked.
    """
    if text is not None and exercises is not None:
        raise CourseError(f"{text} already names its exercises; a list of exercises was not expected")
    if chapter is None and text is None and not exercises:
        raise CourseError("nothing to assign: a chapter, exercises or a text was expected")
    made = chapters.load(book_root(), chapter, variants=variants, course=True) if chapter else None
    if made is not None and without:
        exercises = _all_but(made, without, exercises)
    elif without:
        raise CourseError(f"{', '.join(without)}: left out of a chapter; which one was expected, by `chapter`")
    booked = [made.bank] if made is not None and isinstance(made.bank, Bank) else []
    if text is not None:
        wanted = ASKS.findall(text.read_text(encoding="utf-8", errors="replace")) if text.is_file() else []
    else:
        wanted = list(exercises if exercises is not None else made.exercises if made is not None else ())
    own = own_bank(folder, wanted)
    # where both declare an exercise, the course's own word counts, as it does for the judge
    bank = _joined([*booked, own])
    target = folder / "source" / name
    if text is not None:
        nb = _from_text(text, bank, variants, chapter or name)
    else:
        nb = _chosen(made, own, exercises, variants, name)
    notebook.point_to_guide(nb)
    questions = notebook.used_exercises(nb)
    every = {key: value for key, value in earlier.items() if key in questions} | dict(points)
    worth = {key: with_points(bank, questions, key, value) for key, value in every.items()}
    for cell in nb.cells:
        set_points(cell, bank, worth)
    target.mkdir(parents=True, exist_ok=True)
    if made is not None and text is None:
        _copy_files(made, target)
    about: dict[str, Any] = {
        "name": name,
        "due": f"{due:%Y-%m-%d %H:%M} UTC" if due else "",
        "shows_solutions": shows_solutions,
    }
    if service is not None and (asks := service.public({key: own[key] for key in questions if key in own})):
        about["service"] = asks
    released = Bank([worth.get(key, bank[key]) for key in questions])
    (target / "exercises.json").write_text(chapters.as_json(released, variants, assignment=about), encoding="utf-8")
    path = target / f"{name}.ipynb"
    _write(nb, path)
    return path


def own_bank(folder: Path, asked: Sequence[str] | None = None) -> CourseBank:
    """The teacher's own exercises, declared in the course's exercises/*.py; an id may be used once.

    A file that cannot be loaded stops what is `asked` of it, and is left out otherwise; see `load_own`.
    """
    files = sorted((folder / "exercises").glob("*.py"))
    banks, left_out = load_own(files, renewed, asked)
    seen: dict[str, Bank] = {}
    for bank in banks:
        if twice := [key for key in bank if key in seen]:
            raise CourseError(
                f"{bank.path}: the exercise {twice[0]!r} is declared in {seen[twice[0]].path} too; "
                "a unique id was expected"
            )
        seen |= dict.fromkeys(bank, bank)
    return _joined(banks, left_out)


def _joined(banks: Sequence[Bank], left_out: Sequence[str] = ()) -> CourseBank:
    joined = CourseBank(banks, left_out)
    joined.namespace = {name: value for bank in banks for name, value in bank.namespace.items()}
    return joined


def _all_but(made: chapters.Chapter, without: Sequence[str], exercises: Sequence[str] | None) -> list[str]:
    if exercises is not None:
        raise CourseError(f"{', '.join(without)}: left out of the exercises that are named; leave them out of the list")
    if unknown := [key for key in without if key not in made.exercises]:
        raise CourseError(f"{made.name} has no exercise {', '.join(unknown)}; it has {', '.join(made.exercises)}")
    return [key for key in made.exercises if key not in without]


def _chosen(
    made: chapters.Chapter | None, own: CourseBank, exercises: Sequence[str] | None, variants: bool, name: str
) -> NotebookNode:
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    booked = made.exercises if made is not None else []
    chosen = list(dict.fromkeys(exercises if exercises is not None else booked))
    if unknown := [key for key in chosen if key not in booked and key not in own]:
        have = f"{made.name} has no exercise" if made is not None else "the course declares no exercise"
        known = ", ".join([*booked, *own]) or "none; declare your own in exercises/*.py, or name a chapter"
        more = "".join(f"; left out: {error}" for error in own.left_out)
        raise CourseError(f"{have} {', '.join(unknown)}; it has {known}{more}")
    mine = [key for key in chosen if key not in booked]
    cells = [
        new_code_cell(f"{BEGIN}\n# {key}: its solution is declared in exercises/\n{END}", metadata={"exercise": key})
        for key in mine
    ]
    if made is None:
        cells = [new_markdown_cell(f"# {name}"), new_code_cell(SETUP), *cells]
    for number, cell in enumerate(cells):
        cell.id = f"own-{number}"
    extra = new_notebook(cells=cells)
    after: dict[str, Any] = {} if made is None else {"chapter": made.name, "before": len(booked)}
    extra = notebook.expand(extra, own, variants=variants, **after)
    if made is None:
        extra.metadata = _metadata(name)
        return extra
    nb = nbformat.from_dict(made.instructor)
    nb.cells = subset.without(nb, [key for key in booked if key not in chosen]) + extra.cells
    return nb


def _from_text(text: Path, bank: CourseBank, variants: bool, chapter: str) -> NotebookNode:
    source = ChapterSource.read(text)
    nb = notebook.expand(notebook.read(source), bank, source=source, chapter=chapter, variants=variants)
    root = book_root()
    roles = Roles(bank.namespace, source, Bibliography(root / "docs" / "references.bib"), contents(root), linked=False)
    add_captions(nb, source)
    for cell in nb.cells:
        if "alt" in cell.metadata:
            cell.metadata["alt"] = roles.learner(cell.metadata["alt"])
        if cell.cell_type == "markdown":
            cell.source = roles.learner(cell.source)
    nb.metadata = _metadata(chapter)
    return nb


def _copy_files(made: chapters.Chapter, target: Path) -> None:
    """What else a chapter releases beside its notebook: its pictures and data."""
    with tempfile.TemporaryDirectory(dir=target) as scratch:
        staged = chapters.stage(made, Path(scratch))
        staged.unlink()
        shutil.copytree(staged.parent, target, dirs_exist_ok=True)


def _metadata(chapter: str) -> Any:
    import nbformat

    kernel = {"kernelspec": notebook.KERNEL, "language_info": {"name": "python"}}
    return nbformat.from_dict(kernel | {"gpubook": {"chapter": chapter}})


def _write(nb: NotebookNode, path: Path) -> None:
    import nbformat

    nbformat.validate(nb)
    nbformat.write(nb, path)
