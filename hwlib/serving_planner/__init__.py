"""The serving planner: how to serve a model on GPUs, at a limit of latency, and why.

>>> found = plan_serving("llama3-70b", "dgx-h100", prompt=2048, output=512, ttft=2.0, tpot=0.05, dtype="fp8")
>>> best = found[0]
>>> best.plan.gpus, best.tpot <= 0.05, best.plan.decode.tp in (2, 4)
(8, True, True)
"""

from hwlib.serving_planner.plan import Pool, ServingPlan
from hwlib.serving_planner.played import play
from hwlib.serving_planner.points import Point
from hwlib.serving_planner.question import Limits, Question, Workload, question_of
from hwlib.serving_planner.result import ServingPlans, plan_serving
from hwlib.serving_planner.search import front

__all__ = [
    "Limits", "Point", "Pool", "Question", "ServingPlan", "ServingPlans", "Workload", "front", "plan_serving", "play",
    "question_of",
]  # fmt: skip
