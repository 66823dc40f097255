# %% right: a root
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(t_B/alpha)
# %% right: as a text
answer = "(t_B/alpha)^(1/2)"
# %% right: derivative of the end
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
m = sympy.Symbol("m", positive=True)
end = t_B/m + m*(alpha + S/(m*W))
answer = sympy.solve(sympy.diff(sympy.expand(end), m), m)[0]
# %% right: the wait for the first is as long as all starts
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
m = sympy.Symbol("m", positive=True)
answer = sympy.solve(sympy.Eq(t_B/m, m*alpha), m)[0]
# %% right: hwlib's root of each
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sqrt(t_B)/sqrt(alpha)
# %% right: all of it over a bucket
t_B, alpha, S, W = symbols("data-parallelism-buckets")
bucket = S*(alpha/t_B)**0.5        # bytes
answer = S/bucket
# %% right: a negative power in a text
answer = "(alpha/t_B)**-0.5"
# %% wrong: the network's time in the place of the pass's
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(S/(W*alpha))
# %% wrong: the last bucket is exposed, as if arithmetic decided
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(S/W/alpha) - 1
# %% wrong: no root
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = t_B/alpha
# %% wrong: pass and network together
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt((t_B + S/W)/alpha)
# %% wrong: what is exposed, over the starts
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt((S/W - t_B)/alpha)
# %% wrong: a ring's factor two in the starts
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(t_B/(2*alpha))
# %% wrong: half the pass on average
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(2*t_B/alpha)
# %% wrong: buckets of one latency's bytes
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = S/(W*alpha)
# %% wrong: bytes of a bucket
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = S*sympy.sqrt(alpha/t_B)
# %% wrong: one over it
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(alpha/t_B)
# %% wrong: the pass as long as the sums, starts too
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = (S/W - t_B)/alpha
# %% wrong: one bucket more, for the first
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = sympy.sqrt(t_B/alpha) + 1
# %% wrong: the shortest time and not the number
import sympy
t_B, alpha, S, W = symbols("data-parallelism-buckets")
answer = S/W + 2*sympy.sqrt(t_B*alpha)
