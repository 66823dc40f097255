"""What each rank of a learner's algorithm sends to whom, and what it returns: the ranks play, and nobody judges.

The numbers that they begin with say where they come from: each stands for one block of one rank, and a sum of several
can be taken apart again. So what a rank sends is shown as "block 2 of ranks 0+1", whether that is right or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..values.excerpts import text_of
from .buffers import elements
from .generators import Call

BITS = 48  # of a float64, for how often each share is in a sum; the bits above them count all shares
ALL = 1 << BITS
MOST_SHARES = BITS // 3  # with fewer bits for each, a share that is added again and again would soon spill over
FOREIGN = "what is no sum of blocks"
OWN = "own"
ABSENT = "elements never written"

Share = tuple[int, int]  # a block, and the rank that has contributed it


@dataclass(frozen=True)
class Shares:
    """The shares that the elements of the ranks' arrays stand for, one element a block."""

    known: Sequence[Share]

    @classmethod
    def of(cls, inputs: Sequence[Any]) -> Shares | None:
        """Those of the ranks' arrays, whose elements that are not there yet are nan; None where they are too many."""
        shares = [
            (block, rank) for rank, x in enumerate(inputs) for block, value in enumerate(x.tolist()) if value == value
        ]
        return cls(shares) if 0 < len(shares) <= MOST_SHARES else None

    @property
    def gathers(self) -> bool:
        """Whether each rank begins with its own block alone, so that a block says whose it is."""
        return all(block == rank for block, rank in self.known)

    @property
    def bits(self) -> int:
        """Bits of one share."""
        return BITS // len(self.known)

    def inputs(self, inputs: Sequence[Any]) -> list[Any]:
        """The arrays with the numbers that stand for the shares."""
        made = [x.copy() for x in inputs]
        for at, (block, rank) in enumerate(self.known):
            made[rank][block] = float(ALL + (1 << (self.bits * at)))
        return made

    def read(self, value: float) -> list[Share] | None:
        """The shares that add up to a number, each as often as it is in it; None where it is no sum of shares."""
        if not 0 <= value < 1 << 53 or value != math.floor(value):
            return None
        total, left = divmod(int(value), ALL)
        counts = [(left >> (self.bits * at)) & ((1 << self.bits) - 1) for at in range(len(self.known))]
        if sum(counts) != total:
            return None
        return [share for share, count in zip(self.known, counts, strict=True) for _ in range(count)]

    def words(self, value: float) -> tuple[str, str]:
        """An element as the block that it is and the ranks whose shares it has, ("2", "0+1"); as words and "" where it
        is no such thing."""
        if value != value:
            return ABSENT, ""
        shares = self.read(value)
        if shares is None:
            return FOREIGN, ""
        by_block = {block: [rank for one, rank in shares if one == block] for block in sorted({b for b, _ in shares})}
        if len(by_block) == 1:
            ((block, ranks),) = by_block.items()
            return str(block), OWN if self.gathers and len(ranks) == 1 else "+".join(map(str, ranks))
        return " plus ".join(self._said([str(b)], "+".join(map(str, one))) for b, one in by_block.items()) or "0", ""

    def __call__(self, array: Any) -> str:
        """An array of such elements: "blocks 0, 1 of ranks 0+1; elements never written"."""
        parts: list[str] = []
        for ranks, group in groupby(map(self.words, array.tolist()), key=lambda one: one[1]):
            blocks = [block for block, _ in group]
            parts += [self._said(blocks, ranks)] if ranks else dict.fromkeys(blocks)
        return "; ".join(parts) or "no element"

    @staticmethod
    def _said(blocks: Sequence[str], ranks: str) -> str:
        """ "block 2 of rank 0", "blocks 1, 2 of ranks 0+3"."""
        listed = f"block{'s' if len(blocks) > 1 else ''} {', '.join(blocks)}"
        return listed if ranks == OWN else f"{listed} of rank{'s' if '+' in ranks else ''} {ranks}"


@dataclass
class Rehearsal:
    """A `call` for ranks that keeps what they send and return; `words` says what an array is."""

    call: Call
    words: Callable[[Any], str]
    steps: dict[int, list[list[tuple]]] = field(
        default_factory=dict
    )  # by rank: of each step (send, to, frm), or several
    results: dict[int, Any] = field(default_factory=dict)

    def __call__(self, request: tuple) -> Any:
        """The reply to a request, kept."""
        reply = self.call(request)
        if request[0] != "prepare" and type(reply) is tuple and len(reply) == 3:
            if reply[0] == "steps":
                self.steps.setdefault(request[1], []).append(reply[1])
            elif reply[0] == "done":
                self.results[request[1]] = reply[1]
        return reply

    def messages(self) -> Iterator[tuple[int, str, str]]:
        """Rows of all messages, the ranks' first steps first: the step, who sends to whom, and what."""
        longest = max(map(len, self.steps.values()), default=0)
        for at in range(longest):
            for rank in sorted(self.steps):
                for send, to, _ in self.steps[rank][at] if at < len(self.steps[rank]) else ():
                    if to is not None:
                        yield at, f"{rank} → {to}", self.shown(send)

    def returned(self, n: int, formed: Callable[[Any], Any]) -> Iterable[tuple[int, str]]:
        """Rows of what each rank returns; a rank that has not yet returned has a dash."""
        return ((rank, self.shown(formed(self.results[rank])) if rank in self.results else "–") for rank in range(n))

    def shown(self, value: Any) -> str:
        """An array as `words` say it; anything else as it is."""
        if value is None:
            return "nothing"
        array = type(value).__name__ == "ndarray" and value.ndim == 1 and value.dtype.kind in "iuf"
        return self.words(value) if array else text_of(value)


def counted(array: Any) -> str:
    """An array whose numbers say nothing of where they come from."""
    return elements(len(array))
