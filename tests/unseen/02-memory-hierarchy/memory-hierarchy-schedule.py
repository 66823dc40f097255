# %% right: the best known, twelve tiles by four
answer = dict(rows=192, columns=128, stages=3, group=4)
# %% right: the same with a stage more
answer = {"rows": 192, "columns": 128, "stages": 4, "group": 4}
# %% right: all the stages that fit
columns, rows = 128, 192
stages = int(227*KiB//(2*64*(rows + columns)))
answer = dict(group=4, stages=stages, columns=columns, rows=rows)
# %% right: lying tiles, a square of four by four
answer = dict(rows=128, columns=192, stages=3, group=4)
# %% right: lying tiles in groups of six, five stages
answer = dict(rows=128, columns=192, stages=5, group=6)
# %% right: groups of three rows, which are near enough
answer = dict(rows=192, columns=128, stages=5, group=3)
# %% right: numpy integers
import numpy as np
rows, columns = np.array([3, 2])*64
answer = dict(rows=rows, columns=columns, stages=np.int64(4), group=np.sqrt(16).astype(int))
# %% right: floats that are whole
answer = dict(zip(("rows", "columns", "stages", "group"), (192.0, 128.0, 4.0, 4.0)))
# %% right: sympy integers
import sympy
answer = dict(rows=sympy.Integer(128), columns=sympy.Integer(192), stages=sympy.ceiling(2.3), group=sympy.sqrt(16))
# %% right: numbers as texts
answer = dict(rows="192", columns="128", stages="4", group="4")
# %% right: a small search, with a cache of slices
from collections import OrderedDict

M, K, N, SMS = 2112, 2048, 4608, 16

def traffic(r, c, g):
    R, C = ceil(M/r), ceil(N/c)
    order = [(i, j) for f in range(0, R, g) for j in range(C) for i in range(f, min(f + g, R))]
    cache, used, moved = OrderedDict(), 0, 2*M*N
    for at in range(0, len(order), SMS):
        for k in range(K//64):
            for i, j in order[at:at + SMS]:
                for key, size in (("a", i, k), 128*r), (("b", j, k), 128*c):
                    if key in cache:
                        cache.move_to_end(key)
                        continue
                    cache[key] = size
                    used, moved = used + size, moved + size
                    while used > 2*MiB:
                        used -= cache.popitem(last=False)[1]
    return moved

def fits(r, c, s):
    t = 2*r*c*64/4096
    waves = ceil(ceil(M/r)*ceil(N/c)/SMS)
    return (128*s*(r + c) <= 227*KiB and 4*r*c <= 128*KiB and (1000 + t)/s <= t
            and M*N/(waves*SMS*r*c) >= 0.94)

tiles = [(r, c, s) for r, c, s in ((128, 128, 4), (192, 128, 4), (128, 192, 4)) if fits(r, c, s)]
_, (rows, columns, stages), group = min((traffic(r, c, g), (r, c, s), g) for r, c, s in tiles for g in (2, 3, 4, 5))
answer = dict(rows=rows, columns=columns, stages=stages, group=group)
# %% wrong: the tile with the highest intensity, whose last wave is nearly empty
answer = dict(rows=128, columns=256, stages=4, group=4)
# %% wrong: standing large tile
answer = dict(rows=256, columns=128, stages=4, group=2)
# %% wrong: row by row
answer = dict(rows=192, columns=128, stages=4, group=1)
# %% wrong: all rows in one group, column by column
answer = dict(rows=192, columns=128, stages=4, group=11)
# %% wrong: double buffering, so the tensor cores wait
answer = dict(rows=192, columns=128, stages=2, group=4)
# %% wrong: six stages, more shared memory than there is
answer = dict(rows=192, columns=128, stages=6, group=4)
# %% wrong: square tiles, good but not the best
answer = dict(rows=128, columns=128, stages=4, group=4)
# %% wrong: square tiles of all registers, over the half
answer = dict(rows=256, columns=256, stages=3, group=4)
# %% wrong: side of 192, whose sums are too many
answer = dict(rows=192, columns=192, stages=4, group=4)
# %% wrong: small tiles that leave no remainder, and traffic
answer = dict(rows=64, columns=64, stages=9, group=4)
# %% wrong: small tiles with few stages
answer = dict(rows=64, columns=64, stages=4, group=4)
# %% wrong: a wide tile in groups of eight, four blocks of B across
answer = dict(rows=64, columns=256, stages=4, group=8)
# %% wrong: rows and columns turned, the ragged side is the other one
answer = dict(rows=256, columns=64, stages=4, group=4)
# %% wrong: sides that are not multiples of 64
answer = dict(rows=176, columns=144, stages=4, group=4)
# %% wrong: sides that divide 2,112 and 4,608 and are no multiples of 64
answer = dict(rows=132, columns=144, stages=4, group=4)
# %% wrong: a group of sixteen, one for each SM
answer = dict(rows=192, columns=128, stages=4, group=16)
# %% wrong: a group of sixteen rows of lying tiles
answer = dict(rows=128, columns=192, stages=4, group=16)
# %% wrong: group counted in elements
answer = dict(rows=192, columns=128, stages=4, group=768)
# %% wrong: a slot for what is computed is forgotten, exactly the copy's time
answer = dict(rows=64, columns=64, stages=8, group=4)
# %% wrong: lying tiles in groups of two
answer = dict(rows=128, columns=192, stages=4, group=2)
# %% wrong: a stage is half a stage
answer = dict(rows=192, columns=128, stages=3.5, group=4)
# %% wrong: no group
answer = dict(rows=192, columns=128, stages=4)
# %% wrong: a tuple in the order of the fields
answer = (192, 128, 4, 4)
# %% wrong: other names
answer = dict(b_m=192, b_n=128, s=4, g=4)
# %% wrong: the sides of the whole wave
answer = dict(rows=768, columns=512, stages=4, group=4)
