"""Time of a training step, for any model, strategy and software: computation, communication and waits.

`step_time` adds up the busiest rank of one plan, or of arrays of plans. It duplicates no model of another package:
counts come from `transformer` and `footprint`, transfers from `parallel`, bubbles from `pipeline`, and the efficiency
of a software from a `Stack`. `published` has published steps in its words.
"""

from hwlib.specs import levels_of
from hwlib.steptime.breakdown import StepTime, step_time
from hwlib.steptime.machine_bounds import (
    BOUNDS,
    PLANS,
    SIX,
    Bounds,
    CriticalBatches,
    Demand,
    Sheet,
    critical_batches,
    demand_of,
    machine_bounds,
    machine_sheet,
    plan_demand,
    six_machines,
)
from hwlib.steptime.published import peak_time, predicted_step, published_strategy, published_time

__all__ = [
    "BOUNDS",
    "PLANS",
    "SIX",
    "Bounds",
    "CriticalBatches",
    "Demand",
    "Sheet",
    "StepTime",
    "critical_batches",
    "demand_of",
    "levels_of",
    "machine_bounds",
    "machine_sheet",
    "peak_time",
    "plan_demand",
    "predicted_step",
    "published_strategy",
    "published_time",
    "six_machines",
    "step_time",
]
