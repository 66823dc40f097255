"""The planner: the best ways to train a model on a cluster, and why.

>>> found = plan("llama3-70b", "superpod-h100-1su", B=2**22)
>>> found[0].strategy.tp <= 8 and found[0].memory.total < 72e9
True
"""

from hwlib.planner.allowed import Allowed
from hwlib.planner.cloud import CLOUDS, CloudPoint, PlanCloud, plan_cloud, task_of_run
from hwlib.planner.costs import Plan
from hwlib.planner.front import ParetoFront
from hwlib.planner.guide import Decision, decide
from hwlib.planner.pairs import Pair, pairs, retrodicted, share_right
from hwlib.planner.plan_error import PlanError
from hwlib.planner.plans import Plans
from hwlib.planner.search import plan
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.sweep import pareto
from hwlib.planner.task import Machine, Task, machine_of

__all__ = [
    "CLOUDS",
    "Allowed",
    "CloudPoint",
    "Decision",
    "Machine",
    "Pair",
    "ParetoFront",
    "Plan",
    "PlanCloud",
    "PlanError",
    "Plans",
    "SoftwareSettings",
    "Task",
    "decide",
    "machine_of",
    "pairs",
    "pareto",
    "plan",
    "plan_cloud",
    "retrodicted",
    "share_right",
    "task_of_run",
]

Software = SoftwareSettings
"""The name that notebooks and answers written before it changed import."""
