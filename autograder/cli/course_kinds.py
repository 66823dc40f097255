"""`gpubook course kinds`: what an exercise can ask for, with an example of each, as docs/teaching.md has it."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import click

from .terminal import echo

PAGE = "teaching.md"
HEAD = "| kind | what the learner gives | `answer=` | `solution=` |"
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
LIBRARY = {"tl": "from hwlib import tl"}
HELPERS = ("Field", "Known", "Launch", "Par", "integers", "positive")


class KindExample(NamedTuple):
    """An answer kind, what a learner gives, the expression that makes one, and a solution ("" where it takes lines)."""

    kind: str
    gives: str
    answer: str
    solution: str

    @property
    def imports(self) -> str:
        """The line that its names come from."""
        names = [self.kind, *(name for name in HELPERS if re.search(rf"\b{name}\(", self.answer))]
        lines = [f"from autograder.answers import {', '.join(sorted(names))}"]
        lines += [line for name, line in LIBRARY.items() if re.search(rf"\b{name}\.", self.answer)]
        return "; ".join(lines)


def examples() -> list[KindExample]:
    """The rows of the page's table."""
    from ..values.book_root import book_root

    text = (book_root() / "docs" / PAGE).read_text("utf-8")
    lines = text.partition(HEAD + "\n")[2].splitlines()[1:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        kind, gives, answer, solution = (cell.strip() for cell in line.strip("|").split(" | "))
        lines_of = "" if LINK.match(solution) else solution.strip("`")
        rows.append(KindExample(kind.strip("`"), gives, answer.strip("`"), lines_of))
    return rows


@click.command("kinds")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def course_kinds(as_json: bool) -> None:
    """List the answer kinds that an exercise of your own can have, with an example of each."""
    if as_json:
        echo(json.dumps([row._asdict() | {"imports": row.imports} for row in examples()], indent=1))
        return
    for row in examples():
        echo(f"{row.kind}: {row.gives}")
        echo(f"    {row.imports}")
        echo(f"    answer={row.answer},")
        if row.solution:
            echo(f"    solution={row.solution},")
