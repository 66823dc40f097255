# %% right: lists, found by a search
answer = dict(gpu0=[11, 1, 5], gpu1=[7, 6, 9], gpu2=[15, 13, 5], gpu3=[1, 8, 0],
              gpu4=[13, 0, 10], gpu5=[5, 2, 7], gpu6=[3, 4, 8], gpu7=[12, 5, 14])
# %% right: the library's balancer, then exchanges with the busiest
L = [162554, 147879, 102827, 108924, 46123, 505540, 98864, 184719,
     322237, 128708, 117722, 118096, 73528, 245469, 119943, 69937]
held = [list(one) for one in balanced(L, 8, 24).ranks]
flat = sum(held, [])
part = [load/flat.count(e) for e, load in enumerate(L)]
total = lambda r: sum(part[e] for e in held[r])
while True:
    hot = max(range(8), key=total)
    best = (total(hot),)
    for other in range(8):
        for i in range(3):
            for j in range(3):
                d = part[held[other][j]] - part[held[hot][i]]
                if other != hot:
                    best = min(best, (max(total(hot) + d, total(other) - d), other, i, j), key=lambda b: b[0])
    if len(best) == 1:
        break
    _, other, i, j = best
    held[hot][i], held[other][j] = held[other][j], held[hot][i]
answer = {f"gpu{r}": held[r] for r in range(8)}
# %% right: tuples, one place left free
answer = dict(gpu0=(13, 0, 12), gpu1=(2, 3, 8), gpu2=(13, 10, 14), gpu3=(7, 11, 8),
              gpu4=(4, 8, 5), gpu5=(15, 5, 13), gpu6=(1, 5), gpu7=(6, 9, 7))
# %% right: arrays of numpy, GPUs in another order
import numpy as np
table_of = np.array([[12, 5, 14], [3, 4, 8], [5, 2, 7], [13, 0, 10],
                     [1, 8, 0], [15, 13, 5], [7, 6, 9], [11, 1, 5]])
answer = dict(zip([f"gpu{i}" for i in range(8)], table_of))
# %% right: floats
answer = dict(gpu0=[15.0, 13.0, 5.0], gpu1=[7.0, 11.0, 8.0], gpu2=[6.0, 14.0, 0.0], gpu3=[3.0, 2.0, 8.0],
              gpu4=[5.0, 10.0, 12.0], gpu5=[9.0, 14.0, 5.0], gpu6=[4.0, 5.0, 1.0], gpu7=[13.0, 8.0, 7.0])
# %% right: a Placement of the library, taken apart
found = Placement(((8, 9, 7), (14, 1, 5), (13, 5, 15), (5, 12, 13), (9, 8, 7), (6, 2, 10), (11, 1, 5), (0, 4, 3)))
answer = {}
for i, one in enumerate(found.ranks):
    answer["gpu" + str(i)] = sorted(one, reverse=True)
# %% wrong: in order, no copies
answer = {f"gpu{i}": [2*i, 2*i + 1] for i in range(8)}
# %% wrong: the balancer as it is
answer = {f"gpu{i}": list(one) for i, one in enumerate(balanced(
    [162554, 147879, 102827, 108924, 46123, 505540, 98864, 184719, 322237, 128708, 117722, 118096, 73528, 245469,
     119943, 69937], 8, 24).ranks)}
# %% wrong: hot beside cold, no copies
L = [162554, 147879, 102827, 108924, 46123, 505540, 98864, 184719,
     322237, 128708, 117722, 118096, 73528, 245469, 119943, 69937]
order = sorted(range(16), key=L.__getitem__)
answer = {f"gpu{i}": [order[i], order[15 - i]] for i in range(8)}
# %% wrong: a copy each of the eight hottest, snaked
L = [162554, 147879, 102827, 108924, 46123, 505540, 98864, 184719,
     322237, 128708, 117722, 118096, 73528, 245469, 119943, 69937]
order = sorted(range(16), key=lambda e: -L[e])
answer = {f"gpu{i}": [order[i], order[15 - i], order[(i + 4) % 8]] for i in range(8)}
# %% wrong: a copy of the hottest expert on every GPU
answer = dict(gpu0=[5, 0, 4], gpu1=[5, 1, 15], gpu2=[5, 8], gpu3=[5, 13, 12],
              gpu4=[5, 7, 6], gpu5=[5, 9, 2], gpu6=[5, 14, 3], gpu7=[10, 11])
# %% wrong: the three coldest experts are left out
answer = dict(gpu0=[11, 1, 5], gpu1=[7, 6, 9], gpu2=[13, 5], gpu3=[1, 8, 0],
              gpu4=[13, 0, 10], gpu5=[5, 2, 7], gpu6=[3, 8], gpu7=[5, 14])
# %% wrong: experts counted from one
answer = dict(gpu0=[12, 2, 6], gpu1=[8, 7, 10], gpu2=[16, 14, 6], gpu3=[2, 9, 1],
              gpu4=[14, 1, 11], gpu5=[6, 3, 8], gpu6=[4, 5, 9], gpu7=[13, 6, 15])
# %% wrong: four on one GPU
answer = dict(gpu0=[11, 1, 5], gpu1=[7, 6, 9], gpu2=[15, 13, 5], gpu3=[1, 8, 0],
              gpu4=[13, 0, 10], gpu5=[5, 2, 7], gpu6=[3, 8], gpu7=[12, 5, 14, 4])
# %% wrong: loads in place of numbers
answer = dict(gpu0=[162554, 46123], gpu1=[147879, 98864], gpu2=[102827, 184719], gpu3=[108924, 128708],
              gpu4=[505540], gpu5=[322237], gpu6=[245469, 119943, 69937], gpu7=[117722, 118096, 73528])
# %% wrong: one copy each of the four hottest, the rest of the places free
answer = dict(gpu0=[5, 4, 15], gpu1=[5, 12], gpu2=[8, 6, 2], gpu3=[8, 3, 10],
              gpu4=[13, 7, 11], gpu5=[13, 7, 14], gpu6=[0, 9], gpu7=[1])
# %% wrong: seats by number, copies in order behind them
answer = {f"gpu{i}": [i, i + 8, (i + 1) % 16] for i in range(8)}
# %% wrong: seven GPUs only
answer = dict(gpu0=[11, 1, 5], gpu1=[7, 6, 9], gpu2=[15, 13, 5], gpu3=[1, 8, 0],
              gpu4=[13, 0, 10], gpu5=[5, 2, 7], gpu6=[3, 4, 8, 12, 14])
# %% wrong: loads of copies taken whole when packing
L = [162554, 147879, 102827, 108924, 46123, 505540, 98864, 184719,
     322237, 128708, 117722, 118096, 73528, 245469, 119943, 69937]
items = list(range(16)) + [5, 5, 5, 8, 8, 13, 7, 0]
held, load = [[] for _ in range(8)], [0]*8
for e in sorted(items, key=lambda e: -L[e]):
    r = min((r for r in range(8) if len(held[r]) < 3), key=load.__getitem__)
    held[r].append(e)
    load[r] += L[e]
answer = {f"gpu{i}": held[i] for i in range(8)}
# %% wrong: two copies of one expert on one GPU, which then takes two shares
answer = dict(gpu0=[5, 10, 5], gpu1=[14, 8, 7], gpu2=[4, 0, 3], gpu3=[1, 5, 15],
              gpu4=[2, 8, 8], gpu5=[11, 5, 5], gpu6=[12, 13, 13], gpu7=[9, 6, 7])
