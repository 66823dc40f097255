"""Context parallelism in letters: cp ranks share a sequence, each with all weights. Bytes are those of one layer.

B are the tokens of the cp ranks together, T the length of a sequence, whole. Attention is the one place where
tokens meet: keys and values travel round a ring, or heads are exchanged for tokens (Ulysses).
"""

from hwlib.collectives import allgather_bytes, alltoall_bytes
from hwlib.formula import formula


@formula("S_out", cite="liu2023")
def ring_attention_bytes(B, K, H, cp, b=2):
    """Forward: a rank passes on every block of keys and values but the one that would come home."""
    return allgather_bytes(cp, 2 * b * B * K * H)


@formula("S_out", cite="liu2023")
def ring_attention_backward_bytes(B, K, H, cp, b=2, b_g=2):
    """Backward: keys and values once more, and their gradients with them all the way round."""
    return ring_attention_bytes(B, K, H, cp, b) + 2 * b_g * B * K * H


@formula("S_out", cite="jacobs2023")
def ulysses_bytes(B, n_q, K, H, cp, b=2):
    """Forward: queries, keys and values become all tokens of some heads, and the output comes back."""
    return alltoall_bytes(cp, 2 * b * B * (n_q + K) * H)


@formula("S_out", cite="jacobs2023")
def ulysses_layer_bytes(B, n_q, K, H, cp, b=2):
    """Forward and backward: the gradients go the same ways back."""
    return 2 * ulysses_bytes(B, n_q, K, H, cp, b)


@formula("t", cite="liu2023")
def ring_step_math_time(T, n_q, H, cp, C):
    """One step of the ring: T/cp queries meet T/cp keys. No mask."""
    return 4 * (T / cp) ** 2 * n_q * H / C


@formula("t", cite="liu2023")
def ring_step_comm_time(T, K, H, cp, W, b=2):
    """Meanwhile the next block of keys and values comes in."""
    return 2 * b * (T / cp) * K * H / W


@formula("B_crit", cite="liu2023")
def ring_critical_tokens(G, C, W, b=2):
    """Tokens of one sequence on a rank from which a step hides the next block: G query heads work on one that moves."""
    return b * C / (2 * G * W)


@formula("B_crit", cite="liu2023")
def ring_causal_critical_tokens(G, C, W, b=2):
    """With a causal mask whose work is spread evenly, a step has half of the work to hide the same bytes."""
    return 2 * ring_critical_tokens(G, C, W, b)


@formula("t", cite="jacobs2023")
def ulysses_time(B, n_q, K, H, cp, W, b=2):
    """Forward pass: attention waits for the first exchange and the second for attention, so neither hides there."""
    return ulysses_bytes(B, n_q, K, H, cp, b) / W


@formula("t", cite="jacobs2023")
def ulysses_math_time(B, T, n_q, H, cp, C):
    """What stands between the two: each rank has n_q/cp heads of all B tokens, which meet T keys. No mask."""
    return 4 * B * T * n_q * H / (cp * C)


@formula("T", cite="jacobs2023")
def ulysses_critical_tokens(G, cp, C, W, b=2):
    """Length of a sequence from which attention takes longer than its exchanges: both shrink alike with the ranks, so
    only (cp - 1)/cp of them is left in it.
    """
    return (cp - 1) / cp * b * (1 + 1 / G) * C / (2 * W)


@formula("cp", cite="jacobs2023")
def ulysses_max_ranks(K, tp=1):
    """A rank needs a key-value head of its own; beyond that heads are copied, or a ring goes round the groups."""
    return K / tp
