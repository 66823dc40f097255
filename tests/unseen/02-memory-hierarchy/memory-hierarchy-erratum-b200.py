# %% right: listed MiB over the sheet's bandwidth
g = given("memory-hierarchy-erratum-b200")
answer = g["listed"]*MiB/g["W"]
# %% right: a text in milliseconds
g = given("memory-hierarchy-erratum-b200")
answer = f"{g['listed']*2**20/g['W']*1e3:.4g} ms"
# %% right: typed, four digits
answer = "24.03 ms"
# %% right: microseconds
g = given("memory-hierarchy-erratum-b200")
answer = f"{round(g['listed']*1048576/g['W']*1e6)} us"
# %% right: a Fraction
from fractions import Fraction
g = given("memory-hierarchy-erratum-b200")
answer = Fraction(g["listed"]*2**20, int(g["W"]))
# %% right: over the bandwidth in MiB a second
g = given("memory-hierarchy-erratum-b200")
per_second = g["W"]/1024/1024
answer = g["listed"]/per_second
# %% right: Decimal
from decimal import Decimal
g = given("memory-hierarchy-erratum-b200")
answer = Decimal(g["listed"])*Decimal(1024)**2/Decimal(g["W"])
# %% right: by GiB and numpy
import numpy as np
g = given("memory-hierarchy-erratum-b200")
gib = np.float64(g["listed"])/1024
answer = gib*2**30/g["W"]
# %% wrong: the 9 TB/s of the prose
g = given("memory-hierarchy-erratum-b200")
answer = g["listed"]*MiB/9e12
# %% wrong: the label's 180 GB
g = given("memory-hierarchy-erratum-b200")
answer = g["label"]/g["W"]
# %% wrong: a MiB of a million bytes
g = given("memory-hierarchy-erratum-b200")
answer = g["listed"]*1e6/g["W"]
# %% wrong: a TB/s of 2 to the 40
g = given("memory-hierarchy-erratum-b200")
answer = g["listed"]*MiB/(8*2**40)
# %% wrong: label and prose together
g = given("memory-hierarchy-erratum-b200")
answer = g["label"]/9e12
# %% wrong: a number in ms without its unit
g = given("memory-hierarchy-erratum-b200")
answer = g["listed"]*MiB/g["W"]*1e3
# %% wrong: read and written
g = given("memory-hierarchy-erratum-b200")
answer = 2*g["listed"]*MiB/g["W"]
# %% wrong: how often a second
g = given("memory-hierarchy-erratum-b200")
answer = g["W"]/(g["listed"]*MiB)
# %% wrong: right digits, but microseconds
answer = "24.03 us"
# %% wrong: bandwidth taken as bits
g = given("memory-hierarchy-erratum-b200")
answer = 8*g["listed"]*MiB/g["W"]
# %% wrong: the bandwidth of both ways halved
g = given("memory-hierarchy-erratum-b200")
answer = g["label"]/(g["W"]/2)
# %% wrong: the memory of an H100
g = given("memory-hierarchy-erratum-b200")
answer = 81559*MiB/g["W"]
