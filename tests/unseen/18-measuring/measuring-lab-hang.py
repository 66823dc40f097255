# %% right: a dict of calls, first those that differ, then who waits nowhere
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, dump in enumerate(dumps):
        for name, about in dump["pg_config"].items():
            members[name] = [int(x) for x in about["ranks"].strip("[]").split(",")]
        for e in dump["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    open_calls = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in open_calls:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            rare = min(kinds, key=kinds.get)
            for r, e in calls[k].items():
                if (e["profiling_name"], str(e["input_sizes"])) == rare:
                    return [r, *k]
    for k in open_calls:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
# %% right: the blamed rank first, then its call
import json
def hung(dumps):
    flat = [(e["process_group"][0], e["collective_seq_id"], r, e["profiling_name"], json.dumps(e["input_sizes"]),
             e["state"]) for r in range(len(dumps)) for e in dumps[r]["entries"]]
    pending = sorted({(g, n) for g, n, *_, state in flat if state != "completed"})
    for key in pending:
        there = [(name, size, r) for g, n, r, name, size, _ in flat if (g, n) == key]
        votes = {}
        for name, size, r in there:
            votes.setdefault((name, size), []).append(r)
        if len(votes) > 1:
            odd = min(votes.values(), key=len)
            return [odd[0], key[0], key[1]]
    idle = set(range(len(dumps))) - {r for _, _, r, _, _, state in flat if state != "completed"}
    for group, number in pending:
        ranks = next(json.loads(d["pg_config"][group]["ranks"]) for d in dumps if group in d["pg_config"])
        came = {r for g, n, r, *_ in flat if (g, n) == (group, number)}
        for r in ranks:
            if r in idle and r not in came:
                return [r, group, number]
# %% right: classes of equal calls, with itertools
import ast
from itertools import groupby
def hung(dumps):
    groups = {g: ast.literal_eval(c["ranks"]) for d in dumps for g, c in d["pg_config"].items()}
    rows = sorted(((e["process_group"][0], e["collective_seq_id"], r, (e["profiling_name"], repr(e["input_sizes"])),
                    e["state"]) for r, d in enumerate(dumps) for e in d["entries"]), key=lambda row: row[:3])
    calls = {key: list(rest) for key, rest in groupby(rows, key=lambda row: row[:2])}
    stuck = {key: rest for key, rest in calls.items() if not all(row[4] == "completed" for row in rest)}
    waiting = {row[2] for row in rows if row[4] != "completed"}
    for key, rest in stuck.items():
        odd = [row[2] for row in rest if sum(row[3] == other[3] for other in rest) == 1]
        if len(odd) == 1 < len(rest):
            return [odd[0], *key]
    for key, rest in stuck.items():
        here = [row[2] for row in rest]
        for r in groups[key[0]]:
            if r not in here and r not in waiting:
                return [r, *key]
# %% right: the one who has stopped first, the odd one after
import re
from collections import defaultdict
def hung(dumps):
    by = defaultdict(dict)
    for r, d in enumerate(dumps):
        for e in d["entries"]:
            by[e["process_group"][0], e["collective_seq_id"]][r] = e
    free = [r for r, d in enumerate(dumps) if all(e["state"] == "completed" for e in d["entries"])]
    for key in sorted(by):
        if free and any(e["state"] != "completed" for e in by[key].values()):
            text = next(iter(by[key].values()))
            ranks = set(map(int, re.findall(r"\d+", dumps[next(iter(by[key]))]["pg_config"][key[0]]["ranks"])))
            missing = ranks - set(by[key])
            if text and missing & set(free):
                return (min(missing & set(free)), *key)
    for key in sorted(by):
        kinds = defaultdict(list)
        for r, e in by[key].items():
            if e["state"] != "completed" or any(o["state"] != "completed" for o in by[key].values()):
                kinds[e["profiling_name"], tuple(map(tuple, e["input_sizes"]))].append(r)
        if len(kinds) == 2:
            return (min(kinds.values(), key=len)[0], *key)
# %% right: who is in the minority, numpy numbers back
import numpy as np
def hung(dumps):
    found = {}
    for r in range(len(dumps)):
        for e in dumps[r]["entries"]:
            key = (e["process_group"][0], e["collective_seq_id"])
            found.setdefault(key, []).append((r, (e["profiling_name"], e["input_sizes"]), e["state"]))
    not_done = {key: came for key, came in found.items() if {s for *_, s in came} != {"completed"}}
    for key, came in sorted(not_done.items()):
        for r, what, _ in came:
            same = sum(other == what for _, other, _ in came)
            if 2*same < len(came):
                return [np.int64(r), key[0], np.int64(key[1])]
    waits = {r for came in not_done.values() for r, _, s in came if s != "completed"}
    for key, came in sorted(not_done.items()):
        about = next(d["pg_config"][key[0]] for d in dumps if key[0] in d["pg_config"])
        for r in eval(about["ranks"]):
            if r not in waits and r not in [c[0] for c in came]:
                return [np.int64(r), key[0], np.int64(key[1])]
# %% wrong: whoever is missing from the first unfinished call, a victim too
import json
def hung(dumps):
    calls, members = {}, {}
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
    for key in sorted(calls):
        if any(e["state"] != "completed" for e in calls[key].values()):
            missing = [r for r in members[key[0]] if r not in calls[key]]
            if missing:
                return [missing[0], *key]
    return [0, *min(calls)]
# %% wrong: the rank that waits in the earliest call
def hung(dumps):
    waits = [(e["process_group"][0], e["collective_seq_id"], r) for r, d in enumerate(dumps) for e in d["entries"]
             if e["state"] == "started"]
    group, number, r = min(waits)
    return [r, group, number]
# %% wrong: the rank with the fewest entries
def hung(dumps):
    r = min(range(len(dumps)), key=lambda r: len(dumps[r]["entries"]))
    last = dumps[r]["entries"][-1]
    return [r, last["process_group"][0], last["collective_seq_id"]]
# %% wrong: the last call that the guilty one made, not the one that it has not made
def hung(dumps):
    for r, d in enumerate(dumps):
        if all(e["state"] == "completed" for e in d["entries"]):
            return [r, d["entries"][-1]["process_group"][0], d["entries"][-1]["collective_seq_id"]]
    calls = {}
    for r, d in enumerate(dumps):
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), []).append((str(e["input_sizes"]),
                             e["profiling_name"], r))
    for key in sorted(calls):
        kinds = [c[:2] for c in calls[key]]
        for *what, r in calls[key]:
            if 2*kinds.count(tuple(what)) < len(kinds):
                return [r, *key]
# %% wrong: sizes are not compared
import json
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    stuck = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in stuck:
        kinds = Counter(e["profiling_name"] for e in calls[k].values())
        if len(kinds) > 1:
            return [next(r for r, e in calls[k].items() if e["profiling_name"] == min(kinds, key=kinds.get)), *k]
    for k in stuck:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
    return [-1, *stuck[0]]
# %% wrong: the majority is blamed
import json
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    stuck = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in stuck:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            usual = kinds.most_common(1)[0][0]
            return [next(r for r, e in calls[k].items() if (e["profiling_name"], str(e["input_sizes"])) == usual), *k]
    for k in stuck:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
# %% wrong: the last of the missing calls instead of the first
import json
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    stuck = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in stuck:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            rare = min(kinds, key=kinds.get)
            return [next(r for r, e in calls[k].items() if (e["profiling_name"], str(e["input_sizes"])) == rare), *k]
    for k in reversed(stuck):
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
# %% wrong: the first missing call by number, whatever the group
import json
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    stuck = [k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values())]
    stuck.sort(key=lambda k: (k[1], k[0]))
    for k in stuck:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            rare = min(kinds, key=kinds.get)
            return [next(r for r, e in calls[k].items() if (e["profiling_name"], str(e["input_sizes"])) == rare), *k]
    for k in stuck:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
# %% wrong: a call that is only scheduled is no waiting, and no call
import json
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            if e["state"] != "scheduled":
                calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] == "started":
                waits.add(r)
    stuck = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in stuck:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            rare = min(kinds, key=kinds.get)
            return [next(r for r, e in calls[k].items() if (e["profiling_name"], str(e["input_sizes"])) == rare), *k]
    for k in stuck:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
    return [max(waits), *stuck[0]]
# %% wrong: finished calls are compared as well, the ring's edge looks like an absence
import json
def hung(dumps):
    calls, members = {}, {}
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
    waits = {r for r, d in enumerate(dumps) if any(e["state"] != "completed" for e in d["entries"])}
    for k in sorted(calls):
        kinds = [(e["profiling_name"], e["input_sizes"]) for e in calls[k].values()]
        for r, e in calls[k].items():
            if 2*kinds.count((e["profiling_name"], e["input_sizes"])) < len(kinds):
                return [r, *k]
        for r in members[k[0]]:
            if r not in calls[k]:
                return [r, *k]
    return [min(set(range(len(dumps))) - waits), *max(calls)]
# %% wrong: the rank, the number, then the group
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: [int(x) for x in c["ranks"][1:-1].split(",")] for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    stuck = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in stuck:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            rare = min(kinds, key=kinds.get)
            r = next(r for r, e in calls[k].items() if (e["profiling_name"], str(e["input_sizes"])) == rare)
            return [r, k[1], k[0]]
    for k in stuck:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, k[1], k[0]]
# %% wrong: with the library's analyser
def hung(dumps):
    from hwlib.traces import find_hang
    found = find_hang(dumps)
    return [found.ranks[0], found.group, found.number]
# %% wrong: only sizes are compared, another operation of the same size passes
import json
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, d in enumerate(dumps):
        members |= {g: json.loads(c["ranks"]) for g, c in d["pg_config"].items()}
        for e in d["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    stuck = sorted(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in stuck:
        kinds = Counter(str(e["input_sizes"]) for e in calls[k].values())
        if len(kinds) > 1:
            return [next(r for r, e in calls[k].items() if str(e["input_sizes"]) == min(kinds, key=kinds.get)), *k]
    for k in stuck:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
    return [-1, *stuck[0]]
# %% wrong: the first unfinished call that is met, rank by rank
from collections import Counter
def hung(dumps):
    calls, members, waits = {}, {}, set()
    for r, dump in enumerate(dumps):
        for name, about in dump["pg_config"].items():
            members[name] = [int(x) for x in about["ranks"].strip("[]").split(",")]
        for e in dump["entries"]:
            calls.setdefault((e["process_group"][0], e["collective_seq_id"]), {})[r] = e
            if e["state"] != "completed":
                waits.add(r)
    open_calls = list(k for k, by in calls.items() if any(e["state"] != "completed" for e in by.values()))
    for k in open_calls:
        kinds = Counter((e["profiling_name"], str(e["input_sizes"])) for e in calls[k].values())
        if len(kinds) > 1:
            rare = min(kinds, key=kinds.get)
            for r, e in calls[k].items():
                if (e["profiling_name"], str(e["input_sizes"])) == rare:
                    return [r, *k]
    for k in open_calls:
        for r in members[k[0]]:
            if r not in calls[k] and r not in waits:
                return [r, *k]
