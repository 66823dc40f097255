# %% right: charge over share
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - (1 - 1/n)**k)
# %% right: copies over distinct ranks
n, k = symbols("collectives-erratum-ragged")
answer = k/(n - n*((n - 1)/n)**k)
# %% right: whole powers
n, k = symbols("collectives-erratum-ragged")
answer = k*n**(k - 1)/(n**k - (n - 1)**k)
# %% right: a geometric sum of chances to be the first there
import sympy
n, k = symbols("collectives-erratum-ragged")
j = sympy.Symbol("j", integer=True, nonnegative=True)
answer = k/sympy.Sum((1 - 1/n)**j, (j, 0, k - 1))
# %% right: the library's chance in the denominator
from hwlib.collectives import destination_fraction
n, k = symbols("collectives-erratum-ragged")
answer = k/(n*destination_fraction(n, k))
# %% right: logarithm and exponential
import sympy
n, k = symbols("collectives-erratum-ragged")
missed = sympy.exp(k*sympy.log(1 - 1/n))
answer = -k/n/(missed - 1)
# %% right: the charge capped at all ranks, which k <= n never reaches
import sympy
n, k = symbols("collectives-erratum-ragged")
answer = sympy.Min(k/n, 1)/(1 - (1 - 1/n)**k)
# %% right: the reciprocal of the reciprocal
n, k = symbols("collectives-erratum-ragged")
answer = 1/(n*(1 - (1 - 1/n)**k)/k)
# %% wrong: the inverted factor
n, k = symbols("collectives-erratum-ragged")
answer = n*(1 - (1 - 1/n)**k)/k
# %% wrong: the expected share itself
n, k = symbols("collectives-erratum-ragged")
answer = 1 - (1 - 1/n)**k
# %% wrong: how much too many, without the one
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - (1 - 1/n)**k) - 1
# %% wrong: k - 1 other experts
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - (1 - 1/n)**(k - 1))
# %% wrong: the limit for many ranks
import sympy
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - sympy.exp(-k/n))
# %% wrong: the chance that all k live on the one rank
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - (1/n)**k)
# %% wrong: n and k exchanged in the power
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - (1 - 1/k)**n)
# %% wrong: over the chance to be missed
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/(1 - 1/n)**k
# %% wrong: copies over the share of the ranks
n, k = symbols("collectives-erratum-ragged")
answer = k/(1 - (1 - 1/n)**k)
# %% wrong: only pairs can meet, first order of the expansion
n, k = symbols("collectives-erratum-ragged")
answer = 1 + (k - 1)/(2*n)
# %% wrong: the own rank does not count as one to visit
n, k = symbols("collectives-erratum-ragged")
answer = (k/n)/((n - 1)/n*(1 - (1 - 1/n)**k))
# %% wrong: excess over the charge
n, k = symbols("collectives-erratum-ragged")
answer = k/n - (1 - (1 - 1/n)**k)
