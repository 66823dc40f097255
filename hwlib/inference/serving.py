"""Serving a model on a chip, both from the tables: bytes read, batches that fit, speed and price."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from hwlib.inference.decode import prefill_time, token_cost
from hwlib.inference.decode_transfers import expert_decode_time, tensor_decode_time
from hwlib.specs import Accelerator, Model, accelerators, models
from hwlib.transformer import (
    attention_step_flops,
    cache_read_bytes,
    forward_flops,
    kv_cache_bytes,
    matmul_parameters,
    moved_state_bytes,
    parameter_count,
    parameter_groups,
    sequence_state_bytes,
)
from hwlib.units import show


def weight_bytes(model: Model | str, b_w: float = 2, b_expert: float | None = None) -> float:
    """Bytes of all weights; b_expert, if given, is the bytes of a weight in an expert.

    >>> from hwlib.specs import models
    >>> round(weight_bytes(models["gpt-oss-120b"], b_expert=4.25 / 8) / 2**30, 1)
    60.7
    """
    model = models.of(model)
    experts = parameter_groups(model).experts
    return (parameter_count(model) - experts) * b_w + experts * (b_w if b_expert is None else b_expert)


def expert_share(model: Model | str, B: float) -> float:
    """Fraction of the experts that a step of B tokens reads, if tokens choose uniformly and independently.

    >>> from hwlib.specs import models
    >>> round(expert_share(models["deepseek-v3"], 32), 2)
    0.64
    """
    model = models.of(model)
    return 1 - (1 - model.experts_per_token / model.experts) ** B if model.moe else 1.0


def step_bytes(model: Model | str, B: float, b_w: float = 2, b_expert: float | None = None) -> float:
    """Bytes of weights that a decode step of B tokens reads: without idle experts and lookup tables."""
    model = models.of(model)
    groups = parameter_groups(model)
    idle = groups.experts * (1 - expert_share(model, B))
    rows = groups.positions + (0 if model.tied else groups.embedding)
    return weight_bytes(model, b_w, b_expert) - rows * b_w - idle * (b_w if b_expert is None else b_expert)


def largest_batch(
    model: Model | str,
    chip: Accelerator | str,
    *,
    n: int,
    T_kv: int,
    b_w: float = 2,
    b_kv: float = 2,
    b_expert: float | None = None,
    reserve: float = 0.0,
    copies: float = 1.0,
) -> int:
    """Sequences of T_kv tokens that fit on n chips with the weights; `reserve` is the fraction of memory kept free, and
    each cache is stored `copies` times (`cache_copies`), a state once.
    """
    model, chip = models.of(model), accelerators.of(chip)
    free = n * _of(chip, "hbm_bytes") * (1 - reserve) - weight_bytes(model, b_w, b_expert)
    return max(0, int(free // (copies * kv_cache_bytes(model, T_kv, b_kv) + sequence_state_bytes(model))))


def network_time(
    model: Model | str,
    *,
    B: float,
    tp: int = 1,
    ep: int = 1,
    alpha: float = 0.0,
    W_in: float,
    W_out: float | None = None,
    b: float = 2,
    b_disp: float = 1,
    b_comb: float = 2,
) -> float:
    """Time that a decode step waits for the network: the `comm` of `decode_point`.

    B sequences on each group of tp ranks: an all-reduce after attention and one after a dense MLP, at W_in per rank.
    With ep above 1, the tokens of the group go to the experts of a layer and back instead, divided among its ranks, at
    W_out per rank (by default W_in).
    """
    model = models.of(model)
    moe_layers = model.moe_layers if ep > 1 else 0
    sums = float(
        tensor_decode_time((model.layers + model.mlp_layers - moe_layers) / 2, B, model.width, tp, alpha, W_in, b)
    )
    if not moe_layers:
        return sums
    exchange = expert_decode_time(
        moe_layers, B / tp, model.width, model.experts_per_token, W_out or W_in, b_disp, b_comb
    )
    return sums + float(exchange) + 2 * moe_layers * alpha


class Point(NamedTuple):
    """An operating point of decoding: B sequences on n ranks. Rates are tokens per second of one sequence or one rank.

    `cost` is in dollars per token. `bound` names the longest part: "weights", "arithmetic", "cache" or "network".
    """

    n: int
    B: int
    step_time: float
    sequence_rate: float
    rank_rate: float
    cost: float
    bound: str

    def __repr__(self) -> str:
        sequences = f"{self.B} sequence{'' if self.B == 1 else 's'} on {self.n} rank{'' if self.n == 1 else 's'}"
        rates = f"{self.sequence_rate:.4g} tokens/s of a sequence, {self.rank_rate:.4g} of a rank"
        cost = f", {self.cost * 1e6:.3g} dollars a million tokens" if self.cost else ""
        return f"<Point: {sequences}, a step in {show(self.step_time, 's')}, {rates}{cost}; bound by {self.bound}>"


def decode_point(
    model: Model | str,
    chip: Accelerator | str,
    *,
    n: int,
    B: int,
    T_kv: int,
    b_w: float = 2,
    b_kv: float = 2,
    b_expert: float | None = None,
    dtype: str = "bf16",
    comm: float = 0.0,
    price: float = 0.0,
    copies: float = 1.0,
) -> Point:
    """One decode step at the rates of the data sheet: `decode_time`, but only active experts and windows are read.

    `comm` is the time that the step waits for the network, see `network_time`; `price` is in dollars per second and
    rank. Work and weights are divided evenly, and caches too except for their `copies`. Whether the batch fits is
    not checked; see `largest_batch`.
    """
    model, chip = models.of(model), accelerators.of(chip)
    if n < 1 or B < 1 or T_kv < 1:
        raise ValueError(f"ranks, sequences and tokens of context are at least 1: n={n}, B={B}, T_kv={T_kv}")
    W, C, states = _of(chip, "hbm_bandwidth"), chip.flops(dtype), moved_state_bytes(model)
    parts = {
        "weights": step_bytes(model, B, b_w, b_expert) / (n * W),
        "arithmetic": forward_flops(matmul_parameters(model), B) / (n * C),
        "cache": B * (copies * (cache_read_bytes(model, T_kv, b_kv) - states) + states) / (n * W),
        "network": comm,
    }
    t = parts["cache"] + max(parts["weights"], parts["arithmetic"]) + comm
    cost = token_cost(n, price, B / t) if price else 0.0
    return Point(n, B, t, 1 / t, B / (n * t), cost, max(parts, key=lambda part: parts[part]))


def prompt_time(
    model: Model | str,
    chip: Accelerator | str,
    *,
    n: int,
    T_in: int,
    mfu: float = 0.4,
    dtype: str = "bf16",
    b_w: float = 2,
) -> float:
    """Time of the prefill of one prompt on n chips, including its causal attention.

    A short prompt takes as long as reading the weights, b_w bytes each, of experts only the active ones.
    """
    model, chip = models.of(model), accelerators.of(chip)
    C = chip.flops(dtype)
    matrices = prefill_time(matmul_parameters(model), T_in, n, C, mfu)
    weights = step_bytes(model, T_in, b_w) / (n * _of(chip, "hbm_bandwidth"))
    return float(max(matrices, weights) + attention_step_flops(model, T_in, T_in) / (n * C * mfu))


def decode_points(
    model: Model | str,
    chip: Accelerator | str,
    *,
    ranks: Iterable[int],
    T_kv: int,
    b_w: float = 2,
    b_kv: float = 2,
    b_expert: float | None = None,
    reserve: float = 0.0,
    copies: float = 1.0,
    batches: Iterable[int] = (),
    **others: Any,
) -> list[Point]:
    """All points that fit, for each number of ranks: the given batches, or powers of two and the largest batch."""
    model, chip = models.of(model), accelerators.of(chip)
    store: dict[str, Any] = {"T_kv": T_kv, "b_w": b_w, "b_kv": b_kv, "b_expert": b_expert, "copies": copies}
    points = []
    for n in ranks:
        most = largest_batch(model, chip, n=n, reserve=reserve, **store)
        wanted = set(batches) or {2**i for i in range(most.bit_length())} | {most}
        fit = sorted(B for B in wanted if 1 <= B <= most)
        points += [decode_point(model, chip, n=n, B=B, **store, **others) for B in fit]
    return points


def pareto(points: Iterable[Point]) -> list[Point]:
    """The Pareto front of the rates of a sequence and of a rank, fastest sequence first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (-p.sequence_rate, -p.rank_rate)):
        if not best or point.rank_rate > best[-1].rank_rate:
            best.append(point)
    return best


def _of(chip: Accelerator, name: str) -> float:
    value: Any = getattr(chip, name, None)
    if not value:
        raise ValueError(f"{chip.name} has no {name}")
    return float(value)
