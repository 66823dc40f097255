"""How fast is each memory of this machine? Reads of one buffer over and over, and copies, over a sweep of sizes.

The same code runs on a CPU and on a GPU. A buffer that is read again is found in the smallest memory that holds it,
so bandwidth falls in steps as it grows. Traffic is counted: a read once, a copy twice.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from hwlib.labs import measure
from hwlib.specs import Accelerator
from hwlib.specs.card import card_of
from hwlib.units import KiB, MiB

CPU_WORK, GPU_WORK = 2**22, 2**28  # bytes a timed call reads at least: far more than starting it costs
POWERS = {"cpu": range(14, 28), "cuda": range(20, 31)}  # 16 KiB to 128 MiB, and 1 MiB to 1 GiB


class BandwidthPoint(NamedTuple):
    """One measurement: the bytes of the buffer, the bytes that crossed in a call, and the median time of a call."""

    size: float
    bytes: float
    time: float

    @property
    def bandwidth(self) -> float:
        """Bytes that crossed, over the time, in B/s."""
        return self.bytes / self.time


def sizes(device: Any = None) -> list[int]:
    """Buffer sizes from the nearest cache to beyond the last, each twice the previous."""
    return [2**power for power in POWERS[measure._device(device).type]]


def measure_reads(buffers: Iterable[int] | None = None, device: Any = None, threads: int = 1) -> list[BandwidthPoint]:
    """Repeated reads of a buffer, one point per size: float32 numbers are summed, which is almost no work.

    The repeats of a small buffer are one call, in which it is read as the rows of a matrix that has one row many times;
    a GPU's rows are read side by side, so only a buffer that fits well inside its last cache is repeated. Raises
    ValueError for a size below 4 bytes.
    """
    import torch

    device = measure._device(device)
    work = CPU_WORK if device.type == "cpu" else GPU_WORK
    inside = measure._last_cache(device, measure.CPU if device.type == "cpu" else measure.GPU) / 2
    points = []
    for size in _checked(buffers, device):
        rows = ceil(work / size) if device.type == "cpu" or size <= inside else 1
        row = torch.rand(size // 4, device=device)  # written, so it is there
        matrix, sums = row.expand(rows, len(row)), torch.empty(rows, device=device)

        def run(matrix: Any = matrix, sums: Any = sums) -> None:
            torch.sum(matrix, 1, out=sums)

        time = measure.time_kernel(run, device, threads)
        points.append(BandwidthPoint(size, rows * 4 * len(row), time))
    return points


def measure_copies(buffers: Iterable[int] | None = None, device: Any = None, threads: int = 1) -> list[BandwidthPoint]:
    """Copies of a buffer into another of its size, one point a size: each byte is read once and written once.

    Both were written before, one call warms up, the median of many counts, a GPU is timed by its own events, and small
    copies are timed many at a time. Raises ValueError for a size below 4 bytes.
    """
    import torch

    device = measure._device(device)
    work = CPU_WORK if device.type == "cpu" else GPU_WORK
    points = []
    for size in _checked(buffers, device):
        source = torch.rand(size // 4, device=device)
        target, calls = torch.zeros_like(source), min(ceil(work / (2 * size)), 100)

        def run(source: Any = source, target: Any = target, calls: int = calls) -> None:
            for _ in range(calls):
                target.copy_(source)

        time = measure.time_kernel(run, device, threads)
        points.append(BandwidthPoint(size, calls * 2 * 4 * len(source), time))
    return points


def caches(device: Any = None) -> dict[str, float]:
    """The caches that the device reports, smallest first: name and bytes. For a CPU those that one core uses."""
    device = measure._device(device)
    if device.type == "cuda":
        return {"L2": measure._last_cache(device, measure.GPU)}
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction" and size[-1] in "KM":
            sizes[f"L{level}"] = int(size[:-1]) * {"K": KiB, "M": MiB}[size[-1]]
    return sizes


def chip_of(device: Any = None) -> Accelerator | None:
    """The row of the data sheet for this GPU, or None for a CPU and for a card that the tables do not have."""
    device = measure._device(device)
    if device.type != "cuda":
        return None
    import torch

    return card_of(torch.cuda.get_device_name(device))


def _checked(buffers: Iterable[int] | None, device: Any) -> Sequence[int]:
    checked = sizes(device) if buffers is None else list(buffers)
    if wrong := [size for size in checked if not isinstance(size, int) or size < 4]:
        raise ValueError(f"a buffer has a whole number of bytes, at least 4, not {wrong[0]!r}")
    return checked
