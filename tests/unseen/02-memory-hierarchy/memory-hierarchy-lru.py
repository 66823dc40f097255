# %% right: a dictionary in the order of use
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        if key in cache:
            dirty = cache.pop(key)
        else:
            bytes_in += line
            dirty = False
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = dirty or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% right: OrderedDict
from collections import OrderedDict
def lru(trace, lines, line):
    cache, fetched, stored = OrderedDict(), 0, 0
    for address, write in trace:
        key = address//line
        if key not in cache:
            if len(cache) >= lines:
                _, dirty = cache.popitem(last=False)
                stored += bool(dirty)
            cache[key] = False
            fetched += 1
        cache.move_to_end(key)
        cache[key] |= bool(write)
    stored += sum(map(bool, cache.values()))
    return fetched*line, stored*line
# %% right: time stamps, the smallest leaves
def lru(trace, lines, line):
    last, dirty, moved_in, moved_out = {}, set(), 0, 0
    for now, (address, write) in enumerate(trace):
        key = address//line
        if key not in last:
            if len(last) == lines:
                oldest = min(last, key=last.get)
                del last[oldest]
                if oldest in dirty:
                    dirty.remove(oldest)
                    moved_out += line
            moved_in += line
        last[key] = now
        if write:
            dirty.add(key)
    return [moved_in, moved_out + line*len(dirty)]
# %% right: a plain list, newest at the end
def lru(trace, lines, line):
    stack, written = [], {}
    n_in = n_out = 0
    for address, write in trace:
        key = int(address)//int(line)
        if key in stack:
            stack.remove(key)
        else:
            n_in += 1
            if len(stack) == lines:
                old = stack.pop(0)
                n_out += written.pop(old)
            written[key] = 0
        stack.append(key)
        if write:
            written[key] = 1
    n_out += sum(written[key] for key in stack)
    return n_in*line, n_out*line
# %% right: a class with linked calls
class Cache:
    def __init__(self, lines, line):
        self.lines, self.line = lines, line
        self.kept, self.read, self.wrote = {}, 0, 0
    def leave(self, key):
        if self.kept.pop(key):
            self.wrote += self.line
    def touch(self, address, write):
        key = address//self.line
        was = self.kept.get(key)
        if was is None:
            self.read += self.line
            if len(self.kept) == self.lines:
                self.leave(next(iter(self.kept)))
        else:
            del self.kept[key]
        self.kept[key] = bool(was) or bool(write)
def lru(trace, lines, line):
    cache = Cache(lines, line)
    for access in trace:
        cache.touch(*access)
    for key in list(cache.kept):
        cache.leave(key)
    return cache.read, cache.wrote
# %% right: numpy tags, ages and flags
import numpy as np
def lru(trace, lines, line):
    tags = np.full(lines, -1, dtype=np.int64)
    used = np.full(lines, -1, dtype=np.int64)
    dirty = np.zeros(lines, dtype=bool)
    fetched = stored = 0
    for now, (address, write) in enumerate(trace):
        tag = address//line
        at = np.flatnonzero(tags == tag)
        if at.size:
            slot = at[0]
        else:
            slot = used.argmin()
            stored += int(dirty[slot])
            fetched += 1
            tags[slot], dirty[slot] = tag, False
        used[slot] = now
        dirty[slot] |= bool(write)
    return int(fetched*line), int((stored + dirty.sum())*line)
# %% wrong: first in, first out
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        if key not in cache:
            bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
            cache[key] = False
        cache[key] = cache[key] or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: what is still in at the end is not written back
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return bytes_in, bytes_out
# %% wrong: a write fetches nothing
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            if not write:
                bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: every write goes to memory at once
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        if key in cache:
            cache.pop(key)
        else:
            bytes_in += line
            if len(cache) == lines:
                cache.pop(next(iter(cache)))
        cache[key] = True
        bytes_out += line*write
    return bytes_in, bytes_out
# %% wrong: clean lines are written back as well
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        if key in cache:
            cache.pop(key)
        else:
            bytes_in += line
            if len(cache) == lines:
                cache.pop(next(iter(cache)))
                bytes_out += line
        cache[key] = write
    return bytes_in, bytes_out + line*len(cache)
# %% wrong: a later read makes the line clean
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        if key in cache:
            cache.pop(key)
        else:
            bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: counts lines instead of bytes
def lru(trace, lines, line):
    cache, n_in, n_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            n_in += 1
            if len(cache) == lines:
                n_out += cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return n_in, n_out + sum(cache.values())
# %% wrong: the address is the key, so lines are a byte wide
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for key, write in trace:
        dirty = cache.pop(key, None)
        if dirty is None:
            bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: the line used last makes room
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.popitem()[1]
        cache[key] = bool(dirty) or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: one line too many
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            bytes_in += line
            if len(cache) > lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: makes room before it looks, so a full cache loses a line on a hit
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        if len(cache) == lines:
            bytes_out += line*cache.pop(next(iter(cache)))
        dirty = cache.pop(key, None)
        if dirty is None:
            bytes_in += line
        cache[key] = bool(dirty) or write
    return bytes_in, bytes_out + line*sum(cache.values())
# %% wrong: a line that comes back is still dirty from before
def lru(trace, lines, line):
    order, dirty, bytes_in, bytes_out = [], set(), 0, 0
    for address, write in trace:
        key = address//line
        if key in order:
            order.remove(key)
        else:
            bytes_in += line
            if len(order) == lines:
                bytes_out += line*(order.pop(0) in dirty)
        order.append(key)
        if write:
            dirty.add(key)
    return bytes_in, bytes_out + line*len(dirty & set(order))
# %% wrong: the pair turned round
def lru(trace, lines, line):
    cache, bytes_in, bytes_out = {}, 0, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            bytes_in += line
            if len(cache) == lines:
                bytes_out += line*cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return bytes_out + line*sum(cache.values()), bytes_in
# %% wrong: one sum for both ways
def lru(trace, lines, line):
    cache, moved = {}, 0
    for address, write in trace:
        key = address//line
        dirty = cache.pop(key, None)
        if dirty is None:
            moved += line
            if len(cache) == lines:
                moved += line*cache.pop(next(iter(cache)))
        cache[key] = bool(dirty) or write
    return moved + line*sum(cache.values())
