"""All-to-all of experts: a token goes to a few ranks, and to each of them once.

S is all tokens of all ranks, each counted once: a rank holds S/n. The ranks that a token needs are drawn independently
for each token, so these are expected values; the exchange of a given routing table is an algorithm, not a formula.
"""

from math import comb

from hwlib.arguments import as_int
from hwlib.formula import formula, minimum


@formula("p_dst", cite="scaling-book")
def destination_fraction(n, k):
    """The probability that a rank holds at least one of k experts, each on any of n ranks, independently.

    Also the expected fraction of the ranks that a token visits: two of its experts may be on the same rank.
    """
    return 1 - (1 - 1 / n) ** k


@formula("p_dst", cite="scaling-book")
def destination_fraction_limit(n, k):
    """The fraction if no two experts of a token share a rank: accurate for n much larger than k, an upper bound."""
    return minimum(k / n, 1)


def exact_destination_fraction(n: int, k: int, E: int) -> float:
    """The fraction if the k experts of a token are distinct, out of E that are spread evenly over n ranks.

    Raises ValueError if n does not divide E, or if k exceeds E.
    """
    n, k, E = (as_int(f"exact_destination_fraction: {name}", x) for name, x in {"n": n, "k": k, "E": E}.items())
    if E % n or k > E:
        raise ValueError(f"exact_destination_fraction: E is a multiple of n = {n} and at least k = {k}, got {E}")
    return 1 - comb(E - E // n, k) / comb(E, k)


@formula("t", cite="scaling-book")
def ragged_alltoall_time(n, S, k, W):
    """A rank sends each of the n - 1 others the tokens that have an expert there, each token once."""
    return (n - 1) / n * destination_fraction(n, k) * S / W


@formula("t", cite="scaling-book")
def ragged_alltoall_limit(n, S, k, W):
    """The usual approximation: k copies of each token, until everything goes everywhere."""
    return (n - 1) / n * destination_fraction_limit(n, k) * S / W


@formula("t", cite="scaling-book")
def sparse_alltoall_time(n, S, k, W):
    """All-to-all of an array whose rows have k nonzero blocks out of n, if only these are sent.

    Here S is the array of all ranks with its zeros, as in a dense all-to-all.
    """
    return minimum(k / n, 1) * (n - 1) / n**2 * S / W
