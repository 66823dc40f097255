# %% right: step by step
g = given("transformer-math-by-hand")
s = g["A"]/6/448
block = round_e4m3(g["a"]/6/s)*s
answer = round_e2m1(g["w"]/block)*block
# %% right: by hand, 32 and 6
answer = 6*32*7.6/2688
# %% right: typed
answer = 0.5429
# %% right: as a text
answer = "0.543"
# %% right: a fraction
from fractions import Fraction
answer = Fraction(19, 35)
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
unit = 7.6/2688
scale = nearest(0.57/(6*unit), 3)
answer = nearest(0.468/(scale*unit), 1)*scale*unit
# %% wrong: the block's scale is not rounded
g = given("transformer-math-by-hand")
answer = round_e2m1(g["w"]/(g["a"]/6))*g["a"]/6
# %% wrong: divides by the unrounded scale, multiplies with the rounded one
g = given("transformer-math-by-hand")
s = g["A"]/(6*448)
answer = round_e2m1(g["w"]/(g["a"]/6))*round_e4m3(g["a"]/6/s)*s
# %% wrong: divides by the rounded scale, multiplies with the unrounded one
g = given("transformer-math-by-hand")
answer = 6*g["a"]/6
# %% wrong: no scale of the tensor
g = given("transformer-math-by-hand")
scale = round_e4m3(g["a"]/6)
answer = round_e2m1(g["w"]/scale)*scale
# %% wrong: as if there were 5
answer = 5*32*7.6/2688
# %% wrong: rounded down
answer = 4*32*7.6/2688
# %% wrong: the scale rounded up
answer = round_e2m1(0.468/(36*7.6/2688))*36*7.6/2688
# %% wrong: the scale is an integer
answer = round_e2m1(0.468/(34*7.6/2688))*34*7.6/2688
# %% wrong: 256 instead of 448
g = given("transformer-math-by-hand")
s = g["A"]/(6*256)
scale = round_e4m3(g["a"]/6/s)*s
answer = round_e2m1(g["w"]/scale)*scale
# %% wrong: the code
answer = 6
# %% wrong: in units of the tensor's scale
answer = 192
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
answer = round(2*0.468/(0.57/6))/2*0.57/6
# %% wrong: the block's largest weight goes to 4
g = given("transformer-math-by-hand")
s = g["A"]/6/448
block = round_e4m3(g["a"]/4/s)*s
answer = round_e2m1(g["w"]/block)*block
# %% wrong: the weight as a share of the matrix's largest
g = given("transformer-math-by-hand")
answer = g["w"]/g["A"]
