"""Which plan to take: the quickest is one of many that a model cannot tell apart.

Times err as those of measured steps that are like the plan. They may err by more where they rest on a constant that was
typed, and that no published step of the software has checked: by what half of it (a latency: twice) would add; and
where the plan has what no measured step of the software has. Among plans within these errors one that rests on no such
thing is better founded, and a simpler one is easier to run and to trust.
"""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, NamedTuple

from hwlib.planner.certainty import plan_error, plan_errors
from hwlib.planner.costs import Costed
from hwlib.planner.fits import surely, tight
from hwlib.planner.task import Task
from hwlib.specs import Stack
from hwlib.specs.stack import CONSTANTS
from hwlib.steptime import step_time
from hwlib.strategy import RECOMPUTED, Strategy

NOISE = 0.02
"""Of a step: plans that differ by less are too close to call, for the same run measured twice differs by more."""
MOST, SLOWEST = 20_000, 2.0  # plans whose constants are examined, and by what they are slower than the quickest


class Rest(NamedTuple):
    """A typed constant that a plan's time rests on, and the share by which the step would be longer, were it half as
    good.
    """

    constant: str
    share: float

    def __str__(self) -> str:
        return f"{self.constant}, typed (half as good: {self.share:+.0%})"


def tolerance(error: float) -> float:
    """The share of a step within which plans are too close to call: half of the error of their times, or noise. With
    all of it a simple plan of BLOOM's trials is 4 % slower than the best measured one, with half of it 1 %.
    """
    return max(NOISE, error / 2)


def closeness(task: Task, quickest: Strategy) -> float:
    """That share for a task, by the error to expect of its quickest plan."""
    return tolerance(plan_error(task, quickest).mean)


def typed(stack: Stack) -> tuple[str, ...]:
    """The constants that were neither fitted nor checked, here or on the stack that this is like; none of an ideal
    stack, or of one's own, which says nothing of where its constants come from.
    """
    if not (stack.fitted or stack.like):
        return ()
    return tuple(name for name in CONSTANTS if stack.origin(name) == "typed")


def worse(stack: Stack, name: str) -> Stack | None:
    """The stack with one constant half as good: half a share, twice a time; None where it loses, or costs, nothing."""
    value = getattr(stack, name)
    if value in (0, inf):
        return None
    return stack.replace(**{name: value / 2 if CONSTANTS[name][0] == "1" else 2 * value})


def rests_of(task: Task, strategy: Strategy) -> dict[str, Any]:
    """For each typed constant, the share by which the step of a plan, or of columns of them, would be longer, were it
    half as good.
    """
    names = [name for name in typed(task.stack) if worse(task.stack, name)]
    base = step_time(task, strategy).total if names else 0.0
    return {name: step_time(task, strategy, stack=worse(task.stack, name)).total / base - 1 for name in names}


def rests(task: Task, strategy: Strategy) -> tuple[Rest, ...]:
    """What one plan rests on, the most important first: typed constants that could make it longer by more than noise.

    >>> from hwlib.planner.task import task_of
    >>> task = task_of("llama3-70b", "superpod-h100-1su", B=2**22)
    >>> [one.constant for one in rests(task, Strategy.of(gpus=256, tp=16, zero=1))]
    ['alpha_out']
    """
    shares = {name: float(share) for name, share in rests_of(task, strategy).items()}
    return tuple(sorted((Rest(*item) for item in shares.items() if item[1] > NOISE), key=lambda one: -one.share))


def complexity(strategy: Strategy, m: Any, layers: int = 0) -> tuple[Any, ...]:
    """What a plan should have little of, the most important last, as `numpy.lexsort` takes keys.

    Experts folded over tensor parallelism, for then every rank stands in two meshes. Recomputation, for of equally
    quick plans one that computes less takes less energy. Several chunks of a stage among which the model's `layers` do
    not divide, for the software must be told them one by one. Pieces, which are microbatches times chunks of layers:
    each has launches, messages and waits, which the model knows least. Kinds of parallelism beside data parallelism,
    ZeRO's gathers (stage 3) among them. Ranks of a replica. HSDP. A lower stage of ZeRO is no simpler plan: it is the
    same one with less memory free.
    """
    s = strategy
    kinds = sum(1.0 * (degree > 1) for degree in (s.tp, s.cp, s.ep, s.pp)) + (s.zero == 3)
    again = 1.0 * (s.recompute_code > 0) + (s.recompute_code == RECOMPUTED.index("full"))
    uneven = 1.0 * (s.v > 1) * (layers % (s.pp * s.v) > 0)
    return 1.0 * s.hybrid, s.tp * s.cp * s.pp * s.ep, kinds, m * s.v, uneven, again, 1.0 * s.folded


Order = Callable[[Strategy, Any], tuple[Any, ...]]


def choose(
    seconds: Any, risk: Any, strategy: Strategy, m: Any, error: float, order: Order = complexity, tight: Any = None
) -> int:
    """Position of the plan to take among columns of plans: the least by `order`, of equals the quickest. Plans that are
    `tight`, without headroom in memory, come after all others: what they leave out to be simple is what had made room.

    `risk` is the share by which typed constants could make each plan longer. Of plans within the error of the quickest,
    those count that no typed constant moves by more than the error. If it moves the quickest, that may err by as much:
    then they may be slower by as much. Where all rest on some, those within the error count.
    """
    import numpy as np

    first = int(np.argmin(seconds))
    among = seconds <= (1 + error) * seconds[first]
    founded = (risk <= error) & (seconds <= (1 + max(error, risk[first])) * seconds[first])
    if founded.any():
        among = founded & (seconds <= (1 + error) * seconds[founded].min())
    at = np.flatnonzero(among)
    criteria = (*order(strategy, m), 0.0 if tight is None else tight)
    keys = [np.broadcast_to(key, among.shape)[at] for key in criteria]
    return int(at[np.lexsort((seconds[at], *keys))[0]])


def advised(task: Task, costed: Costed) -> int:
    """Position of the plan to take, of all that fit; where none does, of those that may not."""
    import numpy as np

    good = surely(task, costed.memory)
    seconds = np.where(good, costed.seconds, np.nan) if good.any() else costed.seconds
    order = np.argsort(seconds)[:MOST]  # plans that are left out are last
    error, least = closeness(task, costed.strategy[int(order[0])]), seconds[order[0]]
    slowest = min(SLOWEST, 1 + max(error, _risk(task, costed.strategy[order[:1]])[0]))  # `choose` takes none beyond
    order = order[seconds[order] <= slowest * least]
    strategy = costed.strategy[order]
    risk, room = _risk(task, strategy), tight(task, costed.memory[order])
    simple = partial(complexity, layers=task.model.layers)
    return int(order[choose(seconds[order], risk, strategy, costed.m[order], error, simple, room)])


def _risk(task: Task, strategy: Strategy) -> Any:
    """For each plan of columns, the most that a typed constant could make it longer by, or that it may err by for what
    no measured step has, as a share.
    """
    import numpy as np

    risk = plan_errors(task, strategy)
    for share in rests_of(task, strategy).values():
        risk = np.maximum(risk, share)
    return risk
