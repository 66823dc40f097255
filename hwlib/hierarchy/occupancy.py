"""How many warps fit on a multiprocessor at once: each of four resources sets a limit, and the smallest decides.

Registers are allocated to a warp in units of 256 within one of four subpartitions, shared memory to a block in
units of 128 bytes (256 before Ampere), plus 1 KiB per block that the driver reserves since Ampere. The
rules and the numbers are those of NVIDIA's own calculator, cuda_occupancy.h.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hwlib.arguments import as_int
from hwlib.formula import ceil, const, floor, formula, maximum
from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.table import unknown

WARP = 32
MAX_THREADS = 1024  # of one block
MAX_REGISTERS = 256  # of one thread; a compiler gives at most 255


@formula("warps", cite="cuda-occupancy")
def register_warps(S_RF, rho):
    """Warps whose registers fit: 32 threads of rho registers of 4 bytes each. To first order.

    Exact where rho is a multiple of 8, the unit in which registers are allocated, and S_RF that of a subpartition: of
    the four of an SM each holds whole warps only, so with 224 registers it has 8 warps and not 9.
    """
    return floor(S_RF / (const(4, "B") * 32 * rho))


@formula("blocks", cite="cuda-occupancy")
def slot_blocks(warps, threads):
    """Blocks that fit into a multiprocessor's warp slots: a block needs whole warps, and all of them at once."""
    return floor(warps / ceil(threads / 32))


@formula("blocks", cite="cuda-occupancy")
def register_blocks(S_RF, rho, threads):
    """Each of four subpartitions has a quarter of the registers and holds whole warps.

    A warp's registers, of 4 bytes for each of 32 threads, are allocated in units of 256: rho is rounded up to eights.
    """
    return floor(4 * floor(S_RF / (4 * const(4, "B") * 256 * ceil(rho / 8))) / ceil(threads / 32))


@formula("blocks", cite="cuda-occupancy")
def smem_blocks(S_SM, S_block, S_unit=128, S_sys=1024):
    """A block takes the shared memory that it asks for and what the driver reserves, rounded up to the unit."""
    return floor(S_SM / (S_unit * maximum(1, ceil((S_block + S_sys) / S_unit))))


class OccupancyLimits(NamedTuple):
    """The most that a multiprocessor of an architecture holds, and the unit in which it allocates shared memory."""

    warps: int
    blocks: int
    smem_unit: int  # bytes
    smem_reserved: int  # bytes of every block


LIMITS: Mapping[str, OccupancyLimits] = MappingProxyType(
    {
        "Volta": OccupancyLimits(64, 32, 256, 0),
        "Ampere": OccupancyLimits(64, 32, 128, 1024),
        "Hopper": OccupancyLimits(64, 32, 128, 1024),
        "Blackwell": OccupancyLimits(64, 32, 128, 1024),
        "Blackwell Ultra": OccupancyLimits(64, 32, 128, 1024),
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
    """Occupancy of a kernel with blocks of `threads` threads, `registers` registers per thread, `smem` bytes per block.

    The chip is a record or a key of `hwlib.specs.accelerators`.
    Exact for kernels that configure the largest shared memory of their chip. A block that cannot run at
    all gives 0 blocks. Raises KeyError for an unknown key, and ValueError for a chip that is not NVIDIA's or has
    an unlisted architecture, and for counts that no kernel can have.
    """
    if isinstance(chip, str):
        chip = accelerators[chip]
    if chip.arch not in LIMITS:
        raise ValueError(f"occupancy: chip {chip.key}: " + unknown("architecture", chip.arch, LIMITS))
    if not chip.regfile_bytes or not chip.smem_bytes:
        lacks = " and ".join(name for name in ("regfile_bytes", "smem_bytes") if not getattr(chip, name))
        raise ValueError(f"occupancy: chip {chip.key} has no confirmed {lacks}")
    threads = as_int("occupancy: threads", threads, 1, MAX_THREADS)
    registers = as_int("occupancy: registers", registers, 0, MAX_REGISTERS)
    smem = as_int("occupancy: smem", smem, 0, int(chip.smem_bytes))
    limits = LIMITS[chip.arch]
    allowed = {
        "warps": slot_blocks(limits.warps, threads),
        "registers": register_blocks(int(chip.regfile_bytes), registers, threads) if registers else limits.blocks,
        "shared memory": smem_blocks(int(chip.smem_bytes), smem, limits.smem_unit, limits.smem_reserved),
        "blocks": limits.blocks,
    }
    blocks = min(allowed.values())
    warps = blocks * ceil(threads / WARP)
    return Occupancy(blocks, warps, warps / limits.warps, MappingProxyType(allowed))
