"""Closed forms of networks of switches: printed counts, and the graphs that must agree with them."""

import pytest

from hwlib.specs import accelerators, clusters, nodes
from hwlib.topology import (
    bisection_bandwidth,
    cluster,
    crossbar,
    crossbar_bisection_bandwidth,
    down_ports,
    fat_tree,
    network_cost,
    node,
    node_switch_bandwidth,
    oversubscription,
    plan,
    three_tier_hosts,
    three_tier_switches,
    torus_bisection_bandwidth,
    tree_bisection_bandwidth,
    tree_cables,
    tree_core_switches,
    tree_leaf_switches,
    tree_optics_power,
    tree_spine_switches,
    tree_switches,
    tree_tiers,
    two_tier_hosts,
    two_tier_switches,
    up_ports,
)
from hwlib.units import GB, TB


def test_a_dgx_h100_is_limited_by_its_links_and_not_by_its_switches():
    """scaling-book: min(4 * 64 * 25 GB/s, 8 * 450 GB/s) = min(6.4, 3.6) TB/s."""
    spec, link = nodes["dgx-h100"], accelerators["h100-sxm"].scaleup_link_bandwidth
    assert node_switch_bandwidth(8, 18, 4, 64, link) == 3.6 * TB == spec.fabric_bandwidth
    assert node_switch_bandwidth(1000, 18, 4, 64, link) == 6.4 * TB
    assert node_switch_bandwidth(spec.chips, spec.links_per_chip, spec.switches, spec.switch_ports, link) == 3.6 * TB


@pytest.mark.parametrize("n", [2, 3, 8, 72])
def test_the_bisection_of_a_crossbar_is_that_of_its_graph(n):
    assert crossbar_bisection_bandwidth(n, 450 * GB) == bisection_bandwidth(crossbar(n, 450 * GB))


def test_the_bisection_of_a_node_counts_one_direction():
    """scaling-book prints 3.6 TB/s, which is both."""
    assert 2 * crossbar_bisection_bandwidth(8, 450 * GB) == 3.6 * TB
    assert crossbar_bisection_bandwidth(8, 450 * GB) == bisection_bandwidth(node("dgx-h100"))


def test_the_printed_example_of_48_ports():
    """Al-Fares et al.: switches of 48 ports make 27,648 hosts."""
    assert three_tier_hosts(48) == 27_648
    assert three_tier_switches(48) == 48 * 48 + 24 * 24


@pytest.mark.parametrize("ports", [4, 8, 16])
def test_the_largest_trees_can_be_built_and_no_larger_ones(ports):
    words = {"gpus_per_node": 1, "nics": 1, "ports": ports, "nodes_per_group": ports // 2, "rails": 1}
    two, three = plan(words, nodes=int(two_tier_hosts(ports))), plan(words, nodes=int(three_tier_hosts(ports)))
    for tree, tiers, switches in ((two, 2, two_tier_switches), (three, 3, three_tier_switches)):
        assert tree.check().buildable
        assert tree.check().non_blocking
        assert len(tree.switches) == tiers
        assert sum(tree.switches.values()) == switches(ports)
        built = fat_tree(tree)
        assert bisection_bandwidth(built) == crossbar_bisection_bandwidth(len(built.ranks), 50 * GB)
    assert len(plan(words, nodes=two.nodes + ports // 2).switches) == 3
    assert not plan(words, nodes=three.nodes + ports * ports // 4).check().buildable


def test_sixty_four_ports_make_2048_cards_in_two_tiers():
    assert two_tier_hosts(64) == 2048
    assert set(plan(nodes=256).switches) == {"leaf", "spine"}
    assert set(plan(nodes=512).switches) == {"leaf", "spine", "core"}


@pytest.mark.parametrize("ratio", [1, 3])
def test_oversubscription_divides_the_bisection(ratio):
    tree = plan(nodes=12, nodes_per_group=6, gpus_per_node=1, nics=1, rails=1, ports=16, leaf_uplinks=6 // ratio)
    assert oversubscription(tree.down["leaf"], tree.up["leaf"]) == ratio
    whole = crossbar_bisection_bandwidth(12, 50 * GB)
    assert bisection_bandwidth(fat_tree(tree)) == pytest.approx(whole / ratio)


@pytest.mark.parametrize(("nodes", "tiers"), [(128, 2), (256, 2), (512, 3), (1024, 3)])
def test_counts_of_a_tree_are_those_of_its_plan(nodes, tiers):
    """nvidia-superpod-h100 prints 32 + 16, 64 + 32 and 128 + 128 + 64 switches."""
    tree, hosts = plan(nodes=nodes), 8 * nodes
    counts = [f(hosts, 64, 1) for f in (tree_leaf_switches, tree_spine_switches, tree_core_switches)]
    assert counts == [tree.switches.get(tier, 0) for tier in ("leaf", "spine", "core")]
    assert tree_tiers(hosts, 64, 1) == tiers
    assert tree_switches(hosts, 64, tiers) == sum(counts)
    assert tree_cables(hosts, tiers) == sum(tree.cables.values())
    assert tree_bisection_bandwidth(hosts, 50 * GB, 1) == hosts / 2 * 50 * GB


def test_a_tier_is_added_when_the_top_one_has_no_port_left():
    for ports in (4, 40, 64, 144):
        ends = [ports, two_tier_hosts(ports), three_tier_hosts(ports)]
        assert [tree_tiers(end, ports, 1) for end in ends] == [1, 2, 3]
        assert [tree_tiers(end + 1, ports, 1) for end in ends] == [2, 3, 4]


@pytest.mark.parametrize(("omega", "down", "up"), [(1, 32, 32), (2, 42, 21), (3, 48, 16), (7, 56, 8)])
def test_ports_are_split_in_the_ratio(omega, down, up):
    assert (down_ports(64, omega), up_ports(64, omega)) == (down, up)
    tree = plan(nodes=7 * down, gpus_per_node=1, nics=1, rails=1, nodes_per_group=down, oversubscription=omega)
    assert tree_leaf_switches(7 * down, 64, omega) == tree.leaves
    assert tree_bisection_bandwidth(8 * down, 50 * GB, omega) == 4 * down * 50 * GB / omega


@pytest.mark.parametrize("key", ["tpu-v4-pod"])
def test_the_bisection_of_a_cube_is_that_of_the_pod(key):
    pod = clusters[key]
    assert torus_bisection_bandwidth(pod.torus[0], 45 * GB) == bisection_bandwidth(cluster(key)) == 23.04 * TB


def test_the_bill_counts_every_port_that_is_lit():
    """nvidia-mms4x00: 17 W for two ports of a switch, 9 W for one of a card."""
    assert tree_optics_power(1, 1) == 17 / 2 + 9
    assert tree_optics_power(1024, 2) == 1024 * 17.5 + 1024 * 17
    assert network_cost(48, 4096, 2048, 100, 10, 1) == 4800 + 40960 + 2048


def test_capacities_are_the_edges_ranks_first():
    t = node("dgx-h100")
    whole, inner = t.capacities(), t.capacities("gpu", "nvswitch")
    assert (len(whole), len(inner)) == (17, 9)
    assert inner[:8] == [[0.0] * 8 + [450e9]] * 8
    assert inner[8] == [450e9] * 8 + [0.0]
    assert [row[:8] for row in whole[:8]] == [row[:8] for row in inner[:8]]
    assert sum(map(sum, whole)) == sum(edge["bandwidth"] for _, _, edge in t.graph.edges(data=True))
