# %% right: the planner's best
answer = dict(dp=4, tp=8, pp=16, cp=2, v=8, micro=1, zero=1, recompute="none")
# %% right: taken from the planner's object
from hwlib.planner import Software, plan
found = plan("llama3-405b", "superpod-h100-4su", B=2**22, T=8192, gpus=1024, memory=78e9,
             software=Software(stack="megatron-core-h100"))[0].strategy
answer = {name: getattr(found, name) for name in ("dp", "tp", "pp", "cp", "v", "micro", "zero", "recompute")}
# %% right: twice the stages
answer = {"tp": 8, "cp": 2, "pp": 32, "dp": 2, "v": 4, "micro": 1, "zero": 1, "recompute": "none"}
# %% right: whole numbers as floats and numpy
import numpy as np
answer = dict(dp=4.0, tp=np.int64(8), pp=16, cp=2, v=8, micro=1, zero=1, recompute="none")
# %% wrong: the data axis has everything
answer = dict(dp=1024, tp=1, pp=1, cp=1, v=1, micro=1, zero=3, recompute="none")
# %% wrong: FSDP with tensor ranks in the node
answer = dict(dp=128, tp=8, pp=1, cp=1, v=1, micro=1, zero=3, recompute="full")
# %% wrong: Llama's own plan, without interleaving
answer = dict(dp=8, tp=8, pp=16, cp=1, v=1, micro=1, zero=1, recompute="none")
# %% wrong: all recomputed
answer = dict(dp=4, tp=8, pp=16, cp=2, v=8, micro=1, zero=1, recompute="full")
# %% wrong: a tensor axis of two nodes
answer = dict(dp=4, tp=16, pp=16, cp=1, v=1, micro=1, zero=1, recompute="none")
# %% wrong: twice the GPUs
answer = dict(dp=8, tp=8, pp=16, cp=2, v=8, micro=1, zero=1, recompute="none")
# %% wrong: a pipeline with ZeRO-3
answer = dict(dp=4, tp=8, pp=16, cp=2, v=8, micro=1, zero=3, recompute="none")
# %% wrong: chunks that the layers do not give
answer = dict(dp=4, tp=8, pp=16, cp=2, v=7, micro=1, zero=1, recompute="none")
# %% wrong: larger microbatches, fewer than stages
answer = dict(dp=4, tp=8, pp=16, cp=2, v=8, micro=16, zero=1, recompute="none")
# %% wrong: no context axis, many replicas, few stages
answer = dict(dp=32, tp=8, pp=4, cp=1, v=1, micro=1, zero=1, recompute="selective")
