"""Worked solutions for feedback: of each exercise of an assignment, its key's solution as Markdown."""

from __future__ import annotations

from typing import Any

from ...declaration.bank import Bank
from ...declaration.worked import worked


def solutions(source: Any, bank: Bank, owner: str | None) -> dict[str, str]:
    """The solution of each exercise that the instructor's notebook asks and `bank` declares, by id.

    `owner`: whose numbers its answer is for (None: the book's).
    """
    by_id = {}
    for cell in source.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "answer" and own.get("exercise") in bank:
            by_id[own["exercise"]] = worked(bank[own["exercise"]], cell.source, owner)
    return by_id
