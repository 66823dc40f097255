# %% right: two less a share
cp = symbols("tensor-parallelism-balance")
answer = 2 - 1/cp
# %% right: as a text
answer = "(2*cp - 1)/cp"
# %% right: the last rank's blocks over the mean
cp = symbols("tensor-parallelism-balance")
last = (cp - 1) + 0.5
even = cp**2/2/cp
answer = last/even
# %% right: area of the last trapezoid
import sympy
cp = symbols("tensor-parallelism-balance")
x = sympy.Symbol("x", positive=True)
rows = sympy.integrate(x, (x, cp - 1, cp))      # of the last rank, in blocks
all_rows = sympy.integrate(x, (x, 0, cp))
answer = sympy.simplify(rows/(all_rows/cp))
# %% right: sum over the ranks
import sympy
cp = symbols("tensor-parallelism-balance")
r = sympy.Symbol("r", integer=True)
work = lambda r: r + sympy.Rational(1, 2)
total = sympy.Sum(work(r), (r, 0, cp - 1)).doit()
answer = sympy.cancel(work(cp - 1)/(total/cp))
# %% right: step by step, the first with triangles
import sympy
cp = symbols("tensor-parallelism-balance")
in_order = sympy.Rational(1, 2) + (cp - 1)*1
even = sympy.Rational(1, 2)*cp
answer = in_order/even
# %% right: a difference of squares
cp = symbols("tensor-parallelism-balance")
answer = (cp**2 - (cp - 1)**2)/cp
# %% wrong: twice, for many ranks
cp = symbols("tensor-parallelism-balance")
answer = 2 + 0*cp
# %% wrong: full blocks in the last rank's own
cp = symbols("tensor-parallelism-balance")
answer = 2*cp/(cp + 1)
# %% wrong: its own triangle left out
cp = symbols("tensor-parallelism-balance")
answer = 2*(cp - 1)/cp
# %% wrong: compared with no mask
cp = symbols("tensor-parallelism-balance")
answer = (cp - 1/2)/cp
# %% wrong: own block whole against an even half
cp = symbols("tensor-parallelism-balance")
answer = cp/(cp/2)
# %% wrong: last over first rank
cp = symbols("tensor-parallelism-balance")
answer = 2*cp - 1
# %% wrong: blocks and not a factor
cp = symbols("tensor-parallelism-balance")
answer = cp - 1/2
# %% wrong: the other way round
cp = symbols("tensor-parallelism-balance")
answer = cp/(2*cp - 1)
# %% wrong: triangles count as blocks in the total alone
cp = symbols("tensor-parallelism-balance")
answer = (cp - 1/2)/((cp + 1)/2)
# %% wrong: cp + 1 in the place of cp - 1
cp = symbols("tensor-parallelism-balance")
answer = 2 + 1/cp
# %% wrong: mean without the diagonal
cp = symbols("tensor-parallelism-balance")
answer = (cp - 1/2)/((cp - 1)/2)
# %% wrong: how much longer, not how many times
cp = symbols("tensor-parallelism-balance")
answer = 1 - 1/cp
# %% wrong: by exact squares of the ranks
cp = symbols("tensor-parallelism-balance")
answer = (cp**2 - (cp - 1)**2)/cp**2
