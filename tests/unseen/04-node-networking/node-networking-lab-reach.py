# %% right: a chain of conditions
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% right: one comprehension
def reachable(pairs, access, W_link, W_slot):
    return [(i, j, "nvlink", W_link*int(c[2:])) if c[:2] == "NV" else
            (i, j, "pcie", W_slot) if access[i][j] == "OK" else
            (i, j, "host", W_slot/(1 + (c in {"PIX", "PXB"})))
            for i, j, c in pairs]
# %% right: match
def reachable(pairs, access, W_link, W_slot):
    def way(code, may):
        match list(code), may:
            case ["N", "V", *digits], _:
                return "nvlink", int("".join(digits))*W_link
            case _, "OK":
                return "pcie", W_slot
            case ["P", "I" | "X", *_], _:
                return "host", 0.5*W_slot
        return "host", W_slot
    return [(i, j, *way(code, access[i][j])) for i, j, code in pairs]
# %% right: a table of shares for the letters
SHARE = {"PIX": 0.5, "PXB": 0.5, "PHB": 1, "NODE": 1, "SYS": 1}
def reachable(pairs, access, W_link, W_slot):
    out = []
    for i, j, code in pairs:
        links = re.fullmatch(r"NV(\d+)", code)
        way = "nvlink" if links else ("host", "pcie")[access[i][j] == "OK"]
        W = {"nvlink": lambda: int(links[1])*W_link,
             "pcie": lambda: W_slot,
             "host": lambda: SHARE[code]*W_slot}[way]()
        out.append([i, j, way, W])
    return out
# %% right: loads on each uplink are counted
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if "NV" in code:
            result.append((i, j, "nvlink", sum(W_link for _ in range(int(code.removeprefix("NV"))))))
            continue
        if access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
            continue
        uplink = (0, 0) if code in ("PIX", "PXB") else (0, 1)     # of i, of j
        ups = [uplink[0], uplink[1]]         # each GPU's copy goes up by its own
        busiest = max(ups.count(u) for u in ups)
        result.append((i, j, "host", W_slot/busiest))
    return result
# %% right: by recursion
def reachable(pairs, access, W_link, W_slot):
    if not pairs:
        return []
    (i, j, code), *rest = pairs
    if code[0:2] == "NV":
        first = (i, j, "nvlink", float(code[2:])*W_link)
    elif access[i][j].strip().upper() == "OK":
        first = (i, j, "pcie", float(W_slot))
    else:
        first = (i, j, "host", W_slot if code in "PHB NODE SYS".split() else W_slot/2)
    return [first] + reachable(rest, access, W_link, W_slot)
# %% right: a map over the pairs, and named tuples
from collections import namedtuple
Reach = namedtuple("Reach", "i j way bandwidth")
def reachable(pairs, access, W_link, W_slot):
    def one(pair):
        i, j, code = pair
        if code.startswith("NV"):
            return Reach(i, j, "nvlink", int(code[2:])*W_link)
        if access[i][j] == "OK":
            return Reach(i, j, "pcie", W_slot)
        return Reach(i, j, "host", W_slot/2 if code in ["PIX", "PXB"] else W_slot)
    return list(map(one, pairs))
# %% right: fractions
from fractions import Fraction
def reachable(pairs, access, W_link, W_slot):
    out = []
    for i, j, code in pairs:
        kind = "nvlink" if code.startswith("NV") else "pcie" if access[i][j] == "OK" else "host"
        W = Fraction(W_slot)
        if kind == "nvlink":
            W = Fraction(W_link)*int(code[2:])
        if kind == "host" and code.startswith(("PIX", "PXB")):
            W = W/2
        out.append((i, j, kind, W))
    return out
# %% wrong: NVLink only where the access is OK
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV") and access[i][j] == "OK":
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: the number of links is left out
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: reads the last digit of the number only
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[-1])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: reads the first digit of the number only
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: NVLink in both directions, halved
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link/2))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: both directions added
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", 2*int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", 2*W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: peers over PCIe share the slot with the copy back
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot/2))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: peers through one switch share as well
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot/2 if code in ("PIX", "PXB") else W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: the host halves every pair
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot/2))
    return result
# %% wrong: the host gives all of them a full slot
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: only one switch shares its uplink, not several
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code == "PIX":
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: only several switches share their uplink
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code == "PXB":
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: one host bridge shares, too
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB", "PHB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: all but SYS share
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code != "SYS":
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: shared and not, exchanged
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code not in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: a quarter, two copies of two crossings each
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/4))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: any entry of the access is taken for a yes
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j]:
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: a reason is taken for a yes, and OK for a no
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] != "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: looks access up by the number of the pair
def reachable(pairs, access, W_link, W_slot):
    result = []
    for n, (i, j, code) in enumerate(pairs):
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[n % len(access)][0] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: looks at the diagonal of the access
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][i] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: the access of the first row for all
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[0][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: access counts from the pair's first GPU on, as in a triangle
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j - i - 1] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: SYS never has peer access
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK" and code != "SYS":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: PIX and PXB are always peers
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK" or code in ("PIX", "PXB"):
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: access is asked first, and OK means PCIe
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: every code with an N is NVLink, NODE, too
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("N"):
            result.append((i, j, "nvlink", (int(code[2:]) if code[2:].isdigit() else 1)*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: NV18 is the only NVLink
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code == "NV18":
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: pairs that go through the host are left out
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
    return result
# %% wrong: without peer access nothing is reached, bandwidth 0
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", 0))
        else:
            result.append((i, j, "host", 0))
    return result
# %% wrong: the code instead of the way
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, code, int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, code, W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, code, W_slot/2))
        else:
            result.append((i, j, code, W_slot))
    return result
# %% wrong: ways in capitals
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "NVLink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "PCIe", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: without the bandwidth
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink"))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie"))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host"))
        else:
            result.append((i, j, "host"))
    return result
# %% wrong: sorted by bandwidth
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return sorted(result, key=lambda found: -found[3])
# %% wrong: a dict by pair
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return {(i, j): (way, W) for i, j, way, W in result}
# %% wrong: the way back as well
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return [entry for i, j, way, W in result for entry in ((i, j, way, W), (j, i, way, W))]
# %% wrong: NVLink never below the slot
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", max(int(code[2:])*W_link, W_slot)))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: the slot limits NVLink
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", min(int(code[2:])*W_link, W_slot)))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: half a link of NVLink where the uplink is shared
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_link/2))
        else:
            result.append((i, j, "host", W_slot))
    return result
# %% wrong: prints the list
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
    print(result)
# %% wrong: returns after the first pair
def reachable(pairs, access, W_link, W_slot):
    result = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            result.append((i, j, "nvlink", int(code[2:])*W_link))
        elif access[i][j] == "OK":
            result.append((i, j, "pcie", W_slot))
        elif code in ("PIX", "PXB"):
            result.append((i, j, "host", W_slot/2))
        else:
            result.append((i, j, "host", W_slot))
        return result
