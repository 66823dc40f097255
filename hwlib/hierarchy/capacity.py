"""How much memory a chip has at each level, and how many bytes must be in flight to keep it busy."""

from typing import NamedTuple

from hwlib.formula import ceil, formula, minimum
from hwlib.specs.accelerator import Accelerator, accelerators


@formula("S_chip", cite="scaling-book")
def chip_bytes(n_SM, S_SM):
    """A memory that every multiprocessor has for itself, summed over the chip.

    A "KB" of a data sheet is 1024 bytes here: 132 times 256 KB are 33.0 MiB, which is 34.6 MB.
    """
    return n_SM * S_SM


@formula("S_flight", cite="volkov2016")
def flight_bytes(W, t_mem):
    """Little's law: bytes arrive at rate W, each was requested t_mem ago, so W * t_mem bytes are in flight."""
    return W * t_mem


@formula("W_use", cite="volkov2016")
def latency_bandwidth(S_flight, W, t_mem):
    """With S_flight bytes in flight, each for t_mem, the rate is S_flight / t_mem, but at most W."""
    return minimum(W, S_flight / t_mem)


@formula("warps", cite="volkov2016")
def latency_warps(W, t_mem, n_SM, S_warp):
    """Warps that each multiprocessor needs to keep the memory busy, if a warp has S_warp bytes in flight.

    A load of 4 bytes by each of 32 threads is 128 bytes; wider or more loads at once need fewer warps.
    """
    return ceil(flight_bytes(W, t_mem) / (n_SM * S_warp))


class Memory(NamedTuple):
    """One memory of a chip: its name, the bytes of one instance, the number of instances, and the total bytes."""

    name: str
    each: float
    instances: int
    bytes: float


_EACH = (
    ("registers", "regfile_bytes"),
    ("shared memory", "smem_bytes"),
    ("tensor memory", "tmem_bytes"),
    ("vector memory", "vmem_bytes"),
)
_SHARED = (("L2 cache", "l2_bytes"), ("last-level cache", "l3_bytes"), ("HBM", "hbm_bytes"))


def memories(chip: Accelerator | str) -> tuple[Memory, ...]:
    """The memories of a chip (a record, or its key) whose sizes its table confirms, nearest to the arithmetic first.

    Shared memory is a part of the L1 cache, up to `smem_bytes`, so L1 is not listed separately.
    """
    if isinstance(chip, str):
        chip = accelerators[chip]
    sms = chip.sms or 0
    own = [(name, getattr(chip, field), sms) for name, field in _EACH if sms]
    common = [(name, getattr(chip, field), 1) for name, field in _SHARED]
    return tuple(Memory(name, each, copies, copies * each) for name, each, copies in own + common if each is not None)
