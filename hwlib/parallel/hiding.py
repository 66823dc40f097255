"""The arithmetic that can hide each axis's communication: `exposed_times` subtracts it."""

from typing import Any

from hwlib.columns import choose
from hwlib.specs import Model, models
from hwlib.strategy import Strategy
from hwlib.transformer import attention_step_flops, forward_flops, matmul_parameters


def hiding_times(
    model: Model | str,
    strategy: Strategy,
    C: float,
    *,
    B: Any,
    T: Any,
    m: Any = 1,
    ulysses: bool = False,
    paired: bool = False,
    causal: bool = True,
) -> dict[str, Any]:
    """Seconds of arithmetic in a step, on one rank of C FLOP/s, that do not wait for the axis's messages.

    Gradients are summed while the last of m microbatches goes back through earlier layers; ZeRO-1 also gathers weights
    beside the first one's forward pass, ZeRO-2 scatters beside every backward pass, and ZeRO-3 sends beside all.
    A ring of keys and values runs beside attention. Stages send one microbatch while they compute another. Sums of
    tensor parallelism and exchanges of heads or tokens are needed at once, and hide beside nothing, unless two
    microbatches take turns (`paired`, as in DualPipe): then one's exchange of tokens runs beside the other.

    >>> from hwlib.parallel import axis_times, exposed_times, transfers
    >>> fsdp = Strategy.of(dp=64, tp=8, zero=3)
    >>> sent = axis_times(transfers("llama3-70b", fsdp, B=2**22), "superpod-h100-4su")
    >>> exposed = exposed_times(sent, hiding_times("llama3-70b", fsdp, 989e12, B=2**22, T=8192))
    >>> {axis: round(t, 2) for axis, t in exposed.items()}
    {'tp': 1.67, 'dp': 0}
    """
    model = models.of(model)
    rate = strategy.gpus * C
    attention = attention_step_flops(model, B, T, causal) / rate
    forward = forward_flops(matmul_parameters(model), B) / rate + attention
    gradients = choose(
        strategy.zero,
        (
            lambda: 2 * forward / m,
            lambda: 3 * forward / m,
            lambda: (2 + 1 / m) * forward,
            lambda: 3 * forward,
        ),
    )
    return {
        "dp": gradients,
        "tp": 0.0,
        "cp": 0.0 if ulysses else 3 * attention,
        "ep": 3 * forward if paired else 0.0,
        "pp": 3 * forward * (1 - 1 / m),
    }
