# %% right: the link's ridge is the batch
g = given("memory-hierarchy-offload-batch")
answer = g["C"]/g["W"]
# %% right: the library, with the link for the memory
g = given("memory-hierarchy-offload-batch")
answer = critical_batch(g["C"], g["W"], b_w=2)
# %% right: a whole number of tokens as a text
g = given("memory-hierarchy-offload-batch")
answer = f"{ceil(g['C']/g['W'])} tokens"
# %% right: typed, rounded to the token
answer = 2199
# %% right: two times set equal and solved
import sympy
g = given("memory-hierarchy-offload-batch")
B, P = sympy.symbols("B P", positive=True)
answer = sympy.solve(2*B*P/g["C"] - 2*P/g["W"], B)[0]
# %% right: Fraction
from fractions import Fraction
g = given("memory-hierarchy-offload-batch")
answer = Fraction(int(g["C"]))/Fraction(int(g["W"]))
# %% right: time of a weight over time of a token and weight
g = given("memory-hierarchy-offload-batch")
stream = 2/g["W"]
multiply = 2/g["C"]
answer = stream/multiply
# %% right: searched, a token at a time
import numpy as np
g = given("memory-hierarchy-offload-batch")
B = np.arange(1, 100_000)
answer = int(B[2*B/g["C"] >= 2/g["W"]][0])
# %% wrong: both ways of the link
g = given("memory-hierarchy-offload-batch")
answer = g["C"]/(2*g["W"])
# %% wrong: the ridge of the HBM
g = given("memory-hierarchy-offload-batch")
answer = g["C"]/h100.hbm_bandwidth
# %% wrong: one FLOP a weight and token
g = given("memory-hierarchy-offload-batch")
answer = 2*g["C"]/g["W"]
# %% wrong: the share of the link that was measured
g = given("memory-hierarchy-offload-batch")
answer = g["C"]/(377/450*g["W"])
# %% wrong: FLOPs with sparsity
g = given("memory-hierarchy-offload-batch")
answer = (2*g["C"])/g["W"]
# %% wrong: float32 weights
g = given("memory-hierarchy-offload-batch")
answer = critical_batch(g["C"], g["W"], b_w=4)
# %% wrong: int8 weights
g = given("memory-hierarchy-offload-batch")
answer = critical_batch(g["C"], g["W"], b_w=1)
# %% wrong: the ratio the other way
g = given("memory-hierarchy-offload-batch")
answer = g["W"]/g["C"]
# %% wrong: a slot of PCIe, a seventh of the link
g = given("memory-hierarchy-offload-batch")
answer = critical_batch(g["C"], g["W"]/7)
# %% wrong: bits for bytes
g = given("memory-hierarchy-offload-batch")
answer = 8*g["C"]/g["W"]
# %% wrong: in thousands, without saying so
g = given("memory-hierarchy-offload-batch")
answer = g["C"]/g["W"]/1e3
# %% wrong: six FLOPs a weight and token, as in training
g = given("memory-hierarchy-offload-batch")
flops, bytes_ = 6, 2
answer = g["C"] / g["W"] * bytes_ / flops
# %% wrong: a square matmul, with three matrices of traffic
g = given("memory-hierarchy-offload-batch")
# 2 N^3 FLOPs over 3 N^2 elements of 2 bytes: N/3
answer = 3 * g["C"] / g["W"]
# %% wrong: the float32 lanes multiply
g = given("memory-hierarchy-offload-batch")
answer = h100.fp32_flops / g["W"]
# %% wrong: the best matmul measured in place of the peak
g = given("memory-hierarchy-offload-batch")
answer = h100.matmul_bf16_flops / g["W"]
# %% wrong: waits for the link and then for the HBM as well
g = given("memory-hierarchy-offload-batch")
answer = g["C"] * (1/g["W"] + 1/h100.hbm_bandwidth)
# %% wrong: a single NVLink 4 in place of C2C
g = given("memory-hierarchy-offload-batch")
answer = g["C"] / links["nvlink4"].bandwidth
