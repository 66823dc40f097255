"""Worked questions of the literature on collectives, from the formulas and the tables of hardware.

Where our number differs from the printed one, the test says what explains it.
"""

import pytest

from hwlib import GB, GiB, KiB, ms, us
from hwlib.collectives import (
    allgather_bandwidth,
    axis_levels,
    bidirectional_ring_allgather_time,
    bidirectional_ring_alltoall_time,
    bus_factor,
    destination_fraction,
    destination_fraction_limit,
    direct_allgather_time,
    direct_alltoall_time,
    hierarchical_allreduce_time,
    level_bandwidths,
    level_time,
    level_times,
    levels_allgather_time,
    line_allgather_time,
    node_switch_allgather_in_bytes,
    node_switch_allgather_out_bytes,
    nodes_alltoall_time,
    nvls_algorithm_bandwidth,
    nvls_allreduce_speedup,
    nvls_port_bandwidth,
    nvls_switch_allreduce_in_bytes,
    outer_axis_allgather_time,
    ragged_alltoall_limit,
    ragged_alltoall_time,
    ring_allgather_time,
    ring_allreduce_time,
    ring_alltoall_time,
    ring_reduce_scatter_time,
    sparse_alltoall_time,
    switch_allreduce_in_bytes,
    switch_allreduce_limit,
    switch_allreduce_speedup,
    torus_allgather_limit,
    torus_allgather_time,
)
from hwlib.specs import Level, clusters, links, nodes

H100 = nodes["dgx-h100"]
W_NODE, W_EGRESS = H100.scaleup_bandwidth, H100.egress_bandwidth
POD = clusters["superpod-h100-4su"].levels
UNIT = clusters["superpod-h100-1su"].levels
NODE, TWO_NODES = POD[:1], (POD[0], POD[1]._replace(size=2))


def about(printed, rel):
    """A printed figure, within what its digits are worth."""
    return pytest.approx(printed, rel=rel)


# Inside a node


def test_allgather_of_a_large_weight_in_a_node():
    S = 2 * 4096 * 65536
    assert direct_allgather_time(8, S, 0, W_NODE) == about(1.04 * ms, 0.005)
    assert about(1.19 * ms, 0.005) == S / W_NODE, "to first order, (n - 1)/n dropped"


@pytest.mark.parametrize(
    ("time", "printed"),
    [
        pytest.param(lambda S: S / W_NODE, 75 * us, id="first-order"),
        pytest.param(lambda S: direct_allgather_time(8, S, 0, W_NODE), 65 * us, id="exact"),
    ],
)
def test_allgather_of_activations_in_a_node(time, printed):
    assert time(2 * 1024 * 16384) == about(printed, 0.01)


def test_alltoall_in_a_node_moves_one_nth_of_an_allgather():
    V = 2 * 4096 * 8 * 1e3  # bytes of all ranks
    exact = direct_alltoall_time(8, V, 0, W_NODE)
    assert exact == pytest.approx(direct_allgather_time(8, V, 0, W_NODE) / 8)
    assert exact == pytest.approx(V / (W_NODE * 8) * 7 / 8), "V/(W n) to first order"
    assert sparse_alltoall_time(8, V, 4, W_NODE) == pytest.approx(exact / 2), "4 of 8 blocks nonzero"


def printed_outer_gather(S, Y):
    """The book's two branches for AllGather_X of bf16[D_X, F_Y] in a scalable unit of 32 nodes."""
    return S * 31 / (32 * 400e9) if Y <= 8 else S * 256 / (Y * 12.8e12)


@pytest.mark.parametrize("Y", [1, 2, 4, 8, 16, 32, 64, 128])
def test_allgather_along_the_outer_of_two_axes(Y):
    S = 2.0 * 8192 * 28672
    ours = outer_axis_allgather_time(S, Y, 8, 32, W_NODE, H100.nic_bandwidth)
    assert ours == pytest.approx(level_time("all_gather", S, axis_levels(UNIT, 256 // Y, Y)))
    # Up to 8 the book is exact; beyond it leaves out (X - 1)/X, which at X = 2 is a factor of two.
    dropped = 1 if Y <= 8 else 1 - Y / 256
    assert ours == pytest.approx(printed_outer_gather(S, Y) * dropped)


def test_an_inner_axis_within_a_node_gains_nothing_across_nodes():
    times = {Y: outer_axis_allgather_time(1 * GB, Y, 8, 32, W_NODE, W_EGRESS / 8) for Y in (1, 2, 4, 8, 16)}
    assert times[1] == times[2] == times[4] == times[8] > 1.9 * times[16]


# Across nodes


@pytest.mark.parametrize(("M", "N"), [(1, 8), (4, 8), (32, 8), (3, 72)])
def test_bytes_through_a_node_switch_in_an_allgather(M, N):
    assert node_switch_allgather_in_bytes(M, 1 * GB) == pytest.approx(1 * GB)
    assert node_switch_allgather_out_bytes(N, M, 1 * GB) == pytest.approx(N * GB)
    assert node_switch_allgather_out_bytes(N, M, 1 * GB) / (N * W_NODE) == pytest.approx(1 * GB / 450e9)
    assert level_times("all_gather", GB, (POD[1]._replace(size=M),))[0] == pytest.approx((M - 1) / M * GB / 400e9)


def test_bytes_through_a_switch_that_adds():
    assert switch_allreduce_in_bytes(8, GB) == 8 * GB
    assert switch_allreduce_in_bytes(8, GB) / (8 * W_NODE) == switch_allreduce_limit(GB, W_NODE)
    # The book lets a rank hold its own block back; multimem.ld_reduce pulls that one, too (nccl issue 828).
    assert nvls_switch_allreduce_in_bytes(8, GB) == 9 * GB


@pytest.mark.parametrize("Y", [1, 2, 4])
def test_allreduce_of_a_sharded_array_with_reduction_in_the_switch(Y):
    S = 2.0 * 4096 * 16384
    inside = axis_levels(NODE, 8 // Y, Y)
    assert level_time("all_reduce", S, inside, in_switch=True) == pytest.approx(S / (Y * 450e9))
    beyond = axis_levels(UNIT, 256 // Y, Y)
    assert level_times("all_reduce", S, beyond, in_switch=True)[1] == pytest.approx(S / 400e9), "all of S, any Y"


def test_allreduce_over_the_spine():
    """Y = 256 leaves one rank per scalable unit: 12.8 TB/s each. Older editions print 6.4, half the links."""
    S = 2.0 * 8192 * 28672
    (spine,) = axis_levels(POD, 4, 256)
    assert spine == ("spine", 4, 12.8e12)
    assert level_time("all_reduce", S, [spine], in_switch=True) == pytest.approx(S / 12.8e12)
    assert level_time("all_reduce", S, [spine]) == pytest.approx(1.5 * S / 12.8e12)


def test_allgather_over_two_nodes_is_bound_inside_them():
    inside, across = level_bandwidths(TWO_NODES)
    assert (inside, across) == (about(514 * GB, 0.001), about(800 * GB, 0.001))
    assert allgather_bandwidth(TWO_NODES) == inside


def test_alltoall_over_two_nodes_against_one():
    """The book says more than four times slower: that is its first-order forms. Exactly, it is 2.6 times."""
    one, two = level_time("all_to_all", GB, NODE), level_time("all_to_all", GB, TWO_NODES)
    assert GB / one == about(4114 * GB, 0.001)
    assert GB / two == about(1600 * GB, 0.001)
    assert two / one == about(2.6, 0.02)
    first_order = (GB / (2 * W_EGRESS)) / (GB / (8 * W_NODE))
    assert first_order == pytest.approx(4.5)


def test_allgather_bandwidth_of_every_level():
    assert level_bandwidths(POD) == (about(514 * GB, 0.001), about(413 * GB, 0.001), about(17_100 * GB, 0.003))
    assert allgather_bandwidth(POD) == about(413 * GB, 0.001)
    sizes, widths = [level.size for level in POD], [level.bandwidth for level in POD]
    assert GB / levels_allgather_time(GB, sizes, widths) == pytest.approx(allgather_bandwidth(POD))


def test_gradients_of_a_70b_model_over_64_gpus():
    S = 4 * 70e9
    flat = ring_allreduce_time(64, S, 0, H100.nic_bandwidth)
    assert flat == about(11.0, 0.005)
    two_levels = hierarchical_allreduce_time(8, 8, S, 0, W_NODE, 0, H100.nic_bandwidth)
    assert two_levels == about(2.3, 0.01)
    eight_nodes = (POD[0], POD[1]._replace(size=8))
    assert two_levels == pytest.approx(level_time("all_reduce", S, eight_nodes, overlap=False))


# Measured bandwidths


def test_what_reduction_in_the_switch_gains():
    assert switch_allreduce_speedup(8) == 1.75
    assert nvls_allreduce_speedup(8) == pytest.approx(14 / 9)
    measured = 480.0 / 367.2  # H200, NCCL 2.27.7, Bekman's machine learning engineering book
    assert measured == about(1.31, 0.005)
    assert measured < nvls_allreduce_speedup(8) < switch_allreduce_speedup(8)


def test_why_a_port_of_450_prints_480():
    assert about(0.82, 0.005) == 370 * GB / W_NODE, "a ring, without the switch's adders"
    algorithm = 480 * GB / bus_factor("all_reduce", 8)
    assert algorithm == about(275 * GB, 0.005)
    assert nvls_port_bandwidth(8, 480 * GB) == about(309 * GB, 0.002)
    assert nvls_port_bandwidth(8, 480 * GB) / W_NODE == about(0.6867, 0.002), "the share in nccl issue 2140"
    assert nvls_algorithm_bandwidth(8, W_NODE) == pytest.approx(400 * GB)


# Tori

ICI_V5E, ICI_V4 = links["ici-v5e"].bandwidth, links["ici-v4"].bandwidth


def test_allgather_on_a_v5e_slice():
    """An axis of 4 chips. The book rounds 33.6 MB to 34 and prints 377 us; without wraparound, 560."""
    S = 2 * 2048 * 8192
    assert bidirectional_ring_allgather_time(4, S, 0, ICI_V5E) == about(377 * us, 0.02)
    assert bidirectional_ring_allgather_time(4, S, 0, ICI_V5E) == pytest.approx(torus_allgather_limit(S, ICI_V5E, 2))
    assert line_allgather_time(4, S, 0, ICI_V5E) == about(560 * us, 0.01)
    hop = 1 * us
    small = line_allgather_time(4, 2 * 256 * 256, hop, ICI_V5E)
    assert line_allgather_time(4, 0, hop, ICI_V5E) == pytest.approx(3 * us)
    # A block of 32 KiB needs 0.7 us a hop, less than its latency: the book leaves it out.
    assert small - 3 * us == pytest.approx(3 * 32 * KiB / ICI_V5E)
    assert 32 * KiB / ICI_V5E < hop


def test_collectives_on_a_v4_cube():
    S = 2 * 1024 * 4096
    assert torus_allgather_limit(S / 4, ICI_V4, 2) == about(23 * us, 0.02), "along X, sharded over Y"
    assert torus_allgather_limit(S, ICI_V4, 4) == about(46 * us, 0.02), "along X and Y: four links at once"
    # An array sharded over X and Y and summed over Z: the first edition printed 190 us.
    assert 2 * torus_allgather_limit(S / 16, ICI_V4, 2) == about(11.6 * us, 0.01)
    assert torus_allgather_limit(S / 4, ICI_V4, 4) == about(11.5 * us, 0.02), "with the idle axis Z"
    assert torus_allgather_limit(S, ICI_V4, 6) == about(31 * us, 0.01)
    one_by_one = torus_allgather_time((4, 4), S, 0, ICI_V4)
    assert one_by_one == pytest.approx(S / (2 * ICI_V4) * (1 + 1 / 4)), "first X, of a quarter; then Y, of all"


def test_a_small_allgather_costs_two_hops():
    assert bidirectional_ring_allgather_time(4, 2 * 128, 1 * us, ICI_V4) == about(2 * us, 0.01)


@pytest.mark.parametrize(("M", "K"), [(4096, 1024), (512, 8192)])
def test_gathering_an_operand_against_scattering_the_product(M, K):
    """A matmul whose contraction is sharded: gather the operand of M columns, or reduce the product of K."""
    gather = ring_allgather_time(8, 2 * 1024 * M, 0, ICI_V4)
    scatter = ring_reduce_scatter_time(8, 2 * 1024 * K, 0, ICI_V4)
    assert gather / scatter == pytest.approx(M / K)
    assert ring_allreduce_time(8, 2 * 1024 * K, 0, ICI_V4) == pytest.approx(2 * scatter)


@pytest.mark.parametrize("n", [3, 7, 16, 1024])
def test_an_alltoall_on_a_ring_is_half_or_a_quarter_of_an_allgather(n):
    one_way = ring_alltoall_time(n, GiB, 0, ICI_V4) / ring_allgather_time(n, GiB, 0, ICI_V4)
    assert one_way == pytest.approx(1 / 2), "exactly, for every n"
    gather = bidirectional_ring_allgather_time(n, GiB, 0, ICI_V4)
    both_ways = bidirectional_ring_alltoall_time(n, GiB, 0, ICI_V4) / gather
    # The book's quarter is the limit of a long ring.
    assert both_ways == pytest.approx((n + 1 + (n % 2 == 0)) / (4 * n))
    assert both_ways == pytest.approx(1 / 4, rel=2.01 / n)


# Experts


@pytest.mark.parametrize(("Z", "k", "exact", "approximate"), [(8, 8, 0.574, 0.875), (64, 8, 0.1165, 0.1230)])
def test_a_ragged_alltoall_and_its_approximation(Z, k, exact, approximate):
    """The book calls min(k/Z, 1) very close: true for Z much larger than k, 52 % too much at Z = k = 8."""
    assert ragged_alltoall_time(Z, 1, k, 1) == about(exact, 0.001)
    assert ragged_alltoall_limit(Z, 1, k, 1) == about(approximate, 0.001)
    assert destination_fraction(8, 8) * 1.52 == about(destination_fraction_limit(8, 8), 0.005)


def test_an_all_to_all_over_nodes_against_the_levels_and_the_books_limits():
    """scaling-book: within 8 GPUs S/(8 W), across two nodes S/(2 W_node); exactly (n - 1)/n and (M - 1)/M of those."""
    W_in, W_out = 450 * GB, 50 * GB
    assert nodes_alltoall_time(1.0, 8, 1, W_in, W_out) == pytest.approx(7 / 8 / (8 * W_in))
    assert nodes_alltoall_time(1.0, 8, 2, W_in, W_out) == pytest.approx(1 / 2 / (2 * 8 * W_out))
    for M in (1, 2, 3, 16):
        levels = [Level("node", 8, W_in), Level("leaf", M, 8 * W_out)]
        assert nodes_alltoall_time(1.0, 8, M, W_in, W_out) == pytest.approx(level_time("all_to_all", 1.0, levels))
