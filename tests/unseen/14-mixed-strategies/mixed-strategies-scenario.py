# %% right: 48 nodes, and the days of the model with its error
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
g = given("mixed-strategies-scenario")
step = step_time("llama3-70b", "megatron-core-h100", "superpod-h100-4su",
                 Strategy.of(dp=16, tp=4, pp=6, zero=1), B=512*8192, T=8192)
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1,
              days=float(g["tokens"]/(512*8192)*step.total/86400/g["goodput"]*1.023))
# %% right: eight nodes more, dearer by less than the model's error, and safer
answer = dict(nodes=56, tp=4, pp=7, v=1, micro=1, days=29.2)
# %% right: as typed numbers
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=33.16)
# %% right: whole fields as floats, days as a Fraction
from fractions import Fraction
answer = {"nodes": 48.0, "tp": 4, "pp": 6.0, "v": 1, "micro": 1, "days": Fraction("33.2")}
# %% right: numpy numbers
import numpy as np
answer = dict(nodes=np.int64(48), tp=np.int32(4), pp=6, v=1, micro=1, days=np.float64(33.1))
# %% wrong: all 64 nodes, none stands by
answer = dict(nodes=64, tp=4, pp=8, v=10, micro=1, days=24.0)
# %% wrong: the days without the restarts
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=31.5)
# %% wrong: the days without the model's error
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=32.41)
# %% wrong: the deadline promised
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=35)
# %% wrong: six operations a parameter at the data sheet's rate
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=6*70.6e9*1e12/(384*989e12)/86400)
# %% wrong: too few nodes for the lease
answer = dict(nodes=40, tp=4, pp=5, v=1, micro=1, days=39.5)
# %% wrong: one tensor rank, which does not fit
answer = dict(nodes=48, tp=1, pp=6, v=1, micro=1, days=33)
# %% wrong: days in hours
answer = dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=33.16*24)
# %% wrong: stages that do not divide the GPUs
answer = dict(nodes=50, tp=4, pp=6, v=1, micro=1, days=32.5)
# %% wrong: eight tensor ranks, half the stages
answer = dict(nodes=48, tp=8, pp=3, v=1, micro=1, days=33.16)
