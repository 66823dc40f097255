"""What each rank gets from a collective call, and what the call costs.

A call is performed when the last rank of its group has posted its part: `PERFORM` computes every rank's result and the
full buffer that the call's algorithm moves, and `cost_of` the bytes and rounds of that algorithm. A rank's part is
whatever its process has sent, so each is looked at here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from hwlib.simulate.call_costs import CallCost, call_cost, exchange_cost

from .network_error import NetworkError, shown
from .process_group import ROOTED


def cost_of(call: str, moved: Any, posts: Sequence[dict[str, Any]]) -> CallCost:
    """Bytes sent and received by rank, and rounds. `moved` is an array of the full buffer's size, or rows of parts."""
    if call == "all_to_all":
        return exchange_cost([[part.nbytes for part in row] for row in moved])
    root = posts[0]["root"] if call in ROOTED else None
    return call_cost(call, len(posts), 0 if moved is None else moved.size, 1 if moved is None else moved.itemsize, root)


def array_of(data: Any, number: int) -> Any:
    """The numbers that a rank sends, without their shape."""
    import numpy as np

    if not isinstance(data, np.ndarray):
        say = f"rank {number} sends {type(data).__name__}; the numbers of a tensor were expected"
        raise NetworkError(say, "not-an-array")
    return data.reshape(-1)


def _arrays(posts: Sequence[dict[str, Any]], call: str) -> list[Any]:
    arrays = [array_of(post.get("data"), place) for place, post in enumerate(posts)]
    if len({(array.size, array.dtype) for array in arrays}) > 1:
        has = ", ".join(f"{array.size} x {array.dtype}" for array in arrays)
        say = f"{call}: every rank brings as many numbers of one type; they bring {has}"
        raise NetworkError(say, "other-sizes")
    return arrays


def _reduced(posts: Sequence[dict[str, Any]], call: str) -> Any:
    import numpy as np

    arrays = _arrays(posts, call)
    ops = {"sum": np.add, "avg": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}
    op = posts[0].get("op", "sum")
    if type(op) is not str or op not in ops:
        raise NetworkError(f"{call} by {shown(op)} is not judged", "unknown-reduction")
    if any(post.get("op", "sum") != op for post in posts):
        named = ", ".join(sorted({shown(post.get("op", "sum")) for post in posts}))
        raise NetworkError(f"{call}: the ranks name the reductions {named}; one was expected", "other-reductions")
    total = reduce(ops[op], arrays)
    return total / total.dtype.type(len(arrays)) if op == "avg" else total


def _root(posts: Sequence[dict[str, Any]], call: str) -> int:
    roots = [post.get("root") for post in posts]
    root = roots[0]
    if type(root) is not int or not 0 <= root < len(posts) or any(other != root for other in roots):
        named = ", ".join(sorted(set(map(shown, roots))))
        say = f"{call}: the ranks name the roots {named}; one of them was expected"
        raise NetworkError(say, "other-roots")
    return root


def _parts(posts: Sequence[dict[str, Any]], call: str, of: Sequence[int]) -> list[list[Any]]:
    rows = []
    for place in of:
        parts = posts[place].get("data")
        if not isinstance(parts, (list, tuple)) or len(parts) != len(posts):
            raise NetworkError(f"{call}: {len(posts)} parts were expected, one for each rank", "other-parts")
        rows.append([array_of(part, place) for part in parts])
    return rows


def _fits(posts: Sequence[dict[str, Any]], place: int, came: Sequence[int], room: Any) -> None:
    """Whether what all ranks send to one is what it has room for, if it said: `room` numbers from each."""
    if (
        not isinstance(room, (list, tuple))
        or len(room) != len(came)
        or not all(type(one) is int and 0 <= one < 1 << 32 for one in room)
    ):
        return
    for frm, (size, expected) in enumerate(zip(came, room, strict=True)):
        if size != expected:
            width = _width([posts[frm].get("width"), posts[place].get("width")], (size, expected))
            what = "row" if width > 1 else "number"
            named = posts[place].get("group") or range(len(posts))
            sent = f"{size // width} {what}{'s' if size != width else ''}"
            say = f"all_to_all: rank {named[frm]} sends {sent} to rank {named[place]}, which expects"
            raise NetworkError(f"{say} {expected // width} from it", "other-splits")


def _width(widths: Sequence[Any], sizes: Sequence[int]) -> int:
    """The numbers of a row, where two ranks mean rows of the same width, and whole ones; else 1."""
    width = widths[0]
    rows = type(width) is int and width > 1 and widths[1] == width and not any(size % width for size in sizes)
    return int(width) if rows else 1


# What each rank gets from a call, and the full buffer that its algorithm moves


def _all_reduce(posts: Any, n: int) -> Any:
    total = _reduced(posts, "all_reduce")
    return [total.copy() for _ in range(n)], total


def _reduce(posts: Any, n: int) -> Any:
    total, root = _reduced(posts, "reduce"), _root(posts, "reduce")
    return [total if place == root else None for place in range(n)], total


def _broadcast(posts: Any, n: int) -> Any:
    x = _arrays(posts, "broadcast")[_root(posts, "broadcast")]
    return [x.copy() for _ in range(n)], x


def _all_gather(posts: Any, n: int) -> Any:
    import numpy as np

    x = np.concatenate(_arrays(posts, "all_gather"))
    return [x.copy() for _ in range(n)], x


def _reduce_scatter(posts: Any, n: int) -> Any:
    total = _reduced(posts, "reduce_scatter")
    if total.size % n:
        say = f"reduce_scatter: {total.size} numbers cannot be split evenly over {n} ranks"
        raise NetworkError(say, "uneven-split")
    return list(total.reshape(n, -1)), total


def _all_to_all(posts: Any, n: int) -> Any:
    rows = _parts(posts, "all_to_all", range(n))
    for place, post in enumerate(posts):
        _fits(posts, place, [row[place].size for row in rows], post.get("room"))
    return [[rows[i][j] for i in range(n)] for j in range(n)], rows


def _gather(posts: Any, n: int) -> Any:
    import numpy as np

    arrays, root = _arrays(posts, "gather"), _root(posts, "gather")
    return [arrays if place == root else None for place in range(n)], np.concatenate(arrays)


def _scatter(posts: Any, n: int) -> Any:  # noqa: ARG001
    import numpy as np

    root = _root(posts, "scatter")
    (parts,) = _parts(posts, "scatter", [root])
    if len({part.size for part in parts}) > 1:
        raise NetworkError("scatter: the parts are not equally long", "uneven-split")
    return parts, np.concatenate(parts)


def _barrier(posts: Any, n: int) -> Any:  # noqa: ARG001
    return [None] * n, None


PERFORM: dict[str, Callable[[Any, int], Any]] = {
    "all_reduce": _all_reduce,
    "reduce": _reduce,
    "broadcast": _broadcast,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "gather": _gather,
    "scatter": _scatter,
    "barrier": _barrier,
}
