# %% right: one less an exponential
from math import exp
g = given("measuring-silent")
answer = 1 - exp(-g["known"]*g["n"]/16384*g["days"]/54)
# %% right: as a text in per cent
answer = "56.5 %"
# %% right: expm1 of numpy, through days between events
import numpy as np
g = given("measuring-silent")
between = 54/g["known"]*16384/g["n"]
answer = -np.expm1(-g["days"]/between)
# %% right: sympy's Poisson law
import sympy
from sympy.stats import P as chance, Poisson
g = given("measuring-silent")
mean = sympy.Rational(int(g["known"]*g["n"]*g["days"]), 16384*54)
answer = 1 - chance(sympy.Eq(Poisson("errors", mean), 0))
# %% right: no GPU of them all, each by itself
from math import exp
g = given("measuring-silent")
well = exp(-g["known"]/16384*g["days"]/54)
answer = 1 - well**g["n"]
# %% right: the library's mean time between failures, in seconds
from math import e
g = given("measuring-silent")
mtbf = cluster_mtbf(54*day*16384/g["known"], g["n"])
answer = 1 - e**(-g["days"]*day/mtbf)
# %% right: a power of the root of e, a float of numpy
import numpy as np
answer = np.float32(1 - np.e**(-5/6))
# %% right: one by one, all counts from one on
from math import exp, factorial
g = given("measuring-silent")
m = g["known"]*g["days"]*g["n"]/(54*16384)
answer = sum(m**k*exp(-m)/factorial(k) for k in range(1, 60))
# %% wrong: the expected number
answer = 6*4096/16384*30/54
# %% wrong: none at all
from math import exp
answer = exp(-5/6)
# %% wrong: a machine as large as theirs
from math import exp
answer = 1 - exp(-6*30/54)
# %% wrong: as long as theirs
from math import exp
answer = 1 - exp(-6*4096/16384)
# %% wrong: exactly one
from math import exp
answer = 5/6*exp(-5/6)
# %% wrong: days upside down
from math import exp
answer = 1 - exp(-6*4096/16384*54/30)
# %% wrong: GPUs upside down
from math import exp
answer = 1 - exp(-6*16384/4096*30/54)
# %% wrong: counted in nodes of eight against GPUs
from math import exp
answer = 1 - exp(-6*512/16384*30/54)
# %% wrong: one corruption in their run
from math import exp
answer = 1 - exp(-4096/16384*30/54)
# %% wrong: all interruptions are silent errors
from math import exp
answer = 1 - exp(-419*4096/16384*30/54)
# %% wrong: at least two
from math import exp
answer = 1 - exp(-5/6)*(1 + 5/6)
# %% wrong: six draws of a share of their run
answer = 1 - (1 - 4096/16384*30/54)**6
# %% wrong: certain, for five sixths of an error is nearly one
answer = 1
# %% wrong: per cent as a bare number
answer = 56.5
# %% wrong: their share of the unexpected interruptions
answer = 6/419
# %% wrong: a power of two, as with a half-life
answer = 1 - 2**(-5/6)
