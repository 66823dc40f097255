# %% right: bytes over the time of a pass
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
hits = minimum(S, Z)
answer = S/(hits/W_L2 + (S - hits)/W)
# %% right: minimum and maximum
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = S/(minimum(S, Z)/W_L2 + maximum(0, S - Z)/W)
# %% right: two cases
import sympy
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = sympy.Piecewise((W_L2, S <= Z), (S/(Z/W_L2 + (S - Z)/W), True))
# %% right: harmonic mean by the share of hits
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
u = minimum(1, Z/S)
answer = 1/(u/W_L2 + (1 - u)/W)
# %% right: one fraction, by absolute value
import sympy
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
miss = (S - Z + sympy.Abs(S - Z))/2
answer = S*W*W_L2/(W*(S - miss) + W_L2*miss)
# %% right: the maximum of two times
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = S/(S/W_L2 + maximum(S - Z, 0)*(1/W - 1/W_L2))
# %% right: the slower of two straight lines
import sympy
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
fits = S/W_L2
spills = S/W - Z/W + Z/W_L2
answer = S/sympy.Max(fits, spills)
# %% right: a step function for what is over
import sympy
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
over = (S - Z)*sympy.Heaviside(S - Z, 0)
answer = S/((S - over)/W_L2 + over/W)
# %% wrong: averages the bandwidths instead of the times
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
hits = minimum(S, Z)
answer = (hits*W_L2 + (S - hits)*W)/S
# %% wrong: only for a buffer larger than the cache
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = S/(Z/W_L2 + (S - Z)/W)
# %% wrong: all or nothing, as the cache that forgets
import sympy
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = sympy.Piecewise((W_L2, S <= Z), (W, True))
# %% wrong: cache and memory at the same time
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
hits = minimum(S, Z)
answer = S/maximum(hits/W_L2, (S - hits)/W)
# %% wrong: the time instead of the bandwidth
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
hits = minimum(S, Z)
answer = hits/W_L2 + (S - hits)/W
# %% wrong: the rates exchanged
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
hits = minimum(S, Z)
answer = S/(hits/W + (S - hits)/W_L2)
# %% wrong: all bytes come from memory, hits on top
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = S/(minimum(S, Z)/W_L2 + S/W)
# %% wrong: maximum for minimum
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
hits = maximum(S, Z)
answer = S/(hits/W_L2 + (S - hits)/W)
# %% wrong: adds the bandwidths
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = W_L2 + W
# %% wrong: half and half, whatever the sizes
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
answer = 2/(1/W_L2 + 1/W)
# %% wrong: share of hits turned over
S, Z, W_L2, W = symbols("memory-hierarchy-two-levels")
u = minimum(1, S/Z)
answer = 1/(u/W_L2 + (1 - u)/W)
