# %% right: two square roots and a search with scipy's Poisson law
from math import sqrt
from scipy.stats import poisson
g = given("measuring-scenario")
mtbf = 54*86400/419*2048/g["nodes"]
silent = 54*24/6*2048/g["nodes"]
interval, hours = sqrt(2*g["save"]*mtbf), sqrt(2*g["check"]/3600*silent)
lost = g["save"]/interval + (interval/2 + g["back"])/mtbf + g["check"]/3600/hours + hours/2/silent
def days(spares):
    return g["work"]/(1 - lost)/poisson.cdf(spares, g["repair"]*3600/mtbf)
spares = min(range(81), key=lambda s: days(s)*(g["nodes"] + s))
answer = dict(interval=interval, hours=hours, spares=spares, days=days(spares))
# %% right: with the library's interval, the sum by hand, all shares together
import math
g = given("measuring-scenario")
node = 54*day*2048/419
M, t_silent = node/g["nodes"], 54*day*2048/6/g["nodes"]
tau, h = young_interval(g["save"], M), young_interval(g["check"], t_silent)
useful = goodput_fraction(tau, g["save"], g["back"], M) - g["check"]/h - h/2/t_silent
mean = g["repair"]*3600/M
def stands(s):
    return 1 - sum(math.exp(-mean)*mean**k/math.factorial(k) for k in range(s + 1))
best = min((g["work"]/(useful - stands(s))*(g["nodes"] + s), s) for s in range(2, 81) if useful > stands(s))
answer = {"interval": tau, "hours": h/3600, "spares": best[1], "days": best[0]/(g["nodes"] + best[1])}
# %% right: typed, round numbers
answer = dict(interval=1335, hours=12, spares=14, days=45.1)
# %% right: texts with units
answer = {"interval": "22 min", "hours": "12 h", "spares": "14", "days": "45.1 days"}
# %% right: one spare more, hours and intervals rounded as people do
answer = dict(interval=1400, hours=11, spares=15, days=45)
# %% right: Daly's interval in place of Young's
M = 54*day/419*2
answer = dict(interval=daly_interval(40, M), hours=12.5, spares=14, days=45.2)
# %% right: numpy, a grid of everything
import numpy as np
M, S = 54*86400/419*2, 54*86400/6*2
tau, h = np.arange(300, 4000, 5.0), np.arange(1, 40, 0.1)
saves = 40/tau + (tau/2 + 540)/M
tests = 600/(3600*h) + 1800*h/S
k = np.arange(0, 81)
mean = 36*3600/M
terms = np.exp(-mean + k*np.log(mean) - np.array([sum(np.log(np.arange(1, n + 1))) for n in k]))
days = 40/(1 - saves.min() - tests.min())/terms.cumsum()
spares = ((1024 + k)*days).argmin()
answer = dict(interval=tau[saves.argmin()], hours=h[tests.argmin()], spares=spares, days=days[spares])
# %% wrong: the failures of Llama's whole machine, not of half of it
answer = dict(interval=944, hours=8.5, spares=22, days=49.1)
# %% wrong: no factor of two under the root
answer = dict(interval=943.8, hours=8.49, spares=14, days=45.09)
# %% wrong: the mean number of broken nodes as spares
answer = dict(interval=1335, hours=12, spares=6, days=70.9)
# %% wrong: so many spares that nobody ever waits
answer = dict(interval=1335, hours=12, spares=40, days=45.04)
# %% wrong: days of undisturbed work, announced
answer = dict(interval=1335, hours=12, spares=14, days=40)
# %% wrong: the silent errors are forgotten in the days
answer = dict(interval=1335, hours=12, spares=14, days=43.78)
# %% wrong: the restarts are forgotten in the days
answer = dict(interval=1335, hours=12, spares=14, days=43.86)
# %% wrong: silent errors are rare: a test a week
answer = dict(interval=1335, hours=168, spares=14, days=40/(1 - 0.0842 - 600/3600/168 - 84/432))
# %% wrong: a test with each checkpoint, to be safe
answer = dict(interval=1335, hours=0.5, spares=14, days=40/(1 - 0.0842 - 600/1800 - 0.25/432))
# %% wrong: a checkpoint an hour, by custom
answer = dict(interval=3600, hours=12, spares=14, days=40/(1 - 40/3600 - 2340/22270 - 0.0278))
# %% wrong: days by the failures of a GPU's five years without its seven neighbours
answer = dict(interval=1335*8**0.5, hours=12*8**0.5, spares=4, days=41.4)
# %% wrong: the interval in minutes
answer = dict(interval=22.2, hours=12, spares=14, days=45.09)
# %% wrong: the hours in seconds
answer = dict(interval=1335, hours=43200, spares=14, days=45.09)
# %% wrong: a margin of ten per cent on the days
answer = dict(interval=1335, hours=12, spares=14, days=49.6)
# %% wrong: spares at two standard deviations
answer = dict(interval=1335, hours=12, spares=11, days=45.8)
# %% wrong: shares of loss multiplied onto the work
answer = dict(interval=1335, hours=12, spares=14, days=40*1.112)
