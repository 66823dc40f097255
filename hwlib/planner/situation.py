"""What a training plan is to the table of measured steps: features and amounts, as its error depends on them."""

from collections.abc import Mapping, Sequence
from typing import Any

from hwlib.expected_error import Situation, model_features
from hwlib.planner.task import Task
from hwlib.specs import Stack, stacks
from hwlib.specs.prediction_errors import TRAINING
from hwlib.strategy import RECOMPUTED, SCHEDULES, Strategy
from hwlib.transformer import parameter_count

FULL, PLAIN = RECOMPUTED.index("full"), SCHEDULES.index("1f1b")
ONE_GPU = "one-gpu"
BITS = {"fp8": "fp8", "fp4": "fp4"}


def task_features(task: Task) -> frozenset[str]:
    """What every plan of a task has."""
    software = task.software
    where = "nodes" if task.gpus > task.machine.full_node else "one-node"
    place = ONE_GPU if task.gpus == 1 else where
    has = {
        "scores": not software.fused,
        "adapters": bool(task.trained and task.trained.adapters),
        "offload": software.uses_host,
    }
    return frozenset(
        model_features(task.model)
        | {BITS.get(software.dtype, "16bit"), place}
        | {name for name, holds in has.items() if holds}
    )


def plan_features(task: Task, strategy: Strategy) -> Mapping[str, Any]:
    """What a plan has, or columns of plans, by name."""
    s, node = strategy, task.machine.full_node
    again = s.recompute_code
    sharded = (s.zero == 3) & (s.shard_ranks > 1)
    return {
        "tp": s.tp > 1,
        "tp-out": s.tp > node,
        "cp": s.cp > 1,
        "cp-out": (s.cp > 1) & (s.tp * s.cp > node),
        "ep": s.ep > 1,
        "ep-out": (s.ep > 1) & (s.ep * s.expert_tp > node),
        "pp": s.pp > 1,
        "v": (s.pp > 1) & (s.v > 1),
        "schedule": (s.pp > 1) & (s.schedule_code != PLAIN),
        "zero3": sharded,
        "zero3-out": sharded & (s.tp * s.shard_ranks > node),
        "hsdp": sharded & s.hybrid,
        "kept": again == 0,
        "part": (again != 0) & (again != FULL),
        "full": again == FULL,
    }


def situation(task: Task, strategy: Strategy) -> Situation:
    """One plan of a task."""
    return _situation(task, frozenset(name for name, holds in plan_features(task, strategy).items() if holds))


def _situation(task: Task, plan: frozenset[str]) -> Situation:
    stack = task.stack
    amounts = (task.gpus, task.T, parameter_count(task.model), task.B / task.gpus)
    return Situation(TRAINING, stack.key, task.machine.chip.key, task_features(task) | plan, amounts, kin_of(stack))


def kin_of(stack: Stack) -> tuple[str, ...]:
    """The stacks of the same software on other chips, or of other releases; none of typical constants, whose errors say
    nothing of another chip.
    """
    if stack.key not in stacks:
        return ()
    return tuple(key for key, other in stacks.items() if key != stack.key and _same(stack, other))


def _same(stack: Stack, other: Stack) -> bool:
    return bool(stack.features) and stack.features == other.features and stack.one_gpu == other.one_gpu


def situations(task: Task, strategy: Strategy) -> tuple[list[Situation], Any]:
    """The situations that occur among columns of plans, and the place of each plan's among them."""
    import numpy as np

    columns = plan_features(task, strategy)
    names, code = [*columns], np.zeros(strategy.size, np.int64)
    for bit, name in enumerate(names):
        code = code | (np.asarray(columns[name]).astype(np.int64) << bit)
    codes, place = np.unique(code, return_inverse=True)
    return [_situation(task, _decoded(names, number)) for number in codes.tolist()], place


def _decoded(names: Sequence[str], number: int) -> frozenset[str]:
    return frozenset(name for bit, name in enumerate(names) if number >> bit & 1)


__all__ = ["kin_of", "plan_features", "situation", "situations", "task_features"]
