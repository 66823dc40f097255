"""hwlib: hardware, collectives and parallelism as plain formulas, every one with a unit and a source.

`import hwlib` loads no third-party package. The submodules, and the names that every chapter uses, are loaded
on first use:

>>> import hwlib
>>> hwlib.show(450 * hwlib.GB, "B/s")
'450 GB/s'
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_NAMES = {
    "units": (
        "parse show Measure UnitError B KB MB GB TB PB KiB MiB GiB TiB bit Gbit Tbit ns us ms minute hour "
        "day TFLOP PFLOP GHz"
    ),
    "notation": "NOTATION Symbol",
    "formula": "REGISTRY Formula FormulaError DimensionError NoReading",
    "tables": "table Table",
    "specs": "accelerators Accelerator links nodes clusters switches",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"hwlib.{_HOME[name]}"), name)
    if not name.startswith("_") and find_spec(f"hwlib.{name}"):
        return import_module(f"hwlib.{name}")
    raise AttributeError(f"hwlib has no {name!r}")


def __dir__() -> list[str]:
    from pkgutil import iter_modules

    return sorted({*_HOME, *(module.name for module in iter_modules(__path__))})
