"""Two levels: n_in ranks of a node at bandwidth W_in, n_out nodes at W_out per rank.

Each rank communicates with the ranks of its own position in the other nodes, so that all ports to the network are
used at once. The steps do not overlap (with overlap the slower level decides: `hwlib.collectives.levels`).
Exact where n_in * n_out divides the elements.
"""

from hwlib.formula import ceil, formula, log2


@formula("t", cite="mikami2018")
def hierarchical_reduce_scatter_time(n_in, n_out, S, alpha_in, W_in, alpha_out, W_out):
    """Rings inside the node first, so that only S/n_in bytes of partial sums cross nodes."""
    return (n_in - 1) * (alpha_in + S / (n_in * W_in)) + (n_out - 1) * (alpha_out + S / (n_in * n_out * W_out))


@formula("t", cite="mikami2018")
def hierarchical_allgather_time(n_in, n_out, S, alpha_in, W_in, alpha_out, W_out):
    """Rings across nodes first, of S/n_in bytes, then inside: no byte crosses between the same two nodes twice."""
    return (n_in - 1) * (alpha_in + S / (n_in * W_in)) + (n_out - 1) * (alpha_out + S / (n_in * n_out * W_out))


@formula("t", cite="mikami2018")
def hierarchical_allreduce_time(n_in, n_out, S, alpha_in, W_in, alpha_out, W_out):
    """Reduce-scatter inside the node, all-reduce of the S/n_in bytes across, all-gather inside: all rings.

    A flat ring would push all S bytes through a port between nodes; here it is S/n_in.
    """
    return 2 * (n_in - 1) * (alpha_in + S / (n_in * W_in)) + 2 * (n_out - 1) * (alpha_out + S / (n_in * n_out * W_out))


@formula("t", cite="thakur2005")
def hierarchical_alltoall_time(n_in, n_out, S, alpha_in, W_in, alpha_out, W_out):
    """Pairwise inside the node, to the rank of the receiver's position, then pairwise across nodes.

    Fewer and larger messages than n - 1 direct ones, but as many bytes across nodes: nothing is summed or copied on
    the way, so a hierarchy saves an all-to-all only latency.
    """
    return (n_in - 1) * (alpha_in + S / (n_in**2 * n_out * W_in)) + (n_out - 1) * (
        alpha_out + S / (n_in * n_out**2 * W_out)
    )


@formula("t", cite="thakur2005")
def hierarchical_broadcast_time(n_in, n_out, S, alpha_in, W_in, alpha_out, W_out):
    """A binomial tree over one rank of each node, then one inside every node."""
    return ceil(log2(n_out)) * (alpha_out + S / W_out) + ceil(log2(n_in)) * (alpha_in + S / W_in)
