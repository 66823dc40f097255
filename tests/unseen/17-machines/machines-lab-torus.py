# %% right: bundles as index lists of the cube, both ways from what came in
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% right: passes on the arrays that came in, sends nothing it must look up
import numpy as np
def torus_gather(rank, n, x, side):
    h, here = side//2, np.unravel_index(rank, (side,)*3)
    def rank_at(axis, c):
        at = list(here)
        at[axis] = c % side
        return int(np.ravel_multi_index(at, (side,)*3))
    held = [x.reshape(side, side, side, 3, -1)[here][p] for p in range(3)]
    for q in range(3):
        axes = [(p + q) % 3 for p in range(3)]
        rings = [{here[axes[p]]: held[p].copy()} for p in range(3)]
        up, down = list(held), list(held)
        for t in range(1, h + 1):
            both = 2*t < side
            out = [Step(up[p].ravel(), rank_at(a, here[a] + 1), rank_at(a, here[a] - 1)) for p, a in enumerate(axes)]
            if both:
                out += [Step(down[p].ravel(), rank_at(a, here[a] - 1), rank_at(a, here[a] + 1))
                        for p, a in enumerate(axes)]
            got = yield out
            for p, a in enumerate(axes):
                up[p] = got[p]
                rings[p][(here[a] - t) % side] = got[p]
                if both:
                    down[p] = got[3 + p]
                    rings[p][(here[a] + t) % side] = got[3 + p]
        held = [np.stack([rings[p][c].ravel() for c in range(side)]) for p in range(3)]
    full = np.empty((side, side, side, 3, held[0].size//side**3))
    for p in range(3):
        gathered = held[p].reshape(side, side, side, -1)     # axes p+2, p+1, p
        order = [(p + 2) % 3, (p + 1) % 3, p]
        full[:, :, :, p] = np.transpose(gathered, (order.index(0), order.index(1), order.index(2), 3))
    x[...] = full.reshape(x.shape)
    return x
# %% right: the parts known so far are found by their being no nan
import numpy as np
def torus_gather(rank, n, x, side):
    parts = x.reshape(n, 3, -1)
    coords = np.array(np.unravel_index(np.arange(n), (side,)*3))
    mine, stride = coords[:, rank], (side*side, side, 1)
    known = [np.array([rank]) for _ in range(3)]
    for q in range(3):
        last = [[one, one] for one in known]
        everything = [[one] for one in known]
        for t in range(1, side//2 + 1):
            steps, notes = [], []
            for p in range(3):
                a = (p + q) % 3
                for way, d in enumerate((1, -1)):
                    if d < 0 and t*2 == side:
                        continue
                    to = rank + ((mine[a] + d) % side - mine[a])*stride[a]
                    frm = rank + ((mine[a] - d) % side - mine[a])*stride[a]
                    steps.append(Step(parts[last[p][way], p].flatten(), int(to), int(frm)))
                    c = coords[a, last[p][way]]
                    notes.append((p, way, last[p][way] + ((c - d) % side - c)*stride[a]))
            for (p, way, ids), values in zip(notes, (yield steps), strict=True):
                parts[ids, p] = values.reshape(len(ids), -1)
                last[p][way] = ids
                everything[p].append(ids)
        known = [np.concatenate(one) for one in everything]
    return x
# %% right: torch.roll's idea, coordinates relative to the own chip
import numpy as np
def torus_gather(rank, n, x, side):
    i, rest = divmod(rank, side*side)
    j, k = divmod(rest, side)
    home = (i, j, k)
    y = np.roll(x.reshape(side, side, side, 3, -1), (-i, -j, -k), (0, 1, 2)).copy()    # I am at (0, 0, 0)
    def neighbour(axis, d):
        c = [*home]
        c[axis] = (c[axis] + d) % side
        return c[0]*side**2 + c[1]*side + c[2]
    for phase in (0, 1, 2):
        for t in range(side//2):
            sends, slots = [], []
            for p in (0, 1, 2):
                axis = (p + phase) % 3
                index = [0, 0, 0]
                for done in range(phase):
                    index[(p + done) % 3] = slice(None)
                for d in (1, -1):
                    if d == 1 or 2*(t + 1) < side:
                        # what travels up is what lies t below me
                        source, slot = [*index], [*index]
                        source[axis], slot[axis] = -d*t % side, -d*(t + 1) % side
                        block = y[(*source, p)]
                        # what is at relative 0 of a neighbour is at relative -d of mine
                        absolute = [home[(p + done) % 3] for done in range(phase)]
                        order = sorted(range(phase), key=lambda one: (p + one) % 3)
                        for place, one in enumerate(order):
                            block = np.roll(block, absolute[one], place)
                        sends.append(Step(block.ravel(), neighbour(axis, d), neighbour(axis, -d)))
                        slots.append(((*slot, p), order, absolute, block.shape))
            got = yield sends
            for (slot, order, absolute, shape), values in zip(slots, got, strict=True):
                block = values.reshape(shape)
                for place, one in enumerate(order):
                    block = np.roll(block, -absolute[one], place)
                y[slot] = block
    return np.roll(y, home, (0, 1, 2)).reshape(x.shape)
# %% right: three helpers as generators that run in step
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = (rank//(side*side), (rank//side) % side, rank % side)
    def at(axis, c):
        where = list(me)
        where[axis] = c % side
        return (where[0]*side + where[1])*side + where[2]
    def one_part(p):
        view = np.moveaxis(cube[:, :, :, p], [p, (p + 1) % 3, (p + 2) % 3], [0, 1, 2])    # a view
        a, b, c = me[p], me[(p + 1) % 3], me[(p + 2) % 3]
        rows = (lambda s: view[s, b, c], lambda s: view[:, s, c], lambda s: view[:, :, s])
        for phase in range(3):
            axis, row = (p + phase) % 3, rows[phase]
            for t in range(1, side//2 + 1):
                ways = (1,) if 2*t == side else (1, -1)
                got = yield [Step(row((me[axis] - d*(t - 1)) % side).ravel(), at(axis, me[axis] + d),
                                  at(axis, me[axis] - d)) for d in ways]
                for d, values in zip(ways, got, strict=True):
                    target = row((me[axis] - d*t) % side)
                    target[...] = values.reshape(target.shape)
    runs = [one_part(p) for p in range(3)]
    if side == 1:
        return x
    asked = [next(run) for run in runs]
    while True:
        got, ended = iter((yield sum(asked, []))), 0
        for p, run in enumerate(runs):
            try:
                asked[p] = run.send([next(got) for _ in asked[p]])
            except StopIteration:
                ended += 1
        if ended == 3:
            return x
# %% wrong: the farthest bundle goes both ways where the side is even
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: all three parts along the same axis, axis after axis
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in range(q) else slice(me[a], me[a] + 1) for a in range(3)]
        axis = q
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = q
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: one way round only
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1,):
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: two messages a round, a part at a time
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            for p in range(3):
                steps, places = [], []
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
                got = yield steps
                for place, came in zip(places, got, strict=True):
                    cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: from whom it sends to
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: writes what comes from below where it belongs above
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] + d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: each phase sends the own block again, not the bundle so far
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if False else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: the farthest chip is left out where the side is even
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, (side + 1)//2):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: sends everything it has of a part in each round
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank//side**2, rank//side % side, rank % side]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[0]*side + c[1])*side + c[2]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[..., p, :].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                came = came.reshape(cube[..., place[-1], :].shape)
                new = ~np.isnan(came)
                cube[..., place[-1], :][new] = came[new]
    return x
# %% wrong: coordinates in the other order, i changes fastest
import numpy as np
def torus_gather(rank, n, x, side):
    cube = x.reshape(side, side, side, 3, -1)
    me = [rank % side, rank//side % side, rank//side**2]
    def chip(axis, step):
        c = list(me)
        c[axis] = (c[axis] + step) % side
        return (c[2]*side + c[1])*side + c[0]
    def bundle(p, q, at):
        where = [slice(None) if a in [(p + i) % 3 for i in range(q)] else slice(me[a], me[a] + 1) for a in range(3)]
        axis = (p + q) % 3
        where[axis] = slice(at % side, at % side + 1)
        return (*where, p)
    for q in range(3):
        for t in range(1, side//2 + 1):
            steps, places = [], []
            for p in range(3):
                axis = (p + q) % 3
                for d in (1, -1):
                    if d == -1 and 2*t == side:
                        continue
                    send = cube[bundle(p, q, me[axis] - d*(t - 1))].ravel()
                    steps.append(Step(send, chip(axis, d), chip(axis, -d)))
                    places.append(bundle(p, q, me[axis] - d*t))
            got = yield steps
            for place, came in zip(places, got, strict=True):
                cube[place] = came.reshape(cube[place].shape)
    return x
# %% wrong: one ring through all chips
def torus_gather(rank, n, x, side):
    blocks = x.reshape(n, -1)
    for t in range(n - 1):
        got = yield Step(blocks[(rank - t) % n], (rank + 1) % n, (rank - 1) % n)
        blocks[(rank - t - 1) % n] = got
    return x
# %% wrong: every chip sends its block to every other
def torus_gather(rank, n, x, side):
    blocks = x.reshape(n, -1)
    for t in range(1, n):
        got = yield Step(blocks[rank], (rank + t) % n, (rank - t) % n)
        blocks[(rank - t) % n] = got
    return x
