"""The declaration of an exercise: one frozen record that the notebook, the check, the grade and the book all
read."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import itertools
import math
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import plain
from .prompts import FIELD, fill, letter, quoted

if TYPE_CHECKING:
    from .answers import Answer

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
MAX_VARIANTS = 10_000
Given = Mapping[str, Any]


class DeclarationError(ValueError):
    """An exercise, or a file of exercises, is not declared as it should be; the message names it."""


class AnswerError(Exception):
    """A learner's function failed on an input; the message is for the learner."""


@dataclass(frozen=True)
class Verdict:
    """What the judge says: a score between 0 and 1, a sentence in Markdown, and the kind of the verdict.

    Kinds: right, predicted; empty, unreadable, unit, mistake, slip, variant, wrong; waiting (for a teacher);
    recorded (no key at hand).
    """

    score: float
    say: str
    kind: str = "wrong"

    @property
    def sign(self) -> str:
        """✓, ✗, or … where nothing was judged."""
        return {"right": "✓", "predicted": "✓", "recorded": "…", "empty": "…", "waiting": "…"}.get(self.kind, "✗")

    def _repr_markdown_(self) -> str:
        return f"{self.sign} {self.say}"

    def __str__(self) -> str:
        return f"{self.sign} {self.say}"

    __repr__ = __str__


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that learners give, and the sentence that leads on without giving the right one away.

    `value`: a callable of the given (Quantity, Count) or of the symbols (Expression), a function (Function),
    a generator (Algorithm), an option (Choice).
    """

    value: Any
    say: str


@dataclass(frozen=True)
class Exercise:
    """One exercise. `solution` and the mistakes' values are callables of the given (or of the symbols), or
    plain values.

    `given`: a dict of lists (variants are all combinations) or a list of dicts (rows that belong together);
    the first of each are the book's numbers. `explain` follows a right answer; `lines` sizes the stub;
    `withholds` names modules of the library that the learner is to do without. Raises DeclarationError where
    a field cannot be what it should.
    """

    id: str
    prompt: str
    answer: Answer
    solution: Any
    points: float = 1
    given: Any = field(default_factory=dict)
    mistakes: Sequence[Mistake] = ()
    hints: Sequence[str] = ()
    predict: bool = False
    withholds: Sequence[str] = ()
    title: str = ""
    lines: int = 2
    explain: str = ""
    _memory: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self):
        if type(self.id) is not str or not ID.fullmatch(self.id):
            raise DeclarationError(
                f"exercise id {self.id!r}: lower-case words joined by '-' were expected, as 'rooflines-ridge'"
            )
        for name in ("mistakes", "hints", "withholds"):
            value = getattr(self, name)
            if isinstance(value, (str, Mistake)):
                raise DeclarationError(
                    f"{self.id}: {name} is one {type(value).__name__}; a tuple was expected (a comma is missing)"
                )
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.points, (int, float)) or not 0 < self.points < math.inf:
            raise DeclarationError(f"{self.id}: points is {self.points!r}; a positive number was expected")
        if not hasattr(self.answer, "judge"):
            raise DeclarationError(
                f"{self.id}: answer is {self.answer!r}; a Quantity, Count, Choice, Expression, Function, "
                "Algorithm, Distributed or Written was expected"
            )
        if self.predict and not self.answer.predictable:
            raise DeclarationError(f"{self.id}: a prediction is a Choice or a Quantity, not {self.kind}")
        rows = self.given if isinstance(self.given, (list, tuple)) else [self.given]
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise DeclarationError(
                f"{self.id}: given is {self.given!r}; a dict of lists or a list of dicts was expected"
            )
        if self.variant_count > MAX_VARIANTS:
            raise DeclarationError(f"{self.id}: {self.variant_count} variants; at most {MAX_VARIANTS} were expected")
        if len({frozenset(row) for row in rows}) != 1:
            raise DeclarationError(f"{self.id}: the rows of given have different names")
        self.answer.declare(self)

    @property
    def kind(self) -> str:
        """ "Quantity", "Count", "Choice", "Expression", "Function", "Algorithm", "Distributed" or "Written"."""
        return type(self.answer).__name__

    @property
    def size(self) -> str:
        """How long an answer is, for its stub."""
        return f"about {self.lines} line{'s' if self.lines > 1 else ''}"

    @property
    def variant_count(self) -> int:
        """How many combinations `given` has, those that are dropped from the draw among them."""
        if isinstance(self.given, (list, tuple)):
            return len(self.given)
        return math.prod(len(v) for v in _choices(self.given).values())

    def variants(self) -> list[dict[str, Any]]:
        """Every combination, the book's numbers first."""
        if "variants" not in self._memory:
            if isinstance(self.given, (list, tuple)):
                rows = [dict(row) for row in self.given]
            else:
                names = _choices(self.given)
                rows = [dict(zip(names, row, strict=True)) for row in itertools.product(*names.values())]
            self._memory["variants"] = rows
        return [dict(row) for row in self._memory["variants"]]

    def drawn(self) -> list[dict[str, Any]]:
        """The variants that are drawn: those in which no two mistakes look alike.

        All of them where in each some two do: then a verdict gives both sentences.
        """
        if "drawn" not in self._memory:
            rows = self.variants()
            self._memory["drawn"] = [row for row in rows if not self.answer.collisions(self, row)] or rows
        return [dict(row) for row in self._memory["drawn"]]

    def variant(self, owner: str | None = None) -> dict[str, Any]:
        """The book's numbers, or those of `owner`: drawn by (id, owner), the same on every machine and
        Python."""
        if owner is None:
            return self.variants()[0]
        return draw(self.id, owner, self.drawn())

    def prompt_text(self, given: Given | None = None, *, letters: bool = False) -> str:
        """The prompt in Markdown: with the book's numbers, with those of `given`, or with letters."""
        if letters:
            return FIELD.sub(lambda m: letter(m[1]) if m[1] in self.variant() else m[0], self.prompt)
        return self.fill(self.prompt, self.variant() if given is None else given)

    def fill(self, text: str, given: Given) -> str:
        """`text` with its fields {n} and {S:B} replaced by the numbers of `given`, in their unit."""
        return fill(text, given)

    @property
    def answer_name(self) -> str:
        """The variable that the answer cell sets: "answer", or the function's name."""
        return self.answer.answer_name

    def stub(self) -> str:
        """The learner's answer cell; it runs, and means "no answer yet"."""
        return self.answer.stub(self)

    def public(self, variants: bool = False) -> dict[str, Any]:
        """What learners get, as JSON: no solution, no mistake, no sentence of a wrong option."""
        shown = {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "points": self.points,
            "prompt": self.prompt_text(letters=variants and self.variant_count > 1),
            "given": self.variant(),
            "hints": list(self.hints),
            "predict": self.predict,
            "lines": self.lines,
            "answer_name": self.answer_name,
            "withholds": list(self.withholds),
        }
        if variants and self.variant_count > 1:
            shown["variants"] = self.drawn()
            shown["template"] = self.prompt
            del shown["given"]
        return shown | self.answer.public()

    def expected(self, given: Given) -> Any:
        """The solution for these numbers: a number, an option, or for symbols and functions the callable
        itself."""
        return self.answer.expected(self, given)

    def judge(self, value: Any, given: Given | None = None, call: Callable[[tuple], Any] | None = None) -> Verdict:
        """The verdict on `value`, which is plain data (see `plain.decode`); never raises because of the
        value.

        `given`: the learner's numbers (default: the book's). `call` runs a learner's function on a tuple of
        arguments and returns plain data, or raises AnswerError.
        """
        given = self.variant() if given is None else dict(given)
        if value is None or value is ... or (type(value) is str and not value.strip()):
            return Verdict(0.0, "No answer yet.", "empty")
        verdict = self.answer.judge(self, value, given, call)
        return self._prediction(verdict) if self.predict else verdict

    def judge_message(
        self, message: Any, given: Given | None = None, call: Callable[[tuple], Any] | None = None
    ) -> Verdict:
        """`judge` for a message of `plain.encode`; one that cannot be read is a verdict too."""
        try:
            value = plain.decode(message)
        except plain.BadMessage as error:
            return unreadable(str(error))
        return self.judge(value, given, call)

    def _prediction(self, verdict: Verdict) -> Verdict:
        if verdict.kind in ("unreadable", "unit", "empty"):
            return verdict
        if verdict.score == 1:
            return Verdict(1.0, f"You predicted right. {self.explain}".strip(), "predicted")
        return Verdict(1.0, f"Predicted, and it comes out otherwise. {verdict.say} {self.explain}".strip(), "predicted")

    def right(self) -> Verdict:
        """The verdict on a right answer."""
        return Verdict(1.0, f"Right. {self.explain}".strip(), "right")


def unreadable(why: str) -> Verdict:
    """The verdict on an answer that could not be read."""
    return Verdict(0.0, f"The answer could not be read: {why}.", "unreadable")


def call_with(function: Any, given: Given) -> Any:
    """`function` of those of the given numbers that it has parameters for, or itself where it is a plain
    value."""
    if not callable(function):
        return function
    names = getattr(function, "args", None)
    if not isinstance(names, tuple):
        parameters = inspect.signature(function).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return function(**given)
        names = tuple(p.name for p in parameters)
    return function(**{name: given[name] for name in names if name in given})


def draw(exercise_id: str, owner: str, rows: Sequence[Given]) -> dict[str, Any]:
    """The row of `owner`: by a digest of (id, owner), which no seed or version of Python changes."""
    digest = hashlib.sha256(f"{exercise_id}\0{owner}".encode()).digest()
    return dict(rows[int.from_bytes(digest, "big") % len(rows)])


def _choices(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {k: list(v) if isinstance(v, (list, tuple)) else [v] for k, v in given.items()}


__all__ = [
    "AnswerError", "Bank", "DeclarationError", "Exercise", "Mistake", "Verdict",
    "call_with", "draw", "fill", "load_bank", "quoted", "unreadable",
]  # fmt: skip


class Bank(dict[str, Exercise]):
    """The exercises of one `exercises.py` by id, in order; `namespace` holds the module's names, `path` the
    file."""

    def __init__(
        self,
        exercises: Sequence[Exercise] = (),
        path: Path | None = None,
        namespace: dict[str, Any] | None = None,
    ):
        super().__init__({e.id: e for e in exercises})
        self.path, self.namespace = path, namespace or {}

    def public(self, variants: bool = False) -> dict[str, Any]:
        """The contents of the learner's `exercises.json`."""
        return {"variants": variants, "exercises": {name: e.public(variants) for name, e in self.items()}}


def load_bank(path: Path | str) -> Bank:
    """The exercises declared in `path` (a file, or a chapter's folder that holds `exercises.py`).

    The module is loaded by path under the name `gpubook_NN_topic`. DeclarationError names the file and what
    is wrong.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "exercises.py"
    if not path.is_file():
        raise DeclarationError(f"{path}: a file of exercises was expected here")
    name = "gpubook_" + re.sub(r"\W", "_", path.resolve().parent.name if path.name == "exercises.py" else path.stem)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DeclarationError(f"{path}: a Python file was expected")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        where = _line_of(error, path)
        _restore(name, before)
        raise DeclarationError(f"{path}{where}: {type(error).__name__}: {error}") from error
    return Bank(_collect(module, path), path.resolve(), vars(module))


def _collect(module: types.ModuleType, path: Path) -> list[Exercise]:
    found: dict[str, Exercise] = {}
    for value in vars(module).values():
        for exercise in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(exercise, Exercise):
                continue
            if found.get(exercise.id, exercise) is not exercise:
                raise DeclarationError(f"{path}: the id {exercise.id!r} is declared twice; each exercise needs its own")
            found[exercise.id] = exercise
    return list(found.values())


def _restore(name: str, before: types.ModuleType | None) -> None:
    if before is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = before


def _line_of(error: BaseException, path: Path) -> str:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        line = error.lineno
    return f":{line}" if line else ""
