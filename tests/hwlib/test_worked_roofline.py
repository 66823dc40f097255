"""The worked questions on rooflines, TPUs and sharding in "How to Scale Your Model": each from the library.

S8 asks for measurements on TPUs and has no answer to compute.
"""

import pytest

from hwlib.collectives import (
    allgather_bytes,
    bidirectional_ring_allgather_time,
    bidirectional_ring_alltoall_time,
    line_allgather_time,
    ring_alltoall_bytes,
    torus_allgather_limit,
)
from hwlib.network import cut_through_time
from hwlib.roofline import (
    batched_matmul_intensity,
    compute_time,
    critical_batch,
    exact_critical_batch,
    matmul_flops,
    matmul_intensity_limit,
    memory_time,
    mixed_matmul_bytes,
    roofline_time,
    serial_time,
    split_critical_width,
)
from hwlib.sharding import Mesh, gradient_plans, matmul_case, matmul_plans, moves_between, sharded
from hwlib.specs import accelerators, clusters, links, nodes
from hwlib.units import GB, TB, KiB, us
from tests.hwlib.worked import Row, check

V6E, V5E, V5P, V4, H100 = (accelerators[key] for key in ("tpu-v6e", "tpu-v5e", "tpu-v5p", "tpu-v4", "h100-sxm"))
ICI_V5E, HOP = links["ici-v5e"].bandwidth, links["ici-v5e"].latency
HOST_V5E, HOST_V6E = nodes["tpu-v5e-host"], nodes["tpu-v6e-host"]


def int8_matmul(B):
    """Loads and arithmetic of int8[B, 4096] x int8[4096, 16384] on a v5e, its result in bf16 left out."""
    bytes = mixed_matmul_bytes(B, 4096, 16384, b=1, b_w=1, b_out=1)
    return bytes, matmul_flops(B, 4096, 16384)


ROOFLINE = [
    Row("R0 width for two chips", lambda: split_critical_width(V5E.bf16_flops, ICI_V5E), 8755, 0.001),
    Row("R1 int8 bytes", lambda: mixed_matmul_bytes(1, 4096, 4096, b=0, b_w=1, b_out=0), 4096 * 4096, 0),
    Row("R1 int8 intensity a token", lambda: matmul_intensity_limit(1, b_w=1), 2, 0),
    Row("R1 int8 batch", lambda: critical_batch(V5E.int8_ops, V5E.hbm_bandwidth, b_w=1), 240, 0.01),
    Row("R2 int8 weights, bf16 sums", lambda: critical_batch(V5E.bf16_flops, V5E.hbm_bandwidth, b_w=1), 120, 0.01),
    Row("R3 batch of a 1,024-wide int8 matmul over that of a wide one", lambda: small_batch_factor(1024), 2, 0.06),
    Row("R4 a matrix for each example", lambda: 2 * batched_matmul_intensity(128, 4096, 4096, b=2), 2, 0.01),
    Row("R5 H100 batch", lambda: critical_batch(H100.bf16_flops, H100.hbm_bandwidth), 295, 0.005),
    Row(
        "R5 H100 batch of older editions",
        lambda: critical_batch(H100.bf16_flops, H100.hbm_bandwidth),
        298,
        0.005,
        295.3,
        "298 belongs to a peak rounded to 1e15",
    ),
]


ACTIVATIONS = 2 * 8 * 128 * 8192

TPUS = [
    Row("T1 200B weights read by 32 v4p", lambda: memory_time(200e9 * 2 / 32, V4.hbm_bandwidth), 10e-3, 0.05),
    Row("T2 v5e hosts", lambda: clusters["tpu-v5e-pod"].nodes, 32, 0),
    Row("T2 v5e TensorCores", lambda: clusters["tpu-v5e-pod"].chips * V5E.sms, 256, 0),
    Row("T2 v5e pod FLOP/s", lambda: clusters["tpu-v5e-pod"].chips * V5E.bf16_flops, 5.1e16, 0.02),
    Row("T2 v5e pod memory", lambda: clusters["tpu-v5e-pod"].chips * V5E.hbm_bytes, 4 * TB, 0.03),
    Row("T2 v5p hosts", lambda: clusters["tpu-v5p-pod"].nodes, 2240, 0),
    Row("T2 v5p TensorCores", lambda: clusters["tpu-v5p-pod"].chips * V5P.sms, 17920, 0),
    Row("T2 v5p pod FLOP/s", lambda: clusters["tpu-v5p-pod"].chips * V5P.bf16_flops, 4e18, 0.03),
    Row("T2 v5p pod memory", lambda: clusters["tpu-v5p-pod"].chips * V5P.hbm_bytes, 860 * TB, 0.02),
    Row("T3 batch for weights in the host's memory, at 15 GB/s", lambda: critical_batch(V6E.bf16_flops, 15 * GB),
        61_000, 0.01),
    Row("T3 at the PCIe of the chip's own host", lambda: critical_batch(V6E.bf16_flops, HOST_V6E.pcie_bandwidth),
        61_000, 0.01, 28_690, "15 GB/s belong to the hosts of earlier chips; a v6e has 32"),
    Row("T4 int8 batch from HBM", lambda: critical_batch_of(810 * GB), 271, 0.01, 262.7,
        "the 1.34e8 operations of a row are rounded to 1.3e8"),
    Row("T4 int8 batch from VMEM, 22 times as fast", lambda: critical_batch_of(22 * 810 * GB), 11, 0.01),
    Row("T5 first byte, corner to corner of 4 x 4", lambda: cut_through_time(0, HOP, ICI_V5E, hops=6), 6e-6),
    Row("T5 all of bf16[8, 128, 8192]", lambda: ACTIVATIONS / (2 * ICI_V5E), 188e-6, 0.01),
    Row("T5 in total, both ways at once", lambda: cut_through_time(ACTIVATIONS, HOP, ICI_V5E, hops=6, paths=2),
        194e-6, 0.01),
    Row("T6 over PCIe", lambda: memory_time(GB, HOST_V5E.pcie_bandwidth), 66e-3, 0.07),  # by 15 GB/s, not 16
    Row("T6 from 15 chips over two links", lambda: allgather_bytes(16, 16 * GB) / (2 * ICI_V5E), 167e-3, 0.005),
    Row("T6 arithmetic", lambda: compute_time(matmul_flops(8, 128 * 1024, 128 * 1024), V5E.bf16_flops),
        1.3e-3, 0.08),  # 1.395, cut off
    Row("T6 from HBM", lambda: memory_time(16 * GB, V5E.hbm_bandwidth), 19e-3, 0.05),
]  # fmt: skip


def small_batch_factor(width):
    """By how much the batch must exceed 120 where D = F = width: activations in bf16, weights in int8."""
    C, W = V5E.bf16_flops, V5E.hbm_bandwidth
    return exact_critical_batch(width, width, C, W, b_w=1) / critical_batch(C, W, b_w=1)


def critical_batch_of(W):
    return exact_critical_batch(4096, 16384, V5E.int8_ops, W, b=1, b_w=1, b_out=1)


def gather(text, goal, mesh, shape, b=2):
    """Bytes of the one collective that leads from one sharding to another."""
    (move,) = moves_between(sharded(text), sharded(goal), mesh, shape, b)
    return move.bytes


CUBE = Mesh(X=4, Y=4, Z=4)
BD = {"B": 1024, "D": 4096}
V5E_8x4 = Mesh(X=8, Y=4)
INT8 = {"I": 128, "J": 2048}, Mesh(X=2, Y=8, Z=2), 1
V4_LINK = links["ici-v4"].bandwidth

SHARDING = [
    Row("S-P1 bytes of a device", lambda: sharded("A[I_XY, J]").local_bytes(*INT8), 16 * KiB, 0),
    Row("S-P1 bytes of all", lambda: sharded("A[I_XY, J]").total_bytes(*INT8), 512 * KiB, 0),
    Row("S-P2 both ways round, if it were a ring", lambda: torus_allgather_limit(
        gather("A[E_Y, F]", "A[E, F]", V5E_8x4, {"E": 2048, "F": 8192}), ICI_V5E, paths=2), 377e-6, 0.015),
    Row("S-P2 from end to end of a line", lambda: line_allgather_time(
        4, gather("A[E_Y, F]", "A[E, F]", V5E_8x4, {"E": 2048, "F": 8192}), 0, ICI_V5E), 560e-6, 0.01),
    Row("S-P2 latency of 256 x 256", lambda: line_allgather_time(4, 0, HOP, ICI_V5E), 3e-6, 1e-9),
    Row("S-P2 latency and bytes of 256 x 256", lambda: line_allgather_time(
        4, gather("A[E_Y, F]", "A[E, F]", V5E_8x4, {"E": 256, "F": 256}), HOP, ICI_V5E), 3e-6, 0.05, 5.2e-6,
        "the bytes of a hop, 0.7 us, are taken to hide behind its latency; 8 us were measured"),
    Row("S1 copies", lambda: sharded("A[I_X, J, K]").copies(Mesh(X=4, Y=8, Z=2)), 16, 0),
    Row("S2 all-gather over X", lambda: torus_allgather_limit(
        gather("A[B_X, D_Y]", "A[B, D_Y]", CUBE, BD), V4_LINK, 2), 23e-6, 0.02),
    Row("S2 all-gather over X and Y", lambda: torus_allgather_limit(
        gather("A[B_XY, D]", "A[B, D]", CUBE, BD), V4_LINK, 4), 46e-6, 0.02),
    Row("S2 all-gather over X, a part by each idle Z", lambda: torus_allgather_limit(
        gather("A[B_X, D_Y]", "A[B, D_Y]", CUBE, BD), V4_LINK, 4), 11.5e-6, 0.02),
    Row("S2 all-gather over X and Y, a part by each idle Z", lambda: torus_allgather_limit(
        gather("A[B_XY, D]", "A[B, D]", CUBE, BD), V4_LINK, 6), 31e-6, 0.01),
    Row("S2 all-reduce over Z", lambda: 2 * torus_allgather_limit(
        gather("A[B_X, D_Y]{U_Z}", "A[B_X, D_Y]", CUBE, BD), V4_LINK, 2), 11.6e-6, 0.01),
    Row("S2 all-reduce over Z of older editions", lambda: 2 * torus_allgather_limit(
        gather("A[B_X, D_Y]{U_Z}", "A[B_X, D_Y]", CUBE, BD), V4_LINK, 2), 190e-6, 0.01, 11.65e-6,
        "the whole array was reduced on every chip, not the sixteenth that it holds"),
    Row("S3 tiny gather over four", lambda: bidirectional_ring_allgather_time(4, 256, 1 * us, V4_LINK), 2e-6, 0.01),
    Row("S10 all-to-all, one way round", lambda: ring_alltoall_bytes(8, 1.0) / allgather_bytes(8, 1.0), 1 / 2, 0),
    Row("S10 all-to-all, both ways round", lambda: bidirectional_ring_alltoall_time(1024, 1.0, 0, 1.0)
        / bidirectional_ring_allgather_time(1024, 1.0, 0, 1.0), 1 / 4, 0.01),
]  # fmt: skip


@pytest.mark.parametrize("row", ROOFLINE + TPUS + SHARDING, ids=lambda row: row.id)
def test_worked_question(row):
    check(row)


def test_r1_the_two_bounds_of_a_time():
    """R1 asks for the best and the worst case: the greater of the two times, and their sum."""
    bytes, flops = int8_matmul(64)
    C, W = V5E.int8_ops, V5E.hbm_bandwidth
    assert roofline_time(flops, bytes, C, W) == max(flops / C, bytes / W)
    assert serial_time(flops, bytes, C, W) == pytest.approx(flops / C + bytes / W)


def plan(plans, **split):
    return next(p for p in plans if p.split == split)


def test_s4_gather_then_multiply_or_multiply_then_add():
    """S4 to first order, with all terms: T1 = max(2BDF/C, 2DF/W), T2 = max(2BDF/(XC), 4BF/W).

    Below B = 2,550 (C/W of a v5p ring) the sum wins if D > 2B, above it if D > 5,100.
    """
    C, W, mesh = V5P.bf16_flops, 2 * links["ici-v5p"].bandwidth, Mesh(X=64)
    assert pytest.approx(C / W, rel=0.001) == 2550
    for B, D in ((1024, 1920), (1024, 2176), (2048, 3968), (2048, 4224), (4096, 4992), (4096, 5248)):
        shape = {"B": B, "D": D, "F": 8192}
        plans = matmul_plans("A[B, D]", "V[D_X, F]", "C[B, F]", mesh, shape)
        gathered, added = plan(plans, X=""), plan(plans, X="D")
        least = 2 * B if B < 2550 else 5100
        sum_wins = added.time(C, W) < gathered.time(C, W)
        assert sum_wins == (least < D), (B, D)


def test_s5_the_fastest_product_that_all_chips_hold():
    """S5: of the ways to split one product over 64 chips that all need the result, gathering it is best.

    To sum it takes twice as long as to gather it, and to compute it everywhere needs no network and all the time.
    """
    C, W, shape = V5P.bf16_flops, 6 * links["ici-v5p"].bandwidth, {"I": 1024, "J": 4096, "K": 8192}
    plans = matmul_plans("A[I, J]", "B[J, K]", "C[I, K]", Mesh(X=64), shape)
    rows, columns, depth, everywhere = (plan(plans, X=letter) for letter in ("I", "K", "J", ""))
    assert [m.op for p in (rows, columns, depth) for m in p.moves] == ["all_gather", "all_gather", "all_reduce"]
    assert rows.comm_time(W) == columns.comm_time(W) == depth.comm_time(W) / 2
    assert everywhere.comm_time(W) == 0
    assert rows.time(C, W) == columns.time(C, W) < min(depth.time(C, W), everywhere.time(C, W))


@pytest.mark.parametrize(
    ("A", "B", "C", "case", "needs"),
    [
        ("A[I_X, J_Y]", "B[J_Y, K]", "C[I_X, K]", 3, ["all_reduce_Y"]),
        ("A[I_X, J]", "B[J_X, K_Y]", "C[I_X, K_Y]", 4, ["all_gather_X"]),
        ("A[I_X, J]", "B[J, K_Y]", "C[I_X, K_Y]", 1, []),
    ],
)
def test_s6_which_collectives_a_product_needs(A, B, C, case, needs):
    """S6, left open in the book: answered by the algebra, and carried out on numbers in the tests of sharding."""
    mesh, shape = Mesh(X=4, Y=4), {"I": 1024, "J": 1024, "K": 1024}
    assert matmul_case(A, B) == case
    simple = [p for p in matmul_plans(A, B, C, mesh, shape) if p.split["X"] == "I" and len(p.moves) == len(needs)]
    assert needs in [[f"{move.op}_{''.join(move.axes)}" for move in p.moves] for p in simple]


def test_s9_an_outer_product_or_a_gather():
    """S9: split along J, the product of A[I, J_X] and B[J_X, K] is added up; gathering A[I_X, J] instead moves J/K as
    much for a reduce-scatter against an all-gather."""
    mesh, shape = Mesh(X=8), {"I": 1024, "J": 2048, "K": 8192}
    outer = plan(matmul_plans("A[I, J_X]", "B[J_X, K]", "C[I, K_X]", mesh, shape), X="J")
    inner = plan(matmul_plans("A[I_X, J]", "B[J, K_X]", "C[I, K_X]", mesh, shape), X="K")
    assert [m.op for m in outer.moves + inner.moves] == ["reduce_scatter", "all_gather"]
    assert outer.sent_bytes / inner.sent_bytes == shape["K"] / shape["J"]


def test_s7_a_block_gathers_its_input_and_scatters_its_output():
    """S7: with weights split over X, activations gathered before and reduce-scattered after the two products."""
    mesh, shape = Mesh(X=8), {"B": 512, "D": 4096, "F": 16384}
    up = plan(matmul_plans("A[B_X, D]", "V[D, F_X]", "H[B, F_X]", mesh, shape), X="F")
    down = plan(matmul_plans("H[B, F_X]", "V[F_X, D]", "C[B_X, D]", mesh, shape), X="F")
    assert [m.op for m in up.moves + down.moves] == ["all_gather", "reduce_scatter"]
    assert up.sent_bytes == down.sent_bytes
    back = gradient_plans("H[B, F_X]", "V[F_X, D]", "C[B_X, D]", mesh, shape)[0]
    assert [m.op for m in plan(back, X="F").moves] == ["all_gather"]
