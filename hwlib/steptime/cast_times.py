"""Time in which autocast makes 16-bit copies of weights in 32 bits, and gradients in 32 bits out of 16.

Of stacks of one GPU alone: elsewhere weights in 16 bits are part of the states, and the constants were fitted so.
"""

from typing import Any

from hwlib.formula import where
from hwlib.steptime.compute_times import recomputed_share
from hwlib.steptime.job import Job
from hwlib.strategy import RECOMPUTE
from hwlib.transformer import parameter_count

WIDE = 4  # bytes of a weight in 32 bits
CAST_BYTES = 6  # read in 32 bits and written in 16, or the other way round


def _pass_time(job: Job) -> Any:
    """Seconds in which each weight of a rank is cast once."""
    trained, stack = job.trained, job.stack
    if not stack.one_gpu or trained is None or trained.adapters or trained.states.weight != WIDE:
        return 0.0
    plan = job.strategy
    return CAST_BYTES * parameter_count(job.model) / (plan.tp * plan.pp) / (stack.accelerator.hbm_bandwidth or 0.0)


def cast_time(job: Job) -> Any:
    """Seconds of a microbatch: weights forward, gradients backward."""
    return 2 * _pass_time(job)


def recast_time(job: Job) -> Any:
    """Seconds of a microbatch in which the weights of layers that are recomputed are cast again."""
    full = job.strategy.recompute_code == RECOMPUTE.index("full")
    return where(full, recomputed_share(job.model, job.strategy) * _pass_time(job), 0.0)
