"""Plain keywords in place of the planner's records: `plan(..., tp=8, dtype="fp8")`."""

from dataclasses import fields
from typing import Any, TypeVar

from hwlib.planner.allowed import Allowed
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.specs.table import unknown

T = TypeVar("T", Allowed, SoftwareSettings)


def records_of(
    allowed: Allowed | None, software: SoftwareSettings | None, keywords: dict[str, Any]
) -> tuple[Allowed | None, SoftwareSettings | None]:
    """What a search may choose from and the software's settings, each as a record or as fields of it by name.

    Raises TypeError for a keyword that is no field of either, and for a record with fields of it beside it.

    >>> records_of(None, None, {"tp": 8, "dtype": "fp8"})[0].tp
    (8,)
    """
    names = [*_fields(Allowed), *_fields(SoftwareSettings)]
    for name in keywords:
        if name not in names:
            raise TypeError(unknown("keyword", name, names))
    return _record(Allowed, "allowed", allowed, keywords), _record(SoftwareSettings, "software", software, keywords)


def settings_of(software: SoftwareSettings | None, keywords: dict[str, Any]) -> SoftwareSettings | None:
    """The software's settings, as a record or as fields of it by name. Raises TypeError."""
    for name in keywords:
        if name not in _fields(SoftwareSettings):
            raise TypeError(unknown("keyword", name, _fields(SoftwareSettings)))
    return _record(SoftwareSettings, "software", software, keywords)


def _fields(kind: type) -> list[str]:
    return [f.name for f in fields(kind)]


def _record(kind: type[T], argument: str, record: T | None, keywords: dict[str, Any]) -> T | None:
    chosen = {name: keywords[name] for name in _fields(kind) if name in keywords}
    if record is not None and chosen:
        raise TypeError(f"either {argument} or its fields by name, not both; got {argument} and {', '.join(chosen)}")
    return kind(**chosen) if chosen else record
