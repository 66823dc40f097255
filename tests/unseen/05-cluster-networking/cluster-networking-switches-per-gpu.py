# %% right: leaves and spines over GPUs, unsimplified
p, r = symbols("cluster-networking-switches-per-gpu")
down, up = p*r/(1 + r), p/(1 + r)
leaves = p
spines = leaves*up/p
answer = (leaves + spines)/(leaves*down)
# %% right: short
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (r + 2)/(p*r)
# %% right: a leaf's share and a spine's share
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (1 + r)/(r*p) + 1/(r*p)
# %% right: one port at the leaf and two for every cable up, over the ports
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (1 + 2/r)/p
# %% right: powers instead of fractions
import sympy
p, r = symbols("cluster-networking-switches-per-gpu")
answer = p**-1 + sympy.Integer(2)*p**-1*r**-1
# %% right: solves for the number of switches
import sympy
p, r = symbols("cluster-networking-switches-per-gpu")
x = sympy.Symbol("x", positive=True)
gpus = p*p*r/(r + 1)
answer = sympy.solve(x*gpus*(r + 1) - p*(r + 1) - p, x)[0]
# %% right: with ports down as a ratio of tiers, never simplified
import sympy
p, r = symbols("cluster-networking-switches-per-gpu")
share = sympy.Rational(1)/(1 + r)
answer = (p + p*share)/(p**2*(1 - share))
# %% wrong: three over p, as if nothing were oversubscribed
p, r = symbols("cluster-networking-switches-per-gpu")
answer = 3/p
# %% wrong: counts the leaves only
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (1 + r)/(p*r)
# %% wrong: counts the spines only
p, r = symbols("cluster-networking-switches-per-gpu")
answer = 1/(p*r)
# %% wrong: GPUs for each switch
p, r = symbols("cluster-networking-switches-per-gpu")
answer = p*r/(r + 2)
# %% wrong: ports up and down exchanged
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (1 + 2*r)/p
# %% wrong: as many spines as leaves
p, r = symbols("cluster-networking-switches-per-gpu")
answer = 2*(1 + r)/(p*r)
# %% wrong: spines lead half of their ports up, so half as many leaves
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (r + 3)/(p*r)
# %% wrong: all switches, not divided by the GPUs
p, r = symbols("cluster-networking-switches-per-gpu")
answer = p*(r + 2)/(1 + r)
# %% wrong: r of r ports lead down, so every port of a leaf has a GPU
p, r = symbols("cluster-networking-switches-per-gpu")
answer = (p + p/(1 + r))/p**2
# %% wrong: divides by nodes of eight
p, r = symbols("cluster-networking-switches-per-gpu")
answer = 8*(r + 2)/(p*r)
