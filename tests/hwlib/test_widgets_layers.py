"""The live figures of a shared layer, computed by their own scripts, against the formulas that they draw."""

import json
from itertools import pairwise

import pytest

from hwlib import widgets
from hwlib.parallel import split_time, tp_exact_limit
from hwlib.specs import accelerators
from hwlib.widgets.layers import LAYER_FORMULAS
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import VEGA, node, state_of


def explored(body, *given):
    source = module_source("layer_explorer", LAYER_FORMULAS)
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", [state_of(one) for one in given])


CASES = [("h100", "llama3-70b", tokens, tp) for tokens in (1, 8192, 2**20) for tp in (2, 8, 16)] + [
    ("a100", "llama3-8b", 64, 4),
    ("gb200", "llama3-405b", 4096, 64),
    ("b200", "llama3-8b", 2048, 1),
]


@pytest.mark.parametrize("how", ["wait", "halves", "pieces"])
def test_bars_never_overlap_in_a_row_and_all_work_is_done(how):
    found = explored("given.map(compute)", *(widgets.layer_explorer(*case, how=how) for case in CASES))
    for (_, _, _, tp), now in zip(CASES, found, strict=True):
        for kind, whole in (("math", now["math"]), ("network", now["wire"])):
            bars = sorted((bar for bar in now["bars"] if bar["kind"] == kind), key=lambda bar: bar["from"])
            for one, after in pairwise(bars):
                assert after["from"] >= one["to"] - 1e-12
            done = sum(bar["to"] - bar["from"] for bar in bars)
            if tp == 1 or how == "wait":
                assert done == pytest.approx(whole)
            else:
                assert done >= whole * (1 - 1e-9)
        assert now["exposed"] == pytest.approx(now["total"] - now["math"])


def test_waiting_is_the_sum_and_pieces_follow_the_formula():
    wait, pieces = explored("given.map(compute)", *(widgets.layer_explorer(how=how) for how in ("wait", "pieces")))
    assert wait["total"] == pytest.approx(wait["math"] + wait["wire"])
    times = {bar["name"]: bar["to"] - bar["from"] for bar in wait["bars"]}
    t0 = state_of(widgets.layer_explorer())["machines"]["h100"]["t0"]
    first = split_time(times["q, k, v"] + 8 * t0, times["gather"], 8, 0)
    ends = [bar["to"] for bar in pieces["bars"] if bar["name"] == "q, k, v"]
    assert max(ends) == pytest.approx(first)
    assert pieces["total"] < wait["total"]


def test_a_few_tokens_gain_less_than_many():
    few, many = explored("given.map(compute)", *(widgets.layer_explorer(tokens=n) for n in (1, 65536)))
    assert few["speedup"] < 5 < many["speedup"] < 8


def test_the_sentences_say_what_is_exposed():
    told = explored(
        "given.map(compute).map(tell)",
        widgets.layer_explorer(tp=1),
        widgets.layer_explorer(),
        widgets.layer_explorer(how="pieces"),
        widgets.layer_explorer(tokens=1, how="pieces", pieces=32),
    )
    assert "no collectives" in told[0][0]
    assert "all of it exposed" in told[1][0]
    assert "collectives exposed" in told[2][0]
    assert "more than the" in told[3][0]


def test_state_is_json_and_what_there_is_not_is_named():
    widget = widgets.layer_explorer()
    assert json.loads(json.dumps(state_of(widget)))["tp"] == 8
    with pytest.raises(KeyError, match="no machine 'abacus'"):
        widgets.layer_explorer("abacus")
    with pytest.raises(KeyError, match="no model 'abacus'"):
        widgets.layer_explorer(model="abacus")
    with pytest.raises(ValueError, match="one of 1, 2"):
        widgets.layer_explorer(tp=3)
    with pytest.raises(Exception, match="unknown machine 'rope'"):
        widget.machine = "rope"
    for chart in (widgets.tp_limit_explorer, widgets.context_explorer):
        with pytest.raises(KeyError, match="known: "):
            chart("abacus")


def params_of(spec):
    """The script that defines a chart's parameters."""
    return VEGA + "".join(
        f"const {p['name']} = {json.dumps(p['value']) if 'value' in p else p['expr']};\n" for p in spec["params"]
    )


@pytest.mark.parametrize("machine", ["h100", "b200", "a100"])
def test_the_chart_of_the_bound_draws_where_both_times_agree(machine):
    spec = widgets.tp_limit_explorer(machine).spec
    time = spec["layer"][0]["transform"][-1]["calculate"]
    script = params_of(spec) + f"const at = (tp, wire) => {{ const datum = {{tp, wire}}; return {time}; }};\n"
    limit, math, wire = node(script + "process.stdout.write(JSON.stringify([limit, at(limit, 0), at(limit, 1)]));")
    chip = accelerators[{"h100": "h100-sxm", "b200": "b200-sxm", "a100": "a100-80gb-sxm"}[machine]]
    assert limit == pytest.approx(tp_exact_limit(28672, chip.bf16_flops, chip.scaleup_bandwidth))
    assert math == pytest.approx(wire)


def test_the_chart_of_long_sequences_draws_where_the_ring_hides():
    spec = widgets.context_explorer().spec
    steps = {one["as"]: one["calculate"] for one in spec["layer"][0]["transform"] if "calculate" in one}
    at = {name: steps[name] for name in ("ring: attention of a step", "ring: the next block")}
    script = params_of(spec) + "const datum = {T: own*cp};\n"
    math, wire = node(script + f"process.stdout.write(JSON.stringify([{', '.join(at.values())}]));")
    assert math == pytest.approx(wire)
