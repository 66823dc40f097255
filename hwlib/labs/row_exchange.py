"""Rows that go to ranks of their own choice, and a way back: the exchange under every dispatch of tokens."""

from collections.abc import Callable
from typing import Any


def exchange_rows(rows: Any, to: Any, group: Any = None) -> tuple[Any, Callable[[Any], Any]]:
    """Send row i of a matrix to rank `to[i]` of the group. Every rank of the group calls it, with any number of rows.

    `to` is a tensor of whole numbers, one a row. Returns the rows that came, those of rank 0 first and of each rank in
    its own order, and a function `back`: it takes as many rows, of any width, sends each to where its row came from,
    and returns what came of this rank's own rows, in their order. Both are collective calls. Raises ValueError unless
    there is one destination a row, or one row for each that came.
    """
    import torch
    import torch.distributed as dist

    n = dist.get_world_size(group)
    if len(to) != len(rows):
        raise ValueError(f"exchange_rows: {len(rows)} rows have {len(to)} destinations; one a row was expected")
    order = torch.argsort(to, stable=True)
    leaving = torch.bincount(to, minlength=n)
    if len(leaving) > n:
        raise ValueError(f"exchange_rows: destinations are ranks 0 to {n - 1} of the group, got {int(to.max())}")
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving, group=group)
    out, into = leaving.tolist(), coming.tolist()

    def carried(sent: Any, sizes: list[int], received: list[int]) -> Any:
        got = sent.new_empty(sum(received), *sent.shape[1:])
        dist.all_to_all_single(got, sent.contiguous(), received, sizes, group=group)
        return got

    def back(results: Any) -> Any:
        if len(results) != sum(into):
            raise ValueError(f"exchange_rows: {sum(into)} rows came, {len(results)} are to go back")
        arrived = carried(results, into, out)
        placed = torch.empty_like(arrived)
        placed[order] = arrived
        return placed

    return carried(rows[order], out, into), back
