"""Where the tables of arguments were read: sources.toml beside this file."""

from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class TableOrigin(NamedTuple):
    """Where a table was read: project, revision (a commit or a release), date, and files."""

    name: str
    project: str
    revision: str
    date: date
    files: tuple[str, ...]
    note: str = ""

    @property
    def words(self) -> str:
        """In a line: the software, and the revision whose names these are."""
        return f"{self.name}, with the arguments of {self.project} at {self.revision[:12]} ({self.date:%Y-%m-%d})"


@cache
def sources() -> dict[str, TableOrigin]:
    """The source of each table, by software."""
    import tomllib

    rows = tomllib.loads((FOLDER / "sources.toml").read_text("utf-8"))
    return {key: TableOrigin(**{**row, "files": tuple(row["files"])}) for key, row in rows.items()}


def source_of(software: str) -> TableOrigin:
    """Where the table of a software was read."""
    return sources()[software]
