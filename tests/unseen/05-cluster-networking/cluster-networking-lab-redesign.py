# %% right: two branches
def redesign(gpus, ports):
    if gpus <= ports**2//2:
        return [2*gpus//ports, gpus//ports, 0]
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% right: a tuple, tier by tier
def redesign(gpus, ports):
    half = ports//2
    leaves = gpus//half
    up = leaves*half
    if leaves <= ports:
        return leaves, up//ports, 0
    spines = up//half
    return leaves, spines, spines*half//ports
# %% right: a numpy array of whole numbers
import numpy as np
def redesign(gpus, ports):
    share = gpus//ports
    return np.array([2, 2, 1])*share if 2*gpus > ports*ports else np.array([2, 1, 0])*share
# %% right: a lambda, with ceilings
redesign = lambda gpus, ports: [
    -(-gpus//(ports//2)),
    -(-gpus//ports)*(1 + (gpus > ports*ports/2)),
    -(-gpus//ports)*(gpus > ports*ports/2)]
# %% right: a loop over the tiers from the bottom
def redesign(gpus, ports):
    half, tiers = ports//2, 2
    while gpus > 2*half**tiers:
        tiers += 1
    counts = []
    for tier in range(1, 4):
        if tier < tiers:
            counts.append(gpus//half)
        elif tier == tiers:
            counts.append(gpus//ports)
        else:
            counts.append(0)
    return counts
# %% right: searches for the fewest of each tier
from itertools import count
def redesign(gpus, ports):
    leaves = next(l for l in count(1) if l*(ports//2) >= gpus)
    if leaves > ports:
        spines = next(s for s in count(1) if s*(ports//2) >= gpus)
        cores = next(c for c in count(1) if c*ports >= gpus)
    else:
        spines = next(s for s in count(1) if s*ports >= gpus)
        cores = 0
    return [leaves, spines, cores]
# %% right: fractions of the GPUs, as ints
from fractions import Fraction
def redesign(gpus, ports, top=None):
    share = Fraction(gpus, ports)
    three = share > Fraction(ports, 2)
    return [int(share*k) for k in ((2, 2, 1) if three else (2, 1, 0))]
# %% wrong: two tiers end one step too early
def redesign(gpus, ports):
    if gpus < ports**2//2:
        return [2*gpus//ports, gpus//ports, 0]
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% wrong: two tiers reach to ports squared
def redesign(gpus, ports):
    if gpus <= ports**2:
        return [2*gpus//ports, gpus//ports, 0]
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% wrong: two tiers whatever the number of GPUs
def redesign(gpus, ports):
    return [2*gpus//ports, gpus//ports, 0]
# %% wrong: always three tiers
def redesign(gpus, ports):
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% wrong: below cores the spines still have all ports down
def redesign(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    return [leaves, spines, spines//2 if leaves > ports else 0]
# %% wrong: as many cores as spines
def redesign(gpus, ports):
    leaves = 2*gpus//ports
    if leaves <= ports:
        return [leaves, leaves//2, 0]
    return [leaves, leaves, leaves]
# %% wrong: all ports of a leaf lead down
def redesign(gpus, ports):
    leaves = gpus//ports
    if leaves <= ports:
        return [leaves, leaves//2, 0]
    return [leaves, leaves, leaves//2]
# %% wrong: leaves out the cores where there are none
def redesign(gpus, ports):
    if gpus <= ports**2//2:
        return [2*gpus//ports, gpus//ports]
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% wrong: returns the total
def redesign(gpus, ports):
    return gpus//ports*(3 if gpus <= ports**2//2 else 5)
# %% wrong: from the top down
def redesign(gpus, ports):
    if gpus <= ports**2//2:
        return [0, gpus//ports, 2*gpus//ports]
    return [gpus//ports, 2*gpus//ports, 2*gpus//ports]
# %% wrong: the threshold for nodes of eight instead of GPUs
def redesign(gpus, ports):
    if gpus//8 <= ports**2//2:
        return [2*gpus//ports, gpus//ports, 0]
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% wrong: the full tree of three tiers, whatever the number of GPUs
def redesign(gpus, ports):
    if gpus <= ports**2//2:
        return [ports, ports//2, 0]
    return [ports**2//2, ports**2//2, ports**2//4]
# %% wrong: threshold typed for 64 ports
def redesign(gpus, ports):
    if gpus <= 2048:
        return [2*gpus//ports, gpus//ports, 0]
    return [2*gpus//ports, 2*gpus//ports, gpus//ports]
# %% wrong: prints instead of returning
def redesign(gpus, ports):
    three = gpus > ports**2//2
    print([2*gpus//ports, gpus//ports*(1 + three), gpus//ports*three])
