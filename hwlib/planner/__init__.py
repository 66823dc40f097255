"""The planner: which way to train a model on a cluster, of all there are, and why.

>>> found = plan("llama3-70b", "superpod-h100-1su", B=2**22)
>>> found[0].tp <= 8 and found[0].memory.total < 72e9
True
"""

from hwlib.planner.front import Front, pareto
from hwlib.planner.guide import Decision, decide
from hwlib.planner.plans import Plan, Plans
from hwlib.planner.search import plan
from hwlib.planner.task import Machine, PlanError, Task, machine_of

__all__ = [
    "Decision", "Front", "Machine", "Plan", "PlanError", "Plans", "Task", "decide", "machine_of", "pareto", "plan",
]  # fmt: skip
