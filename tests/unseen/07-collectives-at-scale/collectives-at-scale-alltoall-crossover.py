# %% right: a block's time inside is a message's start across
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n**2
# %% right: messages and bytes with a node of m ranks, which cancels
import sympy
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
m, S = sympy.symbols("m S", positive=True)
nodes = n/m
saved = ((n - m) - (nodes - 1))*a
extra = (m - 1)*(nodes - 1)*S/n**2/W
answer = sympy.simplify(sympy.solve(sympy.Eq(saved, extra), S)[0])
# %% right: not simplified
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
block = a/(1/W)
answer = block*n*n
# %% right: whole times of both ways, with a bandwidth across
import sympy
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
i, o, S, V = sympy.symbols("i o S V", positive=True)
block = S/(i*o)**2
direct = (i - 1)*block/W + (i*o - i)*(a + block/V)
bundled = (i - 1)*o*block/W + (o - 1)*(a + i*block/V)
size = sympy.solve(sympy.expand(direct - bundled), S)[0]
answer = sympy.simplify(sympy.simplify(size).subs(o, n/i))
# %% right: quotient of two quotients
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a/((1/n)**2/W)
# %% right: exponential of logarithms
import sympy
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*sympy.exp(2*sympy.log(n))
# %% right: sum over all pairs of ranks of a block each
import sympy
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
j = sympy.Symbol("j", integer=True)
answer = sympy.Sum(n*a*W, (j, 1, n)).doit()
# %% wrong: a rank's data, not all
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n
# %% wrong: one block
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W
# %% wrong: all blocks but those that a rank keeps
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n*(n - 1)
# %% wrong: as many messages as ranks on one side only
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n**2/(n - 1)
# %% wrong: divides by the bandwidth
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*n**2/W
# %% wrong: both hops cost twice the bytes inside
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n**2/2
# %% wrong: a message there and back
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = 2*a*W*n**2
# %% wrong: n cubed, the messages of all ranks
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n**3
# %% wrong: nodes of eight in the formula
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n**2*(n - 8)/(n - 1)
# %% wrong: (n - 1)/n of a block's time
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*W*n**2*(n/(n - 1))**2
# %% wrong: the time instead of the size
n, a, W = symbols("collectives-at-scale-alltoall-crossover")
answer = a*n**2
