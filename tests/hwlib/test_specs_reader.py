"""How a row is read: a value follows from what was printed; what breaks a rule is refused by file, row and field."""

from dataclasses import dataclass

import pytest

from hwlib.specs import (
    SpecError,
    accelerators,
    cluster,
    clusters,
    levels_of,
    link,
    models,
    node,
    nodes,
    reader,
    stacks,
    table,
)
from hwlib.specs.link import Link

SEEN = 'source = "x", confidence = "seen"'
LINK = f'[x]\nname = "X"\nkind = "pcie"\nbandwidth = {{ printed = "1 GB/s", {SEEN} }}\n'


@dataclass(frozen=True, repr=False)
class Device(reader.Record):
    """A kind of row with a field of each kind that has a source."""

    power: float | None = reader.quantity("J/s", "power")
    rate: float | None = reader.quantity("FLOP/s", "rate")
    size: float | None = reader.quantity("B", "size")
    pace: float | None = reader.quantity("B/s", "bandwidth")
    share: float | None = reader.quantity("1", "share")
    parts: int | None = reader.count("parts")


def value_of(field, **cell):
    """What a row of one field gives: its value, and its unit."""
    columns = ", ".join(f"{name} = {value!r}" for name, value in cell.items())
    [row] = reader.read(Device, "f", f'[x]\nname = "X"\n{field} = {{ {columns}, {SEEN} }}\n')
    assert getattr(row, field) == row.datum(field).value
    return getattr(row, field), row.datum(field).unit


@pytest.mark.parametrize(
    ("field", "printed", "factor", "value", "unit"),
    [("power", "300 W", 1, 300.0, "J/s"), ("power", "300 J/s", 1, 300.0, "J/s"), ("power", "0.3 kW", 1, 300.0, "J/s"),
     ("rate", "66.9 TFLOPS", 1, 66.9e12, "FLOP/s"), ("rate", "1979 TFLOP/s", 0.5, 989.5e12, "FLOP/s"),
     ("size", "128 KB", 1.024, 131072.0, "B"), ("size", "128 KiB", 1, 131072.0, "B"),
     ("size", "6 MB", 1.048576, 6291456.0, "B"),
     ("pace", "2.039 TB/s", 1, 2.039e12, "B/s"), ("pace", "400 Gbit/s", 1, 50e9, "B/s"),
     ("pace", "8 GT/s", 1, 1e9, "B/s"), ("share", "7", 1, 7.0, "1"), ("share", "80 %", 1, 0.8, "1"),
     ("parts", "132", 1, 132, "1"), ("parts", "144", 0.5, 72, "1"), ("parts", "1008.0B", 1, 1_008_000_000_000, "1"),
     ("parts", "1T", 1, 10**12, "1"), ("parts", "671026419200", 1, 671_026_419_200, "1")],
)  # fmt: skip
def test_a_value_follows_from_what_was_printed(field, printed, factor, value, unit):
    """To the last bit: 2.039 * 1e12 is 2039000000000.0002 as floats go, and nobody printed that."""
    got = value_of(field, printed=printed, factor=factor)
    assert got == (value, unit)
    assert type(got[0]) is type(value)


def test_a_value_stands_beside_a_rounded_print_and_one_in_words():
    third = 100e9 / 3
    assert value_of("pace", printed="33.333333333 GB/s", value=third) == (third, "B/s")
    assert value_of("pace", printed="a third of 100 GB/s", value=third) == (third, "B/s")


@pytest.mark.parametrize(
    ("field", "cell", "message"),
    [
        ("pace", "printed = '25 GB/s', value = 25e9", "value: '25 GB/s' (?!.*25000000000)"),
        ("pace", "printed = '25 GB/s', value = 26e9", "value: '25 GB/s' .*25000000000.0, .*26000000000.0"),
        ("pace", "printed = 'fast'", "printed: .*'B/s', .*'fast'"),
        ("pace", "printed = 'fast', value = -1", "value: .* -1$"),
        ("pace", "printed = 'fast', value = nan", "value: .* got nan"),
        ("pace", "printed = 'fast', value = true", "value: .* got True"),
        ("pace", "printed = 'fast', value = '4'", "value: .* got '4'"),
        ("pace", "printed = '25 GB'", "printed: .*'B/s', .*'25 GB', .*'B'"),
        ("pace", "printed = '25 GB', value = 25e9", "printed: .*'B/s', .*'25 GB'"),
        ("pace", "printed = '25 GFLOP/s'", "printed: .*'B/s', .*'25 GFLOP/s'"),
        ("rate", "printed = '25 GT/s'", "printed: .*'FLOP/s', .*'25 GT/s'"),
        ("rate", "printed = '25 TOP/s'", "printed: .*'FLOP/s', .*'25 TOP/s'"),
        ("pace", "printed = '-25 GB/s'", ".*at least 0, .*'-25 GB/s'"),
        ("pace", "printed = 25", "printed: .* 25$"),
        ("pace", "printed = '25 GB/s', factor = 0", "factor: .* 0$"),
        ("pace", "printed = '25 GB/s', also = 'x'", "also: .*'x'"),
        ("pace", "printed = '25 GB/s', colour = 1", ".*column 'colour'; .*printed"),
        ("pace", "value = 25e9", "printed missing"),
        ("parts", "printed = '2.5'", ".*whole .*'2.5' .*1.0"),
        ("parts", "printed = '3', factor = 0.5", ".*whole .*'3' .*0.5"),
    ],
)
def test_a_cell_that_breaks_a_rule_is_refused(field, cell, message):
    with pytest.raises(SpecError, match=rf"f, x\.{field}: {message}"):
        list(reader.read(Device, "f", f'[x]\nname = "X"\n{field} = {{ {cell}, {SEEN} }}\n'))


@pytest.mark.parametrize("cell", ["4", "true", "'4'", "[4]"])
def test_a_bare_value_has_no_source(cell):
    with pytest.raises(SpecError, match=r"f, x\.parts: .*\bprinted\b"):
        list(reader.read(Device, "f", f'[x]\nname = "X"\nparts = {cell}\n'))


def test_a_confidence_that_is_not_known_is_answered_with_those_that_are():
    row = '[x]\nname = "X"\nparts = { printed = "4", source = "x", confidence = "heard" }'
    with pytest.raises(SpecError, match=r"f, x\.parts: confidence: .*\bseen, derived, .*'heard'"):
        list(reader.read(Device, "f", row))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[x\n", "broken.toml: "),
        ("x = 4", "broken.toml, x: .* 4$"),
        (f'{LINK}lane = {{ printed = "4", {SEEN} }}', "broken.toml, x: .*'lane'; .*lanes"),
        (f'{LINK}lanes = {{ printed = "4" }}', "x.lanes: source, confidence "),
        (f"[x]\nlanes = {{ printed = '4', {SEEN} }}", "x: name, kind, bandwidth "),
        (LINK.replace("pcie", ""), "x.kind: .*''$"),
        (LINK.replace('"pcie"', "4"), "x.kind: .* 4$"),
        (LINK.replace("pcie", "cable"), "x.kind: .*nvlink, .*'cable'"),
    ],
)
def test_a_broken_table_is_refused(content, message):
    with pytest.raises(SpecError, match=message):
        list(reader.read(Link, "broken.toml", content))


def edited(monkeypatch, module, file, old, new):
    """The table `file` with one change, for `module` to read."""
    content = table.file_text(file)
    assert old in content
    monkeypatch.setattr(module, "file_text", lambda _: content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('accelerator = "h100-sxm"', 'accelerator = "h100"', "dgx-h100.accelerator: .*'h100'; .*h100-sxm"),
        ('nic = "ndr"', 'nic = "nbr"', "dgx-h100.nic: .*'nbr'; .*ndr"),
        ('shape = "crossbar"', 'shape = "ring"', "dgx-a100.shape: .*crossbar, mesh, .*torus, .*'ring'"),
        ('switch = "nvswitch2"', "", "dgx-a100.switches: 6 .*''$"),
    ],
)
def test_a_node_names_what_there_is(monkeypatch, old, new, message):
    edited(monkeypatch, node, "nodes.toml", old, new)
    with pytest.raises(SpecError, match=f"nodes.toml, {message}"):
        list(node._read("nodes.toml"))


def test_a_cluster_holds_as_many_nodes_as_its_levels(monkeypatch):
    edited(monkeypatch, cluster, "clusters.toml", 'nodes = { printed = "32",', 'nodes = { printed = "31",')
    with pytest.raises(SpecError, match=r"superpod-h100-1su\.nodes: 248 .* 256$"):
        list(cluster._read("clusters.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "nvlink"', 'kind = "cable"', "nvlink2.kind: .*nvlink, .*'cable'"),
        ('printed = "25 GB/s"', 'printed = "0 GB/s"', "nvlink2.bandwidth: "),
    ],
)
def test_a_link_has_a_kind_and_a_bandwidth(monkeypatch, old, new, message):
    edited(monkeypatch, link, "links.toml", old, new)
    with pytest.raises(SpecError, match=f"links.toml, {message}"):
        list(link._links("links.toml"))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Llama 3 8B", "llama3-8b"),
        ("llama-3.1-70b", "llama3-70b"),
        ("DEEPSEEK V3", "deepseek-v3"),
        ("megatron 1.7B", "megatron-1.7b"),
        ("gpt3_175b", "gpt3-175b"),
    ],
)
def test_a_row_is_found_by_what_people_write(name, key):
    assert models.of(name) is models[key]


@pytest.mark.parametrize("name", ["llama 38b", "megatron 17b", "llama", "", "-"])
def test_another_number_or_half_a_name_is_no_row(name):
    assert models.find(name) is None
    with pytest.raises(KeyError, match=rf"\bmodel {name!r}; "):
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
    with pytest.raises(KeyError, match=r"'DGX H10'; .*dgx-h100"):
        nodes.of("DGX H10")
    assert levels_of("DGX H100") == levels_of("dgx-h100")
