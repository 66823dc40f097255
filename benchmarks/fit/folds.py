"""Two folds of the rows of a table, by what was measured: a fit to one of them has seen nothing of the other.

What decides is a row's group: the plan of a training step, the model and chip of a server, the shape of a kernel. All
releases of a software, and all repeats, are of one group; so a good score on the other fold is no repeated plan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def fold_of(group: str) -> int:
    """0 or 1: the low bit of the group's SHA-256."""
    return hashlib.sha256(group.encode()).digest()[-1] & 1


def folds(rows: Iterable[T], group: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """The rows of each fold, in their order."""
    parts: tuple[list[T], list[T]] = ([], [])
    for row in rows:
        parts[fold_of(group(row))].append(row)
    return parts
