# %% right: ceilings
def weight_bytes(D, F, bits, block, scale_bits):
    blocks = ceil(D/block[0])*ceil(F/block[1])
    return (D*F*bits + blocks*scale_bits)/8
# %% right: whole numbers, floor of the negative
def weight_bytes(D, F, bits, block, scale_bits):
    down, across = block
    return (D*F*bits + (-D//down)*(-F//across)*scale_bits)/8
# %% right: one block after the other, the edges as they are
def weight_bytes(D, F, bits, block, scale_bits):
    rows = [min(block[0], D - i) for i in range(0, D, block[0])]
    columns = [min(block[1], F - j) for j in range(0, F, block[1])]
    return sum(sum(rows)*column*bits + len(rows)*scale_bits for column in columns)/8
# %% right: whole blocks and the rest by divmod
def weight_bytes(D, F, bits, block, scale_bits):
    counts = [whole + (rest > 0) for whole, rest in (divmod(D, block[0]), divmod(F, block[1]))]
    return bits/8*D*F + scale_bits/8*counts[0]*counts[1]
# %% right: numpy
import numpy as np
def weight_bytes(D, F, bits, block, scale_bits):
    return np.prod([D, F])*bits/8 + np.prod(np.ceil(np.array([D, F])/np.array(block)))*scale_bits/8
# %% right: an exact fraction
from fractions import Fraction
def weight_bytes(D, F, bits, block, scale_bits):
    n = len(range(0, D, block[0]))*len(range(0, F, block[1]))
    return Fraction(D*F*bits, 8) + Fraction(n*scale_bits, 8)
# %% right: the numbers of the blocks that occur
def weight_bytes(D, F, bits, block, scale_bits):
    a = {i//block[0] for i in range(D)}
    b = {j//block[1] for j in range(F)}
    return (D*F*bits + len(a)*len(b)*scale_bits)/8
# %% right: one line, the last weight's block
weight_bytes = lambda D, F, bits, block, scale_bits: (
    D*F*bits + ((D - 1)//block[0] + 1)*((F - 1)//block[1] + 1)*scale_bits)/8
# %% right: by recursion along each side
def blocks_of(length, size):
    return 1 if length <= size else 1 + blocks_of(length - size, size)
def weight_bytes(D, F, bits, block, scale_bits):
    import sys
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20000))
    n = blocks_of(D, block[0])*blocks_of(F, block[1])
    return D*F*bits/8 + n*scale_bits/8
# %% right: sympy
import sympy
def weight_bytes(D, F, bits, block, scale_bits):
    n = sympy.ceiling(sympy.Rational(D, block[0]))*sympy.ceiling(sympy.Rational(F, block[1]))
    return float((D*F*bits + n*scale_bits)/sympy.Integer(8))
# %% right: another order of names, and defaults
def weight_bytes(D, F, bits=4, block=(32, 1), scale_bits=8):
    scales = 1
    for side, length in zip(block, (D, F)):
        scales *= int(length/side) + bool(length % side)
    return (scales*scale_bits + F*bits*D)*0.125
# %% right: rounded up to whole bytes, since a matrix cannot end within one
def weight_bytes(D, F, bits, block, scale_bits):
    return ceil((D*F*bits + ceil(D/block[0])*ceil(F/block[1])*scale_bits)/8)
# %% wrong: no rounding, part of a block has part of a scale
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + D*F/(block[0]*block[1])*scale_bits)/8
# %% wrong: effective bytes, times the weights
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*scaled_weight_bytes(bits/8, scale_bits/8, block[0]*block[1])
# %% wrong: the number of blocks rounded up as a whole
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D*F/(block[0]*block[1]))*scale_bits)/8
# %% wrong: whole blocks only
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + D//block[0]*(F//block[1])*scale_bits)/8
# %% wrong: rounds up along D only
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D/block[0])*(F//block[1])*scale_bits)/8
# %% wrong: one block more on each side, always
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + (D//block[0] + 1)*(F//block[1] + 1)*scale_bits)/8
# %% wrong: the nearest whole number of blocks
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + round(D/block[0])*round(F/block[1])*scale_bits)/8
# %% wrong: edges padded to whole blocks
def weight_bytes(D, F, bits, block, scale_bits):
    n = ceil(D/block[0])*ceil(F/block[1])
    return n*(block[0]*block[1]*bits + scale_bits)/8
# %% wrong: the sides of a block exchanged
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D/block[1])*ceil(F/block[0])*scale_bits)/8
# %% wrong: blocks along D only
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D/block[0])*F*scale_bits)/8
# %% wrong: a block's number of weights lies along D
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + F*ceil(D/(block[0]*block[1]))*scale_bits)/8
# %% wrong: the weights without their scales
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*bits/8
# %% wrong: the scales alone
def weight_bytes(D, F, bits, block, scale_bits):
    return ceil(D/block[0])*ceil(F/block[1])*scale_bits/8
# %% wrong: bits, not bytes
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*bits + ceil(D/block[0])*ceil(F/block[1])*scale_bits
# %% wrong: scales of so many bytes
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*bits/8 + ceil(D/block[0])*ceil(F/block[1])*scale_bits
# %% wrong: a scale of one byte, always
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*bits/8 + ceil(D/block[0])*ceil(F/block[1])
# %% wrong: a scale and a zero point for each block
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + 2*ceil(D/block[0])*ceil(F/block[1])*scale_bits)/8
# %% wrong: one more scale of four bytes for the matrix, as in NVFP4
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D/block[0])*ceil(F/block[1])*scale_bits)/8 + 4
# %% wrong: a scale for every weight
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*(bits + scale_bits)/8
# %% wrong: bytes for one weight
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D/block[0])*ceil(F/block[1])*scale_bits)/8/(D*F)
# %% wrong: each weight in a whole number of bytes
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*ceil(bits/8) + ceil(D/block[0])*ceil(F/block[1])*scale_bits/8
# %% wrong: divides each width by eight without its rest
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*(bits//8) + ceil(D/block[0])*ceil(F/block[1])*(scale_bits//8)
# %% wrong: ceiling of a whole division, which is too late
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + ceil(D//block[0])*ceil(F//block[1])*scale_bits)/8
# %% wrong: blocks along both sides are added
def weight_bytes(D, F, bits, block, scale_bits):
    return (D*F*bits + (ceil(D/block[0]) + ceil(F/block[1]))*scale_bits)/8
# %% wrong: a pair, weights and scales
def weight_bytes(D, F, bits, block, scale_bits):
    return D*F*bits/8, ceil(D/block[0])*ceil(F/block[1])*scale_bits/8
# %% wrong: the matrix transposed, F rows of D
def weight_bytes(D, F, bits, block, scale_bits):
    D, F = F, D
    return (D*F*bits + ceil(D/block[0])*ceil(F/block[1])*scale_bits)/8
# %% wrong: a row of weights ends on a whole block, so it is padded along F
def weight_bytes(D, F, bits, block, scale_bits):
    across = ceil(F/block[1])
    return (D*across*block[1]*bits + ceil(D/block[0])*across*scale_bits)/8
# %% wrong: without a return
def weight_bytes(D, F, bits, block, scale_bits):
    total = (D*F*bits + ceil(D/block[0])*ceil(F/block[1])*scale_bits)/8
