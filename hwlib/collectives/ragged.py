"""All-to-all of experts: a token goes to a few ranks, and to each of them once.

S is all tokens of all ranks, each counted once: a rank holds S/n. The ranks that a token needs are drawn independently
for each token, so these are expected values; the exchange of a given routing table is an algorithm, not a formula.

The formulas draw a token's experts with replacement, which is near for many experts; plans and servers count by
`mean_destinations`, which does not.
"""

from math import comb
from typing import Any, NamedTuple

from hwlib.arguments import as_int
from hwlib.formula import formula, maximum, minimum, where


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
    return float(mean_destinations(n, k, E) / n)


def mean_destinations(n: Any, k: int, E: int, n_lim: int = 0) -> Any:
    """On how many of n places, ranks or nodes, a token has experts, on average: of E that are spread evenly it takes k
    different ones, each set as likely. n may be a column, and beyond E, or no divisor of it.

    With n_lim it takes experts of at most so many places, those with the best experts. That is exact where a place is
    judged by its best expert alone (DeepSeek-V2), whatever the distribution of the router's scores, and up to 1 % too
    many where it is by the sum of its k/n_lim best (DeepSeek-V3), which may open a place that has none of the k. 0 is
    no limit.

    >>> mean_destinations(8, 2, 8)
    2.0
    >>> round(mean_destinations(8, 8, 256), 3), round(mean_destinations(8, 8, 256, n_lim=4), 3)
    (5.295, 3.983)
    """
    n = minimum(n, E)
    free = n * (1 - _all_among(E - E / n, k, E))
    if not n_lim:
        return free
    fewer = sum((n_lim - d) * _on_exactly(d, n, k, E) for d in range(1, n_lim))
    return where(n > n_lim, n_lim - fewer, free)


def _all_among(x: Any, k: int, E: int) -> Any:
    """The probability that k different ones of E are all among x of them."""
    ways: Any = 1.0
    total = 1.0
    for i in range(k):
        ways, total = ways * maximum(x - i, 0.0), total * (E - i)
    return ways / total


def _on_exactly(d: int, n: Any, k: int, E: int) -> Any:
    """The probability that the k experts are on exactly d of n places."""
    chosen: Any = 1.0
    for i in range(d):
        chosen = chosen * maximum(n - i, 0.0) / (i + 1)
    return chosen * sum((-1) ** (d - j) * comb(d, j) * _all_among(j * E / n, k, E) for j in range(1, d + 1))


class Routing(NamedTuple):
    """A token's k different experts of E, spread evenly over ranks, on at most n_lim nodes; 0 is no limit."""

    k: int
    E: int
    n_lim: int = 0

    def share(self, n: Any, limited: bool = False) -> Any:
        """Of k copies of a token, the share that is left if each of n places gets it once; `limited` where these are
        nodes, or contain nodes.
        """
        return mean_destinations(n, self.k, self.E, self.n_lim if limited else 0) / self.k


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
