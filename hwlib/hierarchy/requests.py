"""One request of a warp: the sectors that it moves, and the cycles that the banks of shared memory take for it."""

from collections import Counter
from collections.abc import Iterable

from hwlib.formula import formula

SECTOR = 32  # bytes, the piece in which caches and memory exchange them
BANKS = 32  # of shared memory
WORD = 4  # bytes of a bank in a cycle


def warp_sectors(addresses: Iterable[int], width: int = 4) -> int:
    """Sectors that hold the bytes of a request: each thread wants `width` bytes from its address on."""
    return len({byte // SECTOR for address in addresses for byte in (address, address + width - 1)})


def bank_cycles(addresses: Iterable[int]) -> int:
    """Cycles of a request for one word a thread: a bank serves one word a cycle, to any number of threads."""
    words = {address // WORD for address in addresses}
    return max(Counter(word % BANKS for word in words).values(), default=0)


@formula("bytes", cite="cuda-guide")
def feed_bytes(b_m, b_n, ops_cycle, b=2):
    """Bytes a cycle that shared memory delivers to a matrix unit that multiplies tiles of b_m rows and b_n columns.

    A step of depth 1 reads b_m + b_n elements and does 2*b_m*b_n operations, of ops_cycle in a cycle.
    """
    return b * (b_m + b_n) * ops_cycle / (2 * b_m * b_n)
