"""Every exercise tests itself: the solution scores, each mistake gets its own sentence, junk scores
nothing."""

from __future__ import annotations

import contextlib
import json
import math
import random
from collections.abc import Iterator
from typing import Any

from ..declaration.answer import Advice, Answer, JudgedBy
from ..declaration.exercise import Exercise
from ..declaration.verdict import DeclarationError, Verdict, unreadable
from ..ranks import seeds
from ..values import encoding
from ..values.texts import FIELD
from . import answer_from

VARIANTS = 20
MARKUP = "<img src=x onerror=alert(1)>"
LONGEST = 4000  # characters of a sentence: what came in is quoted cut
KINDS = {
    "right",
    "predicted",
    "partial",
    "empty",
    "unreadable",
    "unit",
    "mistake",
    "slip",
    "variant",
    "wrong",
    "waiting",
}


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


class InexactText(str):
    """A text that is not exactly one."""

    __slots__ = ()


def junk() -> list[Any]:
    """Values that answer no question: empty, absurd, huge and hostile ones."""
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    return [
        None,
        ...,
        "",
        "   ",
        "no idea",
        math.nan,
        math.inf,
        -math.inf,
        "nan",
        "inf",
        "3 apples",
        "10**10**10",
        "9" * 5000,
        10**5000,
        True,
        [],
        {},
        [1, 2],
        deep,
        object(),
        Liar(1.0),
        InexactText("1"),
        lambda *_: Liar(1.0),
        "__import__('os').getcwd()",
        "(" * 300,
        "x" * 100_000,
        b"1",
        1e400j,
        "a\0b",
        "\u202e1",
        MARKUP,
        {"$": "tree"},
    ]


def selftest(exercise: Exercise) -> list[str]:
    """What is wrong with an exercise, as sentences, and what could be better, as `Advice`; empty where nothing is.

    Over every variant, or a seeded 20 where there are more: the solution scores full, each mistake scores
    nothing and is told its own sentence, and no standard wrong way comes near the right answer (see `wrong_ways`); and
    junk scores nothing, never raises and is quoted cut and inert. Each of them is read through
    the public record, too, as in a course without the key. What else is asked, the answer kind says.
    """
    try:
        with seeds.repeated():
            return [_named(exercise, problem) for problem in _problems(exercise)]
    except (
        DeclarationError,
        ArithmeticError,
        TypeError,
        ValueError,
        LookupError,
        NameError,
        AttributeError,
        encoding.NotEncodable,
    ) as error:
        return [f"{exercise.id}: the declaration fails on its own numbers ({type(error).__name__}: {error})"]


def _named(exercise: Exercise, problem: str) -> str:
    say = f"{exercise.id}: {problem}"
    return Advice(say) if isinstance(problem, Advice) else say


def _problems(exercise: Exercise) -> Iterator[str]:
    built = exercise.answer.built
    exercise = exercise.built()
    if built is not None and built != exercise.answer.built:
        yield "what the last build computed for it has changed since: build again"
    yield from _texts(exercise)
    rows = exercise.variants()
    if len(rows) > VARIANTS:
        rows = [rows[0], *random.Random(exercise.id).sample(rows[1:], VARIANTS - 1)]
    drawn = exercise.drawn()
    for collision in exercise.answer.collisions(exercise, rows[0]):
        if exercise.variant_count > 1:
            yield Advice(f"in the first numbers {rows[0]} {collision}; put others first")
    published, problems = _published(exercise)
    yield from problems
    for row in rows if exercise.answer.judged_by is not JudgedBy.TEACHER else ():
        yield from _solution(exercise, row, published)
        if row in drawn or row == rows[0]:
            yield from _mistakes(exercise, row, published)
    if exercise.answer.judged_by is JudgedBy.TEACHER:
        yield from _read_alike(exercise, published, exercise.expected(rows[0]), "the solution")
    for value in junk():
        yield from _scores_nothing(exercise, value, published)
    yield from exercise.answer.problems(exercise)
    yield from _weaknesses(exercise, [row for row in rows if row in drawn or row == rows[0]])
    yield from _leaks(exercise)


def _published(exercise: Exercise) -> tuple[Answer | None, list[str]]:
    """The answer kind as a course knows it, which has the public record only, and what is wrong with it."""
    own: Answer | None = None
    for variants in (False, True):
        try:
            record = json.loads(json.dumps(exercise.public(variants), allow_nan=False))
        except (TypeError, ValueError) as error:
            return None, [f"its public record is not JSON ({error})"]
        try:
            own = type(exercise.answer).from_public(record)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            return None, [f"{exercise.kind} cannot be made of its public record again ({reason})"]
        if type(answer_from(record)) is not type(exercise.answer):
            return None, [f"another answer kind is called {exercise.kind}, too; each needs a name of its own"]
        if _as_json(own.public()) != _as_json(exercise.answer.public()):
            return None, [f"{exercise.kind}, made of its public record again, has another public record"]
    return own, []


def _as_json(data: Any) -> Any:
    return json.loads(json.dumps(data))


def _read_alike(exercise: Exercise, published: Answer | None, value: Any, what: str) -> Iterator[str]:
    """Whether an answer is read without the key as it is with it."""
    if published is None:
        return
    message = _message(value)
    with_key, without = (_said(answer, message) for answer in (exercise.answer, published))
    if without != with_key:
        yield f"{what} is read without the key as {without!r}, and with it as {with_key!r}"


def _said(answer: Answer, message: Any) -> str:
    try:
        return answer.recorded(message).say
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _message(value: Any) -> Any:
    return json.loads(json.dumps(encoding.encode(value)))


def judged(exercise: Exercise, value: Any, given: dict[str, Any]) -> Verdict:
    """The verdict on a learner's value, all the way: encoded, sent as JSON, decoded, judged."""
    try:
        message = _message(value)
    except encoding.NotEncodable as error:
        return unreadable(str(error))
    call = exercise.answer.declared_call(value) if callable(value) else None
    return exercise.judge_message(message, given, call)


def _solution(exercise: Exercise, row: dict[str, Any], published: Answer | None) -> Iterator[str]:
    value = exercise.answer.as_learner(exercise, exercise.solution, row)
    verdict = judged(exercise, value, row)
    if verdict.score != 1 or verdict.kind not in ("right", "predicted"):
        yield f"the solution scores {verdict.score} with {row}: {verdict.say}"
    yield from _read_alike(exercise, published, value, f"the solution with {row}")


def _mistakes(exercise: Exercise, row: dict[str, Any], published: Answer | None) -> Iterator[str]:
    for mistake in exercise.mistakes:
        value = exercise.answer.as_learner(exercise, mistake.value, row)
        verdict = judged(exercise, value, row)
        yield from _read_alike(exercise, published, value, f"the mistake {mistake.say!r} with {row}")
        if exercise.predict:
            if exercise.fill(mistake.say, row) not in verdict.say:
                yield f"the mistake {mistake.say!r} is not told with {row}, but: {verdict.say}"
        elif (
            not _below(exercise, verdict)
            or verdict.kind != "mistake"
            or exercise.fill(mistake.say, row) not in (verdict.say)
        ):
            yield f"the mistake {mistake.say!r} with {row} scores {verdict.score} and is told: {verdict.say}"


def _weaknesses(exercise: Exercise, rows: list[dict[str, Any]]) -> Iterator[str]:
    """The standard wrong ways that come too near, but for those that are declared harmless."""
    weaknesses = [] if exercise.predict else exercise.answer.weaknesses(exercise, rows)
    yield from (Advice(weak.say) for weak in weaknesses if not exercise.harmless.get(weak.way, "").strip())
    for way in exercise.harmless.keys() - {weak.way for weak in weaknesses}:
        yield f"{way!r} is declared harmless, and is not a wrong way that comes near"


def _below(exercise: Exercise, verdict: Verdict) -> bool:
    """Whether a mistake scores as little as it must."""
    return verdict.score < 1 if exercise.answer.partial else verdict.score == 0


def _scores_nothing(exercise: Exercise, value: Any, published: Answer | None) -> Iterator[str]:
    name = encoding.type_name(value)
    try:
        verdict = judged(exercise, value, exercise.variant())
        if published is not None:
            with contextlib.suppress(encoding.NotEncodable):
                published.recorded(_message(value))
    except Exception as error:
        yield f"junk of type {name} raises {type(error).__name__}: {error}"
        return
    if MARKUP in verdict.say:
        yield f"junk of type {name} is told its own HTML, not quoted: {verdict.say[:200]}"
    if len(verdict.say) > LONGEST:
        yield f"junk of type {name} is told {len(verdict.say)} characters; at most {LONGEST} were expected"
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
    sentences = [m.say.strip() for m in exercise.mistakes]
    if len(set(sentences)) < len(sentences) or "" in sentences:
        yield "two mistakes share a sentence, or one has none"
    if exercise.answer.judged_by is not JudgedBy.TEACHER:
        compile(exercise.stub(), exercise.id, "exec")


def _leaks(exercise: Exercise) -> Iterator[str]:
    """No sentence of a mistake stands where learners read."""
    public = json.dumps(exercise.public(variants=True), ensure_ascii=False)
    for mistake in exercise.mistakes:
        if json.dumps(mistake.say, ensure_ascii=False)[1:-1] in public:
            yield f"the sentence {mistake.say!r} stands in the learner's edition"
