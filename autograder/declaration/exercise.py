"""The declaration of an exercise: one frozen record that the notebook, the check, the grade and the book all
read."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..values import encoding
from ..values.slips import slip_name
from ..values.texts import FIELD, fill, letter
from .answer import Answer, checked, kinds
from .given import Drawn, Given
from .verdict import AS_PREDICTED, NOT_YET, DeclarationError, Verdict, no_answer, unreadable

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
MAX_VARIANTS = 10_000


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that learners give, and the sentence that leads on without giving the right one away.

    `value`: a callable of the given (Quantity, Count) or of the symbols (Expression), a function (Function),
    a generator (Algorithm), an option (Choice). `name`: of the misconception, where it recurs in the book: a key of
    docs/misconceptions.toml. `names_all`: whether the sentence names all plausible ways to a number, or a formula, that
    other errors come to as well; where it does not, the verdict names the others (see `answers.rival_ways`).
    """

    value: Any
    say: str
    name: str = ""
    names_all: bool = False


@dataclass(frozen=True)
class Exercise:
    """One exercise. `solution` and the mistakes' values are callables of the given (or of the symbols), or
    plain values.

    `given`: a dict of lists (variants are all combinations) or a list of dicts (rows that belong together);
    the first of each are the book's numbers. `explain` follows a right answer, its fields filled like the
    prompt's; `lines` sizes the stub; `withholds` names modules of the library that the learner is to do
    without. `harmless` says, by the name that the self-test has for it, why a standard wrong way is not wrong
    here. Raises DeclarationError where a field cannot be what it should.
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
    harmless: Mapping[str, str] = field(default_factory=dict)
    _memory: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self):
        if type(self.id) is not str or not ID.fullmatch(self.id):
            raise DeclarationError(
                f"exercise id {self.id!r}: lower-case words joined by '-' were expected, e.g. 'rooflines-ridge'"
            )
        for name in ("mistakes", "hints", "withholds"):
            value = getattr(self, name)
            if isinstance(value, (str, Mistake)):
                raise DeclarationError(
                    f"{self.id}: {name} is a single {type(value).__name__}; a tuple was expected (is a comma missing?)"
                )
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.points, (int, float)) or not 0 < self.points < math.inf:
            raise DeclarationError(f"{self.id}: points is {self.points!r}; a positive number was expected")
        checked(self.answer, self.id)
        if self.predict and not self.answer.predictable:
            able = " or a ".join(name for name, kind in kinds().items() if kind.predictable)
            raise DeclarationError(f"{self.id}: a prediction is a {able}, not {self.kind}")
        rows = self.given if isinstance(self.given, (list, tuple)) else [self.given]
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise DeclarationError(
                f"{self.id}: given is {self.given!r}; a dict of lists or a list of dicts was expected"
            )
        if self.variant_count > MAX_VARIANTS:
            raise DeclarationError(f"{self.id}: {self.variant_count} variants; at most {MAX_VARIANTS} were expected")
        if len({frozenset(row) for row in rows}) != 1:
            raise DeclarationError(f"{self.id}: the rows of given have different names")
        object.__setattr__(self, "answer", self.answer.arranged(self.id))
        self.answer.declare(self)
        object.__setattr__(self, "points", self.answer.worth(self))

    @property
    def kind(self) -> str:
        """The name of its answer kind, as the gradebook and the public record have it; nothing is decided by it."""
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
        own = self.answer.public()
        if taken := own.keys() & {*shown, "given", "variants", "template"}:
            raise DeclarationError(
                f"{self.id}: the public record of {self.kind} has {', '.join(sorted(taken))}, which all have; "
                "other names were expected"
            )
        return shown | own

    def built(self) -> Exercise:
        """The exercise with what its kind computes when the book is built, computed now."""
        made = self.answer.build(self)
        return self if made is None else self.with_built(made)

    def with_built(self, made: Any) -> Exercise:
        """The exercise with what was computed for it earlier; ValueError if it is not that."""
        return replace(self, answer=self.answer.with_built(made))

    def expected(self, given: Given) -> Any:
        """The solution for these numbers: a number, an option, or for symbols and functions the callable
        itself."""
        return self.answer.expected(self, given)

    def judge(self, value: Any, given: Given | None = None, call: Callable[[tuple], Any] | None = None) -> Verdict:
        """The verdict on `value`, which is plain data (see `encoding.decode`); never raises because of the
        value.

        `given`: the learner's numbers (default: the book's). `call` runs a learner's function on a tuple of
        arguments and returns plain data, or raises AnswerError.
        """
        numbers = self.variant() if given is None else given if isinstance(given, Drawn) else dict(given)
        if self.answer.blank(value):
            return no_answer()
        verdict = self.answer.judge(self, value, numbers, call)
        if verdict.kind in ("mistake", "slip"):
            verdict = replace(verdict, mistakes=self.mistakes_of(verdict, numbers))
        if self.predict:
            verdict = self._prediction(verdict)
        if verdict.kind in ("right", "predicted"):  # with the explanation
            verdict = replace(verdict, say=self.fill(verdict.say, numbers))
        return verdict

    def judge_message(
        self, message: Any, given: Given | None = None, call: Callable[[tuple], Any] | None = None
    ) -> Verdict:
        """`judge` for a message of `encoding.encode`; one that cannot be read is a verdict too."""
        try:
            value = encoding.decode(message)
        except encoding.BadMessage as error:
            return unreadable(str(error), error.reason)
        return self.judge(value, given, call)

    def mistake_key(self, number: int) -> str:
        """What a mistake, by its place among the declared ones, is counted under: its name, or the exercise's."""
        return self.mistakes[number].name or f"{self.id}#{number + 1}"

    def mistakes_of(self, verdict: Verdict, given: Given) -> tuple[str, ...]:
        """The keys of the mistakes whose sentences a verdict has, or of the slip that it tells of."""
        if verdict.kind == "slip":
            return (slip_name(verdict.reason),)
        numbers: dict[str, int] = {}
        for number, mistake in enumerate(self.mistakes):
            for say in (mistake.say, self.fill(mistake.say, given), self.fill(mistake.say, self.variant())):
                if say.strip() and say in verdict.say:
                    numbers[say] = number
        longest = [number for say, number in numbers.items() if not any(say in other != say for other in numbers)]
        return tuple(dict.fromkeys(self.mistake_key(number) for number in sorted(set(longest))))

    def _prediction(self, verdict: Verdict) -> Verdict:
        if verdict.kind in ("unreadable", "unit", "empty"):
            return verdict
        if verdict.score == 1:
            return Verdict(1.0, f"You predicted right. {self.explain}".strip(), "predicted", AS_PREDICTED)
        outcome = verdict.say.removesuffix(NOT_YET).rstrip()
        sentences = ("Predicted, and it comes out otherwise.", outcome, self.explain)
        return Verdict(1.0, " ".join(filter(None, sentences)), "predicted", verdict.reason)

    def right(self) -> Verdict:
        """The verdict on a right answer; `judge` fills the fields of the explanation."""
        return Verdict(1.0, f"Right. {self.explain}".strip(), "right")


def draw(exercise_id: str, owner: str, rows: Sequence[Given]) -> dict[str, Any]:
    """The row of `owner`: by a digest of (id, owner), which no seed or version of Python changes."""
    digest = hashlib.sha256(f"{exercise_id}\0{owner}".encode()).digest()
    return Drawn(rows[int.from_bytes(digest, "big") % len(rows)])


def _choices(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {k: list(v) if isinstance(v, (list, tuple)) else [v] for k, v in given.items()}
