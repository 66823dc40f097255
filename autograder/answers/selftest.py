"""Every exercise tests itself: the solution scores, each mistake gets its own sentence, junk scores
nothing."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import Any

from ..declaration.exercise import Exercise, call_with
from ..declaration.verdict import DeclarationError, Verdict, unreadable
from ..values import encoding
from ..values.texts import FIELD

VARIANTS = 20
KINDS = {"right", "predicted", "empty", "unreadable", "unit", "mistake", "slip", "variant", "wrong", "waiting"}


class Liar(float):
    """A number that claims to equal everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __float__(self) -> float:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __hash__ = float.__hash__
    __lt__ = __le__ = __gt__ = __ge__ = __eq__


class Text(str):
    """A text that is not exactly one."""

    __slots__ = ()


def junk() -> list[Any]:
    """Values that are no answer to anything: empty, absurd, huge and hostile ones."""
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    return [
        None, ..., "", "   ", "no idea", math.nan, math.inf, -math.inf, "nan", "inf", "3 apples",
        "10**10**10", "9" * 5000, 10**5000, True, [], {}, [1, 2], deep, object(), Liar(1.0), Text("1"),
        lambda *_: Liar(1.0), "__import__('os').getcwd()", "(" * 300, "x" * 100_000, b"1", 1e400j, "a\0b",
        "\u202e1", {"$": "tree"},
    ]  # fmt: skip


def selftest(exercise: Exercise) -> list[str]:
    """What is wrong with an exercise, as sentences; empty where nothing is.

    Over every variant, or a seeded 20 where there are more: the solution scores full, each mistake scores
    nothing and is told its own sentence; and junk scores nothing and never raises. A choice has a sentence
    for every wrong option.
    """
    try:
        return [f"{exercise.id}: {problem}" for problem in _problems(exercise)]
    except (DeclarationError, ArithmeticError, TypeError, ValueError, LookupError, encoding.NotPlain) as error:
        return [f"{exercise.id}: the declaration fails on its own numbers ({type(error).__name__}: {error})"]


def _problems(exercise: Exercise) -> Iterator[str]:
    yield from _texts(exercise)
    rows = exercise.variants()
    if len(rows) > VARIANTS:
        rows = [rows[0], *random.Random(exercise.id).sample(rows[1:], VARIANTS - 1)]
    drawn = exercise.drawn()
    for collision in exercise.answer.collisions(exercise, rows[0]):
        if exercise.variant_count > 1:
            yield f"in the book's numbers {rows[0]} {collision}; put others first"
    for row in rows if exercise.kind != "Written" else ():
        yield from _solution(exercise, row)
        if row in drawn or row == rows[0]:
            yield from _mistakes(exercise, row)
    for value in junk():
        yield from _scores_nothing(exercise, value)
    yield from _covered(exercise)


def answer_of(exercise: Exercise, function: Any, given: dict[str, Any]) -> Any:
    """What a learner who thinks as `function` does would hand in."""
    from . import Expression

    if isinstance(exercise.answer, Expression):
        return call_with(function, {name: d.symbol(name) for name, d in exercise.answer.symbols.items()})
    return function if exercise.kind == "Function" or exercise.answer.in_ranks else call_with(function, given)


def judged(exercise: Exercise, value: Any, given: dict[str, Any]) -> Verdict:
    """The verdict on a learner's value, all the way: encoded, sent as JSON, decoded, judged."""
    try:
        message = json.loads(json.dumps(encoding.encode(value)))
    except encoding.NotPlain as error:
        return unreadable(str(error))
    call = exercise.answer.declared_call(value) if callable(value) else None
    return exercise.judge_message(message, given, call)


def _solution(exercise: Exercise, row: dict[str, Any]) -> Iterator[str]:
    verdict = judged(exercise, answer_of(exercise, exercise.solution, row), row)
    if verdict.score != 1 or verdict.kind not in ("right", "predicted"):
        yield f"the solution scores {verdict.score} with {row}: {verdict.say}"


def _mistakes(exercise: Exercise, row: dict[str, Any]) -> Iterator[str]:
    for mistake in exercise.mistakes:
        verdict = judged(exercise, answer_of(exercise, mistake.value, row), row)
        if exercise.predict:
            if exercise.fill(mistake.say, row) not in verdict.say:
                yield f"the mistake {mistake.say!r} is not told with {row}, but: {verdict.say}"
        elif verdict.score != 0 or verdict.kind != "mistake" or exercise.fill(mistake.say, row) not in verdict.say:
            yield f"the mistake {mistake.say!r} with {row} scores {verdict.score} and is told: {verdict.say}"


def _scores_nothing(exercise: Exercise, value: Any) -> Iterator[str]:
    name = encoding.type_name(value)
    try:
        verdict = judged(exercise, value, exercise.variant())
    except Exception as error:
        yield f"junk of type {name} raises {type(error).__name__}: {error}"
        return
    if exercise.predict and verdict.kind == "predicted":
        return  # any readable prediction counts
    if verdict.score != 0 or verdict.kind not in KINDS - {"right"}:
        yield f"junk of type {name} scores {verdict.score}: {verdict.say}"


def _texts(exercise: Exercise) -> Iterator[str]:
    if not exercise.prompt.strip():
        yield "the prompt is empty"
    names = set(exercise.variant())
    texts = [exercise.prompt, exercise.explain, *exercise.hints, *(m.say for m in exercise.mistakes)]
    for field in {m[0] for text in texts for m in FIELD.finditer(text) if m[1] not in names}:
        yield f"the field {field} names nothing that is given; there are {', '.join(sorted(names)) or 'none'}"
    try:
        exercise.prompt_text(), exercise.prompt_text(letters=True)
    except ValueError as error:
        yield f"the prompt cannot be shown: {error}"
    said = [m.say.strip() for m in exercise.mistakes]
    if len(set(said)) < len(said) or "" in said:
        yield "two mistakes share a sentence, or one has none"
    if exercise.kind != "Written":
        compile(exercise.stub(), exercise.id, "exec")


def _covered(exercise: Exercise) -> Iterator[str]:
    """A choice says something about every wrong option; an expression's cases are all reached; a text leaks
    nothing."""
    from . import Expression
    from .choice import Choice
    from .written import Written
    from .written import problems as written_problems

    answer = exercise.answer
    if isinstance(answer, Choice):
        right = {answer.expected(exercise, row) for row in exercise.variants()}
        told = {answer.read(call_with(m.value, exercise.variant())) for m in exercise.mistakes}
        for key in answer.options:
            if key not in told and right != {key}:
                yield f"the wrong option {key!r} has no sentence"
    elif isinstance(answer, Written):
        yield from written_problems(exercise)
    elif not isinstance(answer, Expression) and len(exercise.mistakes) < 2:
        yield f"{len(exercise.mistakes)} mistakes; at least two were expected"
    if isinstance(answer, Expression):
        yield from answer.unreached(exercise)
        if len(exercise.mistakes) < 2:
            yield f"{len(exercise.mistakes)} mistakes; at least two were expected"
    public = json.dumps(exercise.public(variants=True), ensure_ascii=False)
    for mistake in exercise.mistakes:
        if json.dumps(mistake.say, ensure_ascii=False)[1:-1] in public:
            yield f"the sentence {mistake.say!r} stands in the learner's edition"
