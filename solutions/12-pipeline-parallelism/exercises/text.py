"""Names with which the text computes numbers, beside those of the exercises."""

from importlib.metadata import version

from hwlib.pipeline import (
    bubble_overhead,
)
from hwlib.specs import accelerators, measured_pipelines, models, nodes
from hwlib.transformer import parameter_count

torch_version = version("torch").partition("+")[0]
H100 = accelerators["h100-sxm"]
CARD = nodes["dgx-h100"].egress_bandwidth / nodes["dgx-h100"].chips  # one GPU's, one way
LLAMA = models["llama3-405b"]  # trained on 16 stages of 8 tensor-parallel ranks
SEQUENCE = 8192  # tokens of a microbatch there
HOP = 2 * SEQUENCE * LLAMA.width / 8  # bytes of one message of one rank
STAGE = 2 * parameter_count(LLAMA) / (16 * 8) * SEQUENCE  # FLOP of a forward pass on one rank, to first order
REACHED = 0.4 * H100.bf16_flops  # 1/s, about what that run reached


TRIALS = measured_pipelines("Megatron-DeepSpeed")
_few, _many = TRIALS[0], TRIALS[3]  # one sequence a microbatch, and eight


def slots(run):
    return (run.m + run.pp - 1) * run.layers / run.pp


T_1 = (_many.time / slots(_many) - _few.time / slots(_few)) / (_many.micro - _few.micro)
T_0 = _few.time / slots(_few) - T_1


def predicted(run):
    return slots(run) * (T_0 + run.micro * T_1 * (run.width / _few.width) ** 2)


ERRORS = {run.run: predicted(run) / run.time - 1 for run in TRIALS}
UNSEEN_ERRORS = [error for run, error in ERRORS.items() if run not in (_few.run, _many.run)]
TITAN_1F1B, TITAN_CHUNKS = measured_pipelines("torchtitan")
TITAN_GAIN = TITAN_1F1B.time / TITAN_CHUNKS.time
TITAN_MODEL = (1 + bubble_overhead(8, 8)) / (1 + bubble_overhead(8, 8, 2))
