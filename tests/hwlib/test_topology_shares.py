"""Flows that a hash puts together, and what failed switches leave: by counting, and by the graphs."""

import math
from itertools import product

import pytest

from hwlib.collectives import level_time
from hwlib.specs import clusters
from hwlib.specs.cluster import Level
from hwlib.topology import (
    TopologyError,
    allreduce_left_fraction,
    alltoall_left_fraction,
    bisection_bandwidth,
    busiest_cable_flows,
    fat_tree,
    idle_cable_fraction,
    leaf_spine,
    minimum_cut,
    plan,
    remains,
    spines_left_fraction,
    without,
)
from hwlib.units import GB


@pytest.mark.parametrize(("flows", "up"), [(1, 1), (1, 5), (2, 2), (3, 3), (5, 3), (6, 4), (4, 8)])
def test_the_busiest_and_the_idle_cables_are_those_of_all_choices(flows, up):
    choices = list(product(range(up), repeat=flows))
    busiest = sum(max(map(choice.count, choice)) for choice in choices) / len(choices)
    idle = sum(up - len(set(choice)) for choice in choices) / len(choices) / up
    assert busiest_cable_flows(flows, up) == pytest.approx(busiest, rel=1e-9)
    assert idle_cable_fraction(flows, up) == pytest.approx(idle, rel=1e-12)


@pytest.mark.parametrize(("flows", "up"), [(4096, 1000), (2**20, 262144), (10**6, 64)])
def test_many_flows_leave_as_many_cables_idle_as_logarithms_say(flows, up):
    assert idle_cable_fraction(flows, up) == pytest.approx(math.exp(flows * math.log1p(-1 / up)), rel=1e-8)


def test_more_flows_are_shared_more_evenly():
    """The reason for several connections a pair: the busiest of 32 cables has 3.5, 2.2 and 1.6 times the average."""
    assert [round(busiest_cable_flows(32 * k, 32) / k, 2) for k in (1, 4, 16)] == [3.53, 2.16, 1.55]


@pytest.mark.parametrize("dead", [0, 1, 3, 4, 12, 15])
@pytest.mark.parametrize("omega", [1, 2, 7])
def test_what_is_left_for_collectives_is_what_the_levels_say(dead, omega):
    node, leaf, spine = clusters["superpod-h100-4su"].levels
    left = spines_left_fraction(16, dead)
    levels = [node, leaf, Level("spine", 4, spine.bandwidth * left / omega)]
    whole = [node, leaf, Level("spine", 4, spine.bandwidth * 99)]
    share = level_time("all_reduce", 1, whole) / level_time("all_reduce", 1, levels)
    assert allreduce_left_fraction(4, 32, 16, dead, omega) == pytest.approx(share)
    share = level_time("all_to_all", 1, whole) / level_time("all_to_all", 1, levels)
    assert alltoall_left_fraction(4, 16, dead, omega) == pytest.approx(share, rel=0.01)  # first order


def test_a_dead_spine_takes_its_share_of_the_cut_in_the_graph():
    tree = fat_tree(nodes=16, gpus_per_node=1, rails=1, nodes_per_group=4, ports=8)
    after = without(tree, node=["spine0"])
    assert remains(tree, after).share == pytest.approx(spines_left_fraction(2, 1))


def test_a_table_of_cables_is_the_tree_of_its_plan():
    tree = plan(nodes=128)
    table = [[tree.leaf_uplinks // tree.spines] * tree.spines] * tree.leaves
    built = leaf_spine(table, tree.down["leaf"], 50 * GB)
    assert bisection_bandwidth(built) == bisection_bandwidth(fat_tree(tree))
    assert built.kinds == {"gpu": 1024, "leaf": 32, "spine": 16}


def test_two_leaves_share_what_reaches_both_from_one_spine():
    built = leaf_spine([[2, 0, 1], [1, 2, 1], [1, 1, 0]], 8, 1 * GB)
    assert minimum_cut(built, ["leaf0"], ["leaf1"]).bandwidth == 3 * GB  # one of them by way of the third leaf
    direct = leaf_spine([[2, 0, 1], [1, 2, 1]], 8, 1 * GB)
    assert bisection_bandwidth(direct) == 2 * GB


@pytest.mark.parametrize("table", [[], [[]], [[1, 2], [1]], [[-1]], [[1.5]]])
def test_a_table_that_is_none_is_refused(table):
    with pytest.raises(TopologyError, match="leaf_spine"):
        leaf_spine(table, 4, 1 * GB)
