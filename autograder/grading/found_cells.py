"""Cells of a submission that have lost their metadata, found again by what stands in them and around them.

An editor, a converter or a copy into another notebook may drop what says which cell is whose. A prompt is known by its
text, a grade cell by its `grade("id", ...)`, and an answer by the name that it binds, or as the cell below its prompt.
Nothing is won by it: a locked cell is replaced by the release's, and each has one place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

from ..answers.written import untouched
from ..values.cell_names import names_of

KEY = "answer_cells"  # in the metadata of a restored notebook, below "gpubook"
HEAD = re.compile(r"\*\*Exercise \S+\*\*(?: · .+)?(?= · )")  # number and title of a prompt, without the points
LOST = "Your notebook has no cell for this answer: it was deleted, or has lost the metadata that marks it."


@dataclass(frozen=True)
class FoundCells:
    """The answer cells of a submission that had no metadata, by exercise: which were `missing`, of so many `asked`, and
    which of these were `found` again; how many other cells of its `own` it has; and of which exercises it has several
    (`repeated`)."""

    asked: int = 0
    missing: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    own: int = 0
    repeated: tuple[str, ...] = ()

    @classmethod
    def of(cls, nb: Any) -> Self:
        """What a restored notebook says of itself; of any other, nothing."""
        about = nb.metadata.get("gpubook", {})
        return cls.of_plain(about.get(KEY) if isinstance(about, dict) else None)

    @classmethod
    def of_plain(cls, plain: Any) -> Self:
        """From JSON, which may be a learner's."""
        if not isinstance(plain, dict):
            return cls()
        missing, again, repeated = (_texts(plain.get(key)) for key in ("missing", "found", "repeated"))
        return cls(_count(plain.get("asked")), missing, again, _count(plain.get("own")), repeated)

    def as_plain(self) -> dict[str, Any]:
        """As JSON."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @property
    def lost(self) -> tuple[str, ...]:
        """The exercises whose answer cell is not there, and was not found again."""
        return tuple(name for name in self.missing if name not in self.found)

    @property
    def sentence(self) -> str:
        """What there is to say of it, behind the name of whoever submitted it; "" where all is as it should be."""
        parts = []
        if self.missing:
            there = self.asked - len(self.missing)
            cells = f"{self.own} cell{'' if self.own == 1 else 's'} of its own"
            parts.append(f"has {there or 'none'} of the {self.asked} answer cells, and {cells}")
        if self.found:
            parts.append(f"{len(self.found)} found again by prompt, name or `grade` line")
        if self.lost:
            parts.append(f"not found: {', '.join(self.lost)}")
        if self.repeated:
            several = f"several answer cells of {', '.join(self.repeated)}: the last counts"
            parts.append(several if parts else f"has {several}")
        return "; ".join(parts)

    def after(self, earlier: FoundCells, exercises: Sequence[str]) -> FoundCells:
        """The same of a notebook that was restored before, when `earlier` was said of it: what was put back or found
        then is no longer missing."""
        before = [name for name in earlier.missing if name in exercises and name not in self.missing]
        missing = tuple(name for name in exercises if name in self.missing or name in before)
        again = (*self.found, *(name for name in before if name in earlier.found))
        own = max(self.own, earlier.own) if before else self.own
        repeated = tuple(name for name in exercises if name in self.repeated or name in earlier.repeated)
        return FoundCells(self.asked, missing, again, own, repeated)


ALL_THERE = FoundCells()


def _count(value: Any) -> int:
    return value if type(value) is int else 0


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


@dataclass(frozen=True)
class ExerciseCells:
    """An exercise of a release: its id, the names of its cells ("" for one that it does not have), and the variable
    that is its answer; `written`: it is answered in words."""

    exercise: str
    prompt: str = ""
    answer: str = ""
    grade: str = ""
    written: bool = False
    variable: str = ""


class Search:
    """The search in `cells` for what `names` (by cell) do not name of a release.

    `originals` are the release's cells by name, `plain` the texts of its other cells, which are no learner's.
    """

    def __init__(
        self, cells: Sequence[Any], names: Sequence[str | None], originals: Mapping[str, Any], plain: set[str]
    ):
        self.cells, self.originals, self.plain = cells, originals, plain
        self.names = {at: name for at, name in enumerate(names) if name is not None and name in originals}
        self.found: dict[int, str] = {}
        self.repeated: set[str] = set()  # exercises of which other cells may be the answer, too

    def run(self, exercises: Sequence[ExerciseCells]) -> dict[int, str]:
        """By its number, the name of each cell that was found again."""
        self._same_text()
        for exercise in exercises:
            self._prompt(exercise)
        for exercise in exercises:
            self._grade(exercise)
        for exercise in exercises:
            self._answer(exercise)
        for exercise in exercises:
            if exercise.written and self._missing(exercise.answer):
                self._take(self._between_others(exercise), exercise.answer)
        return self.found

    @cached_property
    def _texts(self) -> list[str]:
        return [normalised(cell.source) for cell in self.cells]

    def free(self, at: int) -> bool:
        """Whether a cell is the learner's own, as far as anybody knows."""
        return at not in self.names and bool(self._texts[at]) and self._texts[at] not in self.plain

    def at(self, name: str) -> int | None:
        """Where the cell of that name is; of several the last."""
        return max((at for at, own in self.names.items() if own == name), default=None) if name else None

    def _take(self, at: int | None, name: str) -> None:
        if at is not None:
            self.names[at] = self.found[at] = name

    def _missing(self, name: str) -> bool:
        return bool(name) and self.at(name) is None

    def _same_text(self) -> None:
        """Locked cells other than grade cells, of which the place matters: the last cell with the same text."""
        for name, original in self.originals.items():
            own = original.metadata["nbgrader"]
            if own.get("solution") or own.get("grade") or not self._missing(name):
                continue
            text = normalised(original.source)
            same = [at for at in range(len(self.cells)) if self.free(at) and self._texts[at] == text]
            self._take(max(same, default=None), name)
            if len(same) > 1 and (exercise := _exercise_of(original)):
                self.repeated.add(exercise)

    def _prompt(self, exercise: ExerciseCells) -> None:
        """A prompt of another wording: number and title, where only one cell has them."""
        if not self._missing(exercise.prompt) or (head := HEAD.match(self.originals[exercise.prompt].source)) is None:
            return
        same = [at for at in range(len(self.cells)) if self.free(at) and self._begins(at, head[0])]
        self._take(same[0] if len(same) == 1 else None, exercise.prompt)

    def _begins(self, at: int, head: str) -> bool:
        own = HEAD.match(self.cells[at].source.lstrip())
        return self.cells[at].cell_type == "markdown" and own is not None and own[0] == head

    def _grade(self, exercise: ExerciseCells) -> None:
        """A cell that does nothing but grade: the last below the prompt, as of those with metadata, or the last of all
        where there is none."""
        if not self._missing(exercise.grade):
            return
        calls = [at for at in range(len(self.cells)) if self.free(at) and self._graded(at) == (exercise.exercise, True)]
        section = self._section(exercise)
        near = [at for at in calls if section is not None and at in section]
        self._take(max(near or calls, default=None), exercise.grade)
        if len(calls) > 1:
            self.repeated.add(exercise.exercise)

    def _graded(self, at: int) -> tuple[str, bool] | None:
        return graded_in(self.cells[at].source) if self.cells[at].cell_type == "code" else None

    def _section(self, exercise: ExerciseCells) -> range | None:
        """The cells below an exercise's prompt, up to the next that is the chapter's or another exercise's."""
        if (prompt := self.at(exercise.prompt)) is None:
            return None
        mine = {name for name, cell in self.originals.items() if _exercise_of(cell) == exercise.exercise}
        end = prompt + 1
        while (
            end < len(self.cells)
            and self.names.get(end, exercise.prompt) in mine
            and self._texts[end] not in self.plain
        ):
            end += 1
        return range(prompt + 1, end)

    def _answer(self, exercise: ExerciseCells) -> None:
        if not self._missing(exercise.answer):
            return
        kinds = ("markdown", "raw") if exercise.written else ("code",)
        near = list[int]()
        for place in self._places(exercise):
            near = near or [at for at in place if self.free(at) and self.cells[at].cell_type in kinds]
        if exercise.written:
            self._take(self._in_words(exercise, near), exercise.answer)
            return
        binding = [at for at in near if self._binds(at, exercise.variable)] or near[:1]
        self._take(binding[-1] if binding else self._by_name(exercise), exercise.answer)

    def _places(self, exercise: ExerciseCells) -> Iterator[range]:
        """Where an answer may be: below its prompt, and above its grade cell; and right above a grade cell that is
        somewhere else."""
        section, grade = self._section(exercise), self.at(exercise.grade)
        if section is not None:
            yield range(section.start, grade) if grade is not None and grade in section else section
        if grade is not None and (section is None or grade not in section):
            yield range(self._before(grade), grade)

    def _in_words(self, exercise: ExerciseCells, near: Sequence[int]) -> int | None:
        """The last of these cells in which something is written that is not a part of the prompt, or else the first."""
        prompt = self.at(exercise.prompt)
        asked_text = self._texts[prompt] if prompt is not None else ""
        original = normalised(self.originals[exercise.prompt].source) if exercise.prompt else ""
        written = [at for at in near if not untouched(self.cells[at].source)]
        own = [at for at in written if self._texts[at] not in original or self._texts[at] in asked_text] or written
        if len(own) > 1:
            self.repeated.add(exercise.exercise)
        return max(own, default=near[0] if near else None)

    def _between_others(self, exercise: ExerciseCells) -> int | None:
        """The answer in words whose prompt is not there either: the only own text between what comes before it in the
        release and what comes after it, if it is the only one that is missing there. Of several, nobody can tell."""
        order = {name: rank for rank, name in enumerate(self.originals)}
        rank, ranks = order[exercise.answer], {at: order[name] for at, name in self.names.items()}
        start = max((at for at, other in ranks.items() if other < rank), default=-1)
        end = min((at for at, other in ranks.items() if other > rank), default=len(self.cells))
        low, high = ranks.get(start, -1), ranks.get(end, len(order))
        others = [self.originals[name] for name, at in order.items() if low < at < high and at != rank]
        if any(cell.metadata["nbgrader"].get("solution") and cell.metadata["nbgrader"].get("grade") for cell in others):
            return None
        own = [at for at in range(start + 1, end) if self.free(at) and self.cells[at].cell_type in ("markdown", "raw")]
        written = [at for at in own if not untouched(self.cells[at].source)]
        return written[0] if len(written) == 1 else None

    def _before(self, grade: int) -> int:
        """Where the learner's own cells begin that end at a grade cell."""
        start = grade
        while start and self.free(start - 1) and self._graded(start - 1) is None:
            start -= 1
        return start

    def _binds(self, at: int, variable: str) -> bool:
        own = names_of(self.cells[at].source)
        return own is not None and variable in own.binds

    def _by_name(self, exercise: ExerciseCells) -> int | None:
        """Anywhere, the last cell that defines what only this exercise asks for, or that grades it on the way."""
        code = [at for at in range(len(self.cells)) if self.free(at) and self.cells[at].cell_type == "code"]
        own = exercise.variable not in ("", "answer")
        named = [at for at in code if own and self._binds(at, exercise.variable)]
        return max(named or [at for at in code if self._graded(at) == (exercise.exercise, False)], default=None)


def asked(originals: Mapping[str, Any]) -> list[ExerciseCells]:
    """The exercises of a release's cells, in their order."""
    parts: dict[str, dict[str, str]] = {}
    for name, cell in originals.items():
        own, part = cell.metadata["nbgrader"], cell.metadata.get("gpubook", {}).get("part", "")
        if (exercise := _exercise_of(cell)) and part in ("prompt", "answer", "grade"):
            parts.setdefault(exercise, {})[part] = name
            if part == "answer" and own.get("grade"):
                parts[exercise]["written"] = name
    return [
        ExerciseCells(
            exercise,
            own.get("prompt", ""),
            own.get("answer", ""),
            own.get("grade", ""),
            "written" in own,
            variable_of(originals[own["grade"]].source) if "grade" in own else "",
        )
        for exercise, own in parts.items()
    ]


def _exercise_of(cell: Any) -> str:
    name = cell.metadata.get("gpubook", {}).get("exercise", "")
    return name if isinstance(name, str) else ""


def normalised(text: str) -> str:
    """A text without what an editor may change: white space."""
    return " ".join(text.split())


def graded_in(source: str) -> tuple[str, bool] | None:
    """The exercise that a cell grades, and whether it does nothing else; None where it grades none."""
    if "grade" not in source:
        return None
    calls = [(name, count) for name, count, _ in calls_of(source)]
    lines = [line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len({name for name, _ in calls}) != 1:
        return None
    return calls[0][0], len(calls) == 1 and calls[0][1] == len(lines)


def calls_of(source: str) -> Iterator[tuple[str, int, int]]:
    """The ids in lines `grade("id", ...)` of a cell, how many lines each takes, and the number of the last."""
    if "grade" not in source:
        return
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for line in body:
        call = line.value if isinstance(line, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "grade" and call.args:
            first = call.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                end = line.end_lineno or line.lineno
                yield first.value, end - line.lineno + 1, end


def variable_of(source: str) -> str:
    """The variable that a released grade cell hands over; "" where it is none of ours."""
    match = re.fullmatch(r"""grade\(\s*["'][^"']*["']\s*,\s*(\w+)\s*\)""", source.strip())
    return match[1] if match else ""
