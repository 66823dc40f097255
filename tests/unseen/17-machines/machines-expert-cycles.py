# %% right: tiles of all experts, each as long as rows or load
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*(D/a)*(F/a)*maximum(R/E, a)
# %% right: as a text, E inside the maximum
answer = "D*F/a^2*max(R, a*E)"
# %% right: the longer of all rows and all loads, sympy
import sympy
a, E, D, F, R = symbols("machines-expert-cycles")
answer = sympy.Max(R*D*F/a**2, E*D*F/a)
# %% right: rounding up that changes nothing
import sympy
a, E, D, F, R = symbols("machines-expert-cycles")
tiles = sympy.ceiling(D/a)*sympy.ceiling(F/a)
answer = tiles*E*sympy.Max(a, R/E)
# %% right: two cases
import sympy
a, E, D, F, R = symbols("machines-expert-cycles")
answer = D*F/a**2*sympy.Piecewise((R, R > a*E), (a*E, True))
# %% right: loads, and what the rows take beyond them
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = D*F*E/a + D*F/a**2*maximum(R - a*E, 0)
# %% right: an absolute value for the maximum
import sympy
a, E, D, F, R = symbols("machines-expert-cycles")
answer = D*F/a**2*(R + a*E + sympy.Abs(R - a*E))/2
# %% wrong: rows only
a, E, D, F, R = symbols("machines-expert-cycles")
answer = D*F*R/a**2
# %% wrong: loads only
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a
# %% wrong: one matrix for all rows
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = D*F/a**2*maximum(R, a)
# %% wrong: every expert sees all rows
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a**2*maximum(R, a)
# %% wrong: rows of one expert, tiles of one expert
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = D*F/a**2*maximum(R/E, a)
# %% wrong: first the load, then the rows
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a**2*(R/E + a)
# %% wrong: the shorter of the two
import sympy
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a**2*sympy.Min(R/E, a)
# %% wrong: a weight a cycle
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a**2*maximum(R/E, a**2)
# %% wrong: rows padded to whole tiles
import sympy
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a**2*a*sympy.ceiling(R/(a*E))
# %% wrong: every expert fills and drains the square
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*(D*F/a**2*maximum(R/E, a) + 3*a - 2)
# %% wrong: columns not cut into tiles
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = E*D*F/a*maximum(R/E, a)
# %% wrong: the wait for a load once, not for each tile
from hwlib.formula import maximum
a, E, D, F, R = symbols("machines-expert-cycles")
answer = maximum(D*F*R/a**2, a)
