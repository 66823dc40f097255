# %% right: three ports in switches for each GPU, as a text in kilowatts
g = given("machines-optics")
ports = (2*g["tiers"] - 1)*g["N"]
answer = f"{ports*g['rate']*8/1.6e12*(30 - 9)/1e3:.6g} kW"
# %% right: leaf's two sides and the spine, typed
answer = "516.096 kW"
# %% right: both ends of every link, less the cards' own ends
from fractions import Fraction
g = given("machines-optics")
links = g["tiers"]*g["N"]
ends = 2*links - g["N"]
answer = ends*Fraction(21)*Fraction(int(g["rate"])*8, 1_600_000_000_000)
# %% right: tier by tier, numpy
import numpy as np
g = given("machines-optics")
sides = np.full(g["tiers"], 2)
sides[-1] = 1
answer = np.float64(sides.sum()*g["N"]*(30 - 9)*g["rate"]/200e9)
# %% right: two clusters' networks and their difference, sympy
import sympy
g = given("machines-optics")
N, share = sympy.Integer(g["N"]), sympy.Rational(int(g["rate"]), 200*10**9)
plug, beside = 30*share, 9*share
before = 2*g["tiers"]*N*plug
after = N*plug + (2*g["tiers"] - 1)*N*beside
answer = before - after
# %% right: a text of a product, in watts
answer = f"{3*16384*10.5} W"
# %% right: in megawatts
answer = "0.516 MW"
# %% wrong: every link has two ends, the cards' too
answer = 4*16384*10.5
# %% wrong: one port for each GPU
answer = 16384*10.5
# %% wrong: a port in each tier
answer = 2*16384*10.5
# %% wrong: every port takes the whole 30 and 9 W
answer = 3*16384*21
# %% wrong: bytes taken for bits
answer = 3*16384*(30 - 9)*100e9/1.6e12
# %% wrong: what remains instead of what is saved
answer = 3*16384*4.5
# %% wrong: what the pluggable ones take
answer = 3*16384*15
# %% wrong: the whole network after the change
answer = 3*16384*4.5 + 16384*15
# %% wrong: the watts of the optics add to those saved
answer = 3*16384*(15 + 4.5)
# %% wrong: only between the switches
answer = "344 kW"
# %% wrong: of a two-tier tree half the ports, three halves a GPU
answer = 1.5*16384*10.5
# %% wrong: per GPU
answer = "31.5 W"
# %% wrong: kilowatts as a bare number
answer = 3*16384*10.5/1e3
# %% wrong: a core above the spine, as in three tiers
answer = 5*16384*10.5
# %% wrong: a spine of half the ports, as for two to one
answer = 2.5*16384*10.5
