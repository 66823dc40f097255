# %% right: one forward, one for x, one for each weight
answer = 1 + 1 + 5
# %% right: typed
answer = 7
# %% right: as a text
answer = "7"
# %% right: from the given number of weights
g = given("sharded-matmuls-count")
weights = g["k"] + 1
answer = weights + 2
# %% right: counted on shapes, as autograd calls them
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import empty, Replicate, Shard
def lay(mesh, *shape, at):
    return empty(*shape, dtype=torch.bfloat16, device_mesh=mesh, placements=at)
rows, columns, down = [Shard(0), Replicate()], [Replicate(), Shard(1)], [Replicate(), Shard(0)]
with virtual.cluster("superpod-h100-8su") as world:
    mesh = init_device_mesh("cpu", (256, 8))
    with world.shapes():
        x, dy = lay(mesh, 4096, 512, at=rows), lay(mesh, 4096, 512, at=rows)
        ups = [lay(mesh, 512, 1024, at=columns) for _ in range(4)]
        last = lay(mesh, 1024, 512, at=down)
    arrays = [x, *ups, last]
    for a in arrays:
        a.requires_grad_()
    def step():
        h = x @ ups[0]
        for w in ups[1:]:
            h = h*(x @ w)
        y = (h @ last).redistribute(placements=rows)
        y.backward(dy)
        return [a.grad.redistribute(placements=a.placements) for a in arrays]
    timing = world.step(step)
answer = sum(timing.of("all_reduce", n).number for n in (8, 256))
# %% right: letters, axis by axis
along_Y = ["y", "dx"]                              # F is summed over
along_X = [f"dW{i}" for i in range(4)] + ["dW_down"]   # the tokens are
answer = len(along_X + along_Y)
# %% right: a numpy integer
import numpy as np
answer = np.int32(np.array([1, 1, 4, 1]).sum())
# %% wrong: forward only
answer = 1
# %% wrong: the weights' gradients forgotten
answer = 2
# %% wrong: the gradient of x forgotten
answer = 6
# %% wrong: the gradients of the weights alone
answer = 5
# %% wrong: a sum over Y for each product's share of dx
answer = 1 + 4 + 5
# %% wrong: the four products are summed too
answer = 4 + 1 + 1 + 5
# %% wrong: an all-reduce counted as scatter and gather
answer = 14
# %% wrong: backward of the all-reduce is one more
answer = 8
# %% wrong: two sums for each weight's gradient
answer = 1 + 1 + 10
# %% wrong: the weights' gradients in one bucket
answer = 3
# %% wrong: a gather of each weight forward and backward
answer = 1 + 1 + 5 + 10
# %% wrong: h is gathered for the product with the last weight
answer = 9
# %% wrong: three weights, as in a gated MLP
answer = 1 + 1 + 3
# %% wrong: the four, the fifth forgotten
answer = 1 + 1 + 4
