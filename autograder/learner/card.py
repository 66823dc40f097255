"""Markdown that a notebook shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NotebookCard:
    """Markdown that shows itself in a notebook, and is plain text elsewhere."""

    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__
