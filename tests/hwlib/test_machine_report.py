"""What `gpubook topo` says of matrices as people paste them: of nvidia-smi, rocm-smi and amd-smi."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from hwlib.topology import TopologyError, read_topo
from hwlib.topology.machine_graph import half_bandwidth, machine_graph
from hwlib.topology.machine_links import read_machine_links
from hwlib.topology.machine_report import answer, listed
from tests.hostile import damaged, reads

FILES = {path.stem: path.read_text("utf-8") for path in (Path(__file__).parent / "data/topologies").glob("*.txt")}


def remarks(text):
    return {note["kind"]: note for note in answer(text).record["remarks"]}


@pytest.mark.parametrize(
    ("name", "fine", "gpus", "nics", "kinds"),
    [
        ("nic_rows_cut", True, 8, 6, {"all-to-all", "numa", "nic", "nic-far", "nic-apart", "cut"}),
        ("prefixed", True, 2, 0, {"pcie"}),
        ("rocm_topo", True, 4, 0, {"all-to-all"}),
        ("b200_gpu2_lost", False, 8, 8, {"lost-links", "partial", "numa", "sockets", "nic"}),
        ("v100_cube", True, 8, 0, {"partial", "mesh", "numa", "sockets"}),
        ("gb200_tray", True, 4, 6, {"all-to-all", "numa", "no-near-nic"}),
    ],
)
def test_matrices_of_the_field_have_their_answer(name, fine, gpus, nics, kinds):
    found = answer(FILES[name])
    assert (found.fine, len(found.record["gpus"]), len(found.record["nics"])) == (fine, gpus, nics)
    assert remarks(FILES[name]).keys() == kinds
    json.dumps(found.record, allow_nan=False)


def test_the_gpu_that_lost_its_links_is_named():
    lost = remarks(FILES["b200_gpu2_lost"])["lost-links"]
    assert lost["devices"] == ("GPU2",)
    assert "GPU2 has no NVLinks, the other seven have 18" in lost["sentence"]
    assert [gpu["links"] for gpu in answer(FILES["b200_gpu2_lost"]).record["gpus"]] == [18, 18, 0, *[18] * 5]


def test_affinities_are_those_of_the_matrix():
    tray = answer(FILES["gb200_tray"]).record["gpus"]
    assert [gpu["numa"] for gpu in tray] == ["0,3-9,11-17"] * 2 + ["1,19-25,27-33"] * 2
    near = answer(FILES["nic_rows_cut"]).record["gpus"]
    assert [gpu["nearest_nics"] for gpu in near if gpu["nearest_by"] == "PIX"] == [
        ["NIC0"],
        ["NIC1"],
        ["NIC2"],
        ["NIC3"],
    ]
    assert remarks(FILES["nic_rows_cut"])["nic-far"]["devices"] == ("GPU1", "GPU3", "GPU6", "GPU7")
    assert remarks(FILES["nic_rows_cut"])["nic-apart"]["devices"] == ("NIC4", "NIC5")


def test_halves_of_a_cube_exchange_over_links_and_sockets():
    cube = machine_graph(read_machine_links(FILES["v100_cube"]), 25e9)
    assert half_bandwidth(cube) == pytest.approx(213e9, rel=2e-3)
    assert answer(FILES["v100_cube"], "25 GB/s").record["half"] == half_bandwidth(cube)
    with pytest.raises(TopologyError, match="abacus"):
        answer(FILES["v100_cube"], "abacus")


def quoted(text, mark):
    return "\n".join(mark(i) + line for i, line in enumerate(text.splitlines()))


@pytest.mark.parametrize(
    "mark",
    [
        lambda i: "> ",
        lambda i: "> > ",
        lambda i: "0: ",
        lambda i: "12:",
        lambda i: "[1,0]<stdout>:",
        lambda i: "[pod/nccl-0/test] ",
        lambda i: f"2026-06-04T12:00:{i:02}.123Z ",
        lambda i: f"Jun  4 12:00:{i:02} node-a: ",
        lambda i: "worker-1  | ",
        lambda i: "\x1b[32m",
        lambda i: "    ",
    ],
)
@pytest.mark.parametrize("name", ["b200_gpu2_lost", "v100_cube", "gb200_tray", "rocm_topo", "nic_rows_cut"])
def test_marks_before_lines_change_nothing(name, mark):
    assert answer(quoted(FILES[name], mark)).record == answer(FILES[name]).record


@pytest.mark.parametrize("after", ["```", "~~~", "</details>", "root@node:~# exit", "Thanks for any idea!"])
@pytest.mark.parametrize("name", ["v100_cube", "gb200_tray", "b200_gpu2_lost"])
def test_what_follows_the_last_row_is_not_of_the_matrix(name, after):
    lines = FILES[name].splitlines()
    last = max(i for i, line in enumerate(lines) if line.split()[:1] and line.split()[0].startswith(("GPU", "NIC")))
    rows = [line for line in lines[: last + 1] if line.strip()]
    while ":" in rows[-1]:
        rows.pop()  # of the legend
    assert (
        answer("\n".join([*rows, after, "", "More of it."])).record["remarks"]
        == answer("\n".join(rows)).record["remarks"]
    )


def test_a_fence_ends_a_matrix_of_which_rows_are_missing():
    lines = FILES["v100_cube"].splitlines()
    assert len(answer("\n".join([*lines[:5], "```", "and so on"])).record["gpus"]) == 4
    with pytest.raises(TopologyError, match="row"):
        answer("\n".join([*lines[:5], "and so on", *lines[5:]]))


@pytest.mark.parametrize("first", ["v100_cube", "rocm_topo"])
@pytest.mark.parametrize("marks", [("", ""), ("0: ", "1: ")])
def test_of_the_matrices_of_two_nodes_the_first_is_read_and_the_other_is_named(first, marks):
    second = "b200_gpu2_lost" if first == "v100_cube" else first
    both = "\n\n".join(
        quoted(FILES[name], lambda i, mark=mark: mark) for name, mark in zip((first, second), marks, strict=True)
    )
    seen = answer(both).record
    alone = answer(FILES[first]).record
    assert [note for note in seen["remarks"] if note["kind"] != "others"] == alone["remarks"]
    assert seen | {"remarks": ()} == alone | {"remarks": ()}
    assert "others" in remarks(both)
    assert "others" not in remarks(FILES[first])


@pytest.mark.parametrize("name", ["v100_cube", "gb200_tray", "nic_rows_cut"])
def test_no_gpu_of_a_sound_machine_lost_links_wherever_its_text_ends(name):
    lines = FILES[name].splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["GPU0"])
    for rows in range(1, len(answer(FILES[name]).record["gpus"]) + 1):
        part = answer("\n".join(lines[: start + 1 + rows]))
        assert part.fine, part.text
        assert {gpu["links"] for gpu in part.record["gpus"]} == {answer(FILES[name]).record["gpus"][0]["links"]}


def test_a_gpu_that_lost_links_is_named_in_a_cut_text():
    lines = FILES["b200_gpu2_lost"].splitlines()
    whole = "\n".join(lines)
    assert answer("\n".join(whole.splitlines()[:5])).record["unprinted"]
    assert remarks("\n".join(whole.splitlines()[:5]))["lost-links"]["devices"] == ("GPU2",)


def test_the_head_of_a_cut_text_counts_all_gpus():
    head = answer("\n".join(FILES["v100_cube"].splitlines()[:4])).text.splitlines()[0]
    assert "3 of 8 GPUs" in head
    assert " of 8" not in answer(FILES["v100_cube"]).text.splitlines()[0]


@pytest.mark.parametrize(("rows", "gpus"), [(4, 4), (8, 8), (1, 1)])
def test_a_cut_text_is_read_as_far_as_it_goes(rows, gpus):
    lines = FILES["v100_cube"].splitlines()
    text = "\n".join([*lines[: rows + 1], lines[rows + 1][:12]])
    found = answer(text).record
    assert len(found["gpus"]) == gpus
    assert ("cut" in remarks(text)) == (gpus < 8)
    with pytest.raises(TopologyError):
        read_topo(f"{lines[0]}\n{lines[1][:12]}")


def test_a_nic_may_be_near_a_gpu_without_a_row():
    text = nvidia(pairs(4, "NV6"), 5)
    assert remarks(text)["nic-apart"]["devices"] == ("NIC4",)
    assert "nic-apart" not in remarks("\n".join(text.splitlines()[:3]))


def test_a_numa_node_that_is_not_known_is_none():
    text = "GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X NV3 0-47 N/A\nGPU1 NV3 X 0-47 N/A"
    assert [gpu["numa"] for gpu in answer(text).record["gpus"]] == [None, None]


def test_rows_of_nics_may_be_missing_at_the_end_alone():
    table = read_topo(FILES["nic_rows_cut"])
    assert table.relation["NIC0", "GPU0"] == "PIX"
    assert table.relation["NIC0", "NIC1"] == "SYS"
    whole = read_topo(FILES["b200_gpu2_lost"])
    text = "\n".join(line for line in FILES["b200_gpu2_lost"].splitlines() if not line.startswith("NIC"))
    guessed = read_topo(text)
    assert guessed.relation == whole.relation
    assert guessed.unprinted == whole.nics
    middle = "\n".join(line for line in FILES["b200_gpu2_lost"].splitlines() if not line.startswith("NIC3"))
    with pytest.raises(TopologyError, match="NIC3"):
        read_topo(middle)


def test_a_matrix_of_amd_is_named_where_nvidias_is_read():
    with pytest.raises(TopologyError, match="rocm-smi"):
        read_topo(FILES["rocm_topo"])


def amd(kinds, hops=None, titles=("LINK TYPE TABLE:", "HOPS TABLE:")):
    names = [f"0000:{i:02x}:00.0" for i in range(len(kinds))]
    lines = ["ACCESS TABLE:", " " * 13 + " ".join(names), *(f"{name} {' ENABLED' * len(names)}" for name in names)]
    for title, cells in zip(titles, (kinds, hops), strict=True):
        if cells:
            lines += [title, " " * 13 + " ".join(names)]
            lines += [f"{name} {'  '.join(map(str, row))}" for name, row in zip(names, cells, strict=True)]
    return "\n".join([*lines, "NUMA BW TABLE:", "  ".join(names), "Legend:", "  SELF = Current GPU"])


def mesh(n, apart=()):
    def cell(i, j):
        return "SELF" if i == j else "PCIE" if i in apart or j in apart else "XGMI"

    return [[cell(i, j) for j in range(n)] for i in range(n)]


def test_amd_smi_is_read():
    found = answer(amd(mesh(8), [[int(i != j) for j in range(8)] for i in range(8)])).record
    assert (found["tool"], found["fine"], len(found["between"])) == ("amd-smi topology", True, 28)
    last = {"name": "GPU7", "also": "0000:07:00.0", "links": 7, "numa": None, "nearest_nics": [], "nearest_by": ""}
    assert found["gpus"][7] == last
    assert "all-to-all" in remarks(amd(mesh(8)))


def test_files_of_amd_smi_and_rocm_smi_say_what_their_tables_say():
    kinds = mesh(4, apart=[3])
    gpus = [
        {
            "gpu": i,
            "bdf": f"0000:{i:02x}:00.0",
            "links": [{"link_type": kind, "num_hops": int(i != j)} for j, kind in row],
        }
        for i, row in enumerate(map(list, map(enumerate, kinds)))
    ]
    hops = [[int(i != j) for j in range(4)] for i in range(4)]
    printed = answer(amd(kinds, hops)).record
    assert answer(json.dumps(gpus)).record == answer(json.dumps({"topology": gpus}, indent=2)).record == printed
    system = {f"(Topology) Link type between DRM devices {i} and {j}": kinds[i][j] for i in range(4) for j in range(i)}
    cards = {f"card{i}": {"(Topology) Numa Node": str(i // 2)} for i in range(4)}
    found = answer(json.dumps({"system": system} | cards)).record
    assert [gpu["links"] for gpu in found["gpus"]] == [gpu["links"] for gpu in printed["gpus"]]
    assert [gpu["numa"] for gpu in found["gpus"]] == ["0", "0", "1", "1"]


@pytest.mark.parametrize("text", ['[{"link_type": 1', '{"link_type": {}}', '[{"gpu": 0, "bdf": "x", "link_type": ""}]'])
def test_a_file_without_links_is_one_sentence(text):
    with pytest.raises(TopologyError, match=r"JSON|link types"):
        answer(text)


def test_a_gpu_without_xgmi_is_named():
    lost = remarks(amd(mesh(8, apart=[3])))["lost-links"]
    assert lost["devices"] == ("GPU3",)
    assert "the other seven have 6" in lost["sentence"]
    two = [["SELF", "PCIE"], ["PCIE", "SELF"]]
    assert remarks(amd(two, [[0, 2], [2, 0]])).keys() == {"pcie", "hops"}


def test_rocm_smi_tells_numa_nodes_and_islands():
    names = [f"GPU{i}" for i in range(4)]
    island = [["0" if i == j else "XGMI" if i // 2 == j // 2 else "PCIE" for j in range(4)] for i in range(4)]
    rows = [f"{name}   {'   '.join(row)}" for name, row in zip(names, island, strict=True)]
    nodes = [f"GPU[{i}]\t\t: (Topology) Numa Node: {i // 2}" for i in range(4)]
    text = "\n".join(["=== Link Type between two GPUs ===", "  ".join(names), *rows, "=== Numa Nodes ===", *nodes])
    kinds = remarks(text)
    assert kinds.keys() == {"partial", "islands", "numa"}
    assert [gpu["numa"] for gpu in answer(text).record["gpus"]] == ["0", "0", "1", "1"]
    assert answer(text.replace("GPU[", "GPU ").replace("]\t", " \t")).record == answer(text).record


def nvidia(cells, nics=0, near="PIX"):
    n = len(cells)
    names = [f"GPU{i}" for i in range(n)] + [f"NIC{i}" for i in range(nics)]
    ends = [[near if j == i else "SYS" for j in range(nics)] for i in range(n)]
    rows = [f"GPU{i} {' '.join([*cells[i], *ends[i]])} 0-7 {i * 2 // n}" for i in range(n)]
    return "\n".join([" ".join([*names, "CPU Affinity NUMA Affinity"]), *rows])


def pairs(n, code, lost=None):
    def cell(i, j):
        return "X" if i == j else lost[1] if lost and lost[0] in (i, j) else code

    return [[cell(i, j) for j in range(n)] for i in range(n)]


@pytest.mark.parametrize(
    ("cells", "fine", "kind"),
    [
        (pairs(8, "NV18"), True, "all-to-all"),
        (pairs(8, "NV18", (5, "NV16")), False, "lost-links"),
        (pairs(8, "NV18", (5, "SYS")), False, "lost-links"),
        (pairs(2, "NV4"), True, "all-to-all"),
        (pairs(2, "SYS"), True, "pcie"),
        (pairs(1, "X"), True, "one-gpu"),
        (
            [row.split() for row in ("X NV4 SYS SYS", "NV4 X SYS SYS", "SYS SYS X NV4", "SYS SYS NV4 X")],
            True,
            "islands",
        ),
    ],
)
def test_what_is_special_is_said(cells, fine, kind):
    text = nvidia(cells)
    assert answer(text).fine == fine
    assert kind in remarks(text)


def test_two_gpus_that_lost_different_numbers_have_a_sentence_each():
    cells = pairs(8, "NV18", (5, "NV16"))
    cells = [["X" if i == j else "NV12" if 6 in (i, j) else cells[i][j] for j in range(8)] for i in range(8)]
    lost = [note for note in answer(nvidia(cells)).record["remarks"] if note["kind"] == "lost-links"]
    assert [note["devices"] for note in lost] == [("GPU6",), ("GPU5",)]


def test_cards_near_and_far():
    assert remarks(nvidia(pairs(4, "NV6"), 4))["nic"]
    assert "nic-far" not in remarks(nvidia(pairs(4, "NV6"), 4))
    assert remarks(nvidia(pairs(4, "NV6"), 2))["nic-far"]["devices"] == ("GPU2", "GPU3")
    assert "no-near-nic" in remarks(nvidia(pairs(4, "NV6"), 2, "SYS"))
    shared = "GPU0 GPU1 NIC0\nGPU0 X NV4 PXB\nGPU1 NV4 X PXB"
    assert remarks(shared)["nic-shared"]["devices"] == ("NIC0",)


def test_names_in_a_sentence_end():
    assert listed([]) == "none"
    assert listed([f"GPU{i}" for i in range(72)]).endswith("GPU10 and 61 more")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "LINK TYPE TABLE:",
        "=== Link Type between two GPUs ===\nGPU0 GPU1",
        amd([["SELF", "WIRE"]] * 2),
        None,
    ],
)
def test_a_text_without_a_matrix_is_refused(text):
    with pytest.raises(TopologyError):
        answer(text)


SOUND = [*FILES.values(), amd(mesh(4)), quoted(FILES["b200_gpu2_lost"], lambda i: "0: ")]


@settings(max_examples=30, deadline=None)
@given(damaged(SOUND))
def test_any_text_ends_in_an_answer_or_a_sentence(text):
    reads(lambda matrix: answer(matrix).text, text)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(damaged(SOUND))
def test_any_of_ten_thousand_texts_ends_in_an_answer_or_a_sentence(text):
    reads(lambda matrix: json.dumps(answer(matrix).record, allow_nan=False), text)


@pytest.mark.parametrize(
    "line", ["-" * 100_000, "GPU0 " * 20_000, "> " * 50_000, "GPU0 GPU1\n" * 10_000, ":" * 100_000]
)
def test_any_line_is_read_in_linear_time(line):
    reads(lambda matrix: answer(matrix).text, f"{line}\n{FILES['v100_cube']}")
    reads(lambda matrix: answer(matrix).text, f"{FILES['v100_cube']}\n{line}")


@pytest.mark.parametrize(("nics", "read"), [(254, True), (255, False)])
def test_a_machine_has_so_many_devices_at_most(nics, read):
    text = nvidia(pairs(2, "NV4"), nics)
    if read:
        assert len(answer(text).record["nics"]) == nics
    else:
        with pytest.raises(TopologyError, match="256"):
            answer(text)
