# %% right: links, less the code
g = given("node-networking-erratum-h800")
answer = g["paths"]*g["W_raw"]*g["c_data"]/g["c_line"]
# %% right: the library
g = given("node-networking-erratum-h800")
answer = line_bandwidth(g["W_raw"], g["paths"], g["c_data"], g["c_line"])
# %% right: typed, in GB/s
answer = "200 GB/s"
# %% right: with the rate as it is printed, rounded
g = given("node-networking-erratum-h800")
answer = g["paths"]*round(g["W_raw"]/GB, 2)*GB*g["c_data"]/g["c_line"]
# %% right: in bits
g = given("node-networking-erratum-h800")
answer = f"{8*g['paths']*g['W_raw']*g['c_data']/g['c_line']/1e12:.3f} Tbit/s"
# %% right: one of seventeen taken off
from fractions import Fraction
g = given("node-networking-erratum-h800")
lost = 1 - Fraction(g["c_data"], g["c_line"])
answer = Fraction(g["W_raw"])*g["paths"]*(1 - lost)
# %% right: the links added up
g = given("node-networking-erratum-h800")
answer = sum(g["W_raw"]*g["c_data"]/g["c_line"] for link in range(g["paths"]))
# %% right: numpy
import numpy as np
g = given("node-networking-erratum-h800")
answer = np.full(g["paths"], g["W_raw"]).sum()*np.divide(g["c_data"], g["c_line"])
# %% wrong: the code stays in
g = given("node-networking-erratum-h800")
answer = g["paths"]*g["W_raw"]
# %% wrong: one link
g = given("node-networking-erratum-h800")
answer = g["W_raw"]*g["c_data"]/g["c_line"]
# %% wrong: ten links more, as if none were switched off
g = given("node-networking-erratum-h800")
answer = (g["paths"] + 10)*g["W_raw"]*g["c_data"]/g["c_line"]
# %% wrong: both directions
g = given("node-networking-erratum-h800")
answer = 2*g["paths"]*g["W_raw"]*g["c_data"]/g["c_line"]
# %% wrong: halves it, though it is one direction already
g = given("node-networking-erratum-h800")
answer = g["paths"]*g["W_raw"]*g["c_data"]/g["c_line"]/2
# %% wrong: the code turned round
g = given("node-networking-erratum-h800")
answer = g["paths"]*g["W_raw"]*g["c_line"]/g["c_data"]
# %% wrong: the book's 300 GB/s
answer = "300 GB/s"
# %% wrong: bits taken for bytes
answer = "200 Gbit/s"
# %% wrong: eight links to each of seven others
g = given("node-networking-erratum-h800")
answer = 7*g["paths"]*g["W_raw"]*g["c_data"]/g["c_line"]
# %% wrong: in GB/s without a unit
g = given("node-networking-erratum-h800")
answer = g["paths"]*g["W_raw"]*g["c_data"]/g["c_line"]/1e9
# %% wrong: headers taken off as well
g = given("node-networking-erratum-h800")
answer = payload_bandwidth(g["paths"]*g["W_raw"]*g["c_data"]/g["c_line"], 256, 16)
# %% wrong: the rate of a link is the GPU's
g = given("node-networking-erratum-h800")
answer = g["W_raw"]
