# %% right: three arrays over the bandwidth
g = given("rooflines-vector-add")
answer = 3*g["b"]*g["N"]/g["W"]
# %% right: as a text in milliseconds
g = given("rooflines-vector-add")
answer = f"{3*g['b']*g['N']/g['W']*1e3:.4g} ms"
# %% right: both clocks, the longer
g = given("rooflines-vector-add")
answer = max(g["N"]/g["C"], 3*g["N"]*g["b"]/g["W"])
# %% right: the library
g = given("rooflines-vector-add")
answer = vector_add_time(g["N"], g["W"], g["b"])
# %% right: typed, in microseconds
answer = "805 us"
# %% right: from the intensity
g = given("rooflines-vector-add")
I = pointwise_intensity(ops=1, reads=2, b=g["b"])
answer = g["N"]/attainable_flops(I, g["C"], g["W"])
# %% right: Fraction of whole numbers
from fractions import Fraction
g = given("rooflines-vector-add")
answer = Fraction(3*g["b"]*g["N"], int(g["W"]))
# %% right: numpy, bytes of each array
import numpy as np
g = given("rooflines-vector-add")
arrays = np.array([g["N"], g["N"], g["N"]], dtype=float)*g["b"]
answer = arrays.sum()/g["W"]
# %% right: three arrays, typed out
answer = 3*2*2**30/8e12
# %% wrong: counts the loads, forgets the store
g = given("rooflines-vector-add")
answer = 2*g["b"]*g["N"]/g["W"]
# %% wrong: one array
g = given("rooflines-vector-add")
answer = g["b"]*g["N"]/g["W"]
# %% wrong: the arithmetic
g = given("rooflines-vector-add")
answer = g["N"]/g["C"]
# %% wrong: elements of half the width
g = given("rooflines-vector-add")
answer = 3*(g["b"]/2)*g["N"]/g["W"]
# %% wrong: elements for bytes
g = given("rooflines-vector-add")
answer = 3*g["N"]/g["W"]
# %% wrong: the target is fetched before it is written
g = given("rooflines-vector-add")
answer = 4*g["b"]*g["N"]/g["W"]
# %% wrong: bits for bytes
g = given("rooflines-vector-add")
answer = 3*8*g["b"]*g["N"]/g["W"]
# %% wrong: a TB/s of 2 to the 40
g = given("rooflines-vector-add")
answer = 3*g["b"]*g["N"]/(g["W"]/1e12*2**40)
# %% wrong: in ms without a unit
g = given("rooflines-vector-add")
answer = 3*g["b"]*g["N"]/g["W"]*1e3
# %% wrong: a billion elements, and only two arrays
g = given("rooflines-vector-add")
answer = 2*g["b"]*1e9/g["W"]
# %% wrong: the shorter clock, with a multiply-add
g = given("rooflines-vector-add")
answer = min(2*g["N"]/g["C"], 3*g["b"]*g["N"]/g["W"])
# %% wrong: bandwidth halved, as if both ways
g = given("rooflines-vector-add")
answer = 3*g["b"]*g["N"]/(g["W"]/2)
