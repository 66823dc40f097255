"""Networks as graphs: cuts that published figures and closed forms fix, routes, failures."""

import math
from collections import Counter
from itertools import pairwise

import networkx
import pytest

from hwlib.specs import clusters, nodes
from hwlib.topology import (
    LinkRate,
    TopologyError,
    bisection_bandwidth,
    bisection_cut,
    cluster,
    costs,
    crossbar,
    dragonfly,
    egress_bandwidth,
    fat_tree,
    hypercube,
    level_bandwidth,
    minimum_cut,
    node,
    nvl72,
    per_gpu_bandwidth,
    remains,
    ring,
    route,
    router,
    torus,
    tree,
    without,
)

TB = 1e12
CROSSBARS = [key for key, spec in nodes.items() if spec.shape == "crossbar"]
TREES = [key for key, spec in clusters.items() if not spec.torus and spec.chips < 5000]


@pytest.fixture(scope="module")
def superpod():
    return cluster("superpod-h100-4su")


def test_the_switches_of_a_node_could_pass_on_more_than_the_gpus_send():
    spec = nodes["dgx-h100"]
    assert spec.switches * spec.switch_ports * 25e9 == 6.4 * TB
    assert 2 * bisection_bandwidth(node("dgx-h100")) == 3.6 * TB == 8 * 450e9


UNEVEN = {"hgx-a800"}  # no source says to which of six switches the eight links of a chip lead


@pytest.mark.parametrize("detail", [False, True])
@pytest.mark.parametrize("key", CROSSBARS)
def test_a_node_bisects_at_half_its_gpus_links_whichever_gpus_are_the_half(key, detail):
    spec, built = nodes[key], node(key, detail)
    half = spec.chips // 2 * spec.scaleup_bandwidth
    halves = bisection_bandwidth(built), bisection_bandwidth(built, half=range(0, spec.chips, 2))
    if detail and key in UNEVEN:
        assert max(halves) <= half
    else:
        assert halves == (half, half)
    if spec.nics:
        assert egress_bandwidth(built) == spec.egress_bandwidth
    assert level_bandwidth(built) == built.levels == (("node", spec.chips, spec.scaleup_bandwidth),)


def test_one_direction_of_an_h100_node_is_half_of_what_counts_both():
    assert bisection_bandwidth(node("dgx-h100")) == 1.8 * TB


def test_eighteen_links_over_four_switches_are_five_four_four_five():
    built = node("dgx-h100", detail=True)
    for gpu in built.ranks:
        assert sorted(built.edge(gpu, f"nvswitch{s}")["links"] for s in range(4)) == [4, 4, 5, 5]
    for s in range(4):
        used = sum(built.edge(f"nvswitch{s}", gpu)["links"] for gpu in built.ranks)
        assert used == 36 <= nodes["dgx-h100"].switch_ports


def test_gpus_that_are_joined_each_to_each_bisect_at_the_links_that_cross():
    built, spec = node("mi300x-node"), nodes["mi300x-node"]
    assert bisection_bandwidth(built) == 4 * 4 * spec.scaleup_bandwidth / 7
    assert route(built, 0, 5) == ("gpu0", "gpu5")


def test_a_rack_of_72_sends_as_much_out_as_its_72_cards():
    rack = nvl72()
    assert egress_bandwidth(rack) == 3.6 * TB
    assert bisection_bandwidth(rack) == 36 * 900e9
    assert costs(nvl72(detail=True))["nvswitch"] == 18
    assert "nvswitch" not in costs(fat_tree(nodes=8)), "nobody said how many"


@pytest.mark.parametrize("key", TREES)
def test_every_cluster_of_the_tables_carries_at_each_level_what_its_row_says(key):
    assert level_bandwidth(cluster(key)) == clusters[key].levels


def test_the_1024_gpu_pod_gives_each_node_400_gb_a_second_at_every_level(superpod):
    assert level_bandwidth(superpod) == (("node", 8, 450e9), ("leaf", 32, 400e9), ("spine", 4, 12.8 * TB))
    assert sum(level.size * level.bandwidth for level in superpod.levels[2:]) == 51.2 * TB
    shares = per_gpu_bandwidth(superpod)
    assert 8 * shares["leaf"] == 8 * shares["spine"] == 400e9
    assert shares["node"] == 450e9
    assert bisection_bandwidth(superpod) == 51.2 * TB / 2
    bought = costs(superpod)
    assert [bought[kind] for kind in ("nvswitch", "leaf", "spine", "switches")] == [512, 32, 16, 560]


def test_the_gather_bandwidth_of_the_pod_is_decided_by_its_leaves(superpod):
    found = {name: size * width / (size - 1) for name, size, width in level_bandwidth(superpod)}
    assert {name: round(width / 1e9) for name, width in found.items()} == {"node": 514, "leaf": 413, "spine": 17067}
    assert min(found, key=found.__getitem__) == "leaf"


@pytest.mark.parametrize("count", [2, 8, 9])
def test_half_of_a_crossbar_sends_to_the_other_half(count):
    assert bisection_bandwidth(crossbar(count, 450e9)) == count // 2 * 450e9


def test_a_message_over_a_crossbar_takes_the_latency_once():
    path = route(crossbar(4, 1e9, 2e-6), 1, 3)
    built = crossbar(4, 1e9, 2e-6)
    assert math.isclose(sum(built.edge(u, v)["latency"] for u, v in pairwise(path)), 2e-6)


@pytest.mark.parametrize(
    ("shape", "wrap", "cables"),
    [
        ((8,), True, 2), ((8,), False, 1), ((2,), True, 1), ((16, 16), True, 32), ((16, 16), False, 16),
        ((8, 4), True, 8), ((4, 8), True, 8), ((8, 4), False, 4), ((8, 8), (True, False), 8), ((4, 4, 4), True, 32),
        ((4, 4, 8), False, 16), ((2, 2, 2), True, 4),
    ],
)  # fmt: skip
def test_a_torus_is_narrowest_across_its_longest_axis(shape, wrap, cables):
    assert bisection_bandwidth(torus(shape, 45e9, wrap)) == cables * 45e9


@pytest.mark.parametrize("key", ["tpu-v5e-pod", "tpu-v5p-pod"])
def test_a_tpu_pod_bisects_at_two_faces_of_its_shortest_axes(key):
    spec = clusters[key]
    pod, longest = cluster(key), max(spec.torus)
    assert len(pod.ranks) == spec.chips
    link = spec.members.scaleup_bandwidth / spec.members.links_per_chip
    assert bisection_bandwidth(pod) == 2 * spec.chips / longest * link
    assert bisection_bandwidth(torus(spec.torus, link, wrap=False)) == spec.chips / longest * link


@pytest.mark.parametrize("d", [1, 2, 3, 6, 8])
def test_half_of_a_hypercube_has_a_cable_each_to_the_other(d):
    cube = hypercube(d, 1e9)
    assert bisection_bandwidth(cube) == 2 ** (d - 1) * 1e9
    for src, dst in ((0, 2**d - 1), (0, 1), (2 ** (d - 1), 1)):
        assert len(route(cube, src, dst)) - 1 == (src ^ dst).bit_count()


def test_dragonflies_have_the_sizes_of_the_paper():
    built = dragonfly(2, 4, 2, 1e9)
    assert (built.kinds["gpu"], built.kinds["switch"]) == (72, 36)
    for switch in built.vertices("switch"):
        assert built.graph.out_degree(switch) == 2 + 3 + 2
    groups = {(u.split(".")[0], v.split(".")[0]) for u, v, _ in built.cables() if "r" in u and "r" in v}
    assert len({frozenset(pair) for pair in groups if pair[0] != pair[1]}) == 9 * 8 // 2
    longest = max(len(route(built, 0, rank)) - 1 for rank in range(72))
    assert longest == 5, "in, a local, a global and a local hop, out"


def test_a_dragonfly_of_fewer_groups_shares_its_cables_evenly():
    built = dragonfly(2, 4, 2, 1e9, groups=5)
    crossing = Counter()
    for u, v, edge in built.cables():
        if "r" in u and "r" in v and u[:2] != v[:2]:
            crossing[frozenset((u[:2], v[:2]))] += edge["links"]
    assert len(crossing) == 5 * 4 // 2
    assert set(crossing.values()) == {4 * 2 // (5 - 1)}
    even = dragonfly(1, 3, 1, 1e9)
    assert bisection_bandwidth(even) == 2 * 2 * 1e9, "four groups: two by two cables cross"


def test_the_cut_is_networkxs_where_bandwidths_have_no_common_measure():
    whole = fat_tree(nodes=8, nodes_per_group=2, gpus_per_node=4, scaleup=450e9, nic=63e9 / 1.0154)
    built = without(whole, node="leaf3")
    half = list(built.ranks[: len(built.ranks) // 2])
    graph = networkx.DiGraph()
    for u, v, edge in built.graph.edges(data=True):
        graph.add_edge(u, v, capacity=edge["bandwidth"])
    for rank in half:
        graph.add_edge("source", rank)
    for rank in set(built.ranks) - set(half):
        graph.add_edge(rank, "sink")
    expected = networkx.maximum_flow_value(graph, "source", "sink")
    assert math.isclose(minimum_cut(built, half, set(built.ranks) - set(half)).bandwidth, expected, rel_tol=1e-6)


def test_the_narrow_tier_is_named():
    built = fat_tree(nodes=112, nodes_per_group=56, oversubscription=7)
    assert set(bisection_cut(built).kinds(built)) == {"leaf-spine"}


@pytest.mark.parametrize(
    ("key", "nodes_away"),
    [("superpod-h100-4su", 1), ("superpod-h100-4su", 45), ("superpod-h100-8su", 64)]
    + [pytest.param("superpod-h100-16su", away, marks=pytest.mark.slow) for away in (5, 141, 339)],
)
def test_a_shift_of_all_ranks_meets_no_conflict_where_nothing_blocks(key, nodes_away):
    built = cluster(key)
    load = Counter()
    for src in range(len(built.ranks)):
        path = route(built, src, (src + 8 * nodes_away) % len(built.ranks))
        load.update(pairwise(path))
    assert all(count <= built.edge(*ends)["links"] for ends, count in load.items())


def test_routes_keep_to_the_node_and_to_the_rail(superpod):
    assert route(superpod, 0, 7) == ("n0.gpu0", "n0.nvswitch", "n0.gpu7")
    assert route(superpod, 3, 8 + 3) == ("n0.gpu3", "n0.nic3", "leaf3", "n1.nic3", "n1.gpu3")
    far = route(superpod, 3, 1023)
    assert [superpod.graph.nodes[v]["kind"] for v in far] == ["gpu", "nic", "leaf", "spine", "leaf", "nic", "gpu"]
    assert route(superpod, 5, 5) == ("n0.gpu5",)
    assert route(superpod, "n0.gpu0", 1023) == route(cluster("superpod-h100-4su"), 0, 1023)


@pytest.mark.parametrize("dead", [(), ("leaf3", "leaf5"), ("n0.nvswitch", "n1.nic3", "n2.nic3")])
def test_a_route_is_a_shortest_path_without_accelerators_between(dead):
    built = cluster("superpod-h100-1su")
    built = without(built, node=dead) if dead else built
    kinds = built.graph.nodes(data="kind")
    relays = {v for v, kind in kinds if kind != "gpu"}
    for src, dst in [(i, 31 * i % 256) for i in range(1, 256, 6)]:
        ends = {built.ranks[src], built.ranks[dst]}
        only = built.graph.subgraph(relays | ends)
        if networkx.has_path(only, built.ranks[src], built.ranks[dst]):
            hops = networkx.shortest_path_length(only, built.ranks[src], built.ranks[dst])
            assert len(route(built, src, dst)) == hops + 1
        else:
            assert any(kinds[v] == "gpu" for v in route(built, src, dst)[1:-1])


def test_routes_are_the_same_where_none_is_kept_and_all_of_a_thousand_ranks_are(superpod, monkeypatch):
    assert len(superpod.ranks) * len(superpod.graph) <= router.KEPT
    pairs = [(i, 7 * i % 1024) for i in range(0, 1024, 31)]
    known = [route(superpod, *pair) for pair in pairs]
    monkeypatch.setattr(router, "KEPT", 0)
    fresh = cluster("superpod-h100-4su")
    assert [route(fresh, *pair) for pair in pairs] == known


def test_a_torus_is_crossed_axis_by_axis_the_short_way_round():
    grid = torus((4, 8), 1e9)
    cells = [grid.graph.nodes[v]["cell"] for v in route(grid, 0, 8 * 3 + 6)]
    assert cells == [(0, 0), (3, 0), (3, 7), (3, 6)]


def test_one_dead_spine_takes_its_sixteenth(superpod):
    after = without(superpod, node="spine3")
    left = remains(superpod, after)
    assert (left.ranks, left.lost, left.islands, left.connected) == (1024, 0, (1024,), True)
    assert left.share == 15 / 16
    assert left.levels[1:] == (("leaf", 32, 400e9), ("spine", 4, 12 * TB))
    assert "spine3" not in route(after, 0, 1023)
    assert after.levels == ()


def test_one_dead_cable_of_two_halves_the_pair_and_little_else(superpod):
    after = without(superpod, link=("leaf0", "spine0"))
    assert after.edge("leaf0", "spine0")["bandwidth"] == after.edge("spine0", "leaf0")["bandwidth"] == 50e9
    assert bisection_bandwidth(after) == 25.6 * TB - 50e9
    assert not without(superpod, link=("spine0", "leaf0"), cables=2).graph.has_edge("leaf0", "spine0")


def test_a_gpu_whose_nic_is_dead_goes_by_a_neighbours(superpod):
    after = without(superpod, node="n0.nic2")
    kinds = [after.graph.nodes[v]["kind"] for v in route(after, 2, 1023)]
    assert kinds[:4] == ["gpu", "nvswitch", "gpu", "nic"]
    measured = {level.name: level for level in level_bandwidth(after)}
    assert measured["leaf"].bandwidth == 350e9
    assert measured["node"].bandwidth == 450e9


@pytest.mark.parametrize("at", [0, 77, 127])
def test_the_one_node_that_is_unlike_the_others_is_found_wherever_it_is(superpod, at):
    cut = without(superpod, node=f"n{at}.nic3", link=("n5.gpu0", "n5.nvswitch"))
    assert [level.bandwidth for level in level_bandwidth(cut)] == [0, 350e9, 12.75 * TB]


def test_a_dead_gpu_is_no_rank_and_the_others_move_up(superpod):
    after = without(superpod, node=["n0.gpu1", "n5.gpu7"])
    assert (len(after.ranks), after.ranks[1]) == (1022, "n0.gpu2")
    left = remains(superpod, after)
    assert (left.ranks, left.lost) == (1022, 2)


def test_a_network_may_fall_in_two():
    pair = fat_tree(nodes=4, nodes_per_group=2, gpus_per_node=2, nics=1, rails=1, ports=8)
    assert pair.kinds["spine"] == 1
    after = without(pair, node="spine0")
    left = remains(pair, after)
    assert (left.connected, left.islands, left.bisection, left.share) == (False, (4, 4), 0.0, 0.0)
    with pytest.raises(TopologyError, match=r"n0\.gpu0 .*n2\.gpu0"):
        route(after, 0, 4)


def test_a_tree_told_by_its_levels_needs_no_count_of_switches():
    built = tree([("node", 4, 100e9), ("leaf", 3, 200e9), ("spine", 2, "4800 Gbit/s")])
    assert level_bandwidth(built) == built.levels == (("node", 4, 100e9), ("leaf", 3, 200e9), ("spine", 2, 600e9))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: ring(0, 1e9), r"ring: n .*0$"),
        (lambda: crossbar(2.5, 1e9), "crossbar: .*2.5$"),
        (lambda: ring(True, 1e9), "ring: n .*True$"),
        (lambda: ring(4, math.nan), "ring: bandwidth .*nan$"),
        (lambda: ring(4, -1.0), r"ring: bandwidth .*-1\.0$"),
        (lambda: ring(4, "3 apples"), "ring: bandwidth .*'apples'"),
        (lambda: ring(4, "5 s"), "ring: bandwidth .*'5 s'.* s$"),
        (lambda: ring(4, 1e9, -1e-6), "ring: .*latency .*-1e-06$"),
        (lambda: torus((), 1e9), r"torus: shape .*\(\)$"),
        (lambda: torus((4, 0), 1e9), "torus: .*axis.* 0$"),
        (lambda: torus((4, 4), 1e9, wrap=(True,)), "torus: wrap .*2 axes.*True"),
        (lambda: dragonfly(2, 4, 2, 1e9, groups=7), r"dragonfly: .*\b8 cables"),
        (lambda: node("tpu-v5p-host"), "node: .*tpu-v5p-host"),
        (lambda: node(8), r"node: .*\(dgx-a100, .* 8$"),
        (lambda: tree([]), "tree: levels "),
        (lambda: bisection_bandwidth(ring(1, 1e9)), "1 ranks"),
        (lambda: bisection_bandwidth(ring(4, 1e9), half=[0, 7]), "0 to 3, .*7$"),
        (lambda: minimum_cut(ring(4, 1e9), [0, 1], [1, 2]), "share gpu1"),
        (lambda: minimum_cut(ring(4, 1e9), [], [1, 2]), "cut .*rank"),
        (lambda: route(ring(4, 1e9), 0, 4), "0 to 3, .*4$"),
        (lambda: without(ring(4, 1e9)), "without: .*link=.*node="),
        (lambda: without(ring(4, 1e9), link=("gpu0", "gpu1"), cables=2), "without: 2 cables .*gpu0.*gpu1, .* 1$"),
        (lambda: without(ring(2, 1e9), node=["gpu0", "gpu1"]), "without: .*accelerator"),
        (lambda: egress_bandwidth(ring(4, 1e9)), "ring of 4 .*NIC"),
    ],
)
def test_bad_input_is_named_with_what_is_allowed(build, says):
    with pytest.raises(TopologyError, match=says):
        build()


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: node("dgx-x100"), "'dgx-x100'; .*dgx-h100"),
        (lambda: cluster("superpod-h100"), "'superpod-h100'; .*superpod-h100-8su"),
        (lambda: without(ring(4, 1e9), node="spine3"), "'spine3'; .*gpu0"),
        (lambda: without(ring(4, 1e9), link=("gpu0", "gpu2")), "gpu0 .*'gpu2'; .*gpu1"),
        (lambda: ring(4, 1e9).edge("gpu0", "gpu2"), "gpu0 .*'gpu2'; .*gpu1"),
        (lambda: ring(4, 1e9).edge("gpu9", "gpu2"), "'gpu9'; .*gpu1"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_those_that_are(build, named):
    with pytest.raises(KeyError, match=named):
        build()


def test_of_thousands_of_names_an_error_gives_a_few():
    fabric = fat_tree(nodes=64)
    for ask in (lambda: without(fabric, node="spine99"), lambda: fabric.edge("leaf0", "spine99")):
        with pytest.raises(KeyError, match=r"spine") as error:
            ask()
        assert len(str(error.value)) < 200
    with pytest.raises(KeyError, match=r" 7\b.*n0.gpu0, n0.nvswitch, n0.nic0, leaf0, spine0"):
        without(fabric, node=7)


def test_a_finished_network_cannot_be_changed():
    with pytest.raises(networkx.NetworkXError):
        ring(4, 1e9).graph.remove_edge("gpu0", "gpu1")


def test_rates_are_numbers_texts_or_keys_of_links():
    for given in (50e9, "400 Gbit/s", "ndr", LinkRate(50e9)):
        assert ring(3, given).edge("gpu0", "gpu1")["bandwidth"] == 50e9
    assert ring(3, "ndr").edge("gpu0", "gpu1")["link"] == "ndr"
