# %% right: words of each line
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% right: a regular expression over the whole text
import re
def read_nccl_tests(text, n):
    row = re.compile(r"^[ \t]*(\d+)(?:[ \t]+\S+){4}[ \t]+(\S+)", re.MULTILINE)
    return [(int(S), float(us)/1e6, (2 - 2/n)*int(S)/float(us)*1e6)
            for S, us in row.findall(text)]
# %% right: an array of numpy
import numpy as np
def read_nccl_tests(text, n):
    table = [line.split() for line in text.split("\n")]
    table = [words for words in table if words and words[0].isdecimal()]
    S = np.array([words[0] for words in table], dtype=float)
    t = np.array([words[5] for words in table], dtype=float)/1e6
    return np.stack([S, t, bus_factor("all_reduce", n)*S/t], axis=1)
# %% right: tries to read a number, and passes over what is none
def read_nccl_tests(text, n):
    found = []
    for line in text.splitlines():
        first, _, rest = line.strip().partition(" ")
        try:
            S = int(first)
        except ValueError:
            continue
        t = float(rest.split()[4])/1000/1000
        found += [[S, t, 2*S/t - 2*S/t/n]]
    return found
# %% right: recursion over the lines
def read_nccl_tests(text, n):
    if not text:
        return []
    line, _, rest = text.partition("\n")
    match line.split():
        case [S, _, _, _, _, us, *_] if S.isdigit():
            t = float(us)*us_in_s
            return [(int(S), t, int(S)*2*(n - 1)/(n*t)), *read_nccl_tests(rest, n)]
    return read_nccl_tests(rest, n)
us_in_s = 1e-6
# %% right: a named tuple for each row, fractions in between
from collections import namedtuple
from fractions import Fraction
Row = namedtuple("Row", "S t W_bus")
def read_nccl_tests(text, n):
    def row(S, us):
        t = Fraction(us)/10**6
        return Row(int(S), float(t), float(Fraction(2*(n - 1)*int(S), n)/t))
    split = map(str.split, text.splitlines())
    return [row(w[0], w[5]) for w in split if w and w[0].isdigit()]
# %% right: the units of the library and a filter
from hwlib.units import us
def read_nccl_tests(text, n):
    is_row = lambda line: line.split()[:1] and line.split()[0].isnumeric()
    return [(int(S), float(t)*us, bus_factor("all_reduce", n)*int(S)/(float(t)*us))
            for S, _, _, _, _, t, *_ in map(str.split, filter(is_row, text.splitlines()))]
# %% right: a lambda
read_nccl_tests = lambda text, n: [
    (S, t, (n - 1)*2*S/n/t)
    for w in (line.split() for line in text.splitlines())
    if w and set(w[0]) <= set("0123456789")
    for S, t in [(int(w[0]), float(w[5])/1e6)]]
# %% right: sums what a ring sends in its rounds
def read_nccl_tests(text, n):
    out = []
    for line in text.splitlines():
        word = iter(line.split())
        size = next(word, "")
        if not size.isdigit():
            continue
        count, kind, op, root, time, *others = word
        sent = sum(int(size)/n for _ in range(2*(n - 1)))
        out.append((int(size), float(time)*1e-6, sent/(float(time)*1e-6)))
    return tuple(out)
# %% wrong: the time stays in microseconds
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: seconds in the row, but the bandwidth from microseconds
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])
            rows.append((S, t*1e-6, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: takes the time for milliseconds
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])/1e3
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: the printed bus bandwidth
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            rows.append((int(words[0]), float(words[5])*1e-6, float(words[7])*1e9))
    return rows
# %% wrong: the algorithm bandwidth
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, S/t))
    return rows
# %% wrong: the factor of an all-gather
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, (n - 1)/n*S/t))
    return rows
# %% wrong: the factor of many ranks
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*S/t))
    return rows
# %% wrong: the factor of eight ranks, whatever n is
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 1.75*S/t))
    return rows
# %% wrong: what a port carries with NVLS
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, (n + 1)/n*S/t))
    return rows
# %% wrong: divides by the factor
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, S/t/(2*(n - 1)/n)))
    return rows
# %% wrong: elements for bytes
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[1]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: the time in place, where there is one
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            us = words[9] if words[9] != "N/A" else words[5]
            S, t = int(words[0]), float(us)*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: the better of the two times
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S = int(words[0])
            t = min(float(w) for w in (words[5], words[9]) if w != "N/A")*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: the column of the root, counted from nought
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[4])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: a digit at the very beginning of the line
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        if line[:1].isdigit():
            words = line.split()
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: every line without a hash is a row
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            words = line.split()
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: leaves out rows that print a bandwidth of nought
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit() and float(words[7]) > 0:
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: a dict by size
def read_nccl_tests(text, n):
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows[S] = (t, 2*(n - 1)/n*S/t)
    return rows
# %% wrong: three lists, by column
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return [list(column) for column in zip(*rows)]
# %% wrong: the size is still a word
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            t = float(words[5])*1e-6
            rows.append((words[0], t, 2*(n - 1)/n*int(words[0])/t))
    return rows
# %% wrong: returns after the first row
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
            return rows
    return rows
# %% wrong: yields the rows
def read_nccl_tests(text, n):
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            yield S, t, 2*(n - 1)/n*S/t
# %% wrong: time before size
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((t, S, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: the bandwidth in GB/s
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t/1e9))
    return rows
# %% wrong: undoes the printed algorithm bandwidth for the time
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, W = int(words[0]), float(words[6])*1e9
            t = S/W if W else float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: four bytes to an element, whatever the type
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = 4*int(words[1]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: reads every column as a number, and so no log of this chapter
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            t, algbw, busbw, wrong, *in_place = map(float, words[5:])
            S, t = int(words[0]), t*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: ends at the first line for people behind a row
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
        elif rows:
            break
    return rows
# %% wrong: a word that begins with a digit is a number
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 5 and words[0][0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: of rows of the same size the last
def read_nccl_tests(text, n):
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows[S] = (S, t, 2*(n - 1)/n*S/t)
    return list(rows.values())
# %% wrong: sorted by size
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return sorted(rows)
# %% wrong: powers of two only
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit() and int(words[0]).bit_count() == 1:
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: rows of the type float only
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit() and words[2] == "float":
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: rows that add only
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit() and words[3] == "sum":
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: rows of thirteen words only
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit() and len(words) == 13:
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
# %% wrong: rows without wrong values only
def read_nccl_tests(text, n):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit() and words[8] == "0":
            S, t = int(words[0]), float(words[5])*1e-6
            rows.append((S, t, 2*(n - 1)/n*S/t))
    return rows
