# %% right: sets and a counter
from collections import Counter
def slow_link(flights):
    crossed = Counter(link for _, links in flights for link in links)
    quick = {link for slowdown, links in flights if slowdown < 2 for link in links}
    return max((link for link in crossed if link not in quick), key=crossed.get)
# %% right: the least slowdown of each link
def slow_link(flights):
    least, times = {}, {}
    for slowdown, links in flights:
        for link in links:
            least[link] = min(slowdown, least.get(link, slowdown))
            times[link] = times.get(link, 0) + 1
    suspects = [link for link in least if least[link] >= 2]
    suspects.sort(key=lambda link: times[link])
    return suspects[-1]
# %% right: all slowdowns of each link, one pass, all()
from collections import defaultdict
def slow_link(flights):
    seen = defaultdict(list)
    for slowdown, links in flights:
        for link in links:
            seen[link].append(slowdown)
    return max(seen, key=lambda link: (all(s >= 2 for s in seen[link]), len(seen[link])))
# %% right: numpy matrix of crossings
import numpy as np
def slow_link(flights):
    names = sorted({link for _, links in flights for link in links}, key=str)
    place = {name: i for i, name in enumerate(names)}
    crossed = np.zeros((len(flights), len(names)), bool)
    for row, (_, links) in enumerate(flights):
        crossed[row, [place[link] for link in links]] = True
    fast = np.array([slowdown < 2 for slowdown, _ in flights])
    score = crossed.sum(0)
    score[crossed[fast].any(0)] = -1
    return names[int(score.argmax())]
# %% right: strikes out by recursion
def slow_link(flights, cleared=frozenset()):
    for slowdown, links in flights:
        if slowdown < 2 and not set(links) <= cleared:
            return slow_link(flights, cleared | set(links))
    left = [link for _, links in flights for link in links if link not in cleared]
    return max(set(left), key=left.count)
# %% right: a count that a quick transfer makes minus infinity
import math
def slow_link(flights):
    score = {}
    for slowdown, links in flights:
        for link in links:
            score[link] = score.get(link, 0) + (1 if slowdown >= 2 else -math.inf)
    return max(score, key=score.__getitem__)
# %% right: sorted pairs, grouped by itertools
from itertools import groupby
from operator import itemgetter
def slow_link(flights):
    pairs = sorted(((str(link), link, slowdown) for slowdown, links in flights for link in links),
                   key=itemgetter(0))
    best, most = None, 0
    for _, group in groupby(pairs, key=itemgetter(0)):
        group = list(group)
        if min(slowdown for *_, slowdown in group) >= 2 and len(group) > most:
            best, most = group[0][1], len(group)
    return best
# %% wrong: most slow transfers, quick ones or not
from collections import Counter
def slow_link(flights):
    return Counter(link for slowdown, links in flights if slowdown >= 2
                   for link in links).most_common(1)[0][0]
# %% wrong: the first link that nobody crossed quickly, however seldom
def slow_link(flights):
    quick = {link for slowdown, links in flights if slowdown < 2 for link in links}
    for slowdown, links in flights:
        for link in links:
            if link not in quick:
                return link
# %% wrong: the highest mean slowdown
from collections import defaultdict
def slow_link(flights):
    seen = defaultdict(list)
    for slowdown, links in flights:
        for link in links:
            seen[link].append(slowdown)
    return max(seen, key=lambda link: sum(seen[link])/len(seen[link]))
# %% wrong: more than half of the crossings slow, then the most of them
from collections import defaultdict
def slow_link(flights):
    seen = defaultdict(list)
    for slowdown, links in flights:
        for link in links:
            seen[link].append(slowdown >= 2)
    return max((link for link in seen if 2*sum(seen[link]) > len(seen[link])),
               key=lambda link: sum(seen[link]))
# %% wrong: crossed most often of all
from collections import Counter
def slow_link(flights):
    return Counter(link for _, links in flights for link in links).most_common(1)[0][0]
# %% wrong: the slowest transfer's first link
def slow_link(flights):
    return max(flights, key=lambda flight: flight[0])[1][0]
# %% wrong: the fewest crossings of the suspects
from collections import Counter
def slow_link(flights):
    crossed = Counter(link for _, links in flights for link in links)
    quick = {link for slowdown, links in flights if slowdown < 2 for link in links}
    return min((link for link in crossed if link not in quick), key=crossed.get)
# %% wrong: a transfer of just twice the time clears its links
from collections import Counter
def slow_link(flights):
    crossed = Counter(link for _, links in flights for link in links)
    quick = {link for slowdown, links in flights if slowdown <= 2 for link in links}
    return max((link for link in crossed if link not in quick), key=crossed.get)
# %% wrong: a link of all slow transfers
def slow_link(flights):
    common = set.intersection(*(set(links) for slowdown, links in flights if slowdown >= 2))
    return common.pop() if common else None
# %% wrong: prints the name
from collections import Counter
def slow_link(flights):
    crossed = Counter(link for _, links in flights for link in links)
    quick = {link for slowdown, links in flights if slowdown < 2 for link in links}
    print(max((link for link in crossed if link not in quick), key=crossed.get))
# %% wrong: returns all suspects
def slow_link(flights):
    quick = {link for slowdown, links in flights if slowdown < 2 for link in links}
    return {link for _, links in flights for link in links} - quick
# %% wrong: anything above one is slow
from collections import Counter
def slow_link(flights):
    crossed = Counter(link for _, links in flights for link in links)
    quick = {link for slowdown, links in flights if slowdown <= 1 for link in links}
    return max((link for link in crossed if link not in quick), key=crossed.get)
# %% wrong: name and count together
from collections import Counter
def slow_link(flights):
    crossed = Counter(link for _, links in flights for link in links)
    for slowdown, links in flights:
        if slowdown < 2:
            for link in links:
                crossed.pop(link, None)
    return crossed.most_common(1)[0]
# %% wrong: the highest share of slow transfers, the first of equals
from collections import defaultdict
def slow_link(flights):
    seen = defaultdict(list)
    for slowdown, links in flights:
        for link in links:
            seen[link].append(slowdown >= 2)
    return max(seen, key=lambda link: sum(seen[link])/len(seen[link]))
