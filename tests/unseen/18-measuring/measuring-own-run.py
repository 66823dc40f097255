# %% right: Llama 3 70B on 640 nodes, typed
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=640,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1280,
    recompute="none",
    interval=235,
    days=56.3,
    budget=17.3e6,
)
# %% right: the whole account, written out
from hwlib.planner import machine_of

n, count = 2048, 256
P, flops = parameter_count(models["llama3-405b"]), step_flops("llama3-405b", 2048 * 8192, 8192)
steps = 1e25 / flops
one = step_time(
    "llama3-405b",
    "megatron-core-b200",
    machine_of("1024 x dgx-b200").levels,
    Strategy.of(dp=16, tp=8, pp=16, v=8, zero=1),
    B=2048 * 8192,
    T=8192,
)
mtbf, save = 54 * day * 16384 / 419 / n, 14 * P / (count * 2e9)
tau = young_interval(save, mtbf)
seconds = 1.045 * 1.0001 * steps * float(one.total) / goodput_fraction(tau, save, 600, mtbf)
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=1.0001 * steps * 2048 * 8192,
    count=count,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=tau,
    days=1.006 * seconds / day,
    budget=1.01 * seconds / 3600 * n * given("measuring-own-run")["b200"],
)
# %% right: texts with units
answer = {
    "model": "Llama 3 405B",
    "machine": "B200",
    "tokens": "3.97e12 tokens",
    "count": "256",
    "tp": "8",
    "pp": "16",
    "v": "8",
    "micro": "1",
    "sequences": "2,048",
    "recompute": "none",
    "interval": "23 min",
    "days": "54.1 days",
    "budget": "17.3 MUSD",
}
# %% right: numpy numbers, an interval a quarter too long
import numpy as np

answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=np.float64(2.23e13),
    count=np.int64(672),
    tp=np.int32(4),
    pp=4,
    v=10,
    micro=1,
    sequences=np.int64(1344),
    recompute="none",
    interval=np.float64(280),
    days=53.7,
    budget=np.float32(1.735e7),
)
# %% right: Fractions, four chunks, the deadline in hours
from fractions import Fraction

answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=397 * 10**10,
    count=256,
    tp=8,
    pp=16,
    v=4,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=Fraction(1400),
    days="1310 h",
    budget=17.43e6,
)
# %% right: sixteen chunks on eight stages of 240 nodes
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=240,
    tp=8,
    pp=8,
    v=16,
    micro=1,
    sequences=1920,
    recompute="none",
    interval=1500,
    days=58.1,
    budget=17.43e6,
)
# %% wrong: the plan of the opening, and 20 tokens a parameter
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=1.42e12,
    count=64,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1024,
    recompute="none",
    interval=2400,
    days=31,
    budget=955000,
)
# %% wrong: the opening's plan with its interval, on ten times the nodes
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=640,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1280,
    recompute="none",
    interval=2400,
    days=57.5,
    budget=17.7e6,
)
# %% wrong: all the nodes there are
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=1024,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=147,
    days=35.6,
    budget=17.5e6,
)
# %% wrong: the budget is the model's without the error, and so are the days
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=640,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1280,
    recompute="none",
    interval=235,
    days=55.82 / 1.045,
    budget=17147660 / 1.045,
)
# %% wrong: days of undisturbed steps
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
    days=52.4,
    budget=17.3e6,
)
# %% wrong: the deadline in the mean, without a margin
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
    days=53.62,
    budget=17.3e6,
)
# %% wrong: the last day that is allowed
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
    days=60,
    budget=17.3e6,
)
# %% wrong: a budget at a price of a node
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=640,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1280,
    recompute="none",
    interval=235,
    days=56.3,
    budget=17.3e6 / 8,
)
# %% wrong: the forward pass counted twice, as if it were recomputed
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=1e25 / (8 * 405.9e9),
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
    days=42,
    budget=13.42e6,
)
# %% wrong: the count of operations without attention
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.9e12,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
    days=53.2,
    budget=17.0e6,
)
# %% wrong: tensor ranks over the whole node, by habit
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=768,
    tp=8,
    pp=4,
    v=10,
    micro=1,
    sequences=1536,
    recompute="none",
    interval=195,
    days=53.4,
    budget=19.7e6,
)
# %% wrong: the states fit, activations are forgotten
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=608,
    tp=4,
    pp=2,
    v=20,
    micro=1,
    sequences=1216,
    recompute="none",
    interval=247,
    days=57.9,
    budget=16.9e6,
)
# %% wrong: everything is recomputed, to be safe
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=384,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=1920,
    recompute="full",
    interval=940,
    days=49.4,
    budget=23.7e6,
)
# %% wrong: a pipeline in one chunk
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=1024,
    tp=4,
    pp=4,
    v=1,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=147,
    days=53.7,
    budget=26.3e6,
)
# %% wrong: a model that needs no pipeline, over all the text
answer = dict(
    model="Qwen3 32B",
    machine="B200",
    tokens=4.6e13,
    count=256,
    tp=2,
    pp=1,
    v=1,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=400,
    days=58.2,
    budget=18.6e6,
)
# %% wrong: eight billion parameters and every token there is
answer = dict(
    model="Llama 3 8B",
    machine="H100",
    tokens=5e13,
    count=512,
    tp=2,
    pp=1,
    v=1,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=99,
    days=16.6,
    budget=4.1e6,
)
# %% wrong: the cheapest GPUs
answer = dict(
    model="Llama 3 70B",
    machine="A100",
    tokens=2.23e13,
    count=1024,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=147,
    days=60,
    budget=11.8e6,
)
# %% wrong: ranks that do not make up the machine
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=600,
    tp=4,
    pp=7,
    v=1,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=240,
    days=58,
    budget=17.2e6,
)
# %% wrong: six tensor ranks
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=672,
    tp=6,
    pp=4,
    v=10,
    micro=1,
    sequences=1344,
    recompute="none",
    interval=223,
    days=53.7,
    budget=17.3e6,
)
# %% wrong: more nodes and the same sequences
answer = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=700,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1216,
    recompute="none",
    interval=214,
    days=52,
    budget=17.3e6,
)
# %% wrong: a checkpoint every day
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=86400,
    days=60,
    budget=17.4e6,
)
# %% wrong: tokens in billions
answer = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3970,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
    days=54.1,
    budget=17.3e6,
)
