"""Where the constants of a collective hold, and how far a sound run may be from them: by rows that a fit had not seen.

A band is an error of the rows themselves: 19 of 20 rows that are held back take no longer, and all of them where they
are fewer than 20, for then no row of them is known to be that rare. Growth is the
mean error, by doublings, of the rows with most ranks, or most bytes, predicted from the others.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.rows.published_row import PublishedRow
from hwlib.calibrated import Timed, size_region

WITHIN = 19 / 20
REGIONS = ("latency", "filling", "wires")
SPAN = 8  # times as many ranks as the fewest, from which on rows show what more of them cost
FURTHEST = 1 / 4  # of the sizes, which are predicted from the smaller ones
RELEASE = re.compile(r"/nccl/(\d+(?:\.\d+)+)/|\bnccl:? ?(\d+(?:\.\d+)+)", re.IGNORECASE)

Row = tuple[Timed, bool]
Time = Callable[[Any, Row], float]


class HeldBack(NamedTuple):
    """A row that the constants had not seen: its measured over its predicted time, and what decides it."""

    row: Row
    ratio: float
    region: str


def held_back(c: Any, rows: Iterable[Row], time: Time) -> list[HeldBack]:
    """Rows under constants that were fitted to others."""
    return [HeldBack(row, row[0].time / time(c, row), _region(c, row, time)) for row in rows]


def _region(c: Any, row: Row, time: Time) -> str:
    return size_region(lambda S: time(c, _of_bytes(row, S)), row[0].S)


def _of_bytes(row: Row, S: float) -> Row:
    return row[0]._replace(S=S), row[1]


def band(ratios: Iterable[float], least: float) -> float:
    """The share of time that WITHIN of them do not take longer, and at least `least`."""
    longer = sorted(ratio - 1 for ratio in ratios)
    return max(longer[math.ceil(len(longer) * WITHIN) - 1], least)


def bands(held: Sequence[HeldBack]) -> dict[str, float]:
    """The bands of all regions; one without rows has that of all rows. None is below the mean error."""
    mean = fmean(abs(1 / row.ratio - 1) for row in held)
    every = [row.ratio for row in held]
    return {f"band_{region}": band(_ratios(held, region) or every, mean) for region in REGIONS}


def _ratios(held: Sequence[HeldBack], region: str) -> list[float]:
    return [row.ratio for row in held if row.region == region]


def spans(rows: Sequence[tuple[PublishedRow, Timed]]) -> dict[str, Any]:
    """The ranks, bytes and releases of rows."""
    sizes = [timed.S for _, timed in rows]
    return {
        "ranks": tuple(sorted({timed.n for _, timed in rows})),
        "S_least": int(min(sizes)),
        "S_most": int(max(sizes)),
        "releases": tuple(sorted({f"NCCL {release}" for row, _ in rows if (release := _release(row))})),
    }


def _release(row: PublishedRow) -> str:
    text = f"{row.source} {row.system} nccl {row.config.get('nccl', '')}"
    match = RELEASE.search(text)
    return next(filter(None, match.groups())) if match else ""


def growths(rows: Sequence[Row], fit: Callable[[list[Row]], Any], time: Time) -> dict[str, float]:
    """What a doubling of the ranks, or of the bytes, beyond those of the rows adds to ln(measured/predicted)."""
    ranks = sorted({timed.n for timed, _ in rows})
    sizes = sorted({timed.S for timed, _ in rows})
    most = sizes[-math.ceil(FURTHEST * len(sizes)) - 1] if len(sizes) > 1 / FURTHEST else math.inf
    few = ranks[-1] / SPAN if ranks[-1] >= SPAN * ranks[0] else math.inf
    return {
        "growth_ranks": _growth(rows, lambda timed: timed.n / few, fit, time),
        "growth_bytes": _growth(rows, lambda timed: timed.S / most, fit, time),
    }


def _growth(
    rows: Sequence[Row], beyond: Callable[[Timed], float], fit: Callable[[list[Row]], Any], time: Time
) -> float:
    """The mean error a doubling of the rows that are `beyond` 1, under constants of those that are not."""
    near = [row for row in rows if beyond(row[0]) <= 1]
    far = [row for row in rows if beyond(row[0]) > 1]
    if not far:
        return math.nan
    try:
        c = fit(near)
    except ValueError:  # fewer rows than constants
        return math.nan
    doublings = sum(math.log2(beyond(row[0])) for row in far)
    return sum(abs(math.log(row[0].time / time(c, row))) for row in far) / doublings
