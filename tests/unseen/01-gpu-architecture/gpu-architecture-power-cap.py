# %% right: the cube root of the ratio of what is beyond rest
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0)/(P1 - P0))**(1/3)
# %% right: as a text, with ^ and spaces
answer = "R * ((P2 - P0) / (P1 - P0))^(1/3)"
# %% right: as a text, with ** and the quotient turned over
answer = "R/((P1 - P0)/(P2 - P0))**(1/3)"
# %% right: sympy's cube root
import sympy
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*sympy.cbrt(P2 - P0)/sympy.cbrt(P1 - P0)
# %% right: all of it under the root
import sympy
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = sympy.root(R**3*(P2 - P0)/(P1 - P0), 3)
# %% right: what the limit took away, from one
from sympy import Rational
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(1 - (P1 - P2)/(P1 - P0))**Rational(1, 3)
# %% right: a solution of the model's equation
import sympy
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
r = sympy.Symbol("r", positive=True)
switch = (P1 - P0)/R**3
answer = sympy.solve(sympy.Eq(r**3, (P2 - P0)/switch), r)[0]
# %% right: exponential of a third of the logarithm
import sympy
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*sympy.exp((sympy.log(P2 - P0) - sympy.log(P1 - P0))/3)
# %% right: signs of both differences turned
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P0 - P2)/(P0 - P1))**(1/3)
# %% right: negative exponents
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
switch = (P1 - P0)*R**-3
answer = (switch/(P2 - P0))**(-1/3)
# %% right: a lower limit never makes it faster
import sympy
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*sympy.Min(1, (P2 - P0)/(P1 - P0))**(1/3)
# %% right: as a text, the smaller of the old rate and the new one
answer = "min(R, R*((P2 - P0)/(P1 - P0))^(1/3))"
# %% right: as a text, by logarithms
answer = "R*exp((log(P2 - P0) - log(P1 - P0))/3)"
# %% wrong: the power at rest is forgotten
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(P2/P1)**(1/3)
# %% wrong: in proportion to the power beyond rest
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(P2 - P0)/(P1 - P0)
# %% wrong: the cube instead of its root
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0)/(P1 - P0))**3
# %% wrong: turned over
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P1 - P0)/(P2 - P0))**(1/3)
# %% wrong: the square root, since the voltage is squared
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0)/(P1 - P0))**(1/2)
# %% wrong: the power at rest is added to both limits
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 + P0)/(P1 + P0))**(1/3)
# %% wrong: rest taken from the new limit only
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0)/P1)**(1/3)
# %% wrong: rest taken from the old limit only
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(P2/(P1 - P0))**(1/3)
# %% wrong: the share that the limit took away instead of the one that is left
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P1 - P2)/(P1 - P0))**(1/3)
# %% wrong: one less the root of what was taken away
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(1 - ((P1 - P2)/(P1 - P0))**(1/3))
# %% wrong: a third of the change, as for small changes
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(1 - (P1 - P2)/(3*(P1 - P0)))
# %% wrong: a root of each power, then differences
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(P2**(1/3) - P0**(1/3))/(P1**(1/3) - P0**(1/3))
# %% wrong: only the factor, without the rate
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = ((P2 - P0)/(P1 - P0))**(1/3)
# %% wrong: the rate is under the root
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = (R*(P2 - P0)/(P1 - P0))**(1/3)
# %% wrong: rest as a floor of the rate
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(P0/P1 + (1 - P0/P1)*((P2 - P0)/(P1 - P0))**(1/3))
# %% wrong: divided by three instead of the root
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*(P2 - P0)/(P1 - P0)/3
# %% wrong: R**1/3, without parentheses
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0)/(P1 - P0))**1/3
# %% wrong: what is lost, not the new rate
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R - R*((P2 - P0)/(P1 - P0))**(1/3)
# %% wrong: the power at rest falls with the limit
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0*P2/P1)/(P1 - P0))**(1/3)
# %% wrong: the rate is in step with the square of the clock
R, P0, P1, P2 = symbols("gpu-architecture-power-cap")
answer = R*((P2 - P0)/(P1 - P0))**(2/3)
