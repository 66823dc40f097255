"""Policies: which tokens go into the next step of an engine.

A policy is a function of the requests that `wait`, those that `run`, and a `budget` of tokens. Both are lists of pairs
(number, left), oldest first: `left` are the tokens of its prompt that are still to be read, 0 for a request that
decodes. It returns pairs (number, tokens) for what the step does: one token for a request that decodes, at most
`left` for a prompt. Of those that wait it is shown only as many as seats and cache have room for.
"""

from collections.abc import Callable, Mapping, Sequence

Pairs = list[tuple[int, int]]
Policy = Callable[[Sequence[tuple[int, int]], Sequence[tuple[int, int]], int], Sequence[tuple[int, int]]]


def prefill_first(wait: Sequence[tuple[int, int]], run: Sequence[tuple[int, int]], budget: int) -> Pairs:
    """Prompts whole and before all else, as many as the budget allows and at least one; decoding waits for them.

    So vLLM scheduled when it was published (Kwon et al., 2023).
    """
    plan: Pairs = []
    for number, left in [*(one for one in run if one[1]), *wait]:
        if plan and left > budget:
            break
        plan.append((number, left or 1))
        budget -= left
    return plan or [(number, 1) for number, _ in run]


def decode_first(wait: Sequence[tuple[int, int]], run: Sequence[tuple[int, int]], budget: int) -> Pairs:  # noqa: ARG001
    """A batch decodes until its last request ends, and only then comes the prefill of all that wait: batching by whole
    requests, as in FasterTransformer. The budget is not asked.
    """
    return [(number, 1) for number, _ in run] or [(number, left or 1) for number, left in wait]


def chunked(wait: Sequence[tuple[int, int]], run: Sequence[tuple[int, int]], budget: int) -> Pairs:
    """A token for each that decodes, and what is left of the budget for prompts, oldest first, cut where it ends:
    chunked prefill without stalls, as in Sarathi-Serve (Agrawal et al., 2024). Without a limit on the budget these are
    the mixed steps of Orca, with whole prompts.
    """
    plan = [(number, 1) for number, left in run if not left][:budget]
    budget -= len(plan)
    for number, left in [*(one for one in run if one[1]), *wait]:
        if budget < 1:
            break
        plan.append((number, min(left or 1, budget)))
        budget -= left or 1
    return plan


POLICIES: Mapping[str, Policy] = {"prefill first": prefill_first, "decode first": decode_first, "chunked": chunked}
"""The policies by name."""
