# %% right: cards of the rack over its GPUs
g = given("cluster-networking-erratum-nvl72")
answer = g["trays"]*(g["nics"] - g["kept"])*g["W"]/g["n"]
# %% right: typed in GB/s
answer = "37.5 GB/s"
# %% right: typed in SI
answer = 3.75e10
# %% right: four GPUs to a host
g = given("cluster-networking-erratum-nvl72")
gpus_of_host = g["n"]//g["trays"]
answer = (g["nics"] - g["kept"])*g["W"]/gpus_of_host
# %% right: in bits
g = given("cluster-networking-erratum-nvl72")
answer = f"{g['trays']*(g['nics'] - g['kept'])*g['W']/g['n']*8/1e9:.4g} Gbit/s"
# %% right: fractions
from fractions import Fraction
g = given("cluster-networking-erratum-nvl72")
answer = Fraction(g["trays"]*(g["nics"] - g["kept"]), g["n"])*int(g["W"])
# %% right: rack in TB/s, then each GPU in MB/s
import numpy as np
g = given("cluster-networking-erratum-nvl72")
rack = np.sum(np.full(g["trays"], (g["nics"] - g["kept"])*g["W"]))
answer = f"{rack/g['n']/1e6:.0f} MB/s"
# %% right: in GiB/s
g = given("cluster-networking-erratum-nvl72")
answer = f"{g['trays']*(g['nics'] - g['kept'])*g['W']/g['n']/2**30:.4g} GiB/s"
# %% wrong: eight GPUs to a host, as the footnote has it
g = given("cluster-networking-erratum-nvl72")
answer = (g["nics"] - g["kept"])*g["W"]/8
# %% wrong: eight cards to a host
g = given("cluster-networking-erratum-nvl72")
answer = 8*g["trays"]*g["W"]/g["n"]
# %% wrong: the whole rack
g = given("cluster-networking-erratum-nvl72")
answer = g["trays"]*(g["nics"] - g["kept"])*g["W"]
# %% wrong: each host
g = given("cluster-networking-erratum-nvl72")
answer = (g["nics"] - g["kept"])*g["W"]
# %% wrong: both directions
g = given("cluster-networking-erratum-nvl72")
answer = 2*g["trays"]*(g["nics"] - g["kept"])*g["W"]/g["n"]
# %% wrong: eight GPUs to a host, and both directions of eight cards
g = given("cluster-networking-erratum-nvl72")
answer = 2*8*g["trays"]*g["W"]/g["n"]
# %% wrong: NVLink inside the rack
g = given("cluster-networking-erratum-nvl72")
answer = g["NV"]
# %% wrong: takes bytes for bits
g = given("cluster-networking-erratum-nvl72")
answer = f"{g['trays']*(g['nics'] - g['kept'])*g['W']/g['n']/1e9:.4g} Gbit/s"
# %% wrong: one card for each host
g = given("cluster-networking-erratum-nvl72")
answer = g["trays"]*g["W"]/g["n"]
# %% wrong: the oversubscription of the rack
g = given("cluster-networking-erratum-nvl72")
answer = g["NV"]/(g["trays"]*(g["nics"] - g["kept"])*g["W"]/g["n"])
# %% wrong: only 64 of 72 GPUs counted
g = given("cluster-networking-erratum-nvl72")
answer = g["trays"]*(g["nics"] - g["kept"])*g["W"]/64
