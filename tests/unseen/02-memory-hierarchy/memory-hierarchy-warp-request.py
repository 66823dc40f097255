# %% right: sets, and words counted by bank
from collections import Counter

def request(addresses):
    sectors = {address//32 for address in addresses}
    words = {address//4 for address in addresses}
    return len(sectors), max(Counter(word % 32 for word in words).values())
# %% right: an array of cycles, one word after the other
def request(addresses):
    cycles = [0]*32
    for word in set(addresses):
        cycles[word//4 % 32] += 1
    return len({a >> 5 for a in addresses}), max(cycles)
# %% right: sorted, then grouped by bank
from itertools import groupby

def request(addresses):
    def bank(address):
        return address % 128
    distinct = sorted(set(addresses), key=bank)
    cycles = max(len(list(words)) for _, words in groupby(distinct, bank))
    return len(list(groupby(sorted(a//32 for a in addresses)))), cycles
# %% right: numpy
import numpy as np

def request(addresses):
    words = np.unique(np.asarray(addresses)//4)
    return len(np.unique(words//8)), int(np.bincount(words % 32).max())
# %% right: plays the cycles of the banks
def request(addresses):
    waiting, cycles = set(addresses), 0
    while waiting:
        given_ = {}
        for address in waiting:
            given_.setdefault(address//4 % 32, address)
        waiting -= set(given_.values())
        cycles += 1
    sectors = []
    for address in addresses:
        if address - address % 32 not in sectors:
            sectors.append(address - address % 32)
    return len(sectors), cycles
# %% right: rows of shared memory for each bank
from collections import defaultdict

def request(addresses):
    rows = defaultdict(set)
    for a in addresses:
        row, within = divmod(a, 128)
        rows[within//4].add(row)
    return [sum(1 for _ in {a//32: None for a in addresses}), len(max(rows.values(), key=len))]
# %% right: recursion, one word from each bank at a time
def request(addresses):
    def cycles(words):
        if not words:
            return 0
        first = {word % 32: word for word in words}
        return 1 + cycles(words.difference(first.values()))
    return len(set(map(lambda a: a//32, addresses))), cycles(frozenset(a//4 for a in addresses))
# %% right: pandas-like table of 32 columns as bits
def request(addresses):
    words = {int(a)//4 for a in addresses}
    cycles = max(sum((word ^ bank) & 31 == 0 for word in words) for bank in range(32))
    return sum(1 for s in {w//8 for w in words}), cycles
# %% right: a lambda, with bits that are shifted
request = lambda addresses: (
    len({a >> 5 for a in addresses}),
    max(len({a >> 7 for a in addresses if a >> 2 & 31 == bank}) for bank in range(32)))
# %% right: leaves out threads that are None, should there be any
def request(addresses):
    words = {a//4 for a in addresses if a is not None}
    in_bank = [[w for w in words if w % 32 == bank] for bank in range(32)]
    return len({w//8 for w in words}), len(max(in_bank, key=len))
# %% right: slices of a sorted list, and the most frequent remainder
from statistics import mode

def request(addresses):
    words = sorted({a//4 for a in addresses})
    bank = mode(w % 32 for w in words)
    new = [here//8 != before//8 for before, here in zip(words, words[1:])]
    return 1 + sum(new), sum(w % 32 == bank for w in words)
# %% wrong: threads of a bank are counted, even those that want one word
from collections import Counter

def request(addresses):
    banks = Counter(a//4 % 32 for a in addresses)
    return len({a//32 for a in addresses}), max(banks.values())
# %% wrong: a broadcast only if all threads want one word
from collections import Counter

def request(addresses):
    sectors = len({a//32 for a in addresses})
    if len(set(addresses)) == 1:
        return sectors, 1
    return sectors, max(Counter(a//4 % 32 for a in addresses).values())
# %% wrong: the sectors from the first to the last address
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return max(addresses)//32 - min(addresses)//32 + 1, max(banks.values())
# %% wrong: bytes over 32, rounded up, as if all were neighbours from a border on
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return ceil(4*len(set(addresses))/32), max(banks.values())
# %% wrong: banks by the address, not by the word
from collections import Counter

def request(addresses):
    banks = Counter(a % 32 for a in set(addresses))
    return len({a//32 for a in addresses}), max(banks.values())
# %% wrong: lines of 128 bytes
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return len({a//128 for a in addresses}), max(banks.values())
# %% wrong: the conflicts instead of the cycles
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return len({a//32 for a in addresses}), max(banks.values()) - 1
# %% wrong: all conflicts added up
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return len({a//32 for a in addresses}), 1 + sum(n - 1 for n in banks.values())
# %% wrong: cycles first
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return max(banks.values()), len({a//32 for a in addresses})
# %% wrong: words over banks, as if they were spread evenly
def request(addresses):
    words = {a//4 for a in addresses}
    return len({w//8 for w in words}), ceil(len(words)/32)
# %% wrong: threads over the banks that are in use
def request(addresses):
    words = {a//4 for a in addresses}
    return len({w//8 for w in words}), ceil(len(words)/len({w % 32 for w in words}))
# %% wrong: only neighbouring threads share a sector
from collections import Counter
from itertools import groupby

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return len(list(groupby(a//32 for a in addresses))), max(banks.values())
# %% wrong: only neighbouring threads share a word
from collections import Counter
from itertools import groupby

def request(addresses):
    words = [word for word, _ in groupby(a//4 for a in addresses)]
    return len({a//32 for a in addresses}), max(Counter(w % 32 for w in words).values())
# %% wrong: 16 banks, as on old chips
from collections import Counter

def request(addresses):
    banks = Counter(word % 16 for word in {a//4 for a in addresses})
    return len({a//32 for a in addresses}), max(banks.values())
# %% wrong: two halves of a warp, one after the other
from collections import Counter

def request(addresses):
    cycles = 0
    for half in addresses[:16], addresses[16:]:
        if half:
            cycles += max(Counter(w % 32 for w in {a//4 for a in half}).values())
    return len({a//32 for a in addresses}), cycles
# %% wrong: banks are blocks of memory, the words are dealt out in runs of 32
from collections import Counter

def request(addresses):
    banks = Counter(word//32 % 32 for word in {a//4 for a in addresses})
    return len({a//32 for a in addresses}), max(banks.values())
# %% wrong: a bank for each byte of 32, word aligned, so eight banks
from collections import Counter

def request(addresses):
    banks = Counter(word % 8 for word in {a//4 for a in addresses})
    return len({a//32 for a in addresses}), max(banks.values())
# %% wrong: counts the sectors of each thread
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return len(addresses), max(banks.values())
# %% wrong: only the two worst threads conflict, at most two cycles
def request(addresses):
    words = {a//4 for a in addresses}
    return len({w//8 for w in words}), 1 if len({w % 32 for w in words}) == len(words) else 2
# %% wrong: sectors begin at the first address
from collections import Counter

def request(addresses):
    first = min(addresses)
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return len({(a - first)//32 for a in addresses}), max(banks.values())
# %% wrong: bytes instead of sectors
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    return 32*len({a//32 for a in addresses}), max(banks.values())
# %% wrong: prints both
from collections import Counter

def request(addresses):
    banks = Counter(word % 32 for word in {a//4 for a in addresses})
    print(len({a//32 for a in addresses}), max(banks.values()))
# %% wrong: the bank that most threads want is taken for the one with most words
from collections import Counter

def request(addresses):
    bank, _ = Counter(a//4 % 32 for a in addresses).most_common(1)[0]
    words = {a//4 for a in addresses}
    return len({a//32 for a in addresses}), sum(word % 32 == bank for word in words)
# %% wrong: only one word a request is given to many, the one that most threads want
from collections import Counter

def request(addresses):
    words = [a//4 for a in addresses]
    shared, times = Counter(words).most_common(1)[0]
    banks = Counter(word % 32 for word in words)
    banks[shared % 32] -= times - 1
    return len({a//32 for a in addresses}), max(banks.values())
# %% wrong: a cycle for each row of 128 bytes
def request(addresses):
    return len({a//32 for a in addresses}), len({a//128 for a in addresses})
# %% wrong: the words of the first thread's bank
def request(addresses):
    words = {a//4 for a in addresses}
    first = addresses[0]//4 % 32
    return len({a//32 for a in addresses}), sum(word % 32 == first for word in words)
# %% wrong: the stride of the first two threads decides
from math import gcd

def request(addresses):
    sectors = len({a//32 for a in addresses})
    stride = abs(addresses[1] - addresses[0])//4 if len(addresses) > 1 else 0
    return sectors, 1 if stride == 0 else min(len(addresses), gcd(stride, 32))
# %% wrong: a cycle for each sector
def request(addresses):
    sectors = len({a//32 for a in addresses})
    return sectors, sectors
# %% wrong: conflicts are of 2, 4, 8 ... ways
from collections import Counter

def request(addresses):
    words = Counter(word % 32 for word in {a//4 for a in addresses})
    ways = 1
    while ways < max(words.values()):
        ways *= 2
    return len({a//32 for a in addresses}), ways
