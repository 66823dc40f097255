# %% right: SMs times both, in bytes
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(g["rf"] + g["l1"])*1024
# %% right: a text in MiB
g = given("memory-hierarchy-on-chip")
answer = f"{g['n_SM']*(g['rf'] + g['l1'])/1024:g} MiB"
# %% right: the library, twice
g = given("memory-hierarchy-on-chip")
answer = chip_bytes(g["n_SM"], g["rf"]*KiB) + chip_bytes(g["n_SM"], g["l1"]*KiB)
# %% right: a text in MB, three digits
answer = "69.2 MB"
# %% right: shifted bits
g = given("memory-hierarchy-on-chip")
answer = (g["rf"] + g["l1"] << 10)*g["n_SM"]
# %% right: in KiB, as a text
g = given("memory-hierarchy-on-chip")
answer = f"{g['n_SM']*(g['rf'] + g['l1'])} KiB"
# %% right: numpy, one entry an SM
import numpy as np
g = given("memory-hierarchy-on-chip")
each = np.full(g["n_SM"], (g["rf"] + g["l1"])*2**10, dtype=np.int64)
answer = each.sum()
# %% right: show() of the library
g = given("memory-hierarchy-on-chip")
answer = show(g["n_SM"]*(g["rf"] + g["l1"])*KiB, "MiB")
# %% wrong: registers only
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*g["rf"]*1024
# %% wrong: takes the larger of the two
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*max(g["rf"], g["l1"])*KiB
# %% wrong: one SM
g = given("memory-hierarchy-on-chip")
answer = (g["rf"] + g["l1"])*1024
# %% wrong: four register files an SM
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(4*g["rf"] + g["l1"])*1024
# %% wrong: counts L1 and shared memory as two
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(g["rf"] + 2*g["l1"])*1024
# %% wrong: in KB without a unit
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(g["rf"] + g["l1"])
# %% wrong: adds the L2 cache
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(g["rf"] + g["l1"])*KiB + h100.l2_bytes
# %% wrong: the SMs of the PCIe card
g = given("memory-hierarchy-on-chip")
answer = pcie.sms*(g["rf"] + g["l1"])*KiB
# %% wrong: in bits
g = given("memory-hierarchy-on-chip")
answer = 8*g["n_SM"]*(g["rf"] + g["l1"])*1024
# %% wrong: 1,024 taken twice
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(g["rf"] + g["l1"])*MiB
# %% wrong: the share of L1 that a kernel can reserve
g = given("memory-hierarchy-on-chip")
answer = g["n_SM"]*(g["rf"] + g["l1"] - 28)*KiB
