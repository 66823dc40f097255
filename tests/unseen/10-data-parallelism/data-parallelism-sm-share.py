# %% right: what was lost, on top
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math + s*t_comm
# %% right: as a text
answer = "t_comm + (t_math - (1 - s)*t_comm)"
# %% right: work done in two phases
import sympy
t_math, t_comm, s = symbols("data-parallelism-sm-share")
t = sympy.Symbol("t", positive=True)
done = (1 - s)*t_comm + 1*(t - t_comm)
answer = sympy.solve(sympy.Eq(done, t_math), t)[0]
# %% right: quotient
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math*(1 + s*t_comm/t_math)
# %% right: an area of multiprocessors and seconds
import sympy
t_math, t_comm, s = symbols("data-parallelism-sm-share")
sms = sympy.Symbol("sms", positive=True)
area = t_math*sms + t_comm*s*sms       # of multiprocessors and seconds
answer = sympy.simplify(area/sms)
# %% right: before, during and after
t_math, t_comm, s = symbols("data-parallelism-sm-share")
before = t_math/10
during = t_comm
after = t_math - before - during*(1 - s)
answer = before + during + after
# %% right: as a text, other order
answer = "s*t_comm + t_math"
# %% wrong: slower all the time
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math/(1 - s)
# %% wrong: the whole collective on top
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math + t_comm
# %% wrong: hidden and free
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math + 0*s
# %% wrong: lost work in the collective's time, done at its pace
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math + s*t_comm/(1 - s)
# %% wrong: the collective's time stretched
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math - t_comm + t_comm/(1 - s)
# %% wrong: the share that is left on top
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math + (1 - s)*t_comm
# %% wrong: share of the arithmetic on top
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math*(1 + s)
# %% wrong: s t_comm taken off
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math - s*t_comm
# %% wrong: the longer of the two
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = "max(t_math/(1 - s), t_comm)"
# %% wrong: two rates added
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_comm + (t_math - t_comm)*(1 - s)
# %% wrong: products run on the share s
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_comm + t_math - s*t_comm
# %% wrong: weighted mean of both times
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = (1 - s)*t_math + s*t_comm
# %% wrong: the share taken away on average over the whole pass
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math/(1 - s*t_comm/t_math)
# %% wrong: the share lost twice
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = t_math + 2*s*t_comm
# %% wrong: what is done beside it
t_math, t_comm, s = symbols("data-parallelism-sm-share")
answer = (1 - s)*t_comm
