"""The numbers of the live figures of clusters, computed by their own scripts, against formulas and plans."""

import json
from statistics import fmean

import pytest

from hwlib import widgets
from hwlib.topology import (
    allreduce_left_fraction,
    allreduce_spare_switches,
    alltoall_left_fraction,
    alltoall_spare_switches,
    busiest_cable_flows,
    idle_cable_fraction,
    plan,
    spines_left_fraction,
)
from hwlib.units import GB
from hwlib.widgets.clusters import DESIGN_FORMULAS
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import VEGA, node, state_of


def designer(body, given):
    source = module_source("fat_tree_designer", DESIGN_FORMULAS)
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", given)


@pytest.mark.parametrize(("nodes", "omega"), [(128, 1), (256, 1), (512, 1), (2048, 1), (224, 7), (96, 3)])
def test_the_designer_designs_what_a_plan_plans(nodes, omega):
    leaf = {1: 32, 3: 48, 7: 56}[omega]
    tree = plan(nodes=8 * nodes, gpus_per_node=1, nics=1, rails=1, oversubscription=omega, nodes_per_group=leaf)
    now = designer("compute(given)", state_of(widgets.fat_tree_designer(8 * nodes, 64, omega)))
    assert [now["leaf"], now["spine"], now["core"]] == [tree.switches.get(t, 0) for t in ("leaf", "spine", "core")]
    cables = [now["hosts"], now["leafUp"], now["spineUp"]]
    assert [n for n in cables if n] == [*tree.cables.values()]
    assert now["bisection"] == pytest.approx(4 * nodes * 50 * GB / omega)
    assert now["each"] == pytest.approx(50 * GB / omega)


def test_the_designer_says_it_in_sentences():
    given = [state_of(widgets.fat_tree_designer(*case)) for case in ((1024, 64), (64, 64), (131072, 64), (4096, 64, 7))]
    said = designer("given.map(compute).map(tell)", given)
    assert said[0] == [
        "2 tiers: 32 leaves + 16 spines = 48 switches, 2,048 cables; 46.9 switches for 1,000 GPUs.",
        "From one half to the other: 25.6 TB/s one way, 50 GB/s for each GPU that sends.",
        "One tier of such switches ends at 64 GPUs, two at 2,048, three at 65,536.",
    ]
    assert said[1][0].startswith("1 tier: 1 switch, 64 cables")
    assert "more than three tiers" in said[2][0]
    assert "7.14 GB/s for each GPU" in said[3][1]


def test_the_state_is_json_and_a_cable_that_there_is_not_is_named():
    widget = widgets.fat_tree_designer(link="xdr")
    assert json.loads(json.dumps(state_of(widget)))["links"]["xdr"]["W"] == 100 * GB
    with pytest.raises(KeyError, match=r"cable 'rope' .*; .*ndr"):
        widgets.fat_tree_designer(link="rope")
    with pytest.raises(Exception, match=r"cable 'rope'; .*ndr"):
        widget.link = "rope"


@pytest.mark.parametrize(("spines", "groups", "nodes", "omega"), [(16, 4, 32, 1), (32, 8, 4, 3), (5, 3, 2, 7)])
def test_the_chart_of_failures_draws_the_formulas(spines, groups, nodes, omega):
    spec = widgets.failures_explorer(spines, groups, nodes, omega).spec
    script = VEGA + "".join(f"const {p['name']} = {p['value']};\n" for p in spec["params"])
    steps = "".join(
        f"rows.forEach((datum) => {{ datum[{json.dumps(t['as'])}] = {t['calculate']}; }});\n"
        for t in spec["transform"]
        if "calculate" in t and t["as"] != "dead"
    )
    title = spec["title"]["text"]["expr"]
    script += f"const rows = sequence(0, switches + 1, 1).map((dead) => ({{dead}}));\n{steps}"
    script += f"process.stdout.write(JSON.stringify([rows, {title}]));"
    rows, told = node(script)
    assert len(rows) == spines + 1
    for row in rows:
        dead = row["dead"]
        assert row["bisection"] == pytest.approx(spines_left_fraction(spines, dead) / omega)
        assert row["all-to-all"] == pytest.approx(alltoall_left_fraction(groups, spines, dead, omega))
        assert row["all-reduce"] == pytest.approx(allreduce_left_fraction(groups, nodes, spines, dead, omega))
    spare = alltoall_spare_switches(groups, spines, omega), allreduce_spare_switches(groups, nodes, spines, omega)
    for free, name, line in zip(spare, ("all-to-all", "all-reduce"), told, strict=True):
        assert line == f"{name}: {free} of {spines} spines may fail unnoticed"
        assert all((row[name] >= 1 - 1e-12) == (row["dead"] <= free) for row in rows if free or rows[0][name] == 1)


def hashed(body, given):
    source = module_source("flow_explorer", (idle_cable_fraction,))
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", given)


@pytest.mark.parametrize(("cards", "cables", "each"), [(32, 32, 1), (32, 32, 4), (16, 32, 1)])
def test_flows_are_hashed_as_the_formulas_expect(cards, cables, each):
    state = state_of(widgets.flow_explorer(cards, cables, each))
    draws = hashed("Array.from({length: 2000}, (_, draw) => compute({...given, draw}))", state)
    assert all(sum(now["load"]) == pytest.approx(cards) for now in draws)
    idle = fmean(now["idle"] for now in draws) / cables
    assert idle == pytest.approx(idle_cable_fraction(cards * each, cables), abs=0.01)
    busiest = fmean(now["busiest"] for now in draws) * each
    assert busiest == pytest.approx(busiest_cable_flows(cards * each, cables), rel=0.02)


def test_a_draw_can_be_repeated_and_sprayed_packets_share_evenly():
    once, again, other = (hashed("compute(given)", state_of(widgets.flow_explorer(draw=n))) for n in (3, 3, 4))
    assert once == again != other
    spread = hashed("compute(given)", state_of(widgets.flow_explorer(16, 32, how="spray")))
    assert spread["load"] == pytest.approx([0.5] * 32)
    assert spread["share"] == 1
    with pytest.raises(ValueError, match="'hash' or 'spray'"):
        widgets.flow_explorer(how="luck")


def test_the_chart_of_failures_draws_what_it_is_asked_for():
    spec = widgets.failures_explorer(of=("bisection", "all-to-all")).spec
    assert spec["encoding"]["color"]["scale"]["domain"] == ["bisection", "all-to-all"]
    assert "all-reduce" not in json.dumps(spec)
    assert "n_out" not in [one["name"] for one in spec["params"]]
