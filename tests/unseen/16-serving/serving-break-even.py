# %% right: with the numbers of the prompt
g = given("serving-break-even")
read = 2*g["P"]*1e9/(g["n"]*g["mfu"]/100*989e12)
send = g["S"]*1024/(min(g["p"], g["n"])*g["W"]*1e9)
answer = g["t0"]*1e-3/(read - send)
# %% right: a text with its unit
answer = "779 token"
# %% right: whole tokens, the first that is quicker
answer = 780
# %% right: sympy, solved
import sympy
T = sympy.Symbol("T", positive=True)
answer = sympy.solve(sympy.Rational(20, 1000) + T*327680/(24*10**9) - T*140/(sympy.Rational(45, 100)*8*989*10**3), T)[0]
# %% right: searched for
T = 1
while 20e-3 + T*327680/24e9 >= 2*70e9*T/(8*0.45*989e12):
    T += 1
answer = T
# %% right: numpy, a fit of both lines
import numpy as np
x = np.array([0.0, 1000.0])
gap = np.polyfit(x, 20e-3 + x*80*1024/6e9 - x*140e9/3.5604e15, 1)
answer = -gap[1]/gap[0]
# %% right: a Fraction
from fractions import Fraction
answer = Fraction(20, 1000)/(Fraction(140*10**9, 3560400000000000) - Fraction(327680, 24*10**9))
# %% wrong: all eight cards receive at full speed
answer = 20e-3/(140e9/3.5604e15 - 327680/48e9)
# %% wrong: one card sends all
answer = abs(20e-3/(140e9/3.5604e15 - 327680/6e9))
# %% wrong: KiB as kB
answer = 20e-3/(140e9/3.5604e15 - 320e3/24e9)
# %% wrong: the 20 ms forgotten: from the first token
answer = 1
# %% wrong: the time to send forgotten, 20 ms alone
answer = 20e-3/(140e9/3.5604e15)
# %% wrong: one operation for each weight
answer = 20e-3/(70e9/3.5604e15 - 327680/24e9)
# %% wrong: sent and received one after the other
answer = 20e-3/(140e9/3.5604e15 - 327680/24e9 - 327680/48e9)
# %% wrong: 20 ms for each of the four senders
answer = 80e-3/(140e9/3.5604e15 - 327680/24e9)
# %% wrong: 20 ms on either side
answer = 40e-3/(140e9/3.5604e15 - 327680/24e9)
# %% wrong: all twelve GPUs read again
answer = 20e-3/(140e9/(12*0.45*989e12) - 327680/24e9)
# %% wrong: milliseconds as seconds
answer = 20/(140e9/3.5604e15 - 327680/24e9)
