# %% right: an ordered dict for each replica
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        best = None
        for r in range(replicas):
            if work[r] > min(work) + slack:
                continue
            known = 0
            while known < len(prompt) and prompt[known] in caches[r]:
                known += 1
            if best is None or (-known, work[r], r) < best:
                best = -known, work[r], r
        known, r = -best[0], best[2]
        hits, work[r] = hits + known, work[r] + len(prompt) - known
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% right: the whole history, and its last different pages
from itertools import takewhile
def route(requests, replicas, pages, slack):
    history, work, total = [[] for _ in range(replicas)], [0]*replicas, 0
    held = lambda r: list(dict.fromkeys(reversed(history[r])))[:pages]
    for prompt in requests:
        caches = [set(held(r)) for r in range(replicas)]
        length = [sum(1 for _ in takewhile(cache.__contains__, prompt)) for cache in caches]
        allowed = [r for r in range(replicas) if work[r] - min(work) <= slack]
        r = min(allowed, key=lambda r: (-length[r], work[r]))
        total += length[r]
        work[r] += len(prompt) - length[r]
        history[r] += prompt
    return [total, work]
# %% right: times of the last use, and three sieves with numpy
import numpy as np
def route(requests, replicas, pages, slack):
    last, work = [{} for _ in range(replicas)], np.zeros(replicas, dtype=int)
    clock = found = 0
    for prompt in requests:
        known = np.array([np.cumprod([page in one for page in prompt] + [False]).sum() for one in last])
        may = work <= work.min() + slack
        may &= known == known[may].max()
        may &= work == work[may].min()
        r = int(np.flatnonzero(may)[0])
        found += known[r]
        work[r] += len(prompt) - known[r]
        for clock, page in enumerate(prompt, clock + 1):
            last[r][page] = clock
        last[r] = dict(sorted(last[r].items(), key=lambda item: item[1])[max(0, len(last[r]) - pages):])
    return int(found), work.tolist()
# %% right: lists, sorted twice, the second sort stable
def route(requests, replicas, pages, slack):
    lru, work, found = [[] for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        def beginning(r):
            return next((i for i, page in enumerate(prompt) if page not in lru[r]), len(prompt))
        order = sorted(range(replicas), key=work.__getitem__)
        order = [r for r in order if work[r] <= work[order[0]] + slack]
        r = sorted(order, key=beginning, reverse=True)[0]
        there = beginning(r)
        found, work[r] = found + there, work[r] + len(prompt[there:])
        lru[r] = [page for page in lru[r] if page not in prompt] + list(prompt)
        del lru[r][:max(0, len(lru[r]) - pages)]
    return found, work
# %% right: a class, pages dropped one by one as others come in
class Replica:
    def __init__(self, number, pages):
        self.number, self.pages, self.work, self.cache = number, pages, 0, {}
    def beginning(self, prompt):
        for count, page in enumerate(prompt):
            if page not in self.cache:
                return count
        return len(prompt)
    def read(self, prompt):
        known = self.beginning(prompt)
        self.work += len(prompt) - known
        for page in prompt:
            self.cache.pop(page, None)
            self.cache[page] = None
            if len(self.cache) > self.pages:
                del self.cache[next(iter(self.cache))]
        return known
def route(requests, replicas, pages, slack):
    fleet, found = [Replica(r, pages) for r in range(replicas)], 0
    for prompt in requests:
        least = min(one.work for one in fleet)
        one = max((one for one in fleet if one.work <= least + slack),
                  key=lambda one: (one.beginning(prompt), -one.work, -one.number))
        found += one.read(prompt)
    return found, [one.work for one in fleet]
# %% right: one beginning more at a time, by bisection of what is held
from bisect import bisect_left
def route(requests, replicas, pages, slack):
    age, work, missing, asked = [[] for _ in range(replicas)], [0.0]*replicas, 0, 0
    for prompt in requests:
        def gap(r):
            return bisect_left(range(len(prompt)), 1, key=lambda i: int(not set(prompt[:i + 1]) <= set(age[r])))
        floor = min(work)
        r = max((r for r in range(replicas) if work[r] <= floor + slack), key=lambda r: (gap(r), -work[r], -r))
        cost = len(prompt) - gap(r)
        asked, missing, work[r] = asked + len(prompt), missing + cost, work[r] + cost
        for page in prompt:
            if page in age[r]:
                age[r].remove(page)
            age[r].append(page)
        while len(age[r]) > pages:
            age[r].pop(0)
    return asked - missing, work
# %% wrong: all pages that are held, not only a beginning
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [sum(page in cache for page in prompt) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: the longest beginning, whatever the work
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max(range(replicas), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: the longest beginning if it is in the slack, else the least work
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max(range(replicas), key=lambda r: (known[r], -work[r], -r))
        if work[r] > min(work) + slack:
            r = work.index(min(work))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: first in, first out, a use does not refresh
def route(requests, replicas, pages, slack):
    caches, work, hits = [[] for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        caches[r] += [page for page in prompt if page not in caches[r]]
        while len(caches[r]) > pages:
            caches[r].pop(0)
    return hits, work
# %% wrong: the end of a prompt is used first, its beginning last
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in reversed(prompt):
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: of equal ones the lowest number, whatever its work
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: known[r])
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: of equal ones the highest number
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: the whole prompt is work, found or not
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt)
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: pages are held without end
def route(requests, replicas, pages, slack):
    caches, work, hits = [set() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        caches[r].update(prompt)
    return hits, work
# %% wrong: less than the slack, a replica just at it may not
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        least = min(work)
        r = max((r for r in range(replicas) if work[r] < least + slack or work[r] == least),
                key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: only what was computed is used, what was found is not refreshed
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt[known[r]:]:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: requests with a hit are counted, not pages
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + (known[r] > 0), work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits, work
# %% wrong: the share that was found
from collections import OrderedDict
def route(requests, replicas, pages, slack):
    caches, work, hits = [OrderedDict() for _ in range(replicas)], [0]*replicas, 0
    for prompt in requests:
        known = [next((i for i, page in enumerate(prompt) if page not in cache), len(prompt)) for cache in caches]
        r = max((r for r in range(replicas) if work[r] <= min(work) + slack), key=lambda r: (known[r], -work[r], -r))
        hits, work[r] = hits + known[r], work[r] + len(prompt) - known[r]
        for page in prompt:
            caches[r][page] = True
            caches[r].move_to_end(page)
        while len(caches[r]) > pages:
            caches[r].popitem(last=False)
    return hits/sum(map(len, requests)), work
