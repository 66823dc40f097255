"""The live figures of a node, computed by their own scripts, against the Python formulas."""

import json

import pytest

from hwlib import widgets
from hwlib.network import HEADERS, payload_fraction, wire_bytes
from hwlib.specs import nodes
from hwlib.units import GB, TB
from hwlib.widgets.live import module_source
from hwlib.widgets.node import NODE_FORMULAS, PACKETS
from tests.hwlib.test_widgets import node, state_of
from tests.hwlib.test_widgets_collectives import evaluated


def explorer(body, given):
    print_it = f"\nprocess.stdout.write(JSON.stringify({body}));"
    return node(module_source("node_explorer", NODE_FORMULAS) + print_it, given)


def test_the_smaller_of_links_and_ports_is_the_nodes():
    keys = ["dgx-a100", "dgx-h100", "dgx-b200", "gb200-nvl72"]
    found = explorer("given.map(compute)", [state_of(widgets.node_explorer(key)) for key in keys])
    assert [now["total"] for now in found] == [nodes[key].fabric_bandwidth for key in keys]
    h100 = found[1]
    assert (h100["byLinks"], h100["byPorts"]) == (3.6 * TB, 6.4 * TB)
    assert (h100["one"], h100["bisection"], h100["links"], h100["ends"]) == (450 * GB, 1.8 * TB, 144, 256)


def test_with_too_few_switches_the_ports_decide():
    state = state_of(widgets.node_explorer()) | {"switches": 2}
    (now,), (said,) = explorer("[given.map(compute), given.map(compute).map(tell)]", [state])
    assert now["total"] == now["byPorts"] == 3.2 * TB
    assert now["one"] == 400 * GB
    assert said[0] == "144 links of 25 GB/s meet 128 ports: 16 links find no port: the switches decide."
    assert "A GPU has 400 GB/s out and as much in, printed as 800 GB/s." in said[2]


def test_the_state_is_json_and_every_node_with_switches_can_be_chosen():
    widget = widgets.node_explorer("hgx-h800")
    state = json.loads(json.dumps(state_of(widget)))
    assert set(state["rows"]) == {key for key, one in nodes.items() if one.switches}
    assert (state["n"], state["paths"], state["switches"]) == (8, 8, 4)
    with pytest.raises(Exception, match=r"node 'dgx-1'; .*dgx-a100"):
        widget.node = "dgx-1"


@pytest.mark.parametrize("p", [128, 256, 4096])
def test_the_chart_of_packets_is_the_formulas(p):
    spec = widgets.payload_explorer(p).spec
    sizes = {name: HEADERS[key].bytes for name, key in PACKETS.items()}
    whole, _ = evaluated(spec, spec["vconcat"][0]["layer"][0]["transform"])
    for row in whole[::5]:
        assert row["share"] == pytest.approx(payload_fraction(row["size"], sizes[row["wire"]]), rel=1e-12)
    part, _ = evaluated(spec, spec["vconcat"][1]["transform"])
    assert len(part) == len(PACKETS) * 257
    for row in part[::7]:
        assert row["share"] == pytest.approx(row["size"] / wire_bytes(row["size"], p, sizes[row["wire"]]), rel=1e-12)


def test_the_headline_says_what_full_packets_carry():
    spec = widgets.payload_explorer(256).spec
    _, title = evaluated(spec, [])
    assert title == ["full packets of 256 B: NVLink 94.1%, PCIe 91.4%, InfiniBand 90.8%, RoCE v2 75.7%"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: widgets.node_explorer("mi300x-node"), KeyError, "'mi300x-node' .*switches; "),
        (lambda: widgets.payload_explorer(100), ValueError, "16 to 4096 bytes, .* 100$"),
    ],
)
def test_what_there_is_not_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()
