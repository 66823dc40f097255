"""The worked questions on rooflines, TPUs and sharding in "How to Scale Your Model": each from the library."""

import pytest

from hwlib.collectives import bidirectional_ring_allgather_time, ring_allgather_time
from hwlib.network import cut_through_time
from hwlib.roofline import (
    batched_matmul_intensity,
    critical_batch,
    exact_critical_batch,
    matmul_bytes,
    matmul_flops,
    matmul_intensity_limit,
    memory_time,
    mixed_matmul_bytes,
    ridge,
    roofline_time,
    serial_time,
    split_critical_width,
)
from hwlib.sharding import Mesh, matmul_plans, sharded
from hwlib.specs import accelerators, clusters, links, nodes
from hwlib.units import GB, KiB, TB, TFLOP, us
from tests.hwlib.worked import Row, check

V5E, V5P, V4, H100 = (accelerators[key] for key in ("tpu-v5e", "tpu-v5p", "tpu-v4", "h100-sxm"))
ICI_V5E = links["ici-v5e"].bandwidth
HOST_V5E = nodes["tpu-v5e-host"]


def int8_matmul(B):
    """Loads and arithmetic of int8[B, 4096] x int8[4096, 16384] on a v5e, its result in bf16 left out."""
    bytes = mixed_matmul_bytes(B, 4096, 16384, b=1, b_w=1, b_out=1)
    return bytes, matmul_flops(B, 4096, 16384)


ROOFLINE = [
    Row("R0 width from which two chips are compute-bound", lambda: split_critical_width(V5E.bf16_flops, ICI_V5E), 8755, 0.001),
    Row("R1 int8 bytes", lambda: mixed_matmul_bytes(1, 4096, 4096, b=0, b_w=1, b_out=0), 4096 * 4096, 0),
    Row("R1 int8 intensity a token", lambda: matmul_intensity_limit(1, b_w=1), 2, 0),
    Row("R1 int8 batch", lambda: critical_batch(V5E.int8_ops, V5E.hbm_bandwidth, b_w=1), 240, 0.01),
    Row("R2 int8 weights, bf16 arithmetic", lambda: critical_batch(V5E.bf16_flops, V5E.hbm_bandwidth, b_w=1), 120, 0.01),
    Row("R4 a matrix for each example", lambda: 2 * batched_matmul_intensity(128, 4096, 4096, b=2), 2, 0.01),
    Row("R5 H100 batch", lambda: critical_batch(H100.bf16_flops, H100.hbm_bandwidth), 295, 0.005),
    Row(
        "R5 H100 batch of older editions", lambda: critical_batch(H100.bf16_flops, H100.hbm_bandwidth), 298, 0.005, 295.3,
        "298 belongs to a peak rounded to 1e15",
    ),
]  # fmt: skip


TPUS = [
    Row("T1 200B weights read by 32 v4p", lambda: memory_time(200e9 * 2 / 32, V4.hbm_bandwidth), 10e-3, 0.05),
    Row("T2 v5e hosts", lambda: clusters["tpu-v5e-pod"].nodes, 32, 0),
    Row("T2 v5e TensorCores", lambda: clusters["tpu-v5e-pod"].gpus * V5E.sms, 256, 0),
    Row("T2 v5e pod FLOP/s", lambda: clusters["tpu-v5e-pod"].gpus * V5E.bf16_flops, 5.1e16, 0.02),
    Row("T2 v5e pod memory", lambda: clusters["tpu-v5e-pod"].gpus * V5E.hbm_bytes, 4 * TB, 0.03),
    Row("T2 v5p hosts", lambda: clusters["tpu-v5p-pod"].nodes, 2240, 0),
    Row("T2 v5p TensorCores", lambda: clusters["tpu-v5p-pod"].gpus * V5P.sms, 17920, 0),
    Row("T2 v5p pod FLOP/s", lambda: clusters["tpu-v5p-pod"].gpus * V5P.bf16_flops, 4e18, 0.03),
    Row("T2 v5p pod memory", lambda: clusters["tpu-v5p-pod"].gpus * V5P.hbm_bytes, 860 * TB, 0.02),
    Row("T4 int8 batch from HBM", lambda: critical_batch_of(810 * GB), 271, 0.01, 262.7,
        "two-digit rounding of bandwidth and of the weights' bytes"),
    Row("T5 first byte, corner to corner of 4 x 4", lambda: cut_through_time(0, 6 * us / 6, ICI_V5E, hops=6), 6e-6),
    Row("T5 all of bf16[8, 128, 8192]", lambda: 2 * 8 * 128 * 8192 / (2 * ICI_V5E), 188e-6, 0.01),
    Row("T6 over PCIe", lambda: memory_time(16 * GB / 16, HOST_V5E.pcie_bandwidth), 66e-3, 0.05),
    Row("T6 from HBM", lambda: memory_time(16 * GB, V5E.hbm_bandwidth), 19e-3, 0.05),
]  # fmt: skip


def critical_batch_of(W):
    return exact_critical_batch(4096, 16384, V5E.int8_ops, W, b=1, b_w=1, b_out=1)


@pytest.mark.parametrize("row", ROOFLINE + TPUS, ids=lambda row: row.id)
def test_worked_question(row):
    check(row)


def test_r1_the_two_bounds_of_a_time():
    """R1 asks for the best and the worst case: the greater of the two times, and their sum."""
    bytes, flops = int8_matmul(64)
    C, W = V5E.int8_ops, V5E.hbm_bandwidth
    assert roofline_time(flops, bytes, C, W) == max(flops / C, bytes / W)
    assert serial_time(flops, bytes, C, W) == pytest.approx(flops / C + bytes / W)
