"""How much memory a chip has at each distance from its arithmetic, and how much must be under way to feed it."""

from typing import NamedTuple

from hwlib.formula import ceil, formula, minimum
from hwlib.specs.accelerator import Accelerator, accelerators


@formula("S_chip", cite="scaling-book")
def chip_bytes(n_SM, S_SM):
    """A memory that every multiprocessor has for itself, over the whole chip.

    A "KB" of a data sheet is 1024 bytes here: 132 times 256 KB are 33.0 MiB, which is 34.6 MB.
    """
    return n_SM * S_SM


@formula("S_flight", cite="volkov2016")
def flight_bytes(W, t_mem):
    """Little's law: bytes arrive at rate W, each was asked for t_mem ago, so this many are under way."""
    return W * t_mem


@formula("W_use", cite="volkov2016")
def latency_bandwidth(S_flight, W, t_mem):
    """With S_flight bytes under way, each takes t_mem; more than W there is not."""
    return minimum(W, S_flight / t_mem)


@formula("warps", cite="volkov2016")
def latency_warps(W, t_mem, n_SM, S_warp):
    """Warps that each multiprocessor needs to keep the memory busy, if one has S_warp bytes under way.

    A load of 4 bytes by each of 32 threads is 128 bytes; wider or more loads at once need fewer warps.
    """
    return ceil(flight_bytes(W, t_mem) / (n_SM * S_warp))


class Memory(NamedTuple):
    """One memory of a chip: its name, the bytes of one instance, how many there are, and the bytes of all."""

    name: str
    each: float
    instances: int
    bytes: float


_EACH = (
    ("registers", "regfile_bytes"), ("shared memory", "smem_bytes"), ("tensor memory", "tmem_bytes"),
    ("vector memory", "vmem_bytes"),
)  # fmt: skip
_SHARED = (("L2 cache", "l2_bytes"), ("last-level cache", "l3_bytes"), ("HBM", "hbm_bytes"))


def memories(chip: Accelerator | str) -> tuple[Memory, ...]:
    """The memories of a chip (a record, or its key) that its table confirms, nearest to the arithmetic first.

    Shared memory is a part of the L1 cache, up to `smem_bytes`, so L1 is not listed beside it.
    """
    if isinstance(chip, str):
        chip = accelerators[chip]
    sms = chip.sms or 0
    own = [(name, getattr(chip, field), sms) for name, field in _EACH if sms]
    common = [(name, getattr(chip, field), 1) for name, field in _SHARED]
    return tuple(Memory(name, each, copies, copies * each) for name, each, copies in own + common if each is not None)
