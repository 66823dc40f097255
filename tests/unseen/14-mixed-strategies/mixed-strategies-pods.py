# %% right: tokens of a chip, counted down
import math
from fractions import Fraction
g = given("mixed-strategies-pods")
needed = g["C"]**2/(g["F"]*2*g["W"]*g["W"])
answer = math.floor(g["B"]/(g["chips"]*needed))
# %% right: tried pod by pod, with both axes' times
g = given("mixed-strategies-pods")
def hidden(pods):
    import math
    B, n = g["B"]/pods, g["chips"]
    dp = math.sqrt(2*B*n*2*g["W"]/(2*g["F"]*g["W"]))
    D = 1.0
    weights = 2*2*D*g["F"]*dp/(n*2*g["W"])
    tokens = 2*2*B*D/(dp*g["W"])
    return 2*2*B*D*g["F"]/(n*g["C"]) >= max(weights, tokens)*(1 - 1e-12)
answer = max(p for p in range(1, 200) if hidden(p))
# %% right: with the library's bound
from hwlib.parallel import mixed_critical_batch
g = given("mixed-strategies-pods")
answer = int(g["B"]//(g["chips"]*mixed_critical_batch(g["F"], g["C"], 2*g["W"], g["W"], matrices=2)))
# %% right: a numpy integer
import numpy as np
g = given("mixed-strategies-pods")
answer = np.int64(np.floor(2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)))
# %% right: a text
answer = "15"
# %% wrong: rounded up
import math
g = given("mixed-strategies-pods")
answer = math.ceil(2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2))
# %% wrong: the times of both axes added
g = given("mixed-strategies-pods")
answer = int(g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)/2)
# %% wrong: FSDP alone on two axes
g = given("mixed-strategies-pods")
answer = int(g["B"]/(g["chips"]*g["C"]/(2*g["W"])))
# %% wrong: FSDP alone on three axes
g = given("mixed-strategies-pods")
answer = int(g["B"]/(g["chips"]*g["C"]/(3*g["W"])))
# %% wrong: one axis for the weights instead of two
g = given("mixed-strategies-pods")
answer = int(g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2))
# %% wrong: as many as the batch has sequences for a chip
g = given("mixed-strategies-pods")
answer = int(g["B"]/g["chips"])
# %% wrong: an axis's bandwidth halved to one direction
g = given("mixed-strategies-pods")
answer = int(2*g["B"]*g["F"]*(g["W"]/2)**2/(g["chips"]*g["C"]**2))
# %% wrong: three matrices and three axes of one kind
g = given("mixed-strategies-pods")
answer = int(g["B"]*3*g["F"]*g["W"]**2*2/(g["chips"]*g["C"]**2))
# %% wrong: four pods, as the book says
answer = 4
# %% wrong: down to a power of two
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = 2**int(most).bit_length()//2
# %% wrong: further pods besides the first
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = int(most) - 1
# %% wrong: chips, not pods
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = int(most*g["chips"])
# %% wrong: three matrices
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = int(1.5*most)
# %% wrong: the root of the bound
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = int(most**0.5)
# %% wrong: the tensor degree that is hidden
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = int(g["F"]*g["W"]/g["C"])
# %% wrong: all three axes for weights and for tokens
g = given("mixed-strategies-pods")
most = 2*g["B"]*g["F"]*g["W"]**2/(g["chips"]*g["C"]**2)
answer = int(most*9/2)
