"""What else gives the number of a declared mistake: a slip, a standard wrong way.

A mistake is known by one number, and other errors come to the same: twice the right one has a dozen causes. Where that
is so, the sentence names the others too. It does not where the mistake names them itself, or none is plausible.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..declaration.given import Given, call_with
from ..declaration.verdict import Verdict
from ..values import slips
from ..values.step_limit import TooManySteps, limited
from .wrong_ways import EQUAL, REFUSED, WrongWay, ways_of

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise, Mistake

NEAR = 1e-3  # relative: what a number with four digits is off by, or with three on the way to it
EXACT = 1e-6  # what a program's own rounding may make of a number
MOST_DIGITS = 6  # of a number that is typed
STEPS = 40_000  # lines of the solution that looking may run with each row of numbers
MOST_KEPT = 256  # rows of an exercise whose ways are kept
ROWS = 4  # of the numbers with which a way must agree to be the mistake itself
MOST = 2  # ways that are named
TWO = ("factor-two", "sparse")
WHICH = "Which is yours?"
OTHER_CAUSES = {  # of a ratio, by the reason of its slip, and the words of a sentence that names the same
    "bits": ("are bits taken for bytes, or bytes for bits", r"\bbits?\b"),
    "gib": ("is a GiB taken for a GB, or a GB for a GiB", r"\bGi?B\b|2\^30"),
    "tib": ("is a TiB taken for a TB, or a TB for a TiB", r"\bTi?B\b"),
    "percent": ("is it per cent without its sign", r"per cent|%"),
    "prefix": ("has a prefix of a unit slipped", r"prefix|\b1,?000\b"),
    "kib-for-bytes": ("are KiB taken for bytes, or bytes for KiB", r"\bKiB\b"),
    "mib-for-bytes": ("are MiB taken for bytes, or bytes for MiB", r"\bMiB\b"),
    "gib-for-bytes": ("are GiB taken for bytes, or bytes for GiB", r"\bGiB\b"),
}


def mistake_verdict(
    exercise: Exercise,
    matching: Sequence[tuple[Mistake, float]],
    answer: float,
    given: Given,
    *,
    cause: str | None = None,
    near: float | None = None,
) -> Verdict:
    """The verdict on an answer that comes to the numbers of these mistakes: their sentences, and what else gives it.

    `cause`: what the ratio to the right answer may come from as well, as `other_cause` says it; None where that is no
    slip. `near`: the share by
    which the answer may be off what was meant; None for integers.
    """
    close = [row for row in matching if near is None or math.isclose(row[1], answer, rel_tol=near)]
    sentences = list(dict.fromkeys(exercise.fill(mistake.say, given) for mistake, _ in close or matching))
    if len(sentences) > 1:
        return Verdict(0.0, " Or: ".join(sentences) + f" {WHICH}", "mistake")
    if not close:
        return Verdict(0.0, f"Yours is near a known wrong answer, which may be chance: {sentences[0]}", "mistake")
    mistake, value = close[0]
    causes = [] if mistake.names_all else rivals(exercise, mistake, value, given, cause=cause, near=near or EQUAL)
    return Verdict(0.0, " ".join([*sentences, *causes, *([WHICH] if causes else [])]), "mistake")


def meant(known: Sequence[tuple[Mistake, float]], answer: float) -> list[tuple[Mistake, float]]:
    """Of the mistakes that an answer is near to those that it may be: one with many digits, as a program computes it,
    is no mistake whose number has others."""
    if not known or precision(answer) > NEAR:
        return list(known)
    return [row for row in known if math.isclose(row[1], answer, rel_tol=NEAR)]


def precision(answer: float) -> float:
    """The share by which a number with so few digits may be off, NEAR at least."""
    for digits in range(1, MOST_DIGITS):
        if answer and float(f"{answer:.{digits}g}") == answer:
            step = 10.0 ** (math.floor(math.log10(abs(answer))) - digits + 1)
            return max(NEAR, 0.5 * step / abs(answer))
    return NEAR


def rivals(
    exercise: Exercise, mistake: Mistake, value: float, given: Given, *, cause: str | None, near: float
) -> list[str]:
    """What else comes to a mistake's number, as questions."""
    ways: list[WrongWay] = []
    with suppress(TooManySteps):
        ways = _coming_near(exercise, mistake, value, given, near)
    phrases = dict.fromkeys(way.told.partition(":")[0] for way in ways if cause is None or not way.factor)
    return [f"Or {cause}?"] * bool(cause) + [f"Or is it what comes out {phrase}?" for phrase in [*phrases][:MOST]]


def other_cause(reason: str, about: str, say: str, first: Sequence[str] = ()) -> str:
    """What a ratio may come from beside the mistake of which `say` tells, by the reason of its slip, as a question
    without its mark; "" where nothing else is known. `about` is the prompt."""
    if reason in TWO:
        return _of_two(about, say, first)
    if reason == "kib-for-bytes" and slips.thousand(about):
        return ""  # so many things of the prompt are likelier
    other, named = OTHER_CAUSES.get(reason, ("", ""))
    return "" if named and re.search(named, say, re.I) else other


def pairs(exercise: Exercise, given: Given) -> list[tuple[Mistake, list[str]]]:
    """The mistakes to whose numbers, with these of the prompt, a standard wrong way comes by chance, each with what is
    told of the ways: whoever gives such a number is told both. Factors are left out, which have sentences of their own
    (`other_cause`)."""
    near = NEAR if getattr(exercise.answer, "rtol", 0) else EQUAL
    listed = []
    for mistake in exercise.mistakes:
        value = float(call_with(mistake.value, given))
        with suppress(TooManySteps):
            ways = [way for way in _coming_near(exercise, mistake, value, given, near) if not way.factor]
            if ways:
                listed.append((mistake, [way.told.partition(":")[0] for way in ways]))
    return listed


def _of_two(about: str, say: str, first: Sequence[str]) -> str:
    """What a factor of 2 may come from, without what the sentence of the mistake speaks of."""
    causes = slips.causes_of_two(about, first)
    others = [cause for cause in causes if not slips.speaks_of(cause, say)]
    if len(others) == 1 < len(causes):
        return ""  # it names all but the one that may always be
    return f"is it {'; '.join(others[:-1])}; or {others[-1]}" if len(others) > 1 else f"is {others[0]}"


def _coming_near(exercise: Exercise, mistake: Mistake, value: float, given: Given, near: float) -> list[WrongWay]:
    """The standard wrong ways that come to a number, but for those that are the mistake itself."""
    coming = [way for way, other in _ways(exercise, given) if other and math.isclose(other, value, rel_tol=near)]
    coming = [way for way in coming if way.enough != REFUSED]  # one thing more or less throughout: a number mistyped
    if any(way.side for way in coming):  # then no number of the other side matters, however often it is taken
        coming = [way for way in coming if not (way.side or way.factor)]
    same = {way.name for way in coming if not way.factor}
    for row in (given, *(row for row in exercise.variants()[:ROWS] if row != given)):
        if same:
            same &= _equal(exercise, mistake, row)
    return [way for way in coming if way.name not in same]


def _equal(exercise: Exercise, mistake: Mistake, row: Mapping[str, Any]) -> set[str]:
    """The ways that give the mistake's number with these numbers."""
    value = float(call_with(mistake.value, row))
    return {way.name for way, other in _ways(exercise, row) if math.isclose(other, value, rel_tol=EQUAL)}


def _ways(exercise: Exercise, row: Mapping[str, Any]) -> list[tuple[WrongWay, float]]:
    """The wrong ways with these numbers, kept: every mistake of an exercise, and all of a class, ask for the same.
    TooManySteps where the solution takes too many to be computed again and again."""
    by_row: dict[str, list[tuple[WrongWay, float]] | None] = exercise._memory.setdefault("wrong ways", {})
    key = repr(sorted(row.items()))
    if key not in by_row:
        if len(by_row) >= MOST_KEPT:
            del by_row[next(iter(by_row))]
        by_row[key] = None  # unless it ends within its steps
        by_row[key] = limited(lambda: list(ways_of(exercise, row)), STEPS)
    ways = by_row[key]
    if ways is None:
        raise TooManySteps(STEPS)
    return ways
