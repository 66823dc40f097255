# %% right: three passes less the mask over what was printed
u, r, a = symbols("measuring-hfu")
answer = 3*u*(1 - a/2)/(3 + r)
# %% right: as a text
answer = "u*(3 - 1.5*a)/(3 + r)"
# %% right: as a text with a power, no decimals
answer = "(6 - 3*a)*u/2*(r + 3)^(-1)"
# %% right: two factors, one for each convention
u, r, a = symbols("measuring-hfu")
nothing_twice = 1/(1 + r/3)
masked = 1 - a + a/2
answer = u*nothing_twice*masked
# %% right: solved for the forward pass
import sympy
u, r, a = symbols("measuring-hfu")
F, time = sympy.symbols("F time", positive=True)
forward = sympy.solve(sympy.Eq(u, (F + 2*F + r*F)/time), F)[0]
answer = sympy.simplify(3*(forward*(1 - a) + forward*a/2)/time)
# %% right: what is printed less the two things that we do not count
u, r, a = symbols("measuring-hfu")
again, masked_pairs = u*r/(3 + r), 3*(u/(3 + r))*a/2
answer = u - again - masked_pairs
# %% right: matrices and attention apart
import sympy
u, r, a = symbols("measuring-hfu")
ours = sum(k*((1 - a) + sympy.Rational(1, 2)*a) for k in (1, 2))
theirs = sum(k*((1 - a) + a) for k in (1, 2, r))
answer = u/theirs*ours
# %% wrong: only what is done again
u, r, a = symbols("measuring-hfu")
answer = 3*u/(3 + r)
# %% wrong: only the mask
u, r, a = symbols("measuring-hfu")
answer = u*(1 - a/2)
# %% wrong: the mask in the forward pass only
u, r, a = symbols("measuring-hfu")
answer = u*(3 - a/2)/(3 + r)
# %% wrong: no attention at all
u, r, a = symbols("measuring-hfu")
answer = 3*u*(1 - a)/(3 + r)
# %% wrong: everything recomputed, whatever r
u, r, a = symbols("measuring-hfu")
answer = u*3*(1 - a/2)/4
# %% wrong: r of the whole step
u, r, a = symbols("measuring-hfu")
answer = u*(1 - a/2)/(1 + r)
# %% wrong: from ours to theirs, upside down
u, r, a = symbols("measuring-hfu")
answer = u*(3 + r)/(3*(1 - a/2))
# %% wrong: multiplies by what is done again
u, r, a = symbols("measuring-hfu")
answer = u*(3 + r)/3*(1 - a/2)
# %% wrong: backward as long as forward
u, r, a = symbols("measuring-hfu")
answer = 2*u*(1 - a/2)/(2 + r)
# %% wrong: takes away the share r of a third, not over the new sum
u, r, a = symbols("measuring-hfu")
answer = u*(1 - r/3)*(1 - a/2)
# %% wrong: their second pass counted without masked pairs
u, r, a = symbols("measuring-hfu")
answer = 3*u*(1 - a/2)/(3 + r*(1 - a/2))
# %% wrong: attention is not differentiated, so it has one pass of the three
u, r, a = symbols("measuring-hfu")
answer = u*(3*(1 - a) + a/2)/(3 + r)
# %% wrong: a as a share of the whole printed count
u, r, a = symbols("measuring-hfu")
answer = u*(3/(3 + r) - a/2)
# %% wrong: the masked half is kept and the other dropped twice
u, r, a = symbols("measuring-hfu")
answer = 3*u*(1 - a)/(3 + r)/2
