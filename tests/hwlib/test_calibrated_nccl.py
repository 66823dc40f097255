"""NCCL's model: its limits, an optimum that must agree with a search, and a fit that finds its constants."""

from dataclasses import replace

import numpy as np
import pytest

from hwlib.calibrated import (
    Timed,
    collective_time,
    fit_alpha_beta,
    fit_collective,
    nccl_latency,
    nccl_time,
    nodes_allreduce_time,
    pipelined_time,
    ring_step,
    tree_time,
)
from hwlib.collectives import bus_factor
from hwlib.specs import measured_allreduces
from hwlib.specs.fitted import collective_constants, tree_constants
from hwlib.units import GB, us
from tests.each import each

ENTRIES = collective_constants()
KEYS = sorted(ENTRIES)
TREES = tree_constants()
TREE = TREES["h100-sxm", "NVLSTree"]
H200 = ENTRIES["h200-sxm", "all_reduce", "torch"]
SIZES = 2.0 ** np.arange(9, 35)


@pytest.mark.parametrize("stages", [2, 7, 30])
def test_the_pipeline_is_the_best_of_all_numbers_of_chunks(stages):
    S, alpha, W = 1 * GB, 20 * us, 100 * GB
    best = min((m + stages) * (alpha / stages + S / (m * W)) for m in range(1, 20_000))
    assert pipelined_time(S, alpha, W) == pytest.approx(best, rel=1e-4)
    assert pipelined_time(S, alpha, W) <= best


@each("key", KEYS)
def test_time_grows_with_size_and_ends_at_the_bandwidth(key):
    c = ENTRIES[key]
    for n in (2, 4, 8):
        times = collective_time(c, n, SIZES)
        assert (np.diff(times) > 0).all()
        assert times[0] == pytest.approx(collective_time(c, n, 1.0), rel=0.1)
        plateau = c.W if c.W_switch == float("inf") else max(c.W, 2 * c.W_switch)
        assert bus_factor(c.op, n) * 2.0**45 / collective_time(c, n, 2.0**45) <= plateau


@each("key", KEYS)
def test_one_rank_has_nothing_to_send(key):
    c = replace(ENTRIES[key], W_copy=float("inf"))
    assert collective_time(c, 1, 1e-9) == pytest.approx(collective_time(c, 1, 2.0**34), abs=1e-9)


def test_the_switch_reduces_from_five_gpus_on():
    on, off = ([collective_time(H200, n, 2.0**33, switch) for n in range(2, 9)] for switch in (True, False))
    assert on[:2] == off[:2]  # two and three GPUs: the ring sends less than a switch's port
    assert all(a < 0.9 * b for a, b in zip(on[3:], off[3:], strict=True))


def test_a_tree_has_its_latency_by_doublings():
    small = [tree_time(TREE, n, 0.0) for n in (64, 128, 256, 8192)]
    assert small[1] - small[0] == pytest.approx(TREE.alpha_level, rel=1e-6)
    assert small[3] - small[2] == pytest.approx(5 * TREE.alpha_level, rel=1e-6)
    assert bus_factor("all_reduce", 8192) * 2.0**44 / tree_time(TREE, 8192, 2.0**44) == pytest.approx(TREE.W, rel=0.01)


@pytest.mark.parametrize(
    ("chip", "network", "n", "S", "measured"),
    [
        ("h100-sxm", "NVLSTree", 512, 2**27, 2 * 511 / 512 * 2**27 / 210.2e9),  # GTC24 S62129, slide 35
        ("h100-sxm", "EFA", 16, 2**30, 4607.6e-6),  # awslabs/awsome-distributed-training, two p5.48xlarge
        ("b200-sxm", "EFA", 32, 2**30, 2 * 31 / 32 * 2**30 / 361.99e9),  # stas00/ml-engineering, four p6-b200
        ("gb200-nvl72", "InfiniBand SHARP", 144, 2**33, 2 * 143 / 144 * 2**33 / 793.06e9),
    ],  # coreweave/nccl-tests
)
def test_several_nodes_take_what_was_measured(chip, network, n, S, measured):
    assert nodes_allreduce_time(chip, n, S, network) == pytest.approx(measured, rel=0.05)


@each("key", sorted(TREES))
def test_more_nodes_and_more_bytes_take_longer(key):
    c = TREES[key]
    nodes, sizes = 2.0 ** np.arange(10), 2.0 ** np.arange(12, 36)
    assert (np.diff(tree_time(c, c.node * nodes, 2.0**26)) > 0).all()
    assert (np.diff(tree_time(c, 4 * c.node, sizes)) > 0).all()
    # without bytes, what is left is the call's latency
    latency = nccl_latency(c.chip, "all_reduce", c.node, nodes, software=c.inside, network=key[1])
    assert tree_time(c, c.node * nodes, 0.0) == pytest.approx(latency)
    # a bus bandwidth never passes the port's
    assert (bus_factor("all_reduce", 4 * c.node) * sizes / tree_time(c, 4 * c.node, sizes) < c.W).all()


def test_where_the_network_reduces_one_buffer_more_is_filled_for_any_number_of_racks():
    sharp, S = TREES["gb200-nvl72", "InfiniBand SHARP"], 2.0**26
    two, four = (tree_time(sharp, 72 * racks, S) for racks in (2, 4))
    assert four - two == pytest.approx(sharp.alpha_level, rel=0.05)
    along_a_tree = replace(sharp, stages="doublings")
    assert tree_time(along_a_tree, 288, S) - tree_time(along_a_tree, 144, S) > 3 * sharp.alpha_level


def test_latency_grows_with_ranks_and_with_doublings_of_nodes():
    c = ENTRIES["h100-sxm", "all_reduce", "nccl-tests"]
    ring = nccl_latency("h100-sxm", "all_reduce", np.arange(1, 9))
    assert np.diff(ring) == pytest.approx(np.full(7, c.alpha_hop))
    assert ring[0] == c.alpha_low
    tree = [nccl_latency("h100-sxm", "all_reduce", 8, nodes, network="NVLSTree") for nodes in (1, 2, 4, 64)]
    assert np.diff(tree) == pytest.approx([TREE.alpha_level, TREE.alpha_level, 4 * TREE.alpha_level])
    assert ring_step("h100-sxm") == c.alpha_hop
    assert 1e-6 < ring_step("mi300x") < 3e-6, "the mean of the chips that were measured"


def test_bad_machines_are_refused():
    with pytest.raises(ValueError, match=r"nodes of 8 ranks, got 20$"):
        nodes_allreduce_time("h100-sxm", 20, 1e6, "NVLSTree")
    with pytest.raises(ValueError, match=r"nodes of 8 ranks, got 12$"):
        nodes_allreduce_time("h100-sxm", np.array([8, 12]), 1e6, "NVLSTree")
    with pytest.raises(KeyError, match=r"'h100-sxm Ethernet'.*h100-sxm"):
        nodes_allreduce_time("h100-sxm", 16, 1e6, "Ethernet")
    with pytest.raises(ValueError, match=r"S .*at least 0.* -1"):
        nodes_allreduce_time("h100-sxm", 16, -1, "EFA")
    with pytest.raises(ValueError, match=r"at least 1 .* got 0$"):
        nodes_allreduce_time("h100-sxm", 0, 8, "EFA")
    with pytest.raises(ValueError, match=r"need a network.*h100-sxm: EFA, NVLSTree$"):
        nccl_latency("h100-sxm", "all_reduce", 8, 2)


@each("entry", ENTRIES.values())
def test_at_most_six_constants(entry):
    assert 4 <= len(entry.constants) <= 6


@each("entry", TREES.values())
def test_three_constants_over_nodes(entry):
    expected = {"W"} if entry.stages == "ring" else {"alpha_level", "S_stage", "W"}
    assert set(entry.constants) == expected


def test_the_fit_finds_its_constants():
    true = ENTRIES["h100-sxm", "all_gather", "nccl-tests"]
    timed = [Timed(S, n, float(collective_time(true, n, S))) for S in SIZES for n in (2, 4, 8)]
    start = replace(true, **dict.fromkeys(true.constants, 1.0))
    found = fit_collective(start, timed, tuple(true.constants))
    for name, value in true.constants.items():
        assert getattr(found, name) == pytest.approx(value, rel=0.02), name


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"2 constants .* 1$"):
        fit_collective(H200, [Timed(8.0, 2, 1e-6)], ("alpha", "W"))


@pytest.mark.parametrize(("alpha", "W"), [(10 * us, 370 * GB), (5e-3, 0.3 * GB), (1e-7, 40 * GB)])
def test_a_line_is_found_again_under_noise(alpha, W):
    times = (alpha + SIZES / W) * np.random.default_rng(5).uniform(0.95, 1.05, len(SIZES))
    exact, noisy = fit_alpha_beta(SIZES, alpha + SIZES / W), fit_alpha_beta(SIZES, times)
    assert exact[:2] == pytest.approx((alpha, W), rel=1e-5)
    assert exact.error < 1e-5
    assert noisy[:2] == pytest.approx((alpha, W), rel=0.06)
    assert noisy.error == pytest.approx(np.abs(noisy.time(SIZES) / times - 1).mean())
    # A straight line through the seconds has an alpha that is the noise of the largest size.
    _, start = np.polyfit(SIZES, times, 1)
    assert abs(start / alpha - 1) > 10 * abs(noisy.alpha / alpha - 1)


@pytest.mark.parametrize(
    ("S", "time", "says"),
    [
        ([1, 2], [1], r"time: .*\b2 .* 1"),
        ([8, 8], [1, 2], "S: .* 1"),
        ([1, 2], [1, 0], "time: .* 0"),
        ([1, -2], [1, 1], "S: .* -2"),
        ([1, 2], [1, float("nan")], "time: .* nan"),
        ([1, float("inf")], [1, 2], "S: .* inf"),
    ],
)
def test_no_line_goes_through_these(S, time, says):
    with pytest.raises(ValueError, match=rf"^fit_alpha_beta: {says}$"):
        fit_alpha_beta(S, time)


def test_the_time_of_a_chip_is_that_of_its_constants_and_of_the_published_sweep():
    h200 = nccl_time("h200-sxm", "all_reduce", 8, SIZES, software="torch")
    assert (h200 == collective_time(H200, 8, SIZES)).all()
    sweep = measured_allreduces("h200-sxm", 8, "auto")
    errors = [abs(nccl_time("h200-sxm", "all_reduce", 8, row.S, "torch") / row.time - 1) for row in sweep]
    line = fit_alpha_beta([row.S for row in sweep], [row.time for row in sweep])
    assert np.mean(errors) < 0.03 < line.error, "two protocols and a switch explain what no line does"
    assert nccl_time("h200-sxm", "all_reduce", 8, 2**30, switch=False) > nccl_time("h200-sxm", "all_reduce", 8, 2**30)


def test_constants_that_are_not_there_are_answered_with_those_like_them():
    with pytest.raises(KeyError, match=r"'h100 all_reduce nccl-tests'; .*h\d00"):
        nccl_time("h100", "all_reduce", 8, 1e6)
