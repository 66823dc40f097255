"""How sure a server's rate is: features of servers, the nearest rows, what is missing, and other software."""

import pytest

from hwlib.calibrated.serving_step import Nodes, Server
from hwlib.expected_error import WORDS
from hwlib.serving_planner import plan_serving
from hwlib.serving_planner.certainty import certainty_record, certainty_words, other_rates, point_error
from hwlib.serving_planner.situation import kin_of, server_situation, situation
from hwlib.specs import accelerators, models
from hwlib.specs.serving_stack import ServingStack, program_of, serving_stacks

H100, LLAMA, DEEPSEEK = accelerators["h100-sxm"], models["llama3-8b"], models["deepseek-v3"]
USUAL = serving_stacks["tensorrt-llm-1.1"]


def features(model=LLAMA, steady=True, apart=False, **server):
    return server_situation(Server(model, H100, **server), USUAL, 1000, 8, steady, apart).features


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({}, {"dense", "16bit", "steady"}),
        ({"tp": 8}, {"dense", "16bit", "steady", "tp"}),
        ({"pp": 2}, {"dense", "16bit", "steady", "pp"}),
        ({"dtype": "fp8", "kv_dtype": "fp8"}, {"dense", "fp8", "kv8", "steady"}),
        ({"dtype": "fp4"}, {"dense", "fp4", "steady"}),
        ({"dtype": "int4w"}, {"dense", "16bit", "narrow", "steady"}),
        ({"steady": False}, {"dense", "16bit", "static"}),
        ({"apart": True}, {"dense", "16bit", "steady", "apart"}),
        (
            {"model": DEEPSEEK, "tp": 8, "ep": 8, "attention_dp": True, "dtype": "fp8_block"},
            {"experts", "latent", "fp8", "steady", "adp", "ep"},
        ),
        (
            {"model": DEEPSEEK, "tp": 16, "ep": 16, "attention_dp": True, "nodes": Nodes(8, 50e9)},
            {"experts", "latent", "16bit", "steady", "adp", "ep", "nodes"},
        ),
    ],
)
def test_a_server_has_features(server, expected):
    assert features(**server) == expected
    assert expected <= WORDS.keys()


def test_a_server_has_amounts():
    of = server_situation(Server(LLAMA, H100, tp=4), USUAL, 3000, 64)
    assert of.amounts == (4, 3000, pytest.approx(8.03e9, rel=0.01), 64)
    assert server_situation(Server(LLAMA, H100), USUAL, 3000, 0.5).amounts[-1] == 1


def test_kin_are_other_releases():
    assert program_of("vllm-0.6") == program_of("vllm") == "vllm"
    assert {program_of(key) for key in kin_of(USUAL)} == {"tensorrt-llm"}
    assert USUAL.key not in kin_of(USUAL)
    assert kin_of(USUAL.typical("mi300x")) == ()
    assert kin_of(ServingStack.ideal()) == ()


@pytest.fixture(scope="module")
def plans():
    return plan_serving("llama3-70b", "dgx-h100", prompt=1024, output=512, tpot=0.05, gpus=2, dtype="fp8")


def test_an_answer_names_its_error_the_nearest_servers_and_what_is_missing(plans):
    q, best = plans.question, plans[0]
    error = point_error(q, best)
    assert 0 < error.size < 0.2
    words = certainty_words(q, best)
    text = plans.explain()
    assert all(line in text for line in words)
    assert error.nearest[0].key in words[1]
    record = plans.json()["error"]
    assert record == certainty_record(q, best)
    assert record["low"] < best.gpu_rate < record["high"]
    assert plans.closeness == error.mean / 2


def test_a_server_on_a_chip_without_a_fit_is_asked_of_the_rows_of_that_chip(plans):
    near = point_error(plans.question, plans[0])
    typical = plan_serving("llama3-70b", "mi300x-node", stack=USUAL.key, prompt=1024, output=512, tpot=0.05)
    error = point_error(typical.question, typical[0])
    assert error.rows == 0
    assert {row.stack for row in error.nearest} == {"typical-mi300x"}
    assert error.size > near.size


def test_other_software_on_the_chip_is_asked_for_the_same_plan():
    apart = plan_serving("deepseek-v3", "dgx-h200", prompt=1024, output=1024, tpot=0.05, count=5)
    point = next(point for point in apart if point.plan.prefill is None)
    others = {other.stack.key: other for other in other_rates(apart.question, point)}
    assert others.keys() == {"sglang"}
    by = plan_serving("deepseek-v3", "dgx-h200", prompt=1024, output=1024, stack="sglang")
    same = [one for one in by.found.points if one.plan == point.plan]
    assert not same or others["sglang"].gpu_rate == pytest.approx(same[0].gpu_rate)
    assert situation(apart.question, point).features >= {"experts", "latent"}


@pytest.mark.parametrize(
    ("model", "features"),
    [
        ("llama3-8b", {"dense", "16bit", "steady"}),
        ("deepseek-v3.2", {"experts", "latent", "sparse", "16bit", "steady"}),
        ("qwen3-next-80b-a3b", {"experts", "state", "16bit", "steady"}),
    ],
)
def test_states_and_sparse_attention_are_features_of_a_server(model, features):
    server = Server(models[model], accelerators["h200-sxm"])
    assert server_situation(server, USUAL, 2000, 16).features == features <= WORDS.keys()


@pytest.mark.parametrize("error", [0.0, 0.1])
def test_a_stack_of_ones_own_says_how_far_it_errs(error):
    own = ServingStack.ideal().replace(key="mine", error=error)
    found = plan_serving("llama3-8b", "dgx-h100", prompt=512, output=128, gpus=1, stack=own)
    assert point_error(found.question, found[0]).mean == pytest.approx(error)
    assert bool(certainty_words(found.question, found[0])) is bool(error)
