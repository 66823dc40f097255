# %% right: the csv module, numbers where there are any
import csv
def narrow_slots(text):
    found = []
    for row in csv.reader(text.splitlines(), skipinitialspace=True):
        if len(row) == 5 and row[0].strip().isdigit():
            index, _, gen, lanes, most = map(int, row)
            if lanes < most:
                found.append((index, lanes*8e9*2**(gen - 3)*128/130/8))
    return found
# %% right: a regular expression for the whole line
def narrow_slots(text):
    rows = re.findall(r"^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*$", text, re.M)
    return [(int(i), int(w)*2**int(g)*1e9*16/130)
            for i, _, g, w, W in rows if int(w) < int(W)]
# %% right: a table of rates, and the library's line bandwidth
LANE = {3: 1*GB, 4: 2*GB, 5: 4*GB}    # signal, bytes a second
def narrow_slots(text):
    result = []
    for line in text.strip().splitlines():
        try:
            i, now, most, has, could = (int(part) for part in line.split(","))
        except ValueError:
            continue
        if has != could:
            result += [(i, line_bandwidth(LANE[most], has, 128, 130))]
    return result
# %% right: numpy, an array of the rows
import numpy as np
def narrow_slots(text):
    lines = [line for line in text.splitlines() if re.match(r"\s*\d", line)]
    if not lines:
        return []
    a = np.array([[int(x) for x in line.split(",")] for line in lines])
    a = a[a[:, 3] < a[:, 4]]
    return list(zip(a[:, 0].tolist(), (a[:, 3]*(1 << (a[:, 2] - 3))*1e9*128/130).tolist()))
# %% right: exact fractions
from fractions import Fraction
def narrow_slots(text):
    numbers = [[int(n) for n in re.findall(r"\d+", line)] for line in text.splitlines() if not re.search("[a-z]", line)]
    return [(n[0], Fraction(8*10**9*2**(n[2] - 3)*n[3]*128, 130*8)) for n in numbers if n and n[3] < n[4]]
# %% right: recursion over the lines
def narrow_slots(text):
    line, _, rest = text.partition("\n")
    after = narrow_slots(rest) if rest else []
    parts = [part.strip() for part in line.split(",")]
    if not parts[0].isdigit() or int(parts[3]) >= int(parts[4]):
        return after
    return [(int(parts[0]), int(parts[3])*{"3": 8e9, "4": 16e9, "5": 32e9}[parts[2]]/8/130*128)] + after
# %% right: lists instead of tuples, and an index as a float
def narrow_slots(text):
    rows = (line.split(",") for line in text.splitlines() if line[:1].isdigit())
    return [[float(r[0]), float(r[3])*10**9*2**(float(r[2]) - 3)*64/65] for r in rows if float(r[3]) < float(r[4])]
# %% right: starts at the first line that begins with a number
from itertools import dropwhile
def narrow_slots(text):
    body = dropwhile(lambda line: not line.strip()[:1].isdigit(), text.splitlines())
    cells = [tuple(int(cell) for cell in line.split(",")) for line in body if line.strip()]
    bandwidth = lambda generation, lanes: 7.876923076923077e9/8*2**(generation - 3)*lanes
    return [(i, bandwidth(g, w)) for i, g_now, g, w, w_most in cells if w - w_most < 0]
# %% wrong: the generation of the moment
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(now - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: slots of a lower generation are listed, too
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most or now < g]
# %% wrong: compares texts, in which 8 comes after 16
def narrow_slots(text):
    rows = [line.split(", ") for line in text.splitlines() if line[:1].isdigit()]
    return [(int(i), int(w)*1e9*2**(int(g) - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: what the slot could do with all lanes
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, most*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: what is lost
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, (most - w)*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: without the line code
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)) for i, now, g, w, most in rows if w < most]
# %% wrong: the line code the wrong way round
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*130/128) for i, now, g, w, most in rows if w < most]
# %% wrong: the line code of generations 1 and 2, eight bits as ten
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*8/10) for i, now, g, w, most in rows if w < most]
# %% wrong: of 128 bits two are lost
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*126/128) for i, now, g, w, most in rows if w < most]
# %% wrong: bits a second
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*8e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: in GB/s
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: both directions
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, 2*w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: generations in proportion, 8 GT/s for the third
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*g/3*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: each generation adds 8 GT/s
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*(g - 2)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: doubles from generation 0 on
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**g*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: all slots
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows]
# %% wrong: the healthy ones
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w == most]
# %% wrong: a slot has sixteen lanes
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < 16]
# %% wrong: only slots with half their lanes
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if 2*w == most]
# %% wrong: eight lanes for every narrow slot
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, 8*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: columns taken in pairs, now and now, most and most
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, w, g, most in rows if w < most]
# %% wrong: the first line is never one of numbers
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines()[1:] if line[:1].isdigit()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: there is never a line of names
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines()]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: the number of the line, names included, for the index
def narrow_slots(text):
    found = []
    for i, line in enumerate(text.splitlines()):
        if line[:1].isdigit():
            _, now, g, w, most = map(int, line.split(","))
            if w < most:
                found.append((i, w*1e9*2**(g - 3)*128/130))
    return found
# %% wrong: numbered anew, the narrow ones only
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    narrow = [(g, w) for i, now, g, w, most in rows if w < most]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, (g, w) in enumerate(narrow)]
# %% wrong: an index as a text
def narrow_slots(text):
    rows = [line.split(", ") for line in text.splitlines() if line[:1].isdigit()]
    return [(i, int(w)*1e9*2**(int(g) - 3)*128/130) for i, now, g, w, most in rows if int(w) < int(most)]
# %% wrong: a dict
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return {i: w*1e9*2**(g - 3)*128/130 for i, now, g, w, most in rows if w < most}
# %% wrong: bandwidths alone
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [w*1e9*2**(g - 3)*128/130 for i, now, g, w, most in rows if w < most]
# %% wrong: the lanes instead of their bandwidth
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w) for i, now, g, w, most in rows if w < most]
# %% wrong: the narrowest first
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return sorted(((i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most), key=lambda slot: slot[1])
# %% wrong: stops at the first one
def narrow_slots(text):
    for line in text.splitlines():
        if line[:1].isdigit():
            i, now, g, w, most = map(int, line.split(","))
            if w < most:
                return [(i, w*1e9*2**(g - 3)*128/130)]
    return []
# %% wrong: a generation that idles counts half
def narrow_slots(text):
    rows = [list(map(int, line.split(","))) for line in text.splitlines() if line[:1].isdigit()]
    return [(i, w*1e9*2**((g + now)/2 - 3)*128/130) for i, now, g, w, most in rows if w < most]
# %% wrong: an index of one digit only
def narrow_slots(text):
    rows = re.findall(r"^(\d), (\d), (\d), (\d+), (\d+)$", text, re.M)
    rows = [[int(number) for number in row] for row in rows]
    return [(i, w*1e9*2**(g - 3)*128/130) for i, now, g, w, most in rows if w < most]
