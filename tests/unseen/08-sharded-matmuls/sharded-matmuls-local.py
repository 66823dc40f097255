# %% right: both parts from the numbers
g = given("sharded-matmuls-local")
weight = g["D"]//(g["X"]*g["Z"])*(g["F"]//g["Y"])*2
gradient = g["D"]//g["X"]*g["F"]*4
answer = weight + gradient
# %% right: as a text in MB
answer = "59.64 MB"
# %% right: in MiB, which is no rounding
g = given("sharded-matmuls-local")
part = g["D"]*g["F"]/g["X"]
answer = f"{(part*4 + 2*part/(g['Y']*g['Z']))/2**20} MiB"
# %% right: numpy arrays without data
import numpy as np
w = np.broadcast_to(np.float16(0), (8192//128, 28672//4))
dw = np.broadcast_to(np.float32(0), (8192//16, 28672))
answer = np.int64(w.size*w.itemsize + dw.size*dw.itemsize)
# %% right: torch on the meta device, one device's tensors
w = torch.empty(64, 7168, dtype=torch.bfloat16, device="meta")
g = torch.empty(512, 28672, dtype=torch.float32, device="meta")
answer = sum(t.numel()*t.element_size() for t in (w, g))
# %% right: all devices together, divided by their number and the copies
g = given("sharded-matmuls-local")
n = g["X"]*g["Y"]*g["Z"]
weights = 2*g["D"]*g["F"]                  # no copy of it
gradients = 4*g["D"]*g["F"]*g["Y"]*g["Z"]  # a term or a copy along Y and Z
answer = (weights + gradients)/n
# %% wrong: the open axis splits the gradient's columns
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]/512 + 4*g["D"]*g["F"]/(g["X"]*g["Y"])
# %% wrong: both in bf16
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]*(1/512 + 1/16)
# %% wrong: both in fp32
g = given("sharded-matmuls-local")
answer = 4*g["D"]*g["F"]*(1/512 + 1/16)
# %% wrong: the formats exchanged
g = given("sharded-matmuls-local")
answer = 4*g["D"]*g["F"]/512 + 2*g["D"]*g["F"]/16
# %% wrong: the second letter of XZ overlooked
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]/(16*4) + 4*g["D"]*g["F"]/16
# %% wrong: the weight's columns not split
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]/(16*8) + 4*g["D"]*g["F"]/16
# %% wrong: keeps all four terms of the sum
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]/512 + 4*g["Y"]*g["D"]*g["F"]/16
# %% wrong: Z splits the gradient too
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]/512 + 4*g["D"]*g["F"]/(16*8)
# %% wrong: the gradient lies like the weight
g = given("sharded-matmuls-local")
answer = (2 + 4)*g["D"]*g["F"]/512
# %% wrong: the gradient is whole on every device
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"]/512 + 4*g["D"]*g["F"]
# %% wrong: the gradient alone
answer = "58.72 MB"
# %% wrong: the weight alone
answer = "917.5 kB"
# %% wrong: elements, not bytes
g = given("sharded-matmuls-local")
answer = g["D"]*g["F"]/512 + g["D"]*g["F"]/16
# %% wrong: all devices of the mesh
g = given("sharded-matmuls-local")
answer = 2*g["D"]*g["F"] + 4*g["D"]*g["F"]*g["Y"]*g["Z"]
# %% wrong: MiB written as MB
answer = "56.875 MB"
# %% wrong: the axes of a dimension added instead of multiplied
g = given("sharded-matmuls-local")
answer = 2*g["D"]/(g["X"] + g["Z"])*g["F"]/g["Y"] + 4*g["D"]*g["F"]/16
# %% wrong: megabytes without their unit
answer = 59.64
# %% wrong: bits for bytes
g = given("sharded-matmuls-local")
answer = 8*(2*g["D"]*g["F"]/512 + 4*g["D"]*g["F"]/16)
# %% wrong: both, not together
g = given("sharded-matmuls-local")
answer = (2*g["D"]*g["F"]/512, 4*g["D"]*g["F"]/16)
# %% wrong: the letter of the unit
answer = "59.64 GB"
# %% wrong: a rate
answer = "59.64 MB/s"
