"""How many warps fit on a multiprocessor at once: each of four resources sets a limit, the least decides.

Registers are given to a warp in units of 256 within one of four sub-partitions, shared memory to a block in
units of 128 bytes (256 before Ampere), plus 1 KiB a block that the driver keeps for itself since Ampere. The
rules and the numbers are those of NVIDIA's own calculator, cuda_occupancy.h.
"""

from collections.abc import Mapping
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

from hwlib.arguments import whole
from hwlib.formula import const, floor, formula
from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.table import unknown

WARP = 32
REGISTER_BYTES = 4
REGISTER_UNIT = 256  # registers, per warp
PARTITIONS = 4
MAX_THREADS = 1024  # of one block
MAX_REGISTERS = 256  # of one thread; a compiler gives at most 255


@formula("warps", cite="cuda-occupancy")
def register_warps(S_RF, rho):
    """Warps whose registers fit: 32 threads of rho registers of 4 bytes each. To first order.

    Exact where rho is a multiple of 8, the unit in which registers are given.
    """
    return floor(S_RF / (const(4, "B") * 32 * rho))


class Limits(NamedTuple):
    """What one multiprocessor of an architecture holds at most, and in which units it gives shared memory."""

    warps: int
    blocks: int
    smem_unit: int  # bytes
    smem_reserved: int  # bytes of every block


LIMITS: Mapping[str, Limits] = MappingProxyType(
    {
        "Volta": Limits(64, 32, 256, 0),
        "Ampere": Limits(64, 32, 128, 1024),
        "Hopper": Limits(64, 32, 128, 1024),
        "Blackwell": Limits(64, 32, 128, 1024),
        "Blackwell Ultra": Limits(64, 32, 128, 1024),
    }
)
"""By architecture, for the data-centre chips of this book (compute capability 7.0, 8.0, 9.0, 10.0 and 10.3)."""


class Occupancy(NamedTuple):
    """Blocks and warps resident on one multiprocessor, and how many blocks each resource would allow."""

    blocks: int
    warps: int
    fraction: float
    allowed: Mapping[str, int]

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that run out first."""
        return tuple(name for name, blocks in self.allowed.items() if blocks == self.blocks)


def occupancy(chip: Accelerator | str, threads: int, registers: int, smem: float = 0) -> Occupancy:
    """What fits of blocks of `threads` threads with `registers` registers a thread and `smem` bytes a block.

    The chip is a record or a key of `hwlib.specs.accelerators`.
    Exact for kernels that take the largest shared memory their chip can set aside. A block that cannot run at
    all gives 0 blocks. Raises KeyError for an unknown key, and ValueError for a chip that is not NVIDIA's or has
    an unlisted architecture, and for counts that no kernel has.
    """
    if isinstance(chip, str):
        chip = accelerators[chip]
    if chip.arch not in LIMITS or not chip.regfile_bytes or not chip.smem_bytes:
        raise ValueError(f"occupancy: chip {chip.key}: " + unknown("architecture", chip.arch, LIMITS))
    threads = whole("occupancy: threads", threads, 1, MAX_THREADS)
    registers = whole("occupancy: registers", registers, 0, MAX_REGISTERS)
    smem = whole("occupancy: smem", smem, 0, int(chip.smem_bytes))
    limits = LIMITS[chip.arch]
    warps = ceil(threads / WARP)
    allowed = {
        "warps": limits.warps // warps,
        "registers": _by_registers(int(chip.regfile_bytes) // REGISTER_BYTES, warps, registers, limits.blocks),
        "shared memory": _by_smem(int(chip.smem_bytes), smem, limits),
        "blocks": limits.blocks,
    }
    blocks = min(allowed.values())
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, MappingProxyType(allowed))


def _by_registers(file: int, warps: int, registers: int, most: int) -> int:
    """Blocks by registers: a sub-partition holds whole warps; a launch is checked as if it filled all four."""
    per_warp = _up(registers * WARP, REGISTER_UNIT)
    if not per_warp:
        return most
    if per_warp * _up(warps, PARTITIONS) > file:
        return 0
    return file // PARTITIONS // per_warp * PARTITIONS // warps


def _by_smem(total: int, smem: int, limits: Limits) -> int:
    """Blocks by shared memory, the driver's part included; one block may have all of it."""
    per_block = _up(smem + limits.smem_reserved, limits.smem_unit)
    return total // per_block if per_block else limits.blocks


def _up(x: int, unit: int) -> int:
    return -(-x // unit) * unit
