# %% right: the library's maximum
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = maximum(1, w*(g - 1)/g)
# %% right: sympy's Max, share first
import sympy
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = sympy.Max((1 - 1/g)*w, 1)
# %% right: a piecewise function
import sympy
g, w = symbols("cluster-networking-alltoall-slowdown")
top = w*(g - 1)/g
answer = sympy.Piecewise((top, top > 1), (1, True))
# %% right: maximum by way of an absolute value
import sympy
g, w = symbols("cluster-networking-alltoall-slowdown")
x = w - w/g
answer = (x + 1 + sympy.Abs(x - 1))/2
# %% right: one over the minimum of the two rates
from hwlib.formula import minimum
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = 1/minimum(1, g/(w*(g - 1)))
# %% right: two times, the cards' and the pod's, with other letters cancelled
import sympy
g, w = symbols("cluster-networking-alltoall-slowdown")
B, P = sympy.symbols("B P", positive=True)
cards = B/P
out_of_pod = B*(g - 1)/g/(P/w)
answer = sympy.Max(1, sympy.simplify(out_of_pod/cards))
# %% right: since both are whole numbers, it is 1 exactly where w is 1
import sympy
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = sympy.Piecewise((1, sympy.Eq(w, 1)), (w*(g - 1)/g, True))
# %% right: one plus what exceeds it
import sympy
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = 1 + sympy.Max(0, (w*g - w - g)/g)
# %% wrong: forgets the cards, below one for w = 1
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = w*(g - 1)/g
# %% wrong: the ratio itself, as if everything left the pod
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = w
# %% wrong: adds the two instead of taking the longer
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = 1 + w*(g - 1)/g
# %% wrong: minimum for maximum
from hwlib.formula import minimum
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = minimum(1, w*(g - 1)/g)
# %% wrong: the share that stays in the pod
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = maximum(1, w/g)
# %% wrong: how many times as fast
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = 1/maximum(1, w*(g - 1)/g)
# %% wrong: the weighted mean of inside and outside
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = 1/g + w*(g - 1)/g
# %% wrong: inverted share
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = maximum(1, w*g/(g - 1))
# %% wrong: counts both directions of the cables
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = maximum(1, 2*w*(g - 1)/g)
# %% wrong: of a pod's bytes a g-th twice over, as in (g - 1)/g**2
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = maximum(1, w*(g - 1)/g**2)
# %% wrong: all-reduce in mind, one sum leaves the pod
g, w = symbols("cluster-networking-alltoall-slowdown")
answer = maximum(1, 2*w*(g - 1)/g**2)
