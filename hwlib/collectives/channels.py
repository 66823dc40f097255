"""What a collective takes of the chip that it runs on: channels, each a block of threads on a multiprocessor.

A channel moves what one block of threads can copy and add, and occupies its multiprocessor while it waits as well. So a
collective has a bandwidth (its channels together, up to the port) and a price (the multiprocessors that a kernel beside
it does not get). Copy engines and switches that reduce lower the price, not the bandwidth.
"""

from hwlib.formula import formula, maximum, minimum


@formula("W_use", cite="hu2025")
def channels_bandwidth(n_ch, W_ch, W):
    """Channels add up until the port is full."""
    return minimum(n_ch * W_ch, W)


@formula("t", cite="deepseek-v3")
def shared_chip_time(t_math, t_comm, n_SM, n_ch):
    """A matmul and a collective that begin together, on one chip, if the matmul slows down in proportion.

    While the collective runs, the matmul has n_SM - n_ch multiprocessors; so it ends later by what the others would
    have done in that time, or ends first, and the collective alone decides. Caches, memory and power, which both also
    share, are left out. The source sets multiprocessors aside; what that costs is reckoned here to first order.
    """
    return maximum(t_comm, t_math + n_ch / n_SM * t_comm)
