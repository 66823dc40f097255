"""What the book's reference pages list, made from its chapters and from the registries of the library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .disagreements import disagreements_page
from .exercise_index import exercises_page
from .formulas import formula_index
from .glossary import glossary
from .notation import notation_page
from .specs import specs_page

if TYPE_CHECKING:
    from ..source.chapters import Chapter
    from .uses import Uses


def pages(chapters: Iterable[Chapter], uses: Uses) -> dict[str, str]:
    """The generated pages by their file name."""
    every = list(chapters)
    return {
        "glossary.md": glossary(every),
        "formulas.md": formula_index(every, uses),
        "notation.md": notation_page(every),
        "exercises.md": exercises_page(every),
        "specs.md": specs_page(every, uses),
        "disagreements.md": disagreements_page(every, uses),
    }


__all__ = ["formula_index", "glossary", "pages"]
