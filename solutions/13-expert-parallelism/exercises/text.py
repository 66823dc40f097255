"""Names with which the text computes numbers, beside those of the exercises: measured rows, and trials of routers."""

from math import log, sqrt

import numpy as np

from hwlib.calibrated import grouped_time
from hwlib.collectives import mean_destinations
from hwlib.parallel import dp_moe_critical_batch, drawn_spread, ep_latency_time  # noqa: F401  (the text uses it)
from hwlib.specs import accelerators, measured_exchanges, measured_experts, measured_loads, models, nodes
from hwlib.units import GB

H100, H800 = accelerators["h100-sxm"], accelerators["h800-sxm"]
V3 = models["deepseek-v3"]
CARD_RATE = nodes["hgx-h800"].egress_bandwidth / nodes["hgx-h800"].chips
BEFORE, AFTER = measured_loads(256), measured_loads(288)
LAYERS_BEFORE, LAYERS_AFTER = BEFORE[:-1], AFTER[:-1]
STEP_TOKENS = 32 * 1024 // 8  # of all ranks in a step of these loads: 1,024 choices a rank, 8 a token
CHANCE = drawn_spread(STEP_TOKENS, 8, 32)


def preference(row):
    """The spread of a measured layer without the chance of its step, as a share of the mean."""
    return sqrt((row.deviation / row.mean) ** 2 - drawn_spread(row.ranks * row.mean / 8, 8, row.ranks) ** 2)


def expert_spread(row, held=8, E=256):
    """The spread of the logarithms of the experts' loads that gives ranks of `held` experts the layer's preference."""
    of_experts = preference(row) ** 2 * held * (E - 1) / (E - held)
    return sqrt(log(1 + of_experts))


FP8 = 1 + 4 / 128 + 16 / V3.width  # bytes of an element with its scale, and of what DeepEP sends beside each token
NORMAL = [row for row in measured_exchanges("normal", "dispatch") if row.ranks > 8]
LOW = {what: measured_exchanges("low latency", what) for what in ("dispatch", "combine")}
OLD = {what: measured_exchanges("low latency", what, "card") for what in ("dispatch", "combine")}
ELEMENT = {"dispatch": FP8, "combine": 2.0}


def low_time(what, ranks, alpha, inside="nvlink"):
    """The model's time of a low-latency exchange of 128 tokens a GPU."""
    if inside == "nvlink":
        return ep_latency_time(128 * ranks, V3.width, 8, 8, ranks / 8, ELEMENT[what], alpha, CARD_RATE)
    return ep_latency_time(128 * ranks, V3.width, 8, 1, ranks, ELEMENT[what], alpha, CARD_RATE)


def start_of(what, inside="nvlink"):
    """The start that one row, that of 16 ranks, gives."""
    rows = LOW if inside == "nvlink" else OLD
    (row,) = (row for row in rows[what] if row.ranks == 16)
    return row.time - low_time(what, 16, 0.0, inside)


LOW_ERRORS = {
    (what, row.ranks): low_time(what, row.ranks, start_of(what)) / row.time - 1
    for what, rows in LOW.items()
    for row in rows
    if row.ranks > 16
}
PAIRS = [
    (even, skewed)
    for even in measured_experts()
    for skewed in measured_experts()
    if even.skew == 0 < skewed.skew and even[:11] == skewed[:11]
]


def _model_time(row):
    return grouped_time(
        row.chip,
        row.dtype,
        software=row.software,
        kernel=row.kernel,
        tokens=row.tokens,
        hidden=row.hidden,
        width=row.width,
        experts=row.experts,
        topk=row.topk,
        local_experts=row.local,
        gated=row.matrices == 3,
        skew=row.skew,
    )


RATIOS = [(b.time / a.time, _model_time(b) / _model_time(a)) for a, b in PAIRS]  # skewed over even: measured, model


def _busiest(spread, ranks=32, held=8, trials=1000):
    """The mean over trials of the busiest rank's load over the mean, for log-normal loads in no order."""
    drawn = np.exp(spread * np.random.default_rng(5).normal(size=(trials, ranks, held))).mean(axis=2)
    return (drawn.max(axis=1) / drawn.mean(axis=1)).mean()


MODEL58 = _busiest(expert_spread(BEFORE[3]))


def _drawn(B, ranks=32, k=8, E=256):
    """The busiest rank over the mean, on average over the draws of the chapter's cell: k different experts a token.

    So many that the second decimal is known to within one.
    """
    trials = 32_000 // B
    chosen = np.argpartition(np.random.default_rng(7).random((trials * B, E)), k)[:, :k] * ranks // E
    loads = np.array([np.bincount(one.ravel(), minlength=ranks) for one in chosen.reshape(trials, B * k)])
    return (loads.max(axis=1) / loads.mean(axis=1)).mean()


DRAWN = {tokens: _drawn(32 * tokens) for tokens in (1, 2, 4)}
NVLINK_REACHED = 160 * GB  # of an H800, as DeepEP's page says
V2_RATES = {2: 90 * GB, 4: 61 * GB}  # of a dispatch by nodes of eight: DeepEP's README of July 2026, SM90 with CX7


def _v2_nvlink(nodes):
    """What each GPU would hand on over NVLink at the printed rate: a copy for each GPU with one of the experts."""
    most = min(nodes, 4)
    gpus = mean_destinations(8 * most, 8, V3.experts * most // nodes)
    return V2_RATES[nodes] * gpus / mean_destinations(nodes, 8, V3.experts, most) * 7 / 8


V2_NVLINK = {nodes: _v2_nvlink(nodes) for nodes in V2_RATES}
