"""Data movement of collectives between threads: each function takes (outputs, inputs) of every rank, in rank order.

The last rank to arrive does it for all, with as few operations as possible: one sum or joint array, then a copy to each
rank.
"""

from collections.abc import Callable, Sequence
from typing import Any

Ranks = Sequence[tuple[Any, Any]]


def _flat(tensor: Any) -> Any:
    return tensor.detach().reshape(-1)


def _put(into: Any, values: Any) -> None:
    into.detach().copy_(values.reshape(into.shape))  # autograd does not see what a collective writes


def reduction(op: str) -> Callable[[Any], Any]:
    """One of torch's reductions of an array with a row for each rank. Raises NotImplementedError for others."""
    import torch

    known: dict[str, Callable[[Any], Any]] = {
        "sum": lambda rows: rows.sum(0, dtype=rows.dtype),
        "avg": lambda rows: rows.mean(0, dtype=rows.dtype),
        "product": lambda rows: rows.prod(0, dtype=rows.dtype),
        "min": lambda rows: rows.amin(0),
        "max": lambda rows: rows.amax(0),
        "band": lambda rows: _folded(torch.bitwise_and, rows),
        "bor": lambda rows: _folded(torch.bitwise_or, rows),
        "bxor": lambda rows: _folded(torch.bitwise_xor, rows),
    }
    if op not in known:
        raise NotImplementedError(f"a simulated cluster does not reduce by {op}")
    return known[op]


def _folded(op: Callable[[Any, Any], Any], rows: Any) -> Any:
    result = rows[0]
    for row in rows[1:]:
        result = op(result, row)
    return result


def work_of(call: str, op: str, root: int) -> Callable[[Ranks], None]:
    """The data movement of a call of torch.distributed."""
    if call in ("all_reduce", "reduce"):
        return all_reduced(reduction(op))
    if call == "reduce_scatter":
        return scattered(reduction(op))
    if call in ("scatter", "broadcast"):
        return (dealt if call == "scatter" else spread)(root)
    return {"all_gather": gathered, "gather": gathered, "all_to_all": exchanged, "barrier": lambda _: None}[call]


def all_reduced(reduce: Callable[[Any], Any]) -> Callable[[Ranks], None]:
    """Every rank's tensors become the reduction of all ranks'."""
    import torch

    def work(ranks: Ranks) -> None:
        for i in range(len(ranks[0][1])):
            result = reduce(torch.stack([_flat(tensors[i]) for _, tensors in ranks]))
            for into, _ in ranks:
                if into is not None:  # as all but the root of a reduce
                    _put(into[i], result)

    return work


def gathered(ranks: Ranks) -> None:
    """Every rank with an output gets the data of all ranks."""
    import torch

    whole = None
    for into, _ in ranks:
        if isinstance(into, (list, tuple)):
            for output, (_, tensor) in zip(into, ranks, strict=True):
                _put(output, tensor)
        elif into is not None:
            whole = torch.cat([_flat(tensor) for _, tensor in ranks]) if whole is None else whole
            _put(into, whole)


def scattered(reduce: Callable[[Any], Any]) -> Callable[[Ranks], None]:
    """Every rank's array becomes its part of the reduction."""
    import torch

    def work(ranks: Ranks) -> None:
        result = reduce(torch.stack([_joined(parts) for _, parts in ranks]))
        for (into, _), part in zip(ranks, result.chunk(len(ranks)), strict=True):
            _put(into, part)

    return work


def dealt(root: int) -> Callable[[Ranks], None]:
    """Every rank gets its entry of the root's list."""

    def work(ranks: Ranks) -> None:
        for (into, _), part in zip(ranks, ranks[root][1], strict=True):
            _put(into, part)

    return work


def spread(root: int) -> Callable[[Ranks], None]:
    """Every rank's tensors become those of the root."""

    def work(ranks: Ranks) -> None:
        for rank, (into, _) in enumerate(ranks):
            if rank != root:
                for output, of_root in zip(into, ranks[root][1], strict=True):
                    _put(output, of_root.detach())

    return work


def exchanged(ranks: Ranks) -> None:
    """Block j of rank i becomes block i of rank j; blocks are a list of tensors, or an array's equal parts."""
    import torch

    n = len(ranks)
    if all(torch.is_tensor(output) for pair in ranks for output in pair):
        blocks = torch.stack([_flat(tensor).view(n, -1) for _, tensor in ranks]).transpose(0, 1)
        for (into, _), block in zip(ranks, blocks, strict=True):
            _put(into, block)
        return
    blocks_in = [_blocks(theirs, n) for _, theirs in ranks]
    for i, (into, _) in enumerate(ranks):
        for output, theirs in zip(_blocks(into, n), blocks_in, strict=True):
            _put(output, theirs[i].detach())


def _blocks(parts: Any, n: int) -> Any:
    return parts if isinstance(parts, (list, tuple)) else parts.detach().chunk(n)


def _joined(parts: Any) -> Any:
    import torch

    return torch.cat([_flat(part) for part in parts]) if isinstance(parts, (list, tuple)) else _flat(parts)
