import pytest

from hwlib import plots
from hwlib.specs import nodes
from hwlib.topology import bisection_cut, fat_tree, minimum_cut, node, parse_nvidia_smi_topo, ring, torus

BOX = """
        GPU0    GPU1    GPU2    NIC0    CPU Affinity    NUMA Affinity
GPU0     X      PIX     SYS     PIX     0-7     0
GPU1    PIX      X      SYS     PIX     0-7     0
GPU2    SYS     SYS      X      SYS     8-15    1
NIC0    PIX     PIX     SYS      X
"""
BRIDGED = """
        GPU0    GPU1    GPU2    CPU Affinity    NUMA Affinity
GPU0     X      NV4     SYS     0-7     0
GPU1    NV4      X      SYS     0-7     0
GPU2    SYS     SYS      X      8-15    1
"""
TREE = fat_tree(nodes=8, gpus_per_node=4, nics=4, nic="ndr", nodes_per_group=4, leaves=8, ports=16, spines=4)
NETWORKS = {
    "node": node("dgx-h100"),
    "switches": node("dgx-h100", detail=True),
    "mesh": node("mi300x-node"),
    "tree": TREE,
    "ring": ring(8, "nvlink4"),
    "grid": torus((4, 4), "ici-v5e"),
    "cube": torus((3, 3, 3), "ici-v5p"),
    "box": parse_nvidia_smi_topo(BOX),
    "bridged": parse_nvidia_smi_topo(BRIDGED),
}


def markers(figure):
    """The legend's words for vertices, and the places of all vertices that are drawn."""
    labels = [text.get_text() for text in figure.legends[0].texts]
    words = [label for label in labels if not label.endswith("B/s")]
    return words, {(x, y) for line in figure.axes[0].lines for x, y in zip(*line.get_data(), strict=True)}


def segments(figure, dashed):
    return [
        path
        for drawn in figure.axes[0].collections
        for path in drawn.get_segments()
        if (drawn.get_linestyle()[0][1] is not None) == dashed
    ]


@pytest.mark.parametrize("t", NETWORKS.values(), ids=NETWORKS)
def test_every_vertex_has_a_place_of_its_own_and_every_cable_a_line(t):
    figure = plots.topology(t)
    words, places = markers(figure)
    assert len(places) == sum(int(word.split()[0]) for word in words)
    if t is not NETWORKS["bridged"]:
        assert len(places) == len(t.graph)
        assert len(segments(figure, dashed=False)) == len(list(t.cables()))
    assert figure._repr_svg_() == plots.topology(t)._repr_svg_()


def test_the_cut_is_dashed_and_the_title_says_what_crosses():
    t = NETWORKS["node"]
    figure = plots.topology(t, bisection_cut(t))
    assert figure.axes[0].get_title(loc="left") == "DGX H100: 1.8 TB/s cross the cut, one way"
    assert len(segments(figure, dashed=True)) == 4
    assert len(segments(figure, dashed=False)) == 12
    labels = [text.get_text() for text in figure.legends[0].texts]
    assert "cut: 18 x NVLink 4: 450 GB/s" in labels
    assert "8 NICs" in labels


def test_a_cut_may_be_pairs_and_leave_out_the_ends_of_a_flow():
    t = NETWORKS["ring"]
    assert len(segments(plots.topology(t, [("gpu0", "gpu1"), ("gpu4", "gpu5")]), dashed=True)) == 2
    drained = minimum_cut(t, ["gpu0"], ["gpu4"], drain={"gpu4": 1e9})
    assert drained.edges == (("gpu4", "sink"),)
    assert segments(plots.topology(t, drained), dashed=True) == []


def test_what_hangs_from_a_bridge_stands_above_it_and_cards_beside_gpus():
    figure = plots.topology(NETWORKS["box"])
    line = {tuple(one.get_data()[1]): one.get_data()[0] for one in figure.axes[0].lines}
    assert sorted({y for ys in line for y in ys}) == [-2, -1, 0]
    assert [len(ys) for ys in line if 0 in ys] == [3, 1]  # three GPUs and a card in the top row
    bridge = next(x for ys, x in line.items() if ys == (-1.0,))
    assert 0 < bridge[0] < 1


def test_the_pcie_of_gpus_with_links_of_their_own_is_left_out_unless_asked_for():
    assert markers(plots.topology(NETWORKS["bridged"]))[0] == ["3 GPUs"]
    everything = plots.topology(NETWORKS["bridged"], only=tuple(NETWORKS["bridged"].kinds))
    assert len(markers(everything)[0]) == 2
    assert markers(plots.topology(TREE, only=("leaf", "spine")))[0] == ["4 spines", "8 leaf switches"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: plots.topology("dgx-h100"), TypeError, "Topology .*hwlib.topology, .*str$"),
        (lambda: plots.topology(torus((9, 9, 9), "ici-v5p")), ValueError, "729 vertices .*1 to 600"),
        (lambda: plots.topology(NETWORKS["node"], [("gpu0", "gpu1")]), ValueError, "edge .*'gpu0' .*'gpu1'"),
        (lambda: plots.topology(NETWORKS["node"], only=["leaf"]), ValueError, "leaf; .*gpu, nic, nvswitch"),
        (lambda: plots.node_bandwidths([]), ValueError, "got none"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_bars_are_bandwidths_of_one_direction_and_a_frame_shows_both():
    figure = plots.node_bandwidths([nodes["dgx-a100"], nodes["dgx-b200"]])
    widths = [patch.get_width() / 1e9 for patch in figure.axes[0].patches]
    assert widths == pytest.approx([300, 900, 600, 1800, 31.5077, 63.0154, 25, 50], rel=1e-5)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[:4] == ["300 GB/s", "600 GB/s", "900 GB/s", "1.8 TB/s"]  # one way, both ways
