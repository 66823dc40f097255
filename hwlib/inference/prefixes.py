"""Prompts that begin alike: what a cache that is there already saves, and from where on copying beats computing.

A cache is kept in pages, and a page is known by all tokens up to its end, so that only the longest common beginning
of two prompts is shared. A state is that of all tokens before it, and cannot go back: of a layer that keeps one a
beginning is reused only where a state was kept (vllm-prefix, sglang-hybrid).
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence

from hwlib.formula import floor, formula
from hwlib.transformer import forward_flops


@formula("t_in", cite="qin2024")
def hit_prefill_time(P, T_in, hit, L, n_q, H, n, C, mfu):
    """Only tokens that were not found go through the matrices, but each attends to all before it, found or not: of
    causal attention, half of `hwlib.transformer.attention_forward_flops` in each of L layers, 1 - hit^2 is left.
    """
    return (forward_flops(P, T_in) * (1 - hit) + 2 * L * T_in**2 * n_q * H * (1 - hit**2)) / (n * C * mfu)


@formula("t", cite="qin2024")
def cache_copy_time(T_kv, S_kv, W_cache):
    """A sequence's cache over a wire: from another node, from the host's memory, from a disk."""
    return T_kv * S_kv / W_cache


@formula("W_cache", cite="qin2024")
def recompute_bandwidth(P, S_kv, n, C, mfu):
    """The bandwidth at which copying a cache takes as long as computing it again: bytes a token over operations a
    token. Attention is neglected, which makes long caches dearer to compute and lets a slower wire do.
    """
    return S_kv * n * C * mfu / (2 * P)


@formula("T_hit", cite="vllm-prefix")
def reused_tokens(T_kv, page):
    """Of a beginning of T_kv tokens that is there, those up to the last whole page. A layer that keeps a state goes on
    from a state only, and one is kept at the end of each page.
    """
    return floor(T_kv / page) * page


@formula("bytes", cite="vllm-prefix")
def prefix_state_bytes(T_kv, page, S_mix):
    """States that are kept beside the cache of T_kv tokens, one at the end of each page: few tokens a page save more of
    a prompt, and take more memory.
    """
    return floor(T_kv / page) * S_mix


def prefix_hits(prompts: Iterable[Sequence[Hashable]], pages: int) -> tuple[int, int]:
    """Pages found and pages asked for, if the prompts come one after another to one cache of so many pages.

    A prompt is its pages' keys, in order. It finds its longest beginning that is there; then all its pages have been
    used, and those that were not used for longest are dropped.

    >>> prefix_hits([["a", "b"], ["a", "c"], ["a", "b"]], pages=3)
    (3, 6)
    """
    cache: OrderedDict[Hashable, None] = OrderedDict()
    hits = pages_read = 0
    for prompt in prompts:
        pages_read += len(prompt)
        for key in prompt:
            if key not in cache:
                break
            hits += 1
        for key in prompt:
            cache[key] = None
            cache.move_to_end(key)
        while len(cache) > pages:
            cache.popitem(last=False)
    return hits, pages_read
