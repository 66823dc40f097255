"""The misconceptions that recur in the book: docs/misconceptions.toml, and which exercises catch them.

What the pages' scripts are told of them is for the open edition only: the names of an exercise's mistakes say what is
wrong with an answer.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..declaration.verdict import DeclarationError

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

FILE = "misconceptions.toml"
FIELDS = {"did", "page", "section"}


@dataclass(frozen=True)
class Misconception:
    """What someone `did` who has it, as it follows "you", and where the book explains it."""

    did: str
    page: str
    section: str

    @property
    def address(self) -> str:
        """The section in the built book."""
        from docutils.nodes import make_id

        return f"{self.page}.html#{make_id(self.section)}"


def misconceptions(root: Path) -> dict[str, Misconception]:
    """Those of the book at `root`, by their names; none where it has no such file."""
    path = root / "docs" / FILE
    if not path.is_file():
        return {}
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, row in table.items():
        if not isinstance(row, dict) or row.keys() != FIELDS:
            raise DeclarationError(f"{path}: [{name}] has not the fields {', '.join(sorted(FIELDS))}, and no others")
    return {name: Misconception(**row) for name, row in table.items()}


def caught(exercises: Iterable[Exercise]) -> dict[str, list[str]]:
    """By the name of a misconception, the exercises that declare it as a mistake, in the order given."""
    found: dict[str, list[str]] = {}
    for exercise in exercises:
        for name in dict.fromkeys(mistake.name for mistake in exercise.mistakes if mistake.name):
            found.setdefault(name, []).append(exercise.id)
    return found


def for_pages(table: Mapping[str, Misconception], exercises: Iterable[Exercise], pages: set[str]) -> dict[str, Any]:
    """What the page says of each, with the exercises that catch it, and how many variants each exercise has.

    `pages` are those of this book; a small one may lack some, and then no section is named.
    """
    exercises = [exercise for exercise in exercises if not exercise.predict]
    catches = caught(exercises)
    return {
        "names": {
            name: {
                "did": one.did,
                "section": one.section,
                "address": one.address if one.page in pages else "",
                "exercises": catches.get(name, []),
            }
            for name, one in table.items()
        },
        "variants": {exercise.id: len(exercise.drawn()) for exercise in exercises if exercise.variant_count > 1},
    }
