"""A table that breaks its own rules is refused, with a message that names the file, the key and the field."""

import pytest

from hwlib.specs import SpecError, accelerators, cluster, clusters, levels_of, link, models, node, nodes, stacks, table
from hwlib.specs.link import Link

CELL = 'unit = "1", printed = "1", source = "x", confidence = "seen"'


@pytest.mark.parametrize(
    ("content", "message"),
    [("[x]\nlanes = 4", "broken.toml, x.lanes: "),
     ("[x\n", "broken.toml: "),
     ("x = 4", "broken.toml, x: expected a table"),
     (f'[x]\nname = "X"\nkind = "pcie"\nlane = {{ value = 4, {CELL} }}', "x: no field 'lane'; there is lanes"),
     (f"[x]\nlanes = {{ value = -1, {CELL} }}", "x.lanes: expected a finite value of at least 0, got -1"),
     (f"[x]\nlanes = {{ value = nan, {CELL} }}", "x.lanes: expected a finite value of at least 0, got nan"),
     (f"[x]\nlanes = {{ value = true, {CELL} }}", "x.lanes: expected a finite value of at least 0, got True"),
     (f'[x]\nlanes = {{ value = "4", {CELL} }}', "x.lanes: expected a finite value of at least 0, got '4'"),
     (f"[x]\nbandwidth = {{ value = 4, {CELL} }}", "x.bandwidth: expected the unit 'B/s', got '1'"),
     ("[x]\nlanes = { value = 4, unit = '1' }", "x.lanes: .*missing"),
     (f"[x]\nlanes = {{ value = 4, {CELL}, colour = 1 }}", "x.lanes: .*colour"),
     (f'[x]\nname = "X"\nlanes = {{ value = 4, {CELL} }}', "x.kind: expected a text, got ''"),
     ('[x]\nname = "X"\nkind = "pcie"', "x: bandwidth missing")],
)  # fmt: skip
def test_a_broken_table_is_refused(content, message):
    with pytest.raises(SpecError, match=message):
        list(table.read(Link, "broken.toml", content))


def edited(monkeypatch, module, file, old, new):
    """The table `file` with one change, for `module` to read."""
    content = table.file_text(file)
    assert old in content
    monkeypatch.setattr(module, "file_text", lambda _: content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [('accelerator = "h100-sxm"', 'accelerator = "h100"', "dgx-h100.accelerator: no accelerator 'h100'; there is"),
     ('nic = "ndr"', 'nic = "nbr"', "dgx-h100.nic: no nic 'nbr'; there is ndr"),
     ('shape = "crossbar"', 'shape = "ring"', "dgx-a100.shape: expected one of crossbar, mesh, torus, got 'ring'"),
     ('switch = "nvswitch2"', "", "dgx-a100.switches: 6 of the switch ''")],
)  # fmt: skip
def test_a_node_names_what_there_is(monkeypatch, old, new, message):
    edited(monkeypatch, node, "nodes.toml", old, new)
    with pytest.raises(SpecError, match=f"nodes.toml, {message}"):
        list(node._read("nodes.toml"))


def test_a_cluster_holds_as_many_nodes_as_its_levels(monkeypatch):
    edited(monkeypatch, cluster, "clusters.toml", "nodes = { value = 32,", "nodes = { value = 31,")
    with pytest.raises(SpecError, match=r"superpod-h100-1su\.nodes: 248 chips, but its levels or axes hold 256"):
        list(cluster._read("clusters.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [('kind = "nvlink"', 'kind = "cable"', "nvlink2.kind: expected one of nvlink, .*got 'cable'"),
     ("value = 25e9", "value = 0", "nvlink2.bandwidth: a link has a bandwidth above 0")],
)  # fmt: skip
def test_a_link_has_a_kind_and_a_bandwidth(monkeypatch, old, new, message):
    edited(monkeypatch, link, "links.toml", old, new)
    with pytest.raises(SpecError, match=f"links.toml, {message}"):
        list(link._links("links.toml"))


@pytest.mark.parametrize(
    ("name", "key"),
    [("Llama 3 8B", "llama3-8b"), ("llama-3.1-70b", "llama3-70b"), ("DEEPSEEK V3", "deepseek-v3"),
     ("megatron 1.7B", "megatron-1.7b"), ("gpt3_175b", "gpt3-175b")],
)  # fmt: skip
def test_a_row_is_found_by_what_people_write(name, key):
    assert models.of(name) is models[key]


@pytest.mark.parametrize("name", ["llama 38b", "megatron 17b", "llama", "", "-"])
def test_another_number_or_half_a_name_is_no_row(name):
    assert models.find(name) is None
    with pytest.raises(KeyError, match="no model"):
        models.of(name)


def test_a_name_of_two_rows_is_none(monkeypatch):
    doubled = models["llama3-8b"].replace(name="Llama 3.1 70B")
    monkeypatch.setitem(models._rows, "llama3-8b", doubled)
    assert models.find("llama 3.1 70b") is None
    assert models.find("llama3-8b") is doubled


@pytest.mark.parametrize("rows", [models, clusters, nodes, stacks, accelerators], ids=lambda rows: rows._what)
def test_every_row_is_found_by_its_key_and_its_name(rows):
    for key, row in rows.items():
        assert rows.find(key.upper().replace("-", " ")) is row
        assert rows.find(row.name) is row


def test_a_wrong_name_in_capitals_has_close_ones_too():
    with pytest.raises(KeyError, match="no node 'DGX H10'; there is dgx-h100"):
        nodes.of("DGX H10")
    assert levels_of("DGX H100") == levels_of("dgx-h100")
