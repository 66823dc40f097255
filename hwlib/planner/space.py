"""Every plan of the grid, as columns, and why most of them are invalid.

The plans are the points of a grid: tp, pp, cp, ep, micro, schedule with v, ZeRO, recomputation, sp, and the ranks that
ZeRO divides states among; dp is what the GPUs leave over. What the software lacks is rejected like what cannot be.
Rules are cheap and come first, axis by axis, so that points that share what is wrong are never
listed one by one; they count all the same, so that what is rejected and what is left add up to the grid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from math import prod
from typing import Any

from hwlib.constraints import (
    BATCH,
    EXPERT_RANKS,
    GPUS,
    MICROBATCH,
    PIPELINE,
    SHAPE,
    SHARDS,
    TWO_CHUNKS,
    WHOLE_NODES,
    Rule,
    Setting,
    degree_rules,
    recompute_rules,
    schedule_rules,
    shard_rules,
    zero_rules,
)
from hwlib.planner.allowed import WHOLE, Axes
from hwlib.planner.task import Task
from hwlib.strategy import RECOMPUTED, SCHEDULES, Strategy


@dataclass
class Space:
    """The valid plans, as columns, with the microbatches `m` of a replica; `rejected` ones by their reason."""

    strategy: Strategy
    m: Any
    considered: int
    rejected: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of plans left."""
        return self.strategy.size


def space(task: Task, axes: Axes) -> Space:
    """The plans of the grid that are valid, memory aside, and how many are rejected for which reason."""
    import numpy as np

    setting = task.setting
    sieve = _Sieve(setting, considered=prod(len(axis) for axis in axes.sides))
    sieve.expand(**axes.mesh)
    _cut_experts(sieve, axes)
    has = setting.features
    degrees = degree_rules(has) if has else ()
    sieve.obey((*(rule for rule in degrees if rule.option != "sp"), *SHAPE, GPUS))
    sieve.columns["dp"] = setting.gpus // (sieve["tp"] * sieve["pp"] * sieve["cp"])
    sieve.obey((BATCH, EXPERT_RANKS, WHOLE_NODES))
    sieve.expand(micro=axes.micro)
    sieve.obey((MICROBATCH,))
    sieve.columns["m"] = setting.sequences // (sieve["dp"] * sieve["micro"])
    sieve.expand(form=range(len(axes.forms)))
    codes = np.array([SCHEDULES.index(word) for word, _ in axes.forms])
    sieve.columns["schedule"] = codes[sieve["form"]]
    sieve.columns["v"] = np.array([v for _, v in axes.forms])[sieve.columns.pop("form")]
    sieve.obey(schedule_rules(has) if has else ())
    _keep_one_form_without_pipeline(sieve, first=axes.forms[0])
    sieve.obey(PIPELINE)
    sieve.expand(zero=axes.zero)
    sieve.obey(zero_rules(has) if has else ())
    sieve.expand(recompute=[RECOMPUTED.index(word) for word in axes.recompute], sp=axes.sp)
    sieve.obey(recompute_rules(has, axes.recompute) if has else ())
    sieve.obey(rule for rule in degrees if rule.option == "sp")
    alone = (sieve["dp"] * sieve["cp"] == 1) & (sieve["zero"] > min(axes.zero))
    sieve.keep(~alone, "ZeRO without another rank to share with")
    idle = sieve["sp"] & (sieve["tp"] == 1) if len(axes.sp) > 1 else np.zeros(sieve["tp"].size, bool)
    sieve.keep(~idle, "sequence parallelism without tensor parallelism")
    _share_states(sieve, task, axes.shards)
    strategy = Strategy(**{f.name: sieve[f.name] for f in fields(Strategy) if f.name in sieve.columns})
    return Space(strategy, sieve["m"].astype(float), sieve.considered, sieve.rejected)


def _cut_experts(sieve: "_Sieve", axes: Axes) -> None:
    """Experts that are cut like other matrices, unless that makes them too narrow, or among a number of ranks that is
    another one.
    """
    import numpy as np

    if WHOLE not in axes.etp or len(axes.etp) == 1:
        return
    like_others = sieve["etp"] == WHOLE
    sieve.keep(~like_others | ~np.isin(sieve["tp"], axes.narrow), "tp cuts experts too narrow")
    like_others = sieve["etp"] == WHOLE
    sieve.keep(like_others | (sieve["etp"] != sieve["tp"]), "etp is tp, which is counted already")
    sieve.columns["etp"] = np.where(sieve["etp"] == WHOLE, sieve["tp"], sieve["etp"])


def _keep_one_form_without_pipeline(found: "_Sieve", first: tuple[str, int]) -> None:
    """Without a pipeline there is one schedule, the first of the forms, and it has one chunk."""
    import numpy as np

    word, chunks = first
    usable = word in TWO_CHUNKS or chunks == 1  # chunks that were asked for want a pipeline
    alone = usable & (found["schedule"] == SCHEDULES.index(word)) & (found["v"] == chunks)
    found.keep((found["pp"] > 1) | alone, "a schedule without a pipeline")
    found.columns["v"] = np.where(found["pp"] == 1, 1, found["v"])
    found.columns["schedule"] = np.where(found["pp"] == 1, SCHEDULES.index("1f1b"), found["schedule"])


def _share_states(found: "_Sieve", task: Task, shards: Sequence[int]) -> None:
    """Every plan with all its ranks as shards, and with each number of them that can be (HSDP).

    The usual ones fill a node, or a level above: the states are gathered where it is quick, and summed beyond.
    """
    import numpy as np

    if tuple(shards) == (WHOLE,):
        return
    usual, sizes, below = WHOLE in shards, [], 1
    for level in task.machine.levels:
        below *= level.size
        sizes.append(below)
    found.rest //= len(shards)
    parts: list[tuple[Any, Any]] = []
    for n in shards:
        at = np.arange(found["tp"].size)
        if n != WHOLE:
            at = _sharded(found, n, at, sizes if usual else [])
        parts.append((at, found["dp"][at] * found["cp"][at] if n == WHOLE else np.full(at.size, n)))
    rows = np.concatenate([at for at, _ in parts])
    found.columns = {name: column[rows] for name, column in found.columns.items()}
    found.columns["shards"] = np.concatenate([n for _, n in parts])


def _sharded(found: "_Sieve", n: int, at: Any, sizes: Sequence[int]) -> Any:
    """Of the plans at these positions those whose states n ranks may divide; with `sizes` these must fill one, and be
    fewer than all, which stand in the grid already.
    """
    import numpy as np

    has = found.setting.features
    if sizes:
        at = found.among(at, np.isin(found["tp"][at] * n, sizes), "shards that fill no node")
        at = found.among(at, found["dp"][at] * found["cp"][at] > n, "shards do not divide dp*cp")
    for rule in (*(shard_rules(has) if has else ()), *SHARDS):
        at = found.among(at, rule.holds(found.setting, found.strategy(at, shards=n)), rule.reason)
    return at


class _Sieve:
    """Columns that grow by an axis and shrink by a rule, with what each rule took away."""

    def __init__(self, setting: Setting, considered: int):
        self.setting = setting
        self.columns: dict[str, Any] = {}
        self.considered = self.rest = considered
        self.rejected: dict[str, int] = {}

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def strategy(self, at: Any = None, **degrees: Any) -> Strategy:
        """The plans so far, or those at some positions, as far as their degrees are chosen."""
        columns = self.columns if at is None else {name: column[at] for name, column in self.columns.items()}
        return _USUAL.unchecked({**columns, **degrees})

    def expand(self, **axes: Any) -> None:
        """Every plan so far with every value of these axes."""
        import numpy as np

        for name, values in axes.items():
            values = np.asarray(values)
            size = next(iter(self.columns.values())).size if self.columns else 1
            self.columns = {key: np.repeat(column, values.size) for key, column in self.columns.items()}
            self.columns[name] = np.tile(values, size)
            self.rest //= values.size

    def reject(self, count: int, reason: str) -> None:
        """So many points count as rejected; the reason stands last."""
        if count:
            self.rejected[reason] = self.rejected.pop(reason, 0) + count

    def obey(self, rules: Iterable[Rule]) -> None:
        """Only the plans that obey these rules."""
        for rule in rules:
            self.keep(rule.holds(self.setting, self.strategy()), rule.reason)

    def keep(self, good: Any, reason: str) -> None:
        """Only the plans that are `good`; the others, times all values of the remaining axes, count as rejected."""
        import numpy as np

        good = np.broadcast_to(good, next(iter(self.columns.values())).shape)
        lost = int(good.size - good.sum())
        if lost:
            self.reject(lost * self.rest, reason)
            self.columns = {key: column[good] for key, column in self.columns.items()}

    def among(self, at: Any, good: Any, reason: str) -> Any:
        """Of these positions those that are `good`; the others count as rejected."""
        import numpy as np

        good_ones = at[np.broadcast_to(good, at.shape)]
        self.reject(at.size - good_ones.size, reason)
        return good_ones


_USUAL = Strategy()
