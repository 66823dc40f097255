# %% right: in KiB as a text
answer = "63 KiB"
# %% right: in KB as a text
g = given("tensor-parallelism-heads")
answer = f"{2*2*g['L']*g['H']/1e3:.6g} KB"
# %% right: heads of each rank, rounded up
import math
g = given("tensor-parallelism-heads")
heads = math.ceil(g["K"]/g["tp"])
answer = 2*g["L"]*heads*g["H"]*2
# %% right: the cache of all GPUs by that of four copies
from fractions import Fraction
g = given("tensor-parallelism-heads")
once = 2*g["L"]*g["K"]*g["H"]*2
copies = Fraction(g["tp"], g["K"])
answer = once*copies/g["tp"]
# %% right: bits
g = given("tensor-parallelism-heads")
answer = f"{16*2*g['L']*g['H']} bit"
# %% right: a table of who holds which head
import numpy as np
g = given("tensor-parallelism-heads")
holds = np.zeros((g["tp"], g["K"]))
for rank in range(g["tp"]):
    holds[rank, rank*g["K"]//g["tp"]] = 1
answer = (holds.sum(1)*g["H"]*g["L"]*2*2).max()
# %% right: the library's count of a model with one head
from hwlib.transformer import kv_token_bytes
g = given("tensor-parallelism-heads")
answer = kv_token_bytes(g["L"], max(g["K"]//g["tp"], 1), g["H"])
# %% right: a loop over layers, keys and values
g = given("tensor-parallelism-heads")
answer = 0
for layer in range(g["L"]):
    for array in ("key", "value"):
        answer += g["H"]*2
# %% wrong: heads divided evenly among the GPUs
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["K"]*g["H"]*2/g["tp"]
# %% wrong: every GPU keeps all heads
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["K"]*g["H"]*2
# %% wrong: keys only
g = given("tensor-parallelism-heads")
answer = g["L"]*g["H"]*2
# %% wrong: elements and not bytes
g = given("tensor-parallelism-heads")
answer = f"{2*g['L']*g['H']} B"
# %% wrong: fp32
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["H"]*4
# %% wrong: one layer
g = given("tensor-parallelism-heads")
answer = 2*g["H"]*2
# %% wrong: four heads for each GPU, the quotient upside down
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["tp"]/g["K"]*g["H"]*2
# %% wrong: layers divided among the copies
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["H"]*2*g["K"]/g["tp"]
# %% wrong: of all GPUs together
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["H"]*2*g["tp"]
# %% wrong: KiB taken for KB
answer = "64.512 KiB"
# %% wrong: the eight GPUs of a node share the heads, the next node's the rest
g = given("tensor-parallelism-heads")
answer = 2*g["L"]*g["H"]*2*2
