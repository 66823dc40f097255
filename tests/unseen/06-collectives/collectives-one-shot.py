# %% right: solved by hand
g = given("collectives-one-shot")
n = g["n"]
answer = g["alpha"]*g["W"]*n/((n - 1)*(n - 2))
# %% right: the library's crossover
g = given("collectives-one-shot")
answer = crossover_bytes(one_shot_allreduce_time, direct_allreduce_time, g["n"], g["alpha"], g["W"])
# %% right: typed in KiB
answer = "251 KiB"
# %% right: typed in KB
answer = "257.1 KB"
# %% right: latency over the extra time of a byte
g = given("collectives-one-shot")
n = g["n"]
one_byte = (n - 1)/g["W"]
two_byte = 2*(n - 1)/n/g["W"]
answer = f"{g['alpha']/(one_byte - two_byte)/2**20:.4g} MiB"
# %% right: bisection over sizes
g = given("collectives-one-shot")
def ahead(S):
    n, a, W = g["n"], g["alpha"], g["W"]
    return (a + (n - 1)*S/W) - 2*(a + (n - 1)/n*S/W)
lo, hi = 0.0, 1e12
for _ in range(200):
    mid = (lo + hi)/2
    lo, hi = (lo, mid) if ahead(mid) > 0 else (mid, hi)
answer = lo
# %% right: sympy solves it exactly
import sympy
g = given("collectives-one-shot")
S = sympy.Symbol("S", positive=True)
n, a, W = g["n"], sympy.Rational(str(g["alpha"])), sympy.Integer(int(g["W"]))
answer = sympy.solve(sympy.Eq(a + (n - 1)*S/W, 2*(a + sympy.Rational(n - 1, n)*S/W)), S)[0]
# %% right: two points of each line, numpy
import numpy as np
g = given("collectives-one-shot")
S = np.array([0.0, 1e6])
one = g["alpha"] + (g["n"] - 1)*S/g["W"]
two = 2*(g["alpha"] + (g["n"] - 1)/g["n"]*S/g["W"])
slope, at_zero = np.polyfit(S, one - two, 1)
answer = -at_zero/slope
# %% right: in bits
g = given("collectives-one-shot")
answer = f"{8*g['alpha']*g['W']/(g['n'] - 1)/(1 - 2/g['n'])/1e6:.5g} Mbit"
# %% wrong: one shot sends n whole arrays
g = given("collectives-one-shot")
n = g["n"]
answer = g["alpha"]*g["W"]/(n - 2*(n - 1)/n)
# %% wrong: the crossover of the ring that cuts nothing
g = given("collectives-one-shot")
n = g["n"]
answer = n*g["alpha"]*g["W"]/(n - 2)
# %% wrong: latency times bandwidth
g = given("collectives-one-shot")
answer = g["alpha"]*g["W"]
# %% wrong: two shots send (n - 1)/n once
g = given("collectives-one-shot")
n = g["n"]
answer = g["alpha"]*g["W"]*n/(n - 1)**2
# %% wrong: two shots bring the whole array twice
g = given("collectives-one-shot")
n = g["n"]
answer = g["alpha"]*g["W"]/((n - 1) - 2)
# %% wrong: counts two latencies more instead of one
g = given("collectives-one-shot")
n = g["n"]
answer = 2*g["alpha"]*g["W"]*n/((n - 1)*(n - 2))
# %% wrong: a block in place of the whole array
g = given("collectives-one-shot")
n = g["n"]
answer = g["alpha"]*g["W"]/((n - 1)*(n - 2))
# %% wrong: both directions of the port
g = given("collectives-one-shot")
n = g["n"]
answer = g["alpha"]*2*g["W"]*n/((n - 1)*(n - 2))
# %% wrong: the ring's 2(n - 1) latencies against one
g = given("collectives-one-shot")
n = g["n"]
answer = (2*(n - 1) - 1)*g["alpha"]*g["W"]*n/((n - 1)*(n - 2))
# %% wrong: bits for bytes
g = given("collectives-one-shot")
n = g["n"]
answer = 8*g["alpha"]*g["W"]*n/((n - 1)*(n - 2))
# %% wrong: the array of all ranks together
g = given("collectives-one-shot")
n = g["n"]
answer = n*g["alpha"]*g["W"]*n/((n - 1)*(n - 2))
# %% wrong: vLLM's figure for up to four GPUs
answer = "512 KiB"
