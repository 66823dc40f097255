"""Fat trees from a plain description: how many tiers and switches they need, and what the checker says of them."""

import re

import pytest

from hwlib.specs import clusters
from hwlib.topology import (
    TopologyError,
    bisection_bandwidth,
    cluster,
    costs,
    described,
    fat_tree,
    level_bandwidth,
    minimum_cut,
    plan,
)

COUNTED = [key for key, spec in clusters.items() if spec.leaf_switches and spec.leaf_size]


@pytest.mark.parametrize(
    ("nodes", "switches", "links"),
    [
        (32, {"leaf": 8, "spine": 4}, 8),
        (128, {"leaf": 32, "spine": 16}, 2),
        (256, {"leaf": 64, "spine": 32}, 1),
        (512, {"leaf": 128, "spine": 128, "core": 64}, 1),
    ],
)
def test_how_many_switches_of_64_ports_a_pod_without_blocking_needs(nodes, switches, links):
    found = plan(nodes=nodes)
    assert found.switches == switches
    assert found.leaf_uplinks // (found.spines // found.pods) == links
    report = found.check()
    assert (report.buildable, report.non_blocking) == (True, True)
    built = fat_tree(found)
    assert level_bandwidth(built) == found.levels
    assert bisection_bandwidth(built) == nodes * 8 / 2 * 50e9
    bought = costs(built)
    assert {tier: bought[tier] for tier in switches} == switches
    assert bought["cables"] == sum(found.cables.values())


@pytest.mark.parametrize("key", COUNTED)
def test_the_clusters_of_the_tables_are_what_the_checker_calls_sound(key):
    tree, spec = described(key), clusters[key]
    report = tree.check()
    assert (report.buildable, report.non_blocking) == (True, True), str(report)
    assert sum(tree.switches.values()) == spec.switches
    found = [tree.cables.get(pair) for pair in ("node-leaf", "leaf-spine", "spine-core")]
    assert found == [spec.node_leaf_cables, spec.leaf_spine_cables, spec.spine_core_cables]


def test_4096_gpus_do_not_fit_below_one_tier_of_spines():
    report = plan(nodes=512, spines=32).check()
    assert not report.buildable
    assert "spine: 128 cables down take 128 ports, but a switch has 64: 64 too many" in str(report)
    with pytest.raises(TopologyError, match=r"\bspine: 128 "):
        fat_tree(nodes=512, spines=32)


def test_the_same_words_as_a_dict_or_as_arguments():
    words = {"nodes": 128, "gpus_per_node": 8, "leaves": 32, "spines": 16, "links": 2, "rails": True}
    assert plan(words) == plan(**words) == plan(nodes=128)
    assert cluster(words).kinds == cluster("superpod-h100-4su").kinds


@pytest.mark.parametrize("ratio", [1, 2, 7])
def test_an_oversubscribed_top_tier_divides_the_bisection_by_its_ratio(ratio):
    found = plan(nodes=112, nodes_per_group=56, oversubscription=ratio, ports={"leaf": 112})
    report = found.check()
    assert report.non_blocking == (ratio == 1)
    assert report.buildable
    assert (f"oversubscribed {ratio}:1" in str(report)) == (ratio > 1)
    assert repr(report) == str(report), "a notebook shows the sentences"
    assert bisection_bandwidth(fat_tree(found)) == pytest.approx(56 * 400e9 / ratio)


def test_a_seven_to_one_top_tier_leaves_pods_whole():
    """Seven cables come from below for each one up, at the spines: within a pod nothing blocks."""
    built = fat_tree(nodes=448, nodes_per_group=4, rails=1, pods=2, oversubscription=7)
    named = {level.name: level for level in level_bandwidth(built)}
    assert named["spine"].bandwidth == 4 * 400e9
    below = named["spine"].size * named["spine"].bandwidth
    assert named["core"].bandwidth == pytest.approx(below / 7)
    assert bisection_bandwidth(built) == pytest.approx(224 * 400e9 / 7)
    pod = built.ranks[: 224 * 8]
    assert minimum_cut(built, pod[: 112 * 8], pod[112 * 8 :]).bandwidth == 112 * 400e9


def test_thin_uplinks_and_slow_cables_are_told_as_a_ratio():
    report = plan(nodes=64, leaf_uplinks=16, spines=16).check()
    assert "leaf: oversubscribed 2:1: 1.6 TB/s come up from below and 800 GB/s go to the spines." in str(report)
    assert plan(nodes=64, cable="200 Gbit/s").check().non_blocking is False


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ({"nodes": 128, "spines": 24}, r"\b32 .* 24 spines"),
        ({"nodes": 128, "rails": 16}, r"\b16 .* 8 NICs"),
        ({"nodes": 128, "ports": 48}, r"leaf: 32 .* 32 .* 64 ports, .* 48: 16 "),
        ({"nodes": 512, "pods": 4, "cores": 60}, r" 60 cores"),
    ],
)
def test_what_cannot_be_laid_is_said_in_words(description, says):
    report = plan(description).check()
    assert not report.buildable
    assert re.search(says, str(report))


def test_one_leaf_needs_no_spine():
    found = plan(nodes=4, rails=False)
    assert found.switches == {"leaf": 1}
    assert bisection_bandwidth(fat_tree(found)) == 2 * 400e9


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ({}, "nodes=128"),
        ({"nodes": 0}, "cluster: nodes .*0$"),
        ({"nodes": 8, "spine": 2}, "option spine; .*nodes"),
        ({"nodes": 8, "oversubscription": 0.5}, "cluster: oversubscription .*0.5$"),
        ({"nodes": 8, "oversubscription": float("nan")}, "cluster: oversubscription .*nan$"),
        ({"nodes": 128, "oversubscription": 7}, "4.571 .*leaf_uplinks"),
        ({"nodes": 100, "nodes_per_group": 32}, "cluster: 100 nodes .*32$"),
        ({"nodes": 8, "nic": "ndr2"}, "cluster: nic"),
        ({"nodes": 8, "scaleup": -1}, "cluster: scaleup .*-1$"),
        ({"nodes": 8, "ports": {"top": 64}}, "cluster: ports .*leaf, spine, core, .*top"),
        ({"nodes": 8, "latency": -1.0}, "latency .*-1.0$"),
    ],
)
def test_a_description_that_cannot_be_read_names_the_word(description, says):
    with pytest.raises(TopologyError, match=says):
        plan(description)
