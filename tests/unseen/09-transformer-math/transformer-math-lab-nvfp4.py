# %% right: block by block, both candidates in a list
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% right: numpy, all blocks at once
import numpy as np
def quantise(W):
    W = np.array(W, float)
    s = np.abs(W).max()/1536
    if s == 0:
        return W.tolist()
    blocks = W.reshape(-1, 16)
    four, eight = np.vectorize(round_e2m1), np.vectorize(round_e4m3)
    m = np.abs(blocks).max(axis=1, keepdims=True)
    found = []
    for top in (6, 4):
        scale = eight(m/s/top)*s
        safe = np.where(scale > 0, scale, 1)
        found.append(np.where(scale > 0, four(blocks/safe)*scale, 0))
    errors = [((f - blocks)**2).sum(axis=1) for f in found]
    best = np.where((errors[0] <= errors[1])[:, None], *found)
    return best.reshape(W.shape).tolist()
# %% right: torch, its own eight bits and a list of four
import numpy as np
def quantise(W):
    W = torch.tensor(W, dtype=torch.float64)
    s = W.abs().max()/(6*256)
    x = W.view(W.shape[0], -1, 16)
    def back(top):
        scale = ((x.abs().amax(-1, keepdim=True)/(top*s)).float().to(torch.float8_e4m3fn).double()*s).nan_to_num(0)
        units = torch.where(scale > 0, x/scale, 0*x)
        step = torch.where(units.abs() < 2, 0.5, torch.where(units.abs() < 4, 1.0, 2.0))
        return (units/step).round().mul(step).clamp(-6, 6)*scale
    six, four = back(6), back(4)
    worse = ((six - x)**2).sum(-1, keepdim=True) > ((four - x)**2).sum(-1, keepdim=True)
    return torch.where(worse, four, six).flatten(1).tolist()
# %% right: in place, errors compared as a difference
def quantise(W):
    largest = 0.0
    for row in W:
        for x in row:
            largest = max(largest, x, -x)
    s = largest/6/256
    out = [list(row) for row in W]
    for row in out:
        for start in range(0, len(row), 16):
            part = row[start:start + 16]
            top = max(max(part), -min(part))
            if not top:
                continue
            a, b = round_e4m3(top/6/s)*s, round_e4m3(top/4/s)*s
            code = lambda scale: [scale*round_e2m1(x/scale) if scale else 0.0 for x in part]
            first, second = code(a), code(b)
            gain = sum((x - f)**2 - (x - g)**2 for x, f, g in zip(part, first, second))
            row[start:start + 16] = second if gain > 0 else first
    return out
# %% right: errors in exact fractions
from fractions import Fraction
def quantise(W):
    flat = [x for row in W for x in row]
    s = max(map(abs, flat))/1536
    result = []
    for i in range(0, len(flat), 16):
        b = flat[i:i + 16]
        m = max(map(abs, b))
        ways = {}
        for top in (6, 4) if m else ():
            scale = s*round_e4m3(m/(s*top))
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            ways[top] = sum((Fraction(x) - Fraction(y))**2 for x, y in zip(b, got)), got
        result += min(ways.values(), key=lambda way: way[0])[1] if ways else [0.0]*16
    width = len(W[0])
    return [result[i:i + width] for i in range(0, len(result), width)]
# %% wrong: 448 as in the plain recipe
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*448)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: every block maps to 6
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in (6,):
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: every block maps to 4
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in (4,):
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: keeps the worse one
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return max(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: the block's scale is not rounded
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = m/top
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: no scale of the tensor
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/top)
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: the tensor's scale rounded too
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    s = round_e4m3(s)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: the sum of absolute errors
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum(abs(x - y) for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: the largest error
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((max((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: errors in units of the scale
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum(((x - y)/scale)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: errors with their signs
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((abs(sum(x - y for x, y in zip(b, got))), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: the largest weight without its sign rule
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(b)
        if m <= 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: blocks of 32
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 32) for y in block(row[i:i + 32])] for row in W]
# %% wrong: a row is a block
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), len(row)) for y in block(row[i:i + len(row)])] for row in W]
# %% wrong: the second candidate from the first, not rounded again
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(6*s))*s*6/top
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: returns codes, not weights
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale) if scale else 0.0 for x in b]
            tries.append((sum((x - y*scale)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: multiplied out with the unrounded scale
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*m/top if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: each row has its tensor's scale
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b, s):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16], max(max(map(abs, row))/(6*256), 1e-30))] for row in W]
# %% wrong: the largest to 256, without the 6
def quantise(W):
    s = max(abs(x) for row in W for x in row)/256
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: cut off instead of rounded
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [(1 if x > 0 else -1)*max(e for e in E2M1 if e <= abs(x/scale) or e == 0)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: the better of the two for each weight
def quantise(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append(got)
        return [min(pair, key=lambda y: abs(x - y)) for x, *pair in zip(b, *tries)]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
# %% wrong: blocks go down the columns
def by_rows(W):
    s = max(abs(x) for row in W for x in row)/(6*256)
    def block(b):
        m = max(map(abs, b))
        if m == 0:
            return [0.0]*len(b)
        tries = []
        for top in 6, 4:
            scale = round_e4m3(m/(top*s))*s
            got = [round_e2m1(x/scale)*scale if scale else 0.0 for x in b]
            tries.append((sum((x - y)**2 for x, y in zip(b, got)), got))
        return min(tries, key=lambda t: t[0])[1]
    return [[y for i in range(0, len(row), 16) for y in block(row[i:i + 16])] for row in W]
def quantise(W):
    n = len(W)
    padded = [list(column) + [0.0]*(-n % 16) for column in zip(*W)]
    return [list(row) for row in zip(*by_rows(padded))][:n]
