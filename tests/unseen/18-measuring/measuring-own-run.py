# %% right: a small model on sixteen nodes, typed
answer = dict(model="Llama 3 8B", machine="H100", tokens=200e9, count=16, tp=2, pp=1, v=1, micro=2, sequences=1024,
              recompute="none", interval=3200, days=2.1, budget=16000)
# %% right: the whole account, written out
from hwlib.planner import machine_of
n, count, tokens = 128, 16, 400e9
P = parameter_count(models["llama3-8b"])
one = step_time("llama3-8b", "megatron-2022-a100", machine_of("1024 x dgx-a100").levels,
                Strategy.of(dp=64, tp=2, micro=2, zero=1), B=1024*8192, T=8192)
mtbf, save = 54*day*16384/419/n, 14*P/(count*2e9)
tau = young_interval(save, mtbf)
seconds = 1.045*tokens/(1024*8192)*float(one.total)/goodput_fraction(tau, save, 600, mtbf)
answer = dict(model="Llama 3 8B", machine="A100", tokens=tokens, count=count, tp=2, pp=1, v=1, micro=2,
              sequences=1024, recompute="none", interval=tau, days=1.05*seconds/day,
              budget=1.1*seconds/3600*n*given("measuring-own-run")["a100"])
# %% right: texts with units
answer = {"model": "Qwen3 32B", "machine": "B200", "tokens": "700e9", "count": "16", "tp": "2", "pp": "1", "v": "1",
          "micro": "1", "sequences": "1024", "recompute": "none", "interval": "107 min", "days": "13.5",
          "budget": "250 kUSD"}
# %% right: interleaved on sixteen nodes of B200s, numpy numbers
import numpy as np
answer = dict(model="Llama 3 70B", machine="B200", tokens=np.float64(1.42e12), count=np.int64(16), tp=np.int32(2),
              pp=4, v=10, micro=1, sequences=np.int64(1024), recompute="none", interval=np.float64(9400), days=58,
              budget=np.float32(1.05e6))
# %% right: Llama 3 70B on 512 H100s, deadline a tenth above the model
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=37, budget=1.2e6)
# %% right: a large run on 4,096 GPUs, Fractions, selective recomputation
from fractions import Fraction
answer = dict(model="Llama 3 70B", machine="H100", tokens=15*10**12, count=512, tp=4, pp=4, v=10, micro=1,
              sequences=4096, recompute="selective", interval=Fraction(300), days=Fraction(93, 2), budget=11.5e6)
# %% wrong: the budget is the model's without the error, and so are the days
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=33.5284/1.045, budget=1029992/1.045)
# %% wrong: days of undisturbed steps
answer = dict(model="Llama 3 70B", machine="H100", tokens=15e12, count=512, tp=4, pp=4, v=10, micro=1,
              sequences=4096, recompute="none", interval=300, days=40.9, budget=11.5e6)
# %% wrong: the deadline in the mean, without a margin
answer = dict(model="Llama 3 8B", machine="H100", tokens=200e9, count=16, tp=2, pp=1, v=1, micro=2, sequences=1024,
              recompute="none", interval=3200, days=2.0248, budget=16000)
# %% wrong: twice the days, so that it will surely be in time
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=67, budget=1.2e6)
# %% wrong: a budget at a price of a node
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=37, budget=1.2e6/8)
# %% wrong: a trillion tokens for seventy billion parameters
answer = dict(model="Llama 3 70B", machine="H100", tokens=1e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=24.5, budget=0.76e6)
# %% wrong: tensor ranks over the whole node, by habit
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=8, pp=1, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=40, budget=1.2e6)
# %% wrong: the states fit, activations and logits are forgotten
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=2, v=1, micro=2,
              sequences=2048, recompute="none", interval=2400, days=37, budget=1.15e6)
# %% wrong: everything is recomputed, to be safe
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="full", interval=2400, days=46, budget=1.45e6)
# %% wrong: more stages than microbatches fill
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=16, v=1, micro=1,
              sequences=256, recompute="none", interval=2400, days=56, budget=1.75e6)
# %% wrong: the largest machine, and a small model
answer = dict(model="Llama 3 8B", machine="H100", tokens=15e12, count=1024, tp=2, pp=1, v=1, micro=1, sequences=4096,
              recompute="none", interval=50, days=2.8, budget=1.4e6)
# %% wrong: a step of 34 million tokens, for then no transfer is seen
answer = dict(model="Llama 3 8B", machine="A100", tokens=170e9, count=16, tp=2, pp=1, v=1, micro=2, sequences=4096,
              recompute="none", interval=3200, days=4.6, budget=14e3)
# %% wrong: ranks that do not make up the machine
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=60, tp=4, pp=7, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=37, budget=1.2e6)
# %% wrong: six tensor ranks
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=48, tp=6, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=2400, days=45, budget=1.2e6)
# %% wrong: a checkpoint every day
answer = dict(model="Llama 3 70B", machine="H100", tokens=1.5e12, count=64, tp=4, pp=4, v=1, micro=1,
              sequences=2048, recompute="none", interval=86400, days=44, budget=1.3e6)
# %% wrong: tokens in billions
answer = dict(model="Llama 3 8B", machine="H100", tokens=200, count=16, tp=2, pp=1, v=1, micro=2, sequences=1024,
              recompute="none", interval=3200, days=2.1, budget=16000)
