# %% right: late times the chance that anybody is
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - (1 - p)**n)
# %% right: less the case that nobody is late
n, p, d = symbols("collectives-at-scale-pauses")
answer = d - d*(1 - p)**n
# %% right: the first late rank, summed over ranks
import sympy
n, p, d = symbols("collectives-at-scale-pauses")
k = sympy.Symbol("k", integer=True, nonnegative=True)
answer = d*p*sympy.Sum((1 - p)**k, (k, 0, n - 1))
# %% right: exponential and logarithm
import sympy
n, p, d = symbols("collectives-at-scale-pauses")
answer = -d*(sympy.exp(n*sympy.log(1 - p)) - 1)
# %% right: the power taken apart
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - (1 - p)*(1 - p)**(n - 1))
# %% right: expectation as two cases
import sympy
n, p, d = symbols("collectives-at-scale-pauses")
nobody = (1 - p)**n
answer = 0*nobody + d*(1 - nobody)
# %% wrong: expected number of late ranks times d
n, p, d = symbols("collectives-at-scale-pauses")
answer = n*p*d
# %% wrong: one GPU's expectation
n, p, d = symbols("collectives-at-scale-pauses")
answer = p*d
# %% wrong: the chance that all are late
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*p**n
# %% wrong: the limit for rare pauses
import sympy
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - sympy.exp(-n*p))
# %% wrong: n - 1 others
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - (1 - p)**(n - 1))
# %% wrong: the chance that nobody is late
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - p)**n
# %% wrong: the probability, without the seconds
n, p, d = symbols("collectives-at-scale-pauses")
answer = 1 - (1 - p)**n
# %% wrong: not all are in time
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - p**n)
# %% wrong: exactly one is late
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*n*p*(1 - p)**(n - 1)
# %% wrong: the sum, capped at d
import sympy
n, p, d = symbols("collectives-at-scale-pauses")
answer = sympy.Min(n*p, 1)*d
# %% wrong: shared out over the ranks
n, p, d = symbols("collectives-at-scale-pauses")
answer = d*(1 - (1 - p)**n)/n
