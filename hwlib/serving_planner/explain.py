"""Why one serving plan gives more than another, what a limit costs, and what the numbers rest on."""

from __future__ import annotations

from math import inf

from hwlib.calibrated.serving import RESERVED
from hwlib.calibrated.serving_mixers import (
    CONV_SHARE,
    INDEX_SHARE,
    LATENT_SHARE,
    PROMPT_SHARE,
    STATE_SHARE,
    STREAM_SHARE,
)
from hwlib.serving_planner.anatomy import memory_parts, token_parts
from hwlib.serving_planner.layouts import Layout, room, server_of
from hwlib.serving_planner.plan import Pool
from hwlib.serving_planner.points import BUSY, Point
from hwlib.serving_planner.question import Limits, Question
from hwlib.serving_planner.words import given_words, plan_words, pool_name, rounded
from hwlib.specs import Model
from hwlib.specs.listed_layers import unlisted_words
from hwlib.specs.serving_stack import CONSTANTS, USUAL
from hwlib.units import show

EQUAL = 5e-3  # of tokens a second: below it two plans give the same
NEAR = 0.95  # of a limit, from which on it is said to bind
TOLD = 0.8  # of what grew: so much is named, part by part
LEAST_OVER, MOST_OVER = 0.02, 0.24  # of the gains of measured_drafts.csv, by which those predicted are too high
LIMITED = {"ttft": "the first token", "tpot": "the time of a token", "gap": "the longest step"}


def point_words(question: Question, point: Point) -> list[str]:
    """The sentences on the best point: plan, what it gives, where a token's time goes, memory."""
    parts = token_parts(question, point)
    total = sum(parts.values())
    shares = sorted(((t / total, name) for name, t in parts.items() if t / total >= 0.005), reverse=True)
    held = memory_parts(question, point)
    memory = ", ".join(f"{name} {show(x, 'B', 3)}" for name, x in held.items())
    budget = show(question.memory, "B", 3)
    readers = "Servers that read prompts are" if point.plan.prefill else "Reading prompts keeps a server"
    return [
        plan_words(point),
        given_words(point),
        f"Between two tokens: {', '.join(f'{name} {share:.0%}' for share, name in shares)}.",
        f"A GPU that generates holds {show(sum(held.values()), 'B', 3)} of {budget}: {memory}.",
        f"{readers} {point.load:.0%} busy of the {BUSY:.0%} at most that random arrivals leave room for.",
    ]


def binding(question: Question, point: Point) -> str:
    """What keeps a point from more requests at once: limits, the memory, or the arrivals of prompts; a sentence."""
    limits, pool = question.limits, point.plan.decode
    near = [LIMITED[name] for name in Limits._fields if getattr(point, name) > NEAR * getattr(limits, name)]
    held = room(question, server_of(question, Layout(*pool[:3])))
    reasons = [f"exceed the limit of {' and '.join(near)}"] if near else []
    reasons += ["not fit in memory"] if pool.batch // pool.attention_dp > NEAR * held else []
    reasons += ["bring prompts faster than they can be read"] if point.load > NEAR * BUSY else []
    return f"More requests at once would {', and '.join(reasons)}." if reasons else ""


def versus(question: Question, best: Point, other: Point) -> str:
    """What another plan changes, how much less it gives, and which part of a token's time grew."""
    changed = ", ".join(_changes(best, other)) or "the same division"
    less = other.gpu_rate / best.gpu_rate - 1
    if abs(less) < EQUAL:
        return (
            f"{changed}: as many tokens; first token {_pair(best.ttft, other.ttft)}, a token "
            f"{_pair(best.tpot, other.tpot)}"
        )
    change = f"{changed}: {less:+.1%} tokens a GPU"
    grew = _grown(question, best, other)
    return f"{change}; for each token of a GPU: {grew}" if grew else change


def _pair(here: float, there: float) -> str:
    return f"{show(there, 's', 3)} instead of {show(here, 's', 3)}"


def gpu_seconds(question: Question, point: Point) -> dict[str, float]:
    """GPU seconds of an output token by cause: of those that generate a token's parts over the batch, of those that
    only read their share, and of idle ones.
    """
    pool = point.plan.decode
    parts = {name: t * pool.gpus / pool.replicas / pool.batch for name, t in token_parts(question, point).items()}
    if point.plan.prefill:
        parts["prefill on GPUs of its own"] = point.plan.prefill.gpus / point.tokens_per_second
    idle = point.plan.machine.gpus - point.plan.gpus
    return parts | ({"idle GPUs": idle / point.tokens_per_second} if idle else {})


def _grown(question: Question, best: Point, other: Point) -> str:
    """The parts of an output token's GPU time that grew most, as long as they are most of what grew."""
    here, there = gpu_seconds(question, best), gpu_seconds(question, other)
    grew = {name: there.get(name, 0.0) - here.get(name, 0.0) for name in here | there}
    sizes = sorted(((d, name) for name, d in grew.items() if d > 0), reverse=True)
    total, covered, grown = sum(d for d, _ in sizes), 0.0, []
    for d, name in sizes:
        if covered >= TOLD * total:
            break
        grown.append(f"{name} +{show(d, 's', 3)}")
        covered += d
    return ", ".join(grown)


def _changes(best: Point, other: Point) -> list[str]:
    here, there = best.plan, other.plan
    changes = []
    if (here.prefill is None) != (there.prefill is None):
        changes.append(f"prefill on {pool_name(there.prefill)}" if there.prefill else "prefill and decode together")
    elif here.prefill and there.prefill and here.prefill[:4] != there.prefill[:4]:
        changes.append(f"prefill on {pool_name(there.prefill)} instead of {pool_name(here.prefill)}")
    if _shape(here.decode) != _shape(there.decode):
        changes.append(f"servers {pool_name(there.decode)} instead of {pool_name(here.decode)}")
    if here.decode.batch != there.decode.batch:
        changes.append(f"batch {there.decode.batch:,} instead of {here.decode.batch:,}")
    if here.chunk != there.chunk and here.chunk and there.chunk:
        changes.append(f"chunk {there.chunk:,} instead of {here.chunk:,}")
    return changes


def _shape(pool: Pool) -> tuple[Layout, int]:
    return Layout(*pool[:3]), pool.replicas


def limit_words(question: Question, best: Point, free: Point) -> str:
    """What the limits cost: the most that the GPUs give without them."""
    more = free.gpu_rate / best.gpu_rate - 1
    if question.limits == Limits(inf, inf, inf) or more < EQUAL:
        return "The limits cost nothing: no plan gives more without them." if question.limits != Limits() else ""
    return (
        f"Without the limits {rounded(free.gpu_rate)} tokens/s a GPU ({more:+.0%}): {plan_words(free)}; first token "
        f"{show(free.ttft, 's', 3)}, then {show(free.tpot, 's', 3)} a token."
    )


def _unmeasured(model: Model) -> str:
    """What is typed of layers whose kernels nobody measured here; empty where all are attention on every key."""
    parts = []
    if model.mixer:
        keeps = f"{model.state_layers} of {model.layers} layers keep a state ({model.mixer.kind})"
        rate = f"{PROMPT_SHARE[model.mixer.kind]:g} times the vector units' rate"
        parts.append(f"{keeps}: they reach {STATE_SHARE:.0%} of memory and {rate}")
    if x := model.compression:
        strides = " or ".join(f"{stride}" for stride in sorted(set(x.strides) - {0}))
        entries = f"entries stand for {strides} tokens beside a window of {model.window:,}"
        parts.append(f"{entries}: attention on them reaches {LATENT_SHARE:.0%} of arithmetic")
    if model.streams:
        mixed = f"{model.streams} residual streams are mixed around every block"
        parts.append(f"{mixed}: that reaches {STREAM_SHARE:.0%} of arithmetic and {CONV_SHARE:.0%} of memory")
    if model.indexer:
        keys = "entries" if model.compression else "keys"
        picks = f"indexers pick {model.indexer.top:,} {keys}"
        parts.append(f"{picks}: they reach {INDEX_SHARE:.0%} of arithmetic and {STATE_SHARE:.0%} of memory")
    means = f"; MLPs of several widths count as their mean, {model.ffn:,} columns" if model.wider else ""
    return "".join(f"; {part}, typed, as no such kernel is fitted" for part in parts) + means


def basis_words(question: Question) -> str:
    """Which constants are fitted, to what error, and which are typed."""
    stack = question.stack
    typed = [name for name in CONSTANTS if name not in stack.fitted]
    on = f"Rests on stack {stack.key} ({stack.software})"
    if stack.software == "typical":
        models = "models with experts" if question.model.moe else "dense models"
        on += (
            f": nothing fitted to {question.chip.name}; by the constants of {USUAL} the steps of published servers of "
            f"{models} on MI300X and MI355X, timed by their sheets alone, are {stack.error:.0%} off on average"
        )
    elif stack.fitted:
        on += f": {', '.join(stack.fitted)} fitted to published runs, mean error {stack.error:.0%}"
        on += f"; {', '.join(typed)} typed or those of a release like it"
    on += _unmeasured(question.model)
    if unlisted := unlisted_words(question.model, stack.program):
        on += f"; {unlisted}"
    if question.kv_dtype in ("int8", "fp4", "int4"):
        on += f"; no kernel of a cache in {question.kv_dtype} was timed: those of fp8 stand for it"
    if question.drafting:
        over = f"{LEAST_OVER:.0%} to {MOST_OVER:.0%} above the measured ones, where these are known"
        on += f"; the measured servers had no drafts, and gains by drafts are {over}"
    return (
        f"{on}; and, typed as well, {show(RESERVED, 'B')} of a GPU for context and buffers, readers at most {BUSY:.0%} "
        f"busy, latencies of messages, even routing to experts. Limits are of means."
    )
