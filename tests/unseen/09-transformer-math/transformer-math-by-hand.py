# %% right: step by step
g = given("transformer-math-by-hand")
s = g["A"]/6/448
block = round_e4m3(g["a"]/6/s)*s
answer = round_e2m1(g["w"]/block)*block
# %% right: by hand, 160 and 3
answer = 3*160*5.1/2688
# %% right: typed
answer = 0.9107
# %% right: as a text
answer = "0.911"
# %% right: a fraction
from fractions import Fraction
answer = Fraction(51, 56)
# %% right: nearest of all numbers, by a list
g = given("transformer-math-by-hand")
e4m3 = [(1 + m/8)*2.0**e for e in range(-6, 9) for m in range(8) if (1 + m/8)*2.0**e <= 448]
s = g["A"]/(6*448)
scale = min(e4m3, key=lambda x: abs(x - g["a"]/(6*s)))
code = min(E2M1, key=lambda x: abs(x - g["w"]/(scale*s)))
answer = code*scale*s
# %% right: torch's own eight-bit float
g = given("transformer-math-by-hand")
s = g["A"]/(6*448)
scale = torch.tensor(g["a"]/(6*s)).to(torch.float8_e4m3fn).float().item()
grid = torch.tensor(E2M1)
answer = float(grid[(grid - g["w"]/(scale*s)).abs().argmin()])*scale*s
# %% right: numpy, steps by logarithms
import numpy as np
def nearest(x, bits):
    step = 2.0**(np.floor(np.log2(x)) - bits)
    return np.rint(x/step)*step
unit = 5.1/2688
scale = nearest(1.78/(6*unit), 3)
answer = nearest(1.062/(scale*unit), 1)*scale*unit
# %% wrong: the block's scale is not rounded
g = given("transformer-math-by-hand")
answer = round_e2m1(g["w"]/(g["a"]/6))*g["a"]/6
# %% wrong: divides by the unrounded scale, multiplies with the rounded one
g = given("transformer-math-by-hand")
s = g["A"]/(6*448)
answer = round_e2m1(g["w"]/(g["a"]/6))*round_e4m3(g["a"]/6/s)*s
# %% wrong: divides by the rounded scale, multiplies with the unrounded one
g = given("transformer-math-by-hand")
answer = 3*g["a"]/6
# %% wrong: no scale of the tensor
g = given("transformer-math-by-hand")
scale = round_e4m3(g["a"]/6)
answer = round_e2m1(g["w"]/scale)*scale
# %% wrong: as if there were 3.5
answer = 3.5*160*5.1/2688
# %% wrong: rounded up
answer = 4*160*5.1/2688
# %% wrong: the scale rounded down
answer = round_e2m1(1.062/(144*5.1/2688))*144*5.1/2688
# %% wrong: the scale is an integer
answer = round_e2m1(1.062/(156*5.1/2688))*156*5.1/2688
# %% wrong: 256 instead of 448
g = given("transformer-math-by-hand")
s = g["A"]/(6*256)
scale = round_e4m3(g["a"]/6/s)*s
answer = round_e2m1(g["w"]/scale)*scale
# %% wrong: the code
answer = 3
# %% wrong: in units of the tensor's scale
answer = 480
# %% wrong: the matrix's largest to 448, without the 6
g = given("transformer-math-by-hand")
s = g["A"]/448
scale = round_e4m3(g["a"]/6/s)*s
answer = round_e2m1(g["w"]/scale)*scale
# %% wrong: the largest of the matrix scales the block
g = given("transformer-math-by-hand")
scale = g["A"]/6
answer = round_e2m1(g["w"]/scale)*scale
# %% wrong: steps of a half up to 6
answer = round(2*1.062/(1.78/6))/2*1.78/6
