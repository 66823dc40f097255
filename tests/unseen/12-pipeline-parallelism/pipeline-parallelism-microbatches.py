# %% right: the formula turned round
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)*(1 - phi)/(v*phi)
# %% right: the whole less the bubble, a chunk at a time
pp, v, phi = symbols("pipeline-parallelism-microbatches")
slots = (pp - 1)/phi
answer = (slots - (pp - 1))/v
# %% right: as a text
answer = "(pp - 1)/v*(1/phi - 1)"
# %% right: sympy solves the library's formula
import sympy
pp, v, phi = symbols("pipeline-parallelism-microbatches")
m = sympy.Symbol("m", positive=True)
[answer] = sympy.solve(sympy.Eq(interleaved_bubble_fraction(pp, m, v), phi), m)
# %% right: through the bubble relative to the work
pp, v, phi = symbols("pipeline-parallelism-microbatches")
of_work = phi/(1 - phi)
answer = (pp - 1)/(v*of_work)
# %% right: expanded into four terms
import sympy
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = sympy.expand((pp - 1)/(v*phi)) - pp/v + 1/v
# %% right: odds, with a power
pp, v, phi = symbols("pipeline-parallelism-microbatches")
busy = 1 - phi
answer = (pp - 1)*busy*(phi*v)**-1
# %% wrong: the bubble relative to the work
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)/(v*phi)
# %% wrong: one chunk a rank
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)*(1 - phi)/phi
# %% wrong: chunks need more microbatches
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = v*(pp - 1)*(1 - phi)/phi
# %% wrong: all ranks wait, not all but one
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = pp*(1 - phi)/(v*phi)
# %% wrong: divides only one term by the chunks
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)/(v*phi) - (pp - 1)
# %% wrong: rounded up though a real number is asked
import sympy
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = sympy.ceiling((pp - 1)*(1 - phi)/(v*phi))
# %% wrong: rounded up to rounds of pp microbatches
import sympy
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = pp*sympy.ceiling((pp - 1)*(1 - phi)/(v*phi*pp))
# %% wrong: phi is the busy share
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)*phi/(v*(1 - phi))
# %% wrong: plus instead of minus when solving
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)*(1 + phi)/(v*phi)
# %% wrong: a bubble for the forward and one for the backward pass
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = 2*(pp - 1)*(1 - phi)/(v*phi)
# %% wrong: counts chunks as stages, vp - 1 waits
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (v*pp - 1)*(1 - phi)/(v*phi)
# %% wrong: m slots in the step instead of m + pp - 1
pp, v, phi = symbols("pipeline-parallelism-microbatches")
answer = (pp - 1)/(v*phi) - 1
