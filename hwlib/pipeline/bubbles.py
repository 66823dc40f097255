"""Bubbles and memory of the schedules in closed form; tests check that `play` gives the same numbers.

t_F and t_B are the times of a microbatch's forward and backward pass through all layers of a rank; t_I and t_W are the
two parts of t_B, the gradients of the input and of the weights. Messages take no time. A bubble fraction is relative
to the whole step; papers often print it relative to the time without a bubble, `bubble_overhead`.
"""

from hwlib.formula import formula, maximum, minimum


@formula("phi", cite="huang2019")
def pipeline_bubble_fraction(pp, m):
    """GPipe and 1F1B: of m + pp - 1 slots, pp - 1 are idle, while the pipeline fills and drains."""
    return (pp - 1) / (m + pp - 1)


@formula("phi", cite="narayanan2021")
def interleaved_bubble_fraction(pp, m, v):
    """With v chunks per rank the pipeline fills v times as fast. For m a multiple of pp, or above pp."""
    return (pp - 1) / (v * m + pp - 1)


@formula("phi_ideal", cite="narayanan2021")
def bubble_overhead(pp, m, v=1):
    """The bubble as Narayanan et al. define it: relative to the time of the work, so it can exceed 1."""
    return (pp - 1) / (v * m)


@formula("t_bubble", cite="qi2024")
def one_f_one_b_bubble_time(pp, t_F, t_B):
    """The bubble of 1F1B and of GPipe: the two differ in memory only."""
    return (pp - 1) * (t_F + t_B)


@formula("t_bubble", cite="qi2024")
def zb_h1_bubble_time(pp, t_F, t_I, t_W):
    """As the paper prints it: gradients of weights fill the end of the bubble. Compare `zb_h1_played_bubble_time`."""
    return (pp - 1) * (t_F + t_I - t_W)


@formula("t_bubble", cite="qi2024")
def zb_h1_played_bubble_time(pp, t_F, t_I, t_W):
    """The bubble of ZB-H1 in simulation, with pp microbatches or more: t_W beyond t_F or t_I fills no more of it."""
    return (pp - 1) * maximum(t_F + t_I - t_W, t_F, t_I)


@formula("phi", cite="qi2024")
def zbv_bubble_fraction(pp, m):
    """Not zero, since a step ends for all ranks together: pp - 1 of a microbatch's six passes, each half as long.

    The paper's zero is for one rank, from its first pass to its last. For equal t_F, t_I and t_W, and at least
    2 pp - 1 microbatches.
    """
    return (pp - 1) / (6 * m + pp - 1)


@formula("t_bubble", cite="dualpipe")
def dualpipe_bubble_time(pp, t_FB, t_B, t_W):
    """As DeepSeek prints it; t_FB is a forward and a backward overlapped. Compare `dualpipe_played_bubble_time`."""
    return (pp / 2 - 1) * (t_FB + t_B - 3 * t_W)


@formula("t_bubble", cite="dualpipe")
def dualpipe_played_bubble_time(pp, t_F, t_I, t_W):
    """The bubble of DeepSeek's order of passes in simulation, where a pair takes the sum of its two times.

    Equal to the printed bubble if t_F = t_I >= t_W; smaller by up to t_F if t_I > t_F; larger if t_F > t_I or
    t_W > t_I.
    """
    return (pp / 2 - 1) * (t_F + 2 * t_I - minimum(t_I, t_W)) - minimum((pp / 2 - 1) * (t_I - t_F), t_F)


@formula("t_bubble", cite="dualpipe")
def dualpipev_played_bubble_time(pp, t_F, t_I, t_W):
    """DualPipe cut in half: the bubble of twice the ranks with passes half as long, as each rank has two chunks."""
    return dualpipe_played_bubble_time(2 * pp, t_F, t_I, t_W) / 2


@formula("phi", cite="qi2024")
def time_bubble_fraction(t_bubble, m, t_F, t_B):
    """A bubble in seconds as a fraction of the step."""
    return t_bubble / (m * (t_F + t_B) + t_bubble)


@formula("t", cite="scaling-book")
def blocking_pipeline_time(pp, m, t_F, t_B, t_send):
    """GPipe whose ranks wait while they send: m + pp - 2 messages delay forward passes, as many backward ones."""
    return (m + pp - 1) * (t_F + t_B) + 2 * (m + pp - 2) * t_send


@formula("n_live", cite="huang2019")
def gpipe_in_flight(m):
    """GPipe keeps the activations of every microbatch, on every rank."""
    return m


@formula("n_live", cite="narayanan2021")
def one_f_one_b_in_flight(pp, m):
    """The first rank of 1F1B, which keeps most: as many microbatches as there are ranks. ZB-H1: every rank."""
    return minimum(pp, m)


@formula("n_live", cite="korthikanti2022")
def interleaved_in_flight(pp, v):
    """The first rank with v chunks, in microbatches of all its layers: (pp - 1)/v more than 1F1B. For m above pp.

    With m = pp it keeps pp: there are no more microbatches to run ahead with.
    """
    return pp + (pp - 1) / v


@formula("n_live", cite="qi2024")
def zbv_in_flight(pp, m):
    """The rank of ZB-V that keeps most, in microbatches of all its layers: as many as the first rank of 1F1B."""
    return minimum(pp, m)


@formula("n_live", cite="dualpipe")
def dualpipe_in_flight(pp):
    """Every rank of DualPipe keeps pp + 1 microbatches, and holds its weights twice."""
    return pp + 1


@formula("n_live", cite="dualpipe")
def dualpipev_in_flight(pp):
    """DeepSeek prints one more than the number of stages, of which a rank has two: half a microbatch more than there
    are ranks. The weights are held once.
    """
    return pp + 1 / 2
