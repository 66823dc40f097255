# %% right: tries the divisors of 12
answer = next(v for v in (1, 2, 3, 4, 6, 12) if interleaved_bubble_fraction(16, 48, v) <= 0.05)
# %% right: typed
answer = 6
# %% right: as a text
answer = "6"
# %% right: a numpy integer
import numpy as np
v = np.arange(1, 13)
ok = (12 % v == 0) & (15/(48*v + 15) <= 0.05)
answer = v[ok][0]
# %% right: fractions, without rounding
from fractions import Fraction
answer = min(v for v in range(1, 13) if 12 % v == 0 and Fraction(15, 48*v + 15) <= Fraction(5, 100))
# %% right: the bound, then the next divisor, sympy
import sympy
bound = sympy.Rational(15*95, 48*5)
answer = min(d for d in sympy.divisors(12) if d >= bound)
# %% right: played on a clock
answer = next(v for v in (2, 3, 4, 6, 12) if play(interleaved(16, 48, v)).bubble_fraction <= 0.05)
# %% right: as a float
answer = 6.0
# %% right: layers of a chunk, from twelve down
answer = next(12//layers for layers in (12, 6, 4, 3, 2, 1) if 15/(15 + 48*12//layers) <= 0.05)
# %% wrong: relative to the work
answer = next(v for v in (1, 2, 3, 4, 6, 12) if bubble_overhead(16, 48, v) <= 0.05)
# %% wrong: relative to the work, and no whole layers
answer = next(v for v in range(1, 13) if bubble_overhead(16, 48, v) <= 0.05)
# %% wrong: the bound, not rounded
answer = 15*0.95/(48*0.05)
# %% wrong: rounded down
answer = int(15*0.95/(48*0.05))
# %% wrong: rounded down to the next divisor
answer = 4
# %% wrong: layers of a chunk
answer = 2
# %% wrong: one layer a chunk is best
answer = 12//1
# %% wrong: no chunks are needed, 48 is three times 16
answer = 1
# %% wrong: half of the bubble, forward pass only
answer = next(v for v in (1, 2, 3, 4, 6, 12) if 15/(48*v + 15)/2 <= 0.05)
# %% wrong: ten per cent of a step
answer = next(v for v in (1, 2, 3, 4, 6, 12) if 15/(48*v + 15) <= 0.1)
# %% wrong: a bubble for the forward and one for the backward pass
answer = next(v for v in (1, 2, 3, 4, 6, 12) if 2*15/(48*v + 2*15) <= 0.05)
# %% wrong: chunks of the whole model
answer = 16*6
# %% wrong: relative to the work, not rounded
answer = 15/(48*0.05)
# %% wrong: layers of the whole model in chunks of the bound
answer = 12*16/2
