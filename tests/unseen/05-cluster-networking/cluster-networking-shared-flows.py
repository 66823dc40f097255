# %% right: one minus nobody else on my cable, times the flows
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - (1 - 1/u)**(f - 1))
# %% right: all flows less those that are alone
f, u = symbols("cluster-networking-shared-flows")
answer = f - f*((u - 1)/u)**(f - 1)
# %% right: cable by cable, carried flows less cables with just one
import sympy
f, u = symbols("cluster-networking-shared-flows")
just_one = f*(1/u)*(1 - 1/u)**(f - 1)
answer = u*(f/u - just_one)
# %% right: as one fraction of whole powers
f, u = symbols("cluster-networking-shared-flows")
answer = f*(u**(f - 1) - (u - 1)**(f - 1))/u**(f - 1)
# %% right: by exponential and logarithm
import sympy
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - sympy.exp((f - 1)*sympy.log(1 - 1/u)))
# %% right: derivative of the empty cables
import sympy
f, u = symbols("cluster-networking-shared-flows")
q = sympy.Symbol("q", positive=True)
alone = sympy.diff(q**f, q).subs(q, 1 - 1/u)    # f q**(f - 1)
answer = f - alone
# %% right: expanded, with a negative base exponent
f, u = symbols("cluster-networking-shared-flows")
answer = f - f*(1 - u**-1)**f/(1 - u**-1)
# %% right: a piecewise function that names the lone flow
import sympy
f, u = symbols("cluster-networking-shared-flows")
answer = sympy.Piecewise((0, sympy.Eq(f, 1)), (f*(1 - (1 - 1/u)**(f - 1)), True))
# %% wrong: f others instead of f - 1
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - (1 - 1/u)**f)
# %% wrong: those that are alone
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - 1/u)**(f - 1)
# %% wrong: the share of the flows, not their number
f, u = symbols("cluster-networking-shared-flows")
answer = 1 - (1 - 1/u)**(f - 1)
# %% wrong: flows less cables that are in use
f, u = symbols("cluster-networking-shared-flows")
answer = f - u*(1 - (1 - 1/u)**f)
# %% wrong: cables with at least two flows
f, u = symbols("cluster-networking-shared-flows")
answer = u*(1 - (1 - 1/u)**f - f/u*(1 - 1/u)**(f - 1))
# %% wrong: the limit for many cables
import sympy
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - sympy.exp(-f/u))
# %% wrong: expected number of pairs that meet
f, u = symbols("cluster-networking-shared-flows")
answer = f*(f - 1)/(2*u)
# %% wrong: the expected others on a cable, a probability above one
f, u = symbols("cluster-networking-shared-flows")
answer = f*(f - 1)/u
# %% wrong: chance that all flows are apart
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - (1/u)**(f - 1))
# %% wrong: f and u exchanged
f, u = symbols("cluster-networking-shared-flows")
answer = f*(1 - (1 - 1/f)**(u - 1))
# %% wrong: empty cables
f, u = symbols("cluster-networking-shared-flows")
answer = u*(1 - 1/u)**f
