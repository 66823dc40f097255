# %% right: one tile for each token, one mask
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% right: page by page, a softmax that runs along
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    seq, head = tl.program_id(0), tl.program_id(1)
    length = tl.load(length_ptr + seq)
    slot, h, g = tl.arange(0, PAGE), tl.arange(0, H), tl.arange(0, G)
    rows = ((seq*KV + head)*G + g)[:, None]*H + h[None, :]
    q = tl.load(q_ptr + rows)*scale
    best = tl.full((G,), float("-inf"), tl.float32)
    total = tl.zeros((G,), tl.float32)
    acc = tl.zeros((G, H), tl.float32)
    for i in range(MOST):
        page = tl.load(table_ptr + seq*MOST + i, mask=i*PAGE < length)
        live = i*PAGE + slot < length
        at = (page*PAGE + slot)[:, None]*KV*H + head*H + h[None, :]
        k = tl.load(k_ptr + at, mask=live[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=live[:, None], other=0.0)
        s = tl.where(live[None, :], tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(best, tl.max(s, axis=1))
        fade = tl.exp(best - new)
        p = tl.exp(s - new[:, None])
        total = total*fade + tl.sum(p, axis=1)
        acc = tl.dot(p, v, acc*fade[:, None])
        best = new
    tl.store(out_ptr + rows, acc/total[:, None])
# %% right: query by query, products and sums
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live, other=0)
    at = page[:, None]*(PAGE*KV*H) + (t % PAGE)[:, None]*(KV*H) + (j*H + h)[None, :]
    keys = tl.load(k_ptr + at, mask=live[:, None], other=0.0).to(tl.float32)
    values = tl.load(v_ptr + at, mask=live[:, None], other=0.0).to(tl.float32)
    for g in range(G):
        row = ((s*KV + j)*G + g)*H + h
        q = tl.load(q_ptr + row).to(tl.float32)
        score = scale*tl.sum(keys*q[None, :], axis=1)
        top = tl.max(tl.where(live, score, -1e38), axis=0)
        p = tl.where(live, tl.exp(tl.minimum(score - top, 0.0)), 0.0)
        tl.store(out_ptr + row, tl.sum(p[:, None]*values, axis=0)/tl.sum(p, axis=0))
# %% right: keys as columns, everything turned
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    j, s = tl.program_id(1), tl.program_id(0)
    h, g, t = tl.arange(0, H), tl.arange(0, G), tl.arange(0, PAGE*MOST)
    mask = t < tl.load(length_ptr + s)
    slots = tl.load(table_ptr + (s*MOST + t//PAGE), mask=mask)*PAGE + t % PAGE
    column = h[:, None] + j*H + slots[None, :]*H*KV
    k = tl.load(k_ptr + column, mask=mask[None, :])
    v = tl.load(v_ptr + column, mask=mask[None, :])
    mine = h[:, None] + (g*H)[None, :] + s*KV*G*H + j*G*H
    q = tl.load(q_ptr + mine)
    scores = tl.where(mask[:, None], tl.dot(k.T, q)*scale, -3e38)
    weights = tl.exp(scores - tl.max(scores, axis=0)[None, :])
    weights = weights/tl.sum(weights, axis=0)[None, :]
    tl.store(out_ptr + mine, tl.dot(v, weights))
# %% right: one entry of the table for a page, tiles of three axes
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    n = tl.load(length_ptr + s)
    i, slot, h = tl.arange(0, MOST), tl.arange(0, PAGE), tl.arange(0, H)
    page = tl.load(table_ptr + s*MOST + i, mask=i*PAGE < n)
    live = i[:, None]*PAGE + slot[None, :] < n
    at = (page[:, None]*PAGE + slot[None, :])[:, :, None]*(KV*H) + j*H + h[None, None, :]
    k = tl.load(k_ptr + at, mask=live[:, :, None])
    v = tl.load(v_ptr + at, mask=live[:, :, None])
    for g in range(G):
        row = ((s*KV + j)*G + g)*H + h
        q = tl.load(q_ptr + row)
        x = tl.where(live, tl.sum(k*q[None, None, :], axis=2)*scale, float("-inf"))
        p = tl.exp(x - tl.max(x))
        o = tl.sum(tl.sum(p[:, :, None]*v, axis=0), axis=0)
        tl.store(out_ptr + row, o/tl.sum(p))
# %% right: all scores of all pages first, then the values
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    n, slot, h = tl.load(length_ptr + s), tl.arange(0, PAGE), tl.arange(0, H)
    own = (s*KV + j)*G*H + tl.arange(0, G)[:, None]*H + h[None, :]
    q = tl.load(q_ptr + own)
    places, scores = [], []
    for i in range(MOST):
        live = slot < n - i*PAGE
        page = tl.load(table_ptr + s*MOST + i, mask=n > i*PAGE)
        at = ((page*PAGE + slot)*KV + j)[:, None]*H + h[None, :]
        x = tl.dot(q, tl.load(k_ptr + at, mask=live[:, None]).T)*scale
        places.append((at, live))
        scores.append(tl.where(live[None, :], x, float("-inf")))
    top = tl.max(scores[0], axis=1)
    for x in scores[1:]:
        top = tl.maximum(top, tl.max(x, axis=1))
    num, den = tl.zeros((G, H), tl.float32), tl.zeros((G,), tl.float32)
    for x, (at, live) in zip(scores, places):
        p = tl.exp(x - top[:, None])
        den += tl.sum(p, axis=1)
        num += tl.dot(p, tl.load(v_ptr + at, mask=live[:, None]))
    tl.store(out_ptr + own, num/den[:, None])
# %% right: weights by a logarithm of the sum, from the last page on
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t = MOST*PAGE - 1 - tl.arange(0, MOST*PAGE)
    h = tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    which = t//PAGE
    page = tl.load(table_ptr + s*MOST + which, mask=live)
    row = page*PAGE + (t - which*PAGE)
    at = row[:, None]*KV*H + (j*H + h)[None, :]
    own = ((s*KV + j)*G + tl.arange(0, G)[:, None])*H + h[None, :]
    q = tl.load(q_ptr + own).to(tl.float32)
    x = tl.dot(scale*q, tl.trans(tl.load(k_ptr + at, mask=live[:, None])).to(tl.float32))
    x = tl.where(live[None, :], x, float("-inf"))
    top = tl.max(x, axis=1)
    lse = top + tl.log(tl.sum(tl.exp(x - top[:, None]), axis=1))
    v = tl.load(v_ptr + at, mask=live[:, None])
    tl.store(out_ptr + own, tl.dot(tl.exp(x - lse[:, None]), v))
# %% right: page by page, length and queries read again for each
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    slot, h = tl.arange(0, PAGE), tl.arange(0, H)
    own = (s*KV + j)*G*H + tl.arange(0, G)[:, None]*H + h[None, :]
    top = tl.full((G,), -3e38, tl.float32)
    num, den = tl.zeros((G, H), tl.float32), tl.zeros((G,), tl.float32)
    for i in range(MOST):
        live = i*PAGE + slot < tl.load(length_ptr + s)
        page = tl.max(tl.load(table_ptr + s*MOST + i + 0*slot, mask=live, other=0))
        at = ((page*PAGE + slot)*KV + j)[:, None]*H + h[None, :]
        x = scale*tl.dot(tl.load(q_ptr + own), tl.load(k_ptr + at, mask=live[:, None]).T)
        x = tl.where(live[None, :], x, float("-inf"))
        up = tl.maximum(top, tl.max(x, axis=1))
        p = tl.exp(x - up[:, None])
        den = den*tl.exp(top - up) + tl.sum(p, axis=1)
        num = num*tl.exp(top - up)[:, None] + tl.dot(p, tl.load(v_ptr + at, mask=live[:, None]))
        top = up
    tl.store(out_ptr + own, num/den[:, None])
# %% right: the length read once for keys and once for values
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    seen = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=seen[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: table ignored, pages one after the other
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = s*MOST + t//PAGE
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: no maximum taken off the scores
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores)
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: slots behind the last token loaded, and masked in the scores only
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    held = t//PAGE*PAGE < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=held)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=held[:, None])
    v = tl.load(v_ptr + at, mask=held[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: scores of empty slots are zero and take part
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: scores are not scaled
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: divided by the root of the width, and scaled
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale/H**0.5*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: query heads laid out with the group outside
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*G + tl.arange(0, G))*KV + j)[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: a page with its heads outside its slots
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*KV + j)*PAGE + t % PAGE)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: axes of the grid exchanged
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(1), tl.program_id(0)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: table turned, a column for each sequence
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + t//PAGE*tl.num_programs(0) + s, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: the whole row of the table read for every token, masked later
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: neighbouring tokens on different pages
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t % MOST, mask=live)
    at = (((page*PAGE + t//MOST)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: one token too many
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t <= tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: the newest token left out
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s) - 1
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: never divided by the sum
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v))
# %% wrong: softmax over the queries
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=0)[None, :])
    tl.store(out_ptr + own, tl.dot(p/tl.sum(p, axis=0)[None, :], v))
# %% wrong: full pages only
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)//PAGE*PAGE
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: length modulo the page, so a full last page is dropped
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    n = tl.load(length_ptr + s)
    last = (n - 1)//PAGE
    live = (t//PAGE < last) | ((t//PAGE < last + 1) & (t % PAGE < n % PAGE))
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
# %% wrong: keys and values loaded again for each query
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    for g in range(G):
        k = tl.load(k_ptr + at, mask=live[:, None])
        v = tl.load(v_ptr + at, mask=live[:, None])
        own = ((s*KV + j)*G + g)*H + h
        scores = scale*tl.sum(k*tl.load(q_ptr + own)[None, :], axis=1)
        scores = tl.where(live, scores, float("-inf"))
        p = tl.exp(scores - tl.max(scores))
        tl.store(out_ptr + own, tl.sum(p[:, None]*v, axis=0)/tl.sum(p))
# %% wrong: page by page, what was summed is not scaled anew
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    seq, head = tl.program_id(0), tl.program_id(1)
    length = tl.load(length_ptr + seq)
    slot, h, g = tl.arange(0, PAGE), tl.arange(0, H), tl.arange(0, G)
    rows = ((seq*KV + head)*G + g)[:, None]*H + h[None, :]
    q = tl.load(q_ptr + rows)*scale
    best = tl.full((G,), float("-inf"), tl.float32)
    total = tl.zeros((G,), tl.float32)
    acc = tl.zeros((G, H), tl.float32)
    for i in range(MOST):
        page = tl.load(table_ptr + seq*MOST + i, mask=i*PAGE < length)
        live = i*PAGE + slot < length
        at = (page*PAGE + slot)[:, None]*KV*H + head*H + h[None, :]
        k = tl.load(k_ptr + at, mask=live[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=live[:, None], other=0.0)
        s = tl.where(live[None, :], tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(best, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        total = total + tl.sum(p, axis=1)
        acc = tl.dot(p, v, acc)
        best = new
    tl.store(out_ptr + rows, acc/total[:, None])
# %% wrong: page by page, each page's own softmax, and their mean
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    seq, head = tl.program_id(0), tl.program_id(1)
    length = tl.load(length_ptr + seq)
    slot, h, g = tl.arange(0, PAGE), tl.arange(0, H), tl.arange(0, G)
    rows = ((seq*KV + head)*G + g)[:, None]*H + h[None, :]
    q = tl.load(q_ptr + rows)*scale
    total = tl.zeros((G,), tl.float32)
    acc = tl.zeros((G, H), tl.float32)
    for i in range(MOST):
        page = tl.load(table_ptr + seq*MOST + i, mask=i*PAGE < length)
        live = i*PAGE + slot < length
        at = (page*PAGE + slot)[:, None]*KV*H + head*H + h[None, :]
        k = tl.load(k_ptr + at, mask=live[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=live[:, None], other=0.0)
        s = tl.where(live[None, :], tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(tl.max(s, axis=1), -1e30)
        p = tl.exp(s - new[:, None])
        p = p/tl.maximum(tl.sum(p, axis=1), 1e-30)[:, None]
        total = total + tl.sum(p, axis=1)
        acc = tl.dot(p, v, acc)
    tl.store(out_ptr + rows, acc/total[:, None])
# %% wrong: keys read twice, once for the maximum
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    n, slot, h = tl.load(length_ptr + s), tl.arange(0, PAGE), tl.arange(0, H)
    own = (s*KV + j)*G*H + tl.arange(0, G)[:, None]*H + h[None, :]
    q = tl.load(q_ptr + own)
    top = tl.full((G,), float("-inf"), tl.float32)
    places = []
    for i in range(MOST):
        live = slot < n - i*PAGE
        page = tl.load(table_ptr + s*MOST + i, mask=n > i*PAGE)
        at = ((page*PAGE + slot)*KV + j)[:, None]*H + h[None, :]
        x = tl.dot(q, tl.load(k_ptr + at, mask=live[:, None]).T)*scale
        top = tl.maximum(top, tl.max(tl.where(live[None, :], x, float("-inf")), axis=1))
        places.append((at, live))
    num, den = tl.zeros((G, H), tl.float32), tl.zeros((G,), tl.float32)
    for at, live in places:
        x = tl.dot(q, tl.load(k_ptr + at, mask=live[:, None]).T)*scale
        p = tl.exp(tl.where(live[None, :], x, float("-inf")) - top[:, None])
        den += tl.sum(p, axis=1)
        num += tl.dot(p, tl.load(v_ptr + at, mask=live[:, None]))
    tl.store(out_ptr + own, num/den[:, None])
# %% wrong: clipped scores instead of a maximum
def paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr,
          H: tl.constexpr, PAGE: tl.constexpr):
    s, j = tl.program_id(0), tl.program_id(1)
    t, h = tl.arange(0, MOST*PAGE), tl.arange(0, H)
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s*MOST + t//PAGE, mask=live)
    at = (((page*PAGE + t % PAGE)*KV + j)*H)[:, None] + h[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None])
    v = tl.load(v_ptr + at, mask=live[:, None])
    own = ((s*KV + j)*G + tl.arange(0, G))[:, None]*H + h[None, :]
    scores = scale*tl.dot(tl.load(q_ptr + own), k.T)
    scores = tl.where(live[None, :], scores, float("-inf"))
    p = tl.exp(tl.minimum(scores, 80.0))
    tl.store(out_ptr + own, tl.dot(p, v)/tl.sum(p, axis=1)[:, None])
