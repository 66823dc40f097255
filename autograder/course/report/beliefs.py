"""Which mistakes a class makes, which wrong answers no mistake explains, and which are right for somebody else."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...declaration.exercise import Exercise
from ...declaration.misconceptions import Misconception, misconceptions
from ...declaration.verdict import NOT_YET
from ...values.book_root import book_root
from ...values.numbers import Unreadable
from ...values.texts import FIELD, letter
from .gathered_answers import MOST_SHOWN, NOTHING, Answered, Gathered

FEWEST = 2  # learners with one unexplained answer, or the share below where that is more
SHARE = 0.03
MOST_TRIED = 60  # answers to one exercise for which a formula is looked for
MOST_OWNERS = 5  # of numbers for which an answer is right, by id
PLACE = "SAY WHAT IS WRONG, AND NOT WHAT IS RIGHT."


@dataclass(frozen=True)
class Belief:
    """A mistake that learners make in an exercise: its sentence, and what they believe where it has a name in the
    book."""

    exercise: str
    key: str
    say: str
    did: str
    learners: tuple[str, ...]


@dataclass(frozen=True)
class Unexplained:
    """A wrong answer that several gave and no mistake explains: as it was read, what they were told, how it relates to
    the right one, and the declaration of a mistake, to be completed."""

    exercise: str
    shown: str
    told: str
    relation: str
    declaration: str
    learners: tuple[str, ...]


@dataclass(frozen=True)
class Borrowed:
    """An answer that is right for other numbers than the learner's, and whose numbers these are."""

    exercise: str
    learner: str
    owners: tuple[str, ...]


def beliefs(found: Gathered) -> list[Belief]:
    """The mistakes of the class, in each exercise the most frequent first."""
    named = misconceptions(book_root())
    return [one for name, answers in found.answers.items() for one in _of_exercise(found, name, answers, named)]


def _of_exercise(
    found: Gathered, name: str, answers: Sequence[Answered], named: dict[str, Misconception]
) -> Iterator[Belief]:
    who: dict[str, list[Answered]] = defaultdict(list)
    for answered in answers:
        for key in answered.mistakes:
            who[key].append(answered)
    for key, them in sorted(who.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        say = _sentence(found, found.bank[name], key, them) or them[0].result.say
        did = f"You {named[key].did}." if key in named else ""
        yield Belief(name, key, say, did, tuple(answered.learner for answered in them))


def _sentence(found: Gathered, exercise: Exercise, key: str, made: Sequence[Answered]) -> str:
    """The sentences of a declared mistake that were said, with the book's numbers, or with letters where learners have
    others."""
    declared = [m.say for number, m in enumerate(exercise.mistakes) if exercise.mistake_key(number) == key]
    sentences = [say for say in declared if any(exercise.fill(say, one.given) in one.result.say for one in made)]
    if found.variants and exercise.variant_count > 1:
        sentences = [
            FIELD.sub(lambda m: letter(m[1]) if m[1] in exercise.variant() else m[0], say) for say in sentences
        ]
    return " ".join(dict.fromkeys(exercise.fill(say, exercise.variant()) for say in sentences))


def unexplained(found: Gathered) -> list[Unexplained]:
    """The frequent wrong answers that no mistake explains, the most frequent first."""
    made = [
        _unexplained(found.bank[name], group)
        for name, answers in found.answers.items()
        if name in found.bank
        for group in _alike(found, found.bank[name], _wrong(found, answers))
        if len(group) >= max(FEWEST, math.ceil(SHARE * len(answers)))
    ]
    return sorted(made, key=lambda one: -len(one.learners))


def _wrong(found: Gathered, answers: Iterable[Answered]) -> list[Answered]:
    """The wrong answers, of a group the one that was submitted."""
    return [one for one in answers if one.outcome in ("wrong", "partial") and one.learner not in found.mates]


def _alike(found: Gathered, exercise: Exercise, answers: Iterable[Answered]) -> list[list[Answered]]:
    """Those that mean the same: where learners have other numbers, what one formula gives each of them; numbers within
    the tolerance, texts that are the same, or else the same sentence."""
    left = [answer for answer in answers if answer.result.kind != "variant"]  # which says all
    groups = _by_formula(exercise, left) if found.variants and exercise.variant_count > 1 else []
    gone = {answer.learner for group in groups for answer in group}
    texts: dict[str, list[Answered]] = defaultdict(list)
    numbers: list[tuple[float, Answered]] = []
    for answer in left:
        if answer.learner in gone:
            continue
        same = _counted_as(exercise, answer)
        if isinstance(same, float) and math.isfinite(same):
            numbers.append((same, answer))
        else:
            texts[str(same)].append(answer)
    groups += texts.values()
    start = math.nan
    for number, answer in sorted(numbers, key=lambda pair: pair[0]):
        if not abs(number - start) <= 2 * exercise.answer.rtol * abs(start):
            start = number
            groups.append([])
        groups[-1].append(answer)
    return groups


def _by_formula(exercise: Exercise, answers: Iterable[Answered]) -> list[list[Answered]]:
    """Those to whom one formula gives their answers, for two different rows of numbers at least; the formula that does
    so for most of them first, of several the simplest."""
    known = [one for one in answers if one.value is not NOTHING][:MOST_TRIED]
    if not known:
        return []
    try:
        formulas = exercise.answer.formulas(exercise, [(one.value, one.given) for one in known])
    except (Unreadable, ArithmeticError, RecursionError):
        return []
    left, groups = list(zip(known, formulas, strict=True)), []
    while left:
        count = Counter(formula for _, comes in left for formula in comes)
        cost = {formula: involved for _, comes in left for formula, involved in comes.items()}
        for formula in sorted(count, key=lambda one: (-count[one], cost[one], one)):
            group = [one for one, comes in left if formula in comes]
            if len({repr(sorted(one.given.items())) for one in group}) > 1:
                groups.append(group)
                left = [(one, comes) for one, comes in left if formula not in comes]
                break
        else:
            break
    return groups


def _counted_as(exercise: Exercise, one: Answered) -> str | float:
    if one.value is not NOTHING:
        with suppress(Unreadable, ArithmeticError, RecursionError):
            return exercise.answer.counted_as(exercise, one.value, one.given)
    return one.result.say


def _unexplained(exercise: Exercise, group: Sequence[Answered]) -> Unexplained:
    answer, first = exercise.answer, group[0]
    shown = relation = ""
    with suppress(Unreadable, ArithmeticError, RecursionError):
        if first.value is not NOTHING:
            shown = answer.as_read(first.value)[:MOST_SHOWN]
            relation = answer.relation(exercise, first.value, first.given)
    if shown and any(one.given != first.given for one in group):
        shown += " for those numbers, and what is the same for others"
    sentence, _ = Counter(one.result.say for one in group).most_common(1)[0]
    learners = tuple(one.learner for one in group)
    sentence = sentence.removesuffix(NOT_YET).rstrip()
    return Unexplained(exercise.id, shown, sentence, relation, declaration(exercise, group), learners)


def declaration(exercise: Exercise, group: Sequence[Answered]) -> str:
    """A `Mistake` to be pasted into the exercise and completed, as a line of Python; "" where its kind cannot say."""
    readable: list[tuple[Any, Any]] = [(one.value, one.given) for one in group if one.value is not NOTHING]
    try:
        value = exercise.answer.declared_as(exercise, readable[:MOST_TRIED])
    except (Unreadable, ArithmeticError, RecursionError, LookupError):
        return ""
    return f'Mistake({value}, "{PLACE}"),' if value else ""


def borrowed(found: Gathered) -> list[Borrowed]:
    """The answers that are right for somebody else's numbers."""
    if not found.variants:
        return []
    everyone = sorted(found.names)
    made = []
    for name, answers in found.answers.items():
        own_work = [one for one in answers if one.value is not NOTHING and one.learner not in found.mates]
        others_right = [one for one in own_work if one.result.kind == "variant"]
        rows = _rows(found.bank[name], everyone) if others_right else []
        made += [Borrowed(name, one.learner, tuple(_owners(found.bank[name], one, rows))) for one in others_right]
    return made


def _rows(exercise: Exercise, everyone: Sequence[str]) -> list[tuple[dict[str, Any], list[str]]]:
    """The numbers that are drawn, with those who have them."""
    rows: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for who in everyone:
        numbers = exercise.variant(who)
        rows.setdefault(repr(sorted(numbers.items())), (numbers, []))[1].append(who)
    return list(rows.values())


def _owners(exercise: Exercise, one: Answered, rows: Sequence[tuple[dict[str, Any], list[str]]]) -> Iterator[str]:
    for numbers, who in rows:
        if one.learner not in who:
            with suppress(Unreadable, ArithmeticError):
                if exercise.answer.right(exercise, one.value, numbers):
                    yield from who


def pairs(answers: Sequence[Borrowed]) -> list[tuple[str, str, int, int]]:
    """Who answered with whose numbers, in how many questions, and of how many that are right for somebody else's; the
    most frequent first, each learner with those owners only that most of them are right for."""
    count: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        count[answer.learner].update(answer.owners)
    total = Counter(answer.learner for answer in answers)
    made = []
    for learner, owners in count.items():
        if not owners:
            continue
        most = max(owners.values())
        best = sorted(owner for owner, times in owners.items() if times == most)
        made += [(learner, owner, most, total[learner]) for owner in best[:MOST_OWNERS]]
    return sorted(made, key=lambda answer: (-answer[2], answer[0], answer[1]))
