"""A serving engine, played by events: requests arrive, a policy fills each step, and the cache has limited room.

Step times are those of `hwlib.calibrated.decode_parts`, extended by prompts; what the policy does with them is played
step by step.

>>> cost = step_cost("llama3-70b", "h100-sxm", tp=8)
>>> requests = draw_requests(4, 200, prompt={500: 0.9, 8000: 0.1}, output=100)
>>> whole = run_engine(requests, cost, prefill_first, budget=8192)
>>> cut = run_engine(requests, cost, chunked, budget=512)
>>> cut.tbt(0.999) < 0.1 * whole.tbt(0.999)
True
"""

from hwlib.engine.apart import run_apart, run_engines
from hwlib.engine.play import run_engine
from hwlib.engine.policies import POLICIES, Policy, chunked, decode_first, prefill_first
from hwlib.engine.requests import Lengths, Request, draw_requests
from hwlib.engine.result import Chunk, EngineRun, EngineStep, RequestOutcome, quantile, together
from hwlib.engine.step_cost import StepCost, cache_room, pairs_of, step_cost

__all__ = [
    "POLICIES",
    "Chunk",
    "EngineRun",
    "EngineStep",
    "Lengths",
    "Policy",
    "Request",
    "RequestOutcome",
    "StepCost",
    "cache_room",
    "chunked",
    "decode_first",
    "draw_requests",
    "pairs_of",
    "prefill_first",
    "quantile",
    "run_apart",
    "run_engine",
    "run_engines",
    "step_cost",
    "together",
]
