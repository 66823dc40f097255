"""Scheduling of a server's steps, as formulas: speculative decoding, chunked prefill, and prefill and decode on
separate ranks.
"""

from hwlib.formula import formula, maximum
from hwlib.roofline import critical_batch
from hwlib.transformer import forward_flops

# Speculative decoding


@formula("T_new", cite="leviathan2023")
def speculative_tokens(accept, drafts):
    """Expected tokens of a step that checks drafts: those before the first rejected one, and one from the model itself.

    The sum of accept^i for i from 0 to drafts; for accept = 1, drafts + 1, where this form divides by zero.
    """
    return (1 - accept ** (drafts + 1)) / (1 - accept)


@formula("speedup", cite="leviathan2023")
def speculative_speedup(accept, drafts, c_draft):
    """Tokens of a step over its time including the drafts; checking is free while the step is memory-bound."""
    return speculative_tokens(accept, drafts) / (drafts * c_draft + 1)


@formula("work", cite="leviathan2023")
def speculative_work(accept, drafts):
    """Operations of the model per token, relative to no drafts: rejected tokens are computed too."""
    return (drafts + 1) / speculative_tokens(accept, drafts)


@formula("B_crit", cite="leviathan2023")
def speculative_critical_batch(C, W, drafts, b_w=2):
    """Sequences up to which checking is free: each brings drafts + 1 tokens to the critical batch."""
    return critical_batch(C, W, b_w) / (drafts + 1)


def best_drafts(accept: float, c_draft: float, most: int = 64) -> int:
    """The number of tokens to draft for the greatest speedup; 0 if drafting does not pay.

    >>> best_drafts(accept=0.8, c_draft=0.05)
    8
    """
    gain = lambda drafts: sum(accept**i for i in range(drafts + 1)) / (drafts * c_draft + 1)
    return max(range(most + 1), key=gain)


# Chunked prefill


@formula("chunk", cite="agrawal2024")
def free_chunk_tokens(B, C, W, b_w=2):
    """Tokens of a prompt that are free while B sequences decode: the weights are read anyway, so up to the critical
    batch.
    """
    return maximum(0, critical_batch(C, W, b_w) - B)


@formula("chunk", cite="agrawal2024")
def budget_chunk_tokens(P, B, T_kv, S_kv, n, C, W, t_step):
    """Tokens of a prompt that fit into a step of t_step, in addition to B decoding sequences and their caches."""
    return maximum(0, (t_step - B * T_kv * S_kv / (n * W)) * n * C / forward_flops(P, 1) - B)


@formula("T_again", cite="agrawal2024")
def reread_tokens(T_in, chunk):
    """Tokens of cache read again, as each chunk reads that of the chunks before it: about T_in^2/(2 chunk)."""
    return T_in * maximum(0, T_in / chunk - 1) / 2


# Disaggregated prefill and decode


@formula("ratio", cite="deepseek-serving")
def prefill_ranks_ratio(T_in, T_out, R_in, R_out, hit=0):
    """Prefill ranks per decode rank so that neither waits: computed and generated tokens, each over the rate of a rank.

    Where a published R_in counts what the cache finds as well, `hit` stays 0.
    """
    return T_in * (1 - hit) * R_out / (T_out * R_in)


@formula("ratio", cite="scaling-book")
def prefill_servers_ratio(B, T_out, t_step, t_in):
    """Prefill servers per decode server: B/T_out requests end per step, and each needs a prefill server for t_in."""
    return B * t_in / (T_out * t_step)


@formula("W", cite="zhong2024")
def transfer_bandwidth(R_req, T_in, S_kv):
    """Bytes of cache per second from prefill to decode."""
    return R_req * T_in * S_kv


@formula("t", cite="zhong2024")
def first_token_time(t_in, R_req):
    """Time to the first token if prompts of equal length arrive at random at one prefill server: the prefill itself,
    and the wait in its queue (M/D/1). Negative if more arrive than it can process.
    """
    return t_in + R_req * t_in**2 / (2 * (1 - R_req * t_in))
