"""What a step of an engine takes, by the tokens that it reads and generates: the parts of a decode step, and prompts.

The terms and constants are those of `hwlib.calibrated.decode_parts`: products at the bandwidth or the arithmetic that
a chip's kernels reach, caches, sums of the GPUs, starts of kernels. Tokens of prompts pass the same products and sums;
their attention is counted by pairs of tokens, at the rate that the chip's attention kernel reaches on a long prompt.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from hwlib.calibrated import prefill_attention_time
from hwlib.calibrated.decode_parts import FUSED, step_constants
from hwlib.inference import (
    cache_copies,
    cache_time,
    host_step_time,
    largest_batch,
    step_bytes,
    tensor_decode_time,
    weight_time,
)
from hwlib.roofline import compute_time
from hwlib.specs import accelerators, models
from hwlib.specs.fitted import gemm_constants
from hwlib.transformer import forward_flops, kv_bytes_per_token, matmul_parameters

LONG = 8192  # tokens of the prompt whose attention gives the time of a pair


class StepCost(NamedTuple):
    """Seconds of a step: `fixed` of every step, `weights` of reading them, `token` of arithmetic for each token, `sent`
    of each token's messages, `cached` of each token read from a cache, `pair` of each pair of tokens in the attention
    of prompts.
    """

    fixed: float
    weights: float
    token: float
    sent: float
    cached: float
    pair: float

    def seconds(self, tokens: float, cached: float = 0.0, pairs: float = 0.0) -> float:
        """A step in which so many tokens pass the model, prompts' and generated ones together."""
        products = max(self.weights, self.token * tokens)
        return self.fixed + products + self.sent * tokens + self.cached * cached + self.pair * pairs

    def decode(self, B: int, T_kv: float) -> float:
        """A step of B sequences that get a token each, with T_kv tokens in their caches."""
        return self.seconds(B, B * T_kv)

    def prompt(self, tokens: int, before: int = 0) -> float:
        """A step that reads so many tokens of a prompt, after `before` others of it, and nothing else."""
        return self.seconds(tokens, before, pairs_of(tokens, before))


def pairs_of(tokens: int, before: int = 0) -> float:
    """Pairs of tokens in the attention of a part of a prompt, after `before` others: half of the square of its own."""
    return tokens * (before + tokens / 2)


@cache
def step_cost(
    model: str, chip: str, *, tp: int = 1, b_w: float = 2, b_kv: float = 2, dtype: str = "bf16", t_host: float = 0.0
) -> StepCost:
    """The constants of a dense model on tp GPUs of one node; steps that decode are those of `decode_parts`.

    `dtype` is that of the products, with its own measured rate; sums of the GPUs are in bfloat16, and so is attention,
    whatever the bytes of a weight and of an element of the cache. `t_host` is what software adds to every step, such as
    its scheduling. Raises KeyError for an unknown name, ValueError for a model with experts, whose weights depend on
    the batch.

    >>> cost = step_cost("llama3-70b", "h100-sxm", tp=8)
    >>> from hwlib.units import show
    >>> show(cost.decode(64, 1000), "s"), show(cost.prompt(4096), "s")
    ('12.89 ms', '169.2 ms')
    """
    shape, sheet = models[model], accelerators[chip]
    if shape.moe:
        raise ValueError(f"{shape.key} has experts: how many of them a step reads depends on its tokens")
    c, fit = step_constants(sheet.key, tp), gemm_constants()[sheet.key, dtype]
    sums = [
        float(tensor_decode_time(shape.layers, B, shape.width, tp, c.alpha, c.W_sum)) if tp > 1 else 0.0 for B in (0, 1)
    ]
    copies, kv = float(cache_copies(shape.kv_heads, tp)), kv_bytes_per_token(shape, b_kv)
    attention = prefill_attention_time(
        sheet.key,
        "bf16",
        heads=max(1, shape.heads // tp),
        kv_heads=max(1, shape.kv_heads // tp),
        head_dim=shape.head_dim,
        batch=1,
        seq=LONG,
    )
    return StepCost(
        fixed=float(host_step_time(shape.layers, FUSED, c.t0)) + sums[0] + t_host,
        weights=float(weight_time(step_bytes(shape, 1, 1.0), tp, c.W, b_w)),
        token=float(compute_time(forward_flops(matmul_parameters(shape), 1), tp * fit.eta_C * sheet.flops(dtype))),
        sent=sums[1] - sums[0],
        cached=float(cache_time(copies, 1, kv, tp, c.W)),
        pair=shape.layers * float(attention) / pairs_of(LONG),
    )


def cache_room(model: str, chip: str, *, tp: int = 1, b_w: float = 2, b_kv: float = 2, reserve: float = 0.1) -> int:
    """Tokens that the cache of tp GPUs holds beside the weights, with a share `reserve` of the memory kept free."""
    copies = float(cache_copies(models[model].kv_heads, tp))
    return largest_batch(model, chip, n=tp, T_kv=1, b_w=b_w, b_kv=b_kv, reserve=reserve, copies=copies)
