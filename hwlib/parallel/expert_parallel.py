"""Expert parallelism in letters: ep = n_in * n_out ranks hold the experts of a layer; tokens go to them and back.

B are the tokens of the ep ranks together. F is the width of one expert. A pass is a dispatch of b_disp bytes an
element and a combine of b_comb. p_dst is the share of ranks, or of nodes, that a token has business on:
`destination_fraction(n, k)` of the collectives, or what a router was seen to do. Loads are even; `imbalance` says how
far the busiest rank is off.
"""

from hwlib.collectives import destination_fraction_limit
from hwlib.formula import formula, ln, maximum, minimum, sqrt


@formula("t", cite="scaling-book")
def ep_math_time(B, D, F, k, ep, C, matrices=3):
    """Forward pass of the experts: every token meets k of them."""
    return 2 * matrices * k * B * D * F / (ep * C)


@formula("S_out", cite="scaling-book")
def ep_copies_bytes(B, D, k, ep, b_disp=2, b_comb=2):
    """One copy for each expert, wherever it lives: what a plain all-to-all sends of a rank, both ways."""
    return (ep - 1) / ep * k * (b_disp + b_comb) * B * D / ep


@formula("S_out", cite="scaling-book")
def ep_bytes(B, D, ep, p_dst, b_disp=2, b_comb=2):
    """One copy for each rank that has an expert of the token."""
    return (ep - 1) / ep * p_dst * (b_disp + b_comb) * B * D


@formula("t", cite="scaling-book")
def ep_nodes_time(B, D, n_in, n_out, W_out, p_dst, b_disp=2, b_comb=2):
    """One copy for each node, handed on inside: a node's cables carry it, W_out each."""
    return (n_out - 1) / n_out * p_dst * (b_disp + b_comb) * B * D / (n_in * W_out)


@formula("t", cite="scaling-book")
def ep_nodes_limit(B, D, k, n_in, n_out, W_out, b_disp=2, b_comb=2):
    """The same as if no two experts of a token shared a node: k copies, until everything goes everywhere."""
    return (n_out - 1) / n_out * destination_fraction_limit(n_out, k) * (b_disp + b_comb) * B * D / (n_in * W_out)


@formula("t", cite="deepseek-v3")
def ep_limited_time(B, D, k, n_lim, n_in, n_out, W_out, b_disp=2, b_comb=2):
    """With routing to at most n_lim nodes: copies stop growing with k. One of n_out nodes is the token's own."""
    return (n_out - 1) / n_out * minimum(k, n_lim, n_out) * (b_disp + b_comb) * B * D / (n_out * n_in * W_out)


@formula("F_crit", cite="scaling-book")
def ep_far_critical_width(C, W_out, b_disp=2, b_comb=2, matrices=3):
    """The limit of many nodes: k copies for k experts, so neither counts."""
    return (b_disp + b_comb) * C / (2 * matrices * W_out)


@formula("F_crit", cite="scaling-book")
def ep_critical_width(k, n_out, C, W_out, b_disp=2, b_comb=2, matrices=3):
    """Width of an expert from which arithmetic decides, over n_out nodes; the ranks of a node drop out.

    Two regimes: up to k nodes a token goes to all of them, and the bound grows with their number; beyond, it
    goes to k of them, and k drops out. How often two experts share a node, `ep_exact_critical_width` counts.
    """
    return (
        (n_out - 1)
        * destination_fraction_limit(n_out, k)
        / k
        * ep_far_critical_width(C, W_out, b_disp, b_comb, matrices)
    )


@formula("F_crit", cite="scaling-book")
def ep_exact_critical_width(k, n_out, C, W_out, p_dst, b_disp=2, b_comb=2, matrices=3):
    """The same with the copies that there are: two of a token's experts may live in one node."""
    return (n_out - 1) * p_dst / k * ep_far_critical_width(C, W_out, b_disp, b_comb, matrices)


@formula("F_crit", cite="deepseek-v3")
def ep_limited_critical_width(k, n_lim, C, W_out, b_disp=2, b_comb=2, matrices=3):
    """With node-limited routing over many nodes: n_lim copies for k experts."""
    return minimum(k, n_lim) / k * ep_far_critical_width(C, W_out, b_disp, b_comb, matrices)


@formula("t", cite="deepep")
def ep_latency_time(B, D, k, n_in, n_out, b, alpha, W_out):
    """One way of a few tokens: a copy for each expert, of b bytes an element, and those to other nodes cross the card.

    The bytes of a rank hardly depend on the number of nodes, and its start, alpha, is as long as many tokens take.
    """
    return alpha + (n_out - 1) / n_out * k * b * B * D / (n_in * n_out * W_out)


@formula("t", cite="deepep")
def ep_imbalanced_time(t_math, t_comm, imbalance):
    """All wait for the busiest rank: both its arithmetic and its port have `imbalance` times the mean."""
    return imbalance * maximum(t_math, t_comm)


@formula("spread", cite="raab1998")
def drawn_spread(B, k, ep):
    """Standard deviation of the ranks' loads over their mean, if routing is even but drawn by lot: binomial."""
    return sqrt((ep - 1) / (k * B))


@formula("imbalance", cite="raab1998")
def drawn_imbalance(B, k, ep):
    """Load of the busiest rank if routing is even but drawn by lot: the fewer tokens, the further off it is.

    The expected maximum is near this for many ranks and less for few, where a rank has many more tokens than ln(ep).
    What a router prefers comes on top.
    """
    return 1 + sqrt(2 * ln(ep) * ep / (k * B))


@formula("T_expert", cite="fedus2022")
def expert_capacity(B, k, E, headroom):
    """Tokens for which an expert keeps room: what comes beyond is dropped, what does not come is padded."""
    return headroom * k * B / E
