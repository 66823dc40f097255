"""Messages between the GPUs of a server: all-reduces of activations, and tokens that go to experts and back.

A server's all-reduce is its own kernel, not NCCL's: up to some hundred KB each rank reads what all others have at
once, and beyond each reduces a part and reads the others' parts (`one-shot` and `two-shot`).
"""

from typing import NamedTuple

from hwlib.calibrated.least_times import adds_in_switch, collective_least
from hwlib.collectives import Routing
from hwlib.specs import Accelerator

ALPHA = 6e-6  # s, of a kernel that meets the others at two barriers (typed; TensorRT-LLM's and vLLM's take 5 to 10 us)
ALPHA_PCIE = 20e-6  # s, over PCIe and the host's memory
SHARE_PCIE = 0.55  # of a card's 16 lanes, which two cards of a switch or the host's root share (typed)
ALPHA_OUT = 47e-6  # s, one way between nodes: mean of what DeepEP's low-latency kernels take beside the card's bytes on
# 16, 32 and 64 GPUs, dispatch and combine (measured_exchanges.csv; 41 to 57)
FEW = 1024  # tokens of a GPU up to which a copy goes to each expert, as in those kernels; beyond, to each node (typed)
SHARE = 0.75  # of the links' rate that large messages reach (nccl-tests on H100: 0.8; on two MI300X: 0.74)


def reduce_time(chip: Accelerator, n: int, S: float) -> float:
    """Seconds of an all-reduce of S bytes on n ranks, by the faster of two ways."""
    alpha, W = _wire(chip, n)
    return min(alpha + (n - 1) * S / W, 2 * alpha + 2 * (n - 1) / n * S / W)


def reduce_least(chip: Accelerator, n: int, S: float) -> float:
    """The least seconds of the same: its bytes at the rate of the links, once each way where switches add up."""
    return float(collective_least("all_reduce", n, S, scaleup_rate(chip, n), adds_in_switch(chip)))


class Nodes(NamedTuple):
    """GPUs that the chip's own links join, and the rate of a GPU's network to those of other nodes, B/s."""

    gpus: int
    W_out: float


def exchange_time(
    chip: Accelerator,
    n: int,
    tokens: float,
    width: int,
    routing: Routing,
    b_disp: float = 1.0,
    nodes: Nodes | None = None,
) -> float:
    """Seconds in which each rank's tokens go to their experts on n ranks and come back summed: to all ranks, or by
    experts, whichever sends less.

    Over several nodes what leaves a node takes its network, at the same time as the rest. Of few tokens a copy goes to
    each expert; of many one to each node with any of them, which hands it on (DeepEP's two sets of kernels).
    """
    alpha, W = _wire(chip, n if nodes is None else min(n, nodes.gpus))
    start = alpha if nodes is None or n <= nodes.gpus else ALPHA_OUT
    return 2 * start + tokens * width * (b_disp + 2.0) * _exchanged(W, n, tokens, routing, nodes)


def exchange_least(
    chip: Accelerator,
    n: int,
    tokens: float,
    width: int,
    routing: Routing,
    b_disp: float = 1.0,
    nodes: Nodes | None = None,
) -> float:
    """The least seconds of the same: its bytes, at the rate of the links."""
    W = scaleup_rate(chip, n if nodes is None else min(n, nodes.gpus))
    return tokens * width * (b_disp + 2.0) * _exchanged(W, n, tokens, routing, nodes)


def _exchanged(W: float, n: int, tokens: float, routing: Routing, nodes: Nodes | None) -> float:
    """Seconds of a byte of each token, over links of W."""
    k = routing.k
    if nodes is None or n <= nodes.gpus:
        return min(n - 1.0, k * (n - 1) / n) / W
    away = n / nodes.gpus
    left = k * (1 - 1 / away) * (1.0 if tokens <= FEW else float(routing.share(away, limited=True)))
    inside = k * (nodes.gpus - 1) / (n if tokens <= FEW else nodes.gpus) / W
    return max(inside, left / nodes.W_out)


def scaleup_rate(chip: Accelerator, n: int) -> float:
    """B/s that a chip sends to n - 1 others of its node: by all its links through switches; where there are none and
    each has a link of its own (AMD's), by those to them. Raises ValueError for a chip without links.

    >>> from hwlib.specs import accelerators
    >>> [scaleup_rate(accelerators[key], 2) / 1e9 for key in ("h100-sxm", "mi300x")]
    [450.0, 64.0]
    """
    if not chip.scaleup_bandwidth:
        raise ValueError(f"{chip.name} has no bandwidth between GPUs")
    if chip.scaleup_switches == 0 and chip.scaleup_link_bandwidth:
        return min(chip.scaleup_bandwidth, (n - 1) * chip.scaleup_link_bandwidth)
    return chip.scaleup_bandwidth


def _wire(chip: Accelerator, n: int) -> tuple[float, float]:
    """Start and rate of a message among n."""
    W = scaleup_rate(chip, n)
    return (ALPHA_PCIE, W * SHARE_PCIE) if chip.scaleup_name.startswith("PCIe") else (ALPHA, W * SHARE)
