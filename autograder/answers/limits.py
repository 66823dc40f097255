"""Limits on what a run takes: bytes, rounds, memory, and what a kernel loads and computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ranks.buffers import Case


@dataclass(frozen=True)
class Limit:
    """An exact number or an upper limit: what `of` gives, or `times` what the solution takes.

    `of(n, S)` is for n ranks whose arrays have S bytes each; `of(case)`, whose parameter has this name, for a case,
    and `of(case, rank)` for each rank of one; a kernel's numbers come by name.
    """

    exact: bool
    of: Callable[..., float] | None = None
    times: float = 1.0

    @property
    def takes(self) -> list[str]:
        """The names of what `of` takes."""
        return list(inspect.signature(self.of).parameters) if self.of else []

    @property
    def by_rank(self) -> bool:
        """Whether each rank has a limit of its own."""
        return self.takes[:1] == ["case"] and len(self.takes) == 2

    def allowed(self, case: Case, solution: float, rank: int = 0) -> float:
        """The number for one run."""
        if self.of is None:
            return self.times * float(solution)
        if self.takes[:1] == ["case"]:
            return float(self.of(case, rank) if self.by_rank else self.of(case))
        return float(self.of(case.n, case.size))

    def busiest(
        self, case: Case, mine: Sequence[float], solution: Sequence[float], of: Callable[[Sequence[float]], Any]
    ) -> tuple[int, float, float]:
        """The rank that takes most, what `of` (the greatest, or the sum) makes of what all take, and what is allowed;
        where each has a limit of its own, of the first that breaks it."""
        if not self.by_rank:
            rank = max(range(len(mine)), key=lambda rank: mine[rank])
            return rank, float(of(mine)), self.allowed(case, float(of(solution)))
        rows = [(rank, float(mine[rank]), self.allowed(case, 0.0, rank)) for rank in range(len(mine))]
        return next((row for row in rows if self.broken(*row[1:])), rows[0])

    def broken(self, got: float, allowed: float) -> bool:
        """Whether a number is not allowed, rounding aside."""
        slack = 1e-9 * max(abs(allowed), 1)
        return got > allowed + slack or (self.exact and got < allowed - slack)

    @property
    def words(self) -> str:
        """How it is said."""
        return "" if self.exact else "at most "


def exactly(of: Callable[..., float] | None = None) -> Limit:
    """No more and no less."""
    return Limit(True, of)


def at_most(of: Callable[..., float] | None = None, times: float = 1.0) -> Limit:
    """Fewer are right too: than `of` gives, or than `times` what the solution takes."""
    return Limit(False, of, times)
