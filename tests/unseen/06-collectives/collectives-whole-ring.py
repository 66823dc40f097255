# %% right: solved by hand
n, alpha, W = symbols("collectives-whole-ring")
answer = n*alpha*W/(n - 2)
# %% right: latency over what a byte costs more
n, alpha, W = symbols("collectives-whole-ring")
answer = alpha/(1/W - 2/(n*W))
# %% right: unsimplified, all rounds
n, alpha, W = symbols("collectives-whole-ring")
more_latency = 2*(n - 1)*alpha - (n - 1)*alpha
less_bytes = (n - 1)/W - 2*(n - 1)/(n*W)
answer = more_latency/less_bytes
# %% right: solved by sympy
import sympy
n, alpha, W = symbols("collectives-whole-ring")
S = sympy.Symbol("S", positive=True)
whole = (n - 1)*(alpha + S/W)
proper = 2*(n - 1)*(alpha + S/(n*W))
answer = sympy.solve(sympy.Eq(whole, proper), S)[0]
# %% right: alpha times W and a little more
n, alpha, W = symbols("collectives-whole-ring")
answer = alpha*W*(1 + 2/(n - 2))
# %% right: intercept over slope of the difference
import sympy
n, alpha, W = symbols("collectives-whole-ring")
x = sympy.Symbol("x")
ahead = (n - 1)*(alpha + x/W) - 2*(n - 1)*(alpha + x/n/W)
answer = -ahead.subs(x, 0)/sympy.diff(ahead, x)
# %% right: negative powers
n, alpha, W = symbols("collectives-whole-ring")
answer = (1 - 2*n**-1)**-1*alpha*W
# %% right: the same with both signs turned
import sympy
n, alpha, W = symbols("collectives-whole-ring")
answer = -alpha*W/(sympy.Integer(2)/n - 1)
# %% wrong: n minus one below
n, alpha, W = symbols("collectives-whole-ring")
answer = n*alpha*W/(n - 1)
# %% wrong: the limit for many ranks
n, alpha, W = symbols("collectives-whole-ring")
answer = alpha*W
# %% wrong: forgets the n ranks' share of a block
n, alpha, W = symbols("collectives-whole-ring")
answer = alpha*W/(n - 2)
# %% wrong: inverted, as a size it is what the latency costs
n, alpha, W = symbols("collectives-whole-ring")
answer = (n - 2)*alpha*W/n
# %% wrong: a proper ring of n - 1 rounds only
n, alpha, W = symbols("collectives-whole-ring")
answer = 2*n*alpha*W/(n - 1)
# %% wrong: the whole ring sends n - 1 arrays, the proper one two
n, alpha, W = symbols("collectives-whole-ring")
answer = (n - 1)*alpha*W/(n - 3 + 1/n)
# %% wrong: the latency of all n - 1 rounds, the bytes of one
n, alpha, W = symbols("collectives-whole-ring")
answer = (n - 1)*n*alpha*W/(n - 2)
# %% wrong: the time, not the size
n, alpha, W = symbols("collectives-whole-ring")
answer = n*alpha/(n - 2)
# %% wrong: divides by W
n, alpha, W = symbols("collectives-whole-ring")
answer = n*alpha/((n - 2)*W)
# %% wrong: the block instead of the array
n, alpha, W = symbols("collectives-whole-ring")
answer = alpha*W/(n - 2)*(n - 1)/n
# %% wrong: the crossover of one shot and two shots
n, alpha, W = symbols("collectives-whole-ring")
answer = n*alpha*W/((n - 1)*(n - 2))
# %% wrong: twice the latency each round
n, alpha, W = symbols("collectives-whole-ring")
answer = 2*n*alpha*W/(n - 2)
