"""Quantities: numbers with a unit, right within a tolerance.

Reasons: those of `values.numbers` and of `values.slips`; other-unit, close, not-above-zero, orders-of-magnitude.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.answer import Answer, Box, Call, Weakness, not_read, other_variant, others_numbers
from ..declaration.given import Given, call_with
from ..declaration.verdict import DeclarationError, Verdict, not_yet
from ..values import slips
from ..values.arithmetic import Calculation, is_calculation, ungrouped, worked_out
from ..values.finding import Finding
from ..values.numbers import Unreadable, as_float, number, rounded, two_digits
from ..values.texts import quoted
from .derivation import derivation
from .recognised import how_far, recognise
from .rival_ways import EXACT, NEAR, meant, mistake_verdict, other_cause, precision
from .undeclared import lambda_for, products, ratio_to
from .wrong_ways import weak_numbers

if TYPE_CHECKING:
    from hwlib.units import Measure

    from ..declaration.exercise import Exercise

MAX_COUNT_BITS = 3322  # a thousand digits
CLOSE = 5  # tolerances: within as many an answer is told that it is close
FAR = 10**4  # the ratio from which on an answer is told that it is absurd
# Far from every slip's ratio: what the judge says to these, it says to any wrong number.
ELSEWHERE = (math.pi**3, 1 / math.pi**3, math.e**7, math.e**-7)
RATE = re.compile(r"(?:fl)?ops$", re.I)  # 989 TFLOPs: many write the rate so, and where one is asked for it is meant
BITS = re.compile(r"bits?\b|[kKMGTP]b(?:ps|/s)")  # a text in bits: where it is off by 8, that is why
# The multiples of a unit in which people measure: a bare number that is right in one of them lacks its name.
SCALES = {"s": (1e-3, 1e-6, 1e-9, 1e-12)} | dict.fromkeys(
    ("B", "B/s", "FLOP", "FLOP/s", "Hz", "J", "W"), (1e3, 1e6, 1e9, 1e12, 1e15)
)
TYPED = 6  # digits of a number that is typed, and not computed
TINY = 1e-9  # a mistake that is an integer is typed as one
ROUNDED = 1e-3  # and another with a few digits


@dataclass(frozen=True)
class Quantity(Answer):
    """A number in SI, or a string with a unit, right within `rtol`; a string in another unit of the same kind
    is converted.

    `unit` is the SI unit of the answer ("s", "B/s", "FLOP/B", "token", or "1").
    """

    unit: str = "1"
    rtol: float = 0.01
    predictable: ClassVar[bool] = True

    @property
    def how(self) -> str:
        """A number, and in which unit."""
        return "`answer` is a number" + (
            "" if self.unit in ("", "1") else f" in SI ({self.unit}), or a string with its unit"
        )

    def declare(self, exercise: Exercise) -> None:
        """The tolerance must be one."""
        if not 0 < self.rtol < 0.5:
            raise DeclarationError(f"{exercise.id}: rtol is {self.rtol}; a tolerance between 0 and 0.5 was expected")

    def public(self) -> dict[str, Any]:
        """The unit and the tolerance."""
        return {"unit": self.unit, "rtol": self.rtol}

    def read(self, value: Any) -> Fraction:
        """The answer in SI; Unreadable distinguishes a wrong unit (kind "unit") from what is not a number."""
        return self._text(value) if type(value) is str else number(value)

    def _text(self, text: str) -> Fraction:
        from hwlib.units import dimension, parse

        measure = measured(text)
        value = number(measure.value)
        if measure.unit == "1" and not has_letters(text):
            return value
        wanted = parse(f"1 {self.unit}").unit if self.unit != "1" else "1"
        if f"{measure.unit}/s" == wanted and RATE.search(text.strip()):
            return value
        if dimension(measure.unit) != dimension(wanted) or things_per(measure.unit, wanted) is None:
            raise self._other_unit(measure)
        return value

    def _other_unit(self, measure: Measure | Calculation) -> Unreadable:
        say = f"The answer {name_of(self.unit)}, yours {name_of(measure.unit)}.{read_as(measure)}"
        return Unreadable(say, "unit", "other-unit")

    def _per_what_is_asked(self, value: Any, prompt: str) -> None:
        """Unreadable for a text in a unit per thing, as in kB/token, where the prompt asks for nothing per that thing:
        what is read by itself has no prompt."""
        if type(value) is not str or not has_letters(value):
            return
        measure = measured(value)
        things = things_per(measure.unit, self.unit or "1") or ()
        if not all(asks_per(thing, prompt) for thing in things):
            raise self._other_unit(measure)

    def readable(self, value: Any) -> str:
        """The number with its unit."""
        from hwlib.units import show

        return show(as_float(self.read(value)), self.unit)

    def expected(self, exercise: Exercise, given: Given) -> float:
        """The solution in SI."""
        return float(call_with(exercise.solution, given))

    def derived(self, exercise: Exercise, given: Given) -> str:
        """The formula of the solution, or what it computes as it is declared."""
        return derivation(exercise, given)

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:
        """Mistakes within tolerance of each other or of the solution."""
        want = Fraction(self.expected(exercise, given))
        problems: list[str] = []
        seen: list[tuple[Fraction, str]] = []
        for mistake in exercise.mistakes:
            value = Fraction(float(call_with(mistake.value, given)))
            if slips.close(value, want, self.rtol) or slips.close(want, value, self.rtol):
                problems.append(f"the mistake {mistake.say!r} is within tolerance of the solution")
            problems += [
                f"the mistakes {mistake.say!r} and {say!r} look alike"
                for other, say in seen
                if slips.close(value, other, 2 * self.rtol)
            ]
            seen.append((value, mistake.say))
        return problems

    def weaknesses(self, exercise: Exercise, rows: Sequence[Given]) -> list[Weakness]:
        """Those within a few tolerances, of `wrong_ways`."""
        return weak_numbers(exercise, rows, lambda want, value: abs(value - want) / abs(self.rtol * want))

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right within tolerance; else the sentence of a mistake, of a slip, of another learner's numbers, or
        of the unit."""
        try:
            answer = self.read(value)
            self._per_what_is_asked(value, exercise.prompt_text(given))
        except Unreadable as error:
            return not_read(error)
        if self._same(answer, Fraction(self.expected(exercise, given))):
            return exercise.right()
        reading = read_as(measured(value)) if type(value) is str else ""
        return self._judge_wrong(exercise, value, answer, given).with_more(reading.strip())

    def _judge_wrong(self, exercise: Exercise, value: Any, answer: Fraction, given: Given) -> Verdict:
        want = Fraction(self.expected(exercise, given))
        wrong = [(mistake, Fraction(float(call_with(mistake.value, given)))) for mistake in exercise.mistakes]
        typed = as_float(answer)
        known = [(mistake, float(number)) for mistake, number in wrong if self._same(answer, number)]
        matching = meant(known, typed)
        slip = slips.find(answer, want, self.rtol, self.unit, exercise.prompt_text(given))
        in_bits = slip is not None and slip.reason == "bits" and type(value) is str and BITS.search(value) is not None
        if matching and not in_bits:  # the mistake knows the exercise, the slip of the same ratio does not
            say = exercise.fill(matching[0][0].say, given)
            cause = other_cause(slip.reason, exercise.prompt_text(given), say) if slip else None
            near = min(precision(typed), self.rtol)
            return mistake_verdict(exercise, matching, typed, given, cause=cause, near=near)
        if slip:
            say = self._without_unit(value, answer, want) if slip.reason == "prefix" else ""
            return Verdict(0.0, say or slip.say, "slip", slip.reason)
        if self._other(exercise, answer, given):
            return other_variant()
        if nearly := self._rounded(exercise, value, answer, given):
            return nearly
        if slips.close(answer, want, min(CLOSE * self.rtol, 0.5)):
            doubt = "is it rounded, or is a small part missing, or one too many?"
            say = f"Close, but not within {100 * self.rtol:.3g} %: {doubt}"
            return Verdict(0.0, say, "wrong", "close")
        many = math.isfinite(typed) and precision(typed) <= NEAR
        near = EXACT if many else NEAR  # a program's number has all of its digits
        finding = recognise(exercise, typed, float(want), given, unit=self.unit, near=near)
        finding = finding or self._far(answer, want) or how_far(as_float(answer), float(want))
        return not_yet(finding.say, finding.reason)

    def _without_unit(self, value: Any, answer: Fraction, want: Fraction) -> str:
        """What is told of a bare number that lacks a prefix of its unit; "" where it has a unit or has been computed,
        or where nobody measures in the other one: a slip of a prefix says as much, and which way it went stays open."""
        if has_letters(value) if type(value) is str else not typed_by_hand(as_float(answer)):
            return ""
        from hwlib.units import show

        ratio = as_float(answer / want)
        for size in SCALES.get(self.unit, ()):
            if math.isclose(ratio * size, 1, rel_tol=CLOSE * self.rtol):
                unit, factor = show(size, self.unit).removeprefix("1 "), f"{round(max(size, 1 / size)):,}"
                say = f"A number without a unit is read in {quoted(self.unit)}, and so yours is off by a factor of "
                return f"{say}{factor}. It would be right in {quoted(unit)}: type the unit too."
        return ""

    def _rounded(self, exercise: Exercise, value: Any, answer: Fraction, given: Given) -> Verdict | None:
        """The verdict on a mistake or slip that is typed with two digits, as one says 3.8 for 3.85."""
        typed, reach = as_float(answer), min(CLOSE * self.rtol, 0.5)
        if not two_digits(typed):
            return None

        def fits(value: float) -> bool:
            return slips.close(answer, Fraction(value), reach) and any(math.isclose(typed, x) for x in rounded(value))

        want = self.expected(exercise, given)
        if fits(want):
            return None
        wrong = [(float(call_with(m.value, given)), exercise.fill(m.say, given)) for m in exercise.mistakes]
        near = [(abs(one - typed), say) for one, say in wrong if math.isfinite(one) and fits(one)]
        if near:
            return Verdict(0.0, min(near)[1], "mistake")
        for near_one in filter(fits, _slipped(want)):
            slip = slips.find(near_one, want, self.rtol, self.unit, exercise.prompt_text(given))
            if slip and slip.reason not in slips.NARROW:  # two digits do not tell a GiB from one thing more
                say = self._without_unit(value, answer, Fraction(want)) if slip.reason == "prefix" else ""
                return Verdict(0.0, say or slip.say, "slip", slip.reason)
        return None

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The number with its unit."""
        return shown_number(self, call_with(value, given))

    def right(self, exercise: Exercise, value: Any, given: Given) -> bool:
        """Within tolerance."""
        return self._same(self.read(value), Fraction(self.expected(exercise, given)))

    def tolerance(self, exercise: Exercise, given: Given) -> str:
        """The share, and from where to where that is."""
        from hwlib.units import show

        want = self.expected(exercise, given)
        low, high = (show(want * (1 + side * self.rtol), self.unit, 4) for side in (-1, 1))
        return f"within {100 * self.rtol:.3g} %: {low} to {high}"

    def counted_as(self, exercise: Exercise, value: Any, given: Given) -> str | float:
        """Its ratio to the right one, which is the same for all whose formula has the same factor too many."""
        want = self.expected(exercise, given)
        return as_float(self.read(value)) / want if want else as_float(self.read(value))

    def relation(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The ratio."""
        return ratio_to(as_float(self.read(value)), self.expected(exercise, given))

    def formulas(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> list[dict[str, int]]:
        """Products of the numbers."""
        return products(exercise, self._floats(wrong), self.unit)

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """A lambda of the numbers."""
        return lambda_for(exercise, self._floats(wrong), self.unit)

    def _floats(self, wrong: Sequence[tuple[Any, Given]]) -> list[tuple[float, Given]]:
        return [(as_float(self.read(value)), given) for value, given in wrong]

    def box(self, exercise: Exercise) -> Box:
        """A field for a number or a calculation, with a unit."""
        from hwlib.units import COUNTS

        unit = self.unit or "1"
        plural = unit + "s" if unit in COUNTS and unit.islower() else unit
        return Box(ask="Your answer" + ("" if unit == "1" else f", in {plural} or with a unit"), echo=True)

    def _far(self, answer: Fraction, want: Fraction) -> Finding | None:
        """What an absurd answer is told first: what it was read as, for its unit is the first
        suspect."""
        if answer <= 0 < want:
            say = f"Yours is {quoted(self.readable(answer))}, and the answer is above zero."
            return Finding(say, "not-above-zero")
        if want > 0 and not want / FAR < answer < want * FAR:
            look = "" if self.unit == "1" else ": look at its unit first"
            say = f"Yours is {quoted(self.readable(answer))}, off by orders of magnitude{look}."
            return Finding(say, "orders-of-magnitude")
        return None

    def _same(self, answer: Fraction, want: Fraction) -> bool:
        return slips.close(answer, want, self.rtol)

    def _other(self, exercise: Exercise, answer: Fraction, given: Given) -> bool:
        rtol = min(self.rtol / 10, 1e-3)
        return any(
            slips.close(answer, Fraction(self.expected(exercise, row)), rtol) for row in others_numbers(exercise, given)
        )


def measured(text: str) -> Measure | Calculation:
    """A number or a calculation with its unit; Unreadable for anything else."""
    from hwlib.units import UnitError, parse

    try:
        return worked_out(text) if is_calculation(text) else parse(ungrouped(text.strip()))
    except UnitError as error:
        raise Unreadable(quoted_error(error, text)) from None


def read_as(measure: Measure | Calculation) -> str:
    """How a calculation was read that can be read in two ways, as a sentence with a space before it; else ""."""
    reading = measure.reading if isinstance(measure, Calculation) else ""
    return f" It was read as {quoted(reading)}." if reading else ""


def things_per(unit: str, wanted: str) -> list[str] | None:
    """The things by which `unit` divides and `wanted` does not: the token of kB/token where bytes are asked. None where
    what they count differs otherwise."""
    from hwlib.units import labels

    own, other = labels(unit), labels(wanted)
    more = {thing: power - other.get(thing, 0) for thing, power in (dict.fromkeys(other, 0) | own).items()}
    different = {thing: power for thing, power in more.items() if power}
    return list(different) if all(power == -1 for power in different.values()) else None


def asks_per(thing: str, prompt: str) -> bool:
    """Whether a prompt asks for something per thing: "for a token", "per GPU", "each step"."""
    from hwlib.units import words_of

    names = "|".join(map(re.escape, words_of(thing) or [thing]))
    return (
        re.search(rf"\b(?:an?|per|each|every|one|a single)\s+(?:of\s+\w+\s+)?(?:{names})\b", prompt, re.I) is not None
    )


def has_letters(text: str) -> bool:
    """Whether a text has more than a number, or a calculation with numbers: a unit, a percent sign."""
    return bool(re.search(r"[A-Za-zµ%×]", re.sub(r"(?i)(?<=\d)e(?=[-+]?\d)", "", text)))


def typed_by_hand(value: float) -> bool:
    """Whether a number has so few digits that somebody may have typed it."""
    return float(f"{value:.{TYPED}g}") == value


def shown_number(kind: Answer, value: Any) -> str:
    """A number of the declaration as the kind reads it, or, where it does not, with a few digits."""
    try:
        return kind.readable(value)
    except ValueError:
        return f"{float(value):.4g}"


def _slipped(want: float) -> list[float]:
    """The right number with each of the slips in it."""
    ratios = (r for s in slips.SLIPS for r in (float(s.ratio), 1 / float(s.ratio)))
    return [x for x in dict.fromkeys(want * r for r in ratios) if math.isfinite(x)]


def quoted_error(error: Exception, text: str) -> str:
    """What a parser says, where it can be shown; the learner's own text only quoted."""
    say = str(error)
    return (
        re.sub(r"([\\*_~\[\]$])", r"\\\1", say)
        if say.isprintable() and len(say) < 300 and not set("<>&`") & set(say)
        else f"{quoted(text)} is not a number with a unit"
    )


def name_of(unit: str) -> str:
    """What an answer in that unit is, for a sentence: "is in B/s", "is in tokens", "has no unit"."""
    from hwlib.units import show

    return "has no unit" if unit == "1" else f"is in {show(2, unit).removeprefix('2 ')}"
