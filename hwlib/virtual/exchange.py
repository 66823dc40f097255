"""What collectives do with the data of threads: each function takes (outputs, inputs) of every rank, in their order.

The last rank that comes does it for all, by as few operations as there are: a sum or a joint array once, then a copy
to each rank.
"""

from collections.abc import Callable, Sequence
from typing import Any

Ranks = Sequence[tuple[Any, Any]]


def _flat(tensor: Any) -> Any:
    return tensor.detach().reshape(-1)


def _put(into: Any, values: Any) -> None:
    into.detach().copy_(values.reshape(into.shape))  # autograd does not see what a collective writes


def reduction(op: Any) -> Callable[[Any], Any]:
    """What a `ReduceOp` of torch makes of an array with a row for each rank. Raises NotImplementedError for others."""
    import torch
    from torch.distributed import ReduceOp

    known: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
        (ReduceOp.SUM, lambda rows: rows.sum(0, dtype=rows.dtype)),
        (ReduceOp.AVG, lambda rows: rows.mean(0, dtype=rows.dtype)),
        (ReduceOp.PRODUCT, lambda rows: rows.prod(0, dtype=rows.dtype)),
        (ReduceOp.MIN, lambda rows: rows.amin(0)), (ReduceOp.MAX, lambda rows: rows.amax(0)),
        (ReduceOp.BAND, lambda rows: _folded(torch.bitwise_and, rows)),
        (ReduceOp.BOR, lambda rows: _folded(torch.bitwise_or, rows)),
        (ReduceOp.BXOR, lambda rows: _folded(torch.bitwise_xor, rows)),
    )  # fmt: skip
    for one, way in known:
        if op == one:
            return way
    raise NotImplementedError(f"a virtual cluster does not reduce by {op}")


def _folded(op: Callable[[Any, Any], Any], rows: Any) -> Any:
    result = rows[0]
    for row in rows[1:]:
        result = op(result, row)
    return result


def all_reduced(op: Any) -> Callable[[Ranks], None]:
    """Every rank's tensors become the reduction of all ranks'."""
    import torch

    reduce = reduction(op)

    def work(ranks: Ranks) -> None:
        for i in range(len(ranks[0][1])):
            result = reduce(torch.stack([_flat(tensors[i]) for _, tensors in ranks]))
            for into, _ in ranks:
                if into is not None:  # as all but the root of a reduce
                    _put(into[i], result)

    return work


def gathered(ranks: Ranks) -> None:
    """Every rank's array becomes what all ranks have, one after another."""
    import torch

    whole = torch.cat([_flat(tensor) for _, tensor in ranks])
    for into, _ in ranks:
        _put(into, whole)


def listed(ranks: Ranks) -> None:
    """Every rank that has lists gets in them what each rank has."""
    for lists, _ in ranks:
        for i, into in enumerate(lists or ()):
            for one, (_, tensors) in zip(into, ranks, strict=True):
                _put(one, tensors[i])


def scattered(op: Any) -> Callable[[Ranks], None]:
    """Every rank's array becomes its part of the reduction."""
    import torch

    reduce = reduction(op)

    def work(ranks: Ranks) -> None:
        result = reduce(torch.stack([_flat(tensor) for _, tensor in ranks]))
        for (into, _), part in zip(ranks, result.chunk(len(ranks)), strict=True):
            _put(into, part)

    return work


def dealt(root: int) -> Callable[[Ranks], None]:
    """Every rank gets its entry of the root's lists."""

    def work(ranks: Ranks) -> None:
        for i, parts in enumerate(ranks[root][1]):
            for (into, _), part in zip(ranks, parts, strict=True):
                _put(into[i], part)

    return work


def spread(root: int) -> Callable[[Ranks], None]:
    """Every rank's tensors become those of the root."""

    def work(ranks: Ranks) -> None:
        for rank, (into, _) in enumerate(ranks):
            if rank != root:
                for one, of_root in zip(into, ranks[root][1], strict=True):
                    _put(one, of_root.detach())

    return work


def exchanged(ranks: Ranks) -> None:
    """Block j of rank i becomes block i of rank j; both are lists of tensors."""
    for i, (blocks, _) in enumerate(ranks):
        for into, (_, theirs) in zip(blocks, ranks, strict=True):
            _put(into, theirs[i].detach())


def transposed(ranks: Ranks) -> None:
    """The same for arrays that are cut in equal blocks."""
    import torch

    n = len(ranks)
    blocks = torch.stack([_flat(tensor).view(n, -1) for _, tensor in ranks]).transpose(0, 1)
    for (into, _), block in zip(ranks, blocks, strict=True):
        _put(into, block)
