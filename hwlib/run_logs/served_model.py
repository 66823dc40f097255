"""A measured server beside the model of `gpubook serve`: what it should give at the load of its benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from hwlib.calibrated.closed_loop import mean_first
from hwlib.calibrated.serving import MOST_SEQUENCES, run_of, served_time, step_time
from hwlib.calibrated.serving_step import Server
from hwlib.planner import PlanError
from hwlib.run_logs.facts import Facts, value_of
from hwlib.run_logs.machine import chip_of_run, cluster_of, machine_known, model_of
from hwlib.run_logs.modelled import NotModelled
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.served_facts import ServedLoad, load_of
from hwlib.serving_planner import Point, Pool, Question, ServingPlan, question_of
from hwlib.serving_planner.certainty import point_error
from hwlib.serving_planner.layouts import Layout, divided, room, server_of
from hwlib.serving_planner.layouts import broken_rule as rule_of
from hwlib.serving_planner.points import Together, together
from hwlib.specs import SpecError
from hwlib.specs.serving_stack import build_for

STACKS: Mapping[str, str] = {"vllm": "vllm-0.6", "sglang": "sglang"}
"""The stack whose constants are of a program, in the build that was timed on the chip."""
CHUNK = 8192
"""Tokens of prompts that a step reads where nobody says another number: the default of vLLM's and SGLang's servers on
GPUs of 80 GB."""
PASSED = ("dtype", "kv_dtype", "prefix", "state_every", "speculate")


class ServedTimes(NamedTuple):
    """Means of a request by the model: seconds to its first token, of which `wait` before it is taken in, and between
    two tokens; requests a second of the whole benchmark; requests that run at once in a replica; and seconds of a step
    that only decodes, a token each. `closed` where the client has as many requests under way as it allows.
    """

    ttft: float
    tpot: float
    requests: float
    batch: float
    wait: float
    decode: float
    closed: bool = False


@dataclass(frozen=True)
class ModelledServer:
    """A server with what it should give at its load, within which share four of five such servers lie, and what of it
    nobody said.
    """

    question: Question
    layout: Layout
    replicas: int
    load: ServedLoad
    times: ServedTimes
    error: float
    low: float
    high: float
    assumed: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Seconds of a mean request from its arrival to its last token."""
        return self.times.ttft + max(self.question.workload.output - 1, 0) * self.times.tpot

    @property
    def tokens_per_second(self) -> float:
        """Output tokens a second of the whole benchmark."""
        return self.times.requests * self.question.workload.output

    @property
    def point(self) -> Point:
        """The same as a point of the planner."""
        return point_of(self.question, self.layout, self.replicas, self.times)


def modelled_server(log: RunLog, facts: Facts) -> ModelledServer | NotModelled:
    """The model's answer for a benchmark: what has to be said for it, or a sentence, where there is none."""
    try:
        model, cluster = model_of(facts), cluster_of(facts)
    except (KeyError, SpecError) as error:
        return NotModelled(sentence=_words(error))
    load = load_of(facts)
    wanted = {"--model": model, "--gpus": value_of(facts, "gpus"), "--on": machine_known(facts)}
    wanted |= {"--prompt": value_of(facts, "prompt"), "--output": value_of(facts, "output"), "--concurrency": load}
    if missing := tuple(name for name, value in wanted.items() if not value):
        return NotModelled(missing)
    assert load  # or one of these three would be missing
    assert model
    assert cluster
    if (value_of(facts, "pp") or 1) > 1:
        return NotModelled(sentence="a server with a pipeline is not modelled by `gpubook serve`")
    try:
        question = question_of(model, cluster, **_question_arguments(log, facts))
        layout, replicas, assumed = layout_of(question, facts)
        if rule := rule_of(question, layout):
            return NotModelled(sentence=f"such a server cannot be: {rule.sentence(*divided(question, layout))}")
        return answer_of(question, layout, replicas, load, assumed)
    except (PlanError, ValueError, KeyError) as error:
        return NotModelled(sentence=f"`gpubook serve` takes no such server: {_words(error)}")


def _words(error: Exception) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _question_arguments(log: RunLog, facts: Facts) -> dict[str, Any]:
    """The question to the serving planner, with the constants of the program on the chip."""
    arguments = {name: value_of(facts, name) for name in PASSED}
    for name in ("prefix", "state_every"):
        arguments[name] = int(arguments[name]) if arguments[name] else None
    arguments |= {name: max(1, round(value_of(facts, name))) for name in ("prompt", "output")}
    arguments["gpus"] = int(value_of(facts, "gpus"))
    chip, model = chip_of_run(facts), model_of(facts)
    stack = value_of(facts, "stack")
    if not stack and chip and model:
        stack = build_for(STACKS[engine_of(log)], chip, bool(model.moe))
    return arguments | {"stack": stack}


def engine_of(log: RunLog) -> str:
    """The program that served: SGLang's client measures vLLM's servers too, and says so."""
    backend = log.words("backend")
    return next((name for name in STACKS if backend.startswith(name)), log.program)


def layout_of(question: Question, facts: Facts) -> tuple[Layout, int, tuple[str, ...]]:
    """How each replica is divided, how many there are, and which degrees nobody said. Raises ValueError."""
    groups, gpus = int(value_of(facts, "attention_dp") or 1), question.gpus
    tp = int(value_of(facts, "tp") or min(gpus, question.machine.full_node) // groups or 1)
    if groups > 1 and tp > 1:
        raise ValueError(f"attention of {groups} groups of {tp} GPUs is not modelled: groups of one GPU are")
    ep = int(value_of(facts, "ep") or groups)
    whole = tp * groups
    if gpus % whole:
        raise ValueError(f"gpus: expected a multiple of the {whole} GPUs of a server, got {gpus}")
    assumed = () if "tp" in facts else ("tp",)
    if question.model.moe and whole > 1 and "ep" not in facts:
        assumed = (*assumed, "ep")
    return Layout(tp, ep, groups), gpus // whole, assumed


def answer_of(
    question: Question, layout: Layout, replicas: int, load: ServedLoad, assumed: tuple[str, ...] = ()
) -> ModelledServer:
    """A server's answer at a load. Raises ValueError for one that holds no request."""
    times = times_of(question, server_of(question, layout), replicas, load)
    error = point_error(question, point_of(question, layout, replicas, times))
    low, high = error.interval(1.0)
    return ModelledServer(question, layout, replicas, load, times, error.mean, 1 / high, 1 / low, assumed)


def point_of(question: Question, layout: Layout, replicas: int, times: ServedTimes) -> Point:
    """A server as a point of the planner, whose error and parts it has."""
    work = question.workload
    batch = max(layout.attention_dp, round(times.batch))
    plan = ServingPlan(
        question.model,
        question.machine,
        Pool(*layout, replicas, batch),
        prefill=None,
        dtype=question.dtype,
        kv_dtype=question.kv_dtype,
        prompt=round(work.prompt),
        output=round(work.output),
        chunk=CHUNK if question.stack.mixed else None,
        drafting=question.drafting,
        prefix=question.prefix,
    )
    return Point(plan, work, times.ttft, times.tpot, times.tpot, times.requests, 0.0, question.price)


def times_of(question: Question, server: Server, replicas: int, load: ServedLoad) -> ServedTimes:
    """Means of a request at a load of all replicas. Raises ValueError where the memory holds no request."""
    held = min(room(question, server), MOST_SEQUENCES) * server.groups
    if held < 1:
        raise ValueError("memory: the weights and the cache of one request do not fit")
    each = ServedLoad(load.users / replicas, load.rate / replicas, load.requests / replicas)
    times = _arriving(question, server, held, each) if load.rate < inf else _at_once(question, server, held, each)
    return times._replace(requests=times.requests * replicas)


def _at_once(question: Question, server: Server, held: float, load: ServedLoad) -> ServedTimes:
    """A closed load, or all requests together: those that the memory holds run, the others wait."""
    users = max(1.0, min(load.users, load.requests))
    batch = min(users, held)
    steady = _steady(question, server, batch, max(load.requests, batch))
    rate = batch / _life(question, steady)
    if load.kind == "closed":
        wait = max(users - batch, 0.0) / rate
        return steady._replace(ttft=steady.ttft + wait, requests=rate, wait=wait, closed=True)
    later = load.requests - batch
    share = min(batch / load.requests, 1.0)
    tpot = steady.tpot - share * (steady.tpot - steady.decode) / 2  # half of the prompts are read before a first token
    last = later / rate
    wait = (1 - share) * last / 2
    steady = steady._replace(ttft=steady.ttft + wait, tpot=tpot, wait=wait)
    return steady._replace(requests=load.requests / (last + _life(question, steady) - wait))


def _steady(question: Question, server: Server, batch: float, requests: float) -> ServedTimes:
    """A closed load of so many requests, all of which run."""
    work, stack = question.workload, question.stack
    lengths = {"input": work.prompt, "output": question.output_steps}
    run = run_of(server, stack, "closed", batch=batch, context=work.context, **lengths)
    first = served_time(stack, mean_first(server, stack, batch=batch, requests=requests, **lengths))
    token = served_time(stack, run.token) / question.step_tokens
    decode = step_time(stack, run.token[0][1]) / question.step_tokens
    return ServedTimes(first, token, 0.0, batch, 0.0, decode)


def _life(question: Question, times: ServedTimes) -> float:
    return times.ttft + max(question.workload.output - 1, 0) * times.tpot


def _arriving(question: Question, server: Server, held: float, load: ServedLoad) -> ServedTimes:
    """Requests that arrive at random: as many run at once as keep up with their rate. Where none does, they wait
    longer and longer; a client that allows fewer at once makes it a closed load.
    """
    enough = _keeping_up(question, server, held, load.rate)
    if enough is None:
        return _overloaded(question, server, held, load)
    each, replica = enough
    server_step = server.step(each, question.workload.context)
    decode = step_time(question.stack, server_step) / question.step_tokens
    times = ServedTimes(replica.ttft, replica.tpot, load.rate, each * server.groups, 0.0, decode)
    at_once = load.rate * _life(question, times)
    if at_once > load.users:
        return _at_once(question, server, held, load._replace(rate=inf))
    ended = load.requests / load.rate + _life(question, times)  # from the first arrival to the last answer
    return times._replace(requests=load.requests / ended)


def _keeping_up(question: Question, server: Server, held: float, rate: float) -> tuple[int, Together] | None:
    """The fewest sequences of each group with which so many requests a second are answered; None if there are none."""
    low, high = 1, max(1, int(held / server.groups))
    while low < high:
        middle = (low + high) // 2
        replica = together(question, server, middle, CHUNK)
        if replica is None or replica.requests >= rate:
            high = middle
        else:
            low = middle + 1
    replica = together(question, server, low, CHUNK)
    return (low, replica) if replica and replica.requests >= rate else None


def _overloaded(question: Question, server: Server, held: float, load: ServedLoad) -> ServedTimes:
    """More arrive than are answered: all places are taken, and the queue grows until the last arrival."""
    if load.users < load.requests:
        return _at_once(question, server, held, load._replace(rate=inf))
    full = _at_once(question, server, held, load._replace(rate=inf, users=min(held, load.requests / 2)))
    waiting = max(load.requests / 2 * (1 / full.requests - 1 / load.rate), 0.0)
    return full._replace(ttft=full.ttft + waiting, wait=full.wait + waiting, closed=False)


def changed(model: ModelledServer, **changes: Any) -> ModelledServer:
    """The answer for a server of the same load that differs: in its question, `layout`, `replicas` or `load`."""
    layout, replicas = changes.pop("layout", model.layout), changes.pop("replicas", model.replicas)
    load = changes.pop("load", model.load)
    question = replace(model.question, **changes) if changes else model.question
    return answer_of(question, layout, replicas, load)
