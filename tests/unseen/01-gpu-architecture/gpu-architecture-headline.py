# %% right: three divisions
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/2/4
# %% right: a text in PFLOP/s
g = given("gpu-architecture-headline")
answer = f"{g['C']/(8*g['n'])/1e15} PFLOP/s"
# %% right: typed in TFLOP/s
answer = "2500 TFLOP/s"
# %% right: by bits, 4 of 16
from fractions import Fraction
g = given("gpu-architecture-headline")
dense = Fraction(1, 2)
answer = Fraction(g["C"])*dense*Fraction(4, 16)/g["n"]
# %% right: halves twice for the format, once for the zeros
g = given("gpu-architecture-headline")
rate = g["C"]/g["n"]
for step in ("fp4 to fp8", "fp8 to bf16", "sparse to dense"):
    rate /= 2
answer = rate
# %% right: Decimal
from decimal import Decimal
g = given("gpu-architecture-headline")
answer = Decimal(g["C"])/Decimal(g["n"])/Decimal(8)
# %% right: as EFLOP/s
g = given("gpu-architecture-headline")
answer = "%.6f EFLOP/s" % (g["C"]/g["n"]*2**-3/1e18)
# %% right: numpy, logarithm of the widths
import numpy as np
g = given("gpu-architecture-headline")
answer = np.float64(g["C"])/g["n"]*0.5**(1 + np.log2(16/4))
# %% wrong: forgets the zeros
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/4
# %% wrong: halves once from fp4 to bf16 and forgets the zeros
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/2
# %% wrong: forgets the bits
g = given("gpu-architecture-headline")
answer = (g["C"]/2)/g["n"]
# %% wrong: the whole rack
g = given("gpu-architecture-headline")
answer = g["C"]/8
# %% wrong: a factor of eight for the bits
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/2/8
# %% wrong: divides by the bits themselves
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/2/16
# %% wrong: one halving for the format, one for the zeros
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/2/2
# %% wrong: a B200's sheet instead of the headline
answer = b200.bf16_flops
# %% wrong: the right digits in TFLOP/s
answer = "2.5 TFLOP/s"
# %% wrong: doubles for every halving, the wrong way
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/2*4
# %% wrong: with zeros four times, as two of four are skipped
g = given("gpu-architecture-headline")
answer = g["C"]/g["n"]/4/4
# %% wrong: adds the two factors, two and four, and divides by six
g = given("gpu-architecture-headline")
answer = g["C"] / g["n"] / (2 + 4)
# %% wrong: a doubling for every bit that is saved
g = given("gpu-architecture-headline")
answer = g["C"] / g["n"] / 2 / 2**(16 - 4)
# %% wrong: eight GPUs, a node as usual, in place of the rack's
g = given("gpu-architecture-headline")
answer = g["C"] / 8 / 2 / 4
# %% wrong: a third of it, as training goes forward and backward
g = given("gpu-architecture-headline")
answer = g["C"] / g["n"] / 2 / 4 / 3
# %% wrong: the best matmul measured on such a chip
g = given("gpu-architecture-headline")
answer = accelerators["gb200-nvl72"].matmul_bf16_flops
# %% wrong: the float32 rate, as bf16 is added up in float32
g = given("gpu-architecture-headline")
answer = accelerators["gb200-nvl72"].fp32_flops
