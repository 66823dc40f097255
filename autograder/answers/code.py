"""Answers that are code: a function of a given name and signature, tried on cases. Anything else is not-a-function."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ..declaration.answer import Advice, Answer, Box, JudgedBy
from ..declaration.verdict import DeclarationError
from ..ranks import seeds
from ..values import encoding
from ..values.numbers import Unreadable, named
from ..values.texts import quoted

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

R = TypeVar("R")

SUBMISSIONS = tuple(f"submission {k}" for k in range(5))  # their cases the self-test tries, besides the book's
MOST_DRAWS = 100  # of cases, until they tell all wrong programs from the solution

Program = tuple[str, Any]  # a wrong one, with words for it


@dataclass(frozen=True)
class Coded(Answer):
    """What a function and an algorithm have in common. `cases` is a list, or a callable of a `random.Random` that
    makes one; `drawn` is such a callable for more of them, besides a list. `mutants` are programs that forget a clause
    of the prompt, by what they forget: no cases may take one for right, and it needs no sentence of its own.

    What is drawn is drawn anew for each submission of a course, so that no table of results passes; it is the same
    whenever a submission is graded again, and for all who work alone. Where a draw does not tell every mistake and
    mutant from the solution, cases of further draws that do are added, so that no verdict depends on the luck of a
    draw.
    """

    name: str = "f"
    signature: str = ""
    cases: Any = ()
    drawn: Callable[[random.Random], Iterable[Any]] | None = None
    mutants: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    _memory: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    asked: ClassVar[str] = "a function"
    said: ClassVar[str] = "the function"
    judged_by: ClassVar[JudgedBy] = JudgedBy.CALLS
    shows_stub: ClassVar[bool] = True
    ending: ClassVar[str] = ""  # of the stub, after its size

    @property
    def answer_name(self) -> str:
        """The function's name."""
        return self.name

    def stub(self, exercise: Exercise) -> str:
        """The function without a body."""
        return f"def {self.signature}:\n    ...  # {exercise.size}{self.ending}"

    def box(self, exercise: Exercise) -> Box | None:
        """An editor that holds the stub."""
        return Box("code", f"Your {self.asked.removeprefix('a ').removeprefix('an ')}", lines=exercise.lines)

    def expected(self, exercise: Exercise, given: Given) -> Any:
        """The solution itself."""
        return exercise.solution

    def readable(self, value: Any) -> str:
        """The sentence that it is a function."""
        if type(value) is not encoding.Callable:
            say = f"{named(value)}; {self.asked} was expected, {quoted(f'def {self.signature}', 120)}"
            raise Unreadable(say, reason="not-a-function")
        return f"{self.said} {quoted(value.name)}"

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """Nothing: it is its own text."""
        return ""

    def tolerance(self, exercise: Exercise, given: Given) -> str:
        """In every case."""
        numbers = f", numbers within {100 * self.rtol:.3g} %" if self.rtol else ""
        return f"the same in every case on which it is tried{numbers}"

    def as_learner(self, exercise: Exercise, function: Any, given: Given) -> Any:
        """The function itself."""
        return function

    def rows(self, exercise: Exercise, row: Callable[[Any], R], most: int) -> list[R]:
        """Every case as `row` has it, the same at each call for a submission. Raises DeclarationError for none and for
        too many."""
        key = f"rows {self.seed}"
        if key not in self._memory:
            self._memory[key] = self._telling(exercise, lambda rng: self._one_draw(exercise, rng, row, most))
        drawn: list[R] = self._memory[key]
        return drawn

    def _telling(self, exercise: Exercise, draw: Callable[[random.Random], list[R]]) -> list[R]:
        """One draw, with the first case of further ones that tells each wrong program which it takes for right."""
        rng = seeds.cases(exercise.id)
        rows = draw(rng)
        programs = self.taken_for_right(exercise, self.wrong_programs(exercise), rows) if self.draws else []
        for _ in range(MOST_DRAWS):
            if not programs:
                break
            for case in draw(rng):
                left = self.taken_for_right(exercise, programs, [case])
                if len(left) < len(programs):
                    rows, programs = [*rows, case], left
        return rows

    def _one_draw(self, exercise: Exercise, rng: random.Random, row: Callable[[Any], R], most: int) -> list[R]:
        try:
            made = list(self.cases(rng) if callable(self.cases) else self.cases)
            made += self.drawn(rng) if self.drawn else ()
            rows = [row(one) for one in made]
        except (TypeError, ValueError) as error:
            raise DeclarationError(f"{exercise.id}: {error}") from None
        if not 0 < len(rows) <= most:
            raise DeclarationError(f"{exercise.id}: {len(rows)} cases; 1 to {most} were expected")
        return rows

    @property
    def draws(self) -> bool:
        """Whether the cases depend on the submission."""
        return callable(self.cases) or self.drawn is not None

    @property
    def depends_on_submission(self) -> bool:
        """Whether anything does that is drawn."""
        return self.draws

    def wrong_programs(self, exercise: Exercise) -> list[Program]:
        """The mistakes and the mutants, each with words for it."""
        return [
            (f"the mistake {mistake.say!r}", mistake.value) for mistake in exercise.mistakes
        ] + self._named_mutants()

    def _named_mutants(self) -> list[Program]:
        return [(f"the mutant {clause!r}", program) for clause, program in self.mutants.items()]

    def taken_for_right(self, exercise: Exercise, programs: Sequence[Program], rows: Sequence[Any]) -> list[Program]:
        """Those of the programs that are right in all these cases, where a kind can say so at little cost."""
        return []

    def accepted(self, exercise: Exercise, programs: Sequence[Program]) -> list[Program]:
        """Those of the programs that are right with the numbers that are drawn now."""
        book = exercise.variant()
        value = encoding.Callable(self.name)
        calls = [(program, self.declared_call(program[1])) for program in programs]
        return [program for program, call in calls if self.judge(exercise, value, book, call).score == 1]

    def shows_wrong(self, function: Any, runs: Sequence[R], wrong: Callable[[R], bool]) -> bool:
        """Whether a program of the declaration is wrong in one of these runs, which is looked for first where it was
        with other numbers."""
        places: dict[Any, int] = self._memory.setdefault("wrong in", {})
        order = sorted(range(len(runs)), key=lambda place: place != places.get(function))
        place = next((place for place in order if wrong(runs[place])), None)
        if place is not None and len(runs) > 1:
            places[function] = place
        return place is not None

    def problems(self, exercise: Exercise) -> list[str]:
        """Too few mistakes, no program that forgets something, mutants that are right, and what other submissions'
        numbers do not tell from the right way."""
        problems = super().problems(exercise)
        programs = self.wrong_programs(exercise)
        if not programs:
            problems.append(
                Advice("no mistake and no mutant forgets a clause of the prompt: which one can a program forget?")
            )
        right = self.accepted(exercise, self._named_mutants())  # beside the mistakes, which are judged anyway
        problems += [f"{name} is right with the cases of the book" for name, _ in right]
        for seed in SUBMISSIONS if self.depends_on_submission else ():
            with seeds.seeded(seed):
                right = self.accepted(exercise, programs)
                problems += [f"{name} is right with the cases of {seed}" for name, _ in right]
        return problems

    def once(self, key: Any, compute: Callable[[], R]) -> R:
        """What `compute` gives on the numbers that are drawn now; kept until others are drawn.

        A key holds the functions of the declaration that are run, whole: an answer kind may be that of two exercises.
        """
        source = seeds.source()
        if source is None:
            return compute()
        if self._memory.get("source") != source:
            self._memory.update(source=source, once={})
        cache = self._memory["once"]
        if key not in cache:
            cache[key] = compute()
        result: R = cache[key]
        return result

    @property
    def seed(self) -> str:
        """Of the submission that is judged, where its cases depend on it."""
        return seeds.current() if self.draws else ""
