"""The charts of data parallelism, evaluated as vega does, against the Python library."""

import json

import pytest

from hwlib import widgets
from hwlib.footprint import replicated_state_bytes, zero1_state_bytes, zero2_state_bytes, zero3_state_bytes
from hwlib.parallel import dp_exact_critical_batch
from hwlib.specs import accelerators, models, nodes
from hwlib.transformer import full_activation_bytes, logit_bytes, parameter_count, swiglu_layer_activation_bytes
from hwlib.widgets.training import MODELS, published_points
from tests.hwlib.test_widgets_collectives import evaluated

STATES = (replicated_state_bytes, zero1_state_bytes, zero2_state_bytes, zero3_state_bytes)


@pytest.mark.parametrize("again", ["none", "full"])
@pytest.mark.parametrize("key", MODELS)
def test_the_stacks_add_up_to_states_activations_and_logits(key, again):
    spec = json.loads(json.dumps(widgets.memory_explorer(key).spec))
    chosen = {"log_dp": 6, "micro": 3, "again": again}
    for param in spec["params"]:
        param["value"] = chosen.get(param["name"], param.get("value"))
    rows, _ = evaluated(spec, spec["layer"][0]["transform"])
    m = models[key]
    layer = (
        full_activation_bytes(8192, 3, m.width)
        if again == "full"
        else swiglu_layer_activation_bytes(8192, 3, m.width, m.ffn, m.heads, m.kv_heads, m.head_dim)
    )
    for stage, states in zip(("DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3"), STATES, strict=True):
        P = parameter_count(m)
        want = (states(P) if stage == "DDP" else states(P, 64)) + m.layers * layer + logit_bytes(8192, 3, m.vocab)
        assert sum(row["held"] for row in rows if row["stage"] == stage) == pytest.approx(want, rel=1e-12)


def test_the_critical_batch_is_the_formula_on_every_level():
    spec = widgets.critical_batch_explorer().spec
    line = spec["layer"][0]
    rows, _ = evaluated({**spec, "data": line["data"]}, line["transform"])
    known = {nodes[key].name: nodes[key] for key in ("dgx-h100", "dgx-b200", "gb200-nvl72")}
    assert {row["machine"] for row in rows} == set(known)
    for row in rows[::7]:
        node = known[row["machine"]]
        C = accelerators[node.accelerator].bf16_flops
        want = dp_exact_critical_batch(min(row["n"], node.chips), C, node.scaleup_bandwidth)
        if row["n"] > node.chips:
            want = max(want, dp_exact_critical_batch(row["n"] / node.chips, C, node.egress_bandwidth))
        assert row["critical"] == pytest.approx(want, rel=1e-9)


def test_published_runs_are_points_with_bounds_of_their_own():
    points = published_points()
    assert len(points) >= 12
    slow = next(p for p in points if p["n"] == 1024 and p["tokens"] == 4096)
    assert slow["C"] / slow["W"] == pytest.approx(6240)
    assert json.loads(json.dumps(points)) == points


def test_a_model_that_there_is_not_is_named():
    with pytest.raises(KeyError, match=r"'gpt-5' .*llama3-8b"):
        widgets.memory_explorer("gpt-5")
