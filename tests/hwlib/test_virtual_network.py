"""The network of a virtual cluster takes the times of the formulas."""

import pytest

from hwlib.collectives import (
    alltoall_bytes,
    axis_levels,
    hierarchical_allgather_time,
    hierarchical_allreduce_time,
    level_time,
    ring_allgather_time,
    ring_allreduce_time,
)
from hwlib.simulate.call_costs import call_cost
from hwlib.specs import accelerators, clusters
from hwlib.topology import node
from hwlib.units import GB, MB, us
from hwlib.virtual.network import network
from hwlib.virtual.record import CallTotals

H100 = accelerators["h100-sxm"]
TWO = (("node", 8, 450 * GB), ("leaf", 16, 400 * GB))


def test_one_level_is_a_ring():
    net = network(8, None, H100, latency=2 * us)
    args = (8, 64 * MB, 2 * us, H100.scaleup_bandwidth)
    assert net.time("all_reduce", 64 * MB, range(8)) == pytest.approx(ring_allreduce_time(*args))
    assert net.time("all_gather", 64 * MB, range(8)) == pytest.approx(ring_allgather_time(*args))
    assert net.time("barrier", 0, range(8)) == pytest.approx(3 * 2 * us)  # a tree of eight has three rounds


def test_two_levels_one_after_another_are_the_hierarchy():
    net = network(TWO, None, H100, latency={"node": 2 * us, "leaf": 7 * us}, overlap=False)
    args = (8, 16, 64 * MB, 2 * us, 450 * GB, 7 * us, 50 * GB)
    assert net.time("all_reduce", 64 * MB, range(128)) == pytest.approx(hierarchical_allreduce_time(*args))
    assert net.time("all_gather", 64 * MB, range(128)) == pytest.approx(hierarchical_allgather_time(*args))


@pytest.mark.parametrize(("size", "inner"), [(8, 1), (16, 8), (32, 4), (8, 16), (128, 1), (4, 2)])
@pytest.mark.parametrize("call", ["all_gather", "all_reduce"])
def test_an_axis_of_a_mesh_takes_what_the_levels_say(call, size, inner):
    net = network(TWO, None, H100, latency=0.0)
    S = 3 * MB
    ranks = range(0, size * inner, inner)
    assert net.time(call, S, ranks) == pytest.approx(level_time(call, S * inner, axis_levels(net.levels, size, inner)))


def test_a_slow_level_and_part_of_a_cluster():
    whole = network("superpod-h100-4su", None, H100, latency=0.0)
    assert whole.ranks == clusters["superpod-h100-4su"].chips == 1024
    part = network("superpod-h100-4su", 64, H100, latency=0.0, slow_levels={"leaf": 4.0})
    assert part.ranks == 64
    assert part.crossed(range(64)) == (("node", 8, 450 * GB), ("leaf", 8, 100 * GB))
    assert network(node("dgx-h100"), None, H100).levels == (("node", 8, 450 * GB),)


@pytest.mark.parametrize(
    ("where", "n", "more", "error"),
    [
        (8, None, {"slow_levels": {"rail": 2.0}}, KeyError),
        (0, None, {}, ValueError),
        (TWO, 12, {}, ValueError),
        (TWO, 4096, {}, ValueError),
        ("tpu-v4-pod", None, {}, ValueError),
    ],
)
def test_what_is_no_network_is_refused(where, n, more, error):
    with pytest.raises(error, match="cluster"):
        network(where, n, H100, **more)


@pytest.mark.parametrize("call", ["all_reduce", "all_gather", "reduce_scatter"])
def test_a_rank_sends_what_the_ring_sends(call):
    played = call_cost(call, 8, 4096, 2)
    assert CallTotals(call, 8, "node", 1, 8192.0, 0.0).sent_bytes == played.sent_bytes[0]


def test_a_root_call_counts_the_mean_and_an_exchange_what_leaves():
    played = call_cost("broadcast", 8, 4096, 2, root=0)
    assert CallTotals("broadcast", 8, "node", 1, 8192.0, 0.0).sent_bytes == sum(played.sent_bytes) / 8
    assert CallTotals("all_to_all", 8, "node", 1, 8192.0, 0.0).sent_bytes == alltoall_bytes(8, 8192.0) == 7 * 128
