"""A training run: its utilization of the machine, the cost of failures, and its time, energy and money.

A step has B tokens on n ranks of peak rate C. The operations that the model requires are
`hwlib.transformer.step_flops`; recomputation comes on top, and counts for HFU but not for MFU.

>>> training_run("llama3-405b", "h100-sxm", B_run=15.6e12, n=16384, mfu=0.40)
<TrainingRun: 3.937e+25 FLOP, 70.28 days, 76.61 TJ>
"""

from math import exp, expm1
from typing import NamedTuple

from hwlib.formula import formula, sqrt, where
from hwlib.specs import Accelerator, Model, accelerators, models
from hwlib.transformer import step_flops, training_flops
from hwlib.units import show

__all__ = [
    "TrainingRun",
    "best_goodput_fraction",
    "cluster_mtbf",
    "daly_interval",
    "exact_goodput",
    "expected_failures",
    "goodput_fraction",
    "gpt_selective_flops",
    "hardware_utilization",
    "model_utilization",
    "run_cost",
    "run_energy",
    "run_time",
    "slow_fraction",
    "step_time_at",
    "token_rate",
    "token_rate_at",
    "training_run",
    "utilization_of_run",
    "wall_time",
    "young_interval",
]


# Utilization


@formula("mfu", cite="chowdhery2022")
def model_utilization(flops, t_step, n, C):
    """MFU counts only the operations that the model requires, so runs with and without recomputation are comparable."""
    return flops / (t_step * n * C)


@formula("hfu", cite="chowdhery2022")
def hardware_utilization(flops, t_step, n, C):
    """HFU counts all operations, recomputed ones too, so recomputation raises it without making the run faster."""
    return flops / (t_step * n * C)


@formula("flops", cite="korthikanti2022")
def gpt_selective_flops(B, T, L, D, V):
    """GPT with attention recomputed: forward once, backward twice and forward again make 4/3 of the term T/6D."""
    return 72 * B * L * D**2 * (1 + 2 * T / (9 * D) + V / (12 * L * D))


@formula("R_tok", cite="chowdhery2022")
def token_rate(B, t_step):
    """Tokens per second of the whole machine."""
    return B / t_step


@formula("R_tok", cite="scaling-book")
def token_rate_at(P, n, C, mfu):
    """Tokens per second at an MFU: six operations per parameter and token; attention is neglected."""
    return n * C * mfu / training_flops(P, 1)


@formula("t_step", cite="scaling-book")
def step_time_at(flops, n, C, mfu):
    """Time of a step from its operations and an MFU."""
    return flops / (n * C * mfu)


@formula("t", cite="scaling-book")
def run_time(P, B_run, n, C, mfu):
    """6PB operations at the achieved rate; failures, attention, start and end of the run are neglected."""
    return training_flops(P, B_run) / (n * C * mfu)


@formula("mfu", cite="scaling-book")
def utilization_of_run(P, B_run, n, C, t):
    """MFU from what papers print: active parameters, tokens, and time on n ranks (n*t: rank hours)."""
    return training_flops(P, B_run) / (n * t * C)


# Stragglers


@formula("p_step", cite="dean2013")
def slow_fraction(p_slow, n):
    """A synchronous step is slow if any of its n ranks is, each by itself with probability p_slow."""
    return 1 - (1 - p_slow) ** n


# Failures


@formula("t_mtbf", cite="kokolis2024")
def cluster_mtbf(t_node, n_out):
    """The failure of any node stops the job: n_out nodes fail n_out times as often as one."""
    return t_node / n_out


@formula("failures", cite="kokolis2024")
def expected_failures(t, t_mtbf):
    """Expected failures in time t, if they occur at a constant rate, independently of each other."""
    return t / t_mtbf


@formula("tau", cite="young1974")
def young_interval(t_save, t_mtbf):
    """The best interval to first order: checkpoints, t_save/tau, cost as much as lost work, tau/2 per failure."""
    return sqrt(2 * t_save * t_mtbf)


@formula("tau", cite="daly2006")
def daly_interval(t_save, t_mtbf):
    """The best interval to higher order, for checkpoints that are not short compared to the time between failures.

    Near `young_interval` minus t_save for short ones; t_mtbf itself from t_save = 2 t_mtbf on.
    """
    return where(
        t_save < 2 * t_mtbf,
        sqrt(2 * t_save * t_mtbf) * (1 + sqrt(t_save / (2 * t_mtbf)) / 3 + t_save / (2 * t_mtbf) / 9) - t_save,
        t_mtbf,
    )


@formula("goodput", cite="young1974")
def goodput_fraction(tau, t_save, t_back, t_mtbf):
    """The fraction of the time left for training after checkpoints, and half an interval and a restart per failure.

    First order: negative where failures come faster than the job restarts; `exact_goodput` never is.
    """
    return 1 - t_save / tau - (tau / 2 + t_back) / t_mtbf


@formula("goodput", cite="young1974")
def best_goodput_fraction(t_save, t_back, t_mtbf):
    """The goodput at Young's interval: faster checkpoints help only by their square root, faster restarts in full."""
    return 1 - sqrt(2 * t_save / t_mtbf) - t_back / t_mtbf


def exact_goodput(tau: float, t_save: float, t_back: float, t_mtbf: float) -> float:
    """The exact fraction of the time that is training, with failures at random (daly2006), also during a
    checkpoint or a restart.

    Time tau of work takes t_mtbf * exp(t_back/t_mtbf) * (exp((tau + t_save)/t_mtbf) - 1) on average.

    >>> round(exact_goodput(tau=1800, t_save=60, t_back=600, t_mtbf=3 * 3600), 3)
    0.839
    """
    if not (tau > 0 and t_mtbf > 0 and t_save >= 0 and t_back >= 0):
        raise ValueError(f"times are positive: tau={tau}, t_save={t_save}, t_back={t_back}, t_mtbf={t_mtbf}")
    try:
        return tau / t_mtbf * exp(-t_back / t_mtbf) / expm1((tau + t_save) / t_mtbf)
    except OverflowError:
        return 0.0


@formula("t", cite="daly2006")
def wall_time(t, goodput):
    """Time of the run including the cost of failures and checkpoints."""
    return t / goodput


# Energy and money


@formula("energy", cite="patterson2021")
def run_energy(n, P_el, t, pue=1.1):
    """Energy of n ranks and of the data centre's overhead; P_el is the power of one rank in training."""
    return n * P_el * t * pue


@formula("cost", cite="deepseek-v3")
def run_cost(n, price, t):
    """Rent of n ranks for time t."""
    return n * price * t


class TrainingRun(NamedTuple):
    """A training run: seconds of training at the MFU, seconds with failures, their number, joules and dollars.

    `interval` is the training time between two checkpoints, `goodput` the fraction of the time that is training;
    `energy` is None if the power of the chip is unknown.
    """

    flops: float
    time: float
    wall_time: float
    goodput: float
    interval: float
    failures: float
    energy: float | None
    cost: float

    def __repr__(self) -> str:
        parts = [f"{self.flops:.4g} FLOP", show(self.wall_time, "s")]
        if self.goodput < 1:
            parts += [f"goodput {show(self.goodput, '%')}", f"{self.failures:.4g} failures"]
        if self.energy is not None:
            parts.append(show(self.energy, "J"))
        if self.cost:
            parts.append(f"{self.cost:,.0f} dollars")
        return f"<TrainingRun: {', '.join(parts)}>"


def training_run(
    model: Model | str,
    chip: Accelerator | str,
    *,
    B_run: float,
    n: int,
    mfu: float,
    T: int | None = None,
    causal: bool = True,
    node: int = 8,
    t_node: float | None = None,
    t_save: float = 0.0,
    t_back: float = 0.0,
    power: float | None = None,
    pue: float = 1.1,
    price: float = 0.0,
    dtype: str = "bf16",
) -> TrainingRun:
    """Training `model` with B_run tokens on n of `chip`, at an MFU relative to the dense rate of `dtype`.

    T is the sequence length, by default the model's context but at most 8192; t_node the mean time between failures of
    one node of `node` ranks (None: no failures); t_save and t_back the times of a checkpoint and a restart; power in
    watts (by default the chip's TDP); price in dollars per second and rank.
    """
    model, chip = models.of(model), accelerators.of(chip)
    if not 0 < mfu <= 1:
        raise ValueError(f"an MFU is above 0 and at most 1, not {mfu}")
    peak, watts = chip.flops(dtype), chip.tdp if power is None else power
    flops = float(step_flops(model, B_run, T or min(model.context, 8192), causal))
    time = float(step_time_at(flops, n, peak, mfu))
    interval, goodput, mtbf = float("inf"), 1.0, float("inf")
    if t_node is not None:
        mtbf = float(cluster_mtbf(t_node, max(n / node, 1)))
        interval = float(daly_interval(t_save, mtbf)) if t_save else 0.0
        goodput = exact_goodput(interval, t_save, t_back, mtbf) if interval else exp(-t_back / mtbf)
    wall = time / goodput if goodput else float("inf")
    energy = None if watts is None else float(run_energy(n, watts, wall, pue))
    cost = float(run_cost(n, price, wall)) if price else 0.0
    return TrainingRun(flops, time, wall, goodput, interval, wall / mtbf, energy, cost)
