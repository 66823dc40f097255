"""Time of a training step, for any model, strategy and software: what is computed, sent and waited for.

`step_time` adds up the busiest rank of one plan, or of arrays of plans. It holds no physics of its own that another
package has: counts come from `transformer` and `footprint`, transfers from `parallel`, bubbles from `pipeline`, and
what a software reaches of a chip from a `Stack`.
"""

from hwlib.specs import levels_of
from hwlib.steptime.breakdown import StepTime, step_time

__all__ = ["StepTime", "levels_of", "step_time"]
