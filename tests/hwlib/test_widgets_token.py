"""The live figures of a layer, computed by their own scripts, against the Python formulas."""

import json

import pytest

from hwlib import widgets
from hwlib.specs import models
from hwlib.transformer import (
    attention_forward_flops,
    attention_params,
    kv_bytes_per_token,
    layer_params,
    mla_folded_flops,
    mla_unfolded_flops,
    mlp_params,
)
from hwlib.widgets.live import module_source
from hwlib.widgets.token import SHAPES, TOKEN_FORMULAS
from tests.hwlib.test_widgets import node, state_of
from tests.hwlib.test_widgets_collectives import evaluated


def explorer(body, given):
    print_it = f"\nprocess.stdout.write(JSON.stringify({body}));"
    return node(module_source("token_explorer", TOKEN_FORMULAS) + print_it, given)


@pytest.mark.parametrize("key", SHAPES)
def test_a_dense_layer_is_the_formulas(key):
    one = models[key]
    (now,) = explorer("given.map(compute)", [state_of(widgets.token_explorer(key, T=4096, G=8, B=1))])
    matrices = layer_params(one.width, one.ffn, one.heads, one.heads // 8, one.head_dim)
    assert now["flops"] == 2 * matrices + attention_forward_flops(1, 4096, one.heads, one.head_dim)
    assert now["bytes"] == 2 * matrices + 4096 * kv_bytes_per_token(one.replace(kv_heads=one.heads // 8)) / one.layers
    projections = [o["flops"] for o in now["operations"] if o["look"] == "matrices"]
    assert sum(projections) == 2 * attention_params(one.width, one.heads, one.heads // 8, one.head_dim)


def test_experts_move_bytes_and_no_flops():
    dense, few, many = explorer(
        "given.map(compute)", [state_of(widgets.token_explorer(E=E, B=64)) for E in (1, 16, 256)]
    )
    router = 2 * models["llama3-8b"].width
    assert (few["flops"] - 16 * router, many["flops"] - 256 * router) == (dense["flops"], dense["flops"])
    assert dense["parameters"] == mlp_params(4096, 14336)
    assert many["parameters"] == 32 * dense["parameters"]
    assert many["bytes"] > few["bytes"] > dense["bytes"]
    assert many["awake"] == pytest.approx(256 * (1 - (1 - 8 / 256) ** 64))


def test_attention_overtakes_where_it_says():
    state = state_of(widgets.token_explorer("llama3-405b"))
    (now,) = explorer("given.map(compute)", [state])
    (there,) = explorer("given.map(compute)", [state | {"T": round(now["flops_equal"])}])
    flops = {one["look"]: one["flops"] for one in there["operations"]}
    assert flops["attention"] == pytest.approx(flops["mlp"], rel=1e-4)
    (said,) = explorer("given.map((state) => tell(compute(state), state))", [state | {"E": 64}])
    assert "A token visits 8 of 64 experts" in said[-1]


def test_the_state_is_json_and_another_model_is_refused():
    state = json.loads(json.dumps(state_of(widgets.token_explorer())))
    assert set(state["shapes"]) == set(SHAPES)
    with pytest.raises(KeyError, match=r"'gpt5' .*known: llama3-8b"):
        widgets.token_explorer("gpt5")
    with pytest.raises(Exception, match="unknown model 'gpt5'"):
        widgets.token_explorer().model = "gpt5"


def test_the_two_ways_of_latent_attention_are_the_formulas():
    spec = widgets.latent_explorer(1024).spec
    rows, title = evaluated(spec, spec["transform"])
    assert title == ["1,024 tokens of context"]
    ways = {"unfolded": mla_unfolded_flops, "folded": mla_folded_flops}
    for row in rows[::5]:
        T = row["queries"]
        assert row["flops"] == pytest.approx(ways[row["way"]](T, 1024, 128, 512, 128, 64, 128) / T, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: widgets.latent_explorer(1000), "256 to 131072 tokens, got 1000"),
        (lambda: widgets.latent_explorer(model="llama3-8b"), "latent attention, got Llama 3.1 8B"),
    ],
)
def test_what_there_is_not_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()
