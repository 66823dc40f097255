"""Time of a training step, for any model, strategy and software: computation, communication and waits.

`step_time` adds up the busiest rank of one plan, or of arrays of plans. It duplicates no model of another package:
counts come from `transformer` and `footprint`, transfers from `parallel`, bubbles from `pipeline`, and the efficiency
of a software from a `Stack`. `published` has published steps in its words.
"""

from hwlib.specs import levels_of
from hwlib.steptime.breakdown import StepTime, step_time
from hwlib.steptime.published import peak_time, predicted_step, published_strategy, published_time

__all__ = [
    "StepTime", "levels_of", "peak_time", "predicted_step", "published_strategy", "published_time", "step_time",
]  # fmt: skip
