# %% right: the library
g = given("rooflines-matmul-time")
answer = matmul_time(g["B"], g["D"], g["F"], g["C"], g["W"])
# %% right: both clocks by hand
g = given("rooflines-matmul-time")
B, D, F = g["B"], g["D"], g["F"]
t_C = 2*B*D*F/g["C"]
t_W = 2*(B*D + D*F + B*F)/g["W"]
answer = t_C if t_C > t_W else t_W
# %% right: text in us
g = given("rooflines-matmul-time")
bytes = matmul_bytes(g["B"], g["D"], g["F"])
answer = f"{max(bytes/g['W'], 2*g['B']*g['D']*g['F']/g['C'])*1e6:.3f} us"
# %% right: typed, three digits
answer = "8.78 us"
# %% right: FLOPs over the attainable rate
g = given("rooflines-matmul-time")
shape = g["B"], g["D"], g["F"]
answer = matmul_flops(*shape)/attainable_flops(matmul_intensity(*shape), g["C"], g["W"])
# %% right: numpy arrays' own bytes
import numpy as np
g = given("rooflines-matmul-time")
sides = np.array([[g["B"], g["D"]], [g["D"], g["F"]], [g["B"], g["F"]]])
bytes = 2*sides.prod(axis=1).sum()
answer = np.maximum(2*g["B"]*g["D"]*g["F"]/g["C"], bytes/g["W"])
# %% right: in nanoseconds, a Fraction
from fractions import Fraction
g = given("rooflines-matmul-time")
bits = 16*(g["B"]*g["D"] + g["D"]*g["F"] + g["B"]*g["F"])
clocks = Fraction(bits, 8)/int(g["W"]), Fraction(2*g["B"]*g["D"]*g["F"], int(g["C"]))
answer = f"{float(max(clocks)*10**9):.0f} ns"
# %% right: memory clock times one, or the ratio to the ridge
g = given("rooflines-matmul-time")
shape = g["B"], g["D"], g["F"]
over = matmul_intensity(*shape)/ridge(g["C"], g["W"])
answer = matmul_bytes(*shape)/g["W"]*max(1, over)
# %% wrong: the shorter clock, here the arithmetic
g = given("rooflines-matmul-time")
answer = minimum(matmul_flops(g["B"], g["D"], g["F"])/g["C"], matmul_bytes(g["B"], g["D"], g["F"])/g["W"])
# %% wrong: the weights are all the traffic
g = given("rooflines-matmul-time")
answer = 2*g["D"]*g["F"]/g["W"]
# %% wrong: adds the clocks
g = given("rooflines-matmul-time")
answer = serial_time(matmul_flops(g["B"], g["D"], g["F"]), matmul_bytes(g["B"], g["D"], g["F"]), g["C"], g["W"])
# %% wrong: a byte an element
g = given("rooflines-matmul-time")
answer = matmul_time(g["B"], g["D"], g["F"], g["C"], g["W"], b=1)
# %% wrong: four bytes an element
g = given("rooflines-matmul-time")
answer = matmul_time(g["B"], g["D"], g["F"], g["C"], g["W"], b=4)
# %% wrong: a third of both rates, one for each array
g = given("rooflines-matmul-time")
answer = matmul_time(g["B"], g["D"], g["F"], g["C"]/3, g["W"]/3)
# %% wrong: activations only
g = given("rooflines-matmul-time")
answer = 2*(g["B"]*g["D"] + g["B"]*g["F"])/g["W"]
# %% wrong: a square layer
g = given("rooflines-matmul-time")
answer = matmul_time(g["B"], g["D"], g["D"], g["C"], g["W"])
# %% wrong: digits right, unit ms
answer = "8.78 ms"
# %% wrong: in microseconds, without the unit
g = given("rooflines-matmul-time")
answer = matmul_time(g["B"], g["D"], g["F"], g["C"], g["W"])*1e6
# %% wrong: a TB/s of 2 to the 40
g = given("rooflines-matmul-time")
answer = matmul_bytes(g["B"], g["D"], g["F"])/(g["W"]/1e12*2**40)
# %% wrong: weights and result, each read and written
g = given("rooflines-matmul-time")
answer = 2*matmul_bytes(g["B"], g["D"], g["F"])/g["W"]
