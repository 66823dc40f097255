"""What comes into a footprint: numbers or arrays of them, and words, which become codes once."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from math import inf
from typing import Any, TypeVar, cast

from hwlib.specs.table import unknown

R = TypeVar("R")
BLOCK = 16384  # plans at a time: what is computed on the way stays in the cache of a core
RECOMPUTE = ("none", "selective", "full")
"""What is recomputed: nothing; attention's scores; everything from each layer's input on."""
SCHEDULES = ("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe")
"""Pipeline schedules; 1f1b is interleaved where a rank has several chunks."""


def number(name: str, x: Any, low: float, high: float = inf, who: str = "footprint") -> Any:
    """x as a float, or an array of them, within the bounds. Raises ValueError."""
    if getattr(x, "ndim", 0) and hasattr(x, "astype"):
        x = x if x.dtype.kind == "f" else x.astype(float)
        good = bool(x.min(initial=low) >= low and (high == inf or x.max(initial=low) <= high))
    else:
        good = hasattr(x, "__float__") and low <= x <= high
        x = float(x) if good else x
    if not good:
        span = f"at least {low:g}" + ("" if high == inf else f" and at most {high:g}")
        raise ValueError(f"{who}: {name} is {span}, got {x!r}")
    return x


def code(name: str, x: Any, words: Sequence[str], who: str = "footprint") -> Any:
    """The position of x in `words`, or an array of positions; positions themselves pass. Raises ValueError."""
    if isinstance(x, str):
        if x not in words:
            raise ValueError(f"{who}: " + unknown(name, x, words))
        return words.index(x)
    if getattr(x, "ndim", 0) and x.dtype.kind in "UO":
        import numpy as np

        found, where = np.unique(x.astype(str), return_inverse=True)
        return np.array([code(name, str(word), words, who) for word in found])[where].reshape(x.shape)
    positions = number(name, x, 0, len(words) - 1, who)
    return positions if getattr(positions, "ndim", 0) else int(positions)


def choose(code: Any, options: Sequence[Callable[[], Any]]) -> Any:
    """The option that the code names, element by element for an array: only those that occur are computed."""
    if not getattr(code, "ndim", 0):
        return options[int(code)]()
    import numpy as np

    occurring = [i for i in range(len(options)) if (code == i).any()]
    result = options[occurring[0]]()
    for i in occurring[1:]:
        result = np.where(code == i, options[i](), result)
    return result


def in_blocks(kind: type[R], one: Callable[[dict[str, Any]], R], given: dict[str, Any], arrays: dict[str, Any]) -> R:
    """What `one` says of many plans, block by block, as a record whose fields are arrays of all of them.

    Of what is given, that which differs from plan to plan stands in `arrays` too; `kind` is a dataclass of numbers.
    """
    import numpy as np

    shape = np.broadcast_shapes(*(x.shape for x in arrays.values()))
    flat = {name: np.broadcast_to(x, shape).reshape(-1) for name, x in arrays.items()}
    names = [f.name for f in fields(cast(Any, kind))]
    result = np.empty((len(names), int(np.prod(shape))))
    for start in range(0, result.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        block = one(given | {name: x[part] for name, x in flat.items()})
        for row, name in zip(result, names, strict=True):
            row[part] = getattr(block, name)
    return kind(*result.reshape(-1, *shape))
