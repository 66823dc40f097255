# %% right: one and a share of the steps
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*(1 - (1 - p)**(n/g)))
# %% right: as a text
answer = "t + s*t*(1 - (1 - p)^(n/g))"
# %% right: two kinds of steps by their probabilities
t, p, s, g, n = symbols("measuring-straggler")
well = (1 - p)**(n/g)
answer = well*t + (1 - well)*(t + s*t)
# %% right: from the slow step, less what clean ones save
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s) - s*t*(1 - p)**(n/g)
# %% right: the library's tail at scale, of nodes
t, p, s, g, n = symbols("measuring-straggler")
answer = t + t*s*slow_fraction(p, n/g)
# %% right: an exponential of a logarithm
import sympy
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 - s*(sympy.exp(n/g*sympy.log(1 - p)) - 1))
# %% right: a text, with a root
answer = "t*(1 + s*(1 - ((1 - p)^n)^(1/g)))"
# %% right: sympy's binomial law of the slow nodes
import sympy
t, p, s, g, n = symbols("measuring-straggler")
nodes, k = n/g, sympy.Integer(0)
none = sympy.binomial(nodes, k)*p**k*(1 - p)**(nodes - k)
answer = sympy.expand(t*none + t*(1 + s)*(1 - none))
# %% wrong: every rank by itself
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*(1 - (1 - p)**n))
# %% wrong: the share of one node's steps
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*p)
# %% wrong: probabilities of the nodes added
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*p*n/g)
# %% wrong: probabilities added, at most one
from hwlib.formula import minimum
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*minimum(1, p*n/g))
# %% wrong: all nodes must be slow
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*p**(n/g))
# %% wrong: every step is slow
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s)
# %% wrong: a slow step takes s and not 1 + s
t, p, s, g, n = symbols("measuring-straggler")
well = (1 - p)**(n/g)
answer = t*well + t*s*(1 - well)
# %% wrong: only what is added
t, p, s, g, n = symbols("measuring-straggler")
answer = t*s*(1 - (1 - p)**(n/g))
# %% wrong: clean steps for slow ones
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*(1 - p)**(n/g))
# %% wrong: ranks of a node take part by themselves
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*(1 - (1 - p)**(n*g)))
# %% wrong: the ranks of one node only
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*(1 - (1 - p)**g))
# %% wrong: exactly one slow node
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*n/g*p*(1 - p)**(n/g - 1))
# %% wrong: Poisson's law for rare events
import sympy
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*(1 - sympy.exp(-p*n/g)))
# %% wrong: s compounds with every slow node
t, p, s, g, n = symbols("measuring-straggler")
answer = t*(1 + s*p)**(n/g)
# %% wrong: divides by the share of good steps
t, p, s, g, n = symbols("measuring-straggler")
answer = t/(1 - s*(1 - (1 - p)**(n/g)))
