"""Bubbles and memory of the schedules in closed form: `play` gives these numbers, and tests hold it to that.

t_F, t_B are a microbatch's passes forward and backward through all layers of a rank; t_I and t_W are the two
halves of t_B, the gradients of the input and of the weights. Messages take no time. A bubble fraction is of the
whole step; papers often print the bubble over the time without one, `bubble_overhead`.

What no chapter calls yet is for chapter 12.
"""

from hwlib.formula import formula, maximum, minimum


@formula("phi", cite="huang2019")
def pipeline_bubble_fraction(pp, m):
    """GPipe and 1F1B: of m + pp - 1 slots, pp - 1 are waits for the first microbatch to come and the last to go."""
    return (pp - 1) / (m + pp - 1)


@formula("phi", cite="narayanan2021")
def interleaved_bubble_fraction(pp, m, v):
    """With v chunks a rank a microbatch comes around v times as soon. m is a multiple of pp, or above it."""
    return (pp - 1) / (v * m + pp - 1)


@formula("phi_ideal", cite="narayanan2021")
def bubble_overhead(pp, m, v=1):
    """What Narayanan et al. call the bubble: over the time of the work, so it can be more than 1."""
    return (pp - 1) / (v * m)


@formula("t_bubble", cite="qi2024")
def one_f_one_b_bubble_time(pp, t_F, t_B):
    """1F1B, and GPipe too: they differ in memory only."""
    return (pp - 1) * (t_F + t_B)


@formula("t_bubble", cite="qi2024")
def zb_h1_bubble_time(pp, t_F, t_I, t_W):
    """As the paper prints it: gradients of weights fill the end of the bubble. See `zb_h1_played_bubble_time`."""
    return (pp - 1) * (t_F + t_I - t_W)


@formula("t_bubble", cite="qi2024")
def zb_h1_played_bubble_time(pp, t_F, t_I, t_W):
    """What ZB-H1 gives when played, with pp microbatches or more: a t_W above t_F or t_I fills no more."""
    return (pp - 1) * maximum(t_F + t_I - t_W, t_F, t_I)


@formula("phi", cite="qi2024")
def zbv_bubble_fraction(pp, m):
    """Not zero while the step ends for all together: pp - 1 of the six passes of a microbatch, half as long each.

    The paper's zero is of one rank, from its first pass to its last. For equal t_F, t_I and t_W, and at least
    2 pp - 1 microbatches.
    """
    return (pp - 1) / (6 * m + pp - 1)


@formula("t_bubble", cite="dualpipe")
def dualpipe_bubble_time(pp, t_FB, t_B, t_W):
    """As DeepSeek prints it; t_FB is a forward and a backward that run together. See `dualpipe_played_bubble_time`."""
    return (pp / 2 - 1) * (t_FB + t_B - 3 * t_W)


@formula("t_bubble", cite="dualpipe")
def dualpipe_played_bubble_time(pp, t_F, t_I, t_W):
    """What DeepSeek's order of passes gives when played, where a pair takes the sum of its two times.

    The printed bubble, if t_F = t_I and t_W is no more; less by up to t_F, if t_I is longer than t_F; more, if
    t_F is longer or t_W is longer than t_I.
    """
    return (pp / 2 - 1) * (t_F + 2 * t_I - minimum(t_I, t_W)) - minimum((pp / 2 - 1) * (t_I - t_F), t_F)


@formula("t_bubble", cite="dualpipe")
def dualpipev_played_bubble_time(pp, t_F, t_I, t_W):
    """DualPipe cut in half: that of twice the ranks, whose passes are half as long, for each rank has two chunks."""
    return dualpipe_played_bubble_time(2 * pp, t_F, t_I, t_W) / 2


@formula("phi", cite="qi2024")
def time_bubble_fraction(t_bubble, m, t_F, t_B):
    """A bubble in seconds as a share of the step."""
    return t_bubble / (m * (t_F + t_B) + t_bubble)


@formula("t", cite="scaling-book")
def blocking_pipeline_time(pp, m, t_F, t_B, t_send):
    """GPipe whose ranks wait while they send: m + pp - 2 messages stand in the way forward, and as many back."""
    return (m + pp - 1) * (t_F + t_B) + 2 * (m + pp - 2) * t_send


@formula("n_live", cite="huang2019")
def gpipe_in_flight(m):
    """GPipe keeps the activations of every microbatch, on every rank."""
    return m


@formula("n_live", cite="narayanan2021")
def one_f_one_b_in_flight(pp, m):
    """The first rank of 1F1B, which keeps most: as many microbatches as there are ranks. Each rank of ZB-H1 too."""
    return minimum(pp, m)


@formula("n_live", cite="korthikanti2022")
def interleaved_in_flight(pp, v):
    """The first rank with v chunks, in microbatches of all its layers: (pp - 1)/v more than 1F1B. For m above pp.

    With m = pp it keeps pp: there is no more to run ahead with.
    """
    return pp + (pp - 1) / v


@formula("n_live", cite="qi2024")
def zbv_in_flight(pp, m):
    """The rank of ZB-V that keeps most, in microbatches of all its layers: as many as the first one of 1F1B."""
    return minimum(pp, m)


@formula("n_live", cite="dualpipe")
def dualpipe_in_flight(pp):
    """Every rank, and its weights are there twice."""
    return pp + 1


@formula("n_live", cite="dualpipe")
def dualpipev_in_flight(pp):
    """DeepSeek prints one more than the stages, of which a rank has two: half a microbatch more than ranks. The weights
    are there once.
    """
    return pp + 1 / 2
