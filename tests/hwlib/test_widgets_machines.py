"""The live figure of six machines, computed by its own script, against hwlib.steptime."""

import json

import pytest

from hwlib import widgets
from hwlib.roofline import compute_time
from hwlib.steptime import PLANS, Sheet, machine_bounds, plan_demand
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of

CHANGES = (
    {},
    {
        "dgx-h100": {"domain": 72, "network_bandwidth": 1e11},
        "tpu-v5p-pod": {"domain": 48},
        "mi355x-node": {"domain": 5},
        "trn2-instance": {"domain": 64, "flops": 1e15},
    },
)


def explored(body, *given):
    source = module_source("machine_explorer", (compute_time,))
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", [state_of(one) for one in given])


def test_every_bound_is_that_of_python():
    drawn = [widgets.machine_explorer(plan, sheets=changed) for plan in PLANS for changed in CHANGES]
    for widget, now in zip(drawn, explored("given.map(compute)", *drawn), strict=True):
        demand = plan_demand(widget.plan)
        for key, sheet in widget.sheets.items():
            told = machine_bounds(Sheet(**sheet), demand)
            assert now[key]["found"] == pytest.approx(told._asdict(), rel=1e-12)
            assert now[key]["holds"] == told.holds
            assert now[key]["fits"] == (demand.needs <= sheet["hbm_bytes"])


def test_a_changed_number_is_said_with_what_held_before():
    widget = widgets.machine_explorer("moe-ep64", "dgx-h100", {"dgx-h100": {"domain": 72}})
    [lines] = explored("given.map((one) => tell(compute(one), one))", widget)
    assert "arithmetic holds" in lines[0]
    assert "does not fit" in lines[1]
    assert "domain 72 chips" in lines[2]
    assert "exchanges of experts held" in lines[2]


def test_state_is_json_and_what_there_is_not_is_named():
    widget = widgets.machine_explorer()
    assert json.loads(json.dumps(state_of(widget)))["machine"] == "dgx-h100"
    for wrong in ({"plan": "abacus"}, {"machine": "abacus"}, {"sheets": {"dgx-h100": {"colour": 3}}}):
        with pytest.raises(KeyError, match=r"known: |machines "):
            widgets.machine_explorer(**wrong)
    with pytest.raises(Exception, match="unknown machine 'rope'"):
        widget.machine = "rope"
