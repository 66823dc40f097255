"""What a server does with its steps, in letters: drafts that are checked at once, prompts in chunks, and prefill and
decode on ranks of their own.

What no chapter calls yet is for chapters 15 and 16.
"""

from hwlib.formula import formula, maximum
from hwlib.roofline import critical_batch
from hwlib.transformer import forward_flops

# Speculative decoding


@formula("T_new", cite="leviathan2023")
def speculative_tokens(accept, drafts):
    """Tokens of a step that checks drafts: those before the first rejected one, and one from the model itself.

    The sum of accept^i for i from 0 to drafts; where every draft is accepted it is drafts + 1, which this cannot say.
    """
    return (1 - accept ** (drafts + 1)) / (1 - accept)


@formula("speedup", cite="leviathan2023")
def speculative_speedup(accept, drafts, c_draft):
    """Tokens of a step, over its time with the drafts before it; checking is free where memory decides the time."""
    return speculative_tokens(accept, drafts) / (drafts * c_draft + 1)


@formula("work", cite="leviathan2023")
def speculative_work(accept, drafts):
    """Operations of the model for each token, over those without drafts: what was rejected is computed too."""
    return (drafts + 1) / speculative_tokens(accept, drafts)


@formula("B_crit", cite="leviathan2023")
def speculative_critical_batch(C, W, drafts, b_w=2):
    """Sequences up to which checking is free: each brings drafts + 1 tokens to the critical batch."""
    return critical_batch(C, W, b_w) / (drafts + 1)


def best_drafts(accept: float, c_draft: float, most: int = 64) -> int:
    """How many tokens to draft: the number with the greatest speedup, 0 where none pays.

    >>> best_drafts(accept=0.8, c_draft=0.05)
    8
    """
    gain = lambda drafts: sum(accept**i for i in range(drafts + 1)) / (drafts * c_draft + 1)
    return max(range(most + 1), key=gain)


# Chunked prefill


@formula("chunk", cite="agrawal2024")
def free_chunk_tokens(B, C, W, b_w=2):
    """Tokens of a prompt that ride along while B sequences decode: the matrices are read anyway, up to the critical
    batch.
    """
    return maximum(0, critical_batch(C, W, b_w) - B)


@formula("chunk", cite="agrawal2024")
def budget_chunk_tokens(P, B, T_kv, S_kv, n, C, W, t_step):
    """Tokens of a prompt that fit into a step that may take t_step: what B sequences and their caches leave."""
    return maximum(0, (t_step - B * T_kv * S_kv / (n * W)) * n * C / forward_flops(P, 1) - B)


@formula("T_again", cite="agrawal2024")
def reread_tokens(T_in, chunk):
    """Each chunk reads the cache of those before it: half the square of their number, in chunks, is read again."""
    return T_in * maximum(0, T_in / chunk - 1) / 2


# Prefill and decode apart


@formula("ratio", cite="deepseek-serving")
def prefill_ranks_ratio(T_in, T_out, R_in, R_out):
    """Prefill ranks for each decode rank such that neither waits: tokens in and out, each over the rate of a rank."""
    return (T_in / R_in) / (T_out / R_out)


@formula("ratio", cite="scaling-book")
def prefill_servers_ratio(B, T_out, t_step, t_in):
    """The same in times: a decode server ends B/T_out requests a step, and each needs t_in of a prefill server."""
    return B * t_in / (T_out * t_step)


@formula("W", cite="zhong2024")
def transfer_bandwidth(R_req, T_in, S_kv):
    """Bytes of cache that go from prefill to decode each second."""
    return R_req * T_in * S_kv


@formula("t", cite="zhong2024")
def first_token_time(t_in, R_req):
    """Time to the first token where prompts of one length come at random to one prefill server: its own time, and
    the queue before it (M/D/1). Negative where more come than it can take.
    """
    return t_in + R_req * t_in**2 / (2 * (1 - R_req * t_in))
