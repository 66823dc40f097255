"""Choices: one of several options."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from ..declaration.answer import Answer, Box, Call
from ..declaration.exercise import Exercise
from ..declaration.given import Given, call_with
from ..declaration.verdict import DeclarationError, Verdict, not_yet, unreadable
from ..values.numbers import Unreadable, described
from ..values.texts import quoted


@dataclass(frozen=True)
class Choice(Answer):
    """One of `options`: a dict of key and text, or a tuple of texts (keys a, b, c...).

    The key and the text itself are understood, in either case. The options stand in an order of the exercise, and of
    the learner where one is known, which has nothing to do with the declared one. `ordered`: they stay as they are
    declared, as sizes do, and the letter of a place is understood too.
    """

    options: Any
    ordered: bool = False
    predictable: ClassVar[bool] = True
    in_a_chapter: ClassVar[tuple[int, int | None]] = (1, None)

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

    @property
    def how(self) -> str:
        """One of the strings that stand below the prompt."""
        return "`answer` is one of these strings"

    def asked_with(self) -> str:
        """The options as a list, each with the string that names it."""
        return "\n".join(
            f'- `"{key}"`' + (f": {text}" if text and text != key else "") for key, text in self.options.items()
        )

    def arranged(self, exercise_id: str, learner: str = "") -> Self:
        """The options in the order of (id, learner): by digests of their keys, so the declared order shows nowhere."""
        if self.ordered:
            return self

        def place(key: str) -> bytes:
            return hashlib.sha256(f"{exercise_id}\0{learner}\0{key}".encode()).digest()

        return replace(self, options={key: self.options[key] for key in sorted(self.options, key=place)})

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
        """The options, without their sentences."""
        options: dict[str, Any] = {"options": dict(self.options)}
        return options | ({"ordered": True} if self.ordered else {})

    def stub(self, exercise: Exercise) -> str:
        """The answer cell, with the keys in its comment."""
        keys = ", ".join(f'"{key}"' for key in self.options)
        return f"answer = ...  # one of {keys}"

    def read(self, value: Any) -> str:
        """The key of the option that is meant, or Unreadable (not-an-option)."""
        if type(value) is float or (type(value) is int and value.bit_length() < 64):
            value = str(value)
        if type(value) is not str:
            raise Unreadable(f"{described(value)}; one of {self._listed()} was expected", reason="not-an-option")
        text = _plain_text(value[:1000])
        places = self.options if self.ordered else ()  # elsewhere a letter means another option to each learner
        letters = {chr(ord("a") + i): key for i, key in enumerate(places)}
        for names in (
            {_plain_text(k): k for k in self.options},
            {_plain_text(v): k for k, v in self.options.items()},
            letters,
        ):
            if text in names:
                return names[text]
        say = f"{quoted(value)} is not an option; one of {self._listed()} was expected"
        raise Unreadable(say, reason="not-an-option")

    def _listed(self) -> str:
        return ", ".join(f'"{key}"' for key in self.options)

    def readable(self, value: Any) -> str:
        """The text of the option."""
        key = self.read(value)
        return self.options[key] or key

    def expected(self, exercise: Exercise, given: Given) -> str:
        """The right option's key."""
        return self._key(exercise, call_with(exercise.solution, given))

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right, or the sentence of the option."""
        try:
            key = self.read(value)
        except Unreadable as error:
            return unreadable(str(error), error.reason)
        if key == self.expected(exercise, given):
            return exercise.right()
        sentences = [
            exercise.fill(m.say, given)
            for m in exercise.mistakes
            if self._key(exercise, call_with(m.value, given)) == key
        ]
        return Verdict(0.0, " ".join(sentences), "mistake") if sentences else not_yet()

    def counted_as(self, exercise: Exercise, value: Any, given: Given) -> str | float:
        """The option."""
        return self.read(value)

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """The option's key."""
        return repr(self.read(wrong[0][0]))

    def box(self, exercise: Exercise) -> Box:
        """The options, one to be chosen."""
        return Box("options", options=self.options, ordered=self.ordered)

    def problems(self, exercise: Exercise) -> list[str]:
        """A wrong option without a sentence."""
        right = {self.expected(exercise, row) for row in exercise.variants()}
        explained = {self.read(call_with(m.value, exercise.variant())) for m in exercise.mistakes}
        return [
            f"the wrong option {key!r} has no sentence"
            for key in self.options
            if key not in explained and right != {key}
        ]


def _plain_text(text: str) -> str:
    return "".join(text.casefold().split()).strip("\"'()[].")
