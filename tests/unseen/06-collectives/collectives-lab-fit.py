# %% right: slope and intercept
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    intercept = t1 - slope*S1
    return intercept/(2*(n - 1)), 2*(n - 1)/(n*slope)
# %% right: a linear system
import numpy as np
def constants(n, S1, t1, S2, t2):
    rounds = 2*(n - 1)
    A = np.array([[rounds, rounds*S1/n], [rounds, rounds*S2/n]])
    alpha, per_byte = np.linalg.solve(A, [t1, t2])
    return alpha, 1/per_byte
# %% right: one round of each size, a list
def constants(n, S1, t1, S2, t2):
    u1, u2 = (t/(2*n - 2) for t in (t1, t2))
    b1, b2 = S1/n, S2/n
    W = (b2 - b1)/(u2 - u1)
    return [u1 - b1/W, W]
# %% right: Cramer's rule, intercept from both points at once
def constants(n, S1, t1, S2, t2):
    k = 2*(n - 1)
    return (t1*S2 - t2*S1)/(S2 - S1)/k, k*(S2 - S1)/n/(t2 - t1)
# %% right: fractions to the end
from fractions import Fraction
def constants(n, S1, t1, S2, t2):
    S1, t1, S2, t2 = map(Fraction, (S1, t1, S2, t2))
    rounds = 2*(n - 1)
    W = Fraction(rounds, n)*(S2 - S1)/(t2 - t1)
    alpha = t2/rounds - S2/n/W
    return float(alpha), float(W)
# %% right: a numpy array of two, by polyfit
import numpy as np
def constants(n, S1, t1, S2, t2):
    slope, at_zero = np.polyfit(np.array([S1, S2], float)/n, [t1, t2], 1)
    return np.array([at_zero, 1/slope])*np.array([1/(2*n - 2), 2*n - 2])
# %% right: bus bandwidth of the difference
def constants(n, S1, t1, S2, t2):
    W = bus_factor("all_reduce", n)*(S2 - S1)/(t2 - t1)
    alpha = t1/(2*(n - 1)) - S1/(n*W)
    return alpha, W
# %% right: lambda in a lambda
constants = lambda n, S1, t1, S2, t2: (
    lambda m: ((t2 - m*S2)/2/(n - 1), 2*(1 - 1/n)/m))((t2 - t1)/(S2 - S1))
# %% right: a named tuple
from collections import namedtuple
Constants = namedtuple("Constants", "alpha W")
def constants(n, S1, t1, S2, t2):
    rounds = 2*(n - 1)
    W = rounds*(S2 - S1)/(n*(t2 - t1))
    return Constants(alpha=t1/rounds - S1/n/W, W=W)
# %% wrong: the latency of the whole all-reduce
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return t1 - slope*S1, 2*(n - 1)/(n*slope)
# %% wrong: the algorithm bandwidth
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/(2*(n - 1)), 1/slope
# %% wrong: n - 1 rounds, as in an all-gather
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/(n - 1), (n - 1)/(n*slope)
# %% wrong: 2n rounds
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/(2*n), 2/slope
# %% wrong: rounds of whole arrays
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/(2*(n - 1)), 2*(n - 1)/slope
# %% wrong: order of the two exchanged
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return 2*(n - 1)/(n*slope), (t1 - slope*S1)/(2*(n - 1))
# %% wrong: the small timing is all latency, the large one all bytes
def constants(n, S1, t1, S2, t2):
    return t1/(2*(n - 1)), 2*(n - 1)/n*S2/t2
# %% wrong: the slope itself in place of the bandwidth
def constants(n, S1, t1, S2, t2):
    slope = n*(t2 - t1)/(2*(n - 1)*(S2 - S1))
    return t1/(2*(n - 1)) - S1/n*slope, slope
# %% wrong: bandwidth in GB/s, latency in microseconds
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/(2*(n - 1))*1e6, 2*(n - 1)/(n*slope)/1e9
# %% wrong: prints the two
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    print((t1 - slope*S1)/(2*(n - 1)), 2*(n - 1)/(n*slope))
# %% wrong: latency from the second time with the first size
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t2 - slope*S1)/(2*(n - 1)), 2*(n - 1)/(n*slope)
# %% wrong: n for n - 1 in the bytes only
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/(2*(n - 1)), 2/slope
# %% wrong: a ring of eight, whatever n is
def constants(n, S1, t1, S2, t2):
    slope = (t2 - t1)/(S2 - S1)
    return (t1 - slope*S1)/14, 14/8/slope
