# %% right: bytes of a layer's token, times tokens of all layers
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
tokens = whole//g["share"]*g["T"] + (g["L"] - whole)*min(g["T"], g["window"])
answer = 2*g["K"]*g["H"]*g["b"]*tokens
# %% right: a text in MiB
g = given("inference-cache-windows")
globals_ = g["L"]/g["every"]
tokens = globals_/g["share"]*g["T"] + (g["L"] - globals_)*g["window"]
answer = f"{2*g['K']*g['H']*g['b']*tokens/2**20:.6g} MiB"
# %% right: typed numbers, in GB
answer = f"{(4*131072 + 40*4096)*2048/1e9:.4f} GB"
# %% right: a loop over the layers
g = given("inference-cache-windows")
total, seen = 0, 0
for layer in range(1, g["L"] + 1):
    if layer % g["every"]:
        total += min(g["T"], g["window"])*2*g["K"]*g["H"]*g["b"]
    else:
        if seen % g["share"] == 0:
            total += g["T"]*2*g["K"]*g["H"]*g["b"]
        seen += 1
answer = total
# %% right: numpy, a row of tokens for each layer
import numpy as np
g = given("inference-cache-windows")
kept = np.full(g["L"], min(g["T"], g["window"]), dtype=np.int64)
kept[::g["every"]] = g["T"]
places = np.arange(0, g["L"], g["every"])
kept[places[np.arange(len(places)) % g["share"] > 0]] = 0
answer = kept.sum()*(2*g["K"]*g["H"]*g["b"])
# %% right: fractions of a mean layer
from fractions import Fraction
g = given("inference-cache-windows")
whole = Fraction(1, g["every"])
mean = whole*Fraction(g["T"], g["share"]) + (1 - whole)*g["window"]
answer = g["L"]*mean*2*g["K"]*g["H"]*g["b"]
# %% right: a text in GiB
answer = "1.3125 GiB"
# %% right: in gigabits
g = given("inference-cache-windows")
whole = g["L"]/g["every"]
tokens = whole/g["share"]*g["T"] + (g["L"] - whole)*g["window"]
answer = f"{2*g['K']*g['H']*g['b']*tokens*8/1e9:.5g} Gbit"
# %% wrong: sharing forgotten, every global layer stores
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*g["b"]*(whole*g["T"] + (g["L"] - whole)*g["window"])
# %% wrong: local layers share too
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*g["b"]*(whole*g["T"] + (g["L"] - whole)*g["window"])/g["share"]
# %% wrong: keys only, no values
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = g["K"]*g["H"]*g["b"]*(whole/g["share"]*g["T"] + (g["L"] - whole)*g["window"])
# %% wrong: local layers forgotten
g = given("inference-cache-windows")
answer = 2*g["K"]*g["H"]*g["b"]*g["L"]/g["every"]/g["share"]*g["T"]
# %% wrong: one layer in six is local
g = given("inference-cache-windows")
few = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*g["b"]*((g["L"] - few)/g["share"]*g["T"] + few*g["window"])
# %% wrong: every layer keeps every token
g = given("inference-cache-windows")
answer = 2*g["L"]*g["K"]*g["H"]*g["b"]*g["T"]
# %% wrong: local layers that share instead of the global ones
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*g["b"]*(whole*g["T"] + (g["L"] - whole)/g["share"]*g["window"])
# %% wrong: sharers counted as local layers
g = given("inference-cache-windows")
stored = g["L"]//g["every"]//g["share"]
answer = 2*g["K"]*g["H"]*g["b"]*(stored*g["T"] + (g["L"] - stored)*g["window"])
# %% wrong: six local layers for each global one
g = given("inference-cache-windows")
whole = g["L"]/(g["every"] + 1)
answer = 2*g["K"]*g["H"]*g["b"]*(whole/g["share"]*g["T"] + (g["L"] - whole)*g["window"])
# %% wrong: two bytes an element
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*2*(whole//g["share"]*g["T"] + (g["L"] - whole)*g["window"])
# %% wrong: one key-value head
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["H"]*g["b"]*(whole//g["share"]*g["T"] + (g["L"] - whole)*g["window"])
# %% wrong: GiB written as GB
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
size = 2*g["K"]*g["H"]*g["b"]*(whole//g["share"]*g["T"] + (g["L"] - whole)*g["window"])
answer = f"{size/2**30:.4f} GB"
# %% wrong: bits
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 16*g["K"]*g["H"]*g["b"]*(whole//g["share"]*g["T"] + (g["L"] - whole)*g["window"])
# %% wrong: every layer has a window, global ones besides
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*g["b"]*(whole//g["share"]*g["T"] + g["L"]*g["window"])
# %% wrong: local layers lose the window and keep the rest
g = given("inference-cache-windows")
whole = g["L"]//g["every"]
answer = 2*g["K"]*g["H"]*g["b"]*(whole//g["share"]*g["T"] + (g["L"] - whole)*(g["T"] - g["window"]))
