"""How a table of measurements is read and asked: a CSV of this folder, each row of which becomes a record.

A record is a NamedTuple in SI. Each of its fields is the column of its name, read as its annotation says: an `int`, a
`float` or a text. An empty cell is None where the field may be None, 0.0 of another float, "" of a text. A column of
another name or unit has a reader, which gets the row as a dict of texts:

    Measurements("run", "measured_runs.csv", MeasuredRun, time=of("hours", 3600), rate=of("rate", TFLOP))

Every table has a column `source`, which begins with a key of docs/references.bib.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from hwlib.specs.table import SpecError, csv_rows

Cells = dict[str, str]
Row = TypeVar("Row")


def of(column: str, unit: float | Mapping[str, float] = 1) -> Callable[[Cells], float | None]:
    """A reader of numbers in one unit, or each with its own: "82.5 GiB", where `unit` says what a GiB is in SI."""

    def read(cells: Cells) -> float | None:
        if not cells[column]:
            return None
        if not isinstance(unit, Mapping):
            return float(cells[column]) * unit
        number, name = cells[column].split(" ")
        return float(number) * unit[name]

    return read


class Measurements(Generic[Row]):
    """The rows of one table, read when first asked for. `what` is the word for one of them in an error, where `between`
    stands between what was asked for. `file` is the table's name, and `record` makes a row of it.
    """

    def __init__(
        self, what: str, file: str, record: Callable[..., Row], between: str = "", /, **readers: Callable[[Cells], Any]
    ):
        self.file, self.record = file, record
        self._what, self._readers = what, readers
        self._between = f" {between} " if between else " "

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every row, in the order of the table. Raises SpecError, with file, row and field, for one that is wrong."""
        return tuple(self._read())

    def _read(self) -> Iterator[Row]:
        kinds = get_type_hints(self.record)
        for number, cells in enumerate(csv_rows(self.file), 1):
            values = {}
            for name, kind in kinds.items():
                try:
                    values[name] = _value(self._readers[name](cells) if name in self._readers else cells[name], kind)
                except (KeyError, ValueError) as error:
                    raise SpecError(f"{self.file}, row {number}, {name}: {error!r}") from error
            yield self.record(**values)

    def where(self, **wanted: object) -> tuple[Row, ...]:
        """The rows whose fields are as wanted, where None is any. Raises ValueError, listing the known, if none is."""
        rows = tuple(r for r in self.rows if all(value in (None, getattr(r, name)) for name, value in wanted.items()))
        if not rows:
            shown = str if len(wanted) > 1 else repr
            query = self._between.join(map(shown, wanted.values()))
            raise ValueError(f"no measured {self._what} of {query}; known: {self._known(*wanted)}")
        return rows

    def __getitem__(self, key: str) -> Row:
        """The row of a key. Raises KeyError, listing the known ones."""
        for row in self.rows:
            if getattr(row, "key", None) == key:
                return row
        raise KeyError(f"unknown measured {self._what} {key!r}; known: {self._known('key')}")

    def _known(self, *names: str) -> str:
        return ", ".join(dict.fromkeys(self._between.join(str(getattr(r, name)) for name in names) for r in self.rows))


def _value(cell: Any, kind: Any) -> Any:
    """A cell, or what a reader made of it, as its field's annotation says."""
    type_, *_ = [one for one in get_args(kind) or (kind,) if one is not type(None)]
    if cell in ("", None) and type_ is not kind:
        return None
    return type_(cell or (0 if type_ is float else cell))
