# %% right: all bytes through the uplink, up and down at once
answer = 2*4e9/63.02e9
# %% right: as a text in milliseconds
answer = "126.9 ms"
# %% right: the longest of all the parts
answer = max(4*GB/(63.02*GB),      # a GPU's slot
             2*4*GB/(63.02*GB),    # the uplink, up
             2*4*GB/(63.02*GB),    # the uplink, down
             4*GB/(50*GB))         # a NIC
# %% right: each GPU has half the uplink
share = min(50, 63.02/2)
answer = f"{4/share:.4f} s"
# %% right: microseconds
answer = "126944 us"
# %% right: an exact fraction
from fractions import Fraction
answer = Fraction(8, 1)/Fraction("63.02")
# %% right: an answer with the start of the pipeline, a chunk of one megabyte
chunk = 1e6
answer = 8e9/63.02e9 + chunk/50e9
# %% right: the slot worked out from its lanes
W = line_bandwidth(32e9/8, 16, 128, 130)
answer = 2*4e9/W
# %% right: a small simulation, a microsecond a step
up = down = 0.0
steps, dt = 0, 1e-5
while down < 8e9 - 1:
    up = min(8e9, up + 63.02e9*dt)
    down = min(up, down + min(63.02e9, 2*50e9)*dt)
    steps += 1
answer = steps*dt
# %% right: numpy
import numpy as np
load = np.array([4, 4, 8, 8, 4, 4])*GB            # slots, uplink up and down, NICs
rate = np.array([63.02, 63.02, 63.02, 63.02, 50, 50])*GB
answer = np.max(load/rate)
# %% right: a maximal flow through a graph
import networkx as nx
G = nx.DiGraph()
for i in "01":
    G.add_edge("all", "gpu" + i)
    G.add_edge("gpu" + i, "switch up", capacity=63.02)
    G.add_edge("switch down", "nic" + i, capacity=50)
    G.add_edge("nic" + i, "net")
G.add_edge("switch up", "host", capacity=63.02)
G.add_edge("host", "switch down", capacity=63.02)
answer = 8/nx.maximum_flow_value(G, "all", "net")
# %% wrong: with GPUDirect RDMA, the NIC alone
answer = 4e9/50e9
# %% wrong: one after the other, into the host and then out by the NIC
answer = 8e9/63.02e9 + 4e9/50e9
# %% wrong: up and down share the uplink
answer = 16e9/63.02e9
# %% wrong: the GPUs do not share the uplink
answer = 4e9/63.02e9
# %% wrong: one GPU up and out, each with a slot to itself
answer = 4e9/63.02e9 + 4e9/50e9
# %% wrong: all the bytes by the two NICs and one NIC's rate
answer = 8e9/50e9
# %% wrong: the rates of uplink and NIC added
answer = 8e9/(63.02e9 + 50e9)
# %% wrong: what it costs more than with RDMA
answer = 8e9/63.02e9 - 4e9/50e9
# %% wrong: how many times as long
answer = (8/63.02)/(4/50)
# %% wrong: 63.02 GB/s taken for both directions together
answer = 8e9/(63.02e9/2)
# %% wrong: four devices share the uplink's direction
answer = 4e9/(63.02e9/4)
# %% wrong: gigabits in the NIC and gigabytes in the memory
answer = 8*4e9/50e9
# %% wrong: GiB for GB
answer = 8*2**30/63.02e9
# %% wrong: the shorter of the clocks
answer = min(8e9/63.02e9, 4e9/50e9)
# %% wrong: the rate of a GPU, not the time
answer = "31.51 GB/s"
# %% wrong: milliseconds without saying so
answer = 8/63.02*1000
# %% wrong: microseconds for milliseconds
answer = "126.9 us"
# %% wrong: upside down
answer = 63.02/8
# %% wrong: the raw signal of the slot, 64 GB/s and no code
answer = 8e9/64e9
# %% wrong: takes headers off the slot, too
answer = 8e9/payload_bandwidth(63.02e9, 256, HEADERS["pcie-64"].bytes)
# %% wrong: the uplink's second crossing only, four gigabytes each way and waiting
answer = 3*4e9/63.02e9
# %% wrong: two in the host's memory, each with the narrower part of its own way
answer = 4e9/min(63.02e9, 50e9) + 4e9/63.02e9 + 4e9/63.02e9
# %% wrong: the NICs read at 50 each, so the uplink is asked for 100 and shared by time
answer = 4e9/50e9*(100/63.02)*2
# %% wrong: every byte crosses three slots
answer = 4e9/63.02e9*3 + 4e9/50e9
# %% wrong: bytes for seconds
answer = "8 GB"
