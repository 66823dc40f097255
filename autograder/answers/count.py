"""Counts: integers, exactly.

Reasons: those of `Count.read`; sign, off-by-one, factor-two. Of another thing than is counted: other-unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from ..declaration.answer import Answer, Box, Call, Weakness, other_variant, others_numbers
from ..declaration.exercise import Exercise
from ..declaration.given import Given, call_with
from ..declaration.verdict import DeclarationError, Verdict, not_yet, unreadable
from ..values import encoding, slips
from ..values.arithmetic import is_calculation, worked_out
from ..values.finding import Finding
from ..values.numbers import Unreadable, as_float, number
from ..values.texts import quoted
from .derivation import derivation
from .quantity import MAX_COUNT_BITS, ROUNDED, TINY, asks_per, quoted_error, shown_number
from .recognised import how_far, recognise
from .rival_ways import mistake_verdict, other_cause
from .undeclared import lambda_for, products, ratio_to
from .wrong_ways import weak_numbers

TWICE = ("one of two kinds left out", "the size of each")
PER = re.compile(r"(.*\d)\s*([A-Za-z]+)(?:\s*(?:/|\bper\b)\s*([A-Za-z]+))?")  # 512 FLOP/cycle, 3 copies
FEW = 4  # below it every wrong count is off by one or by a factor of 2


@dataclass(frozen=True)
class Count(Answer):
    """An integer, exactly: 8, 8.0, "8" and "2^3" are the same answer, and 8.5 is reported as not an integer.

    `of` is what is counted, in the singular ("GPU"): then "8 GPUs" is the same answer too, and so is "8 GPUs/node"
    where the prompt asks for those of a node.
    """

    of: str = ""

    def declare(self, exercise: Exercise) -> None:
        """What is counted is one word."""
        if not re.fullmatch(r"[A-Za-z]*", self.of):
            raise DeclarationError(f"{exercise.id}: of is {self.of!r}; one word in the singular was expected")

    def problems(self, exercise: Exercise) -> list[str]:
        """What is counted is named, so that nobody is refused who writes it behind the number."""
        unnamed = [] if self.of else ['of is empty; what is counted was expected, as in Count(of="GPU")']
        return [*super().problems(exercise), *unnamed]

    def public(self) -> dict[str, Any]:
        """What is counted, where that is said."""
        return {"of": self.of} if self.of else {}

    @property
    def how(self) -> str:
        """An integer."""
        return "`answer` is an integer"

    def read(self, value: Any) -> int:
        """The integer, or Unreadable: number-and-word, other-unit, calculation, not-an-integer, too-many-digits."""
        exact = self._exact(value)
        if exact.denominator != 1:
            say = f"{as_float(exact):.6g} is not an integer; it is counted, so a whole number was expected"
            raise Unreadable(say, reason="not-an-integer")
        if abs(exact.numerator).bit_length() > MAX_COUNT_BITS:
            say = "an integer of more than a thousand digits; a count was expected"
            raise Unreadable(say, reason="too-many-digits")
        return int(exact)

    def _exact(self, value: Any) -> Fraction:
        """The number that it is, an integer or not; a text may be a calculation."""
        if type(value) is str:
            text = self._without_noun(value.strip().replace("_", ""))
            if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", text):  # 4,0 is four to many, and never forty
                text = text.replace(",", "")
            text = power_worked_out(text)
            if is_calculation(text) and (exact := self._worked_out(text)) is not None:
                return exact
            if not re.fullmatch(r"[-+]?\d{1,300}(\.\d{1,300})?([eE][-+]?\d{1,3})?", text):
                reason, problem = "not-an-integer", "is not an integer; a whole number was expected"
                if re.fullmatch(r"[-+]?\d[\d,.]*\s*[A-Za-z]+", text):
                    reason = "number-and-word"
                    problem = "is a number and a word; the whole number alone was expected"
                raise Unreadable(f"{quoted(value)} {problem}", reason=reason)
            return Fraction(text)
        return number(value)

    def _worked_out(self, text: str) -> Fraction | None:
        """What a calculation comes to, None for one with letters; Unreadable (calculation, other-unit) for any that is
        not of plain numbers."""
        from hwlib.units import UnitError

        try:
            worked = worked_out(text)
        except UnitError as error:
            if error.fault == "unit":
                return None
            raise Unreadable(quoted_error(error, text), reason="calculation") from None
        if worked.powers and not (self.of and worked.unit.lower() in nouns(self.of)):
            say = f"{quoted(text)} comes to {worked.unit}; a whole number was expected"
            raise Unreadable(say, reason="other-unit")
        return worked.value

    def _without_noun(self, text: str) -> str:
        """The text without what is counted; Unreadable where that is something else."""
        word = PER.fullmatch(text)
        if word is None or not self.of:
            return text
        if word[2].lower() in nouns(self.of):
            return word[1]
        say = f"{quoted(text)} is a number and another word; a whole number of {plural(self.of)} was expected"
        raise Unreadable(say, reason="other-unit")

    def readable(self, value: Any) -> str:
        """The integer."""
        return f"{self.read(value):,}"

    def expected(self, exercise: Exercise, given: Given) -> int:
        """The solution; DeclarationError where it is not an integer."""
        return self._integer(exercise, exercise.solution, given)

    def _integer(self, exercise: Exercise, function: Any, given: Given) -> int:
        try:
            return self.read(encoding.decode(encoding.encode(call_with(function, given))))
        except (Unreadable, encoding.NotEncodable) as error:
            raise DeclarationError(f"{exercise.id}: {error}") from None

    def _wrong(self, exercise: Exercise, given: Given) -> list[tuple[Fraction, str]]:
        # A mistake need not be an integer (a division that was not rounded up): it is matched by its own
        # value.
        return [(number(encoding.decode(encoding.encode(call_with(m.value, given)))), m.say) for m in exercise.mistakes]

    def derived(self, exercise: Exercise, given: Given) -> str:
        """The formula of the solution, or what it computes as it is declared."""
        return derivation(exercise, given)

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:
        """Mistakes equal to each other or to the solution."""
        want = Fraction(self.expected(exercise, given))
        problems, seen = [], {want: "the solution"}
        for value, say in self._wrong(exercise, given):
            if value in seen:
                problems.append(f"the mistake {say!r} gives the same as {seen[value]}")
            seen.setdefault(value, repr(say))
        return problems

    def weaknesses(self, exercise: Exercise, rows: Sequence[Given]) -> list[Weakness]:
        """Those that come to the same integer, of `wrong_ways`."""
        return weak_numbers(exercise, rows, lambda want, value: 0.0 if value == want else math.inf, exact=True)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Exactly right, or the sentence of a mistake, of a slip, of another learner's numbers, or of what is not an
        integer."""
        try:
            exact = Fraction(self.read(value))
            per_what_is_asked(value, exercise.prompt_text(given))
        except Unreadable as error:
            return self._mistake(exercise, value, given) or unreadable(str(error), error.reason)
        want = self.expected(exercise, given)
        if exact == want:
            return exercise.right()
        if verdict := self._mistake(exercise, value, given):
            return verdict
        if slip := slip_of_count(int(exact), want, exercise.prompt_text(given)):
            return Verdict(0.0, slip.say, "slip", slip.reason)
        if any(exact == self.expected(exercise, row) for row in others_numbers(exercise, given)):
            return other_variant()
        finding = recognise(exercise, as_float(exact), want, given, near=0.0) or how_far(as_float(exact), want)
        return not_yet(finding.say, finding.reason)

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The integer; a mistake's number need not be one."""
        return shown_number(self, call_with(value, given))

    def right(self, exercise: Exercise, value: Any, given: Given) -> bool:
        """The same integer."""
        return self.read(value) == self.expected(exercise, given)

    def relation(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The ratio."""
        return ratio_to(as_float(Fraction(self.read(value))), self.expected(exercise, given))

    def formulas(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> list[dict[str, int]]:
        """Products of the numbers."""
        return products(exercise, self._floats(wrong), "1")

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """A lambda of the numbers."""
        return lambda_for(exercise, self._floats(wrong), "1")

    def _floats(self, wrong: Sequence[tuple[Any, Given]]) -> list[tuple[float, Given]]:
        return [(as_float(Fraction(self.read(value))), given) for value, given in wrong]

    def box(self, exercise: Exercise) -> Box:
        """A field for an integer."""
        return Box(ask="Your answer, an integer", echo=True)

    def _mistake(self, exercise: Exercise, value: Any, given: Given) -> Verdict | None:
        """What is told of an answer that is the number of a mistake."""
        try:
            answer = self._exact(value)
        except Unreadable:
            return None
        numbers = self._wrong(exercise, given)
        table = [(mistake, wrong) for mistake, (wrong, _) in zip(exercise.mistakes, numbers, strict=True)]
        rtol = TINY if answer.denominator == 1 else ROUNDED
        matching = [row for row in table if slips.close(answer, row[1], rtol)]
        # A non-integer gets its own sentence, also for someone who has rounded it.
        matching = matching or [row for row in table if answer in (math.floor(row[1]), math.ceil(row[1]))]
        if not matching:
            return None
        want, about = self.expected(exercise, given), exercise.prompt_text(given)
        slip = slip_of_count(int(answer), want, about) if answer.denominator == 1 else None
        cause = other_cause(slip.reason, about, matching[0][0].say, TWICE) if slip else None
        rows = [(mistake, as_float(wrong)) for mistake, wrong in matching]
        return mistake_verdict(exercise, rows, as_float(answer), given, cause=cause)


def per_what_is_asked(value: Any, prompt: str) -> None:
    """Unreadable for a count per something else than what the prompt asks it for."""
    word = PER.fullmatch(value.strip()) if type(value) is str else None
    if word is not None and word[3] and not asks_per(word[3], prompt):
        say = f"{quoted(value)} is a number per {word[3]}, and nothing per {word[3]} was asked for"
        raise Unreadable(say, reason="other-unit")


def plural(noun: str) -> str:
    """More of what is counted."""
    if re.search("[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return noun + ("es" if re.search("(?:s|x|ch|sh)$", noun) else "s")


@cache
def nouns(noun: str) -> tuple[str, ...]:
    """How what is counted may be written, in lower case: singular, plural, and as the units of the book have it."""
    from hwlib.units import words_of

    return tuple(sorted({one.lower() for one in (noun, plural(noun), *words_of(noun))})) if noun else ()


def power_worked_out(text: str) -> str:
    """ "2^10" as "1024", and any other text as it is."""
    power = re.fullmatch(r"([0-9]{1,2})\^([0-9]{1,2})", text.strip())
    return str(int(power[1]) ** int(power[2])) if power else text


def slip_of_count(answer: int, want: int, about: str) -> Finding | None:
    """What a wrong count is told by its relation to the right one; `about` is the prompt. Between integers a ratio of
    8 is chance, and says nothing about bits and bytes."""
    if answer and answer == -want:
        return Finding("The size is right, the sign is not.", "sign")
    if abs(want) < FEW:
        return None
    if abs(answer - want) == 1:
        say = (
            "Nearly, off by one. Is it rounded to the right side, the first or the last one rightly counted, and each "
            "number on the way exact?"
        )
        return Finding(say, "off-by-one")
    if answer == 2 * want or 2 * answer == want:
        return Finding(slips.twice(about, first=TWICE), "factor-two")
    return None
