"""Two levels: n_in ranks of a node at bandwidth W_in, n_out nodes at W_out per rank.

Each rank communicates with the ranks of its own position in the other nodes, so that all ports to the network are
used at once. The steps do not overlap (with overlap the slower level decides: `hwlib.collectives.levels`).
Exact where n_in * n_out divides the elements; the two formulas of NCCL at the end are models of a machine, and what a
call of it takes is measured (`hwlib.calibrated.nccl`).
"""

from hwlib.formula import ceil, formula, log2, where


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


@formula("t", cite="hu2025")
def call_latency(n_in, n_out, t0, alpha_in, alpha_out):
    """What a collective of NCCL takes before its bytes count: a ring inside a node, a tree across nodes.

    A ring passes the ranks of a node one after another, so each further rank adds a step. A tree reaches twice the
    nodes with one more level, so each doubling adds a step up and one down, which alpha_out holds together.
    """
    return t0 + (n_in - 1) * alpha_in + log2(n_out) * alpha_out


@formula("t", cite="nccl-enqueue")
def nvls_tree_allreduce_time(n_in, n_out, S, t0, alpha_in, alpha_out, W, S_stage):
    """NCCL's NVLSTree: the switch of each node reduces, a double tree across nodes adds up, and back again.

    All stages work at once, on parts of the buffer that follow each other, so that the port with 2(n - 1)/n of S to
    carry decides: as a double tree and a ring do, it reaches the same W on any number of nodes. Before the last stage
    works, the buffer of each other one fills: S_stage bytes (channels x ranks of a node x chunk), of a message that is
    large; small messages are cut into smaller chunks, here by S/(S + S_stage), where NCCL halves the chunk in steps.
    """
    return call_latency(n_in, n_out, t0, alpha_in, alpha_out) + 2 * (n_in * n_out - 1) / (n_in * n_out) / W * (
        S + (1 + log2(n_out)) * S_stage * (1 - S_stage / (S + S_stage))
    )


@formula("t", cite="graham2016")
def nvls_sharp_allreduce_time(n_in, n_out, S, t0, alpha_in, alpha_out, W, S_stage):
    """The same where the switches of the network reduce too: one stage joins all nodes, so that one buffer more is
    filled, and not one for each doubling of the nodes. Latency still grows by doublings, as the switches' tree does.
    """
    return call_latency(n_in, n_out, t0, alpha_in, alpha_out) + 2 * (n_in * n_out - 1) / (n_in * n_out) / W * (
        S + where(n_out > 1, 2, 1) * S_stage * (1 - S_stage / (S + S_stage))
    )
