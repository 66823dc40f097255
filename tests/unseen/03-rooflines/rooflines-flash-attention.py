# %% right: running maximum, sum and weighted sum
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% right: the accumulator is a running mean, divided in every block
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    r, h = tl.arange(0, R)[:, None], tl.arange(0, H)[None, :]
    q_ptr += i*R*H
    out_ptr += i*R*H
    k_ptr += i*T*H
    v_ptr += i*T*H
    q = tl.load(q_ptr + r*H + h)
    m = tl.full((R,), -1e30, tl.float32)
    l = tl.zeros((R,), tl.float32)
    o = tl.zeros((R, H), tl.float32)
    for b in range(tl.cdiv(T, BLOCK)):
        t = b*BLOCK + tl.arange(0, BLOCK)
        mask = t[:, None] < T
        k = tl.load(k_ptr + t[:, None]*H + h, mask=mask, other=0.0)
        s = tl.dot(q, tl.trans(k))*scale + tl.where(t[None, :] < T, 0.0, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        old = l*tl.exp(m - m_new)
        l_new = old + tl.sum(p, axis=1)
        v = tl.load(v_ptr + t[:, None]*H + h, mask=mask, other=0.0)
        o = o*(old/l_new)[:, None] + tl.dot(p/l_new[:, None], v)
        m, l = m_new, l_new
    tl.store(out_ptr + r*H + h, o)

# %% right: one running result, the logarithm of the sum of exponentials
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    mine = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + mine)
    lse = tl.full((R,), float("-inf"), tl.float32)
    o = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = tl.arange(0, BLOCK) + start
        inside = t < T
        k = tl.load(k_ptr + (i*T + t)[:, None]*H + h, mask=inside[:, None], other=0.0)
        s = tl.where(inside[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        top = tl.max(s, axis=1)
        here = top + tl.log(tl.sum(tl.exp(s - top[:, None]), axis=1))
        high = tl.maximum(lse, here)
        both = high + tl.log(tl.exp(lse - high) + tl.exp(here - high))
        v = tl.load(v_ptr + (i*T + t)[:, None]*H + h, mask=inside[:, None], other=0.0)
        o = o*tl.exp(lse - both)[:, None] + tl.dot(tl.exp(s - both[:, None]), v)
        lse = both
    tl.store(out_ptr + mine, o)

# %% right: scores stand the other way, keys down and queries across
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)
    r = i*R + tl.arange(0, R)
    q_across = tl.load(q_ptr + h[:, None] + r[None, :]*H)      # H x R, read transposed
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((H, R), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        mask = (t < T)[:, None]
        k = tl.load(k_ptr + (i*T + t)[:, None]*H + h[None, :], mask=mask, other=0.0)
        s = tl.where(mask, tl.dot(k, q_across)*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - new[None, :])
        fix = tl.exp(m - new)
        l = l*fix + tl.sum(p, axis=0)
        v = tl.load(v_ptr + (i*T + t)[:, None]*H + h[None, :], mask=mask, other=0.0)
        acc = acc*fix[None, :] + tl.dot(tl.trans(v), p)
        m = new
    tl.store(out_ptr + h[:, None] + r[None, :]*H, acc/l[None, :])

# %% right: from the last block to the first
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (head*R + tl.arange(0, R)[:, None])*H + h
    q = tl.load(q_ptr + rows)*scale
    m = tl.full((R, 1), float("-inf"), tl.float32)
    l = tl.zeros((R, 1), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for block in reversed(range((T + BLOCK - 1)//BLOCK)):
        t = block*BLOCK + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + head*T*H + t[:, None]*H + h, mask=t[:, None] < T, other=0.0)
        s = tl.where(t[None, :] < T, tl.dot(q, tl.trans(k)), -float("inf"))
        new = tl.maximum(m, tl.max(s, axis=1)[:, None])
        p = tl.exp(s - new)
        l = l*tl.exp(m - new) + tl.sum(p, axis=1)[:, None]
        v = tl.load(v_ptr + head*T*H + t[:, None]*H + h, mask=t[:, None] < T, other=0.0)
        acc = acc*tl.exp(m - new) + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l)

# %% right: blocks of half as many keys
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    size = BLOCK//2 if BLOCK > 1 else 1
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    start = 0
    while start < T:
        t = start + tl.arange(0, size)
        mask = (t < T)[:, None]
        s = tl.dot(q, tl.trans(tl.load(k_ptr + (i*T + t)[:, None]*H + h, mask=mask, other=0.0)))*scale
        s = tl.where((t < T)[None, :], s, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        s = tl.exp(s - new[:, None])
        l = l*tl.exp(m - new) + tl.sum(s, axis=1)
        acc = acc*tl.exp(m - new)[:, None] + tl.dot(s, tl.load(v_ptr + (i*T + t)[:, None]*H + h, mask=mask, other=0.0))
        m = new
        start += size
    tl.store(out_ptr + rows, acc/l[:, None])

# %% right: the weights of missing keys are put to zero, not their scores
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        t_or_last = tl.minimum(t, T - 1)    # a missing key is the last one again, and only its weight says so
        at = (i*T + t_or_last)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k))*scale
        new = tl.maximum(m, tl.max(tl.where((t < T)[None, :], s, -1e38), axis=1))
        p = tl.where((t < T)[None, :], tl.exp(tl.minimum(s - new[:, None], 0.0)), 0.0)
        fix = tl.exp(m - new)
        l = l*fix + tl.sum(p, axis=1)
        acc = acc*fix[:, None] + tl.dot(p, tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0))
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% right: full blocks without a mask, the rest with one, by a helper
from hwlib import tl


def step(state, q, k, v, inside, scale):
    m, l, acc = state
    s = tl.dot(q, tl.trans(k))*scale
    if inside is not None:
        s = tl.where(inside[None, :], s, float("-inf"))
    new = tl.maximum(m, tl.max(s, axis=1))
    p, fix = tl.exp(s - new[:, None]), tl.exp(m - new)
    return new, l*fix + tl.sum(p, axis=1), acc*fix[:, None] + tl.dot(p, v)


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h, t = tl.arange(0, H)[None, :], tl.arange(0, BLOCK)
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    state = tl.full((R,), float("-inf"), tl.float32), tl.zeros((R,), tl.float32), tl.zeros((R, H), tl.float32)
    whole = T//BLOCK*BLOCK
    for start in range(0, whole, BLOCK):
        at = (i*T + start + t)[:, None]*H + h
        state = step(state, q, tl.load(k_ptr + at), tl.load(v_ptr + at), None, scale)
    if whole < T:
        inside = whole + t < T
        at = (i*T + whole + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=inside[:, None], other=0.0)
        state = step(state, q, k, v, inside, scale)
    m, l, acc = state
    tl.store(out_ptr + rows, acc/l[:, None])

# %% right: the sum of the weights is a product with ones
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R, 1), float("-inf"), tl.float32)
    l = tl.zeros((R, 1), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        inside = (t < T)[:, None]
        k = tl.load(k_ptr + (i*T + t)[:, None]*H + h, mask=inside, other=0.0)
        s = tl.where(tl.trans(inside), tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1)[:, None])
        p = tl.exp(s - new)
        v = tl.load(v_ptr + (i*T + t)[:, None]*H + h, mask=inside, other=0.0)
        acc = acc*tl.exp(m - new) + tl.dot(p, v)
        l = l*tl.exp(m - new) + tl.dot(p, tl.full((BLOCK, 1), 1.0, tl.float32))
        m = new
    tl.store(out_ptr + rows, acc/l)

# %% wrong: no maximum is taken off
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        p = tl.where((t < T)[None, :], tl.exp(tl.dot(q, tl.trans(k))*scale), 0.0)
        l = l + tl.sum(p, axis=1)
        acc = acc + tl.dot(p, tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0))
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: two passes, the maximum and the sum first: keys are read twice
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)

    def scores(start):
        t = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + (i*T + t)[:, None]*H + h, mask=(t < T)[:, None], other=0.0)
        return tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))

    m = tl.full((R,), float("-inf"), tl.float32)
    for start in range(0, T, BLOCK):
        m = tl.maximum(m, tl.max(scores(start), axis=1))
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        p = tl.exp(scores(start) - m[:, None])
        l = l + tl.sum(p, axis=1)
        acc = acc + tl.dot(p, tl.load(v_ptr + (i*T + t)[:, None]*H + h, mask=(t < T)[:, None], other=0.0))
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: all keys at once, in a block of the next power of two: too large for the chip
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    size = 1
    while size < T:
        size *= 2
    t, h = tl.arange(0, size), tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    at = (i*T + t)[:, None]*H + h
    q = tl.load(q_ptr + rows)
    k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
    s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
    p = tl.exp(s - tl.max(s, axis=1)[:, None])
    v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
    tl.store(out_ptr + rows, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])

# %% wrong: keeps all scores in a list until the maximum is known
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    kept, m = [], tl.full((R,), float("-inf"), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at, mask = (i*T + t)[:, None]*H + h, (t < T)[:, None]
        k = tl.load(k_ptr + at, mask=mask, other=0.0)
        v = tl.load(v_ptr + at, mask=mask, other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        m = tl.maximum(m, tl.max(s, axis=1))
        kept.append((s, v))
    l, acc = tl.zeros((R,), tl.float32), tl.zeros((R, H), tl.float32)
    for s, v in kept:
        p = tl.exp(s - m[:, None])
        l = l + tl.sum(p, axis=1)
        acc = acc + tl.dot(p, v)
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: no product, a tile of rows, keys and columns: too large for the chip
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.sum(q[:, None, :]*k[None, :, :], axis=2)*scale
        s = tl.where((t < T)[None, :], s, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        p, fix = tl.exp(s - new[:, None]), tl.exp(m - new)
        l = l*fix + tl.sum(p, axis=1)
        acc = acc*fix[:, None] + tl.sum(p[:, :, None]*v[None, :, :], axis=1)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: each row of queries passes through the keys by itself: too many bytes
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)
    for r in range(R):
        row = (i*R + r)*H + h
        q = tl.load(q_ptr + row)
        m, l, acc = float("-inf"), 0.0, tl.zeros((H,), tl.float32)
        for start in range(0, T, BLOCK):
            t = start + tl.arange(0, BLOCK)
            at = (i*T + t)[:, None]*H + h[None, :]
            k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
            s = tl.where(t < T, tl.sum(k*q[None, :], axis=1)*scale, float("-inf"))
            new = tl.maximum(m, tl.max(s, axis=0))
            p, fix = tl.exp(s - new), tl.exp(m - new)
            l = l*fix + tl.sum(p, axis=0)
            v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
            acc = acc*fix + tl.sum(p[:, None]*v, axis=0)
            m = new
        tl.store(out_ptr + row, acc/l)

# %% wrong: the weighted sum is not put right when a larger score comes
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: the sum of the weights is not put right
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: the correction is the wrong way round
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), -1e3, tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(new - m)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: never divides by the sum
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc)

# %% wrong: each block is a softmax of its own, and they are added
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.max(s, axis=1)
        p = tl.exp(s - new[:, None])
        l = tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)/l[:, None]
    tl.store(out_ptr + rows, acc)

# %% wrong: each block is a softmax of its own, and their mean is taken
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.max(s, axis=1)
        p = tl.exp(s - new[:, None])
        l = tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)/l[:, None]
    tl.store(out_ptr + rows, acc/tl.cdiv(T, BLOCK))

# %% wrong: weighs by the maximum of before this block
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), 0.0, tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - m[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: forgets to keep the new maximum
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: missing keys count with a score of zero
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k))*scale
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: no mask on keys and values
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: no mask on the values
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: only whole blocks of keys
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T//BLOCK*BLOCK, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: the last block is moved back so that it fits, and counts some keys twice
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = min(start, T - BLOCK) + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: the keys of head 0 for all heads
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = t[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: heads of keys lie R rows apart
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*R + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: heads of keys lie a whole number of blocks apart
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*tl.cdiv(T, BLOCK)*BLOCK + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: queries are all of the first head
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + tl.arange(0, R)[:, None]*H + h)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: keys are read by columns, H x T instead of T x H
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + i*T*H + t[:, None] + h*T, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: without the scale
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: scales after the maximum is taken off
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])*scale
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: scales the weights' exponent, not that of the correction
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp((s - new[:, None])*scale)
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: scales queries and scores
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)*scale
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: divides by the root of H as well
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale/H**0.5, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: a causal mask
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :] & (t[None, :] <= tl.arange(0, R)[:, None]), tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: softmax over the queries
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=0))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=0)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: softmax over the queries of a block, in full
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        s = tl.dot(q, tl.trans(k))*scale
        p = tl.exp(s - tl.max(s, axis=0)[None, :])
        p = p/tl.sum(p, axis=0)[None, :]
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)
    tl.store(out_ptr + rows, acc)

# %% wrong: one maximum for all rows of a block
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(tl.max(s, axis=1), axis=0))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: scores clipped to what an exponential can take
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        p = tl.exp(tl.minimum(s, 80.0))
        l = l + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: the scores' mean is taken off, not their maximum
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        if start == 0:
            m = tl.sum(tl.where((t < T)[None, :], s, 0.0), axis=1)/min(T, BLOCK)
        p = tl.exp(s - m[:, None])
        l = l + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: takes the first block's maximum for all
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        if start == 0:
            m = tl.max(s, axis=1)
        p = tl.exp(s - m[:, None])
        l = l + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc + tl.dot(p, v)
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: loads the queries again for each block: too many bytes
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        q = tl.load(q_ptr + rows)
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: stores what it has after each block: too many bytes
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
        tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: values are the keys
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: the sum takes part in nothing but the last block
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: divides the sum of exponentials into the maximum
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/m[:, None])

# %% wrong: no exponential of the correction
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), 1e-30, tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = m/new
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + rows, acc/l[:, None])

# %% wrong: all programs store to the first head
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    rows = (i*R + tl.arange(0, R))[:, None]*H + h
    q = tl.load(q_ptr + rows)
    m = tl.full((R,), float("-inf"), tl.float32)
    l = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (i*T + t)[:, None]*H + h
        k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
        s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fix = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l*fix + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
        acc = acc*fix[:, None] + tl.dot(p, v)
        m = new
    tl.store(out_ptr + tl.arange(0, R)[:, None]*H + h, acc/l[:, None])

# %% wrong: each program does all heads
from hwlib import tl


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    for i in range(tl.num_programs(0)):
        h = tl.arange(0, H)[None, :]
        rows = (i*R + tl.arange(0, R))[:, None]*H + h
        q = tl.load(q_ptr + rows)
        m = tl.full((R,), float("-inf"), tl.float32)
        l = tl.zeros((R,), tl.float32)
        acc = tl.zeros((R, H), tl.float32)
        for start in range(0, T, BLOCK):
            t = start + tl.arange(0, BLOCK)
            at = (i*T + t)[:, None]*H + h
            k = tl.load(k_ptr + at, mask=(t < T)[:, None], other=0.0)
            s = tl.where((t < T)[None, :], tl.dot(q, tl.trans(k))*scale, float("-inf"))
            new = tl.maximum(m, tl.max(s, axis=1))
            fix = tl.exp(m - new)
            p = tl.exp(s - new[:, None])
            l = l*fix + tl.sum(p, axis=1)
            v = tl.load(v_ptr + at, mask=(t < T)[:, None], other=0.0)
            acc = acc*fix[:, None] + tl.dot(p, v)
            m = new
        tl.store(out_ptr + rows, acc/l[:, None])
