# %% right: a loop over the letters
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% right: fractions, and the letter by index
from fractions import Fraction
def moved(before, after, S, n):
    share = Fraction(n - 1, n)
    if before == after or before == "":
        return Fraction(0)
    if before == "U":
        return S*share*(2 if after == "" else 1)
    return S*share if after == "" else S*share/n
def product(a, b, c, I, J, K, n):
    ways = {"I": ("I", "", "I"), "J": ("J", "J", "U"), "K": ("", "K", "K")}
    costs = [moved(a, x, 2*I*J, n) + moved(b, y, 2*J*K, n) + moved(z, c, 2*I*K, n) for x, y, z in ways.values()]
    best = min(costs)
    return "IJK"[costs.index(best)], float(best)
# %% right: case by case, without a table
def product(a, b, c, I, J, K, n):
    q = 2*(n - 1)/n
    gather = lambda letter, size: q*size if letter else 0
    rows = {"I": 0, "J": q*I*J/n, "": 0}[a] + gather(b, J*K) + {"I": 0, "K": q*I*K/n, "": q*I*K}[c]
    terms = (q*I*J/n if a == "I" else 0) + (q*J*K/n if b == "K" else 0) + q*I*K*(1 if c else 2)
    columns = gather(a, I*J) + {"K": 0, "J": q*J*K/n, "": 0}[b] + {"K": 0, "I": q*I*K/n, "": q*I*K}[c]
    best, letter = rows, "I"
    if terms < best*(1 - 1e-12):
        best, letter = terms, "J"
    if columns < best*(1 - 1e-12):
        best, letter = columns, "K"
    return [letter, best]
# %% right: numpy matrix of the three ways
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

import numpy as np
def product(a, b, c, I, J, K, n):
    table = np.array([
        [sent(a, "I", 2*I*J, n), sent(b, "", 2*J*K, n), sent("I", c, 2*I*K, n)],
        [sent(a, "J", 2*I*J, n), sent(b, "J", 2*J*K, n), sent("U", c, 2*I*K, n)],
        [sent(a, "", 2*I*J, n), sent(b, "K", 2*J*K, n), sent("K", c, 2*I*K, n)]], float)
    total = table.sum(axis=1)
    return "IJK"[int(total.argmin())], total.min()
# %% right: counted in elements of n devices, whole numbers
def product(a, b, c, I, J, K, n):
    """Everything times n*n/(n - 1)/2, so that nothing is rounded."""
    def units(before, after, size):
        if before == after or not before:
            return 0
        return size*{(True, True): 2*n, (True, False): n, (False, True): n, (False, False): 1}[before == "U", after == ""]
    ways = []
    for order, (m, x, y, z) in enumerate((("I", "I", "", "I"), ("J", "J", "J", "U"), ("K", "", "K", "K"))):
        ways.append((units(a, x, I*J) + units(b, y, J*K) + units(z, c, I*K), order, m))
    count, _, m = sorted(ways)[0]
    return m, 2*count*(n - 1)/n**2
# %% right: blocks that a device lacks, counted by sets
from fractions import Fraction
def product(a, b, c, I, J, K, n):
    def has(dims, letter):               # of device 0, as unit cells of an n by n grid
        return {(p, q) for p in range(n) for q in range(n)
                if letter == "" or (p if letter == dims[0] else q) == 0}
    def received(dims, before, after, elements):
        cell = Fraction(2*elements, n*n)
        return cell*len(has(dims, after) - has(dims, before))
    best = None
    for m in "I", "J", "K":
        bytes_ = received("IJ", a, m if m != "K" else "", I*J)
        bytes_ += received("JK", b, m if m != "I" else "", J*K)
        if m == "J":
            bytes_ += Fraction(2*I*K*(n - 1), n)*(2 if c == "" else 1)
        else:
            bytes_ += received("IK", m, c, I*K)
        if best is None or bytes_ < best[1]:
            best = m, bytes_
    return best[0], float(best[1])
# %% wrong: elements, not bytes
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", I*J, n)
        cost += sent(b, m if m in "JK" else "", J*K, n)
        cost += sent("U" if m == "J" else m, c, I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: the result's move forgotten
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: an open sum always ends in copies
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, "" if m == "J" else c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: the result of a split sum is split by J, not open
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent(m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: of equal ways the later letter
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(reversed(found), key=lambda way: way[1])
# %% wrong: an exchange priced as a gather
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    return S*(n - 1)/n*(2 if before == "U" and after == "" else 1)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: a scatter priced as an all-reduce
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if before == "U":
        return 2*S*(n - 1)/n
    return S*(n - 1)/n/(n if after else 1)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: to first order, without (n - 1)/n
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S
    return S/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: S is a device's part
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J/n, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K/n, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: a slice is not free
def sent(before, after, S, n):
    if before == after:
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: always gathers to multiply, sums only what is split alike
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        if m == "J" and not (a == b == "J"):
            continue
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: sums only where one array is split along the sum
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        if m == "J" and "J" not in (a, b):
            continue
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: bytes of all n devices
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    letter, cost = min(found, key=lambda way: way[1])
    return letter, n*cost
# %% wrong: also the way in which everybody multiplies everything
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    found.append(("", sent(a, "", 2*I*J, n) + sent(b, "", 2*J*K, n)))
    return min(found, key=lambda way: way[1])
# %% wrong: bytes before the letter
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])[::-1]
# %% wrong: the three sides mixed up
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*I*K, n)
        cost += sent("U" if m == "J" else m, c, 2*J*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: B is wanted split by I's place
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, "J" if m == "J" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return min(found, key=lambda way: way[1])
# %% wrong: the most bytes
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def product(a, b, c, I, J, K, n):
    found = []
    for m in "IJK":
        cost = sent(a, m if m in "IJ" else "", 2*I*J, n)
        cost += sent(b, m if m in "JK" else "", 2*J*K, n)
        cost += sent("U" if m == "J" else m, c, 2*I*K, n)
        found.append((m, cost))
    return max(found, key=lambda way: way[1])
