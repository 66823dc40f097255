"""From which batch, width or length on each axis hides, on every level of a machine, for one model.

An axis goes over all ranks up to a level. Collectives that add or copy cross the port of a child once, however many
ranks share it; what goes from rank to rank, to experts or round a ring, has a rank's share of that port. Of the levels
up to one the worst decides. To first order but for the copies of experts; the letters are those of the formulas.
"""

from math import inf
from typing import Any, NamedTuple

from hwlib.collectives import mean_destinations
from hwlib.parallel.context_parallel import ring_critical_tokens, ulysses_critical_tokens
from hwlib.parallel.data_parallel import dp_critical_batch
from hwlib.parallel.expert_parallel import ep_exact_critical_width
from hwlib.parallel.tensor_parallel import tp_limit
from hwlib.specs import Model, levels_of, models


class Critical(NamedTuple):
    """Bounds on one level; what no axis of the model crosses is 0, or infinite for `tp`.

    `dp`: tokens a rank for the gradients, or a gather of the weights, to hide, if a token uses every parameter.
    `sparse_dp`: the same where it uses k of E experts. `tp`: ranks that can share an MLP, or a token's experts.
    `ep`: width of an expert. `ring`: tokens of a sequence on a rank for keys and values to hide. `ulysses`: tokens of
    a whole sequence for attention to take as long as its exchanges.
    """

    dp: float
    sparse_dp: float
    tp: float
    ep: float
    ring: float
    ulysses: float


def critical_points(
    model: Model | str,
    levels: Any,
    C: float,
    *,
    b: float = 2,
    b_g: float = 2,
    b_disp: float = 2,
    b_comb: float = 2,
) -> dict[str, Critical]:
    """The bounds of a model on ranks of C FLOP/s, by the name of the level up to which an axis goes.

    >>> from hwlib.specs import accelerators
    >>> found = critical_points("llama3-70b", "superpod-h100-4su", accelerators["h100-sxm"].bf16_flops)
    >>> [(name, round(at.dp), round(at.tp, 1), round(at.ring)) for name, at in found.items()]
    [('node', 2199, 19.6, 275), ('leaf', 2474, 17.4, 2474), ('spine', 2474, 17.4, 2474)]
    """
    model = models.of(model)
    points: dict[str, Critical] = {}
    G, k = model.heads_per_kv_head, model.experts_per_token
    F = (k + model.shared_experts) * model.expert_ffn
    ranks, worst = 1, Critical(0.0, 0.0, inf, 0.0, 0.0, 0.0)
    ports: list[tuple[int, float]] = []
    for level in levels_of(levels):
        if level.size > 1:
            W, own = level.bandwidth, level.bandwidth / ranks
            ports.append((ranks, own))
            dp = dp_critical_batch(C, W, b_g)
            worst = Critical(
                dp=max(worst.dp, dp),
                sparse_dp=max(worst.sparse_dp, model.experts / k * dp),
                tp=min(worst.tp, tp_limit(F, C, W, b, model.matrices)),
                ep=worst.ep,
                ring=max(worst.ring, ring_critical_tokens(G, C, own, b)),
                ulysses=worst.ulysses,
            )
        ranks *= level.size
        places = [(ranks // below, own) for below, own in ports]
        ep = [
            ep_exact_critical_width(
                k, n, C, own, mean_destinations(n, k, model.experts) / n, b_disp, b_comb, model.matrices
            )
            for n, own in places
            if model.moe
        ]
        ulysses = [ulysses_critical_tokens(G, n, C, own, b) for n, own in places]
        worst = worst._replace(ep=max(ep, default=0.0), ulysses=max(ulysses, default=0.0))
        points[level.name] = worst
    return points
