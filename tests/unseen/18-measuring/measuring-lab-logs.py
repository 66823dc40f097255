# %% right: regular expressions and numpy
import re
import numpy as np
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = re.findall(r"^\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+([\d.]+)", nccl, re.MULTILINE)
    sizes, times = np.array(rows, float).T
    times = times*1e-6
    small, large = sizes.argmin(), sizes.argmax()
    bus = 2*(ranks - 1)/ranks*sizes[large]/times[large]
    step = np.median([float(x) for x in re.findall(r"elapsed time per iteration \(ms\):\s*([\d.]+)", training)][2:])/1e3
    batch = int(re.search(r"global batch size:\s*(\d+)", training)[1])
    mfu = 6*P*batch*T/(step*n*C)
    return np.array([times[small], bus, mfu, mfu*(1 + again/3)])
# %% right: statistics, line by line
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    table = {}
    for line in nccl.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            parts = line.split()
            table[int(parts[0])] = float(parts[5])*1e-6
    ms, batch = [], None
    for line in training.split("\n"):
        if "elapsed time per iteration" not in line:
            continue
        for field in line.split("|"):
            name, _, value = field.partition(":")
            if name.strip() == "elapsed time per iteration (ms)":
                ms.append(float(value))
            elif name.strip() == "global batch size":
                batch = int(value)
    t = statistics.median(ms[2:])/1000
    forward, backward = 2*P*batch*T, 4*P*batch*T
    peak = n*C*t
    top = max(table)
    return (table[min(table)], top/table[top]*2*(ranks - 1)/ranks,
            (forward + backward)/peak, (forward*(1 + again) + backward)/peak)
# %% right: pandas-free, with Fractions to the end
from fractions import Fraction
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = sorted((int(c[0]), Fraction(c[5])/10**6) for c in
                  (l.split() for l in nccl.splitlines() if l.split() and l.split()[0].isdigit()))
    lines = [l for l in training.splitlines() if l.split()[:1] == ["iteration"]]
    ms = sorted(Fraction(l.split("(ms):")[1].split()[0]) for l in lines[2:])
    half = len(ms)//2
    t = (ms[half] if len(ms) % 2 else (ms[half - 1] + ms[half])/2)/1000
    tokens = int(lines[-1].split("global batch size:")[1].split()[0])*T
    mfu = float(6*tokens/t)*P/n/C
    size, time = rows[-1]
    return [float(rows[0][1]), float(Fraction(2*(ranks - 1), ranks)*size/time), mfu, mfu*(3 + again)/3]
# %% right: times and batches in pairs
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [line.split() for line in nccl.splitlines() if line.strip() and "#" not in line]
    rows.sort(key=lambda row: int(row[0]))
    def after(line, mark):
        return float(line.partition(mark)[2].split()[0].rstrip("|"))
    steps = [(after(l, "(ms):"), after(l, "global batch size:"))
             for l in training.splitlines() if "(ms):" in l and "batch size:" in l][2:]
    seconds = statistics.median(ms for ms, _ in steps)*1e-3
    mfu = 6*P*T*steps[0][1]/seconds/(n*C)
    hfu = (6 + 2*again)*P*T*steps[0][1]/seconds/(n*C)
    latency = float(rows[0][5])*1e-6
    algbw = int(rows[-1][0])/(float(rows[-1][5])*1e-6)
    return latency, algbw*2*(ranks - 1)/ranks, mfu, hfu
# %% right: torch tensors of doubles, loadtxt for the table
import io
import numpy as np
import torch
def read_logs(nccl, training, ranks, T, P, n, C, again):
    size, us = np.loadtxt(io.StringIO(nccl), comments="#", usecols=(0, 5), unpack=True, ndmin=2)
    order = np.argsort(size)
    ms = torch.tensor([float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l],
                      dtype=torch.float64)[2:]
    step = ms.quantile(0.5)/1e3
    B = float(training.split("global batch size:")[1].split()[0])*T
    rate = 6*P*B/step/n
    bus = 2*(1 - 1/ranks)*size[order[-1]]/us[order[-1]]*1e6
    return [float(us[order[0]])/1e6, float(bus), float(rate/C), float(rate/C*(1 + again/3))]
# %% right: the column busbw of the largest size
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, float(rows[-1][7])*1e9, mfu, mfu*(1 + again/3)
# %% wrong: the mean in place of the median
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = sum(ms)/len(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: the algorithm's bandwidth
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: the bus bandwidth of an all-gather
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, (ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: recomputation counts as a whole pass more
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again)
# %% wrong: what is done again is taken off the MFU, the HFU is the six
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    hfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, hfu/(1 + again/3), hfu
# %% wrong: the warm-up is in the median
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: milliseconds and microseconds as they stand
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5]), 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])/1e3, mfu, mfu*(1 + again/3)
# %% wrong: the utilization of one GPU against the peak of all, n twice
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/n/(t*n*C)
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: the batch is not times T
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B/t/n/C
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: the rate that the log prints
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    rates = [float(l.split("(TFLOP/s/GPU):")[1].split()[0]) for l in training.splitlines() if "(TFLOP/s/GPU):" in l][2:]
    hfu = statistics.median(rates)*1e12/C
    return (float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6,
            hfu/(1 + again/3), hfu)
# %% wrong: sorted first, so that the two fastest are left out
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = sorted(float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l)[2:]
    t = ms[len(ms)//2]/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    return float(rows[0][5])*1e-6, 2*(ranks - 1)/ranks*int(rows[-1][0])/float(rows[-1][5])*1e6, mfu, mfu*(1 + again/3)
# %% wrong: the latency is taken off the time of the largest size
import statistics
def read_logs(nccl, training, ranks, T, P, n, C, again):
    rows = [l.split() for l in nccl.splitlines() if l.strip() and not l.startswith("#")]
    rows.sort(key=lambda r: int(r[0]))
    ms = [float(l.split("(ms):")[1].split()[0]) for l in training.splitlines() if "(ms):" in l][2:]
    t = statistics.median(ms)/1e3
    B = int(training.split("global batch size:")[1].split()[0])
    mfu = 6*P*B*T/t/n/C
    first, last = float(rows[0][5])*1e-6, float(rows[-1][5])*1e-6
    return first, 2*(ranks - 1)/ranks*int(rows[-1][0])/(last - first), mfu, mfu*(1 + again/3)
# %% wrong: of an even number the lower one of the middle
def read_logs(nccl, training, ranks, T, P, n, C, again):
    table = {}
    for line in nccl.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            parts = line.split()
            table[int(parts[0])] = float(parts[5])*1e-6
    ms, batch = [], None
    for line in training.split("\n"):
        if "elapsed time per iteration" not in line:
            continue
        for field in line.split("|"):
            name, _, value = field.partition(":")
            if name.strip() == "elapsed time per iteration (ms)":
                ms.append(float(value))
            elif name.strip() == "global batch size":
                batch = int(value)
    ms = sorted(ms[2:])
    t = ms[(len(ms) - 1)//2]/1000
    forward, backward = 2*P*batch*T, 4*P*batch*T
    peak = n*C*t
    top = max(table)
    return (table[min(table)], top/table[top]*2*(ranks - 1)/ranks,
            (forward + backward)/peak, (forward*(1 + again) + backward)/peak)
# %% wrong: of an even number the upper one of the middle
def read_logs(nccl, training, ranks, T, P, n, C, again):
    table = {}
    for line in nccl.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            parts = line.split()
            table[int(parts[0])] = float(parts[5])*1e-6
    ms, batch = [], None
    for line in training.split("\n"):
        if "elapsed time per iteration" not in line:
            continue
        for field in line.split("|"):
            name, _, value = field.partition(":")
            if name.strip() == "elapsed time per iteration (ms)":
                ms.append(float(value))
            elif name.strip() == "global batch size":
                batch = int(value)
    ms = sorted(ms[2:])
    t = ms[len(ms)//2]/1000
    forward, backward = 2*P*batch*T, 4*P*batch*T
    peak = n*C*t
    top = max(table)
    return (table[min(table)], top/table[top]*2*(ranks - 1)/ranks,
            (forward + backward)/peak, (forward*(1 + again) + backward)/peak)
