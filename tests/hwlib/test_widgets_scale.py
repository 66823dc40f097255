"""The charts of collectives over nodes, evaluated as vega does, against the Python formulas."""

import json

import pytest

from hwlib import widgets
from hwlib.collectives import nodes_alltoall_time, outer_axis_allgather_time
from hwlib.specs import nodes
from tests.hwlib.test_widgets_collectives import evaluated


@pytest.mark.parametrize("key", ["dgx-h100", "gb200-nvl72"])
def test_the_chart_of_axes_is_the_formula(key):
    spec = widgets.axis_explorer(key).spec
    node = nodes[key]
    rows, _ = evaluated(spec, spec["layer"][0]["transform"])
    assert {row["n_out"] for row in rows} == {1, 2, 4, 32, 128}
    for row in rows[::9]:
        machine = node.chips, row["n_out"], node.scaleup_bandwidth, node.network_bandwidth / node.chips
        assert row["rate"] == pytest.approx(1 / outer_axis_allgather_time(1, row["Y"], *machine), rel=1e-9)


@pytest.mark.parametrize("key", ["dgx-h100", "dgx-b200"])
def test_the_chart_of_nodes_is_the_formulas(key):
    spec = widgets.alltoall_scale_explorer(key).spec
    node = nodes[key]
    machine = node.scaleup_bandwidth, node.network_bandwidth / node.chips
    rows, _ = evaluated(spec, spec["transform"])
    assert len(rows) == 2 * 81
    for row in rows[::7]:
        n_out, n = row["n_out"], node.chips * row["n_out"]
        if row["what"] == "all-gather: S/t":
            want = 1 / outer_axis_allgather_time(1, 1, node.chips, n_out, *machine)
        else:
            want = 1 / (n * nodes_alltoall_time(1, node.chips, n_out, *machine))
        assert row["rate"] == pytest.approx(want, rel=1e-9)


def test_both_are_json_and_say_which_nodes_they_have():
    for chart in (widgets.axis_explorer, widgets.alltoall_scale_explorer):
        assert json.loads(json.dumps(chart().spec)) == chart().spec
        with pytest.raises(KeyError, match=r"'dgx-1' .*dgx-h100"):
            chart("dgx-1")


@pytest.mark.parametrize("key", ["dgx-h100", "dgx-b200", "gb200-nvl72"])
@pytest.mark.parametrize("omega", [1, 2, 8])
def test_the_title_says_that_the_all_gather_slows_down_only_where_it_does(key, omega):
    spec = widgets.alltoall_scale_explorer(key).spec
    said = spec["title"]["text"]["expr"]
    node = nodes[key]
    machine = node.scaleup_bandwidth, node.network_bandwidth / node.chips / omega
    one, two = (outer_axis_allgather_time(1, 1, node.chips, n_out, *machine) for n_out in (1, 2))
    test, _, _ = said.partition(" ? ")
    letters = {"egress": node.network_bandwidth, "omega": omega, "W_in": machine[0], "n_in": node.chips}
    assert eval(test, letters) == (two <= one * (1 + 1e-12))
