# %% right: all offers, all counts of domains
from math import ceil
g = given("machines-scenario")
P = 70.6e9
offers = {"h100": (989e12, .40, 8, 450e9, 50e9, 2.5), "b200": (2250e12, .38, 8, 900e9, 50e9, 4.8),
          "nvl72": (2500e12, .40, 72, 900e9, 50e9, 5.8), "mi355x": (2500e12, .32, 8, 535e9, 50e9, 4.4),
          "v5p": (459e12, .65, 256, 540e9, 6.25e9, 1.9)}
steps = ceil(g["tokens"]*1e12/(g["batch"]*1e6))
found = []
for name, (C, share, size, inside, out, usd) in offers.items():
    for n in range(size, 16385, size):
        step = max(6*P*g["batch"]*1e6/(n*C*share), 6*P/inside, 6*P/(size*out)*(n > size))
        hours = steps*step/3600
        if hours <= g["days"]*24:
            found.append((n*hours*usd, name, n, hours))
_, machine, chips, hours = min(found)
answer = dict(machine=machine, chips=chips, hours=hours)
# %% right: typed, the fewest racks
answer = dict(machine="nvl72", chips=2520, hours=700)
# %% right: texts
answer = {"machine": "nvl72", "chips": "2520", "hours": "700.4"}
# %% right: as many racks as NVLink lets work in full, a sooner end for the same rent
answer = dict(machine="nvl72", chips=50*72, hours=490.28)
# %% right: numpy and sympy numbers
import numpy as np, sympy
answer = dict(machine="nvl72", chips=np.int64(40*72), hours=sympy.Rational(6*706*15, 1)*10**20/(2880*10**15*3600))
# %% right: a careful promise, two per cent over
answer = dict(hours=700.4*1.02, chips=2520.0, machine="nvl72")
# %% right: Fractions, and other order
from fractions import Fraction
chips = 36*72
hours = Fraction(3_750_000)*6*70_600_000_000*4_000_000/(chips*10**15)/3600
answer = {"hours": hours, "machine": "nvl72", "chips": chips}
# %% wrong: the lowest price for a chip and hour
answer = dict(machine="v5p", chips=8448, hours=700.2)
# %% wrong: H100s, as their cards were wide enough
answer = dict(machine="h100", chips=6200, hours=719.6)
# %% wrong: B200s, the cheapest arithmetic, wires forgotten
answer = dict(machine="b200", chips=2872, hours=718.8)
# %% wrong: the cheapest of all by arithmetic
answer = dict(machine="mi355x", chips=3072, hours=718.2)
# %% wrong: the peak instead of what is reached
answer = dict(machine="nvl72", chips=1008, hours=700.4)
# %% wrong: no whole racks
answer = dict(machine="nvl72", chips=2452, hours=719.8)
# %% wrong: one rack too few
answer = dict(machine="nvl72", chips=2448, hours=721)
# %% wrong: as many racks as may be had, all hours by arithmetic
answer = dict(machine="nvl72", chips=227*72, hours=108)
# %% wrong: the promise is the deadline
answer = dict(machine="nvl72", chips=3600, hours=720)
# %% wrong: hours of the whole cluster's chips
answer = dict(machine="nvl72", chips=2520, hours=100_000)
# %% wrong: days instead of hours
answer = dict(machine="nvl72", chips=2520, hours=29.2)
# %% wrong: two operations a parameter
answer = dict(machine="nvl72", chips=2520, hours=233.5)
# %% wrong: faster than arithmetic pays for
answer = dict(machine="nvl72", chips=4320, hours=490.3)
# %% wrong: the three added up
answer = dict(machine="nvl72", chips=2520, hours=700.4 + 490.3 + 122.6)
# %% wrong: mi355x and its own cards, at the time they allow
answer = dict(machine="mi355x", chips=2000, hours=1103.1)
