"""Prompts whose beginning is in the cache: how much of it a server reuses, which a layer with a state does not allow in
part.
"""

from __future__ import annotations

from dataclasses import dataclass

from hwlib.inference import prefix_state_bytes, reused_tokens
from hwlib.planner.plan_error import PlanError
from hwlib.specs import Model
from hwlib.transformer import kv_cache_bytes, sequence_state_bytes
from hwlib.units import plural, show

PAGE = 16  # tokens of a page, of vLLM by default


@dataclass(frozen=True)
class Prefix:
    """The first `tokens` of each prompt are those of one before, of which `reused` are not computed again. In a model
    whose layers keep a state, one is kept each `state_every` tokens; 0 where none is.
    """

    tokens: int
    reused: float
    state_every: int = 0


def prefix_of(model: Model, prompt: float, prefix: int | None, state_every: int | None) -> Prefix | None:
    """What of a prefix is reused: whole pages; up to the last state that was kept, where layers keep a state, and
    nothing without. Raises PlanError.
    """
    if state_every is not None and (not model.mixer or not prefix):
        why = f"no layer of {model.name} keeps a state" if prefix else "it is of a prefix, and none is asked for"
        raise PlanError("state_every", f"{why}; expected to be left out, got {state_every}")
    if not prefix:
        return None
    if prefix > prompt:
        raise PlanError("prefix", f"expected at most the {prompt:,.0f} tokens of a prompt, got {prefix:,}")
    within = min(prefix, int(prompt) - 1)  # the last token is computed, which gives the first of the answer
    if not model.mixer:
        return Prefix(prefix, float(reused_tokens(within, PAGE)))
    return Prefix(prefix, float(reused_tokens(within, state_every)) if state_every else 0.0, state_every or 0)


def prefix_words(model: Model, prefix: Prefix | None) -> list[str]:
    """The sentences on a prefix: what is reused, why not all of it, and what states that are kept take."""
    if prefix is None:
        return []
    beginning = f"Of the first {plural(prefix.tokens, 'token')} of a prompt, which the cache has"
    if not model.mixer:
        return [f"{beginning}, {prefix.reused:,.0f} are reused, in pages of {PAGE}."]
    layers = f"{model.state_layers} of {plural(model.layers, 'layer')} keep a state, which cannot go back to a part"
    if not prefix.state_every:
        more = "vLLM 0.30 keeps states at the ends of its blocks, SGLang those of requests (vllm-prefix, sglang-hybrid)"
        return [f"{beginning}, none is reused: {layers}. With states kept each so many tokens (--state-every): {more}."]
    states = float(prefix_state_bytes(prefix.tokens, prefix.state_every, sequence_state_bytes(model)))
    cache = show(float(kv_cache_bytes(model, prefix.tokens)), "B", 3)
    states_words = (
        f"states kept each {plural(prefix.state_every, 'token')} take {show(states, 'B', 3)} beside {cache} of cache"
    )
    return [f"{beginning}, {prefix.reused:,.0f} are reused, up to the last state: {layers}; {states_words} in 16 bits."]
