# %% right: product with letters renamed
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

def backward(a, b, c, I, J, K, n):
    def named(placement, **names):
        return names.get(placement, "")
    dA = product(named(c, I="I", K="J"), named(b, K="J", J="K"), named(a, I="I", J="K"), I, K, J, n)
    dB = product(named(a, J="I", I="J"), named(c, I="J", K="K"), named(b, J="I", K="K"), J, I, K, n)
    return dA[1] + dB[1]
# %% right: translate tables
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

def backward(a, b, c, I, J, K, n):
    first, second = str.maketrans("IKJ", "IJK"), str.maketrans("JIK", "IJK")
    one = product(*(p.translate(first) for p in (c, b, a)), I, K, J, n)
    two = product(*(p.translate(second) for p in (a, c, b)), J, I, K, n)
    return one[1] + two[1]
# %% right: both products spelled out with sent
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% right: a general einsum of two arrays
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    size = dict(I=I, J=J, K=K)
    def least(left, l, right, r, result, o):
        ways = []
        for m in "IJK":
            put = lambda dims: m if m in dims else ""
            ways.append(sent(l, put(left), 2*size[left[0]]*size[left[1]], n)
                        + sent(r, put(right), 2*size[right[0]]*size[right[1]], n)
                        + sent(put(result) or "U", o, 2*size[result[0]]*size[result[1]], n))
        return min(ways)
    return least("IK", c, "KJ", b, "IJ", a) + least("JI", a, "IK", c, "JK", b)
# %% right: fractions and its own prices
from fractions import Fraction
from itertools import product as all_of
def backward(a, b, c, I, J, K, n):
    def price(before, after, S):
        if before == after or not before:
            return Fraction(0)
        whole = Fraction(2*S*(n - 1), n)
        return whole*(2 if after == "" else 1) if before == "U" else whole/(1 if after == "" else n)
    total = {}
    for m, (name, x, X, y, Y, out, want, Z) in all_of("IJK", (
            ("dA", c, "IK", b, "JK", "IJ", a, I*J), ("dB", a, "IJ", c, "IK", "JK", b, J*K))):
        sizes = {"IJ": I*J, "JK": J*K, "IK": I*K}
        cost = price(x, m if m in X else "", sizes[X]) + price(y, m if m in Y else "", sizes[Y])
        cost += price(m if m in out else "U", want, Z)
        total[name] = min(cost, total.get(name, cost))
    return float(sum(total.values()))
# %% right: the transposed product for the second gradient
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

def backward(a, b, c, I, J, K, n):
    # dB' = dC' A has the dimensions K, I, J: K for I, I for J, J for K
    def at(p, names):
        return "" if not p else "IJK"[names.index(p)]
    dA = product(at(c, "IKJ"), at(b, "IKJ"), at(a, "IKJ"), I, K, J, n)[1]
    dB = product(at(c, "KIJ"), at(a, "KIJ"), at(b, "KIJ"), K, I, J, n)[1]
    return dA + dB
# %% wrong: twice the forward's bytes
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

def backward(a, b, c, I, J, K, n):
    return 2*product(a, b, c, I, J, K, n)[1]
# %% wrong: letters not renamed
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

def backward(a, b, c, I, J, K, n):
    dA = product(c if c != "K" else "J", b, a, I, K, J, n)[1]
    dB = product(a, c, b, J, I, K, n)[1]
    return dA + dB
# %% wrong: sizes not exchanged
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

def backward(a, b, c, I, J, K, n):
    first, second = str.maketrans("IKJ", "IJK"), str.maketrans("JIK", "IJK")
    one = product(*(p.translate(first) for p in (c, b, a)), I, J, K, n)
    two = product(*(p.translate(second) for p in (a, c, b)), I, J, K, n)
    return one[1] + two[1]
# %% wrong: the gradient of A alone
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA
# %% wrong: the gradient of B alone
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dB
# %% wrong: the dearer of the two
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return max(dA, dB)
# %% wrong: gradients left as open sums
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + 0,
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + 0,
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: gradients wanted whole
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", "", A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", "", A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", "", A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", "", B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", "", B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", "", B, n))
    return dA + dB
# %% wrong: both summed over J as forward
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("K", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("U", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("U", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("I", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: dC taken as an open sum
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c or "U", "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c or "U", "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c or "U", "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c or "U", "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c or "U", "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c or "U", "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: the same split for both gradients
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = (sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = (sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return min(x + y for x, y in zip((dA[0], dA[1], dA[2]), (dB[1], dB[2], dB[0])))
# %% wrong: B gathered once for both passes
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + 0 + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: elements, not bytes
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = I*J, J*K, I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: without (n - 1)/n
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S
    return S/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: gradients in fp32
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 4*I*J, 4*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    return dA + dB
# %% wrong: the forward's bytes added
def sent(before, after, S, n):
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1)*S*(n - 1)/n
    return S*(n - 1)/n/(1 if before == "U" else n)

def backward(a, b, c, I, J, K, n):
    A, B, C = 2*I*J, 2*J*K, 2*I*K
    dA = min(sent(c, "I", C, n) + sent(b, "", B, n) + sent("I", a, A, n),
             sent(c, "K", C, n) + sent(b, "K", B, n) + sent("U", a, A, n),
             sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n))
    dB = min(sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
             sent(a, "I", A, n) + sent(c, "I", C, n) + sent("U", b, B, n),
             sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n))
    C_ = min(sent(a, "I", A, n) + sent(b, "", B, n) + sent("I", c, C, n),
             sent(a, "J", A, n) + sent(b, "J", B, n) + sent("U", c, C, n),
             sent(a, "", A, n) + sent(b, "K", B, n) + sent("K", c, C, n))
    return dA + dB + C_
