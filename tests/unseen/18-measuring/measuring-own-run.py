# %% right: Llama 3 70B on 4,992 H100s, typed
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=624, tp=4, pp=4, v=10, micro=1,
              sequences=1248, recompute="none", interval=247, days=57.8, budget=17.3e6)
# %% right: the whole account, written out
from hwlib.planner import machine_of
n, count, sequences = 5120, 640, 1280
P = parameter_count(models["llama3-70b"])
one = step_time("llama3-70b", "megatron-core-h100", machine_of("1024 x dgx-h100").levels,
                Strategy.of(dp=n//16, tp=4, pp=4, v=10, zero=1), B=sequences*8192, T=8192)
tokens = 1.001e25/step_flops(models["llama3-70b"], sequences*8192, 8192)*sequences*8192
mtbf, save = 54*day*16384/419/n, 14*P/(count*2e9)
tau = young_interval(save, mtbf)
seconds = 1.045*tokens/(sequences*8192)*float(one.total)/(1 - save/tau - (tau/2 + 600)/mtbf)
answer = dict(model="Llama 3 70B", machine="H100", tokens=tokens, count=count, tp=4, pp=4, v=10, micro=1,
              sequences=sequences, recompute="none", interval=tau, days=1.012*seconds/day,
              budget=1.01*seconds/3600*n*given("measuring-own-run")["h100"])
# %% right: the largest model on B200s, texts with units
answer = {"model": "Llama 3 405B", "machine": "B200", "tokens": "3.97e12", "count": "256", "tp": "8", "pp": "16",
          "v": "8", "micro": "1", "sequences": "2048", "recompute": "none", "interval": "23.3 min", "days": "54.2",
          "budget": "17.3 MUSD"}
# %% right: twice the chunks, numpy numbers
import numpy as np
answer = dict(model="Llama 3 70B", machine="H100", tokens=np.float64(22.3e12), count=np.int64(608), tp=np.int32(4),
              pp=4, v=20, micro=1, sequences=np.int64(1216), recompute="none", interval=np.float64(250), days=59.5,
              budget=np.float32(17.35e6))
# %% right: a little more text than needed, Fractions
from fractions import Fraction
answer = dict(model="Llama 3 405B", machine="B200", tokens=4*10**12, count=256, tp=8, pp=16, v=8, micro=1,
              sequences=2048, recompute="none", interval=Fraction(1450), days=Fraction(273, 5), budget=17.43e6)
# %% right: more B200s than needed, in less time
answer = dict(model="Llama 3 405B", machine="B200", tokens=3.97e12, count=288, tp=8, pp=16, v=8, micro=1,
              sequences=2016, recompute="none", interval=1300, days=48.5, budget=17.4e6)
# %% wrong: the budget is the model's without the error, and so are the days
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=624, tp=4, pp=4, v=10, micro=1,
              sequences=1248, recompute="none", interval=247, days=57.225/1.045, budget=17140065/1.045)
# %% wrong: days of undisturbed steps
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=624, tp=4, pp=4, v=10, micro=1,
              sequences=1248, recompute="none", interval=247, days=52.6, budget=17.3e6)
# %% wrong: the deadline in the mean, without a margin
answer = dict(model="Llama 3 405B", machine="B200", tokens=3.97e12, count=256, tp=8, pp=16, v=8, micro=1,
              sequences=2048, recompute="none", interval=1400, days=53.61, budget=17.3e6)
# %% wrong: a margin of a tenth on the days
answer = dict(model="Llama 3 405B", machine="B200", tokens=3.97e12, count=256, tp=8, pp=16, v=8, micro=1,
              sequences=2048, recompute="none", interval=1400, days=59, budget=17.3e6)
# %% wrong: a budget at a price of a node
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=624, tp=4, pp=4, v=10, micro=1,
              sequences=1248, recompute="none", interval=247, days=57.8, budget=17.3e6/8)
# %% wrong: the operations of twenty tokens a parameter
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.4e12, count=64, tp=4, pp=4, v=10, micro=1,
              sequences=1024, recompute="none", interval=2400, days=31.5, budget=970e3)
# %% wrong: tensor ranks over the whole node, by habit
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=768, tp=8, pp=4, v=10, micro=1,
              sequences=1536, recompute="none", interval=200, days=53.4, budget=19.6e6)
# %% wrong: the states fit, activations are forgotten
answer = dict(model="Llama 3 405B", machine="H100", tokens=3.97e12, count=768, tp=8, pp=16, v=8, micro=1,
              sequences=1536, recompute="none", interval=500, days=43, budget=15.8e6)
# %% wrong: everything is recomputed, to be safe
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=832, tp=4, pp=4, v=10, micro=1,
              sequences=1664, recompute="full", interval=190, days=56.3, budget=22.4e6)
# %% wrong: more stages than the model needs
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=768, tp=4, pp=16, v=5, micro=1,
              sequences=1536, recompute="none", interval=200, days=58.7, budget=21.6e6)
# %% wrong: the newest chip with the smaller of the two models
answer = dict(model="Llama 3 70B", machine="B200", tokens=22.3e12, count=256, tp=2, pp=4, v=10, micro=1,
              sequences=2048, recompute="none", interval=580, days=56.75, budget=18.1e6)
# %% wrong: half of the chunks
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=640, tp=4, pp=4, v=5, micro=1,
              sequences=1280, recompute="none", interval=240, days=58.9, budget=18.05e6)
# %% wrong: ranks that do not make up the machine
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=624, tp=4, pp=7, v=1, micro=1,
              sequences=1248, recompute="none", interval=247, days=57.8, budget=17.3e6)
# %% wrong: six tensor ranks
answer = dict(model="Llama 3 70B", machine="H100", tokens=22.3e12, count=624, tp=6, pp=4, v=1, micro=1,
              sequences=1248, recompute="none", interval=247, days=57.8, budget=17.3e6)
# %% wrong: a checkpoint every day
answer = dict(model="Llama 3 405B", machine="B200", tokens=3.97e12, count=256, tp=8, pp=16, v=8, micro=1,
              sequences=2048, recompute="none", interval=86400, days=59.9, budget=19.1e6)
# %% wrong: tokens in billions
answer = dict(model="Llama 3 70B", machine="H100", tokens=22300, count=624, tp=4, pp=4, v=10, micro=1,
              sequences=1248, recompute="none", interval=247, days=57.8, budget=17.3e6)
