"""What a worked question of the literature asks, what the source answers, and what the library says."""

from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """`ours()` is computed by the library from specs; `printed` stands in the source, good to `rel`.

    Where the source is wrong, `ours` must *differ* from it by more than `rel`, `right` is the right value, and
    `error` says in a line what the source did.
    """

    id: str
    ours: Callable[[], float]
    printed: float
    rel: float = 0.01
    right: float | None = None
    error: str = ""


def check(row: Row) -> None:
    """The library gives what the source prints, or the right value where the source is known to be wrong."""
    value = row.ours()
    off = abs(value - row.printed) / abs(row.printed)
    if row.right is None:
        assert off <= row.rel, f"{row.id}: {value} against {row.printed} as printed"
        return
    assert row.error, f"{row.id}: say what the source did"
    assert off > row.rel, f"{row.id}: {value} is what the source prints; it is no error then"
    assert abs(value - row.right) <= row.rel * abs(row.right), f"{row.id}: {value} against {row.right}"
