"""Where the time of a token and the memory of a GPU go, of one point."""

from __future__ import annotations

from hwlib.calibrated.serving import RESERVED, Steps, part_times, run_of, step_time
from hwlib.calibrated.serving_step import Work
from hwlib.serving_planner.layouts import Layout, server_of
from hwlib.serving_planner.points import Point
from hwlib.serving_planner.question import Question
from hwlib.specs.serving_stack import ServingStack

WEIGHTS, ARITHMETIC, CACHES = "reading weights", "arithmetic", "attention and caches"
NORMS, SENT, HOST = "norms and activations", "messages between GPUs", "software beside kernels"


def token_parts(question: Question, point: Point) -> dict[str, float]:
    """Seconds between two tokens of a request by their cause, with the prompts of others that steps read beside it."""
    plan, load = point.plan, question.workload
    server = server_of(question, Layout(*plan.decode[:3]))
    each = plan.decode.batch // plan.decode.attention_dp
    new = each * server.queries
    if plan.prefill is None:
        run = run_of(
            server,
            question.stack,
            "closed",
            input=load.prompt,
            output=question.output_steps,
            batch=each * server.groups,
            chunk=plan.chunk or MOST_CHUNK,
            context=load.context,
        )
        steps: Steps = run.token
        read = run.first[0][1]
        tokens = [
            (count, work, new + (_read(question, plan.chunk, each) if work is read else 0)) for count, work in steps
        ]
    else:
        tokens = [(1.0, server.step(each, load.context), float(new))]
    seconds = dict.fromkeys((WEIGHTS, ARITHMETIC, CACHES, NORMS, SENT, HOST), 0.0)
    for count, work, inside in tokens:
        for name, t in _parts(question.stack, work, WEIGHTS if server.bound_by_weights(inside) else ARITHMETIC).items():
            seconds[name] += count * t / question.step_tokens
    if point.transfer:
        seconds[SENT] += point.transfer / max(load.output - 1, 1)
    return seconds


MOST_CHUNK = 8192  # of a software whose steps read prompts alone: what it gathers


def _read(question: Question, chunk: int | None, each: int) -> float:
    """Tokens of prompts in a step that reads."""
    return min(chunk or MOST_CHUNK, question.unread * max(1.0, each / question.output_steps))


def _parts(stack: ServingStack, work: Work, bound: str) -> dict[str, float]:
    """The seconds of one step, as `step_time` adds them up; what is left where the host launches is the host's."""
    parts = part_times(stack, work)
    seconds = {
        bound: parts.products + parts.experts,
        CACHES: parts.attention,
        NORMS: parts.traffic,
        SENT: parts.network,
    }
    return seconds | {HOST: step_time(stack, work) - sum(seconds.values())}


def memory_parts(question: Question, point: Point) -> dict[str, float]:
    """Bytes of a GPU that generates: weights, the caches of its requests when all are complete, their states in a model
    whose layers keep one, and the rest.
    """
    plan = point.plan
    server = server_of(question, Layout(*plan.decode[:3]))
    each = plan.decode.batch // plan.decode.attention_dp
    states = each * server.state_bytes()
    cache = each * server.sequence_bytes(question.workload.full) - states
    held = {"weights": server.weight_bytes(), "caches": cache, "states": states, "context and buffers": RESERVED}
    return held if states else {name: size for name, size in held.items() if name != "states"}
