# %% right: launch taken off both
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    t0 = t_empty
    return flops/(t_mul - t0), copy_bytes/(t_copy - t0), t0
# %% right: a list
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    rates = [work/(t - t_empty) for work, t in ((flops, t_mul), (copy_bytes, t_copy))]
    return [*rates, t_empty]
# %% right: numpy arrays, unpacked
import numpy as np
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    work = np.array([flops, copy_bytes], dtype=float)
    C, W = work/(np.array([t_mul, t_copy]) - t_empty)
    return C, W, t_empty
# %% right: a named tuple
from collections import namedtuple
Machine = namedtuple("Machine", "C W t0")
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return Machine(C=flops/(t_mul - t_empty), W=copy_bytes/(t_copy - t_empty), t0=t_empty)
# %% right: seconds for one FLOP and for one byte, inverted
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    per_flop = (t_mul - t_empty)/flops
    per_byte = (t_copy - t_empty)/copy_bytes
    return 1/per_flop, 1/per_byte, t_empty
# %% right: a lambda with a helper
def rate(work, seconds, launch):
    return work/(seconds - launch)
constants = lambda t_empty, copy_bytes, t_copy, flops, t_mul: (
    rate(flops, t_mul, t_empty), rate(copy_bytes, t_copy, t_empty), t_empty)
# %% right: three equations, solved as a system
import numpy as np
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    A = np.array([[0, 0, 1], [0, copy_bytes, 1], [flops, 0, 1]], dtype=float)
    scale = np.array([flops, copy_bytes, 1.0])
    u, v, t0 = np.linalg.solve(A/scale, [t_empty, t_copy, t_mul])
    return float(flops/u), float(copy_bytes/v), float(t0)
# %% right: Fractions come back
from fractions import Fraction
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    t0, t1, t2 = map(Fraction, (t_empty, t_copy, t_mul))
    return Fraction(flops)/(t2 - t0), Fraction(copy_bytes)/(t1 - t0), t0
# %% wrong: the launch stays in both times
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/t_mul, copy_bytes/t_copy, t_empty
# %% wrong: takes the launch off the copy only
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/t_mul, copy_bytes/(t_copy - t_empty), t_empty
# %% wrong: bandwidth first
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return copy_bytes/(t_copy - t_empty), flops/(t_mul - t_empty), t_empty
# %% wrong: doubles the bytes for read and write
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul - t_empty), 2*copy_bytes/(t_copy - t_empty), t_empty
# %% wrong: halves the bytes, one direction
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul - t_empty), copy_bytes/2/(t_copy - t_empty), t_empty
# %% wrong: doubles the FLOPs for multiply-adds
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return 2*flops/(t_mul - t_empty), copy_bytes/(t_copy - t_empty), t_empty
# %% wrong: adds the launch
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul + t_empty), copy_bytes/(t_copy + t_empty), t_empty
# %% wrong: rates without the launch
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul - t_empty), copy_bytes/(t_copy - t_empty)
# %% wrong: the launch in microseconds
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul - t_empty), copy_bytes/(t_copy - t_empty), t_empty*1e6
# %% wrong: times for rates
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return (t_mul - t_empty)/flops, (t_copy - t_empty)/copy_bytes, t_empty
# %% wrong: the copy's time off the product, as both move bytes
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul - t_copy), copy_bytes/(t_copy - t_empty), t_empty
# %% wrong: prints them
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    print(flops/(t_mul - t_empty), copy_bytes/(t_copy - t_empty), t_empty)
# %% wrong: TFLOP/s and GB/s
def constants(t_empty, copy_bytes, t_copy, flops, t_mul):
    return flops/(t_mul - t_empty)/1e12, copy_bytes/(t_copy - t_empty)/1e9, t_empty
