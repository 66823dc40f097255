"""One thing measured on several machines: training rates (measured_machines.csv), and all-reduces that leave a machine
(measured_fabrics.csv), as published.
"""

from typing import NamedTuple

from hwlib.specs.accelerator import accelerators
from hwlib.specs.measured import Measurements, of
from hwlib.units import GB, TFLOP


class MeasuredMachine(NamedTuple):
    """A published training rate, in FLOP/s of a chip, of `params` parameters on `chips` chips in `parts` machines.

    A machine is one pod's slice, or one NVLink domain. `model` is a key of `models`, or empty; `dtype` that of the
    products; `plan` as printed, or empty. `source` begins with a key of docs/references.bib.
    """

    key: str
    chip: str
    model: str
    params: float
    chips: int
    parts: int
    dtype: str
    rate: float
    plan: str
    source: str

    @property
    def share(self) -> float:
        """Of the chip's dense peak for this dtype."""
        return self.rate / accelerators[self.chip].flops(self.dtype)


class MeasuredFabric(NamedTuple):
    """A timed all-reduce of `S` bytes on each of `n` GPUs in machines of `domain`, as nccl-tests prints it.

    `network` is what such a machine sends to the others, one way (B/s); `bus_bandwidth` (B/s) is 2(n - 1)/n of S over
    the time, whatever crossed the wires. `how` says version and network.
    """

    chip: str
    n: int
    domain: int
    network: float
    S: int
    bus_bandwidth: float
    how: str
    source: str

    @property
    def machines(self) -> int:
        return self.n // self.domain


MACHINES = Measurements(
    "rate", "measured_machines.csv", MeasuredMachine, params=of("params", 1e9), rate=of("rate", TFLOP)
)
FABRICS = Measurements(
    "all-reduce",
    "measured_fabrics.csv",
    MeasuredFabric,
    "on",
    network=of("network", GB),
    S=of("bytes"),
    bus_bandwidth=of("bus_bandwidth", GB),
)


def measured_machines(chip: str | None = None, model: str | None = None) -> tuple[MeasuredMachine, ...]:
    """The published training rates, all or of one chip or model. Raises ValueError, listing the known, for none."""
    return MACHINES.where(chip=chip, model=model)


def measured_fabrics(chip: str | None = None, n: int | None = None) -> tuple[MeasuredFabric, ...]:
    """The published all-reduces over machines, all or of one chip and number of GPUs. Raises ValueError for none."""
    return FABRICS.where(chip=chip, n=n)
