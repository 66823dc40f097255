"""Prompts that begin alike: what a cache that is there already saves, and from where on copying beats computing.

A cache is kept in pages, and a page is known by all tokens up to its end, so that only the longest common beginning
of two prompts is shared.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence

from hwlib.formula import formula
from hwlib.inference.decode import prefill_time


@formula("t_in", cite="qin2024")
def hit_prefill_time(P, T_in, hit, n, C, mfu):
    """Only the tokens that were not found go through the model; attention to the others is neglected."""
    return prefill_time(P, T_in * (1 - hit), n, C, mfu)


@formula("t", cite="qin2024")
def cache_copy_time(T_kv, S_kv, W_cache):
    """A sequence's cache over a wire: from another node, from the host's memory, from a disk."""
    return T_kv * S_kv / W_cache


@formula("W_cache", cite="qin2024")
def recompute_bandwidth(P, S_kv, n, C, mfu):
    """The bandwidth at which copying a cache takes as long as computing it again, whatever its length: bytes a token
    over operations a token.
    """
    return S_kv * n * C * mfu / (2 * P)


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
