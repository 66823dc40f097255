"""What layers of experts did elsewhere: the time of their products, of their exchanges, and how uneven the loads were.

Three small tables: measured_experts.csv, measured_exchanges.csv and measured_loads.csv, whose heads say how the numbers
were taken.
"""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows


class MeasuredExperts(NamedTuple):
    """A layer of experts on one GPU (`chip`, a key of `accelerators`) for `tokens` that reach it: `time` in seconds.

    `topk` of `experts` serve a token, `local` of them are here, `width` columns of each, in so many `matrices`. `skew`
    is 0 where all experts get as many tokens, else the exponent of a power law of loads. `source` begins with a key of
    docs/references.bib, here and below.
    """

    chip: str
    dtype: str
    software: str
    kernel: str
    tokens: int
    hidden: int
    width: int
    experts: int
    topk: int
    local: int
    matrices: int
    skew: float
    time: float
    source: str


class MeasuredExchange(NamedTuple):
    """A dispatch or combine over `ranks` GPUs, with `tokens` on each. `time` in seconds, or None where none is printed;
    `rate` in B/s, as the source counts bytes: with those that stay in the node. `inside` carries the latter.
    """

    kernels: str
    inside: str
    what: str
    ranks: int
    tokens: int
    time: float | None
    rate: float
    source: str


class MeasuredLoads(NamedTuple):
    """Tokens that the ranks get of one layer, by mean, standard deviation and `ratio` = (max - mean)/mean.

    Layer 0 is the average of all layers. `slots` are the experts that all ranks hold, copies counted.
    """

    model: str
    layer: int
    ranks: int
    slots: int
    mean: float
    deviation: float
    ratio: float
    source: str

    @property
    def imbalance(self) -> float:
        """The load of the busiest rank over the mean."""
        return 1 + self.ratio


@cache
def measured_experts() -> tuple[MeasuredExperts, ...]:
    """The timed layers of experts, in the order of the table."""
    lengths = ("tokens", "hidden", "width", "experts", "topk", "local", "matrices")
    found = []
    for r in csv_rows("measured_experts.csv"):
        tokens, hidden, width, experts, topk, local, matrices = (int(r[name]) for name in lengths)
        shape = (tokens, hidden, width, experts, topk, local, matrices)
        time = float(r["time_us"]) * 1e-6
        chip, dtype, software, kernel = r["chip"], r["dtype"], r["software"], r["kernel"]
        found.append(MeasuredExperts(chip, dtype, software, kernel, *shape, float(r["skew"]), time, r["source"]))
    return tuple(found)


@cache
def _exchanges() -> tuple[MeasuredExchange, ...]:
    return tuple(
        MeasuredExchange(
            r["kernels"], r["inside"], r["what"], int(r["ranks"]), int(r["tokens"]),
            float(r["time_us"]) * 1e-6 if r["time_us"] else None, float(r["rate_GBs"]) * 1e9, r["source"],
        )
        for r in csv_rows("measured_exchanges.csv")
    )  # fmt: skip


def measured_exchanges(kernels: str, what: str | None = None, inside: str = "nvlink") -> tuple[MeasuredExchange, ...]:
    """The exchanges of one kind of kernels, "normal" or "low latency", both ways or one.

    Raises ValueError, listing the known ones, if the table has none.
    """
    rows = tuple(r for r in _exchanges() if (r.kernels, r.inside) == (kernels, inside) and what in (None, r.what))
    if not rows:
        known = ", ".join(dict.fromkeys(f"{r.kernels} {r.what} ({r.inside})" for r in _exchanges()))
        raise ValueError(f"no measured exchange {kernels} {what} ({inside}); known: {known}")
    return rows


@cache
def measured_loads(slots: int) -> tuple[MeasuredLoads, ...]:
    """The loads of the layers where all ranks together hold so many experts, the average of all layers last.

    Raises ValueError, listing the known numbers, if the table has none.
    """
    found = [
        MeasuredLoads(
            r["model"], int(r["layer"]), int(r["ranks"]), int(r["slots"]),
            float(r["mean"]), float(r["deviation"]), float(r["ratio"]), r["source"],
        )
        for r in csv_rows("measured_loads.csv")
    ]  # fmt: skip
    rows = tuple(r for r in found if r.slots == slots)
    if not rows:
        known = ", ".join(dict.fromkeys(str(r.slots) for r in found))
        raise ValueError(f"no measured loads of {slots} slots; known: {known}")
    return rows
