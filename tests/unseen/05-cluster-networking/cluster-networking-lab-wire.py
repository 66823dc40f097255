# %% right: plain lists
def wire(gpus, ports):
    leaves = gpus//(ports//2)
    spines = gpus//ports
    return [[ports//2//spines]*spines for _ in range(leaves)]
# %% right: a tuple of tuples
def wire(gpus, ports):
    half = ports//2
    leaves = gpus//half
    spines = leaves*half//ports
    row = (half//spines,)*spines
    return (row,)*leaves
# %% right: a numpy table of whole numbers
import numpy as np
def wire(gpus, ports):
    up = ports//2
    leaves = -(-gpus//up)
    spines = -(-leaves*up//ports)
    return np.full((leaves, spines), up//spines, dtype=int)
# %% right: lays cable after cable, round the spines
def wire(gpus, ports):
    leaves = 2*gpus//ports
    spines = leaves//2
    cables = [[0]*spines for _ in range(leaves)]
    for l in range(leaves):
        for k in range(ports//2):
            cables[l][k % spines] += 1
    return cables
# %% right: a lambda with a default argument
wire = lambda gpus, ports, half=2: [[ports*ports//(half*gpus)]*(gpus//ports)]*(gpus*half//ports)
# %% right: searches for the fewest spines that have ports enough
def wire(gpus, ports):
    """Half of a leaf's ports down, half up."""
    down = up = ports - ports//2
    leaves, rest = divmod(gpus, down)
    assert rest == 0
    spines = 1
    while spines*ports < leaves*up or up % spines:
        spines += 1
    each = up//spines
    table = []
    for leaf in range(leaves):
        table.append([each for spine in range(spines)])
    return table
# %% right: recursion over the leaves, helper inside
def wire(gpus, ports):
    spines = gpus//ports
    def below(left):
        return [] if left == 0 else [[(ports//2)//spines]*spines] + below(left - ports//2)
    return below(gpus)
# %% right: numpy outer product turned into lists
import numpy as np
def wire(gpus, ports):
    leaves, spines = gpus*2//ports, gpus//ports
    return np.outer(np.ones(leaves, int), np.repeat(ports//(2*spines), spines)).tolist()
# %% wrong: all ports of a leaf lead down to GPUs
def wire(gpus, ports):
    leaves = gpus//ports
    spines = max(1, leaves//2)
    return [[ports//2//spines]*spines for _ in range(leaves)]
# %% wrong: as many spines as leaves
def wire(gpus, ports):
    leaves = spines = 2*gpus//ports
    return [[max(1, ports//2//spines)]*spines for _ in range(leaves)]
# %% wrong: spines and leaves exchanged, cables[s][l]
def wire(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    return [[ports//2//spines]*leaves for _ in range(spines)]
# %% wrong: one cable between each pair
def wire(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    return [[1]*spines for _ in range(leaves)]
# %% wrong: one cable each, to as many spines as a leaf has ports up
def wire(gpus, ports):
    return [[1]*(ports//2) for _ in range(2*gpus//ports)]
# %% wrong: all ports of a leaf lead up
def wire(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    return [[ports//spines]*spines for _ in range(leaves)]
# %% wrong: the largest tree, whatever the number of GPUs
def wire(gpus, ports):
    return [[1]*(ports//2) for _ in range(ports)]
# %% wrong: returns the counts instead of the table
def wire(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    return leaves, spines, ports//2//spines
# %% wrong: prints the table
def wire(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    print([[ports//2//spines]*spines for _ in range(leaves)])
# %% wrong: only one row, since all leaves are alike
def wire(gpus, ports):
    spines = gpus//ports
    return [ports//2//spines]*spines
# %% wrong: only as many cables up as GPUs below, but all to one spine
def wire(gpus, ports):
    leaves, spines = 2*gpus//ports, gpus//ports
    return [[ports//2 if s == l % spines else 0 for s in range(spines)]
            for l in range(leaves)]
# %% wrong: cable counts for ports of 64 only
def wire(gpus, ports):
    leaves, spines = gpus//32, gpus//64
    return [[32//spines]*spines for _ in range(leaves)]
