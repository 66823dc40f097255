"""Hyper-connections as formulas: several residual streams side by side, mixed anew around every block.

A block reads one vector, a weighted sum of the streams; what it gives is added to each of them with a weight, and the
streams are mixed. The weights of a token come from all its streams. Of one block: a layer has two, attention and MLP.
"""

from hwlib.formula import formula


@formula("P", cite="xie2025")
def hyper_connection_params(D, n_hc):
    """Exact, as in DeepSeek-V4: n_hc weights to read with, as many to write with and n_hc^2 to mix with, each from all
    streams; their offsets, and a scale for each of the three.
    """
    return (2 + n_hc) * n_hc * (n_hc * D + 1) + 3


@formula("flops", cite="xie2025")
def hyper_connection_flops(B, D, n_hc):
    """Forward: the weights, and the streams read, written and mixed; little beside a block's 24*D^2 and more."""
    return 2 * B * n_hc * D * ((2 + n_hc) * n_hc + 2 + n_hc)


@formula("S_act", cite="xie2025")
def hyper_stream_bytes(T, micro, D, n_hc, b=2):
    """What a block keeps of its input: n_hc streams where there was one, unless it is computed again."""
    return n_hc * T * micro * D * b
