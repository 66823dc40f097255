"""What a record of constants is: named numbers with a unit and a meaning, fitted or typed, in rows that may be `like`
others. Stacks, serving stacks and frameworks are such records.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

from hwlib.specs.reader import quantities, text, texts
from hwlib.specs.software_sections import sections_of
from hwlib.specs.table import SpecError, unknown
from hwlib.units import show


@dataclass(frozen=True, kw_only=True, repr=False)
class Constants:
    """One software: constants that `fitted` names rest on published rows, whose ids begin with one of `rows`; the
    others are round values, or those of the record that it is `like`.
    """

    key: str
    name: str
    rows: tuple[str, ...] = texts()
    fitted: tuple[str, ...] = texts()
    like: str = text()
    note: str = text()

    @property
    def constants(self) -> dict[str, float]:
        """The constants by name."""
        return {name: getattr(self, name) for name in quantities(type(self))}

    def _shown(self, constants: dict[str, float], none: str = "") -> str:
        units = quantities(type(self))
        texts = [f"{name} {show(x, units[name][0])}" for name, x in constants.items()]
        return f"<{self.name}: {', '.join(texts) or none}>"

    def __repr__(self) -> str:
        return self._shown(self.constants)

    def replace(self, **changes: Any) -> Self:
        """The same with some fields changed. Raises TypeError for a field that there is not."""
        names = [f.name for f in fields(self)]
        if odd := sorted(set(changes) - set(names)):
            raise TypeError(unknown("field", odd[0], names))
        return replace(self, **changes)


R = TypeVar("R", bound=Constants)


def read_constants(
    kind: type[R], what: str, file: str, content: str, section: str, inherited: Sequence[str] = ()
) -> Iterator[R]:
    """The records of the sections of one name of a file's text: one that is `like` one before it takes its constants,
    and its `inherited` fields, but those that it gives itself. `what` is a record in words.

    Raises SpecError, naming file, row, section and field.
    """
    known = quantities(kind)
    records: dict[str, R] = {}
    for written, values in sections_of(kind, file, content, section):
        if odd := [name for name in values.get("fitted", ()) if name not in written.fields or name not in known]:
            raise SpecError(f"{written.place}.fitted: {odd[0]!r} is not a constant that the row gives")
        if like := values.get("like"):
            if like not in records:
                raise SpecError(f"{written.place}.like: names a row before it, " + unknown(what, like, records))
            values = {name: getattr(records[like], name) for name in (*known, *inherited)} | values
        records[written.key] = kind(key=written.key, **values)
        yield records[written.key]
