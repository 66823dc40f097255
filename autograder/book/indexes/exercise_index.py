"""The index of exercises: each with its number, title, kind, points and section, and a link to its card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..render import render
from ..source import concept_order
from ..source.contents import numbered
from .places import plain_title, section_of, title_of
from .specs import raw

if TYPE_CHECKING:
    from ...declaration.exercise import Exercise
    from ..source.chapters import Chapter

ERRATUM = "erratum"
"""What is in the id of an exercise that asks for the error in a published derivation."""


class IndexedExercise(NamedTuple):
    """An exercise as the indexes list it: where it is asked, and what its reader sees of it."""

    exercise: Exercise
    chapter: Chapter
    number: str
    section: str
    anchor: str

    @property
    def id(self) -> str:
        """Its id."""
        return self.exercise.id

    @property
    def title(self) -> str:
        """Its title, or its id in words where it has none."""
        return plain_title(self.exercise.title) or self.id.replace("-", " ")

    @property
    def href(self) -> str:
        """The address of its card."""
        return f"{self.chapter.name}.html#exercise-{self.id}"

    @property
    def section_href(self) -> str:
        """The address of the section in which it is asked."""
        return f"{self.chapter.name}.html" + (f"#{self.anchor}" if self.anchor else "")

    @property
    def kind(self) -> str:
        """ "Prediction", or the name of its answer kind in words."""
        return "Prediction" if self.exercise.predict else self.exercise.kind

    @property
    def erratum(self) -> bool:
        """Whether it asks for the error in a published derivation."""
        return ERRATUM in self.id.split("-")

    @property
    def chapter_title(self) -> str:
        """ "3. Rooflines"."""
        return numbered(plain_title(title_of(self.chapter)), self.chapter.name)


def asked_in(chapters: Sequence[Chapter]) -> Iterator[IndexedExercise]:
    """The exercises of the chapters in the order in which they are asked."""
    for chapter in chapters:
        numbers = {
            cell.metadata["gpubook"]["exercise"]: cell.metadata["gpubook"]["number"]
            for cell in chapter.instructor.cells
            if cell.metadata.get("gpubook", {}).get("part") == "prompt"
        }
        for cell, line in concept_order.cells_of(chapter.source):
            if (name := cell.metadata.get("exercise")) in numbers:
                section = section_of(chapter, line)
                title, anchor = (plain_title(section.title), section.anchor) if section else ("", "")
                yield IndexedExercise(chapter.bank[name], chapter, numbers[name], title, anchor)


def exercises_page(chapters: Sequence[Chapter]) -> str:
    """The page of the index; an exercise's anchor is its id."""
    every = list(asked_in(chapters))
    points = sum(one.exercise.points for one in every)
    text = (
        f"All {len(every)} exercises of the book, worth {points:g} points, with links to where they are asked. "
        "[How answers are read](answers.md) says what is accepted.\n"
        "A prediction's points are for making one; an erratum asks what is wrong with a published derivation."
    )
    body = render("exercises.html.j2", exercises=every)
    return "\n".join(["# Exercises", "", text, "", raw(body), ""])
