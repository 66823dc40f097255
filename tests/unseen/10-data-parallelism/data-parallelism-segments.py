# %% right: a root
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(L*S_keep/S_layer)
# %% right: as a text
answer = "(L*S_keep/S_layer)^0.5"
# %% right: where the derivative is zero
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
g = sympy.Symbol("g", positive=True)
peak = L/g*S_keep + g*S_layer
answer = sympy.solve(sympy.diff(peak, g), g)[0]
# %% right: hwlib.formula's root
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sqrt(L)*sqrt(S_keep)/sqrt(S_layer)
# %% right: checkpoints and segment hold the same
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
g = sympy.Symbol("g", positive=True)
answer = [root for root in sympy.solve(sympy.Eq(L*S_keep, g**2*S_layer), g)][0]
# %% right: as a number of segments, turned round
L, S_keep, S_layer = symbols("data-parallelism-segments")
segments = (L*S_layer/S_keep)**0.5
answer = L/segments
# %% right: exponential of logarithms
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.exp((sympy.log(L) + sympy.log(S_keep) - sympy.log(S_layer))/2)
# %% wrong: the root of the layers
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(L)
# %% wrong: the number of segments
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(L*S_layer/S_keep)
# %% wrong: no root
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = L*S_keep/S_layer
# %% wrong: the memory at the peak
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = 2*sympy.sqrt(L*S_keep*S_layer)
# %% wrong: half of the checkpoints are gone
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(L*S_keep/(2*S_layer))
# %% wrong: two segments at once
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(2*L*S_keep/S_layer)
# %% wrong: layers left out of the root
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = L*sympy.sqrt(S_keep/S_layer)
# %% wrong: without the layers
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(S_keep/S_layer)
# %% wrong: a layer holds its checkpoint beside
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(L*S_keep/(S_layer + S_keep))
# %% wrong: the segment's own input counted once only
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt(L*S_keep/(S_layer - S_keep))
# %% wrong: a balance of time, cube root
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = (L*S_keep/S_layer)**(1/3)
# %% wrong: one checkpoint less than segments
import sympy
L, S_keep, S_layer = symbols("data-parallelism-segments")
answer = sympy.sqrt((L - 1)*S_keep/S_layer)
