"""Answers of a kind that is not available: a course's own, without its exercises file."""

from __future__ import annotations

from typing import Any

from ..declaration.answer import Answer
from ..values.numbers import described


class Unread(Answer):
    """An answer that is recorded as it is, and read where its declaration is; no exercise is declared with it."""

    @property
    def how(self) -> str:
        """As the prompt says."""
        return "`answer` is what the prompt asks for"

    def readable(self, value: Any) -> str:
        """The kind of value that it is."""
        return f"{described(value)}, to be read when it is graded"
