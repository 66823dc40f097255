"""The worked questions on GPUs and their networks in "How to Scale Your Model", G1.1 to G4.5: each from the library.

Where an edition is wrong, the row says what it did, and that the library does not.
"""

import pytest

from hwlib.collectives import (
    allgather_bandwidth,
    allreduce_bytes,
    alltoall_bytes,
    axis_levels,
    bus_factor,
    destination_fraction,
    destination_fraction_limit,
    direct_allgather_time,
    hierarchical_allreduce_time,
    level_bandwidths,
    level_time,
    level_times,
    levels_allgather_time,
    node_switch_allgather_in_bytes,
    node_switch_allgather_out_bytes,
    nvls_allreduce_speedup,
    nvls_port_bandwidth,
    outer_axis_allgather_time,
    ragged_alltoall_limit,
    ragged_alltoall_time,
    ring_allreduce_time,
    sparse_alltoall_time,
    switch_allreduce_in_bytes,
    switch_allreduce_limit,
    switch_allreduce_speedup,
)
from hwlib.hierarchy import chip_bytes, occupancy
from hwlib.network import algorithm_bandwidth, bus_bandwidth
from hwlib.roofline import compute_time, matmul_time, ridge, tensor_flops, vector_add_time, vector_flops
from hwlib.specs import accelerators, clusters, links, nodes, switches
from hwlib.topology import bisection_bandwidth, node, plan
from hwlib.units import GB, MB, TB, TFLOP, GHz, GiB, MiB
from tests.hwlib.worked import Row, check

H100, H200, B200, V5P = (accelerators[key] for key in ("h100-sxm", "h200-sxm", "b200-sxm", "tpu-v5p"))
DGX, POD = nodes["dgx-h100"], clusters["superpod-h100-4su"]
W_NODE, W_OUT = DGX.scaleup_bandwidth, DGX.egress_bandwidth
LEVELS = POD.levels
LANES = 4 * 32  # four subpartitions of 32

CHIP = [
    Row("G1.1 H100", lambda: H100.sms * LANES, 16_896, 0),
    Row("G1.1 B200", lambda: B200.sms * LANES, 18_944, 0),
    Row("G1.1 TPU v5p", lambda: V5P.sms * 4 * 8 * 128, 8_192, 0),
    Row("G1.2 one operation a cycle", lambda: vector_flops(H100.sms, LANES, 1.59 * GHz, 1), 26.9 * TFLOP),
    Row("G1.2 at the boost clock", lambda: vector_flops(H100.sms, LANES, H100.vector_clock, 1), 33.5 * TFLOP),
    Row("G1.2 with fused multiply-adds", lambda: vector_flops(H100.sms, LANES, H100.vector_clock), 67 * TFLOP),
    Row("G1.3 H100", lambda: ridge(H100.bf16_flops, H100.hbm_bandwidth), 295, 0.005),
    Row("G1.3 B200", lambda: ridge(B200.bf16_flops, B200.hbm_bandwidth), 281, 0.005),
    Row("G1.3 H100, fp8", lambda: ridge(H100.fp8_flops, H100.hbm_bandwidth), 590, 0.005),
    Row("G1.3 B200, fp8", lambda: ridge(B200.fp8_flops, B200.hbm_bandwidth), 562, 0.005),
    Row("G1.3 H200", lambda: ridge(H200.bf16_flops, H200.hbm_bandwidth), 206, 0.005),
    Row("G1.4 64 tokens", lambda: matmul_time(64, 4096, 8192, B200.bf16_flops, B200.hbm_bandwidth), 8.6e-6),
    Row("G1.4 512 tokens, at a rounded 2.3e15",
        lambda: matmul_time(512, 4096, 8192, B200.bf16_flops, B200.hbm_bandwidth), 15e-6, 0.03),
    Row("G1.5 shared memory", lambda: chip_bytes(H100.sms, H100.l1_bytes), 33 * MiB, 0.01),
    Row("G1.5 the same as 33 MB", lambda: chip_bytes(H100.sms, H100.l1_bytes), 33 * MB, 0.03, 34.6 * MB,
        "the kB of a data sheet are KiB: 33 MiB"),
    Row("G1.5 registers", lambda: chip_bytes(H100.sms, H100.regfile_bytes), 33 * MiB, 0.01),
    Row("G1.6 clock of a B200", lambda: 80 * TFLOP / (B200.sms * LANES * 2), 2.1 * GHz),
    Row("G1.7 65,536 elements", lambda: vector_add_time(65_536, H100.hbm_bandwidth), 0.23e-6, 0.03),
    Row("G1.7 the 1,024 that it asks for", lambda: vector_add_time(1_024, H100.hbm_bandwidth), 0.23e-6, 0.03, 3.67e-9,
        "the answer is that of 65,536 elements"),
    Row("G1.7 2^30 elements", lambda: vector_add_time(1 << 30, H100.hbm_bandwidth), 3.84e-3),
    Row("resident warps at 256 registers", lambda: occupancy(H100, 32, 255).warps, 8, 0),
    Row("tensor peak at 1.76 GHz", lambda: tensor_flops(H100.sms, 1.76 * GHz, 1024), 990 * TFLOP, 0.01, 951.5 * TFLOP,
        "1,024 FLOP a cycle make 990 TFLOP/s at 1.83 GHz, not at 1.76"),
]  # fmt: skip

S23 = 2 * 4096 * 65536  # bf16[4096, 65536]
SP1 = 2 * 1024 * 16384
DF = 2 * 8192 * 28672  # bf16[D, F]

IN_A_NODE = [
    Row("G2.1 what the GPUs send", lambda: DGX.chips * W_NODE, 3.6 * TB, 0),
    Row("G2.1 what the switches could pass on", lambda: DGX.switches * switches["nvswitch3"].ports
        * links["nvlink4"].bandwidth, 6.4 * TB, 0),
    Row("G2.2 both directions", lambda: 2 * bisection_bandwidth(node("dgx-h100")), 3.6 * TB, 1e-9),
    Row("G2.3 exact", lambda: levels_allgather_time(S23, [8], [W_NODE]), 1.04e-3),
    Row("G2.3 first order", lambda: S23 / W_NODE, 1.19e-3),
    Row("G2.3 prose of the first edition", lambda: S23 / W_NODE, S23 / 3.6e12, 0.01, 1.193e-3,
        "every GPU must receive all bytes by its own port: B/W, not B/(N W)"),
    Row("GP1 first order", lambda: SP1 / W_NODE, 75e-6),
    Row("GP1 exact", lambda: direct_allgather_time(8, SP1, 0, W_NODE), 65e-6),
    Row("GP1 of the Korean draft", lambda: direct_allgather_time(8, SP1, 0, W_NODE), 9e-6, 0.05, 65.2e-6,
        "it divides by the bandwidth of all eight GPUs"),
    Row("GP2 dense, first order", lambda: alltoall_bytes(8, 1.0), 1 / 8, 0.13),
    Row("GP2 dense, exact", lambda: alltoall_bytes(8, 1.0), 7 / 64, 1e-12),
    Row("GP2 4 of 8 are not zero", lambda: sparse_alltoall_time(8, 1.0, 4, 1.0), 7 / 64 / 2, 1e-12),
    Row("measured share of a port", lambda: 370 * GB / W_NODE, 0.82, 0.01),
    Row("best gain of adding in the switch", lambda: switch_allreduce_speedup(8), 1.75, 0),
    Row("H800: 300 GB/s", lambda: nodes["hgx-h800"].scaleup_bandwidth, 300 * GB, 0.01, 200 * GB,
        "eight links of 25 GB/s are 400 both ways, 200 one way"),
    Row("C2C is as wide as another GPU's memory", lambda: links["nvlink-c2c"].bandwidth, 900 * GB, 0.01, 450 * GB,
        "900 counts both directions"),
]  # fmt: skip


def gp3(Y):
    """AllGather_X of bf16[D_X, F_Y] over one unit of 32 nodes, Y inside."""
    return outer_axis_allgather_time(DF, Y, 8, 32, W_NODE, DGX.nic_bandwidth)


ACROSS = [
    Row("G3.1 node", lambda: LEVELS[1].bandwidth, 400 * GB, 0),
    Row("G3.1 unit", lambda: LEVELS[2].bandwidth, 12.8 * TB, 0),
    Row("G3.1 spine", lambda: LEVELS[2].size * LEVELS[2].bandwidth, 51.2 * TB, 0),
    Row("G3.1 spine of the first edition", lambda: LEVELS[2].size * LEVELS[2].bandwidth, 25.6 * TB, 0.01, 51.2 * TB,
        "it counts half the cables: 1,024 of 50 GB/s reach the spines"),
    Row("G3.1 a GPU of the first edition", lambda: LEVELS[2].bandwidth / 256, 400 * GB, 0.01, 50 * GB,
        "400 GB/s are a node's"),
    Row("switches of 1,024 GPUs", lambda: POD.switches, 560, 0),
    Row("G3.2 spines of 2,048", lambda: plan(nodes=256, leaves=64, spines=32).spines, 32, 0),
    Row("G3.2 spines of 4,096", lambda: clusters["superpod-h100-16su"].spine_switches, 128, 0),
    Row("G3.2 cores of 4,096", lambda: clusters["superpod-h100-16su"].core_switches, 64, 0),
    Row("NVL72 egress", lambda: nodes["gb200-nvl72"].egress_bandwidth, 3.6 * TB, 0),
    Row("GPUs of an NVL72 tray", lambda: nodes["gb200-nvl72"].chips_per_host, 8, 0.01, 4, "a compute tray has four"),
    Row("GP3 Y = 1", lambda: gp3(1), DF * 31 / (32 * 400e9), 1e-9),
    Row("GP3 Y = 8", lambda: gp3(8), DF * 31 / (32 * 400e9), 1e-9),
    Row("GP3 Y = 32, as printed: 2DF * 256 / (Y * 12.8 TB/s)", lambda: gp3(32), DF * 256 / (32 * 12.8e12), 0.13),
    Row("G4.1 out of a node's switch", lambda: node_switch_allgather_out_bytes(8, 32, 1.0), 8, 1e-12),
    Row("G4.1 into it", lambda: node_switch_allgather_in_bytes(32, 1.0), 1, 1e-12),
    Row("G4.1 time", lambda: node_switch_allgather_out_bytes(8, 32, 1.0) / (8 * W_NODE), 1 / 450e9, 1e-9),
    Row("G4.2 into a switch that adds", lambda: switch_allreduce_in_bytes(8, 1.0), 8, 0),
    Row("G4.2 time", lambda: switch_allreduce_limit(1.0, W_NODE), 1 / 450e9, 0),
    Row("G4.3 sharded sum in a node, Y = 4", lambda: level_time(
        "all_reduce", DF, axis_levels(LEVELS[:1], 2, 4), in_switch=True), DF / (4 * 450e9), 1e-9),
    Row("G4.3 beyond the node, Y = 4: all bytes leave it", lambda: level_time(
        "all_reduce", DF, axis_levels(LEVELS[:2], 64, 4), in_switch=True), DF / 400e9, 1e-9),
    Row("G4.4 one rank a unit", lambda: level_time(
        "all_reduce", DF, axis_levels(LEVELS, 4, 256), in_switch=True), DF / 12.8e12, 1e-9),
    Row("G4.4 of the first edition", lambda: level_time(
        "all_reduce", DF, axis_levels(LEVELS, 4, 256), in_switch=True), DF / 6.4e12, 0.01, DF / 12.8e12,
        "it halves the spines' bandwidth, as in G3.1"),
    Row("G4.5 in the node", lambda: level_times("all_gather", 1.0, two_nodes())[0], 1 / 514e9, 0.001),
    Row("G4.5 across", lambda: level_times("all_gather", 1.0, two_nodes())[1], 1 / 800e9, 1e-9),
    Row("G4.5 bound", lambda: level_time("all_gather", 1.0, two_nodes()), 1 / 514e9, 0.001),
    Row("G4.x all-to-all, to first order", lambda: (1 / (2 * W_OUT)) / (1 / (8 * W_NODE)), 4.5, 1e-9),
    Row("G4.x all-to-all, exact", lambda: all_to_all_ratio(), 4.5, 0.01, 2.571, "both drop their (n - 1)/n"),
    Row("G-topo node", lambda: level_bandwidths(LEVELS)[0], 514 * GB, 0.001),
    Row("G-topo leaf", lambda: level_bandwidths(LEVELS)[1], 413 * GB, 0.001),
    Row("G-topo spine", lambda: level_bandwidths(LEVELS)[2], 17_100 * GB, 0.003),
    Row("G-topo all-gather", lambda: allgather_bandwidth(LEVELS), 413 * GB, 0.001),
]  # fmt: skip


def two_nodes():
    """Two nodes of eight GPUs."""
    return (LEVELS[0], LEVELS[1]._replace(size=2))


def all_to_all_ratio():
    """How much longer an all-to-all takes on two nodes than on one, each with n = nodes or ranks at its level."""
    return (alltoall_bytes(2, 1.0) / W_OUT) / (alltoall_bytes(8, 1.0) / W_NODE)


BEYOND = [
    Row("70B fp32 gradients, 64 ranks in a ring", lambda: ring_allreduce_time(64, 4 * 70e9, 0, 50 * GB), 11.0, 0.005),
    Row("the same over 8 nodes of 8", lambda: hierarchical_allreduce_time(
        8, 8, 4 * 70e9, 0, W_NODE, 0, 50 * GB), 2.3, 0.02),
    Row("ragged, 8 ranks and 8 experts, exact", lambda: ragged_alltoall_time(8, 1.0, 8, 1.0), 0.574, 0.001),
    Row("ragged, 8 ranks and 8 experts, as approximated", lambda: ragged_alltoall_limit(8, 1.0, 8, 1.0), 0.875, 0.001),
    Row("ragged, called very close",
        lambda: ragged_alltoall_limit(8, 1.0, 8, 1.0) / ragged_alltoall_time(8, 1.0, 8, 1.0),
        1, 0.1, 1.524, "good only for many more ranks than experts a token"),
    Row("ragged, 64 ranks", lambda: ragged_alltoall_time(64, 1.0, 8, 1.0), 0.1165, 0.001),
    Row("ragged, 64 ranks, as approximated", lambda: ragged_alltoall_limit(64, 1.0, 8, 1.0), 0.1230, 0.001),
    Row("algorithm bandwidth behind 480 GB/s", lambda: 480 * GB / bus_factor("all_reduce", 8), 275 * GB, 0.005),
]  # fmt: skip


@pytest.mark.parametrize("row", CHIP + IN_A_NODE + ACROSS + BEYOND, ids=lambda row: row.id)
def test_worked_question(row):
    check(row)


def test_why_a_benchmark_prints_480_on_a_port_of_450():
    """The factor of nccl-tests is that of a ring; with NVLS fewer bytes cross the port, 309 GB/s of 450."""
    port = nvls_port_bandwidth(8, 480 * GB)
    assert 480 * GB > W_NODE > port
    assert port == pytest.approx(9 / 8 * 480 * GB / bus_factor("all_reduce", 8))
    S, t = 16 * GiB, 16 * GiB / (274.3 * GB)
    assert bus_bandwidth(S, t, bus_factor("all_reduce", 8)) == pytest.approx(480 * GB, rel=0.001)
    assert algorithm_bandwidth(S, t) == pytest.approx(274.3 * GB)


def test_what_a_switch_gains_on_paper_and_measured():
    """1.75 if it only adds; NVLS passes the finished blocks once more, which leaves 1.56; 1.31 were measured."""
    assert nvls_allreduce_speedup(8) == pytest.approx(14 / 9)
    assert 1.3 < 480.0 / 367.2 < nvls_allreduce_speedup(8) < switch_allreduce_speedup(8)


def test_inside_a_node_an_inner_axis_helps_and_across_nodes_it_does_not():
    """GP3 and G4.3: up to eight inner ranks the cables between nodes decide, and they carry all of the array."""
    times = {Y: gp3(Y) for Y in (1, 2, 4, 8, 16, 32, 64)}
    assert times[1] == times[2] == times[4] == times[8]
    assert times[8] > times[16] > times[32] > times[64]
    inside = [level_time("all_reduce", DF, axis_levels(LEVELS[:1], 8 // Y, Y), in_switch=True) for Y in (1, 2, 4)]
    assert inside[0] == 2 * inside[1] == 4 * inside[2]


def test_a_hundred_tokens_more_or_less():
    """What counts in the ragged exchange: a token goes once to a rank that has two of its experts."""
    assert destination_fraction(8, 8) == pytest.approx(1 - (7 / 8) ** 8)
    assert destination_fraction_limit(8, 8) == 1
    assert compute_time(allreduce_bytes(8, 8.0), 14.0) == 1.0
