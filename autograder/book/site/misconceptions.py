"""Which exercises catch the misconceptions that recur in the book.

What the pages' scripts are told of them is for the open edition only: the names of an exercise's mistakes say what is
wrong with an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...declaration.misconceptions import FILE, Misconception, misconceptions

if TYPE_CHECKING:
    from ...declaration.exercise import Exercise


def caught(exercises: Iterable[Exercise]) -> dict[str, list[str]]:
    """By the name of a misconception, the exercises that declare it as a mistake, in the order given."""
    by_name: dict[str, list[str]] = {}
    for exercise in exercises:
        for name in dict.fromkeys(mistake.name for mistake in exercise.mistakes if mistake.name):
            by_name.setdefault(name, []).append(exercise.id)
    return by_name


def for_pages(table: Mapping[str, Misconception], exercises: Iterable[Exercise], pages: set[str]) -> dict[str, Any]:
    """What the page says of each, with the exercises that catch it; and of each exercise that is
    answered in a field of text, how many variants it has, and the field's label.

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
        "variants": {
            exercise.id: {"count": len(exercise.drawn()), "ask": box.ask}
            for exercise in exercises
            if exercise.variant_count > 1 and (box := exercise.answer.box(exercise)) and box.input == "text"
        },
    }


__all__ = ["FILE", "Misconception", "caught", "for_pages", "misconceptions"]
