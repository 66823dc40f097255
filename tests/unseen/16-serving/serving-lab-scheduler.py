# %% right: one loop, a flag for those that wait
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if not left]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    prompts = [(number, left, False) for number, left in run if left] + [(number, left, True) for number, left in wait]
    for number, left, new in prompts:
        if budget == 0 or new and (seats < 1 or left > room):
            break
        if new:
            seats, room = seats - 1, room - left
        step.append((number, min(left, budget)))
        budget -= step[-1][1]
    return step
# %% right: sums that run along, with numpy
import numpy as np
def schedule(wait, run, budget, seats, room):
    decode = [number for number, left in run if left == 0]
    free = max(0, seats - len(run))
    sums = np.cumsum([0] + [left for _, left in wait])[1:]
    begin = min(free, int(np.searchsorted(sums, room - len(decode), side="right")))
    prompts = [pair for pair in run if pair[1] > 0] + list(wait)[:begin]
    ends = np.minimum(np.cumsum([0] + [left for _, left in prompts]), budget - len(decode))
    parts = np.diff(ends)
    return [[number, 1] for number in decode] + [
        [number, int(part)] for (number, _), part in zip(prompts, parts) if part]
# %% right: accumulate and takewhile
from itertools import accumulate, islice, takewhile
def schedule(wait, run, budget, seats, room):
    decoding = tuple((n, 1) for n, left in run if left == 0)
    room -= len(decoding)
    budget -= len(decoding)
    filled = accumulate(left for _, left in wait)
    fits = [pair for pair, _ in takewhile(lambda both: both[1] <= room, zip(wait, filled))]
    order = [pair for pair in run if pair[1]] + list(islice(fits, max(seats - len(run), 0)))
    before = [0, *accumulate(left for _, left in order)]
    return decoding + tuple((n, min(left, budget - b)) for (n, left), b in zip(order, before) if b < budget)
# %% right: recursion over what is left of the queue
def schedule(wait, run, budget, seats, room):
    if any(left == 0 for _, left in run):
        at = next(i for i, (_, left) in enumerate(run) if left == 0)
        rest = run[:at] + run[at + 1:]
        return [(run[at][0], 1)] + schedule(wait, rest, budget - 1, seats - 1, room - 1)
    if budget <= 0:
        return []
    if run:
        (number, left), *rest = run
        part = min(left, budget)
        return [(number, part)] + schedule(wait, rest, budget - part, seats - 1, room)
    if not wait or seats <= 0 or wait[0][1] > room:
        return []
    (number, left), *rest = wait
    part = min(left, budget)
    return [(number, part)] + schedule(rest, [], budget - part, seats - 1, room - left)
# %% right: a generator of tokens, one after another, then counted
from collections import Counter
def schedule(wait, run, budget, seats, room):
    def tokens():
        used, running = 0, len(run)
        for number, left in run:
            if left == 0:
                used += 1
                yield number
        for number, left in run:
            yield from [number]*left
        for number, left in wait:
            if running == seats or used + left > room:
                return
            running, used = running + 1, used + left
            yield from [number]*left
    stream = tokens()
    return list(Counter(number for _, number in zip(range(budget), stream)).items())
# %% right: queues that are emptied, numbers of numpy
from collections import deque
import numpy as np
def schedule(wait, run, budget, seats, room):
    out, half, new = [], deque(), deque(wait)
    taken = len(run)
    while run:
        number, left = run.pop(0)
        if left:
            half.append((number, left))
        else:
            out.append((number, np.int64(1)))
            budget, room = budget - 1, room - 1
    while budget and (half or new):
        if half:
            number, left = half.popleft()
        elif taken < seats and new[0][1] <= room:
            number, left = new.popleft()
            taken, room = taken + 1, room - left
        else:
            break
        part = np.minimum(left, budget)
        out.append((number, part))
        budget -= part
    return out
# %% right: takes the room of the part, since only the last one is cut
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - part, seats - 1
    return step
# %% wrong: room for the part of this step only
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or part > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - part, seats - 1
    return step
# %% wrong: a small prompt passes one that does not fit
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        if left > room:
            continue
        part = min(left, budget)
        if part == 0 or seats == 0:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: room is asked for and never taken
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, seats = budget - part, seats - 1
    return step
# %% wrong: seats are those of this step's newcomers
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room = budget - len(step), room - len(step)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: decoding takes no room
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, seats = budget - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: each that runs takes a token of room, half-read prompts too
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(run), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: the budget is for prompts, decoding is free
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    room, seats = room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: prompts that run are charged room once more
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget, room = budget - part, room - part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: the order of run, decoding and prompts mixed
def schedule(wait, run, budget, seats, room):
    step, seats = [], seats - len(run)
    for number, left in run:
        part = min(left or 1, budget)
        if part:
            step.append((number, part))
            budget -= part
            room -= left == 0
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: whole prompts only, none is cut
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        if left <= budget:
            step.append((number, left))
            budget -= left
    for number, left in wait:
        if left > budget or seats == 0 or left > room:
            break
        step.append((number, left))
        budget, room, seats = budget - left, room - left, seats - 1
    return step
# %% wrong: those without tokens are listed with 0
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        step.append((number, part))
        budget -= part
    for number, left in wait:
        part = min(left, budget)
        if seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: new prompts before those that are half read
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left > room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    return step
# %% wrong: a prompt that fills the room to the last token is refused
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    for number, left in [(n, left) for n, left in run if left]:
        part = min(left, budget)
        if part:
            step.append((number, part))
            budget -= part
    for number, left in wait:
        part = min(left, budget)
        if part == 0 or seats == 0 or left >= room:
            break
        step.append((number, part))
        budget, room, seats = budget - part, room - left, seats - 1
    return step
# %% wrong: the budget shared evenly between all prompts
def schedule(wait, run, budget, seats, room):
    step = [(number, 1) for number, left in run if left == 0]
    budget, room, seats = budget - len(step), room - len(step), seats - len(run)
    prompts = [pair for pair in run if pair[1]]
    for number, left in wait:
        if seats <= 0 or left > room:
            break
        prompts.append((number, left))
        seats, room = seats - 1, room - left
    return step + [(number, min(left, budget//len(prompts))) for number, left in prompts if budget >= len(prompts)]
