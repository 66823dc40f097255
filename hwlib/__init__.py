"""hwlib: hardware, collectives and parallelism as plain formulas, every one with a unit and a source.

`import hwlib` loads no third-party package. The submodules, and the names that every chapter uses, load on first use:

>>> import hwlib
>>> hwlib.show(450 * hwlib.GB, "B/s")
'450 GB/s'
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Where each name of the front door lives. Anything else of hwlib is one of its submodules.
_HOME = {
    **dict.fromkeys(("parse", "show", "Measure", "UnitError"), "units"),
    **dict.fromkeys(("KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "Gbit", "TFLOP", "PFLOP"), "units"),
    **dict.fromkeys(("ns", "us", "ms", "minute", "hour", "day"), "units"),
    **dict.fromkeys(("NOTATION", "Symbol"), "notation"),
    **dict.fromkeys(("REGISTRY", "Formula", "DimensionError", "FormulaError", "NoReading"), "formula"),
    "accelerators": "specs",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"hwlib.{_HOME[name]}"), name)
    if not name.startswith("_") and find_spec(f"hwlib.{name}"):
        return import_module(f"hwlib.{name}")
    raise AttributeError(f"hwlib has no {name!r}")


def __dir__() -> list[str]:
    from pkgutil import iter_modules

    return sorted({*_HOME, *(m.name for m in iter_modules(__path__))})
