# %% right: a dict of seconds, the largest item
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% right: levels written out for a group, all seconds in a list
def bound(machine, plan):
    from collections import defaultdict
    seconds = defaultdict(float)
    arithmetic = plan["flops"]/machine["flops"]
    seconds["math"] += arithmetic
    seconds["memory"] += plan["hbm_bytes"]/machine["hbm_bandwidth"]
    seconds["bubble"] += plan["bubble"]*arithmetic
    for axis, ranks, inner, S, calls in plan["collectives"]:
        if ranks*inner <= machine["domain"]:
            level = S*(1 - 1/ranks)/machine["scaleup_bandwidth"]
        elif inner >= machine["domain"]:
            level = S*(1 - 1/ranks)/machine["network_bandwidth"]
        else:
            near = machine["domain"]//inner
            foreign = S - near*S/ranks
            cards = machine["domain"]*machine["network_bandwidth"]
            level = max(inner*foreign/cards, (S - S/near)/machine["scaleup_bandwidth"])
        seconds[axis] += calls*level
    return list(max(seconds.items(), key=lambda item: item[1]))
# %% right: a tuple, numpy's argmax over the names
import numpy as np
def bound(machine, plan):
    names = ["math", "memory", "bubble", "tp", "dp"]
    t = np.zeros(5)
    t[0] = plan["flops"]/machine["flops"]
    t[1] = plan["hbm_bytes"]/machine["hbm_bandwidth"]
    t[2] = t[0]*plan["bubble"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = np.clip(machine["domain"]//inner, 1, ranks)
        slow = (ranks - near)/(ranks*near)*S/machine["network_bandwidth"]
        t[names.index(axis)] += calls*max(slow, (1 - 1/near)*S/machine["scaleup_bandwidth"])
    i = int(t.argmax())
    return names[i], float(t[i])
# %% right: Fractions throughout
from fractions import Fraction
def bound(machine, plan):
    m = {k: Fraction(v) for k, v in machine.items() if isinstance(v, (int, float))}
    math = Fraction(plan["flops"])/m["flops"]
    rows = [(math, "math"), (Fraction(plan["hbm_bytes"])/m["hbm_bandwidth"], "memory"),
            (math*Fraction(plan["bubble"]), "bubble")]
    for axis in sorted({row[0] for row in plan["collectives"]}):
        total = Fraction(0)
        for _, ranks, inner, S, calls in (row for row in plan["collectives"] if row[0] == axis):
            g = min(ranks, max(int(m["domain"])//inner, 1))
            a = Fraction(S)*(g - 1)/(g*m["scaleup_bandwidth"])
            b = Fraction(S)*(ranks - g)/(ranks*g*m["network_bandwidth"])
            total += Fraction(calls)*max(a, b)
        rows.append((total, axis))
    t, name = max(rows)
    return [name, float(t)]
# %% right: members of a domain counted by listing their chips
def bound(machine, plan):
    C, D, W = machine["flops"], machine["domain"], machine["network_bandwidth"]
    took = dict.fromkeys(("math", "memory", "bubble", "tp", "dp"), 0)
    took["math"] = plan["flops"]/C
    took["memory"] = plan["hbm_bytes"]/machine["hbm_bandwidth"]
    took["bubble"] = plan["bubble"]*plan["flops"]/C
    for axis, ranks, inner, S, calls in plan["collectives"]:
        chips = range(0, ranks*inner, inner)
        here = sum(1 for chip in chips if chip < max(D//inner, 1)*inner)
        a_chip = S/here*(here - 1)/machine["scaleup_bandwidth"]
        passing = S/ranks*(len(chips) - here)/(here*W)
        took[axis] += calls*(a_chip if a_chip > passing else passing)
    best = sorted(took.items(), key=lambda one: -one[1])[0]
    return [best[0], best[1]]
# %% wrong: levels one after the other, added
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*(inside + across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: inside, only the part of the array that began in the domain
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/ranks/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: inside, all of the array, however the domain is cut
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(ranks - 1)/ranks/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: each chip has its own card only
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: one group has the cards of the whole domain
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(machine["domain"]*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: groups of neighbours, spacing forgotten
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: the full array crosses, without what is there already
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = (ranks > near)*S/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: every piece enters for each chip of the domain
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - 1)/ranks*(ranks > near)/(machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: the bubble in seconds
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: calls of an axis do not add up, the last row counts
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: one call of each row
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: an all-reduce, twice the bytes
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + 2*calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: the seconds of all parts together
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, sum(t.values())]
# %% wrong: the part that takes the least
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = min(t, key=t.get)
    return [name, t[name]]
# %% wrong: S is a rank's shard
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        S = S*ranks
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: the math stretched by the bubble
def bound(machine, plan):
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["math"] *= 1 + plan["bubble"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        near = max(1, min(ranks, machine["domain"]//inner))
        inside = S*(near - 1)/near/machine["scaleup_bandwidth"]
        across = S*(ranks - near)/ranks/(near*machine["network_bandwidth"])
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: more groups pass a domain than it has chips
def bound(machine, plan):
    d, W_up, W_out = machine["domain"], machine["scaleup_bandwidth"], machine["network_bandwidth"]
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        m = max(1, min(ranks*inner, d)/inner)
        inside = S*(1 - 1/m)/W_up
        across = S*(1 - m/ranks)*inner/d/W_out
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
# %% wrong: less than one chip of a group in a domain
def bound(machine, plan):
    d, W_up, W_out = machine["domain"], machine["scaleup_bandwidth"], machine["network_bandwidth"]
    t = {"math": plan["flops"]/machine["flops"], "memory": plan["hbm_bytes"]/machine["hbm_bandwidth"]}
    t["bubble"] = plan["bubble"]*t["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        m = min(ranks*inner, d)/inner
        inside = S*(1 - 1/m)/W_up
        across = S*(1 - m/ranks)*min(inner, d)/d/W_out
        t[axis] = t.get(axis, 0) + calls*max(inside, across)
    name = max(t, key=t.get)
    return [name, t[name]]
