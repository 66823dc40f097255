"""The charts of collectives, computed as vega does under node, against the Python formulas."""

import json

import pytest

from hwlib import widgets
from hwlib.collectives import destination_fraction, ring_tree_crossover_bytes
from hwlib.units import GB, us
from hwlib.widgets.collectives import ALLREDUCES
from tests.hwlib.test_widgets import node

VEGA = """
const {ceil, floor, sqrt, pow, min, max, log, round} = Math, LN2 = Math.LN2;
const sequence = (a, b, d) => Array.from({length: Math.ceil((b - a)/d)}, (_, i) => a + i*d);
const replace = (text, a, b) => text.replace(a, b);
const format = (x, how) => how === ",d" ? Math.round(x).toLocaleString("en") : how === ".1%"
  ? (100*x).toFixed(1) + "%" : x.toPrecision(3);
"""


def evaluated(spec, transform):
    """The rows that a transform makes, and the lines of the title."""
    params = [(p["name"], p.get("expr", json.dumps(p.get("value")))) for p in spec["params"]]
    script = VEGA + "".join(f"const {name} = {value};\n" for name, value in params)
    steps = ["let rows = given.map((row) => ({...row}));"]
    for step in transform:
        if "calculate" in step:
            steps.append(f"rows.forEach((datum) => {{ datum.{step['as']} = {step['calculate']}; }});")
        elif "flatten" in step:
            (name,) = step["flatten"]
            steps.append(f"rows = rows.flatMap((row) => row.{name}.map((v) => ({{...row, {name}: v}})));")
        else:
            steps.append(f"rows = rows.filter((datum) => {step['filter']});")
    title = spec["title"]["text"]["expr"]
    print_it = f"process.stdout.write(JSON.stringify({{rows, title: {title}}}));"
    found = node(script + "\n".join(steps) + print_it, spec["data"]["values"])
    return found["rows"], found["title"]


@pytest.mark.parametrize(("n", "alpha", "W"), [(8, 6e-6, 450e9), (2, 1e-6, 50e9), (1024, 20e-6, 50e9)])
def test_the_allreduces_of_the_chart_are_the_formulas(n, alpha, W):
    spec = widgets.allreduce_explorer(n, alpha, W).spec
    rows, title = evaluated(spec, spec["layer"][0]["transform"])
    assert len(rows) == len(ALLREDUCES) * 105
    for row in rows:
        assert row["time"] == pytest.approx(ALLREDUCES[row["algorithm"]](n, row["size"], alpha, W), rel=1e-12)
    assert title[0].startswith(f"n = {n:,}, α = {alpha / us:g} us, W = {W / GB:g} GB/s")
    spec["data"]["values"] = [{}]
    rule, _ = evaluated(spec, spec["layer"][1]["transform"])
    crossover = ring_tree_crossover_bytes(n, alpha, W)
    assert [row["size"] for row in rule] == pytest.approx([crossover] if crossover > 64 else [])
    assert ("never slower" in title[1]) == (not rule)


@pytest.mark.parametrize("k", [1, 8, 16])
def test_the_destinations_of_the_chart_are_the_formulas(k):
    spec = widgets.destinations_explorer(k).spec
    above, below = spec["vconcat"]
    rows, title = evaluated(spec, above["transform"])
    for row in rows:
        exact, copies = destination_fraction(row["ranks"], k), min(k / row["ranks"], 1)
        assert row["share"] == pytest.approx(exact if row["counting"] == "exact" else copies, rel=1e-12)
    spec["data"] = below["data"]
    for row in evaluated(spec, below["transform"])[0]:
        excess = min(k / row["ranks"], 1) / destination_fraction(row["ranks"], k) - 1
        assert row["excess"] == pytest.approx(excess, rel=1e-9, abs=1e-12)
    assert f"exact {100 * destination_fraction(8, k):.1f}%" in title[0]


def test_what_the_charts_cannot_show_is_refused():
    for n in (1, 6, 2048):
        with pytest.raises(ValueError, match=r"\bn .*power"):
            widgets.allreduce_explorer(n)
    with pytest.raises(ValueError, match=r"\bk .*1 to 16"):
        widgets.destinations_explorer(0)


def test_the_charts_ask_nobody_for_anything():
    for chart in (widgets.allreduce_explorer(), widgets.destinations_explorer()):
        assert "http" not in json.dumps(chart.spec)
        assert chart.spec["description"]


def test_a_curve_that_no_slider_moves_stays_where_it_is():
    """The end of the ring's curve does not move with n: so the axis must not either."""
    curves = next(layer for layer in widgets.allreduce_explorer().spec["layer"] if layer["mark"]["type"] == "line")
    assert curves["encoding"]["y"]["scale"] == {"type": "log", "domain": [5e-7, 1]}
    assert curves["mark"]["clip"]


def test_the_ring_moves_one_block_of_each_rank_in_each_step():
    held, _, moving = widgets.ring_player(5).spec["layer"]
    cells, sent = held["data"]["values"], moving["data"]["values"]
    assert len(cells) == 9 * 5 * 5
    assert {(one["step"], one["rank"]) for one in sent} == {(k, rank) for k in range(8) for rank in range(5)}
    assert {one["shares"] for one in cells if one["step"] == 8} == {5}
    assert [one["shares"] for one in sent if one["rank"] == 0] == [1, 2, 3, 4, 5, 5, 5, 5]
    for n in (2, 7):
        with pytest.raises(ValueError, match="3 to 6"):
            widgets.ring_player(n)
    with pytest.raises(ValueError, match="one was expected"):
        widgets.ring_player(4, "doubling_allreduce")
