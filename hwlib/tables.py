"""Rows of numbers as a table: units in the head, one number a cell, HTML in a notebook and aligned text elsewhere."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from numbers import Integral, Real
from typing import Any

from .units import scale, show

NUMBER = re.compile(r"[-+0-9.,e∞]+")
GROUPED = re.compile(r"(?<![\d.e])\d{4,6}(?![\de])")
NOTHING = "–"


@dataclass(frozen=True, repr=False)
class Table:
    """A table as it is read: the heads of its columns, and each cell as text. `numeric` columns align to the right."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    caption: str = ""

    def __repr__(self) -> str:
        lines = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            "  ".join(
                cell.rjust(w) if right else cell.ljust(w)
                for cell, w, right in zip(line, widths, self.numeric, strict=True)
            ).rstrip()
            for line in lines
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([*([self.caption] if self.caption else []), text[0], rule, *text[1:]])

    def _repr_html_(self) -> str:
        # Alignment stands in each cell: a notebook that is not trusted loses its style sheets, and Jupyter's own
        # aligns everything to the right.
        align = ["text-align: right" if right else "text-align: left" for right in self.numeric]
        head = "".join(
            f'<th scope="col" style="{how}">{escape(name)}</th>' for name, how in zip(self.heads, align, strict=True)
        )
        body = "".join(
            f'<tr><th scope="row" style="{align[0]}; font-weight: normal">{escape(first)}</th>'
            + "".join(f'<td style="{how}">{escape(cell)}</td>' for cell, how in zip(rest, align[1:], strict=True))
            + "</tr>"
            for first, *rest in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        return f'<table class="book-table">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def table(
    rows: Mapping[Any, Any] | Iterable[Any], columns: Sequence[str | tuple[Any, ...]], caption: str = ""
) -> Table:
    """A table of rows: tuples, records or single values; a dict gives its keys as the first column.

    A column is a name, `(name, unit)` or `(name, unit, digits)`. Numbers come in SI and are shown in the unit, four
    digits unless it says otherwise. A unit with a prefix stands in the head; one without takes the prefix that suits
    each number, and stands in the head if all of them agree. Text stays as it is, None is a dash.

    >>> table({"ring": (31.9e-6, 8), "tree": (2.5e-5, 6)}, ("algorithm", ("time", "us"), "rounds"))
    algorithm  time (us)  rounds
    ---------  ---------  ------
    ring            31.9       8
    tree              25       6
    >>> table([(1024, 0.5), (2048, 0.625)], [("array", "B"), ("hit rate", "%")], caption="Hits in the L2.")
    Hits in the L2.
    array (KB)  hit rate (%)
    ----------  ------------
         1.024            50
         2.048          62.5

    Raises ValueError for a row that has more or fewer cells than there are columns, UnitError for an unknown unit.
    """
    heads = [_column(column) for column in columns]
    if isinstance(rows, Mapping):
        rows = [(key, *_line(value)) for key, value in rows.items()]
    lines = [_line(row) for row in rows]
    for number, line in enumerate(lines, 1):
        if len(line) != len(heads):
            names = ", ".join(name for name, _, _ in heads)
            raise ValueError(f"row {number} has {len(line)} cells, {line!r}; {len(heads)} were expected: {names}")
    made = [_shown([line[at] for line in lines], name, unit, digits) for at, (name, unit, digits) in enumerate(heads)]
    return Table(
        heads=tuple(head for head, _, _ in made),
        rows=tuple(zip(*(cells for _, cells, _ in made), strict=True)),
        numeric=tuple(right for _, _, right in made),
        caption=caption,
    )


def _column(column: str | tuple[Any, ...]) -> tuple[str, str, int]:
    """Name, unit and digits of a column; "" for a column without a unit."""
    name, unit, digits = (column, "", 4) if isinstance(column, str) else (*column, *("", 4)[len(column) - 1 :])
    if unit:
        scale(unit)
    return name, unit, digits


def _line(row: Any) -> tuple[Any, ...]:
    """The cells of a row; a value that is not a record is a row of one cell."""
    if is_dataclass(row) and not isinstance(row, type):
        return tuple(getattr(row, field.name) for field in fields(row))
    if isinstance(row, Mapping):
        return tuple(row.values())
    return tuple(row) if isinstance(row, tuple | list) else (row,)


def _shown(values: list[Any], name: str, unit: str, digits: int) -> tuple[str, list[str], bool]:
    """A column: its head, its cells, and whether it holds numbers."""
    numbers = [isinstance(x, Real) and not isinstance(x, bool) for x in values]
    cells = [_cell(x, unit, digits) for x in values]
    if unit:
        units = {_unit_of(text) for text, number in zip(cells, numbers, strict=True) if number} - {""}
        if len({_singular(one) for one in units}) <= 1:
            name = f"{name} ({max(units, key=len, default=unit)})"
            cells = [
                text.removesuffix(_unit_of(text)).rstrip() if number else text
                for text, number in zip(cells, numbers, strict=True)
            ]
    return name, cells, any(numbers) or bool(unit)


def _unit_of(text: str) -> str:
    return text[match.end() :].strip() if (match := NUMBER.match(text)) else ""


def _singular(unit: str) -> str:
    return unit.removesuffix("s") if len(unit) > 2 else unit  # 1 GPU and 8 GPUs, but us and ms


def _cell(x: Any, unit: str, digits: int) -> str:
    if x is None or (isinstance(x, Real) and math.isnan(x)):
        return NOTHING
    if isinstance(x, bool) or type(x).__name__ in ("bool", "bool_"):  # numpy's own is not Python's
        return "yes" if x else "no"
    if isinstance(x, Integral) and not unit:
        return f"{int(x):,}"
    if isinstance(x, Real):
        if math.isinf(x):
            return "∞" if float(x) > 0 else "-∞"
        return GROUPED.sub(lambda whole: f"{int(whole[0]):,}", show(float(x), unit or "1", digits))
    return ", ".join(_cell(part, unit, digits) for part in x) if isinstance(x, tuple | list) else str(x)


__all__ = ["Table", "table"]
