"""Packages that a page fetches when a cell first imports one."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
from collections.abc import Sequence
from types import ModuleType

ON_DEMAND = ("mpmath", "sympy", "networkx")


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
