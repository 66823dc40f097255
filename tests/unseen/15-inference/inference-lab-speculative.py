# %% right: keeps while it may, then what is missing
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i] < min(1, p[i][x]/q[i][x]):
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[len(drafts)]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% right: numpy, a search in running sums
import numpy as np
def speculate(p, q, drafts, u):
    p, q = np.array(p, float), np.array(q, float)
    places = np.arange(len(drafts))
    kept = 0
    if len(drafts):
        keep = np.asarray(u[:-1])*q[places, drafts] < p[places, drafts]
        kept = int(np.cumprod(keep).sum())
    last = p[kept] if kept == len(drafts) else np.clip(p[kept] - q[kept], 0, None)
    sums = np.cumsum(last/last.sum())
    return [*drafts[:kept], np.searchsorted(sums, u[-1], side="right")]
# %% right: one draft, and the rest by itself
def speculate(p, q, drafts, u):
    if not drafts:
        left = p[0]
    elif u[0]*q[0][drafts[0]] < p[0][drafts[0]]:
        return [drafts[0]] + speculate(p[1:], q[1:], drafts[1:], u[1:])
    else:
        left = [a - min(a, b) for a, b in zip(p[0], q[0])]
    r = u[-1]*sum(left)
    for x, w in enumerate(left):
        r -= w
        if r < 0:
            break
    return [x]
# %% right: exact fractions
from fractions import Fraction
def speculate(p, q, drafts, u):
    F = Fraction
    n = 0
    while n < len(drafts):
        token = drafts[n]
        if F(u[n])*F(q[n][token]) >= F(p[n][token]):
            break
        n += 1
    if n == len(drafts):
        dist = [F(v) for v in p[n]]
    else:
        dist = [max(F(0), F(a) - F(b)) for a, b in zip(p[n], q[n])]
    whole = sum(dist)
    acc = F(0)
    for token, v in enumerate(dist):
        acc += v/whole
        if acc > F(u[-1]):
            return list(drafts[:n]) + [token]
# %% right: bisect on accumulated sums, zeros stand for a draft behind the last
from bisect import bisect_right
from itertools import accumulate
def speculate(p, q, drafts, u):
    q = list(q) + [[0.0]*len(p[-1])]
    k = next((i for i, x in enumerate(drafts) if u[i] >= p[i][x]/q[i][x]), len(drafts))
    sums = list(accumulate(max(0.0, a - b) for a, b in zip(p[k], q[k])))
    return list(drafts[:k]) + [bisect_right(sums, u[-1]*sums[-1])]
# %% right: torch, normalised with what was refused
import torch
def speculate(p, q, drafts, u):
    big = torch.tensor(p, dtype=torch.float64)
    got = []
    for i, x in enumerate(drafts):
        small = torch.tensor(q[i], dtype=torch.float64)
        if not u[i] < torch.clamp(big[i, x]/small[x], max=1):
            rest = torch.relu(big[i] - small)
            chances = rest/(1 - torch.minimum(big[i], small).sum())
            break
        got += [int(x)]
    else:
        chances = big[-1]
    beyond = (chances.cumsum(0) > u[-1]).nonzero()
    return got + [int(beyond[0])]
# %% right: a tuple, takewhile
from itertools import takewhile
def speculate(p, q, drafts, u):
    kept = tuple(x for _, x in takewhile(
        lambda j: j[1] is not None and u[j[0]]*q[j[0]][j[1]] < p[j[0]][j[1]], enumerate(drafts)))
    at = len(kept)
    rest = p[at] if at == len(drafts) else [(a - b)*(a > b) for a, b in zip(p[at], q[at])]
    limit = u[len(drafts)]*sum(rest)
    tokens = [t for t in range(len(rest)) if sum(rest[:t + 1]) > limit]
    return kept + (tokens[0],)
# %% wrong: after a refusal, a token of the large model as it is
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            break
    rest, running = p[len(out)], 0
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]:
            return out + [token]
    return out + [token]
# %% wrong: the refused token is struck out of the large model's distribution
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [0 if t == x else a for t, a in enumerate(p[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: differences by their size, both signs
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [abs(a - b) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: what is missing is not normalised
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running = 0
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]:
            return out + [token]
    return out + [token]
# %% wrong: what the small model has too much of
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(b - a, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: no token of the large model when all are kept
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
            continue
        rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
        running, total = 0, sum(rest)
        for token, weight in enumerate(rest):
            running += weight
            if running > u[-1]*total:
                return out + [token]
    return out
# %% wrong: a round ends with a refusal, without a token of its own
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] >= p[i][x]:
            return out
        out.append(x)
    running = 0
    for token, weight in enumerate(p[-1]):
        running += weight
        if running > u[-1]:
            return out + [token]
    return out + [token]
# %% wrong: goes on with later drafts after a refusal
def speculate(p, q, drafts, u):
    out, rest = [], p[-1]
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        elif rest is p[-1]:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: the ratio upside down
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*p[i][x] < q[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: keeps with the large model's own probability
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: greedy, keeps only what the large model finds most likely
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        best = max(range(len(p[i])), key=lambda t: p[i][t])
        if x != best:
            return out + [best]
        out.append(x)
    return out + [max(range(len(p[-1])), key=lambda t: p[-1][t])]
# %% wrong: the next place's distribution after a refusal
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] >= p[i][x]:
            break
        out.append(x)
    rest = p[min(len(out) + 1, len(p) - 1)]
    running = 0
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]:
            return out + [token]
    return out + [token]
# %% wrong: the number that refused is used again to sample
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[len(out)]*total:
            return out + [token]
    return out + [token]
# %% wrong: ratios of all drafts so far multiplied
def speculate(p, q, drafts, u):
    out, ratio = [], 1
    for i, x in enumerate(drafts):
        ratio *= min(1, p[i][x]/q[i][x])
        if u[i] < ratio:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    if not any(rest):
        rest = p[len(out)]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: the most likely of what is missing, not sampled
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    return out + [rest.index(max(rest))]
# %% wrong: a sum that reaches u is enough, so u = 0 gives a token without probability
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running >= u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: also keeps where u is equal, a token that the large model never gives
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] <= p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: all or nothing, one refusal drops every draft
def speculate(p, q, drafts, u):
    keep = all(u[i]*q[i][x] < p[i][x] for i, x in enumerate(drafts))
    rest = p[-1] if keep else [max(a - b, 0) for a, b in zip(p[0], q[0])]
    if not any(rest):
        rest = p[0]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return (list(drafts) if keep else []) + [token]
    return [token]
# %% wrong: what is missing also after the last draft
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = [max(a - b, 0) for a, b in zip(p[-1], q[-1])] if drafts else p[0]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: the token before the one at which the sum exceeds u
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [max(token - 1, 0)]
    return out + [max(token - 1, 0)]
# %% wrong: keeps with p/(p + q)
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*(p[i][x] + q[i][x]) < p[i][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
# %% wrong: the large model's distribution one place on
def speculate(p, q, drafts, u):
    out = []
    for i, x in enumerate(drafts):
        if u[i]*q[i][x] < p[i + 1][x]:
            out.append(x)
        else:
            rest = [max(a - b, 0) for a, b in zip(p[i], q[i])]
            break
    else:
        rest = p[-1]
    running, total = 0, sum(rest)
    for token, weight in enumerate(rest):
        running += weight
        if running > u[-1]*total:
            return out + [token]
    return out + [token]
