# %% right: all ports of all spines over the GPUs
g = given("cluster-networking-erratum-spine")
answer = g["spines"]*g["ports"]*g["W"]/g["n"]
# %% right: typed with a prefix
answer = "37.5 GB/s"
# %% right: typed in bits
answer = "300 Gbit/s"
# %% right: in Gbps from the numbers
g = given("cluster-networking-erratum-spine")
answer = f"{8*g['spines']*g['ports']*g['W']/g['n']/1e9:.4g} Gbps"
# %% right: a fraction
from fractions import Fraction
g = given("cluster-networking-erratum-spine")
answer = Fraction(g["spines"]*g["ports"], g["n"])*Fraction(g["W"])
# %% right: half of the cluster sends to the other half
g = given("cluster-networking-erratum-spine")
bisection = g["spines"]*g["ports"]//2*g["W"]
answer = f"{bisection/(g['n']/2)/1e12:.4g} TB/s"
# %% right: a sum over a numpy table of ports
import numpy as np
g = given("cluster-networking-erratum-spine")
answer = np.full((g["spines"], g["ports"]), g["W"]).sum()/np.float64(g["n"])
# %% right: a decimal
from decimal import Decimal
g = given("cluster-networking-erratum-spine")
answer = Decimal(g["W"])*g["spines"]*g["ports"]/Decimal(g["n"])
# %% right: the text of the library
g = given("cluster-networking-erratum-spine")
answer = show(g["spines"]*(g["ports"]*g["W"])/g["n"], "B/s")
# %% wrong: repeats the slip, half of a spine's ports
g = given("cluster-networking-erratum-spine")
answer = g["spines"]*g["ports"]/2*g["W"]/g["n"]
# %% wrong: both directions added
g = given("cluster-networking-erratum-spine")
answer = 2*g["spines"]*g["ports"]*g["W"]/g["n"]
# %% wrong: only half of the GPUs send, with all ports
g = given("cluster-networking-erratum-spine")
answer = g["spines"]*g["ports"]*g["W"]/(g["n"]/2)
# %% wrong: all spines together, not each GPU
g = given("cluster-networking-erratum-spine")
answer = g["spines"]*g["ports"]*g["W"]
# %% wrong: each node of eight instead of each GPU
g = given("cluster-networking-erratum-spine")
answer = g["spines"]*g["ports"]*g["W"]/(g["n"]/8)
# %% wrong: bytes taken for bits
g = given("cluster-networking-erratum-spine")
answer = f"{g['spines']*g['ports']*g['W']/g['n']/1e9:.4g} Gbit/s"
# %% wrong: a port of bits divided by eight once more
g = given("cluster-networking-erratum-spine")
answer = g["spines"]*g["ports"]*g["W"]/8/g["n"]
# %% wrong: one spine only
g = given("cluster-networking-erratum-spine")
answer = g["ports"]*g["W"]/g["n"]
# %% wrong: the inverted ratio, GPUs over ports, and half a port
g = given("cluster-networking-erratum-spine")
answer = g["n"]/(g["spines"]*g["ports"])*g["W"]/2
# %% wrong: binary prefix
g = given("cluster-networking-erratum-spine")
answer = f"{g['spines']*g['ports']*g['W']/g['n']/1e9} GiB/s"
# %% wrong: the bandwidth inside the node
answer = "450 GB/s"
