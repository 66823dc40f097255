"""The live figure of experts draws and counts what Python draws and counts."""

import json

import pytest

from hwlib import widgets
from hwlib.parallel import drawn_imbalance
from hwlib.parallel.expert_traffic import BF16_BYTES, FP8_BYTES, ExpertLayer, drawn_traffic, liking, routes
from hwlib.specs import accelerators, models, nodes
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of


def explorer(body, given):
    script = module_source("expert_explorer", (drawn_imbalance,))
    return node(f"{script}\nprocess.stdout.write(JSON.stringify({body}));", given)


SETTINGS = [
    {"model": "deepseek-v3", "nodes": 8, "tokens": 8, "skew": 1.0, "copies": "node", "limit": 4, "fp8": True},
    {"model": "deepseek-v3", "nodes": 2, "tokens": 16, "skew": 0.0, "copies": "expert", "limit": 8, "redundant": True},
    {"model": "gpt-oss-120b", "nodes": 4, "tokens": 16, "skew": 1.5, "copies": "rank", "limit": 2, "redundant": True},
    {"model": "qwen3-235b-a22b", "nodes": 4, "tokens": 8, "skew": 0.5, "copies": "node", "limit": 1},
]


def ours(state):
    model = models[state["model"]]
    layer = ExpertLayer(model.experts, model.experts_per_token, state["nodes"], 8, state["tokens"])
    options = {name: state[name] for name in ("skew", "copies", "redundant")}
    return model, drawn_traffic(layer, n_lim=state["limit"], seed=state["draw"], **options)


def test_the_figure_counts_what_python_counts():
    states = [state_of(widgets.expert_explorer(**setting)) | {"draw": k} for k, setting in enumerate(SETTINGS)]
    chip, box = accelerators["h100-sxm"], nodes["dgx-h100"]
    for state, now in zip(states, explorer("given.map(compute)", states), strict=True):
        model, found = ours(state)
        for name in ("far_out", "far_in", "near_out", "near_in", "loads", "touched"):
            assert now[name] == list(getattr(found, name)), name
        b, D, F = FP8_BYTES if state["fp8"] else BF16_BYTES, model.width, model.expert_ffn
        far, near = box.network_bandwidth / box.chips, box.scaleup_bandwidth
        assert now["sent"] == pytest.approx(found.sent_bytes(D, b))
        assert now["received"] == pytest.approx(found.received_bytes(D, b))
        assert now["dispatch"] == pytest.approx(found.phase_time(D, b, far, near))
        assert now["combine"] == pytest.approx(found.phase_time(D, BF16_BYTES, far, near))
        assert now["experts"] == pytest.approx(found.expert_time(D, F, chip.bf16_flops, chip.hbm_bandwidth))
        assert now["imbalance"] == pytest.approx(found.imbalance)
        assert now["crossings"] == pytest.approx(found.crossings)
        ranks = found.layer.ranks
        assert now["lot"] == pytest.approx(drawn_imbalance(ranks * state["tokens"], model.experts_per_token, ranks))


def test_the_draw_is_the_same_in_both_languages():
    layer = {"experts": 64, "k": 4, "nodes": 4, "inner": 2, "tokens": 8}
    for skew, limit, seed in ((0.0, 0, 1), (1.0, 2, 5), (2.0, 1, -1)):
        found = explorer("[liking(64, given[1]), routes(...given)]", [layer, skew, limit, seed])
        assert found[0] == pytest.approx(liking(64, skew), rel=1e-14)
        assert found[1] == routes(ExpertLayer(**layer), skew, limit, seed)


def test_a_token_is_followed_along_its_copies():
    state = state_of(widgets.expert_explorer(copies="node", limit=4, tokens=8))
    body = """given.map((state) => {
        const now = compute(state), at = columns(now.layer, 520);
        return [1, 2].map((token) => {
            const way = paths(now.layer, now.chosen, now.held, 8*9 + token, state.copies);
            return {way, said: tellToken(now, 9, 8*9 + token, state.copies), curves: curves(now.layer, way, 9, at)};
        });
    })"""
    ((one, two),) = explorer(body, [state])
    for token, found in ((1, one), (2, two)):
        far = [pair for pair in found["way"] if pair[0] // 8 != pair[1] // 8]
        assert found["said"].startswith(f"Token {token} of rank 9: 8 experts on ")
        assert f"{len(far)} cop" in found["said"]
        assert all(frm == 9 and to % 8 == 1 for frm, to in far)
        assert [curve["far"] for curve in found["curves"]] == [frm // 8 != to // 8 for frm, to in found["way"]]
        assert all(curve["handed"] == (frm != 9) for curve, (frm, _) in zip(found["curves"], found["way"], strict=True))


def test_the_sentences_name_what_decides():
    states = [
        state_of(widgets.expert_explorer(tokens=8)),
        state_of(widgets.expert_explorer(tokens=128, skew=2.0, copies="node")),
    ]
    few, many = explorer("given.map((state) => tell(compute(state)))", states)
    assert "decided by reading their weights" in few[1]
    assert "decided by arithmetic" in many[1]
    assert "times on average" in few[0]


def test_the_state_is_json_and_what_is_unknown_is_named():
    state = json.loads(json.dumps(state_of(widgets.expert_explorer())))
    assert set(state["models"]) == {"deepseek-v3", "qwen3-235b-a22b", "gpt-oss-120b"}
    assert (state["machine"]["W_out"], state["machine"]["W_in"]) == (50e9, 450e9)
    with pytest.raises(KeyError, match=r"'gpt3-175b' .* known: deepseek-v3"):
        widgets.expert_explorer("gpt3-175b")
    with pytest.raises(ValueError, match="nodes is one of 2, 4, 8, got 3"):
        widgets.expert_explorer(nodes=3)
    with pytest.raises(ValueError, match="copies is one of expert, rank, node, got 'token'"):
        widgets.expert_explorer(copies="token")
    with pytest.raises(Exception, match=r"model 'x'; .*deepseek-v3"):
        widgets.expert_explorer().model = "x"
