"""What layers of experts did elsewhere: the time of their products, of their exchanges, and how uneven the loads were.

Three small tables: measured_experts.csv, measured_exchanges.csv and measured_loads.csv, whose heads say how the numbers
were taken.
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import GB, us


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


EXPERTS = Measurements("layer of experts", "measured_experts.csv", MeasuredExperts, time=of("time_us", us))
EXCHANGES = Measurements(
    "exchange", "measured_exchanges.csv", MeasuredExchange, time=of("time_us", us), rate=of("rate_GBs", GB)
)
LOADS = Measurements("load", "measured_loads.csv", MeasuredLoads)


def measured_experts() -> tuple[MeasuredExperts, ...]:
    """The timed layers of experts, in the order of the table."""
    return EXPERTS.rows


def measured_exchanges(kernels: str, what: str | None = None, inside: str = "nvlink") -> tuple[MeasuredExchange, ...]:
    """The exchanges of one kind of kernels, "normal" or "low latency", both ways or one.

    Raises ValueError, listing the known ones, if the table has none.
    """
    return EXCHANGES.where(kernels=kernels, what=what, inside=inside)


def measured_loads(slots: int) -> tuple[MeasuredLoads, ...]:
    """The loads of the layers where all ranks together hold so many experts, the average of all layers last.

    Raises ValueError, listing the known numbers, if the table has none.
    """
    return LOADS.where(slots=slots)
