"""Answer kinds: what a learner gives, how it is read, and when it is right."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from . import plain, slips
from .algorithms import Algorithm, Limit, at_most, exactly
from .buffers import Case
from .declaration import DeclarationError, Verdict, call_with, unreadable
from .distributed import Distributed
from .expressions import Domain, Expression, domains_from, integers, positive, powers_of_two
from .programs import Function
from .prompts import quoted
from .reading import Answer, Call, Unreadable, as_float, described, number
from .written import Written

if TYPE_CHECKING:
    from .declaration import Exercise, Given

MAX_COUNT_BITS = 3322  # a thousand digits
CLOSE = 5  # tolerances: within as many an answer is told that it is close
FAR = 10**4  # the ratio from which on an answer is told that it is absurd
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

    def declare(self, exercise: Exercise) -> None:
        """The tolerance must be one."""
        if not 0 < self.rtol < 0.5:
            raise DeclarationError(f"{exercise.id}: rtol is {self.rtol}; a tolerance between 0 and 0.5 was expected")

    def public(self) -> dict[str, Any]:
        """The unit and the tolerance."""
        return {"unit": self.unit, "rtol": self.rtol}

    def read(self, value: Any) -> Fraction:
        """The answer in SI; Unreadable tells a wrong unit (kind "unit") from what is no number."""
        return self._text(value) if type(value) is str else number(value)

    def _text(self, text: str) -> Fraction:
        from hwlib.units import UnitError, dimension, labels, parse

        try:
            measure = parse(text.strip())
        except UnitError as error:
            raise Unreadable(quoted_error(error, text)) from None
        value = number(measure.value)
        if measure.unit == "1" and not re.search(r"[A-Za-zµ%]", re.sub(r"(?i)(?<=\d)e(?=[-+]?\d)", "", text)):
            return value
        wanted = parse(f"1 {self.unit}").unit if self.unit != "1" else "1"
        if dimension(measure.unit) != dimension(wanted) or labels(measure.unit) != labels(wanted):
            say = f"The answer {name_of(self.unit)}, yours {name_of(measure.unit)}."
            raise Unreadable(say, "unit")
        return value

    def readable(self, value: Any) -> str:
        """The number with its unit."""
        from hwlib.units import show

        return show(as_float(self.read(value)), self.unit)

    def expected(self, exercise: Exercise, given: Given) -> float:
        """The solution in SI."""
        return float(call_with(exercise.solution, given))

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:
        """Mistakes within tolerance of each other or of the solution."""
        want = Fraction(self.expected(exercise, given))
        found: list[str] = []
        seen: list[tuple[Fraction, str]] = []
        for mistake in exercise.mistakes:
            value = Fraction(float(call_with(mistake.value, given)))
            if slips.close(value, want, self.rtol) or slips.close(want, value, self.rtol):
                found.append(f"the mistake {mistake.say!r} is within tolerance of the solution")
            found += [
                f"the mistakes {mistake.say!r} and {say!r} look alike"
                for other, say in seen
                if slips.close(value, other, 2 * self.rtol)
            ]
            seen.append((value, mistake.say))
        return found

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:  # noqa: ARG002
        """Right within tolerance; else the sentence of a mistake, of a slip, of another learner's numbers, or
        of the unit."""
        try:
            answer = self.read(value)
        except Unreadable as error:
            return Verdict(0.0, str(error), "unit") if error.kind == "unit" else unreadable(str(error))
        want = Fraction(self.expected(exercise, given))
        if self._same(answer, want):
            return exercise.right()
        said = [
            exercise.fill(m.say, given)
            for m in exercise.mistakes
            if self._same(answer, Fraction(float(call_with(m.value, given))))
        ]
        if said:  # and not the slip of the same ratio: the mistake knows the exercise, the slip does not
            return Verdict(0.0, " ".join(dict.fromkeys(said)), "mistake")
        slip = slips.find(answer, want, self.rtol, self.unit)
        own = dict(given) != exercise.variant()
        if own and self._other(exercise, answer, given):
            return _other_variant()
        if slip:
            return Verdict(0.0, slip.say, "slip")
        if not own and self._other(exercise, answer, given):
            return _other_variant()
        if slips.close(answer, want, min(CLOSE * self.rtol, 0.5)):
            say = f"Close, but not within {100 * self.rtol:.3g} %: is it rounded, or a small term missing?"
            return Verdict(0.0, say, "wrong")
        return Verdict(0.0, self._far(answer, want) + _not_yet(exercise), "wrong")

    def _far(self, answer: Fraction, want: Fraction) -> str:
        """What an absurd answer is told before the hint: what it was read as, for its unit is the first
        suspect."""
        if answer <= 0 < want:
            return f"Yours is {quoted(self.readable(answer))}, and the answer is above zero. "
        if want > 0 and not want / FAR < answer < want * FAR:
            look = "" if self.unit == "1" else ": look at its unit first"
            return f"Yours is {quoted(self.readable(answer))}, off by orders of magnitude{look}. "
        return ""

    def _same(self, answer: Fraction, want: Fraction) -> bool:
        return slips.close(answer, want, self.rtol)

    def _other(self, exercise: Exercise, answer: Fraction, given: Given) -> bool:
        others = (row for row in exercise.variants() if row != dict(given))
        return any(
            slips.close(answer, Fraction(self.expected(exercise, row)), min(self.rtol / 10, 1e-3)) for row in others
        )


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


def _other_variant() -> Verdict:
    return Verdict(
        0.0,
        "That is right for other numbers than yours: compute with the numbers of your own prompt.",
        "variant",
    )


def _not_yet(exercise: Exercise) -> str:
    return "Not yet." + (f" A hint: {exercise.hints[0]}" if exercise.hints else "")


@dataclass(frozen=True)
class Count(Answer):
    """An integer, exactly: 8, 8.0 and "8" are one answer, and 8.5 is told that it is none."""

    def declare(self, exercise: Exercise) -> None:
        """A count has no tolerance, so nothing to check."""

    def read(self, value: Any) -> int:
        """The integer, or Unreadable."""
        if type(value) is str:
            text = value.strip().replace("_", "")
            if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", text):  # 4,0 is four to many, and never forty
                text = text.replace(",", "")
            if not re.fullmatch(r"[-+]?\d{1,300}(\.\d{1,300})?([eE][-+]?\d{1,3})?", text):
                sum_of_numbers = re.fullmatch(r"[\d\s.()]*\d[\s)]*[-+*/][\d\s.+\-*/()]+", text)
                if re.fullmatch(r"[-+]?\d[\d,.]*\s*[A-Za-z]+", text):
                    said = "is a number and a word; the whole number alone was expected"
                else:
                    said = f"is {'a calculation' if sum_of_numbers else 'not an integer'}; a whole number was expected"
                raise Unreadable(f"{quoted(value)} {said}")
            exact = Fraction(text)
        else:
            exact = number(value)
        if exact.denominator != 1:
            raise Unreadable(f"{as_float(exact):.6g} is not an integer; it is counted, so a whole number was expected")
        if abs(exact.numerator).bit_length() > MAX_COUNT_BITS:
            raise Unreadable("an integer of more than a thousand digits; a count was expected")
        return int(exact)

    def readable(self, value: Any) -> str:
        """The integer."""
        return f"{self.read(value):,}"

    def expected(self, exercise: Exercise, given: Given) -> int:
        """The solution; DeclarationError where it is not an integer."""
        return self._integer(exercise, exercise.solution, given)

    def _integer(self, exercise: Exercise, function: Any, given: Given) -> int:
        try:
            return self.read(plain.decode(plain.encode(call_with(function, given))))
        except (Unreadable, plain.NotPlain) as error:
            raise DeclarationError(f"{exercise.id}: {error}") from None

    def _wrong(self, exercise: Exercise, given: Given) -> list[tuple[Fraction, str]]:
        # A mistake need not be an integer (a division that was not rounded up): it is matched by its own
        # value.
        return [(number(plain.decode(plain.encode(call_with(m.value, given)))), m.say) for m in exercise.mistakes]

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:
        """Mistakes equal to each other or to the solution."""
        want = Fraction(self.expected(exercise, given))
        found, seen = [], {want: "the solution"}
        for value, say in self._wrong(exercise, given):
            if value in seen:
                found.append(f"the mistake {say!r} gives the same as {seen[value]}")
            seen.setdefault(value, repr(say))
        return found

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:  # noqa: ARG002
        """Exactly right, or the sentence of a mistake, another learner's numbers, or of what is no integer.

        No slips: between small integers a ratio of 2 or 8 is chance, and says nothing about bits and bytes.
        """
        try:
            exact = Fraction(self.read(value))
        except Unreadable as error:
            said = self._said(exercise, value, given)
            return Verdict(0.0, said, "mistake") if said else unreadable(str(error))
        want = self.expected(exercise, given)
        if exact == want:
            return exercise.right()
        if said := self._said(exercise, value, given):
            return Verdict(0.0, said, "mistake")
        if any(exact == self.expected(exercise, row) for row in exercise.variants() if row != dict(given)):
            return _other_variant()
        return Verdict(0.0, _not_yet(exercise), "wrong")

    def _said(self, exercise: Exercise, value: Any, given: Given) -> str:
        try:
            answer = self.read(value) if type(value) is str else number(value)
        except Unreadable:
            return ""
        table = self._wrong(exercise, given)
        rtol = TINY if Fraction(answer).denominator == 1 else ROUNDED
        said = [say for wrong, say in table if slips.close(answer, wrong, rtol)]
        # What is no integer is told to someone who has rounded it, too.
        said = said or [say for wrong, say in table if answer in (math.floor(wrong), math.ceil(wrong))]
        return " ".join(dict.fromkeys(exercise.fill(say, given) for say in said))


@dataclass(frozen=True)
class Choice(Answer):
    """One of `options`: a dict of key and text, or a tuple of texts (keys a, b, c...).

    The key, its letter by position and the text itself are understood, in either case.
    """

    options: Any
    predictable: ClassVar[bool] = True

    def __post_init__(self):
        if isinstance(self.options, Mapping):
            table = {str(k): str(v) for k, v in self.options.items()}
        elif isinstance(self.options, Sequence) and not isinstance(self.options, str):
            table = {chr(ord("a") + i): str(text) for i, text in enumerate(self.options)}
        else:
            raise DeclarationError(f"options are {self.options!r}; a dict or a tuple was expected")
        if len(table) < 2 or len({_plain_text(k) for k in table}) < len(table):
            raise DeclarationError(f"options are {self.options!r}; at least two different ones were expected")
        object.__setattr__(self, "options", table)

    def declare(self, exercise: Exercise) -> None:
        """The solution and each mistake must be options."""
        for value in (exercise.solution, *(m.value for m in exercise.mistakes)):
            if not callable(value):
                self._key(exercise, value)

    def _key(self, exercise: Exercise, value: Any) -> str:
        try:
            return self.read(value)
        except Unreadable as error:
            raise DeclarationError(f"{exercise.id}: {error}") from None

    def public(self) -> dict[str, Any]:
        """The options, without what is said of them."""
        return {"options": dict(self.options)}

    def stub(self, exercise: Exercise) -> str:  # noqa: ARG002
        """The answer cell, with the keys in its comment."""
        keys = ", ".join(f'"{key}"' for key in self.options)
        return f"answer = ...  # one of {keys}"

    def read(self, value: Any) -> str:
        """The key of the option that is meant, or Unreadable."""
        if type(value) is float or (type(value) is int and value.bit_length() < 64):
            value = str(value)
        if type(value) is not str:
            raise Unreadable(f"{described(value)}; one of {self._listed()} was expected")
        text = _plain_text(value[:1000])
        letters = {chr(ord("a") + i): key for i, key in enumerate(self.options)}
        for names in (
            {_plain_text(k): k for k in self.options},
            {_plain_text(v): k for k, v in self.options.items()},
            letters,
        ):
            if text in names:
                return names[text]
        raise Unreadable(f"{quoted(value)} is not an option; one of {self._listed()} was expected")

    def _listed(self) -> str:
        return ", ".join(f'"{key}"' for key in self.options)

    def readable(self, value: Any) -> str:
        """The text of the option."""
        key = self.read(value)
        return self.options[key] or key

    def expected(self, exercise: Exercise, given: Given) -> str:
        """The right option's key."""
        return self._key(exercise, call_with(exercise.solution, given))

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:  # noqa: ARG002
        """Right, or the sentence of the option."""
        try:
            key = self.read(value)
        except Unreadable as error:
            return unreadable(str(error))
        if key == self.expected(exercise, given):
            return exercise.right()
        said = [
            exercise.fill(m.say, given)
            for m in exercise.mistakes
            if self._key(exercise, call_with(m.value, given)) == key
        ]
        return Verdict(0.0, " ".join(said), "mistake") if said else Verdict(0.0, _not_yet(exercise), "wrong")


def _plain_text(text: str) -> str:
    return "".join(text.casefold().split()).strip("\"'()[].")


def answer_from(public: Mapping[str, Any]) -> Answer:
    """The answer kind of a public record: enough to read an answer, not to judge it."""
    kind = public["kind"]
    if kind == "Quantity":
        return Quantity(public["unit"], public["rtol"])
    if kind == "Count":
        return Count()
    if kind == "Choice":
        return Choice(public["options"])
    if kind == "Expression":
        return Expression(domains_from(public["symbols"]), public["unit"])
    if kind == "Function":
        return Function(public["answer_name"], public["signature"])
    if kind == "Algorithm":
        return Algorithm(public["answer_name"], public["signature"], collective=public["collective"])
    if kind == "Distributed":
        return Distributed(
            public["answer_name"], public["signature"], collective=public["collective"], calls=public["calls"]
        )
    if kind == "Written":
        return Written(public["rubric"], public["words"])
    raise DeclarationError(f"{public.get('id')}: the answer kind {kind!r} is not known")


__all__ = [
    "Algorithm", "Answer", "Case", "Choice", "Count", "Distributed", "Domain", "Expression", "Function", "Limit",
    "Quantity", "Unreadable", "Written", "answer_from", "at_most", "domains_from", "exactly", "integers", "positive",
    "powers_of_two",
]  # fmt: skip
