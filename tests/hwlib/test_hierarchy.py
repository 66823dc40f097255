"""The chip's memories: printed numbers, NVIDIA's own calculator of occupancy, tiles counted one by one."""

import math

import pytest

from hwlib.hierarchy import (
    LIMITS,
    chip_bytes,
    flight_bytes,
    largest_square_tile,
    largest_tile,
    latency_bandwidth,
    latency_warps,
    memories,
    naive_matmul_bytes,
    occupancy,
    output_tiles,
    register_warps,
    tile_bytes,
    tile_intensity,
    tiled_matmul_bytes,
    tiled_matmul_intensity,
    wave_fraction,
    wave_matmul_bytes,
    wave_rounds,
)
from hwlib.roofline import (
    matmul_bytes,
    matmul_intensity,
    pointwise_intensity,
    ridge,
    tensor_cycle_flops,
    tensor_flops,
    vector_add_time,
    vector_clock,
    vector_flops,
    vector_lanes,
)
from hwlib.specs import accelerators
from hwlib.units import GB, MB, GHz, KiB, MiB, ms, ns, us

H100, B200, V5P = (accelerators[key] for key in ("h100-sxm", "b200-sxm", "tpu-v5p"))
LANES = 4 * 32  # float32 lanes of one multiprocessor: four sub-partitions of one warp


def close(x, rel=1e-12):
    return pytest.approx(x, rel=rel)


# The GPU chapter of scaling-book, questions of its first quiz


@pytest.mark.parametrize(
    ("alus", "printed"),
    [
        (vector_lanes(H100.sms, LANES), 16_896),
        (vector_lanes(B200.sms, LANES), 18_944),
        (vector_lanes(V5P.sms, 4 * 8 * 128), 8_192),
    ],
)
def test_arithmetic_units(alus, printed):
    assert alus == printed


def test_vector_rate_of_an_h100():
    """26.9 TFLOP/s at 1.59 GHz and 33.5 at 1.98, one operation a cycle; 66.9 on the data sheet counts two."""
    assert vector_flops(H100.sms, LANES, 1.59 * GHz, 1) == close(26.9e12, 2e-3)
    assert vector_flops(H100.sms, LANES, H100.vector_clock, 1) == close(33.5e12, 2e-3)
    assert vector_flops(H100.sms, LANES, H100.vector_clock) == close(H100.fp32_flops, 1e-3)
    assert H100.bf16_flops / vector_flops(H100.sms, LANES, H100.vector_clock, 1) == close(30, 0.02)


def test_registers_and_shared_memory_of_an_h100():
    """The book prints 33 MB each and 66 MB together: 132 times 256 "kB". A KB is 1024 bytes here.

    132 x 256 is 33,792, which is called 33.8 MB when those are thousands of bytes; it is 33.0 MiB, or 34.6 MB.
    Of the 256 KB beside the registers only 228 can be shared memory: 30.8 MB.
    """
    registers = chip_bytes(H100.sms, H100.regfile_bytes)
    assert registers / MiB == 33.0
    assert registers / MB == close(34.6, 1e-3)
    assert H100.sms * 256 * 1000 / MB == close(33.8, 1e-3)
    assert chip_bytes(H100.sms, H100.l1_bytes) + registers == close(66 * MiB)
    assert chip_bytes(H100.sms, H100.smem_bytes) / MB == close(30.8, 2e-3)


def test_clock_of_a_b200():
    """80 TFLOP/s of float32 over 18,944 lanes and two operations a cycle: 2.1 GHz."""
    assert vector_clock(80e12, B200.sms, LANES) == close(2.11 * GHz, 1e-3)
    assert vector_flops(B200.sms, LANES, vector_clock(80e12, B200.sms, LANES)) == close(80e12)


def test_operations_of_a_tensor_core_a_cycle():
    """1,024 on Hopper, if the printed rate is taken at the clock that it is printed for, 1.83 GHz and not 1.76."""
    assert tensor_cycle_flops(H100.bf16_flops, H100.sms, H100.clock) == close(1024, 2e-3)
    assert tensor_cycle_flops(H100.bf16_flops, H100.sms, 1.76 * GHz) == close(1065, 1e-3)
    assert tensor_flops(H100.sms, H100.clock, 1024) == close(H100.bf16_flops, 2e-3)


@pytest.mark.parametrize(("N", "time"), [(65_536, 0.23 * us), (2**30, 3.84 * ms), (1024, 3.7 * ns)])
def test_time_of_a_vector_add(N, time):
    """The question asks for 1,024 elements; the book answers for 65,536. Its intensity is 1/12."""
    assert vector_add_time(N, H100.hbm_bandwidth) == close(time, 0.025)
    assert pointwise_intensity(1, 2, b=4) == close(1 / 12)


def test_memories_come_nearest_first():
    names = ["registers", "shared memory", "tensor memory", "L2 cache", "HBM"]
    found = memories(B200)
    assert [m.name for m in found] == names
    assert [m.name for m in memories(H100)] == [name for name in names if name != "tensor memory"]
    assert [m.name for m in memories(accelerators["tpu-v5e"])] == ["vector memory", "HBM"]
    assert [m.name for m in memories(accelerators["mi300x"])][-2:] == ["last-level cache", "HBM"]
    for memory in found:
        assert memory.bytes == memory.each * memory.instances
    assert found == memories("b200-sxm")
    assert found[2].bytes == B200.sms * 256 * KiB == chip_bytes(B200.sms, B200.tmem_bytes)


# Occupancy


def test_resident_warps_by_registers():
    """scaling-book: 64 warps on an SM of an H100, 8 if each thread has 256 registers."""
    assert register_warps(H100.regfile_bytes, 256) == 8
    assert register_warps(H100.regfile_bytes, 32) == 64 == LIMITS[H100.arch].warps
    assert register_warps(H100.regfile_bytes, 16) == 128  # more than there are slots


@pytest.mark.parametrize(
    ("key", "threads", "registers", "smem", "blocks"),
    [
        # Printed by cuda_occupancy.h of CUDA 12.9, compiled: the four resources in turn, and blocks that cannot run
        ("h100-sxm", 256, 255, 0, 1),
        ("h100-sxm", 1024, 64, 0, 1),
        ("h100-sxm", 1024, 32, 0, 2),
        ("h100-sxm", 96, 40, 0, 16),
        ("h100-sxm", 384, 168, 200 * 1024, 1),
        ("h100-sxm", 128, 33, 10_000, 12),
        ("h100-sxm", 32, 8, 0, 32),
        ("h100-sxm", 992, 65, 0, 0),
        ("h100-sxm", 32, 8, 228 * 1024 - 1024, 1),
        ("h100-sxm", 32, 8, 228 * 1024 - 1023, 0),
        ("a100-80gb-sxm", 160, 48, 20_000, 7),
        ("v100-sxm2", 128, 32, 12_288, 8),
        ("b200-sxm", 128, 128, 227 * 1024, 1),
    ],
)
def test_occupancy_is_that_of_nvidias_calculator(key, threads, registers, smem, blocks):
    got = occupancy(accelerators[key], threads, registers, smem)
    assert got.blocks == blocks
    assert got.warps == blocks * math.ceil(threads / 32)
    assert got.fraction == got.warps / 64


@pytest.mark.parametrize(
    ("threads", "registers", "smem", "by"),
    [
        (1024, 32, 0, ("warps", "registers")),
        (256, 40, 0, ("registers",)),
        (256, 32, 60_000, ("shared memory",)),
        (32, 32, 0, ("blocks",)),
    ],
)
def test_what_runs_out_first(threads, registers, smem, by):
    assert occupancy(H100, threads, registers, smem).limited_by == by
    assert occupancy("h100-sxm", threads, registers, smem).limited_by == by


def test_an_unknown_chip_gets_close_ones():
    for ask in (lambda: occupancy("h100", 256, 32), lambda: memories("h100")):
        with pytest.raises(KeyError, match=r"'h100'; .*h100-sxm"):
            ask()


@pytest.mark.parametrize("registers", range(8, 257, 8))
def test_register_limit_is_the_formulas_where_units_are_whole(registers):
    """One-warp blocks, four sub-partitions: the formula may be up to three warps above what they can share."""
    warps = occupancy(H100, 32, registers).allowed["registers"]
    formula = register_warps(H100.regfile_bytes, registers)
    assert warps == formula // 4 * 4


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ((accelerators["mi300x"], 256, 32), "occupancy: chip mi300x: .*'CDNA 3'"),
        ((H100, 0, 32), "occupancy: threads .*1024, .* 0$"),
        ((H100, 2048, 32), "threads .*1024, .* 2048$"),
        ((H100, 256, 300), "registers .*256, .* 300$"),
        ((H100, 256, 32.5), "registers .*256, .* 32.5$"),
        ((H100, 256, 32, -1), "smem .*233472, .* -1$"),
    ],
)
def test_no_such_kernel(args, sentence):
    with pytest.raises(ValueError, match=sentence):
        occupancy(*args)


# Tiles


@pytest.mark.parametrize(("M", "N", "K", "b_m", "b_n"), [(64, 64, 64, 16, 16), (50, 70, 30, 16, 32), (8, 8, 8, 8, 8)])
def test_traffic_of_tiles_counted_one_by_one(M, N, K, b_m, b_n):
    elements = 0
    for i in range(0, M, b_m):
        for j in range(0, N, b_n):
            rows, columns = min(b_m, M - i), min(b_n, N - j)
            elements += rows * K + K * columns + rows * columns
    assert tiled_matmul_bytes(M, N, K, b_m, b_n) == 2 * elements


def test_tiles_between_no_reuse_and_all_of_it():
    M, N, K = 512, 384, 256
    assert tiled_matmul_bytes(M, N, K, 1, 1) == naive_matmul_bytes(M, N, K)
    assert tiled_matmul_bytes(M, N, K, M, N) == matmul_bytes(M, K, N)
    assert tiled_matmul_intensity(M, N, K, M, N) == close(matmul_intensity(M, K, N))
    assert tiled_matmul_intensity(4096, 4096, 1e12, 128, 256) == close(tile_intensity(128, 256), 1e-6)


@pytest.mark.parametrize(("b_m", "b_n"), [(64, 64), (128, 128), (128, 256), (16, 1024)])
def test_intensity_of_a_bf16_tile(b_m, b_n):
    assert tile_intensity(b_m, b_n) == b_m * b_n / (b_m + b_n)
    assert tile_intensity(b_m, b_n, 1) == 2 * tile_intensity(b_m, b_n)


def test_no_tile_of_an_sm_reaches_the_ridge_without_l2():
    """Three square tiles in 228 KB give 98 FLOP/B, a third of an H100's ridge: L2 has to supply the rest."""
    side = largest_square_tile(H100.smem_bytes)
    assert side == 197
    three = [tile_bytes(a, a, a, b_acc=2) for a in (side, side + 1)]
    assert three[0] == 3 * 2 * side**2
    assert three[0] <= H100.smem_bytes < three[1]
    assert tile_intensity(side, side) == close(98.5)
    assert tile_intensity(side, side) < ridge(H100.bf16_flops, H100.hbm_bandwidth) / 2


@pytest.mark.parametrize(("b_k", "stages", "b_acc"), [(64, 1, 2), (64, 4, 0), (64, 3, 4), (32, 2, 4), (128, 4, 0)])
def test_the_largest_tile_is_the_best_of_all(b_k, stages, b_acc):
    S, step = H100.smem_bytes, 16
    got = largest_tile(S, b_k, 2, stages, b_acc)
    fitting = [
        tile_intensity(m, n)
        for m in range(step, 2048, step)
        for n in range(step, 2048, step)
        if tile_bytes(m, n, b_k, 2, stages, b_acc) <= S
    ]
    assert got.bytes == tile_bytes(got.b_m, got.b_n, b_k, 2, stages, b_acc) <= S
    assert tile_intensity(got.b_m, got.b_n) == max(fitting)


def test_tensor_memory_holds_the_sums_of_one_large_tile_or_two():
    assert tile_bytes(128, 512, 64, b=0, b_acc=4) == B200.tmem_bytes == 2 * tile_bytes(128, 256, 64, b=0, b_acc=4)


@pytest.mark.parametrize(
    ("kwargs", "sentence"),
    [
        ({"S_fast": 100}, "S_fast .*4096 B .* 100$"),
        ({"S_fast": math.nan}, "S_fast .* nan$"),
        ({"S_fast": 1e5, "b_k": 0}, "b_k .* 0$"),
        ({"S_fast": 1e5, "b_acc": -1}, "b_acc .* -1$"),
    ],
)
def test_no_such_tile(kwargs, sentence):
    with pytest.raises(ValueError, match=f"largest_tile: {sentence}"):
        largest_tile(**kwargs)


# Waves, and bytes in flight


def test_one_tile_too_many_costs_a_wave():
    tiles = output_tiles(128 * 12, 128 * 11, 128, 128)
    assert (tiles, wave_rounds(tiles, H100.sms), wave_fraction(tiles, H100.sms)) == (132, 1, 1)
    assert wave_rounds(133, H100.sms) == 2
    assert wave_fraction(133, H100.sms) == close(133 / 264)
    assert output_tiles(129, 128, 128, 128) == 2
    assert wave_fraction(1e9, H100.sms) == close(1, 1e-6)


def test_a_square_wave_shares_most():
    M = N = K = 8192
    row = wave_matmul_bytes(M, N, K, 128, 128, 1, 132)
    square = wave_matmul_bytes(M, N, K, 128, 128, 11, 12)
    alone = tiled_matmul_bytes(M, N, K, 128, 128)
    assert square < row < alone
    assert wave_matmul_bytes(M, N, K, 128, 128, 1, 1) == alone
    assert wave_matmul_bytes(M, N, K, 128, 128, 64, 64) == matmul_bytes(M, K, N)


def test_bytes_in_flight_hide_latency():
    """At 3.35 TB/s and 500 ns, 1.7 MB are under way: 100 warps an SM with one 4-byte load each, 25 with 16."""
    W, t = H100.hbm_bandwidth, 500 * ns
    assert flight_bytes(W, t) == close(1.675 * MB)
    assert latency_warps(W, t, H100.sms, 128) == 100 > LIMITS["Hopper"].warps
    assert latency_warps(W, t, H100.sms, 512) == 25
    assert latency_bandwidth(flight_bytes(W, t), W, t) == close(W)
    assert latency_bandwidth(64 * 128 * H100.sms, W, t) == close(64 / 99.14 * W, 1e-3)
    assert latency_bandwidth(1 * GB, W, t) == W
