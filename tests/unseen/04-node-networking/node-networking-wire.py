# %% right: each to all but its opposite
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4])
# %% right: a list, typed
answer = {"cables": ["0-1", "0-2", "0-3", "0-4", "0-6", "0-7", "1-3", "1-4", "1-5", "1-6", "1-7", "2-3",
                     "2-4", "2-5", "2-6", "2-6", "3-4", "3-5", "3-7", "4-5", "4-7", "5-6", "5-7", "6-7"]}
# %% right: three pairs of GPUs have two cables
answer = {"cables": "0-3 0-3 0-4 0-5 0-7 0-7 1-2 1-3 1-4 1-5 1-6 1-7 2-3 2-4 2-5 2-6 2-7 3-4 3-6 4-5 4-6 5-6 5-7 6-7".split()}
# %% right: two groups of four, all between them, and a ring in each
between = [f"{a}-{b}" for a in range(4) for b in range(4, 8)]
rings = ["0-1", "1-2", "2-3", "0-3", "4-5", "5-6", "6-7", "4-7"]
answer = dict(cables=between + rings)
# %% right: a cube and the diagonals of its faces
answer = dict(cables=[f"{a}-{b}" for b in range(8) for a in range(b) if (a ^ b).bit_count() in (1, 2)])
# %% right: rings of strides one, two and three
answer = {"cables": ["-".join(sorted((str(i), str((i + d) % 8)))) for d in (1, 2, 3) for i in range(8)]}
# %% right: all cables less a matching, as a tuple
left_out = {"0-7", "1-6", "2-5", "3-4"}
answer = dict(cables=tuple(c for c in map("-".join, combinations("01234567", 2)) if c not in left_out))
# %% right: a matrix of numpy, read back
import numpy as np
A = np.ones((8, 8), int) - np.eye(8, dtype=int)
for a, b in ((0, 1), (2, 3), (4, 5), (6, 7)):
    A[a, b] = A[b, a] = 0
answer = {"cables": [f"{a}-{b}" for a, b in zip(*np.nonzero(np.triu(A)))]}
# %% right: a numpy array of texts
import numpy as np
answer = {"cables": np.array([f"{a}-{b}" for a, b in combinations(range(8), 2) if a//2 != b//2])}
# %% right: the octahedron of four axes, by networkx
import networkx as nx
G = nx.complete_multipartite_graph(2, 2, 2, 2)
answer = {"cables": [f"{min(e)}-{max(e)}" for e in G.edges]}
# %% right: deals at random until no half is narrow, with a seed
import random
def width(cables):
    return min(sum((c[0] in half) != (c[2] in half) for c in cables) for half in combinations("01234567", 4))
deal, cables = random.Random(1), []
while not cables or width(cables) < 12:
    gpus = list("01234567"*6)
    deal.shuffle(gpus)
    cables = ["-".join(sorted(pair)) for pair in zip(gpus[::2], gpus[1::2])]
    if any(c[0] == c[2] for c in cables):
        cables = []
answer = {"cables": cables}
# %% right: in the order of the second GPU, from the last to the first
answer = {"cables": sorted((f"{a}-{b}" for a, b in combinations(range(8), 2) if a + b != 7), key=lambda c: c[::-1], reverse=True)}
# %% wrong: as in a DGX-1
one = ["0-1", "0-2", "0-3", "0-3", "1-2", "1-2", "1-3", "2-3", "2-3"]
other = [f"{int(c[0]) + 4}-{int(c[2]) + 4}" for c in one]
answer = dict(cables=one + other + ["0-4", "0-4", "1-5", "1-5", "2-6", "3-7"])
# %% wrong: a ring of three cables
answer = dict(cables=3*["0-1", "1-2", "2-3", "3-4", "4-5", "5-6", "6-7", "0-7"])
# %% wrong: a cube, each edge twice
answer = dict(cables=2*[f"{a}-{b}" for a, b in combinations(range(8), 2) if (a ^ b).bit_count() == 1])
# %% wrong: all cables lead to the other four, in pairs
between = [f"{a}-{b}" for a in range(4) for b in range(4, 8)]
answer = dict(cables=between + [f"{a}-{a + 4}" for a in range(4)]*2)
# %% wrong: six to the opposite GPU, for 24 across the middle
answer = dict(cables=6*["0-4", "1-5", "2-6", "3-7"])
# %% wrong: two full groups of four
four = ["0-1", "0-2", "0-3", "1-2", "1-3", "2-3"]
answer = dict(cables=2*(four + [f"{int(c[0]) + 4}-{int(c[2]) + 4}" for c in four]))
# %% wrong: one more than it has links for two GPUs, in a full mesh cut down to 24
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2)][:24])
# %% wrong: the full mesh, 28 cables
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2)])
# %% wrong: all but the opposite one, each cable from both of its ends
answer = dict(cables=[f"{a}-{b}" for a in range(8) for b in range(8) if a != b and abs(a - b) != 4])
# %% wrong: the larger number first
answer = dict(cables=[f"{b}-{a}" for a, b in combinations(range(8), 2) if b - a != 4])
# %% wrong: GPUs from 1 to 8
answer = dict(cables=[f"{a + 1}-{b + 1}" for a, b in combinations(range(8), 2) if b - a != 4])
# %% wrong: names of GPUs
answer = dict(cables=[f"GPU{a}-GPU{b}" for a, b in combinations(range(8), 2) if b - a != 4])
# %% wrong: pairs of numbers
answer = dict(cables=[(a, b) for a, b in combinations(range(8), 2) if b - a != 4])
# %% wrong: one text
answer = dict(cables=" ".join(f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4))
# %% wrong: the list without a record
answer = [f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4]
# %% wrong: another field
answer = dict(links=[f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4])
# %% wrong: how many it wires, besides the cables
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4], count=24)
# %% wrong: each pair with its number of cables
answer = dict(cables={f"{a}-{b}": 1 for a, b in combinations(range(8), 2) if b - a != 4})
# %% wrong: one GPU is the switch of the others
answer = dict(cables=[f"0-{b}" for b in range(1, 7)] + [f"{b}-{b + 1}" for b in range(1, 7)]*2 + ["1-7"])
# %% wrong: rings of strides one and three, the first of them doubled
answer = dict(cables=["-".join(sorted((str(i), str((i + d) % 8)))) for d in (1, 1, 3) for i in range(8)])
# %% wrong: a ladder, two rings of four doubled and two rungs each
rings = ["0-1", "1-2", "2-3", "0-3", "4-5", "5-6", "6-7", "4-7"]
answer = dict(cables=2*rings + 2*[f"{a}-{a + 4}" for a in range(4)])
# %% wrong: a torus of four by two, whose short rings are double
torus = ["0-1", "1-2", "2-3", "0-3", "4-5", "5-6", "6-7", "4-7"] + 2*["0-4", "1-5", "2-6", "3-7"]
answer = dict(cables=torus)
# %% wrong: one cable for a pair, four links in use
answer = dict(cables=[f"{a}-{b}" for a in range(4) for b in range(4, 8)])
# %% wrong: a cable of a GPU with itself
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2) if a//2 != b//2][:-1] + ["0-0"])
# %% wrong: three quarters of the pairs, drawn without a look at the halves
import random
answer = dict(cables=sorted(random.Random(3).sample([f"{a}-{b}" for a, b in combinations(range(8), 2)], 21)))
# %% wrong: a cube and its long diagonals tripled
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2) for _ in range((1, 0, 3)[(a ^ b).bit_count() - 1])])
# %% wrong: the number of cables instead of the cables
answer = dict(cables=24)
# %% wrong: the answer to the question before
answer = dict(cables=["6"])
# %% wrong: nothing laid yet
answer = dict(cables=[])
# %% wrong: one short of the best
answer = dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4][1:])
