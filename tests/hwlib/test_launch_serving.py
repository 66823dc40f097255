"""Serving plans as launch arguments of vLLM and TensorRT-LLM."""

import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from hwlib.launch import SERVING, LaunchError, emit, problems
from hwlib.launch.serving_plan import replica_gpus
from hwlib.planner import machine_of
from hwlib.serving_planner.plan import Pool, ServingPlan
from hwlib.specs import models
from tests.each import each


def servers(tp=1, ep=1, attention_dp=1, replicas=1, batch=64):
    """A pool, most of which is one."""
    return Pool(tp, ep, attention_dp, replicas, batch)


EIGHT = servers(8)
DGX = machine_of("dgx-h100")
OWN = DGX._replace(chip=replace(DGX.chip, key="own-mine", name="Mine", vendor="own"))


def planned(model="llama3-70b", decode=EIGHT, prefill=None, cluster="8xdgx-h100", **more):
    """A serving plan; requests of 4,096 and 1,024 tokens."""
    usual: dict[str, Any] = {"dtype": "fp8", "kv_dtype": "fp8", "prompt": 4096, "output": 1024, "chunk": None}
    machine = machine_of(cluster) if isinstance(cluster, str) else cluster
    return ServingPlan(model=models[model], machine=machine, decode=decode, prefill=prefill, **(usual | more))


PLANS = [
    planned(),
    planned(decode=servers(4, replicas=2), chunk=2048, dtype="bf16", kv_dtype="bf16"),
    planned("llama3-8b", servers(), cluster="dgx-h100", dtype="fp4", kv_dtype="fp4"),
    planned("qwen3-30b-a3b", servers(2, ep=4, attention_dp=2, batch=63), servers(4, ep=4, batch=2)),
    planned("gpt-oss-120b", servers(2, ep=2), dtype="mxfp4", kv_dtype="fp8"),
    planned("mixtral-8x7b", servers(8, ep=4), dtype="bf16", kv_dtype="bf16"),
    planned("deepseek-v3", servers(1, 32, 32, batch=2048), servers(1, 16, 16, replicas=2, batch=16)),
    planned("deepseek-v3", servers(16, 16), chunk=8192, kv_dtype="fp4"),
    planned("deepseek-v3", servers(4, 64, 16), cluster="gb200-nvl72"),
    planned(decode=servers(2, attention_dp=4), dtype="int8", kv_dtype="int8"),
]
EVERY = [*product(PLANS, SERVING)]


def names(case):
    """The plan and the software, in a word."""
    plan, software = case
    return f"{software} {plan.model.key} {plan.decode}"


@each("case", EVERY)
def test_every_argument_is_one_that_the_software_takes(case):
    assert problems(emit(*case)) == [], names(case)


@each("case", EVERY)
def test_the_degrees_are_all_gpus_of_a_server(case):
    plan, software = case
    launch = emit(plan, software)
    pools = [pool for pool in (plan.prefill, plan.decode) if pool]
    if software == "trtllm":
        parsed = [yaml.safe_load(file.text) for file in launch.files]
        assert [one["tensor_parallel_size"] for one in parsed[: len(pools)]] == [*map(replica_gpus, pools)]
        for one, pool in zip(parsed, pools, strict=False):
            experts = one.get("moe_expert_parallel_size", 1) * one.get("moe_tensor_parallel_size", replica_gpus(pool))
            assert experts == replica_gpus(pool)
            assert one["enable_attention_dp"] == (pool.attention_dp > 1)
        return
    first = [one for one in launch.commands if not one.value("--data-parallel-start-rank")]
    found = [one.value("--tensor-parallel-size") * (one.value("--data-parallel-size") or 1) for one in first]
    assert found == [*map(replica_gpus, pools)]
    for one in launch.commands:
        tp, local = one.value("--tensor-parallel-size"), one.value("--data-parallel-size-local")
        assert local is None or local * tp in (4, 8)
    for one, pool in zip(first, pools, strict=True):
        assert ("--enable-expert-parallel" in {option.name for option in one.arguments}) == (pool.ep > 1)


@each("case", EVERY)
def test_files_and_scripts_can_be_read(case):
    plan, software = case
    launch = emit(plan, software)
    for file in launch.files:
        parsed = yaml.safe_load(file.text)
        for name, value in ((one.name.removeprefix("disaggregated."), one.value) for one in file.settings):
            at = parsed
            for word in name.split("."):
                at = at[word]
            assert at == ([*value] if isinstance(value, tuple) else value)


def test_scripts_are_a_shells():
    every = [emit(*case).text for case in EVERY]
    done = subprocess.run(["bash", "-n"], input="\n".join(every), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_servers_apart_send_their_cache_on():
    plan = planned("deepseek-v3", servers(1, 32, 32, batch=2048), servers(1, 16, 16, replicas=2, batch=16))
    roles = [one.value("--kv-transfer-config")["kv_role"] for one in emit(plan, "vllm").commands]
    assert roles == ["kv_producer", "kv_producer", "kv_consumer", "kv_consumer"]
    (context, generation, router), commands = emit(plan, "trtllm").files, emit(plan, "trtllm").commands
    assert yaml.safe_load(context.text)["cache_transceiver_config"]["max_tokens_in_buffer"] == plan.prompt
    assert yaml.safe_load(generation.text)["max_batch_size"] == 2048 // 32
    ways = yaml.safe_load(router.text)
    assert (ways["context_servers"]["num_instances"], len(ways["context_servers"]["urls"])) == (2, 2)
    assert commands[-1].head == ("trtllm-serve", "disaggregated")


def test_batches_are_those_of_a_group():
    (one,) = emit(planned("deepseek-v3", servers(1, 8, 8, batch=512), chunk=4096), "vllm").commands
    assert one.value("--max-num-seqs") == 64
    assert one.value("--max-num-batched-tokens") == 4096 + 64
    assert one.value("--max-model-len") == 5120


@pytest.mark.parametrize(
    ("software", "plan", "says"),
    [
        ("vllm", planned("mixtral-8x7b", servers(8, ep=4)), "over 4 of a server's 8 GPUs"),
        ("vllm", planned(decode=servers(2, attention_dp=4)), "groups of a dense model"),
        ("vllm", planned(dtype="fp4"), "weights in fp4"),
        ("trtllm", planned(kv_dtype="int8"), "a cache in int8"),
        ("vllm", planned("deepseek-v3", servers(1, 8, 8, batch=63)), "63 sequences over 8 groups"),
        ("trtllm", planned("deepseek-v3", servers(2, 8, 4)), "groups of 2 GPUs"),
        ("trtllm", planned(dtype="fp8"), "weights in fp8"),
        ("trtllm", planned(cluster=OWN), "TensorRT-LLM runs on Mine"),
        ("vllm", planned(cluster=OWN), "vLLM runs on Mine"),
    ],
    ids=["experts", "dense", "weights", "cache", "uneven", "groups", "checkpoint", "own-trtllm", "own-vllm"],
)
def test_what_no_argument_says_is_said(software, plan, says):
    assert any(says in line for line in emit(plan, software).not_expressed)


def test_a_software_that_does_not_serve_here_is_refused():
    with pytest.raises(LaunchError, match="expected vllm"):
        emit(planned(), "megatron")
    with pytest.raises(LaunchError, match="AMD"):
        emit(planned(cluster="mi300x-node"), "trtllm")
    assert emit(planned(cluster="mi300x-node"), "vllm").commands
    theirs = planned(cluster=str(Path(__file__).parent / "data" / "clusters" / "mi300x.toml"))
    with pytest.raises(LaunchError, match="AMD's MI300X"):
        emit(theirs, "trtllm")
    with pytest.raises(LaunchError, match="TPU v5p"):
        emit(planned(cluster="1x8 tpu-v5p, node 540 GB/s"), "vllm")
