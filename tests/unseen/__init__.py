"""Answers to the book's exercises, written from their prompts by people who had not read the judge.

They are data, which nothing imports: a file for each exercise that is judged by machine, `<chapter>/<exercise
id>.answers`, with cells as a learner would write them, right ones in unusual forms and wrong ones that no mistake
declares:

    # %% right: as a text in milliseconds
    g = given("rooflines-vector-add")
    answer = f"{3*g['b']*g['N']/g['W']*1e3:.4g} ms"
    # %% wrong: forgets the store
    ...

`<chapter>/told.json` has what each wrong one is told, and how a second reader rates the sentence, who sees the prompt,
the answer and the sentence only: 0 wrong or misleading, 1 generic, 2 helpful, 3 names the very mistake.
`python -m tests.unseen` writes it anew: a rating stays where its sentence does.
"""

from __future__ import annotations

import functools
import io
import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.answers import domains_from
from autograder.declaration import Bank, Exercise, Verdict, load_bank
from autograder.declaration.answer import JudgedBy
from autograder.ranks import seeds
from autograder.values import encoding
from tests.banks import SOLUTIONS, banks

HERE = Path(__file__).resolve().parent
BOOK = HERE.parent.parent
SUFFIX, TOLD = ".answers", "told.json"
NUMBERS_OF = "unseen answers"  # what is told may depend on the numbers that are drawn
RATINGS = {0: "wrong or misleading", 1: "generic", 2: "helpful", 3: "names the mistake"}
DRAWN = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")  # a number that is drawn anew each time
NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")  # and which element it is found in, where arrays are drawn
MARK = re.compile(r"^# %% (right|wrong): (.+)\n", re.MULTILINE)
HEAD = re.compile(r"^# *%%.*$", re.MULTILINE)  # of a cell, or what was meant for one


@dataclass(frozen=True)
class Cell:
    """An answer cell: whether a fair teacher takes it for right, what its author thought, and its code."""

    right: bool
    title: str
    source: str

    @property
    def draws(self) -> bool:
        """Whether it computes with the numbers of its prompt, whichever they are."""
        return "given(" in self.source


def exercises() -> dict[str, tuple[str, Exercise]]:
    """The exercises that a machine judges for more than having been predicted, with their chapter, by id."""
    found = {}
    for chapter, bank in banks().items():
        for exercise in bank.values():
            if _has_forms(exercise):
                found[exercise.id] = (chapter, exercise)
    return found


def _has_forms(exercise: Exercise) -> bool:
    """Whether there are other forms of a right answer than the one: not for an option, nor for words."""
    by_machine = exercise.answer.judged_by is not JudgedBy.TEACHER
    return by_machine and not exercise.predict and not hasattr(exercise.answer, "options")


def cells(chapter: str, exercise_id: str) -> list[Cell]:
    """The answers to an exercise; none where the file is missing."""
    path = HERE / chapter / f"{exercise_id}{SUFFIX}"
    return read(path.read_text(encoding="utf-8"), path.name) if path.is_file() else []


def read(text: str, name: str) -> list[Cell]:
    """The cells of a file; ValueError where a line of it belongs to none, or begins one that is neither."""
    before, *parts = MARK.split(text)
    if strays := [line for line in (before.strip(), *HEAD.findall(MARK.sub("", text))) if line]:
        raise ValueError(f"{name}: {strays[0]!r} stands where `# %% right: ...` or `# %% wrong: ...` was expected")
    return [
        Cell(kind == "right", title.strip(), source)
        for kind, title, source in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def defining(chapter: str) -> str:
    """The first code cell of a learner's notebook, and what other cells import."""
    notebook = json.loads((BOOK / "chapters" / chapter / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    first, *others = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    lines = [line for source in others for line in source.splitlines()]
    return "\n".join([first, *(line for line in lines if re.match(r"import |from \S+ import [^(]+$", line))])


@functools.cache
def _names(chapter: str) -> dict[str, Any]:
    """What these lines define."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with chdir(BOOK / "chapters" / chapter):
        exec(compile(defining(chapter), f"{chapter}: imports", "exec"), names)
    return names


def rows(exercise: Exercise, cell: Cell) -> list[dict[str, Any]]:
    """The numbers with which a cell is tried: the book's, and some of those that are drawn for a right one. A wrong way
    may lead to the right number with others: then it is the other side of a maximum that decides."""
    drawn = exercise.drawn()
    return [exercise.variant(), *(drawn[1 :: max(1, len(drawn) // 4)] if cell.right and cell.draws else ())]


def answered(chapter: str, exercise: Exercise, cell: Cell, row: dict[str, Any], submission: str = "") -> Verdict:
    """The verdict on what a cell sets, with the numbers of `row` where it asks for them, and the cases of a submission
    or else those of all who work alone."""
    before = _names(chapter) | {"given": lambda _: dict(row), "symbols": lambda _: symbols(exercise)}
    names = dict(before)
    with chdir(BOOK / "chapters" / chapter), redirect_stdout(io.StringIO()):
        exec(compile(cell.source, f"{exercise.id}: {cell.title}", "exec"), names)
        value = names.get(exercise.answer_name)
        if value is before.get(exercise.answer_name):
            raise LookupError(f"{exercise.id}, {cell.title}: the cell sets no {exercise.answer_name}")
        message = json.loads(json.dumps(encoding.encode(value)))
        call = exercise.answer.local_call(value, exercise.withholds) if callable(value) else None
        with seeds.repeated(NUMBERS_OF), seeds.seeded(submission):
            return exercise.judge_message(message, row, call)


@functools.cache
def _bank(chapter: str) -> Bank:
    return load_bank(SOLUTIONS / chapter)


def prepare(chapter: str) -> None:
    """Load what all answers to a chapter's exercises need."""
    _bank(chapter), _names(chapter)


def verdicts(chapter: str, exercise_id: str, titles: Collection[str]) -> list[dict[str, Any]]:
    """The verdict on each answer of these titles for each row of numbers, or the error with which it failed."""
    exercise = _bank(chapter)[exercise_id]
    return [
        {"title": cell.title, "numbers": repr(row), **_judged(chapter, exercise, cell, row)}
        for cell in cells(chapter, exercise_id)
        if cell.title in titles
        for row in rows(exercise, cell)
    ]


def _judged(chapter: str, exercise: Exercise, cell: Cell, row: dict[str, Any]) -> dict[str, Any]:
    try:
        verdict = answered(chapter, exercise, cell, row)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"score": float(verdict.score), "kind": verdict.kind, "reason": verdict.reason, "say": verdict.say}


def depends_on(chapter: str, exercise_id: str) -> list[str]:
    """The files that its verdicts follow from, beside what is imported and `defining`: the answers, the declarations,
    and what lies beside these and the notebook."""
    files = [path for path in (SOLUTIONS / chapter).rglob("*") if path.name != f"{chapter}.md"]
    files += [path for path in (BOOK / "chapters" / chapter).rglob("*") if path.name != f"{chapter}.ipynb"]
    files = [path for path in files if path.is_file() and "__pycache__" not in path.parts]
    own = [HERE / "__init__.py", HERE.parent / "banks.py", HERE / chapter / f"{exercise_id}{SUFFIX}"]
    return sorted(path.relative_to(BOOK).as_posix() for path in (*own, *files))


def symbols(exercise: Exercise) -> Any:
    """What the notebook's `symbols` gives."""
    made = tuple(domain.symbol(name) for name, domain in domains_from(exercise.public()["symbols"]).items())
    return made[0] if len(made) == 1 else made


def told(chapter: str) -> dict[str, dict[str, dict[str, Any]]]:
    """By exercise and title, what each wrong answer was told when the file was written, and its rating."""
    path = HERE / chapter / TOLD
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def tell(chapters: Sequence[str] = ()) -> Iterator[tuple[str, Exercise, Cell, Verdict | Exception]]:
    """Every answer, or those of the chapters, with its chapter, exercise, and verdict with the book's numbers."""
    for chapter, exercise in exercises().values():
        for cell in cells(chapter, exercise.id) if chapter in chapters or not chapters else ():
            try:
                yield chapter, exercise, cell, answered(chapter, exercise, cell, exercise.variant())
            except Exception as error:
                yield chapter, exercise, cell, error


def write(chapters: Sequence[str] = ()) -> dict[str, int]:
    """Write what each wrong answer is told; the count of what was found."""
    made: dict[str, dict[str, dict[str, Any]]] = {}
    counts = {"right": 0, "wrong": 0, "refused": 0, "taken": 0, "failed": 0, "unrated": 0}
    for chapter, exercise, cell, verdict in tell(chapters):
        counts["right" if cell.right else "wrong"] += 1
        if isinstance(verdict, Exception):
            counts["failed"] += 1
            print(f"FAILED   {exercise.id}: {cell.title}: {type(verdict).__name__}: {verdict}")
            continue
        if cell.right != (verdict.score == 1):
            counts["refused" if cell.right else "taken"] += 1
            print(f"{'REFUSED' if cell.right else 'TAKEN  '}  {exercise.id}: {cell.title}: {verdict.say}")
        if not cell.right:
            before = told(chapter).get(exercise.id, {}).get(cell.title, {})
            anew = NUMBERS if exercise.answer.plays else DRAWN
            same = "say" in before and anew.sub("#", before["say"]) == anew.sub("#", verdict.say)
            rating, say = (before["rating"], before["say"]) if same else (None, verdict.say)
            counts["unrated"] += rating is None
            record = {"kind": verdict.kind, "reason": verdict.reason, "rating": rating, "say": say}
            made.setdefault(chapter, {}).setdefault(exercise.id, {})[cell.title] = record
    for chapter, record in made.items():
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        (HERE / chapter).mkdir(exist_ok=True)
        (HERE / chapter / TOLD).write_text(text, encoding="utf-8")
    return counts
