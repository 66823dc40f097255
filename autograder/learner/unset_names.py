"""Names that a cell left unset, because it failed where a package of an extra is not installed.

A later cell that uses one of them ends in a NameError of a name that stands above it in the notebook; what helps is the
same as for the cell that failed.
"""

from __future__ import annotations

import re
from collections.abc import Container

from ..values.cell_names import names_of
from ..values.error_advice import EXTRAS

_packages: dict[str, str] = {}  # in this kernel: the package that was missing where a name would have been set
_missing = re.compile(r"No module named '(\w{1,40})[.\w]*'")
_undefined = re.compile(r"name '([^']{1,41})' is not defined")


def package_behind(error: str, message: str, source: str, namespace: Container[str]) -> str:
    """The package of an extra whose absence a cell failed by, itself or by what an earlier cell could not set; or "".

    What this cell would have set, and what is not in the `namespace` of before, counts from now on as left unset, too.
    """
    package = _package(error, message)
    names = names_of(source) if package else None
    for name in names.binds if names else ():
        if name not in namespace:
            _packages[name] = package
    return package


def _package(error: str, message: str) -> str:
    if error == "ModuleNotFoundError":
        match = _missing.match(message)
        return match[1] if match and match[1] in EXTRAS else ""
    match = _undefined.match(message) if error == "NameError" else None
    return _packages.get(match[1], "") if match else ""
