# %% right: the two losses balance
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*t_0/((pp - 1)*t_1))
# %% right: as a text
answer = "sqrt(N*t_0/(t_1*(pp - 1)))"
# %% right: what falls with b as large as what rises
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
b = sympy.Symbol("b", positive=True)
step = sympy.expand((N/b + pp - 1)*(t_0 + b*t_1))
rises, falls = step.coeff(b, 1), step.coeff(b, -1)
answer = sympy.sqrt(sympy.factor(falls/rises))
# %% right: a power of one half
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
bubble = pp - 1
answer = (t_0/t_1)**0.5*(N/bubble)**0.5
# %% right: through the best number of microbatches
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
m = sympy.sqrt((pp - 1)*N*t_1/t_0)
answer = N/m
# %% right: exponential of logarithms
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.exp((sympy.log(N) + sympy.log(t_0) - sympy.log(pp - 1) - sympy.log(t_1))/2)
# %% right: a power in a text
answer = "((pp - 1)*t_1/(N*t_0))^(-1/2)"
# %% wrong: pp stages wait
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*t_0/(pp*t_1))
# %% wrong: without the root
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = N*t_0/((pp - 1)*t_1)
# %% wrong: the number of microbatches
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*(pp - 1)*t_1/t_0)
# %% wrong: the two times mixed up
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*t_1/((pp - 1)*t_0))
# %% wrong: upside down
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt((pp - 1)*t_1/(N*t_0))
# %% wrong: a fixed time for forward and one for backward
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(2*N*t_0/((pp - 1)*t_1))
# %% wrong: as many microbatches as stages
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = N/pp
# %% wrong: the two times of a microbatch balance
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = t_0/t_1
# %% wrong: pp + 1 for the slots that wait
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*t_0/((pp + 1)*t_1))
# %% wrong: the stages left out of the root
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*t_0/t_1)/(pp - 1)
# %% wrong: the time of all sequences in the balance
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.sqrt(N*t_0/((pp - 1)*(t_0 + t_1)))
# %% wrong: N inside and out, batch of all replicas
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = N*sympy.sqrt(t_0/((pp - 1)*t_1))
# %% wrong: rounded up to whole sequences
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = sympy.ceiling(sympy.sqrt(N*t_0/((pp - 1)*t_1)))
# %% wrong: the step instead of the size
import sympy
N, pp, t_0, t_1 = symbols("pipeline-parallelism-micro-size")
answer = (sympy.sqrt(N*t_1) + sympy.sqrt((pp - 1)*t_0))**2
