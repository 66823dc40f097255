"""One plan on machines of several kinds: the time that each part of a data sheet allows, and which of them holds.

A `Sheet` has the few numbers of a machine that a first-order bound needs. What a plan asks of them does not depend on
the machine, so that `demand_of` counts it once: operations, bytes of memory, collectives. Each time is counted as if
alone and nothing lost; no step is shorter than the longest of them.
"""

from collections.abc import Mapping
from math import inf, log
from typing import NamedTuple

from hwlib.collectives import axis_time
from hwlib.footprint import footprint
from hwlib.parallel import dp_critical_batch
from hwlib.parallel.transfers import Transfer, transfers
from hwlib.pipeline import bubble_overhead
from hwlib.roofline import ridge
from hwlib.specs import Level, Model, Stack, accelerators, clusters, models, nodes
from hwlib.steptime.breakdown import _step_time
from hwlib.steptime.job import Job, Rates
from hwlib.strategy import Strategy
from hwlib.transformer import step_flops

BOUNDS = {
    "math": "arithmetic",
    "memory": "memory",
    "tp": "tensor-parallel collectives",
    "ep": "exchanges of experts",
    "pp": "messages between stages",
    "dp": "data-parallel collectives",
    "bubble": "the pipeline's bubble",
}
"""Everything that a step may wait for, by the name of its field in `Bounds`."""
SIDE = 4  # chips of the shortest axis of a torus that is closed to a ring: a cube of 4 x 4 x 4, an instance of 4 x 4
MOST = 10**6  # scale-up domains that a network joins, more than any plan asks for


class Sheet(NamedTuple):
    """The data sheet of a machine: FLOP/s, B/s and B of a chip, one direction.

    `domain` chips reach each other with `scaleup_bandwidth` each; what leaves the domain has `network_bandwidth` of a
    chip. In a crossbar any group has the whole of a chip's links. In a mesh, where each chip has a link to every other,
    it has one for each of its members. In a torus of `axes` axes a group has the links of the axes that it fills.
    """

    key: str
    name: str
    flops: float
    hbm_bandwidth: float
    hbm_bytes: float
    scaleup_bandwidth: float
    domain: int
    network_bandwidth: float
    shape: str = "crossbar"
    axes: int = 0

    def rings(self, ranks: float) -> int:
        """Axes of a torus that a group of so many ranks fills, each with four at least."""
        return max(1, min(self.axes, int(log(max(ranks, 1)) / log(SIDE) + 1e-9)))

    def share(self, ranks: float, inner: float = 1) -> float:
        """The share of a chip's scale-up links that a group has within the domain, `inner` ranks of other groups
        between its neighbours: on a torus these have taken the axes that they fill.
        """
        near = max(1.0, min(ranks, self.domain / inner))
        if self.shape == "mesh":
            return max(1.0, min(near, self.domain) - 1) / max(self.domain - 1, 1)
        if self.shape == "torus":
            free = self.axes if inner == 1 else max(1, self.axes - self.rings(inner))
            return min(self.rings(near), free) / self.axes
        return 1.0

    def time(self, sent: Transfer) -> float:
        """Seconds of a collective in a step, over the domain and the network, whichever takes longer.

        On a ring of a torus an all-to-all's blocks pass a quarter of its chips on their way, so a link carries each
        block that often (`bidirectional_ring_alltoall_limit`); within four chips that is nothing beside a switch.
        """
        up = self.scaleup_bandwidth * self.share(sent.ranks, sent.inner)
        if self.shape == "torus" and sent.collective == "all_to_all":
            near = max(1.0, min(sent.ranks, self.domain / sent.inner))
            up /= max(1.0, near ** (1 / self.rings(near)) / 4)
        levels = (Level("scale-up", self.domain, up), Level("network", MOST, self.network_bandwidth * self.domain))
        return float(sent.calls * axis_time(sent.collective, sent.S, levels, sent.ranks, sent.inner, sent.routing))


class Demand(NamedTuple):
    """What a plan asks of each of its `ranks` in a step: operations, bytes of memory that move, collectives; the bubble
    as a share of the arithmetic; and the bytes that the fullest rank holds (`needs`).
    """

    ranks: int
    flops: float
    hbm_bytes: float
    transfers: tuple[Transfer, ...]
    bubble: float
    needs: float = 0.0


class Bounds(NamedTuple):
    """Seconds of a step that each part of a machine takes by itself; BOUNDS has the words."""

    math: float
    memory: float
    tp: float
    ep: float
    pp: float
    dp: float
    bubble: float

    @property
    def holds(self) -> str:
        """The part that takes longest."""
        return max(self._fields, key=lambda name: getattr(self, name))


class CriticalBatches(NamedTuple):
    """Tokens of a chip from which arithmetic takes as long: as reading the weights once, from memory; as the sums of
    gradients over the scale-up links, and over the network of a whole domain, if all of the model is in the domain.
    """

    memory: float
    scaleup: float
    network: float


def machine_sheet(key: str) -> Sheet:
    """The sheet of a node, or of a torus among the clusters, by its key. Raises KeyError, and ValueError for one whose
    record lacks a number.
    """
    torus = clusters[key] if key in clusters and clusters[key].torus else None
    node = torus.members if torus else nodes[key]
    chip = node.chip
    axes = len(torus.torus) if torus else node.links_per_chip // 2 if node.shape == "torus" else 0
    rates = {"bf16_flops": chip.bf16_flops, "hbm_bandwidth": chip.hbm_bandwidth, "hbm_bytes": chip.hbm_bytes}
    if missing := [name for name, x in rates.items() if x is None]:
        raise ValueError(f"machine_sheet: {chip.name} has no confirmed {', '.join(missing)}")
    flops, W, S = (float(x or 0) for x in rates.values())
    return Sheet(
        key,
        torus.name if torus else node.name,
        flops,
        W,
        S,
        node.scaleup_bandwidth,
        torus.chips if torus else node.chips,
        node.nic_bandwidth,
        node.shape,
        axes,
    )


SIX = ("dgx-h100", "dgx-b200", "gb200-nvl72", "mi355x-node", "tpu-v5p-pod", "trn2-instance")


def six_machines() -> dict[str, Sheet]:
    """Six machines of four kinds, by their keys: islands of eight around a switch, a rack around one, islands of eight
    with a link between any two, and tori.
    """
    return {key: machine_sheet(key) for key in SIX}


def demand_of(model: Model | str, plan: Strategy, *, B: int, T: int) -> Demand:
    """What one plan asks of each rank in a step of B tokens in sequences of T, on any machine.

    Memory's bytes are those of `step_time`: weights, gradients and what is kept, for each microbatch, and the
    optimizer's states. What it needs is that of `footprint`, without a framework. Raises ValueError as `step_time` and
    `transfers` do.
    """
    model = models.of(model)
    m = int(plan.microbatches(B, T))
    any_chip = Stack.ideal(next(iter(accelerators)))
    endless = Rates(inf, inf, inf, 1.0, 1.0)  # arithmetic takes no time, and a byte of memory a second
    job = Job(model, any_chip, (Level("all", MOST, 1e30),), plan, T, plan.microbatches(B, T), endless, True, 1.0, False)
    moved = _step_time(job)
    return Demand(
        int(plan.gpus),
        float(step_flops(model, B, T)) / plan.gpus,
        float(moved.compute + moved.recomputed + moved.optimizer),
        transfers(model, plan, B=B, m=m),
        float(bubble_overhead(plan.pp, m, plan.v)),
        float(footprint(model, plan, T=T, m=m).total),
    )


def machine_bounds(sheet: Sheet | str, demand: Demand) -> Bounds:
    """Seconds that each part of a machine takes for what a plan asks, each by itself, at the data sheet's rates.

    The bubble is that of a pipeline whose passes are arithmetic alone.

    >>> plan = Strategy.of(dp=64, tp=16, pp=2, zero=1)
    >>> asked = demand_of("llama3-70b", plan, B=2**22, T=8192)
    >>> [machine_bounds(key, asked).holds for key in ("dgx-h100", "dgx-b200", "tpu-v5p-pod")]
    ['math', 'tp', 'math']
    """
    sheet = machine_sheet(sheet) if isinstance(sheet, str) else sheet
    sent: dict[str, float] = dict.fromkeys(("tp", "ep", "pp", "dp"), 0.0)
    for transfer in demand.transfers:
        sent[transfer.axis] = sent.get(transfer.axis, 0.0) + sheet.time(transfer)
    math = demand.flops / sheet.flops
    return Bounds(math, demand.hbm_bytes / sheet.hbm_bandwidth, **sent, bubble=demand.bubble * math)


def critical_batches(sheet: Sheet | str, b: float = 2) -> CriticalBatches:
    """The critical batches of a machine at each level of it, in elements of b bytes.

    >>> [round(x) for x in critical_batches("dgx-h100")]
    [295, 2199, 2474]
    """
    sheet = machine_sheet(sheet) if isinstance(sheet, str) else sheet
    memory, up = float(ridge(sheet.flops, sheet.hbm_bandwidth)), sheet.scaleup_bandwidth
    out = sheet.network_bandwidth * sheet.domain
    return CriticalBatches(
        memory * b / 2, *(float(dp_critical_batch(sheet.flops, W, b)) if W else inf for W in (up, out))
    )


PLANS: Mapping[str, tuple[str, str, Strategy, int, int]] = {
    "dense-tp8": ("Llama 3 70B, tp 8", "llama3-70b", Strategy.of(dp=64, tp=8, pp=4, zero=1), 2**22, 8192),
    "dense-tp16": ("Llama 3 70B, tp 16", "llama3-70b", Strategy.of(dp=64, tp=16, pp=2, zero=1), 2**22, 8192),
    "dense-dp": ("Llama 3 70B, ZeRO-3 alone", "llama3-70b", Strategy.of(dp=512, zero=3), 2**20, 2048),
    "moe-ep8": ("DeepSeek-V3, ep 8", "deepseek-v3", Strategy.of(dp=128, pp=16, ep=8, zero=1), 2**24, 4096),
    "moe-ep64": ("DeepSeek-V3, ep 64", "deepseek-v3", Strategy.of(dp=128, pp=16, ep=64, zero=1), 2**24, 4096),
}
"""Plans to carry from machine to machine: words, model, strategy, tokens of a step and of a sequence."""


def plan_demand(key: str) -> Demand:
    """What a plan of PLANS asks of a rank. Raises KeyError."""
    if key not in PLANS:
        raise KeyError(f"no plan {key!r}; known: {', '.join(PLANS)}")
    _, model, plan, B, T = PLANS[key]
    return demand_of(model, plan, B=B, T=T)
