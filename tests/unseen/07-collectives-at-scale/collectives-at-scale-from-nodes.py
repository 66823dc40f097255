# %% right: solved by hand
N, r = symbols("collectives-at-scale-from-nodes")
answer = N/(N - r*(N - 1))
# %% right: one over what the node already has
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1/(1 - r*(1 - 1/N))
# %% right: solved by sympy
import sympy
N, r = symbols("collectives-at-scale-from-nodes")
M = sympy.Symbol("M", positive=True)
answer = sympy.solve(sympy.Eq((N - 1)/N, (M - 1)/(M*r)), M)[0]
# %% right: the sum of a geometric series
N, r = symbols("collectives-at-scale-from-nodes")
q = r*(N - 1)/N
answer = 1 + q/(1 - q)
# %% right: denominators kept apart
N, r = symbols("collectives-at-scale-from-nodes")
answer = N/(N*(1 - r) + r)
# %% right: through S over t of both levels
N, r = symbols("collectives-at-scale-from-nodes")
inside = N/(N - 1)          # in units of W
answer = inside/(inside - r)
# %% right: signs turned
N, r = symbols("collectives-at-scale-from-nodes")
answer = -N/(r*N - r - N)
# %% right: with W in it, cancelled by sympy
import sympy
N, r = symbols("collectives-at-scale-from-nodes")
W, S = sympy.symbols("W S", positive=True)
t = (N - 1)/N*S/W
share_missing = t*r*W/S
answer = sympy.simplify(1/(1 - share_missing))
# %% wrong: the limit for many GPUs in a node
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1/(1 - r)
# %% wrong: the ratio the wrong way
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1/(1 - (N - 1)/(N*r))
# %% wrong: N for N - 1
N, r = symbols("collectives-at-scale-from-nodes")
answer = N/(N - r*N + 1)
# %% wrong: each GPU's share of the network, r over N
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1/(1 - r*(N - 1)/N**2)
# %% wrong: the network with N times r
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1/(1 - r*(N - 1))
# %% wrong: whole arrays across, M - 1 of them
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1 + r*(N - 1)/N
# %% wrong: one over r
N, r = symbols("collectives-at-scale-from-nodes")
answer = 1/r
# %% wrong: the number of GPUs, not of nodes
N, r = symbols("collectives-at-scale-from-nodes")
answer = N**2/(N - r*(N - 1))
# %% wrong: rounded up to a whole node
import sympy
N, r = symbols("collectives-at-scale-from-nodes")
answer = sympy.ceiling(N/(N - r*(N - 1)))
# %% wrong: the nodes after the first one
N, r = symbols("collectives-at-scale-from-nodes")
answer = N/(N - r*(N - 1)) - 1
# %% wrong: numerator N - 1
N, r = symbols("collectives-at-scale-from-nodes")
answer = (N - 1)/(N - r*(N - 1))
