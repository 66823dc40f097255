# %% right: a division of the two figures
answer = 2.25e15/8e12
# %% right: as a text with its unit
answer = "281.25 FLOP/B"
# %% right: by the library
answer = ridge(2.25e15, 8e12)
# %% right: from the chip's data
b200 = accelerators["b200-sxm"]
answer = b200.bf16_flops/b200.hbm_bandwidth
# %% right: an exact fraction
from fractions import Fraction
answer = Fraction(2250, 8)
# %% right: a text without a unit
answer = "281.25"
# %% right: rounded to three digits
answer = 281
# %% right: PFLOP over GB, so a thousand thousands too small
answer = 1e6*(2.25/8000)
# %% right: sympy, both clocks equal
import sympy
I = sympy.Symbol("I", positive=True)
answer = sympy.solve(sympy.Eq(I*8e12, sympy.Float(2.25e15)), I)[0]
# %% right: the first intensity at which the roof is flat, numpy
import numpy as np
I = np.arange(1, 1000, 0.25)
answer = I[np.argmax(np.minimum(2.25e15, I*8e12))]
# %% right: from the batch, 2 B/b_w with two bytes a weight
B = critical_batch(2.25e15, 8e12, b_w=2)
answer = 2*B/2
# %% right: in kFLOP per byte
answer = "0.28125 kFLOP/B"
# %% right: in FLOP per kB
answer = "281250 FLOP/kB"
# %% wrong: the wrong way round, bytes for a FLOP
answer = 8e12/2.25e15
# %% wrong: the prefixes left out
answer = 2.25/8
# %% wrong: peta is a million tera
answer = 2.25e6/8
# %% wrong: the peak with sparsity
answer = 4.5e15/8e12
# %% wrong: fp4 instead of bf16
answer = 9e15/8e12
# %% wrong: half, since a product and its addition are two FLOPs
answer = 2.25e15/8e12/2
# %% wrong: FLOPs for an element of two bytes
answer = 2.25e15/(8e12/2)
# %% wrong: half the bandwidth, as if both directions were printed
answer = 2.25e15/4e12
# %% wrong: FLOP per bit
answer = 2.25e15/(8e12*8)
# %% wrong: the bandwidth is read as terabits
answer = 2.25e15/(8e12/8)
# %% wrong: three arrays, so three times the bytes
answer = 3*2.25e15/8e12
# %% wrong: binary terabytes
answer = 2.25e15/(8*2**40)
# %% wrong: a binary peta and a binary tera
answer = 2.25*2**50/(8*2**40)
# %% wrong: multiplied instead of divided
answer = 2.25e15*8e12
# %% wrong: the ridge of an H100, as in the text
answer = "295 FLOP/B"
# %% wrong: the ridge that its neighbour has, an H200
answer = accelerators["h200-sxm"].bf16_flops/accelerators["h200-sxm"].hbm_bandwidth
# %% wrong: a rate, not an intensity
answer = "281.25 FLOP/s"
# %% wrong: the peak itself
answer = "2.25 PFLOP/s"
# %% wrong: the unit upside down
answer = "281.25 B/FLOP"
# %% wrong: a time, of one byte's worth
answer = "281.25 s"
# %% wrong: the batch with weights of one byte
answer = critical_batch(2.25e15, 8e12, b_w=1)
# %% wrong: where the sum of the clocks is half as good, twice as far right
answer = 2*2.25e15/8e12
# %% wrong: rounded up to a multiple of a tile of 128
answer = ceil(2.25e15/8e12/128)*128
# %% wrong: where a kernel without overlap gets nine tenths of the peak
answer = 9*2.25e15/8e12
