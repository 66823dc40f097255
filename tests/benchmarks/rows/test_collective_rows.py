"""Collectives and kernels without a reader of their own: read by chip, wires and message, or what they lack."""

import pytest

from benchmarks.rows.published import READERS, Collective, Product, ReachedShare
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import predict


def row(system, gpus, value, unit="GB/s busbw", kind="collective", **config):
    reader = reader_of(kind, "somebody-1", config)
    return PublishedRow(1, "s", kind, system, gpus, config, value, unit, "s", {"id": "somebody-1"}, reader=reader)


def read(*cells, **config):
    one_row = row(*cells, **config)
    return READERS[one_row.reader](one_row)


@pytest.mark.parametrize(
    ("cells", "op", "rate"),
    [
        (("PCIe Gen5", 8, 48), "all_reduce", 63.015),
        (("400Gb RDMA", 16, 48), "all_reduce", 50),
        (("DGX A100 NVL3 + 8x200Gb", 32, 192), "all_reduce", 200),
        (("DGX A100", 32, 192), "all_reduce", 200),
        (("8x MI300X", 8, 313), "all_to_all", 448),
        (("8x MI300X", 2, 48), "all_reduce", 64),
        (("2x200Gb", 32, 6), "all_to_all", 50 / 8 * 31 / 24),
        (("DGX H100 NVL4 + 8x400Gb", 32, 380), "all_reduce", 400),
    ],
)
def test_a_bus_bandwidth_is_at_most_the_rate_of_the_wires(cells, op, rate):
    """By hand: 16 lanes, cards of a node, links of a chip or the one between two; of an exchange among 32, 24/31 leave
    a node over its cards.
    """
    prediction = predict(read(*cells, op=op))
    assert prediction.time / prediction.measured == pytest.approx(cells[2] / rate, rel=0.001)
    assert prediction.typical.endswith("a bound")


def test_switches_that_add_up_halve_what_a_node_sends():
    ring, sharp = (predict(read(f"DGX H100 {how}8x400Gb", 32, 400, op="all_reduce")) for how in ("", "SHARP "))
    assert ring.time / sharp.time == pytest.approx(2 * 31 / 32, rel=0.01)
    on, off = (predict(read("8x H800", 8, 215, op="all_reduce", nvls=word)) for word in ("on", "off"))
    assert off.time / on.time == pytest.approx((2 * 7 / 8) / (9 / 8))


def test_a_copy_goes_one_way_or_both():
    one, both = (predict(read("8x H200", 2, 396, f"GB/s {how}", op="p2p copy")) for how in ("unidirectional", "duplex"))
    assert 1 / one.time == 450e9
    assert 1 / both.time == 900e9


def test_tokens_take_the_network_or_the_wire_that_is_named():
    """By hand: 128 tokens of 7,168 bytes to 8 experts are 7.34 MB, of which 15/16 leave a rank at 50 GB/s: 137.6 us."""
    shape = {"tokens": 128, "hidden": 7168, "topk": 8}
    few = read("H800 + CX7 400G", 16, 173, "us", op="low-latency dispatch fp8", **shape)
    assert few.bound == pytest.approx(137.6e-6, rel=1e-3)
    wide = read("H800 + CX7 400G", 16, 329, "us", op="low-latency combine bf16", **shape)
    assert wide.bound == 2 * few.bound
    for wire, rate in (("NVLink", 200e9), ("RDMA", 50e9)):
        case = read("H800 + CX7 400G", 16, 43, f"GB/s {wire} bottleneck", op="a2a dispatch fp8", **shape)
        assert 1 / case.bound == rate
    assert "hidden" in read("H800 + CX7 400G", 16, 173, "us", op="low-latency dispatch fp8", tokens=1, topk=8).reason


def test_a_node_with_constants_goes_by_these():
    case = read("8x B300", 8, 845, op="all_reduce", nvls="on")
    assert isinstance(case, Collective)
    assert (case.chip, case.switch, case.typical) == ("b300-sxm", True, True)
    assert not read("8x B300", 8, 695, op="all_reduce", nvls="off").switch
    assert not read("GB200 NVL72 NVLink", 32, 680, op="all_reduce").switch
    assert predict(case).error < 0.1


@pytest.mark.parametrize(
    ("cells", "config", "reason"),
    [
        (("a toaster", 8, 48), {"op": "all_reduce"}, "system is 'a toaster'"),
        (("PCIe Gen5 2x4", 8, 12), {"op": "all_to_all"}, "does not say what joins"),
        (("8x MI300X", 8, 48), {"op": "broadcast"}, "op is 'broadcast'"),
        (("8x MI300X", 8, 48), {}, "op is ''"),
        (("8x MI300X", 8, 48), {"op": "all_reduce", "colour": 3}, "colour"),
        (("8x MI300X", 8, 48, "furlongs"), {"op": "all_reduce"}, "furlongs"),
        (("400Gb RDMA", 2, 48, "GB/s"), {"op": "p2p"}, "copy"),
        (("H800", 8, 43, "GB/s RDMA bottleneck"), {"op": "a2a dispatch fp8"}, "rate of RDMA"),
    ],
)
def test_a_collective_that_is_not_read_says_what_it_lacks(cells, config, reason):
    found = read(*cells, **config)
    assert isinstance(found, Unmodelled)
    assert reason in found.reason


def test_kernels_of_anybody_are_read_by_what_they_did():
    product = read("h100_sxm", 1, 32, "us", kind="kernel", op="gemm", dtype="bf16", M=128, N=4096, K=8192)
    assert isinstance(product, Product)
    best = read("H20", 1, 118, "TFLOP/s", kind="kernel", op="gemm", dtype="bf16", MxNxK="1x2x3")
    assert isinstance(best, ReachedShare)
    assert predict(best).typical
    amd = read("MI300X", 1, 668, "TFLOP/s", kind="kernel", op="gemm", dtype="bf16", MxNxK="128x256x512")
    assert isinstance(amd, Product)
    assert not predict(
        read("H100 SXM", 1, 790, "TFLOP/s", kind="kernel", op="gemm", dtype="bf16", MxNxK="1x2x3")
    ).typical


@pytest.mark.parametrize(
    ("system", "config", "reason"),
    [
        ("h100_sxm", {"op": "gemm", "dtype": "bf16", "M": 128, "N": 4096}, "does not give K"),
        ("h100_sxm", {"op": "gemm", "M": 128, "N": 4096, "K": 8192}, "does not give dtype"),
        ("a toaster", {"op": "gemm", "dtype": "bf16", "MxNxK": "1x2x3"}, "a toaster"),
        ("H200", {"op": "L2 read"}, "op is 'L2 read'"),
    ],
)
def test_a_kernel_that_is_not_read_says_what_it_lacks(system, config, reason):
    assert reason in read(system, 1, 32, "us" if "M" in config else "TFLOP/s", kind="kernel", **config).reason


def test_nodes_without_constants_go_by_their_wires_where_bandwidth_counts():
    system = "8 nodes x 8 B200, InfiniBand NDR with SHARP"
    cells = {"op": "all_reduce", "nodes": 8, "network": "InfiniBand 8x 400Gb a node, SHARP"}
    large = read(system, 64, 366, kind="allreduce", bytes=2**30, **cells)
    assert predict(large).typical.endswith("a bound")
    assert predict(large).time < predict(large).measured
    assert "without constants: b200" in read(system, 64, 1, kind="allreduce", bytes=2**12, **cells).reason
    timed = read(system, 64, 356, kind="allreduce", bytes=2**29, time_us=2984.6, **cells)
    assert timed.seconds == pytest.approx(2984.6e-6)
    assert isinstance(read(system, 64, 356, kind="allreduce", bytes=2**29, time_us="long", **cells), Unmodelled)
    unnamed = read("8 nodes of somebody", 64, 366, kind="allreduce", bytes=2**30, op="all_reduce")
    assert "an unknown chip" in unnamed.reason
