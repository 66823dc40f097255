# %% right: as in the letter
answer = dict(nodes=8, limit=4, redundant=3, sent=0.2774*GB)
# %% right: a text in megabytes
answer = {"nodes": 8, "limit": 4, "redundant": 3, "sent": "277.4 MB"}
# %% right: all decisions tried
loads_of_layer = lognormal_loads(256, 1.12)
found = []
for nodes in (2, 4, 8, 16):
    for limit in range(4, 9):
        for extra in range(5):
            if (256/(8*nodes) + extra)*58*44e6 + 61.1e9 > 80e9:
                continue
            at_most = min(limit, nodes)
            sent = at_most*(1 - (1 - 1/at_most)**8)*(nodes - 1)/nodes*4096*7168*3
            if sent/50e9 > 7.5e-3:
                continue
            off = balanced(loads_of_layer, 8*nodes, 256 + 8*nodes*extra).imbalance(loads_of_layer)
            time_of = ep_imbalanced_time(6*8*4096*7168*2048/693e12, sent/50e9, off)
            found.append((time_of, nodes, limit, extra, sent))
_, nodes, limit, extra, sent = min(found)
answer = dict(nodes=nodes, limit=limit, redundant=extra, sent=sent)
# %% right: one copy fewer, which costs next to nothing
answer = dict(nodes=8.0, limit=4.0, redundant=2.0, sent=277.4e6)
# %% right: a single redundant expert is within the last mark
answer = dict(nodes=8, limit=4, redundant=1, sent=2.774e8)
# %% right: numpy, with destination_fraction
import numpy as np
rows = np.float64(4096*4*destination_fraction(4, 8)*7/8)
answer = dict(nodes=np.int64(8), limit=np.int64(4), redundant=np.int64(3), sent=rows*7168*3)
# %% right: with the scales of fp8, a per cent more
answer = dict(nodes=8, limit=4, redundant=3, sent=4096*7168*(3 + 4/128)*4*(1 - 0.75**8)*7/8)
# %% right: in MiB
answer = dict(nodes=8, limit=4, redundant=3, sent="264.6 MiB")
# %% wrong: no copies at all
answer = dict(nodes=8, limit=4, redundant=0, sent=0.2774*GB)
# %% wrong: all four copies, out of memory
answer = dict(nodes=8, limit=4, redundant=4, sent=0.2774*GB)
# %% wrong: two nodes, where everything stays near
answer = dict(nodes=2, limit=2, redundant=3, sent=2*(1 - 0.5**8)/2*4096*7168*3)
# %% wrong: four nodes, as the cards are free
answer = dict(nodes=4, limit=4, redundant=1, sent=4*(1 - 0.75**8)*3/4*4096*7168*3)
# %% wrong: more nodes hold more copies
answer = dict(nodes=16, limit=4, redundant=4, sent=4*(1 - 0.75**8)*15/16*4096*7168*3)
# %% wrong: limit of two to save the cards
answer = dict(nodes=8, limit=2, redundant=3, sent=2*(1 - 0.5**8)*7/8*4096*7168*3)
# %% wrong: no limit, all eight nodes
answer = dict(nodes=8, limit=8, redundant=3, sent=8*(1 - 0.875**8)*7/8*4096*7168*3)
# %% wrong: every token goes to all four nodes
answer = dict(nodes=8, limit=4, redundant=3, sent=4*7/8*4096*7168*3)
# %% wrong: the own node is crossed for too
answer = dict(nodes=8, limit=4, redundant=3, sent=4*(1 - 0.75**8)*4096*7168*3)
# %% wrong: one of the four is always at home
answer = dict(nodes=8, limit=4, redundant=3, sent=3*(1 - 0.75**8)*4096*7168*3)
# %% wrong: only the way out is counted
answer = dict(nodes=8, limit=4, redundant=3, sent=4*(1 - 0.75**8)*7/8*4096*7168)
# %% wrong: two bytes both ways
answer = dict(nodes=8, limit=4, redundant=3, sent=4*(1 - 0.75**8)*7/8*4096*7168*4)
# %% wrong: of a node's eight cards together
answer = dict(nodes=8, limit=4, redundant=3, sent=8*4*(1 - 0.75**8)*7/8*4096*7168*3)
# %% wrong: a copy for each expert
answer = dict(nodes=8, limit=4, redundant=3, sent=8*7/8*4096*7168*3)
# %% wrong: the busiest card of experts without a copy
answer = dict(nodes=8, limit=4, redundant=3, sent=1.56*4*(1 - 0.75**8)*7/8*4096*7168*3)
# %% wrong: experts fall on all eight nodes, four at most
answer = dict(nodes=8, limit=4, redundant=3, sent=min(4, 8*(1 - 0.875**8))*7/8*4096*7168*3)
# %% wrong: a limit of five, a little more freedom
answer = dict(nodes=8, limit=5, redundant=3, sent=5*(1 - 0.8**8)*7/8*4096*7168*3)
# %% wrong: of all 58 layers
answer = dict(nodes=8, limit=4, redundant=3, sent=58*277.4e6)
