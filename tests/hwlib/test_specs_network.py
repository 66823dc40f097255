"""Links, switches, nodes and clusters: every value has a source, and the values agree with one another."""

from dataclasses import FrozenInstanceError
from math import prod

import pytest

import hwlib
from hwlib.specs import Cluster, Level, accelerators, clusters, link, links, nodes, switches
from hwlib.units import GB, TB

TABLES = {"link": links, "switch": switches, "node": nodes, "cluster": clusters}
PODS = [key for key, cluster in clusters.items() if cluster.levels]
TORI = [key for key, cluster in clusters.items() if cluster.torus]
SUPERPODS = [key for key in clusters if "superpod" in key]


def test_everything_is_there():
    assert {"nvlink3", "nvlink4", "nvlink5", "nvlink-c2c", "xgmi3", "hdr", "ndr", "xdr"} < set(links)
    assert {f"pcie{g}-x16" for g in (3, 4, 5, 6)} | {f"ici-{g}" for g in ("v4", "v5e", "v5p", "v6e")} < set(links)
    assert {f"ethernet-{rate}g" for rate in (100, 200, 400, 800)} < set(links)
    assert {"nvswitch2", "nvswitch3", "nvswitch4", "quantum-2", "quantum-x800", "spectrum-4"} < set(switches)
    assert {"dgx-a100", "dgx-h100", "dgx-h200", "hgx-h800", "dgx-b200", "gb200-nvl72", "gb300-nvl72"} < set(nodes)
    assert {"mi300x-node", "tpu-v5e-host", "tpu-v5p-host"} < set(nodes)
    assert {f"superpod-h100-{n}su" for n in (1, 4, 8, 16)} | {"h100-superpod-16k"} == set(SUPERPODS)
    assert {"ethernet-oversubscribed", "nvl72-pod", "tpu-v5p-pod", "tpu-v5e-pod"} < set(clusters)


# Links and switches


@pytest.mark.parametrize("key", links)
def test_a_link_is_its_lanes(key):
    one = links[key]
    if one.lanes is not None:
        assert one.signal_rate is not None
        assert one.lanes * one.signal_rate * one.payload_fraction == pytest.approx(one.bandwidth, rel=1e-6)
    assert one.kind in link.KINDS
    assert one.measured_bandwidth is None or 0.7 < one.measured_bandwidth / one.bandwidth < 1


def test_the_line_code_is_taken_off():
    assert [links[f"pcie{g}-x16"].payload_fraction for g in (3, 4, 5)] == [128 / 130] * 3
    assert links["pcie6-x16"].payload_fraction == 242 / 256
    assert links["ndr"].payload_fraction == pytest.approx(256 / 257 * 514 / 544)
    assert links["nvlink4"].payload_fraction == 1


def test_generations_double():
    for first, second in (
        ("pcie3-x16", "pcie4-x16"),
        ("pcie4-x16", "pcie5-x16"),
        ("nvlink4", "nvlink5"),
        ("hdr", "ndr"),
        ("ndr", "xdr"),
        ("ethernet-200g", "ethernet-400g"),
    ):
        assert links[second].bandwidth == pytest.approx(2 * links[first].bandwidth)
    assert links["nvlink4"].bandwidth == links["nvlink3"].bandwidth  # half the lanes, at twice the rate
    assert links["pcie6-x16"].bandwidth < 2 * links["pcie5-x16"].bandwidth  # flits carry their correction


@pytest.mark.parametrize("key", switches)
def test_a_switch_is_its_ports(key):
    switch = switches[key]
    assert switch.ports * switch.port_bandwidth == pytest.approx(switch.bandwidth)


def test_an_infiniband_port_is_twice_an_nvlink_port():
    assert switches["quantum-2"].ports == switches["nvswitch3"].ports == 64
    assert switches["quantum-2"].bandwidth == 2 * switches["nvswitch3"].bandwidth == 3.2 * TB


def test_a_graces_memory_is_half_as_near_as_a_neighbours():
    assert links["nvlink-c2c"].bandwidth == nodes["gb200-nvl72"].scaleup_bandwidth / 2 == 450 * GB


# Nodes


@pytest.mark.parametrize("key", nodes)
def test_a_node_agrees_with_its_chip(key):
    node, chip = nodes[key], accelerators[nodes[key].accelerator]
    assert node.chip is chip
    assert node.scaleup_bandwidth == pytest.approx(chip.scaleup_bandwidth)
    assert chip.scaleup_links in (node.links_per_chip, None) if node.shape == "pcie" else (node.links_per_chip,)
    assert chip.scaleup_link_bandwidth in (links[node.link].bandwidth, None)
    if chip.nic_bandwidth:
        assert node.nic_bandwidth == pytest.approx(chip.nic_bandwidth)
    if node.shape != "torus":
        assert node.chips == chip.scaleup_domain
        assert chip.scaleup_switches in (None, node.switches)


@pytest.mark.parametrize("key", nodes)
def test_what_is_printed_of_a_node_is_the_sum_of_its_links(key):
    node = nodes[key]
    if node.fabric_bandwidth is not None:
        assert node.chips * node.scaleup_bandwidth == pytest.approx(node.fabric_bandwidth)
    if node.network_bandwidth is not None:
        assert node.egress_bandwidth == pytest.approx(node.network_bandwidth)
    assert node.nic_bandwidth * node.chips == pytest.approx(node.egress_bandwidth)


@pytest.mark.parametrize("key", nodes)
def test_the_switches_have_ports_for_every_link(key):
    node = nodes[key]
    if node.shape == "crossbar":
        assert node.switches * node.switch_ports >= node.chips * node.links_per_chip
        assert switches[node.switch].link == node.link
        assert node.switch_bandwidth >= node.chips * node.scaleup_bandwidth
    else:
        assert (node.switches, node.switch_ports, node.switch_bandwidth) == (0, 0, 0)
    if node.shape == "mesh":
        each, rest = divmod(node.links_per_chip, node.chips - 1)
        assert (each >= 1, rest) == (True, 0), "as many links to each of the others"


def test_total_bandwidth_of_an_h100_node():
    """How much a node of 8 H100s moves: its switches could carry 6.4 TB/s, its GPUs send 3.6."""
    node = nodes["dgx-h100"]
    assert node.switches * node.switch_ports * links["nvlink4"].bandwidth == 6.4 * TB
    assert min(node.switch_bandwidth, node.chips * node.scaleup_bandwidth) == 3.6 * TB


@pytest.mark.parametrize(
    ("key", "chip", "egress"),
    [("dgx-a100", 300, 200), ("dgx-h100", 450, 400), ("dgx-h200", 450, 400), ("hgx-h800", 200, 400),
     ("dgx-b200", 900, 400), ("gb200-nvl72", 900, 3600), ("gb300-nvl72", 900, 7200), ("mi300x-node", 448, 400)],
)  # fmt: skip
def test_bandwidth_into_and_out_of_a_node(key, chip, egress):
    assert nodes[key].scaleup_bandwidth == chip * GB
    assert nodes[key].egress_bandwidth == egress * GB


def test_a_tray_of_the_rack_has_four_gpus():
    rack = nodes["gb200-nvl72"]
    assert (rack.hosts, rack.chips_per_host) == (18, 4)
    assert rack.switches == rack.links_per_chip  # one link of each GPU to each switch
    assert rack.switch_ports == rack.chips


def test_the_export_card_has_fewer_links_not_slower_ones():
    assert nodes["hgx-h800"].link == nodes["dgx-h100"].link
    assert "12 (scaling-book's 300 GB/s one way: wrong)" in nodes["hgx-h800"].datum("links_per_chip").also


def test_pcie_of_a_chip():
    assert nodes["dgx-h100"].pcie_bandwidth == links["pcie5-x16"].bandwidth
    assert nodes["tpu-v5e-host"].pcie_bandwidth == 16 * GB  # printed; which PCIe it is, nobody says


# Clusters


@pytest.mark.parametrize("key", clusters)
def test_levels_or_axes_hold_all_chips(key):
    cluster = clusters[key]
    assert cluster.chips == prod(cluster.torus or [level.size for level in cluster.levels])
    assert bool(cluster.torus) != bool(cluster.levels)


@pytest.mark.parametrize("key", PODS)
def test_the_levels_start_at_the_node(key):
    node, leaf, *_ = clusters[key].levels
    assert node == Level("node", clusters[key].members.chips, clusters[key].members.scaleup_bandwidth)
    assert leaf.bandwidth == clusters[key].members.egress_bandwidth


@pytest.mark.parametrize("key", SUPERPODS)
def test_cables_carry_the_bandwidth_of_each_level(key):
    pod = clusters[key]
    cable, children = links[pod.cable].bandwidth, pod.nodes
    for level, cables in zip(
        pod.levels[1:], (pod.node_leaf_cables, pod.leaf_spine_cables, pod.spine_core_cables), strict=False
    ):
        assert cables * cable == pytest.approx(children * level.bandwidth)
        children //= level.size
    assert children == 1


@pytest.mark.parametrize("key", SUPERPODS)
def test_no_switch_has_more_cables_than_ports(key):
    pod = clusters[key]
    up = pod.spine_core_cables or 0
    assert pod.switch_ports * pod.leaf_switches == pod.node_leaf_cables + pod.leaf_spine_cables
    assert pod.switch_ports * pod.spine_switches == pod.leaf_spine_cables + up
    assert pod.switch_ports * (pod.core_switches or 0) == up
    spines_seen = pod.leaf_spine_cables // pod.leaf_switches // pod.links_per_leaf_spine
    assert pod.spine_switches % spines_seen == 0
    assert switches[pod.switch].link == pod.cable == pod.members.nic


def test_every_level_of_the_superpod():
    """Bandwidth of a unit at every level of 1,024 GPUs, and the same 400 GB/s of a node throughout."""
    pod = clusters["superpod-h100-4su"]
    assert [level.name for level in pod.levels] == ["node", "leaf", "spine"]
    assert [level.size * level.bandwidth for level in pod.levels] == [3.6 * TB, 12.8 * TB, 51.2 * TB]
    assert pod.spine_switches * switches["quantum-2"].bandwidth == 51.2 * TB
    assert pod.levels[2].bandwidth / pod.levels[1].size == pod.levels[1].bandwidth == 400 * GB
    assert pod.leaf_switches / 4 * switches["quantum-2"].bandwidth / 2 == 12.8 * TB  # half its ports face down


def test_all_gather_bandwidth_of_each_level():
    """min D W / (D - 1) over the levels: 514, 413 and 17,067 GB/s."""
    found = [d * w / (d - 1) / GB for _, d, w in clusters["superpod-h100-4su"].levels]
    assert found == pytest.approx([514.286, 412.903, 17066.667], rel=1e-5)


@pytest.mark.parametrize(
    ("key", "gpus", "total"),
    [
        ("superpod-h100-1su", 256, 128 + 8 + 4),
        ("superpod-h100-4su", 1024, 560),
        ("superpod-h100-8su", 2048, 1024 + 64 + 32),
        ("superpod-h100-16su", 4096, 2048 + 128 + 128 + 64),
        ("h100-superpod-16k", 16384, 8192 + 512 + 512 + 256),
    ],
)
def test_switches_of_a_superpod(key, gpus, total):
    assert (clusters[key].chips, clusters[key].switches) == (gpus, total)


@pytest.mark.parametrize(
    "key", ["superpod-h100-4su", "superpod-h100-8su", "superpod-h100-16su", "h100-superpod-16k", "nvl72-pod"]
)
def test_a_full_fat_tree_keeps_the_bandwidth_of_a_node(key):
    nodes_below = 1
    for level in clusters[key].levels[1:]:
        assert level.bandwidth / nodes_below == pytest.approx(clusters[key].members.egress_bandwidth)
        nodes_below *= level.size


def test_an_oversubscribed_tree_does_not():
    cluster = clusters["ethernet-oversubscribed"]
    assert cluster.chips == 24_576
    pod, core = cluster.levels[2], cluster.levels[3]
    assert pod.size * pod.bandwidth / core.bandwidth == pytest.approx(cluster.oversubscription)
    assert core.bandwidth / 3072 == pytest.approx(50 * GB / 7)
    assert cluster.switches is None  # nobody counts them
    assert cluster.switch_ports == 0


@pytest.mark.parametrize(
    ("key", "shape"),
    [("tpu-v4-pod", (16, 16, 16)), ("tpu-v5p-pod", (16, 20, 28)), ("tpu-v5e-pod", (16, 16)), ("tpu-v6e-pod", (16, 16))],
)
def test_tori(key, shape):
    pod = clusters[key]
    assert pod.torus == shape
    assert pod.chips == pod.members.chip.scaleup_domain
    assert pod.levels == ()
    assert all(pod.wrap)
    assert pod.members.links_per_chip == 2 * len(shape)


@pytest.mark.parametrize(
    ("key", "shape", "wrap"),
    [
        ("tpu-v5e-pod", (4, 4), (False, False)),
        ("tpu-v5e-pod", (8, 16), (False, True)),
        ("tpu-v5p-pod", (2, 2, 1), (False, False, False)),
        ("tpu-v5p-pod", (4, 4, 8), (True, True, True)),
        ("tpu-v5p-pod", (2, 2, 4), (False, False, False)),
        ("tpu-v5p-pod", (4, 4), (False, False)),
        ("tpu-v6e-pod", (16,), (True,)),
        ("tpu-v4-pod", (8, 12, 16), (True, True, True)),
    ],
)
def test_which_axes_of_a_slice_close(key, shape, wrap):
    assert clusters[key].wraps(shape) == wrap


@pytest.mark.parametrize("shape", [(32, 16), (16, 16, 16), (0, 4), (-4, 4), ()])
def test_a_slice_lies_within_the_pod(shape):
    with pytest.raises(ValueError, match=r"shape: .*tpu-v5e-pod .*\(16, 16\)"):
        clusters["tpu-v5e-pod"].wraps(shape)


def test_a_tree_has_no_axes():
    assert clusters["superpod-h100-4su"].torus == ()
    with pytest.raises(ValueError, match=r"superpod-h100-4su .*torus: .*node, leaf, spine"):
        clusters["superpod-h100-4su"].wraps((4, 4))


@pytest.mark.parametrize(("key", "printed"), [("tpu-v5e-pod", 50 * GB), ("tpu-v6e-pod", 100 * GB)])
def test_bisection_of_a_torus(key, printed):
    """What the vendor prints counts two rings in each of 16 rows, at a rate a tenth above the one we use."""
    pod = clusters[key]
    link_of_pod = links[pod.members.link]
    cut = 2 * pod.torus_y
    assert cut * printed == pytest.approx(pod.bisection_bandwidth)
    assert cut * link_of_pod.bandwidth == pytest.approx(0.9 * pod.bisection_bandwidth)
    assert any(text.startswith(f"{printed / GB:g} GB/s (google-tpu") for text in link_of_pod.datum("bandwidth").also)


def test_a_cluster_is_a_record_with_levels():
    assert isinstance(clusters["nvl72-pod"], Cluster)
    assert clusters["nvl72-pod"].levels == (Level("node", 72, 900 * GB), Level("leaf", 8, 3600 * GB))


# Names and records


@pytest.mark.parametrize(
    ("what", "key", "close"),
    [
        ("link", "nvlink-4", "nvlink4"),
        ("switch", "nvswitch", "nvswitch3"),
        ("node", "dgx-h10", "dgx-h100"),
        ("cluster", "superpod-h100", "superpod-h100-4su"),
    ],
)
def test_unknown_keys_get_close_ones(what, key, close):
    assert key not in TABLES[what]
    with pytest.raises(KeyError, match=rf"{what} '{key}'; .*{close}"):
        TABLES[what][key]


def test_unknown_fields_get_close_ones():
    with pytest.raises(KeyError, match=r"'link_per_chip'; .*links_per_chip"):
        nodes["dgx-h100"].datum("link_per_chip")
    with pytest.raises(KeyError, match=r"superpod-h100-4su .* core_size"):
        clusters["superpod-h100-4su"].datum("core_size")


def test_records_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        nodes["dgx-h100"].chips = 16
    with pytest.raises(TypeError):
        links["ndr"].data["bandwidth"] = None
    assert repr(links["ndr"]).startswith("<InfiniBand NDR, 4 lanes: bandwidth 50 GB/s")
    assert len(switches) == len(list(switches))
    assert repr(switches).startswith("switches(nvswitch2, ")


def test_a_notebook_shows_records_and_tables_with_units_and_sources():
    shown = nodes["dgx-h100"]._repr_markdown_().splitlines()
    assert shown[0] == "**DGX H100** (`dgx-h100`)"
    assert "| `accelerator` | h100-sxm |  |  |  |" in shown
    row = next(line for line in shown if "`fabric_bandwidth`" in line)
    assert all(word in row for word in ("3.6 TB/s", "one direction", "7.2 TB/s", "dgx-h100-guide"))
    assert "| `tdp` | 700 W |" in accelerators["h100-sxm"]._repr_markdown_()
    assert "1.98 GHz" in repr(accelerators["h100-sxm"])
    assert {line.count("|") for line in links._repr_markdown_().splitlines()} == {3}
    for rows in TABLES.values():
        for record in rows.values():
            lines = record._repr_markdown_().splitlines()[2:]
            assert {line.replace("\\|", "").count("|") for line in lines} == {6}


def test_the_tables_are_names_of_hwlib():
    assert (hwlib.links, hwlib.nodes, hwlib.clusters, hwlib.switches) == (links, nodes, clusters, switches)
