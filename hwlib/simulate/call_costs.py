"""The bytes that a call of torch.distributed sends: those of one algorithm per call, whatever a library really uses.

A ring for what gathers or reduces to all, a binomial tree for what has a root and one array, and directly to or from
the root where each rank has a part of its own. An all-to-all sends each part to its rank, one rank a round.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

ALGORITHM_OF = {
    "all_reduce": "ring_allreduce",
    "all_gather": "ring_allgather",
    "reduce_scatter": "ring_reduce_scatter",
    "broadcast": "binomial_broadcast",
    "reduce": "binomial_reduce",
    "gather": "direct_gather",
    "scatter": "direct_scatter",
}


class CallCost(NamedTuple):
    """Bytes that each rank of a call sends and receives, in the group's order, the rounds that it takes, and the bytes
    from whom to whom."""

    sent_bytes: tuple[int, ...]
    received_bytes: tuple[int, ...]
    rounds: int
    pairs: tuple[tuple[int, int, int], ...] = ()


def call_cost(call: str, n: int, count: int, itemsize: float = 1, root: int | None = None) -> CallCost:
    """Of a call among n ranks whose full buffer has `count` elements of `itemsize` bytes; a barrier moves none."""
    if call == "barrier" or n == 1:
        return CallCost((0,) * n, (0,) * n, 0)
    return _played(ALGORITHM_OF[call], n, count, itemsize, root)


def exchange_cost(parts: Sequence[Sequence[Any]]) -> CallCost:
    """Of an all-to-all in which rank i sends parts[i][j] bytes to rank j; what a rank keeps is not sent."""
    n = len(parts)
    others = [[part * (i != j) for j, part in enumerate(row)] for i, row in enumerate(parts)]
    received = tuple(sum(column) for column in zip(*others, strict=True))
    pairs = tuple((i, j, part) for i, row in enumerate(others) for j, part in enumerate(row) if part)
    return CallCost(tuple(map(sum, others)), received, n - 1, pairs)


@lru_cache(maxsize=256)
def _played(algorithm: str, n: int, count: int, itemsize: float, root: int | None) -> CallCost:
    from hwlib.simulate.lockstep_run import lockstep
    from hwlib.simulate.size_only_array import Phantom

    options: dict[str, Any] = {} if root is None else {"root": root}
    run = lockstep(algorithm, [Phantom(count, itemsize)] * n, **options)
    pairs: Counter[tuple[int, int]] = Counter()
    for message in run.messages:
        pairs[message.src, message.dst] += round(message.bytes)
    between = tuple((*pair, size) for pair, size in pairs.items())
    return CallCost(tuple(map(round, run.sent_bytes)), tuple(map(round, run.received_bytes)), run.rounds, between)
