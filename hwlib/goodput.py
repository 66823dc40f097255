"""The whole of a training run: its expected time and price with interruptions, checkpoints, repairs and slow ranks.

`hwlib.training` has the formulas of failures and checkpoints; here they meet the constants of published runs, each of
which says where it comes from (`Reliability.sources`), and make one account of where the time goes (`ExpectedRun`).

A checkpoint is copied to the hosts' memory while training waits, and written to the storage beside the training; or
training waits for all of it (`blocking`). A failure falls back to the newest checkpoint that is written: with the next
one always under way for t_write, that is as if each restart took t_write longer, and so `exact_goodput` holds for both.

>>> found = expected_run(Job(steps=10_000, t_step=6, gpus=16384, node=8, state=14 * 405e9), published())
>>> round(found.goodput, 3), round(found.mtbf / 3600, 1)
(0.932, 3.1)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from math import ceil, exp, inf
from types import MappingProxyType
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.formula import formula
from hwlib.specs import measured_checkpoint, measured_failures, measured_interruptions
from hwlib.training import cluster_mtbf, daly_interval, exact_goodput, expected_failures, run_cost
from hwlib.units import day, minute, show

__all__ = [
    "ExpectedRun",
    "Job",
    "Reliability",
    "cheapest_spares",
    "expected_run",
    "published",
    "save_time",
    "saved_state_bytes",
    "slowest_of",
    "waiting_share",
]

TYPED = "typed"
GIVEN = "given"
SOFTWARE = ("dependency", "unknown")
"""Parts of `measured_interruptions` that leave every node in its place; what the rest stops is taken for broken."""
T_DETECT = 10 * minute
"""From a failure to the start of the job anew: detection and diagnosis took less (megascale), all of a restart is
"often more" at 10,000 GPUs (byterobust)."""
VARIATION = 0.08
"""Of a GPU's time, from the quick to the slow ones of a cluster: the average of five, without outliers (sinha2022)."""
WHISKERS = 5.396
"""Standard deviations between the whiskers of a box plot of a normal distribution: VARIATION is read as these."""
NO_WAIT = 1e-3  # of the time: spares that leave less waiting than this are enough where time is all that counts
NEVER = 1e-6  # a goodput below it is no run
MOST_SPARES = 100_000


@formula("S_save", cite="bloom-log")
def saved_state_bytes(P, b_w=2, b_opt=12):
    """Weights and optimizer are written, gradients are not: 14 bytes a parameter with Adam in mixed precision."""
    return (b_w + b_opt) * P


@formula("t", cite="bloom-log")
def save_time(S_save, n, W_save):
    """All ranks write at once, each its share: more of them write sooner, while the storage keeps up."""
    return S_save / (n * W_save)


def slowest_of(n: float) -> float:
    """By how many standard deviations the slowest of n ranks is expected to be slower than the mean, if their times are
    normally distributed: Blom's approximation, which agrees with the table of harter1961 to 1 % from eight ranks on.

    >>> round(slowest_of(1), 2), round(slowest_of(1000), 2)
    (0.0, 3.23)
    """
    from statistics import NormalDist

    if not (is_number(n) and n >= 1):
        raise ValueError(f"expected a number of ranks, at least 1, got {n!r}")
    return max(NormalDist().inv_cdf((n - 0.375) / (n + 0.25)), 0.0)


def waiting_share(spares: int, broken: float) -> float:
    """The share of the time in which one node more is broken than there are spares, so that the job waits.

    `broken` nodes are in repair on average where none ever waits: the repair time over the time between breakdowns. A
    job that waits breaks no node, so this is Erlang's loss formula (erlang1917) with spares + 1 lines, whatever the
    distribution of repair times is. Where it is small it is the tail of a Poisson distribution.

    >>> waiting_share(0, 1.0), round(waiting_share(9, 5.0), 4)
    (0.5, 0.0184)
    """
    blocked = 1.0
    for lines in range(1, spares + 2):
        blocked = broken * blocked / (lines + broken * blocked)
    return blocked


def cheapest_spares(nodes: float, broken: float) -> int:
    """The spare nodes with which nodes and spares together are held for the least time.

    One more costs 1/nodes of everything, and saves the share of the time in which exactly one node too few is there.

    >>> cheapest_spares(2048, 6.6), cheapest_spares(4, 0.01)
    (16, 0)
    """
    best, least, spares = 0, inf, 0
    while nodes + spares < least and spares <= MOST_SPARES:
        held = (nodes + spares) / (1 - waiting_share(spares, broken))
        if held < least:
            best, least = spares, held
        spares += 1
    return best


@dataclass(frozen=True)
class Reliability:
    """What interrupts and delays a run, in SI; `sources` says of each number where it comes from.

    A GPU is interrupted every `t_gpu` seconds on average, and a share `broken` of its interruptions takes its node out
    for `t_repair`. The job starts anew `t_detect` after an interruption and then reads its checkpoint; `t_back`, if
    given, is both. A GPU's part of a checkpoint is copied to the host at `copy` B/s, written at `write` and read at
    `read` B/s, or that of all together at `storage`. Training waits for the copy, or for the whole (`blocking`);
    `interval` is the training time between two (None: the best). The times of GPUs have a standard deviation of
    `spread`, a share. `spares` are nodes kept aside: a number, "price" for the cheapest, or "time" for as many as leave
    waiting below 0.1 %. Raises ValueError.
    """

    t_gpu: float
    broken: float
    t_detect: float
    t_repair: float
    copy: float
    write: float
    read: float
    spread: float
    t_back: float | None = None
    storage: float | None = None
    interval: float | None = None
    blocking: bool = False
    spares: int | str = "price"
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)

    def __post_init__(self) -> None:
        for name, (low, high, expected) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not (is_number(value) and low <= value <= high):
                raise ValueError(f"{name}: expected {expected}, got {value!r}")
        if self.spares not in ("price", "time") and self.spares not in range(MOST_SPARES + 1):
            raise ValueError(f"spares: expected a whole number of nodes, 'price' or 'time', got {self.spares!r}")

    def given(self, **changes: Any) -> "Reliability":
        """The same with some numbers of one's own, whose source is then "given". Raises ValueError, for an unknown name
        too."""
        known = {f.name for f in fields(self)} - {"sources"}
        if odd := [name for name in changes if name not in known]:
            raise ValueError(f"{odd[0]}: expected one of {', '.join(sorted(known))}")
        sources = MappingProxyType({**self.sources, **dict.fromkeys(changes, GIVEN)})
        return replace(self, **changes, sources=sources)

    @property
    def typed(self) -> tuple[str, ...]:
        """The numbers that nobody has published."""
        return tuple(name for name, source in self.sources.items() if source.startswith(TYPED))


_RATE = (1e-300, inf, "bytes per second above 0")
_TIME = (0.0, 1e15, "seconds of at least 0")
_RANGES = {
    "t_gpu": (1.0, inf, "the seconds between two interruptions of one GPU, at least 1"),
    "broken": (0, 1, "a share"),
    "t_detect": _TIME,
    "t_repair": _TIME,
    "t_back": _TIME,
    "interval": (1e-9, inf, "seconds above 0"),
    "copy": _RATE,
    "write": _RATE,
    "read": _RATE,
    "storage": _RATE,
    "spread": (0, 1, "a share"),
}


@cache
def published(key: str = "llama3-405b") -> Reliability:
    """The constants of published runs; the rate of interruptions is that of a row of measured_failures.csv.

    >>> published().typed
    ('t_repair', 'spread')
    >>> published("rsc-1").t_gpu < published("rsc-2").t_gpu
    True

    Raises KeyError for an unknown row, and ValueError for one that prints no rate.
    """
    run, saved = measured_failures(key), measured_checkpoint("bytecheckpoint-405b")
    causes = measured_interruptions()
    broken = sum(row.times for row in causes if row.part not in SOFTWARE) / sum(row.times for row in causes)
    gpus, save, load = saved.gpus or 1, saved.save or inf, saved.load or inf
    part = float(saved_state_bytes(saved.params)) / gpus
    measured = f"{saved.source}, {saved.name} on {gpus:,} GPUs"
    sources = {
        "t_gpu": f"{run.source}, {run.name}",
        "broken": "llama3, its interruptions other than by software",
        "t_detect": "megascale, which took less, and byterobust",
        "copy": measured,
        "write": measured,
        "read": measured,
        "t_repair": f"{TYPED}: no source prints how long a node is away",
        "spread": f"{TYPED}: sinha2022 measured older GPUs, and its range of 8 % is read as that of a normal spread",
    }
    return Reliability(
        t_gpu=run.t_gpu,
        broken=broken,
        t_detect=T_DETECT,
        t_repair=day,
        spread=VARIATION / WHISKERS,
        copy=part / saved.blocked,
        write=part / save,
        read=part / load,
        sources=MappingProxyType(sources),
    )


class Job(NamedTuple):
    """A run: so many `steps` of `t_step` seconds on `gpus` in nodes of `node`; a checkpoint has `state` bytes.

    `busy` is the share of a step that a slow rank makes longer, and `fitted` the GPUs whose slowest one t_step already
    has in it; `price` in dollars per second and GPU.
    """

    steps: float
    t_step: float
    gpus: int
    node: int
    state: float
    busy: float = 1.0
    fitted: float = 1.0
    price: float = 0.0

    @property
    def nodes(self) -> float:
        """Nodes that the job occupies, a started one as a whole."""
        return ceil(self.gpus / self.node)


@dataclass(frozen=True)
class ExpectedRun:
    """What a run is expected to take, by its parts, in seconds; their sum is `time`.

    `ideal` is steps times step time. `stragglers` are what the slowest rank adds; `saving` the waits for checkpoints;
    `again` the work done again; `restarting` from a failure to the reading of the checkpoint; `waiting` for a repair,
    when more nodes are broken than there are `spares`. A checkpoint is taken every `every` steps, `interval` seconds of
    training apart; training waits `t_save` for it, and it is written `t_write` later; a restart takes `t_back`.
    """

    job: Job
    reliability: Reliability
    ideal: float
    stragglers: float
    saving: float
    again: float
    restarting: float
    waiting: float
    mtbf: float
    every: int
    interval: float
    t_save: float
    t_write: float
    t_back: float
    spares: int

    @property
    def parts(self) -> dict[str, float]:
        """Seconds by what they are spent on, `ideal` first."""
        return {name: getattr(self, name) for name in PARTS}

    @property
    def time(self) -> float:
        """Seconds from the first step to the last."""
        return sum(self.parts.values())

    @property
    def goodput(self) -> float:
        """The share of the time in which training gets on, at the speed of its slowest rank, as published shares of
        effective training time are counted."""
        return (self.ideal + self.stragglers) / self.time

    @property
    def failures(self) -> float:
        """Interruptions that are expected. A job that waits for a repair has none."""
        return float(expected_failures(self.time - self.waiting, self.mtbf))

    @property
    def gpus(self) -> int:
        """GPUs that are held, with those of the spare nodes."""
        return self.job.gpus + self.spares * self.job.node

    @property
    def gpu_time(self) -> float:
        """Seconds of all GPUs that are held, together."""
        return self.gpus * self.time

    @property
    def cost(self) -> float:
        """Dollars for all GPUs that are held; 0 where they have no price."""
        return float(run_cost(self.gpus, self.job.price, self.time)) if self.job.price else 0.0


PARTS = ("ideal", "stragglers", "saving", "again", "restarting", "waiting")


def expected_run(job: Job, reliability: Reliability | None = None) -> ExpectedRun:
    """The expected time of a run, with interruptions at random, also during a checkpoint and during a restart.

    Raises ValueError where the job is interrupted so often that it never ends, and for an interval that is shorter than
    the writing of a checkpoint.
    """
    r = published() if reliability is None else reliability
    mtbf = float(cluster_mtbf(r.t_gpu / job.node, job.gpus / job.node))
    slow = 1 + job.busy * r.spread * max(slowest_of(job.gpus) - slowest_of(job.fitted), 0.0)
    whole = job.state / r.storage if r.storage else float(save_time(job.state, job.gpus, r.write))
    t_save, t_write = (whole, 0.0) if r.blocking else (job.state / job.gpus / r.copy, whole)
    load = job.state / r.storage if r.storage else float(save_time(job.state, job.gpus, r.read))
    t_back = r.t_detect + load if r.t_back is None else r.t_back
    step = job.t_step * slow
    every = _steps_between(r, step, t_save, t_write, mtbf)
    interval = every * step
    share = exact_goodput(interval, t_save, t_back + t_write, mtbf)
    if share < NEVER:
        raise ValueError(
            f"mtbf: {job.gpus:,} GPUs are interrupted every {show(mtbf, 's', 3)}, and {show(interval, 's', 3)} of work "
            f"with a restart of {show(t_back + t_write, 's', 3)} hardly ever fit between; expected longer"
        )
    work = job.steps * step
    running = work / share
    saving = job.steps / every * t_save
    restarting = running * (1 - exp(-t_back / mtbf))  # each failure begins a restart, which the next one may cut short
    broken = r.broken * r.t_repair / mtbf
    spares = _spares(r.spares, job.nodes, broken)
    standing = waiting_share(spares, broken)
    return ExpectedRun(
        job,
        r,
        ideal=job.steps * job.t_step,
        stragglers=work - job.steps * job.t_step,
        saving=saving,
        again=max(running - work - saving - restarting, 0.0),
        restarting=restarting,
        waiting=running * standing / (1 - standing),
        mtbf=mtbf,
        every=every,
        interval=interval,
        t_save=t_save,
        t_write=t_write,
        t_back=t_back,
        spares=spares,
    )


def _steps_between(r: Reliability, step: float, t_save: float, t_write: float, mtbf: float) -> int:
    """Steps between two checkpoints: those asked for, or Daly's, and at least those that a checkpoint is written in."""
    least = max(ceil(t_write / step), 1)
    if r.interval is None:
        return max(round(float(daly_interval(t_save, mtbf)) / step), least)
    if r.interval < t_write:
        raise ValueError(
            f"interval: a checkpoint is written in {show(t_write, 's', 3)}; expected at least that, got "
            f"{show(r.interval, 's', 3)}"
        )
    return max(round(r.interval / step), least)


def _spares(asked: int | str, nodes: float, broken: float) -> int:
    if asked == "price":
        return cheapest_spares(nodes, broken)
    if asked == "time":
        return next(n for n in range(MOST_SPARES) if waiting_share(n, broken) < NO_WAIT)
    return int(asked)
