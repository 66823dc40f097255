"""Key-value caches as formulas: bytes of one token, in all layers."""

from hwlib.formula import formula


@formula("S_kv", cite="ainslie2023")
def kv_token_bytes(L, K, H, b=2):
    """A key and a value for each of the K heads and L layers: what G query heads share is stored once."""
    return 2 * L * K * H * b


@formula("S_kv", cite="deepseek-v3")
def mla_token_bytes(L, r_kv, d_rope, b=2):
    """Latent attention caches the compressed vector, from which every head's key and value are computed, and one
    shared key with the position.
    """
    return L * (r_kv + d_rope) * b
