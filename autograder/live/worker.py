"""What the worker of a page calls once, and with each message: the library is loaded, and archives on demand.

A page has large packages as archives that it fetches when a cell first imports one. `call` then says which, the worker
unpacks it, and calls again.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import json
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from . import markup

ON_DEMAND = ("mpmath", "sympy", "networkx")
LOADED = ("autograder.answers", "autograder.learner.verbs", "autograder.live.cells", "hwlib.formula", "hwlib.specs")


class Needs(BaseException):
    """A cell imports a package whose archive is not here yet; no `except Exception` of a cell is to catch it."""


class OnDemand(importlib.abc.MetaPathFinder):
    """The last finder: whatever is on demand and was not found is asked for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Raise Needs for a package on demand."""
        if path is None and name in ON_DEMAND:
            raise Needs(name)
        return None


def prepare() -> None:
    """Load what every cell needs. Once; a snapshot is taken after it."""
    from hwlib.plain import as_numpy

    as_numpy.install()
    if not any(isinstance(finder, OnDemand) for finder in sys.meta_path):
        sys.meta_path.append(OnDemand())
    for name in LOADED:
        importlib.import_module(name)
    markup.block_html("$a$")  # its rules are compiled when first used


def call(request: str) -> str:
    """The answer to a message, as JSON; {"needs": a package} where the worker is to unpack one and call again."""
    from .cells import call as answered

    try:
        return answered(request)
    except Needs as missing:
        needs: dict[str, Any] = {"needs": str(missing)}
        return json.dumps(needs)
