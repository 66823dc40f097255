"""How a TOML table of this folder is read: the kinds of fields that a row has, and one set of errors.

A row says a thing once. A value with a source of its own reads

    bandwidth = { printed = "50 GB/s", factor = 0.5, source = "...", confidence = "..." }

and is `printed` times `factor` (1 where it is not given), in the SI unit of its field, which `printed` may spell in
another way: "300 W" is 300 J/s. Two spellings are read here that no learner writes. A "GT/s" is a Gbit/s, as one
transfer of one lane carries one bit; and a count may be "175B", in thousands, millions, billions or trillions.
`value` is given beside `printed` only where `printed` cannot give it: a rounded quotient, such as "15.753846154 GB/s"
for 128/130 of 16 GB/s, or a print in words. A `value` that follows from what was printed is refused.

Where a row as a whole has a source, a count may stand by itself: `layers = 96`. A constant that was fitted is a number
in SI without a source of its own.

Every SpecError begins with the file, the row and the field.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from math import inf, isclose, nan
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from hwlib.specs.table import SpecError, markdown, unknown
from hwlib.units import UnitError, dimension, labels, parse, show

MOST_PARTS = 32  # of a dotted key; no table of ours has more than three
QUOTED, BETWEEN_KEYS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'"), re.compile(r"[=,#{}\[\]]")

DIGITS = 15  # that a float always keeps: more of a product are noise
ROUNDED = 1e-9  # how far a `value` may be from what was printed, where that is rounded
CONFIDENCE = ("seen", "derived", "announced", "recalled, confirmed by")
MEASURED = {"stream_bandwidth", "matmul_bf16_flops", "allreduce_bandwidth", "measured_bandwidth"}
COUNTED = {"": 1, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


class Datum(NamedTuple):
    """One value of one record, and where it comes from.

    `printed` is the source's figure; times `factor` it is `value` (0.5: both directions were printed, or the
    sparse rate; 1.048576: the source's MB is a MiB). `also` lists what other sources print, `note` says why
    we side as we do.
    """

    value: float
    unit: str
    printed: str
    meaning: str
    source: str
    confidence: str
    note: str = ""
    factor: float = 1.0
    also: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The value to be read, with its unit; clocks and powers in the units that are named for them."""
        return show(self.value, {"1/s": "Hz", "J/s": "W"}.get(self.unit, self.unit))


# Kinds of fields


def quantity(unit: str, meaning: str, needed: bool = False) -> Any:
    """A value with a source, in SI; None where nobody confirms one."""
    return field(default=None, metadata={"kind": "quantity", "unit": unit, "meaning": meaning, "needed": needed})


def count(meaning: str, default: int | None = None, needed: bool = False) -> Any:
    """A whole number with a source; `default` where a row does not have it."""
    return field(default=default, metadata={"kind": "count", "unit": "1", "meaning": meaning, "needed": needed})


def flag(meaning: str, default: bool) -> Any:
    """Whether something is so; `default` where a row does not say."""
    return field(default=default, metadata={"kind": "flag", "unit": "1", "meaning": meaning})


def text(default: str = "", needed: bool = False, one_of: tuple[str, ...] = ()) -> Any:
    """A text, where it is limited one of some. A field that only has a type is a text that is needed."""
    bare = partial(_text, needed=needed, one_of=one_of)
    return field(default=default, metadata={"bare": bare, "needed": needed})


def texts() -> Any:
    """A list of texts; empty where a row does not have it."""
    return field(default=(), metadata={"bare": _texts})


def wholes() -> Any:
    """A list of whole numbers above 0, without sources of their own; empty where a row does not have it."""
    return field(default=(), metadata={"bare": _wholes})


def switch(default: bool) -> Any:
    """Whether something is so of a row; without a source of its own."""
    return field(default=default, metadata={"bare": _flag})


def constant(unit: str, meaning: str, default: Any = MISSING, high: float = inf, above_0: bool = False) -> Any:
    """A constant of a model: a bare number in SI, from 0 to `high` or its default; or one above 0."""
    bare = partial(_number, default=None if above_0 else default, high=high, above_0=above_0)
    return field(default=default, metadata={"bare": bare, "unit": unit, "meaning": meaning})


def number(
    default: Any = MISSING, high: float = inf, whole: bool = False, or_nan: bool = False, above_0: bool = False
) -> Any:
    """A bare number about a row, such as an error: from 0, or above it, to `high`; where it says so, a whole one, or
    NaN.
    """
    bare = partial(_number, high=high, whole=whole, or_nan=or_nan, above_0=above_0)
    return field(default=default, metadata={"bare": bare})


def measure(unit: str, needed: bool = False) -> Any:
    """A value without a source, of something of one's own: a text with a unit, such as "300 GB/s" or "8 x 400 Gbit/s";
    in SI, and None where it is not given.
    """
    return field(default=None, metadata={"bare": partial(_measure, unit=unit), "needed": needed})


def _text(place: str, cell: Any, needed: bool = True, one_of: tuple[str, ...] = ()) -> str:
    if not isinstance(cell, str) or (needed and not cell):
        raise SpecError(f"{place}: expected a text, got {cell!r}")
    if one_of and cell not in one_of:
        raise SpecError(f"{place}: expected one of {', '.join(one_of)}, got {cell!r}")
    return cell


def _texts(place: str, cell: Any) -> tuple[str, ...]:
    if not isinstance(cell, list) or not all(isinstance(one, str) and one for one in cell):
        raise SpecError(f"{place}: expected a list of texts, got {cell!r}")
    return tuple(cell)


def _wholes(place: str, cell: Any) -> tuple[int, ...]:
    if not isinstance(cell, list) or not all(type(number) is int and number > 0 for number in cell):
        raise SpecError(f"{place}: expected a list of whole numbers above 0, got {cell!r}")
    return tuple(cell)


def _flag(place: str, cell: Any) -> bool:
    if not isinstance(cell, bool):
        raise SpecError(f"{place}: expected true or false, got {cell!r}")
    return cell


def _number(
    place: str,
    cell: Any,
    default: Any = None,
    high: float = inf,
    above_0: bool = False,
    whole: bool = False,
    or_nan: bool = False,
) -> float:
    if isinstance(cell, int if whole else int | float) and not isinstance(cell, bool):
        if (cell > 0 if above_0 else cell >= 0) and cell <= high and cell < inf:
            return cell
        if cell == default or (or_nan and cell != cell):
            return cell
    span = ("above 0" if above_0 else "of at least 0") + f" and at most {high:g}" * (high < inf)
    raise SpecError(f"{place}: expected a finite {'whole ' * whole}number {span}, got {cell!r}")


SUCH = {"B": "80 GB", "B/s": "300 GB/s", "FLOP/s": "312 TFLOP/s"}


def _measure(place: str, cell: Any, unit: str) -> float:
    problem = f"{place}: expected a number above 0 with its unit, such as {SUCH[unit]!r}, got {cell!r}"
    if not isinstance(cell, str):
        raise SpecError(problem)
    several = re.fullmatch(r"\s*([0-9]{1,4})\s*x\s*(.+)", cell)
    try:
        parsed = parse(several[2] if several else cell)
    except UnitError as error:
        raise SpecError(f"{problem}: {error}") from None
    if (dimension(parsed.unit), labels(parsed.unit)) != (dimension(unit), labels(unit)):
        raise SpecError(f"{problem}, which is in {parsed.unit!r}")
    value = parsed.value * (int(several[1]) if several else 1)
    if not 0 < value < inf:
        raise SpecError(problem)
    return value


@dataclass(frozen=True, repr=False)
class Record:
    """What every row of every table of hardware and models has: its key, a name, and the source of each of its values.

    A subclass adds texts (fields without a default, or `text()`) and values (`quantity`, `count` and `flag`).
    """

    key: str
    name: str
    data: Mapping[str, Datum]

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(f'{name} {datum.shown}' for name, datum in self.data.items())}>"

    def _repr_markdown_(self) -> str:
        values = [(f.name, getattr(self, f.name)) for f in given(type(self)).values() if "unit" not in f.metadata]
        rows = [(name, value, "", "", "") for name, value in values if value and name != "name"]
        for name, datum in self.data.items():
            rows.append((name, datum.shown, datum.meaning, datum.printed, datum.source))
        return f"**{self.name}** (`{self.key}`)\n\n" + markdown(("", "value", "what", "printed", "source"), rows)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, which cannot take a read-only mapping: a plan holds its model and its chip, and is sent about."""
        return {**self.__dict__, "data": dict(self.data)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "data": MappingProxyType(state["data"])})

    @property
    def state(self) -> str:
        """How far the thing is from a reader's rack: "announced" where a value of the row is no more than that,
        "measured" where somebody's measurement stands beside the sheet's figures, else "shipping".
        """
        if any(datum.confidence.startswith("announced") for datum in self.data.values()):
            return "announced"
        return "measured" if MEASURED & self.data.keys() else "shipping"

    def datum(self, name: str) -> Datum:
        """The value of `name` with its source. KeyError lists the known fields."""
        known = quantities(type(self))
        if name in self.data:
            return self.data[name]
        if name in known:
            raise KeyError(f"{self.key} has no confirmed {name}; it has {', '.join(self.data)}")
        raise KeyError(unknown("field", name, known))


R = TypeVar("R", bound=Record)


def given(kind: type) -> dict[str, Field[Any]]:
    """The fields that a row of a table may give, by name."""
    return {f.name: f for f in fields(kind) if f.name not in ("key", "data")}


def quantities(kind: type) -> Mapping[str, tuple[str, str]]:
    """The values that a kind of row may have: each with its unit and its meaning."""
    rows = {f.name: (f.metadata["unit"], f.metadata["meaning"]) for f in fields(kind) if "unit" in f.metadata}
    return MappingProxyType(rows)


# Reading


def read(kind: type[R], file: str, content: str) -> Iterator[R]:
    """The records of one table's text. `file` is only for the messages. Raises SpecError."""
    for key, row in rows_of(file, content).items():
        values = values_of(kind, f"{file}, {key}", row)
        try:
            record = kind(key=key, **values)
        except ValueError as error:
            raise SpecError(f"{file}, {key}: {error}") from None
        yield record


def rows_of(file: str, content: str) -> dict[str, Any]:
    """The rows of a table's text, parsed as TOML. Raises SpecError, which names the file, for invalid TOML."""
    for number, line in enumerate(content.splitlines(), 1):
        if _longest_key(line) > MOST_PARTS:
            raise SpecError(f"{file}, line {number}: a key of more than {MOST_PARTS} parts between dots")
    try:
        return tomllib.loads(content)
    except RecursionError:
        raise SpecError(f"{file}: lists or tables within each other, too deep to be read") from None
    except ValueError as error:  # of TOML, or a number of thousands of digits
        raise SpecError(f"{file}: {error}") from None


def _longest_key(line: str) -> int:
    """The most parts that a key of a line can have: Python takes time in the square of their number."""
    bare = QUOTED.sub("x", line) if line.count(".") >= MOST_PARTS else ""
    return 1 + max(piece.count(".") for piece in BETWEEN_KEYS.split(bare))


def values_of(kind: type, where: str, row: Any) -> dict[str, Any]:
    """What the fields of a row say, checked, by name; in `data` each value with its source, where the kind has that.

    `where` names the file and the row. Raises SpecError for an invalid row, and for a field that is unknown, missing or
    breaks a rule of its kind.
    """
    if not isinstance(row, dict):
        raise SpecError(f"{where}: expected a table of fields, got {row!r}")
    known = given(kind)
    values: dict[str, Any] = {}
    data: dict[str, Datum] = {}
    for name in row:
        if name not in known:
            raise SpecError(f"{where}: {unknown('field', name, known)}")
    if lacks := [name for name, f in known.items() if name not in row and _needed(f)]:
        raise SpecError(f"{where}: {', '.join(lacks)} missing")
    for name, cell in row.items():
        f, place = known[name], f"{where}.{name}"
        if "kind" in f.metadata:
            data[name] = _datum(place, f, cell, row)
            values[name] = data[name].value
        else:
            values[name] = f.metadata.get("bare", _text)(place, cell)
    return values | {"data": MappingProxyType(data)} if issubclass(kind, Record) else values


def _needed(f: Field[Any]) -> bool:
    return f.metadata.get("needed", f.default is MISSING)


CELL = ("value", "printed", "factor", "source", "confidence", "note", "also")


def _datum(place: str, f: Field[Any], cell: Any, row: Mapping[str, Any]) -> Datum:
    """One value with its source; one that stands by itself has the source of its row."""
    own = {name: row[name] for name in ("source", "confidence") if name in row}
    if f.metadata["kind"] == "flag":
        return Datum(_flag(place, cell), "1", str(cell), f.metadata["meaning"], **own)
    if type(cell) is int and "source" in own:
        return Datum(cell, "1", str(cell), f.metadata["meaning"], **own)
    if not isinstance(cell, dict):
        raise SpecError(f"{place}: expected what was printed, with its source and confidence, got {cell!r}")
    for name in cell:
        if name not in CELL:
            raise SpecError(f"{place}: {unknown('column', name, CELL)}")
    cell = own | cell
    if lacks := [name for name in ("printed", "source", "confidence") if not cell.get(name)]:
        raise SpecError(f"{place}: {', '.join(lacks)} missing")
    for name in ("printed", "source", "confidence", "note"):
        if not isinstance(cell.get(name, ""), str):
            raise SpecError(f"{place}: {name}: expected a text, got {cell[name]!r}")
    if not cell["confidence"].startswith(CONFIDENCE):
        raise SpecError(f"{place}: confidence: begins with {', '.join(CONFIDENCE)}, got {cell['confidence']!r}")
    also, factor = _texts(f"{place}: also", cell.get("also", [])), cell.get("factor", 1.0)
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < inf:
        raise SpecError(f"{place}: factor: expected a finite number above 0, got {factor!r}")
    value = _value(place, f, cell["printed"], factor, cell.get("value"))
    unit, meaning = f.metadata["unit"], f.metadata["meaning"]
    note, source, confidence = cell.get("note", ""), cell["source"], cell["confidence"]
    return Datum(value, unit, cell["printed"], meaning, source, confidence, note, factor, also)


def _value(place: str, f: Field[Any], printed: str, factor: float, typed: Any) -> float:
    """The value that was printed, in SI; `typed` is the one that the row gives itself, or None."""
    unit = f.metadata["unit"]
    try:
        computed = float(f"{_printed(place, f, printed) * factor:.{DIGITS}g}")  # the decimal number that was meant
    except UnitError as error:
        if typed is None:
            raise SpecError(f"{place}: printed: expected a number in {unit!r}, got {printed!r}: {error}") from None
        computed = nan
    if typed is not None:
        if isinstance(typed, bool) or not isinstance(typed, int | float) or not 0 <= typed < inf:
            raise SpecError(f"{place}: value: expected a finite number of at least 0, got {typed!r}")
        if typed == computed:
            raise SpecError(f"{place}: value: {printed!r} and the factor give it; leave it out")
        if computed == computed and not isclose(typed, computed, rel_tol=ROUNDED):
            raise SpecError(f"{place}: value: {printed!r} and the factor give {computed!r}, got {typed!r}")
        computed = float(typed)
    if not 0 <= computed < inf:
        raise SpecError(f"{place}: expected a finite value of at least 0, got {printed!r}")
    if f.metadata["kind"] == "count" and computed != int(computed):
        raise SpecError(f"{place}: expected a whole number, got {printed!r} times {factor!r}")
    return int(computed) if f.metadata["kind"] == "count" else computed


def _printed(place: str, f: Field[Any], printed: str) -> float:
    """What a source printed, in SI. Raises UnitError for a text that is not a number with a unit."""
    if f.metadata["kind"] == "count" and (short := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMBT]?)", printed)):
        return float(short[1]) * COUNTED[short[2]]
    unit = f.metadata["unit"]
    measure = parse(re.sub(r"GT/s$", "Gbit/s", printed) if unit == "B/s" else printed)
    if measure.unit != unit and (dimension(measure.unit), labels(measure.unit)) != (dimension(unit), labels(unit)):
        got = f"got {printed!r}, which is in {measure.unit!r}"
        raise SpecError(f"{place}: printed: expected a number in {unit!r}, {got}")
    return measure.value
