# %% right: layer by layer, the table once
g = given("transformer-math-count")
D, H = g["D"], g["H"]
attention = D*H*(3*g["n_q"] + 2*g["K"])
layer = attention + 3*D*g["F"] + 2*D
answer = g["L"]*layer + D + g["V"]*D
# %% right: typed
answer = 4399946240
# %% right: typed with commas
answer = "4,399,946,240"
# %% right: everything beside D
g = given("transformer-math-count")
beside = g["L"]*((3*32 + 2*8)*128 + 3*9728 + 2) + 1 + 151936
answer = 2560*beside
# %% right: the library's decoder and what it lacks
g = given("transformer-math-count")
usual = decoder_params(g["L"], g["D"], g["F"], g["n_q"], g["K"], g["H"], g["V"], tables=1)
answer = int(usual) + g["L"]*g["D"]*g["n_q"]*g["H"] + (2*g["L"] + 1)*g["D"]
# %% right: modules of torch without data
from torch import nn
g = given("transformer-math-count")
D, q, kv = g["D"], g["n_q"]*g["H"], g["K"]*g["H"]
with torch.device("meta"):
    def bare(i, o):
        return nn.Linear(i, o, bias=False)
    layers = [nn.ModuleList([bare(D, q), bare(D, kv), bare(D, kv), bare(D, q), bare(q, D),
                             bare(D, g["F"]), bare(D, g["F"]), bare(g["F"], D), nn.RMSNorm(D), nn.RMSNorm(D)])
              for _ in range(g["L"])]
    model = nn.ModuleList([nn.Embedding(g["V"], D), *layers, nn.RMSNorm(D)])
answer = sum(p.numel() for p in model.parameters())
# %% right: numpy shapes
import numpy as np
g = given("transformer-math-count")
shapes = [(2560, 4096)]*3 + [(2560, 1024)]*2 + [(2560, 9728)]*3 + [(2560, 1)]*2
answer = np.prod(shapes, axis=1).sum()*36 + 2560*151936 + 2560
# %% right: sympy
import sympy
L, D, F, q, K, H, V = sympy.symbols("L D F q K H V")
P = L*(D*H*(3*q + 2*K) + 3*D*F + 2*D) + D*(V + 1)
answer = P.subs({L: 36, D: 2560, F: 9728, q: 32, K: 8, H: 128, V: 151936})
# %% wrong: no output gate
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(2*D*H*(g["n_q"] + g["K"]) + 3*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: no norms
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"]) + g["V"]*D
# %% wrong: the last norm forgotten
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"] + 2*D) + g["V"]*D
# %% wrong: one norm in a layer
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"] + D) + D + g["V"]*D
# %% wrong: two tables
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"] + 2*D) + D + 2*g["V"]*D
# %% wrong: no gate in the MLP
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 2*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: keys and values as wide as queries
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(5*D*H*g["n_q"] + 3*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: attention's matrices square
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(3*D*D + 2*D*H*g["K"] + 3*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: the output gate has the shape of the keys' matrix
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(2*g["n_q"] + 3*g["K"]) + 3*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: the output gate is D by D
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(2*D*H*(g["n_q"] + g["K"]) + D*D + 3*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: keys, not values
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + g["K"]) + 3*D*g["F"] + 2*D) + D + g["V"]*D
# %% wrong: the table not counted
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"] + 2*D) + D
# %% wrong: the last norm in every layer
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"] + 3*D) + g["V"]*D
# %% wrong: rounded to millions
answer = 4_400_000_000
# %% wrong: norms with offsets
g = given("transformer-math-count")
D, H = g["D"], g["H"]
answer = g["L"]*(D*H*(3*g["n_q"] + 2*g["K"]) + 3*D*g["F"] + 4*D) + 2*D + g["V"]*D
