"""A CSV file that a spreadsheet shows as it is, and that is written whole or not at all."""

import csv
import io
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..book.course_error import CourseError
from ..values.atomic_write import naming

FORMULA = "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
SEPARATED = re.compile(rf";(?=\s*[{re.escape(FORMULA)}])")  # where a spreadsheet's own separator is a semicolon
JOINER = "\N{WORD JOINER}"  # is not seen, also in a comment of HTML, where "&lt;=" is no formula's


@dataclass
class SheetContents:
    """The contents of a file, notes on it for the teacher, and what belongs into a second file `beside` it."""

    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    beside: "SheetContents | None" = None

    @property
    def text(self) -> str:
        """CSV as RFC 4180 has it: commas, quotes where needed, CRLF."""
        out = io.StringIO()
        csv.writer(out).writerows(self.rows)
        return out.getvalue()


def inert(text: str) -> str:
    """A text that a spreadsheet shows and does not compute: one line, an apostrophe before a formula's first
    character, and none behind what is a separator in half of Europe."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    formula = line.startswith(tuple(FORMULA)) and line != "-"  # which Moodle writes where there is nothing
    return "'" * formula + SEPARATED.sub(f";{JOINER}", line)


def number(value: float) -> str:
    """Points without binary rounding noise: 2.5, not 2.5000000000000004."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if value else "0"


def write(made: SheetContents, output: Path) -> None:
    """Write the file whole or not at all, readable by you alone: an older file stays until the end."""
    if output.is_dir():
        raise CourseError(f"{output} is a folder; a file was expected")
    if not output.parent.is_dir():
        raise CourseError(f"{output.parent} is missing; the folder for {output.name} was expected there")
    with naming(output):
        _write(made.text, output)


def _write(text: str, output: Path) -> None:
    handle, beside = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, output)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
