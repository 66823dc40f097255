# %% right: six for a parameter, twelve for a pair of which half count
g = given("measuring-mfu-log")
dense, pairs = 6*g["P"]*g["B"], g["B"]*g["T"]/2
answer = (dense + 12*g["D"]*g["L"]*pairs)/(g["t"]*g["n"]*g["C"])
# %% right: as a text in per cent
answer = "41.8 %"
# %% right: the library's quotient
g = given("measuring-mfu-log")
answer = model_utilization(6*g["B"]*(g["P"] + g["T"]*g["D"]*g["L"]), g["t"], g["n"], g["C"])
# %% right: through the rate of a GPU, half of the library's attention
from hwlib.transformer import attention_forward_flops, forward_flops
g = given("measuring-mfu-log")
forward = forward_flops(g["P"], g["B"]) + g["L"]*attention_forward_flops(g["B"], g["T"], g["D"], 1)/2
rate = 3*forward/g["t"]/g["n"]    # FLOP/s of one GPU
answer = f"{100*rate/g['C']:.3f} %"
# %% right: the time at the peak over the time on the clock, Fractions
from fractions import Fraction
g = {name: Fraction(value) for name, value in given("measuring-mfu-log").items()}
sequence = 3*(2*g["P"]*g["T"] + g["L"]*4*g["D"]*g["T"]**2/2)
answer = sequence*(g["B"]/g["T"])/(g["n"]*g["C"])/g["t"]
# %% right: a float of numpy, a sum of two shares
import numpy as np
shares = np.array([6*69.5e9, 6*8192*8192*80])*2**22/(8.9*512*989.4e12)
answer = shares.sum()
# %% right: sympy, each token with those before it
import sympy
g = given("measuring-mfu-log")
i, T = sympy.symbols("i T", positive=True)
seen = sympy.integrate(i, (i, 0, T)).subs(T, int(g["T"]))
each = 12*g["L"]*g["D"]*seen
answer = (each*g["B"]/g["T"] + 6*g["P"]*g["B"])/(g["t"]*g["n"]*g["C"])
# %% wrong: attention left out
answer = 6*69.5e9*4194304/(8.9*512*989.4e12)
# %% wrong: attention over all pairs
answer = (6*69.5e9 + 12*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: attention forward only
answer = (6*69.5e9 + 2*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: scores and not the weighted values
answer = (6*69.5e9 + 3*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: forward pass only
answer = (2*69.5e9 + 2*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: the peak with sparsity
answer = (6*69.5e9 + 6*80*8192*8192)*4194304/(8.9*512*1978.9e12)
# %% wrong: recomputed once, as a hardware count
answer = (8*69.5e9 + 8*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: per cent as a bare number
answer = 41.8
# %% wrong: one multiplication and addition is one operation
answer = (3*69.5e9 + 3*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: backward as long as forward
answer = (4*69.5e9 + 4*80*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: attention of one layer
answer = (6*69.5e9 + 6*8192*8192)*4194304/(8.9*512*989.4e12)
# %% wrong: the mask halves everything
answer = (6*69.5e9 + 12*80*8192*8192)*4194304/2/(8.9*512*989.4e12)
# %% wrong: one GPU instead of all
answer = (6*69.5e9 + 6*80*8192*8192)*4194304/(8.9*989.4e12)
# %% wrong: the operations of a token as those of the step
answer = (6*69.5e9 + 6*80*8192*8192)/(8.9*512*989.4e12)
# %% wrong: the projections once more, 24 D squared beside the parameters
answer = (6*69.5e9 + 24*80*8192**2 + 6*80*8192*8192)*4194304/(8.9*512*989.4e12)
