"""`nvidia-smi topo -m` of several machines, in the forms that drivers print: spaced, tabbed, underlined, with NICs."""

import math

import pytest

from hwlib.specs import nodes
from hwlib.topology import (
    TopologyError,
    bisection_bandwidth,
    level_bandwidth,
    node,
    parse_nvidia_smi_topo,
    read_topo,
    route,
)

LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def eight(links, near, far, numa, after=""):
    """Eight GPUs on NVLink and eight cards, card i `near` GPU i and `far` from the others of its socket."""
    names = [f"GPU{i}" for i in range(8)] + [f"NIC{i}" for i in range(8)]

    def cell(i, j):
        if i == j:
            return " X "
        if i < 8 and j < 8:
            return links
        return near if i % 8 == j % 8 and i // 8 != j // 8 else far if i % 8 // 4 == j % 8 // 4 else "SYS"

    lines = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for i, name in enumerate(names):
        end = f"\t{numa[i // 4]}\t{i // 4}\t\tN/A" if i < 8 else ""
        lines.append(name + "\t" + "\t".join(cell(i, j) for j in range(16)) + end)
    cards = "\nNIC Legend:\n\n" + "\n".join(f"  NIC{i}: mlx5_{i}" for i in range(8))
    return "\n".join(lines) + "\n" + LEGEND + cards + "\n" + after


DGX_H100 = eight("NV18", "PIX", "NODE", ("0-55,112-167", "56-111,168-223"))
DGX_A100 = eight("NV12", "PXB", "SYS", ("48-63,176-191", "112-127,240-255"))

FOUR_H100 = """
        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    NIC2    NIC3    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NV6     NV6     NV6     PIX     SYS     SYS     SYS     6,14,22,30      3               N/A
GPU1    NV6      X      NV6     NV6     SYS     PIX     SYS     SYS     4,12,20,28      1               N/A
GPU2    NV6     NV6      X      NV6     SYS     SYS     PIX     SYS     7,15,23,31      7               N/A
GPU3    NV6     NV6     NV6      X      SYS     SYS     SYS     PIX     5,13,21,29      5               N/A
NIC0    PIX     SYS     SYS     SYS      X      SYS     SYS     SYS
NIC1    SYS     PIX     SYS     SYS     SYS      X      SYS     SYS
NIC2    SYS     SYS     PIX     SYS     SYS     SYS      X      SYS
NIC3    SYS     SYS     SYS     PIX     SYS     SYS     SYS      X
"""

DGX_1 = """$ nvidia-smi topo -m
\x1b[4m        GPU0    GPU1    GPU2    GPU3    GPU4    GPU5    GPU6    GPU7    mlx5_0  mlx5_1  CPU Affinity\x1b[0m
GPU0     X      NV1     NV1     NV2     NV2     SOC     SOC     SOC     PIX     SOC     0-19,40-59
GPU1    NV1      X      NV2     NV1     SOC     NV2     SOC     SOC     PIX     SOC     0-19,40-59
GPU2    NV1     NV2      X      NV2     SOC     SOC     NV1     SOC     PHB     SOC     0-19,40-59
GPU3    NV2     NV1     NV2      X      SOC     SOC     SOC     NV1     PHB     SOC     0-19,40-59
GPU4    NV2     SOC     SOC     SOC      X      NV1     NV1     NV2     SOC     PIX     20-39,60-79
GPU5    SOC     NV2     SOC     SOC     NV1      X      NV2     NV1     SOC     PIX     20-39,60-79
GPU6    SOC     SOC     NV1     SOC     NV1     NV2      X      NV2     SOC     PHB     20-39,60-79
GPU7    SOC     SOC     SOC     NV1     NV2     NV1     NV2      X      SOC     PHB     20-39,60-79
mlx5_0  PIX     PIX     PHB     PHB     SOC     SOC     SOC     SOC      X      SOC
mlx5_1  SOC     SOC     SOC     SOC     PIX     PIX     PHB     PHB     SOC      X
"""

PCIE_BOX = """
        GPU0    GPU1    GPU2    GPU3    GPU4    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      SYS     SYS     SYS     SYS     8-15,24-31      1               N/A
GPU1    SYS      X      PHB     NODE    NODE    0-7,16-23       0               N/A
GPU2    SYS     PHB      X      NODE    NODE    0-7,16-23       0               N/A
GPU3    SYS     NODE    NODE     X      PXB     0-7,16-23       0               N/A
GPU4    SYS     NODE    NODE    PXB      X      0-7,16-23       0               N/A
"""

BRIDGED_PAIR = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n" + (
    "GPU0\t X \tNV4\t0-63\t0\t\tN/A\nGPU1\tNV4\t X \t0-63\t0\t\tN/A\n"
)

ONE_GPU = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-15\t\t\tN/A\n"

B200_ONE_OFF = """
        GPU0    GPU1    GPU2    GPU3    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NV18    NODE    NV18    0-55    0       N/A
GPU1    NV18     X      NODE    NV18    0-55    0       N/A
GPU2    NODE    NODE     X      NODE    0-55    0       N/A
GPU3    NV18    NV18    NODE     X      0-55    0       N/A
"""

MACHINES = (DGX_H100, DGX_A100, FOUR_H100, DGX_1, PCIE_BOX, BRIDGED_PAIR, ONE_GPU, B200_ONE_OFF)


@pytest.mark.parametrize(
    ("text", "link", "key"), [(DGX_H100, "nvlink4", "dgx-h100"), (DGX_A100, "nvlink3", "dgx-a100")]
)
def test_a_machine_that_is_read_has_the_fabric_of_the_node_in_the_tables(text, link, key):
    built = parse_nvidia_smi_topo(text, link)
    assert (built.kinds["gpu"], built.kinds["nic"], built.kinds["nvswitch"]) == (8, 8, 1)
    assert built.levels == node(key).levels == (("node", 8, nodes[key].scaleup_bandwidth),)
    assert level_bandwidth(built) == built.levels
    assert route(built, 0, 7) == ("GPU0", "nvswitch0", "GPU7")


def test_cards_have_their_device_names_and_gpus_their_cards():
    table = read_topo(DGX_H100)
    assert table.legend["NIC3"] == "mlx5_3"
    assert [table.nearest_nics(gpu) for gpu in table.gpus] == [(f"NIC{i}",) for i in range(8)]
    assert table.affinity["GPU4"]["CPU Affinity"] == "56-111,168-223"
    built = parse_nvidia_smi_topo(table)
    assert built.graph.nodes["NIC3"]["device"] == "mlx5_3"
    bridge = next(v for v in built.graph["NIC3"])
    assert set(built.graph[bridge]) >= {"GPU3", "NIC3"}
    assert built.graph.nodes[bridge]["kind"] == "pcie"


def test_four_gpus_with_six_links_to_each_other_need_no_switch():
    built = parse_nvidia_smi_topo(FOUR_H100, "nvlink4", pcie=1.0, sockets=1.0)
    assert built.kinds["nvswitch"] == 0
    assert math.isclose(bisection_bandwidth(built), 4 * 6 * 25e9, rel_tol=1e-9)


def test_the_cube_mesh_of_a_dgx_1_is_read_from_an_old_driver():
    table = read_topo(DGX_1)
    assert table.relation["GPU0", "GPU5"] == "SYS"
    assert all(sum(table.nvlinks(gpu, other) for other in table.gpus if other != gpu) == 6 for gpu in table.gpus)
    assert table.nics == ("mlx5_0", "mlx5_1")
    assert table.affinity["GPU7"] == {"CPU Affinity": "20-39,60-79"}
    built = parse_nvidia_smi_topo(DGX_1, nvlink=25e9, pcie=1.0, sockets=1.0)
    across = [(0, 4, 2), (1, 5, 2), (2, 6, 1), (3, 7, 1)]
    assert all(built.edge(f"GPU{a}", f"GPU{b}")["links"] == links for a, b, links in across)
    assert math.isclose(bisection_bandwidth(built), 6 * 25e9, rel_tol=1e-9)


def test_a_box_without_nvlink_goes_by_bridges_and_cpus():
    built = parse_nvidia_smi_topo(PCIE_BOX, pcie="pcie4-x16")
    kinds = [[built.graph.nodes[v]["kind"] for v in route(built, *pair)][1:-1] for pair in ((3, 4), (1, 2), (1, 3))]
    assert kinds == [["pcie"], ["cpu"], ["cpu", "cpu", "pcie"]]
    far = route(built, 0, 3)
    assert len(far) > len(route(built, 1, 3)) - 1
    assert any(vertex.startswith("sys") for vertex in far)


def test_a_bridged_pair_and_a_single_gpu():
    pair = parse_nvidia_smi_topo(BRIDGED_PAIR, "nvlink3")
    assert pair.edge("GPU0", "GPU1")["bandwidth"] == 4 * 25e9
    assert route(pair, 0, 1) == ("GPU0", "GPU1")
    one = parse_nvidia_smi_topo(ONE_GPU)
    assert (one.ranks, one.levels) == (("GPU0",), ())


def test_a_gpu_that_lost_its_nvlinks_stands_beside_the_switch():
    built = parse_nvidia_smi_topo(B200_ONE_OFF, "nvlink5")
    assert set(built.graph["nvswitch0"]) == {"GPU0", "GPU1", "GPU3"}
    assert built.levels == ()
    assert "nvswitch0" not in route(built, 0, 2)
    assert built.edge("GPU0", "nvswitch0")["bandwidth"] == 900e9


@pytest.mark.parametrize("text", MACHINES, ids=range(len(MACHINES)))
def test_every_device_of_a_machine_reaches_every_other(text):
    built = parse_nvidia_smi_topo(text)
    for src in range(len(built.ranks)):
        for dst in range(len(built.ranks)):
            assert route(built, src, dst)[-1] == built.ranks[dst]


@pytest.mark.parametrize("text", MACHINES, ids=range(len(MACHINES)))
def test_spaces_and_tabs_and_windows_lines_read_the_same(text):
    tabbed = "\n".join("\t".join(line.split("\t")) for line in text.splitlines())
    spaced = text.replace("\t", "    ").replace("\n", "\r\n")
    assert read_topo(tabbed).relation == read_topo(spaced).relation == read_topo(text).relation


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("NV6      X      NV6     NV6     SYS", "NV6      X      QQ      NV6     SYS", r"line 4: 'QQ' "),
        ("GPU1    NV6      X ", "GPU9    NV6      X ", r"line 4: .*GPU0, GPU1.*: 'GPU9"),
        ("GPU1    NV6      X ", "GPU0    NV6      X ", r"line 4: GPU0 .*row"),
        ("GPU1    NV6      X ", "GPU1    NV5      X ", r"line 3: GPU0-GPU1 is NV6, but GPU1-GPU0 is NV5"),
        ("GPU1    NV6      X ", "GPU1     X      NV6 ", r"line 4: X .*GPU1-"),
        (
            "NIC3    SYS     SYS     SYS     PIX     SYS     SYS     SYS      X",
            "NIC3    SYS",
            r"line 10: 8 cells .* 1: 'NIC3    SYS'",
        ),
        ("NIC2    SYS     SYS     PIX     SYS     SYS     SYS      X      SYS\n", "", r"line 2: .*row .*NIC2"),
        ("GPU2    GPU3    NIC0", "GPU2    GPU2    NIC0", r"line 2: GPU2 .*twice"),
        ("GPU0    GPU1    GPU2    GPU3    NIC0", "CARD0   CARD1", "'GPU0 .*' +CARD0"),
    ],
)
def test_a_malformed_matrix_is_answered_with_its_line(old, new, says):
    assert old in FOUR_H100
    with pytest.raises(TopologyError, match=says):
        read_topo(FOUR_H100.replace(old, new, 1))


@pytest.mark.parametrize("text", ["", "No devices were found", None, b"GPU0", "GPU0 X"])
def test_what_is_no_matrix_is_refused(text):
    with pytest.raises(TopologyError, match=r"nvidia-smi topo -m|'GPU0  GPU1  "):
        read_topo(text)


def test_a_matrix_is_shown_as_it_was_printed():
    table = read_topo(FOUR_H100)
    rows = [line.split() for line in repr(table).splitlines()]
    assert rows == [line.split()[:9] if i else line.split()[:8] for i, line in enumerate(FOUR_H100.split("\n")[1:10])]
