"""What crosses each port: bytes per rank and per switch port, and the factors that make bandwidths comparable."""

from hwlib.formula import ceil, formula


@formula("S", cite="thakur2005")
def padded_bytes(N, n, b=2):
    """Size of N elements cut into n blocks of ceil(N/n): the last may be shorter, and time does not notice."""
    return n * ceil(N / n) * b
