"""The limits of occupancy as formulas, against the integer arithmetic of NVIDIA's calculator, for every count."""

import pytest

from hwlib.hierarchy import LIMITS, occupancy, register_blocks, register_warps, slot_blocks, smem_blocks
from hwlib.specs import accelerators

H100 = accelerators["h100-sxm"]
FILE = 65536  # registers


def up(x, unit):
    return -(-x // unit) * unit


def test_blocks_by_registers_for_every_kernel():
    for rho in range(1, 256):
        for threads in range(32, 1025, 32):
            warps, per_warp = threads // 32, up(32 * rho, 256)
            fits = per_warp * up(warps, 4) <= FILE  # what a launch is checked against
            blocks = FILE // 4 // per_warp * 4 // warps if fits else 0
            assert register_blocks(H100.regfile_bytes, rho, threads) == blocks, (rho, threads)


@pytest.mark.parametrize(("unit", "reserved"), [(128, 1024), (256, 0)])
def test_blocks_by_shared_memory(unit, reserved):
    for smem in range(1, 228 * 1024, 61):
        blocks = 228 * 1024 // up(smem + reserved, unit)
        assert smem_blocks(228 * 1024, smem, unit, reserved) == blocks, smem


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 96, 1000, 1024])
def test_slots_are_of_whole_warps(threads):
    assert slot_blocks(64, threads) == 64 // (up(threads, 32) // 32)


def test_a_block_of_one_warp_meets_the_first_order_rule():
    for rho in range(8, 256, 8):
        by_rule = int(register_warps(H100.regfile_bytes, rho))
        assert 0 <= by_rule - register_blocks(H100.regfile_bytes, rho, 32) < 4  # whole warps of each quarter


def test_the_driver_keeps_a_kilobyte_of_every_block():
    """A GPU glossary has 19 blocks of 32 threads, 8 registers and 12 KB of shared memory on an H100: 228/12."""
    assert 228 // 12 == 19
    got = occupancy(H100, threads=32, registers=8, smem=12 * 1024)
    assert (got.blocks, got.limited_by) == (17, ("shared memory",))
    assert smem_blocks(H100.smem_bytes, 12 * 1024) == 17
    assert LIMITS["Hopper"].smem_reserved == 1024
