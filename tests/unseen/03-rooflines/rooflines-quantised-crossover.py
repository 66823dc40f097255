# %% right: (a) rising meets (b) flat
g = given("rooflines-quantised-crossover")
answer = g["C"]/(2*g["W"])
# %% right: half of the bf16 ridge
g = given("rooflines-quantised-crossover")
answer = ridge(g["C"], g["W"])/2
# %% right: searched by whole batches
g = given("rooflines-quantised-crossover")
def a(B):
    return max(0.5/g["W"], 2*B/g["C"])
def b(B):
    return max(1/g["W"], 2*B/g["C8"])
B = 1
while a(B) < b(B):
    B += 1
answer = B
# %% right: a text
g = given("rooflines-quantised-crossover")
answer = f"{g['C']/g['W']/2:.1f} tokens"
# %% right: typed
answer = 140.6
# %% right: set equal with Max and solved by trying the corners
import sympy
g = given("rooflines-quantised-crossover")
B = sympy.Symbol("B", positive=True)
answer = sympy.solve(sympy.Eq(2*B/g["C"], 1/sympy.Float(g["W"])), B)[0]
# %% right: Fraction, critical batch of one-byte weights in bf16
from fractions import Fraction
g = given("rooflines-quantised-crossover")
answer = Fraction(int(g["C"]), 2*int(g["W"]))
# %% right: the library: bytes of fp8 weights at the bf16 rate
g = given("rooflines-quantised-crossover")
answer = critical_batch(g["C"], g["W"], b_w=1)
# %% right: numpy grid of fine steps
import numpy as np
g = given("rooflines-quantised-crossover")
B = np.linspace(1, 1000, 199_801)
faster = np.maximum(1/g["W"], 2*B/g["C8"]) < np.maximum(0.5/g["W"], 2*B/g["C"])
answer = B[faster.argmax()]
# %% wrong: where int4 becomes compute-bound
g = given("rooflines-quantised-crossover")
answer = critical_batch(g["C"], g["W"], b_w=0.5)
# %% wrong: where fp8 becomes compute-bound
g = given("rooflines-quantised-crossover")
answer = critical_batch(g["C8"], g["W"], b_w=1)
# %% wrong: one FLOP for a multiply-add
g = given("rooflines-quantised-crossover")
answer = g["C"]/g["W"]
# %% wrong: both flat, so never, or at batch one
answer = 1
# %% wrong: fp8 weights of two bytes
g = given("rooflines-quantised-crossover")
answer = critical_batch(g["C"], g["W"], b_w=2)
# %% wrong: ridge of fp8
g = given("rooflines-quantised-crossover")
answer = g["C8"]/g["W"]
# %% wrong: both at the bf16 rate, where bytes alone differ
g = given("rooflines-quantised-crossover")
answer = critical_batch(g["C"], g["W"], b_w=1) + critical_batch(g["C"], g["W"], b_w=0.5)
# %% wrong: int4 weights as four bytes
g = given("rooflines-quantised-crossover")
answer = critical_batch(g["C"], g["W"], b_w=4)
# %% wrong: the ratio turned round
g = given("rooflines-quantised-crossover")
answer = 2*g["W"]/g["C"]
# %% wrong: the middle of the two ridges
g = given("rooflines-quantised-crossover")
answer = (critical_batch(g["C"], g["W"], 0.5) + critical_batch(g["C8"], g["W"], 1))/2
# %% wrong: the ridge of an H100
answer = ridge(h100.bf16_flops, h100.hbm_bandwidth)
# %% wrong: in bits
g = given("rooflines-quantised-crossover")
answer = 8*g["C"]/(2*g["W"])
