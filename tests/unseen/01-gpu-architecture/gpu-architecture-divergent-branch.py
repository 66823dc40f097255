# %% right: one minus nobody, on either side
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*(1 - (1 - p)**w) + b*(1 - p**w)
# %% right: both sides, less what is skipped
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a + b - a*(1 - p)**w - b*p**w
# %% right: three cases: all A, all B, mixed
p, a, b, w = symbols("gpu-architecture-divergent-branch")
all_A, all_B = p**w, (1 - p)**w
answer = a*all_A + b*all_B + (a + b)*(1 - all_A - all_B)
# %% right: by exponentials
import sympy
p, a, b, w = symbols("gpu-architecture-divergent-branch")
q = 1 - p
answer = -a*(sympy.exp(w*sympy.log(q)) - 1) - b*(sympy.exp(w*sympy.log(p)) - 1)
# %% right: geometric sums over the first thread that takes a side
p, a, b, w = symbols("gpu-architecture-divergent-branch")
q = 1 - p
first_A = (1 - q**w)/(1 - q)*p
first_B = (1 - p**w)/(1 - p)*q
answer = a*first_A + b*first_B
# %% right: expected sides by hand, one over the other, not simplified
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = (a*(p - p*(1 - p)**w) + b*(p - p*p**w))/p
# %% wrong: what a thread runs on average
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*p + b*(1 - p)
# %% wrong: always both sides
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a + b
# %% wrong: the two probabilities exchanged
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*(1 - p**w) + b*(1 - (1 - p)**w)
# %% wrong: counts a cycle for every thread
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = w*(a*p + b*(1 - p))
# %% wrong: the longer side only
import sympy
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = sympy.Max(a, b)
# %% wrong: both sides if mixed, and forgets the warps that agree
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = (a + b)*(1 - p**w - (1 - p)**w)
# %% wrong: expected threads of a side, at most one each
import sympy
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*sympy.Min(1, w*p) + b*sympy.Min(1, w*(1 - p))
# %% wrong: A is always issued
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a + b*(1 - p**w)
# %% wrong: warps of 32 for any w
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*(1 - (1 - p)**32) + b*(1 - p**32)
# %% wrong: a side is issued if all threads take it
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*p**w + b*(1 - p)**w
# %% wrong: the formula for equally likely ways, with two
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = (a + b)*(1 - (1 - 1/2)**w)
# %% wrong: exactly one thread takes it, instead of at least one
p, a, b, w = symbols("gpu-architecture-divergent-branch")
answer = a*w*p*(1 - p)**(w - 1) + b*w*(1 - p)*p**(w - 1)
