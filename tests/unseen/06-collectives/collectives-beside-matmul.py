# %% right: what is left when the collective ends
g = given("collectives-beside-matmul")
work = g["t_math"]*g["n_SM"]                       # SM-seconds
beside = (g["n_SM"] - g["n_ch"])*g["t_comm"]
answer = g["t_comm"] + max(0, work - beside)/g["n_SM"]
# %% right: three digits as a text
answer = "4.61 ms"
# %% right: microseconds
answer = "4606 us"
# %% right: SM-seconds of both over all SMs, or the collective alone
g = given("collectives-beside-matmul")
both = (g["n_SM"]*g["t_math"] + g["n_ch"]*g["t_comm"])/g["n_SM"]
answer = sorted([both, g["t_comm"]])[-1]
# %% right: the library
g = given("collectives-beside-matmul")
answer = shared_chip_time(g["t_math"], g["t_comm"], g["n_SM"], g["n_ch"])
# %% right: sympy solves for the end
import sympy
t = sympy.Symbol("t", positive=True)
done = sympy.Rational(100, 132)*sympy.Rational(5, 2) + (t - sympy.Rational(5, 2))
answer = sympy.solve(sympy.Eq(done, 4), t)[0]/1000
# %% right: an event at a time
g = given("collectives-beside-matmul")
left, clock, free = g["t_math"], 0.0, g["n_SM"] - g["n_ch"]
rate = free/g["n_SM"]
if left/rate <= g["t_comm"]:
    clock = g["t_comm"]
else:
    left -= rate*g["t_comm"]
    clock = g["t_comm"] + left
answer = f"{clock*1e3:.5f} ms"
# %% right: bisects for the time at which the work is done
g = given("collectives-beside-matmul")
def done(t):
    beside = min(t, g["t_comm"])
    return t >= g["t_comm"] and t*g["n_SM"] - beside*g["n_ch"] >= g["t_math"]*g["n_SM"]
lo, hi = 0.0, g["t_math"] + g["t_comm"]
for _ in range(60):
    mid = (lo + hi)/2
    lo, hi = (lo, mid) if done(mid) else (mid, hi)
answer = hi
# %% right: fractions with a unit of the library
from fractions import Fraction
from hwlib.units import ms
answer = float(4 + Fraction(32, 132)*Fraction(5, 2))*ms
# %% right: numpy interpolates the work done
import numpy as np
clock = np.array([0, 2.5e-3, 1e-1])
work = np.array([0, 100*2.5e-3, 100*2.5e-3 + 132*(1e-1 - 2.5e-3)])
answer = np.interp(132*4e-3, work, clock)
# %% wrong: fully hidden
g = given("collectives-beside-matmul")
answer = max(g["t_math"], g["t_comm"])
# %% wrong: one after the other
g = given("collectives-beside-matmul")
answer = g["t_math"] + g["t_comm"]
# %% wrong: slowed down to its end
g = given("collectives-beside-matmul")
answer = g["t_math"]*g["n_SM"]/(g["n_SM"] - g["n_ch"])
# %% wrong: the share of the SMs that are left
g = given("collectives-beside-matmul")
answer = g["t_math"] + g["n_ch"]/(g["n_SM"] - g["n_ch"])*g["t_comm"]
# %% wrong: slowed after the collective instead of beside it
g = given("collectives-beside-matmul")
answer = g["t_comm"] + (g["t_math"] - g["t_comm"])*g["n_SM"]/(g["n_SM"] - g["n_ch"])
# %% wrong: the channels' share of the matmul's time
g = given("collectives-beside-matmul")
answer = g["t_math"]*(1 + g["n_ch"]/g["n_SM"])
# %% wrong: the matmul has the channels' SMs
g = given("collectives-beside-matmul")
answer = g["t_comm"] + g["t_math"] - g["t_comm"]*g["n_ch"]/g["n_SM"]
# %% wrong: what is lost is taken off
g = given("collectives-beside-matmul")
answer = g["t_math"] - g["t_comm"]*g["n_ch"]/g["n_SM"]
# %% wrong: only what is left after the collective
g = given("collectives-beside-matmul")
answer = g["t_math"] - g["t_comm"]*(g["n_SM"] - g["n_ch"])/g["n_SM"]
# %% wrong: only what the matmul loses
g = given("collectives-beside-matmul")
answer = g["t_comm"]*g["n_ch"]/g["n_SM"]
# %% wrong: milliseconds without a unit
answer = 4.606
# %% wrong: the collective is slowed as well
g = given("collectives-beside-matmul")
slow = g["t_comm"]*g["n_SM"]/(g["n_SM"] - g["n_ch"])
answer = g["t_math"] + g["n_ch"]/g["n_SM"]*slow
# %% wrong: the SMs come back only when the matmul has ended, then the collective runs
g = given("collectives-beside-matmul")
answer = g["t_math"]*g["n_SM"]/(g["n_SM"] - g["n_ch"]) + g["t_comm"]
# %% wrong: the collective has all SMs first, the rest overlaps
g = given("collectives-beside-matmul")
answer = g["t_comm"] + g["t_math"]*(g["n_SM"] - g["n_ch"])/g["n_SM"]
# %% wrong: of both the mean
g = given("collectives-beside-matmul")
slow = g["t_math"]*g["n_SM"]/(g["n_SM"] - g["n_ch"])
answer = (g["t_math"] + slow)/2 + g["t_comm"]/2
# %% wrong: half of the SMs, as two kernels share them
answer = "5.25 ms"
