# %% right: group by group
g = given("transformer-math-active")
D, moe = g["D"], g["L"] - g["L1"]
expert = 3*D*g["F"]
routed = g["k"]*expert + D*g["E"]
shared = 3*D*2*g["F"] + D
answer = g["L"]*g["A"] + g["L1"]*3*D*g["F1"] + moe*(routed + shared) + D*g["V"]
# %% right: typed
answer = 2532364288
# %% right: typed with commas
answer = "2,532,364,288"
# %% right: the library's parts, shared as two experts more
g = given("transformer-math-active")
D = g["D"]
layer = moe_active_params(D, g["F"], g["E"], g["k"] + 2) + D
answer = int(28*g["A"] + 2*mlp_params(D, g["F1"]) + 26*layer + g["V"]*D)
# %% right: a loop over the layers
total = 2048*102400
for layer in range(28):
    total += 13_762_560
    if layer < 2:
        total += 3*2048*10944
    else:
        total += 6*3*2048*1408 + 64*2048 + 3*2048*(2*1408) + 2048
answer = total
# %% right: columns that stand beside D
beside = 28*(13762560//2048) + 2*3*10944 + 26*(3*1408*8 + 64 + 1) + 102400
answer = 2048*beside
# %% right: FLOPs of a token by torch, halved
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
D = 2048
with torch.device("meta"):
    x = torch.empty(1, D)
    wide = [nn.Linear(D, n, bias=False) for n in (
        [6720]*28 + [10944]*6 + ([1408]*18 + [64] + [2816]*3 + [1])*26 + [102400])]
    with FlopCounterMode(display=False) as counter:
        for w in wide:
            w(x)
answer = counter.get_total_flops()//2
# %% right: everything, less what sleeps and what is looked up
import numpy as np
sizes = {"attention": 28*13762560, "dense": 2*3*2048*10944, "experts": 26*64*3*2048*1408,
         "router": 26*64*2048, "shared": 26*6*2048*1408, "vector": 26*2048, "tables": 2*2048*102400}
asleep = 26*58*3*2048*1408
answer = np.int64(sum(sizes.values()) - asleep - 2048*102400)
# %% wrong: the lookup too
answer = 2532364288 + 2048*102400
# %% wrong: no output layer
answer = 2532364288 - 2048*102400
# %% wrong: the router left out
answer = 2532364288 - 26*2048*64
# %% wrong: the router's six columns that are taken
answer = 2532364288 - 26*2048*(64 - 6)
# %% wrong: the learned vector left out
answer = 2532364288 - 26*2048
# %% wrong: the shared expert as wide as a routed one
answer = 2532364288 - 26*3*2048*1408
# %% wrong: no shared expert
answer = 2532364288 - 26*(6*2048*1408 + 2048)
# %% wrong: all experts
answer = 2532364288 + 26*58*3*2048*1408
# %% wrong: all layers have experts
g = given("transformer-math-active")
D = g["D"]
answer = 28*(g["A"] + 8*3*D*g["F"] + 65*D) + g["V"]*D
# %% wrong: experts without a gate
answer = 2532364288 - 26*6*2048*1408
# %% wrong: dense MLPs without a gate
answer = 2532364288 - 2*2048*10944
# %% wrong: attention of the layers with experts only
answer = 2532364288 - 2*13762560
# %% wrong: shared expert one of the six
answer = 2532364288 - 26*3*2048*1408 - 26*2048
# %% wrong: the vector has a number for every expert
answer = 2532364288 + 26*2048*63
# %% wrong: one dense layer
answer = 2532364288 - 3*2048*10944 + (8*3*2048*1408 + 65*2048)
# %% wrong: a number instead of a vector
answer = 2532364288 - 26*2048 + 26
# %% wrong: FLOPs
answer = 2*2532364288
