"""Names with which the text computes numbers, beside those of the exercises."""

from itertools import product

from hwlib.parallel import dp_critical_batch, mixed_critical_batch, split_critical_batch, tp_limit
from hwlib.planner import decide, plan, plan_cloud
from hwlib.specs import models
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count

from .mix import BATCH, H100, LLAMA70, NODE, POD, RING, V5P
from .order import LONG, META, seconds_of_step

DAY = 86400
CLOUD = plan_cloud("llama3-70b")
STAR = CLOUD.runs[0]  # NVIDIA's plan: as published, with the model's bytes
RULE = decide("llama3-70b", "superpod-h100-4su", B=BATCH)
SEARCHED = plan("llama3-70b", "superpod-h100-4su", B=BATCH)


def days(model, tokens, chips, rate, mfu):
    """Days of a run that spends six operations a parameter and token, as the book counts."""
    return 6 * parameter_count(model) * tokens / (chips * rate * mfu) / DAY


QUESTIONS = {  # of How to Scale Your Model on training Llama 3: what was asked, and what comes out
    "70B, days on a pod at 40 %": days(LLAMA70, 15e12, POD, V5P.bf16_flops, 0.4),
    "70B, days on four pods": days(LLAMA70, 15e12, 4 * POD, V5P.bf16_flops, 0.4),
    "405B, days on eight pods": days(models["llama3-405b"], 15e12, 8 * POD, V5P.bf16_flops, 0.4),
    "70B, days on 4,096 H100s at 45 %": days(LLAMA70, 15e12, 4096, H100.bf16_flops, 0.45),
}
EACH_POD = BATCH / POD
EACH_405B = 2**24 / (8 * POD)
LEAST_405B = mixed_critical_batch(models["llama3-405b"].ffn, V5P.bf16_flops, 2 * RING, RING)
NODE_LEAST = dp_critical_batch(H100.bf16_flops, NODE.egress_bandwidth)
TP_BOUND = tp_limit(LLAMA70.ffn, H100.bf16_flops, NODE.scaleup_bandwidth)


def thousand(tp, pp, v):
    """Seconds of a step of Llama 3 70B on 1,024 H100s with 64 replicas, by the model."""
    s = Strategy.of(dp=64, tp=tp, pp=pp, v=v, zero=1)
    return float(step_time(LLAMA70, "megatron-core-h100", "superpod-h100-4su", s, B=BATCH, T=8192).total)


# NVIDIA's table of 2024: GPUs, sequences of 4,096 tokens, tensor ranks, stages
TABLE = {"16B": (192, 192, 4, 1), "70B": (768, 384, 8, 2), "177B": (2304, 1152, 8, 6)}


def table_row(gpus, sequences, tp, pp):
    """Tokens of a GPU, and how many it needs: stages share the sum, tensor ranks in a node do not relieve its cards."""
    assert tp <= NODE.chips
    return sequences * 4096 / gpus, split_critical_batch(H100.bf16_flops, NODE.egress_bandwidth, pp)


def seventy(tp, pp, v=5, dtype="fp8"):
    """Llama 3 70B on 64 H100s, 128 sequences: NVIDIA's recipe is tp 4 pp 8 with five chunks."""
    s = Strategy.of(gpus=64, tp=tp, pp=pp, v=v, zero=1)
    return step_time("llama3-70b", "megatron-core-h100", "superpod-h100-4su", s, B=2**20, T=8192, dtype=dtype)


SEVENTY_GAP = float(seventy(8, 4).total / seventy(4, 8).total) - 1


# Alpa's inner question on an MLP: how each of two products is split
def move(of, to, size):
    """Bytes that an array of `size` bytes moves, forward and backward, from one layout to another on many ranks."""
    return 0 if of == to else size


WAYS = {  # layout of the input, of the output, and what is summed: weights' gradients, the input's gradient, the output
    "batch": ("tokens", "tokens", "weights"),
    "columns": ("whole", "columns", "input"),
    "rows": ("columns", "whole", "output"),
}


def mlp_costs(B, D, F, b=2):
    """Bytes of a forward and a backward pass for each pair of ways, to first order of many ranks."""
    costs = {}
    for first, second in product(WAYS, WAYS):
        total = 0
        for way, (size_in, size_out) in ((first, (B * D, B * F)), (second, (B * F, B * D))):
            summed = {"weights": D * F, "input": size_in, "output": size_out}[WAYS[way][2]]
            total += 2 * b * summed
        total += move(WAYS[first][1], WAYS[second][0], b * B * F)
        ends = {"tokens": 0, "whole": 0}
        total += ends.get(WAYS[first][0], b * B * D) + ends.get(WAYS[second][1], b * B * D)
        costs[first, second] = total
    return costs


def meta_step(T=8192, **changed):
    """Seconds of a step of Llama 3 405B on 16,384 GPUs by the model, eight chunks a rank."""
    s = Strategy.of(META, v=8, **changed)
    return float(step_time("llama3-405b", "megatron-core-h100", "h100-superpod-16k", s, B=2**24, T=T).total)


SHARDED = meta_step(zero=2)
LONG_OFF = meta_step(T=LONG.length, cp=16, dp=8) / seconds_of_step(2**24, rate=LONG.rate, T=LONG.length) - 1
