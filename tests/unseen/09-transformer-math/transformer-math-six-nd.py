# %% right: a token, forward and backward
g = given("transformer-math-six-nd")
layer = 2*g["D"]*g["H"]*(g["n_q"] + g["K"]) + 3*g["D"]*g["F"]
table = g["V"]*g["D"]
scores = 4*(g["T"] + 1)/2*g["n_q"]*g["H"]
flops = 6*(g["L"]*layer + table) + 3*g["L"]*scores
answer = flops/(6*(g["L"]*layer + 2*table))
# %% right: typed
answer = 1.0796
# %% right: as a text
answer = "1.0796x"
# %% right: percent
answer = "107.96 %"
# %% right: the library's formulas
g = given("transformer-math-six-nd")
shape = [g[key] for key in ("D", "F", "n_q", "K", "H")]
B = 65536
P = g["L"]*layer_params(*shape) + g["V"]*g["D"]
attention = g["L"]*causal_attention_forward_flops(B, g["T"], g["n_q"], g["H"])
found = forward_flops(P, B) + backward_flops(P, B) + 3*attention
answer = found/training_flops(decoder_params(g["L"], *shape, g["V"]), B)
# %% right: fractions of whole numbers
from fractions import Fraction
L, D, F, T, V = 24, 2048, 5632, 8192, 128256
six = L*(4*D*D + 3*D*F)
answer = Fraction(six + V*D + L*(T + 1)*D, six + 2*V*D)
# %% right: pairs of one sequence, counted
import numpy as np
g = given("transformer-math-six-nd")
T = g["T"]
pairs = int(np.arange(1, T + 1).sum())
layer = 4*g["D"]*2048 + 3*g["D"]*g["F"]
whole = 2*T*(g["L"]*layer + g["V"]*g["D"]) + g["L"]*4*pairs*2048
answer = np.float64(3*whole)/(6*T*(g["L"]*layer + 2*g["V"]*g["D"]))
# %% right: one plus what is more, less what is looked up
g = given("transformer-math-six-nd")
N = g["L"]*(4*2048**2 + 3*2048*5632) + 2*128256*2048
answer = 1 - 128256*2048/N + 24*(8192 + 1)*2048/N
# %% wrong: all pairs
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + 2*g["L"]*g["T"]*2048)/(M + 2*t)
# %% wrong: the lookup counts as a product
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + 2*t + g["L"]*(g["T"] + 1)*2048)/(M + 2*t)
# %% wrong: parameters of one table
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + g["L"]*(g["T"] + 1)*2048)/(M + t)
# %% wrong: without attention
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t)/(M + 2*t)
# %% wrong: attention forward only
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + g["L"]*(g["T"] + 1)*2048/3)/(M + 2*t)
# %% wrong: 6ND over the FLOPs
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + 2*t)/(M + t + g["L"]*(g["T"] + 1)*2048)
# %% wrong: the output layer is not multiplied with
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + g["L"]*(g["T"] + 1)*2048)/(M + 2*t)
# %% wrong: the excess as a share
answer = "7.96 %"
# %% wrong: scores without the weighted values
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + g["L"]*(g["T"] + 1)*2048/2)/(M + 2*t)
# %% wrong: one layer's attention
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + (g["T"] + 1)*2048)/(M + 2*t)
# %% wrong: MLPs of two matrices
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 2*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + g["L"]*(g["T"] + 1)*2048)/(M + 2*t)
# %% wrong: the vocabulary left out on both sides
g = given("transformer-math-six-nd")
M = g["L"]*(4*2048**2 + 3*2048*g["F"])
answer = (M + g["L"]*(g["T"] + 1)*2048)/M
# %% wrong: attention recomputed, four passes of it
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + 4/3*g["L"]*(g["T"] + 1)*2048)/(M + 2*t)
# %% wrong: one head's scores
g = given("transformer-math-six-nd")
M, t = g["L"]*(4*2048**2 + 3*2048*g["F"]), g["V"]*g["D"]
answer = (M + t + g["L"]*(g["T"] + 1)*64)/(M + 2*t)
