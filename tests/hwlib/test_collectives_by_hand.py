"""Each formula of a collective at one or two points, with numbers that a pencil gives.

Unless a case says otherwise, 100 bytes in blocks of 100/n, a latency of 3 s and 2 B/s.
"""

import pytest

from hwlib.collectives import direct, doubling, hierarchical, levels, limits, mesh, ragged, ring, switch, traffic, tree

ONE_PORT = [
    # of 5 ranks a block has 20 bytes and takes 10 s, a rank's part of an all-to-all 4 bytes and 2 s
    (direct.direct_allgather_time, 5, 3 + 40),
    (direct.direct_allgather_time, 2, 3 + 25),
    (direct.direct_reduce_scatter_time, 5, 3 + 40),
    (direct.direct_reduce_scatter_time, 2, 3 + 25),
    (direct.direct_allreduce_time, 5, 2 * (3 + 40)),
    (direct.direct_allreduce_time, 2, 2 * (3 + 25)),
    (direct.one_shot_allreduce_time, 5, 3 + 4 * 50),
    (direct.one_shot_allreduce_time, 2, 3 + 50),
    (direct.direct_alltoall_time, 5, 3 + 4 * 2),
    (direct.direct_alltoall_time, 2, 3 + 12.5),
    (direct.pairwise_alltoall_time, 5, 4 * (3 + 2)),
    (direct.direct_gather_time, 5, 3 + 40),
    (direct.direct_gather_time, 2, 3 + 25),
    (direct.direct_scatter_time, 5, 3 + 40),
    (direct.direct_scatter_time, 2, 3 + 25),
    (direct.direct_broadcast_time, 5, 3 + 4 * 50),
    (direct.direct_broadcast_time, 2, 3 + 50),
    (direct.direct_reduce_time, 5, 3 + 4 * 50),
    (direct.direct_reduce_time, 2, 3 + 50),
    # three rounds reach 5 ranks, two reach 4
    (doubling.halving_reduce_scatter_time, 5, 3 * 3 + 40),
    (doubling.doubling_allgather_time, 5, 3 * 3 + 40),
    (doubling.bruck_allgather_time, 5, 3 * 3 + 40),
    (doubling.bruck_allgather_time, 4, 2 * 3 + 37.5),
    (doubling.paired_allreduce_time, 4, 2 * (2 * 3 + 37.5)),
    (doubling.halving_doubling_allreduce_time, 4, 2 * (2 * 3 + 37.5)),
    (doubling.halving_doubling_allreduce_time, 5, 2 * (2 * 3 + 37.5) + 2 * (3 + 50)),
    (doubling.doubling_allreduce_time, 4, 2 * (3 + 50)),
    (doubling.doubling_allreduce_time, 5, (2 + 2) * (3 + 50)),
    (doubling.bruck_alltoall_bound_time, 5, 3 * (3 + 5)),
    (doubling.bruck_alltoall_time, 5, 3 * 3 + (2 + 2 + 1) * 2),
    (tree.binomial_broadcast_time, 5, 3 * (3 + 50)),
    (tree.binomial_reduce_time, 5, 3 * (3 + 50)),
    (tree.binomial_gather_time, 5, 3 * 3 + 40),
    (tree.binomial_scatter_time, 5, 3 * 3 + 40),
    (tree.tree_allreduce_time, 5, 2 * 3 * (3 + 50)),
    (tree.scatter_allgather_broadcast_time, 5, 3 * 3 + 40 + 4 * (3 + 10)),
    (ring.ring_reduce_scatter_time, 5, 4 * (3 + 10)),
    (ring.ring_allgather_time, 5, 4 * (3 + 10)),
    (ring.ring_allreduce_time, 5, 8 * (3 + 10)),
    (ring.line_allgather_time, 5, 4 * (3 + 10)),
    (ring.bidirectional_ring_allgather_time, 5, 2 * (3 + 10)),
    (ring.bidirectional_ring_allgather_time, 4, 2 * (3 + 12.5)),
    (ring.bidirectional_ring_reduce_scatter_time, 5, 2 * (3 + 10)),
    (ring.bidirectional_ring_reduce_scatter_time, 4, 2 * (3 + 12.5)),
    (ring.bidirectional_ring_allreduce_time, 5, 4 * (3 + 10)),
    (ring.bidirectional_ring_allreduce_time, 4, 4 * (3 + 12.5)),
    (ring.ring_alltoall_time, 5, 4 * 3 + (4 + 3 + 2 + 1) * 2),
    (ring.bidirectional_ring_alltoall_time, 5, 2 * 3 + (2 + 1) * 2),
    (ring.bidirectional_ring_alltoall_time, 4, 2 * 3 + (2 + 1) * 100 / 16 / 2),
]


@pytest.mark.parametrize(("time", "n", "seconds"), ONE_PORT)
def test_over_ports_of_one_bandwidth(time, n, seconds):
    assert time(n, 100, 3, 2) == pytest.approx(seconds, rel=1e-12)
    assert time(1, 100, 3, 2) == 0


@pytest.mark.parametrize(
    ("time", "n", "seconds"),
    [
        # a chunk of 30 bytes takes 15 s
        (switch.switch_allreduce_time, 5, 5 * (3 + 15)),
        (switch.switch_allreduce_time, 2, 5 * (3 + 15)),
        (switch.switch_reduce_scatter_time, 5, 5 * 3 + 60 + 3),
        (switch.switch_reduce_scatter_time, 2, 5 * 3 + 60 + 7.5),
        (switch.switch_allgather_time, 5, 5 * 3 + 60 + 3),
        (switch.switch_allgather_time, 2, 5 * 3 + 60 + 7.5),
        (switch.nvls_allreduce_time, 5, 7 * (3 + 15) + 3 * 3),
        (switch.nvls_allreduce_time, 2, 7 * (3 + 15) + 3 * 7.5),
        (tree.chain_broadcast_time, 5, (4 + 3) * (3 + 15)),
        (tree.chain_broadcast_time, 2, (1 + 3) * (3 + 15)),
        (tree.double_tree_allreduce_time, 2, 8 * 3 + 60),
        (tree.double_tree_allreduce_time, 3, 2 * (1 + 3) * (3 + 15)),
        (tree.double_tree_allreduce_time, 4, 2 * (2 + 3) * (3 + 15) - 15),
        (tree.double_tree_allreduce_time, 5, 2 * (2 + 3) * (3 + 15)),
        (tree.double_tree_allreduce_time, 7, 2 * (2 + 3) * (3 + 15)),
        (tree.double_tree_allreduce_time, 8, 2 * (3 + 3) * (3 + 15) - 7.5),
    ],
)
def test_of_120_bytes_in_four_chunks(time, n, seconds):
    assert time(n, 120, 3, 2, 4) == pytest.approx(seconds, rel=1e-12)
    assert time(1, 120, 3, 2, 4) == 0


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        # 144 bytes, 4 ranks of 2 B/s and 1 s in each of 3 nodes of 1/2 B/s and 5 s
        (hierarchical.hierarchical_reduce_scatter_time, 3 * (1 + 18) + 2 * (5 + 24)),
        (hierarchical.hierarchical_allgather_time, 3 * (1 + 18) + 2 * (5 + 24)),
        (hierarchical.hierarchical_allreduce_time, 6 * (1 + 18) + 4 * (5 + 24)),
        (hierarchical.hierarchical_alltoall_time, 3 * (1 + 1.5) + 2 * (5 + 8)),
        (hierarchical.hierarchical_broadcast_time, 2 * (1 + 72) + 2 * (5 + 288)),
    ],
)
def test_over_nodes(time, seconds):
    assert time(4, 3, 144, 1, 2, 5, 0.5) == pytest.approx(seconds, rel=1e-12)


def test_a_call_over_eight_nodes_of_four():
    """A start of 7 s, three more ranks of 1 s, three doublings of 5 s; then 2 x 31/32 of 48 bytes and of buffers."""
    assert hierarchical.call_latency(4, 8, 7, 1, 5) == 7 + 3 + 15
    buffer = 16 * (1 - 16 / 64)
    call = (48, 7, 1, 5, 2, 16)
    assert hierarchical.nvls_tree_allreduce_time(4, 8, *call) == pytest.approx(25 + 31 / 32 * (48 + 4 * buffer))
    assert hierarchical.nvls_sharp_allreduce_time(4, 8, *call) == pytest.approx(25 + 31 / 32 * (48 + 2 * buffer))
    assert hierarchical.nvls_sharp_allreduce_time(4, 1, *call) == pytest.approx(10 + 3 / 4 * (48 + buffer))
    assert hierarchical.nvls_sharp_allreduce_time(4, 2, *call) == pytest.approx(15 + 7 / 8 * (48 + 2 * buffer))


@pytest.mark.parametrize(
    ("time", "inside", "across"),
    [
        # the inner level decides at the first bandwidths, the outer one at the second
        (lambda *W: levels.levels_allgather_time(90, (3, 2), W), ((2, 5), 30), ((10, 1), 45)),
        (lambda *W: levels.levels_allreduce_time(90, (3, 2), W), ((2, 5), 60), ((10, 1), 90)),
        (lambda *W: levels.levels_switch_allreduce_time(90, W), ((2, 5), 45), ((10, 1), 90)),
        (lambda *W: levels.nvls_levels_allreduce_time(80, 4, 5, *W), ((2, 2), 50), ((2, 0.5), 64)),
        (lambda *W: levels.nvls_two_trees_allreduce_time(80, 4, *W), ((2, 2), 50), ((2, 0.5), 80)),
        (lambda *W: levels.nvls_sharp_levels_allreduce_time(80, 4, *W), ((2, 2), 50), ((2, 0.25), 80)),
        (lambda *W: levels.outer_axis_allgather_time(120, 2, 4, 3, *W), ((1, 1), 30), ((1, 0.5), 40)),
        (lambda *W: levels.outer_axis_allgather_time(120, 4, 4, 3, *W), ((1, 1), 20), ((1, 0.5), 40)),
        (lambda *W: levels.outer_axis_allgather_time(120, 8, 4, 3, *W), ((1, 1), 5), ((1, 0.5), 10)),
        (lambda *W: levels.outer_axis_allgather_time(120, 2, 4, 1, *W), ((1, 1), 30), ((0.5, 0.1), 60)),
        (lambda *W: levels.nodes_alltoall_time(144, 4, 3, *W), ((1, 10), 11), ((1, 0.5), 16)),
    ],
)
def test_the_slower_of_two_levels_decides(time, inside, across):
    for bandwidths, seconds in (inside, across):
        assert time(*bandwidths) == pytest.approx(seconds, rel=1e-12)


def test_to_first_order():
    assert limits.allgather_limit(100, 2) == limits.bidirectional_ring_allgather_limit(100, 1) == 50
    assert limits.allreduce_limit(100, 2) == 100
    assert limits.alltoall_limit(5, 100, 2) == 10
    assert limits.bidirectional_ring_alltoall_limit(160, 2) == 10
    assert switch.switch_allreduce_limit(120, 2) == 60
    assert switch.nvls_allreduce_limit(5, 120, 2) == pytest.approx(72)
    assert mesh.torus_allgather_limit(120, 2, 3) == 20


def test_experts_of_a_token():
    """4 ranks, 128 bytes, 4 B/s; a token with two experts misses a rank with 9/16."""
    assert ragged.destination_fraction(4, 2) == 7 / 16
    assert ragged.ragged_alltoall_time(4, 128, 2, 4) == pytest.approx(3 / 4 * 7 / 16 * 32)
    assert ragged.ragged_alltoall_limit(4, 128, 2, 4) == pytest.approx(3 / 4 * 1 / 2 * 32)
    assert ragged.ragged_alltoall_limit(4, 128, 8, 4) == pytest.approx(3 / 4 * 32)
    assert ragged.sparse_alltoall_time(4, 128, 2, 4) == pytest.approx(1 / 2 * 3 / 16 * 32)
    assert ragged.sparse_alltoall_time(4, 128, 8, 4) == pytest.approx(3 / 16 * 32)
    assert ragged.exact_destination_fraction(2, 2, 4) == pytest.approx(5 / 6)
    assert ragged.exact_destination_fraction(4, 4, 4) == 1


def test_bandwidths_of_ports():
    assert traffic.nvls_port_bandwidth(2, 100) == 150
    assert traffic.nvls_port_bandwidth(5, 100) == 75
    assert traffic.nvls_algorithm_bandwidth(5, 120) == pytest.approx(100)
    assert traffic.nvls_bus_factor(5) == pytest.approx(1.2)


NODE, POD = levels.Level("node", 4, 8.0), levels.Level("pod", 3, 2.0)


def test_levels_without_bytes_and_of_one_child():
    assert levels.level_times("all_reduce", 0, (NODE, POD)) == (0, 0)
    assert levels.level_times("all_reduce", 48, (NODE, POD)) == pytest.approx((9, 32))
    assert levels.level_times("all_gather", 48, (NODE, POD)) == pytest.approx((4.5, 16))
    assert levels.level_times("broadcast", 48, (NODE, POD)) == (6, 24)
    alone = levels.Level("alone", 1, 2.0)
    for in_switch in (True, False):
        assert levels.level_times("all_reduce", 48, (alone,), in_switch) == (0,)
    assert levels.level_times("reduce", 48, (alone,)) == (0,)
    assert levels.level_times("all_to_all", 144, (NODE, POD)) == pytest.approx((144 * 11 / 144 / 8, 144 * 2 / 9 / 2))


@pytest.mark.parametrize(
    ("size", "inner", "slowest"),
    [(4, 1, 4.5), (2, 1, 3), (2, 2, 3), (12, 1, 16), (3, 4, 64), (1, 12, 0), (1, 1, 0), (6, 2, 32)],
)
def test_an_axis_takes_the_time_of_the_slowest_level_that_it_crosses(size, inner, slowest):
    """An all-gather of 48 bytes: of (3, 4), four groups share the port of each node."""
    crossed = levels.axis_levels((NODE, POD), size, inner)
    assert levels.level_time("all_gather", 48 * inner, crossed) == pytest.approx(slowest)
    assert levels.axis_time("all_gather", 48, (NODE, POD), size, inner) == pytest.approx(slowest)


def test_levels_that_an_axis_crosses_have_whole_children():
    crossed = levels.axis_levels((NODE, POD), 6, 2)
    assert crossed == (("node", 2, 16.0), ("pod", 3, 2.0))
    assert all(type(level.size) is int for level in crossed)
