# %% right: what is kept, then both shares
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% right: numpy, clipped
import numpy as np
def room_used(loads, headroom):
    loads = np.asarray(loads, dtype=float)
    rows = np.floor(headroom*loads.mean())
    return np.array([np.clip(loads - rows, 0, None).sum()/loads.sum(),
                     np.clip(rows - loads, 0, None).sum()/(rows*loads.size)])
# %% right: token by token, a tuple
def room_used(loads, headroom):
    from math import floor
    room = floor(headroom*(sum(loads)/len(loads)))
    lost = empty = 0
    for load in loads:
        if load > room:
            lost += load - room
        else:
            empty += room - load
    return lost/sum(loads), empty/(room*len(loads))
# %% right: fractions of the numbers as they are in binary
from fractions import Fraction
def room_used(loads, headroom):
    tokens = sum(int(load) for load in loads)
    rows = int(headroom*tokens/len(loads))
    lost = sum(max(int(load) - rows, 0) for load in loads)
    return [float(Fraction(lost, tokens)), float(1 - Fraction(tokens - lost, rows*len(loads)))]
# %% right: sorted, split where the room ends
from bisect import bisect_right
def room_used(loads, headroom):
    up = sorted(loads)
    total = sum(up)
    rows = headroom*total/len(up)//1
    i = bisect_right(up, rows)
    over = sum(up[i:]) - rows*(len(up) - i)
    pad = rows*i - sum(up[:i])
    return [over/total, pad/(rows*len(up))]
# %% right: torch
def room_used(loads, headroom):
    import torch
    t = torch.as_tensor([float(load) for load in loads], dtype=torch.float64)
    rows = torch.floor(headroom*t.sum()/len(t))
    fits = torch.minimum(t, rows).sum()
    return [((t.sum() - fits)/t.sum()).item(), ((rows*len(t) - fits)/(rows*len(t))).item()]
# %% right: a lambda with the array of rows
import numpy as np
room_used = lambda loads, headroom: (lambda t, r: [
    float((t - np.minimum(t, r)).sum()/t.sum()), float((r - np.minimum(t, r)).mean()/r)])(
    np.array(loads, dtype=float), float(int(headroom*np.mean(loads))))
# %% wrong: rows rounded up
from math import ceil
def room_used(loads, headroom):
    rows = ceil(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: not rounded
def room_used(loads, headroom):
    rows = headroom*sum(loads)/len(loads)
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: rounded to the nearest
def room_used(loads, headroom):
    rows = round(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: padding as a share of the tokens
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), (rows*len(loads) - kept)/sum(loads)]
# %% wrong: dropped as a share of the rows
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [(sum(loads) - kept)/(rows*len(loads)), 1 - kept/(rows*len(loads))]
# %% wrong: the two exchanged
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/(rows*len(loads)), 1 - kept/sum(loads)]
# %% wrong: numbers of tokens and rows, not shares
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [sum(loads) - kept, rows*len(loads) - kept]
# %% wrong: the share of experts that overflow, and that are not full
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    return [sum(load > rows for load in loads)/len(loads), sum(load < rows for load in loads)/len(loads)]
# %% wrong: dropped tokens fill free rows of other experts
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = min(rows*len(loads), sum(loads))
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: an expert that overflows drops all of its tokens
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(load for load in loads if load <= rows)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: what is used in place of what is padding
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), kept/(rows*len(loads))]
# %% wrong: the mean rounded down before the factor
def room_used(loads, headroom):
    rows = int(headroom*(sum(loads)//len(loads)))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: headroom on top of the mean, 1 + headroom
def room_used(loads, headroom):
    rows = int((1 + headroom)*sum(loads)/len(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: the median for the mean
import numpy as np
def room_used(loads, headroom):
    rows = int(headroom*np.median(loads))
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - kept/(rows*len(loads))]
# %% wrong: padding counts rows of experts without overflow only
def room_used(loads, headroom):
    rows = int(headroom*sum(loads)/len(loads))
    small = [load for load in loads if load < rows]
    kept = sum(min(rows, load) for load in loads)
    return [1 - kept/sum(loads), 1 - sum(small)/(rows*len(small)) if small else 0]
