"""What the sample learners know of the chapter, taken from the chapter itself, so that editing it breaks none
of them."""

from dataclasses import dataclass
from typing import Any

import nbformat

from autograder.declaration import Bank, Exercise
from autograder.declaration.worked import solution_of


@dataclass(frozen=True)
class Book:
    """A chapter's declarations and its instructor's notebook."""

    bank: Bank
    instructor: nbformat.NotebookNode

    @property
    def exercises(self) -> list[Exercise]:
        """In the order in which the chapter asks them."""
        asked = [
            c.metadata["gpubook"]["exercise"]
            for c in self.instructor.cells
            if c.metadata.get("gpubook", {}).get("part") == "answer"
        ]
        return [self.bank[name] for name in asked]

    @property
    def judged(self) -> list[Exercise]:
        """Those whose points a machine gives for being right, not for predicting at all."""
        return [e for e in self.exercises if not e.predict and e not in self.written]

    @property
    def written(self) -> list[Exercise]:
        """Those that wait for a teacher."""
        return [e for e in self.exercises if e.kind == "Written"]

    def solution(self, name: str) -> str:
        """What the instructor's answer cell has for an answer: the model answer of one in words, as it stands."""
        source = part(self.instructor, name, "answer").source
        return source if self.bank[name] in self.written else solution_of(source)


def part(nb: nbformat.NotebookNode, name: str, which: str) -> Any:
    """The prompt, answer or grade cell of an exercise."""
    return next(
        c
        for c in nb.cells
        if c.metadata.get("gpubook", {}).get("exercise") == name and c.metadata["gpubook"]["part"] == which
    )


def answer(nb: nbformat.NotebookNode, name: str, source: str) -> None:
    """Write into the answer cell of an exercise."""
    part(nb, name, "answer").source = source


def letters(exercise: Exercise) -> dict[str, Any]:
    """The symbols of an Expression exercise by name."""
    return {name: domain.symbol(name) for name, domain in exercise.answer.symbols.items()}
