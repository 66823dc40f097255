"""The misconceptions that recur in the book: docs/misconceptions.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .verdict import DeclarationError

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
