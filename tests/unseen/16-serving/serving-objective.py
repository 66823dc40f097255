# %% right: one fraction
t, s = symbols("serving-objective")
answer = 2*(s - t)/(t*(2*s - t))
# %% right: a text
answer = "(2*s - 2*t)/(2*s*t - t^2)"
# %% right: solved
import sympy
t, s = symbols("serving-objective")
rate = sympy.Symbol("rate", positive=True)
answer = sympy.solve(sympy.Eq(t + rate*t**2/(2*(1 - rate*t)), s), rate)[0]
# %% right: the library's wait of equal requests, solved for the load
import sympy
from hwlib.inference import mg1_wait
t, s = symbols("serving-objective")
rho = sympy.Symbol("rho", positive=True)
answer = sympy.solve(mg1_wait(rho, t, 0) + t - s, rho)[0]/t
# %% right: all that a server can, less what the promise takes
t, s = symbols("serving-objective")
answer = 1/t - 1/(2*s - t)
# %% right: the odds of the load
t, s = symbols("serving-objective")
odds = (s - t)/(t/2)
answer = odds/(1 + odds)/t
# %% right: inverses, seconds for each request
t, s = symbols("serving-objective")
answer = (t + t**2/(2*(s - t)))**-1
# %% wrong: the whole of the promise is for the queue
t, s = symbols("serving-objective")
answer = 2*s/(t*(2*s + t))
# %% wrong: exponential times, M/M/1
t, s = symbols("serving-objective")
answer = 1/t - 1/s
# %% wrong: as many as the server can read
t, s = symbols("serving-objective")
answer = 1/t
# %% wrong: one request for each promised time
t, s = symbols("serving-objective")
answer = 1/s
# %% wrong: the load and not the rate
t, s = symbols("serving-objective")
answer = 2*(s - t)/(2*s - t)
# %% wrong: what is left is two requests, not half of one
t, s = symbols("serving-objective")
answer = (s - t)/(t*(s + t))
# %% wrong: a sign in the division by 1 - load
t, s = symbols("serving-objective")
answer = 2*(s - t)/(t*(2*s - 3*t))
# %% wrong: the wait without the load on top
t, s = symbols("serving-objective")
answer = 1/t*(1 - t/(2*(s - t)))
# %% wrong: half of the promise waited, half read
t, s = symbols("serving-objective")
answer = (s - 2*t)/(t*(s - t))
# %% wrong: spaced evenly, so the time beyond reading decides
t, s = symbols("serving-objective")
answer = 1/(s - t)
