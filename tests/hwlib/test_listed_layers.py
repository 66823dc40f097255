"""An answer says where the software that it names lists no model with such layers."""

from hwlib.planner import plan
from hwlib.planner.explain import rests_words
from hwlib.serving_planner import question_of
from hwlib.serving_planner.explain import basis_words
from hwlib.specs import models, stacks
from hwlib.specs.listed_layers import LISTED, LISTS, PROGRAMS, kinds_of, unlisted_words
from hwlib.specs.serving_stack import serving_stacks
from hwlib.specs.state_mixer import MIXERS
from tests.each import each

LACKING = "no model with layers of"
LOAD = {"prompt": 2048, "output": 256}


@each(
    "server",
    [
        ("kimi-linear-48b-a3b", None, True),
        ("kimi-linear-48b-a3b", "vllm-0.6", False),
        ("minimax-m1", None, True),
        ("jamba-1.5-mini", None, True),
        ("qwen3-next-80b-a3b", None, False),
        ("nemotron-3-nano", None, False),
        ("glm-5", None, False),
        ("kimi-k2.5", None, False),
        ("kimi-linear-48b-a3b", "sglang", False),
    ],
)
def test_a_server_of_layers_that_its_software_does_not_list_says_so(server):
    key, stack, lacking = server
    words = basis_words(question_of(key, "dgx-b200", stack=stack, **LOAD))
    assert (LACKING in words) == lacking
    assert not lacking or "TensorRT-LLM" in words


@each("trained", [("jamba-1.5-mini", True), ("minimax-m1", True), ("nemotron-3-nano", False), ("gemma3-12b", False)])
def test_a_run_of_layers_that_its_software_does_not_list_says_so(trained):
    key, lacking = trained
    found = plan(key, "64xdgx-h200", B=2**20, T=4096, count=1)
    assert (LACKING in rests_words(found, found[0])) == lacking


def test_lists_are_of_kinds_and_programs_that_there_are():
    kinds = {*MIXERS, *kinds_of(models["glm-5"]), *kinds_of(models["deepseek-v4-flash"])}
    assert all(set(listed) <= kinds for listed in LISTED.values())
    assert set(LISTED) == set(LISTS) == set(PROGRAMS.values())
    rows = {serving_stacks[key].program for key in serving_stacks} | {stacks[key].features for key in stacks}
    assert all(any(row.startswith(begin) for row in rows) for begin in PROGRAMS)
    assert unlisted_words(models["llama3-8b"], "tensorrt-llm") == unlisted_words(models["minimax-m1"], "") == ""
