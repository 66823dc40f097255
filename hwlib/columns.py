"""The same code over numbers or columns: one plan in plain Python, or arrays of a million plans.

A column is a numpy array with one element per plan. numpy is loaded only if an argument is an array.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import inf
from typing import Any, TypeVar, cast

R = TypeVar("R")
BLOCK = 16384  # plans at a time: what is computed on the way stays in the cache of a core


def is_column(x: Any) -> bool:
    """Whether this is an array, with one element per plan, rather than a number or a word."""
    return bool(getattr(x, "ndim", 0))


def is_one(x: Any) -> bool:
    """Whether a degree is 1 for all plans, so that its transfers need not be computed."""
    return not is_column(x) and x == 1


def choose(code: Any, options: Sequence[Callable[[], Any]]) -> Any:
    """The option that the code names, element by element for a column: only those that occur are computed."""
    if not is_column(code):
        return options[int(code)]()
    import numpy as np

    occurring = [i for i in range(len(options)) if (code == i).any()]
    result = options[occurring[0]]()
    for i in occurring[1:]:
        result = np.where(code == i, options[i](), result)
    return result


def choose_by(code: Any, option: Callable[[int], Any]) -> Any:
    """`option` of the code, element by element for a column: it is computed once for each code that occurs."""
    if not is_column(code):
        return option(int(code))
    import numpy as np

    occurring = np.flatnonzero(np.bincount(code.astype(np.intp))).tolist()
    result = option(occurring[0])
    for i in occurring[1:]:
        result = np.where(code == i, option(i), result)
    return result


def single(x: Any) -> Any:
    """A column whose elements are all the same as that number: less to compute."""
    if not is_column(x) or not x.size or x.flat[0] != x.flat[-1] or x.min() != x.max():
        return x
    return x.flat[0].item()


def bounded(what: str, x: Any, low: float, high: float = inf) -> Any:
    """x as a float, or a column of them, within the bounds. Raises ValueError, which names `what`."""
    if is_column(x) and hasattr(x, "astype"):
        x = x if x.dtype.kind == "f" else x.astype(float)
        good = bool(x.min(initial=low) >= low and (high == inf or x.max(initial=low) <= high))
    else:
        good = hasattr(x, "__float__") and low <= x <= high
        x = float(x) if good else x
    if not good:
        span = f"at least {low:g}" + ("" if high == inf else f" and at most {high:g}")
        raise ValueError(f"{what} is {span}, got {x!r}")
    return x


def by_blocks(kind: type[R], one: Callable[[dict[str, Any]], R], given: Mapping[str, Any]) -> R:
    """The result of `one`: for numbers at once, for columns block by block, as a record of columns.

    `kind` is the record, a dataclass of numbers. Columns of different shapes are broadcast; in a block `one` sees
    flat columns, and a number in place of a column that does not change.
    """
    columns = {name: x for name, x in given.items() if is_column(x)}
    if not columns:
        return one(dict(given))
    import numpy as np

    shape = np.broadcast_shapes(*(x.shape for x in columns.values()))
    flat = {name: np.broadcast_to(x, shape).reshape(-1) for name, x in columns.items()}
    names = [f.name for f in fields(cast(Any, kind))]
    result = np.empty((len(names), int(np.prod(shape))))
    for start in range(0, result.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        block = one({**given, **{name: single(x[part]) for name, x in flat.items()}})
        for row, name in zip(result, names, strict=True):
            row[part] = getattr(block, name)
    return kind(*result.reshape(-1, *shape))
