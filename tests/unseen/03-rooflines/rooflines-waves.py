# %% right: rounds up three times
g = given("rooflines-waves")
answer = ceil(ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])/g["n_SM"])
# %% right: whole numbers, negated floors
g = given("rooflines-waves")
rows, columns = -(-g["M"]//g["m"]), -(-g["N"]//g["n"])
answer = -(-rows*columns//g["n_SM"])
# %% right: hands out tiles until none is left
g = given("rooflines-waves")
tiles = [(i, j) for i in range(0, g["M"], g["m"]) for j in range(0, g["N"], g["n"])]
answer = 0
while tiles:
    del tiles[:g["n_SM"]]
    answer += 1
# %% right: numpy
import numpy as np
g = given("rooflines-waves")
tiles = np.ceil(np.array([g["M"], g["N"]])/[g["m"], g["n"]]).prod()
answer = np.ceil(tiles/g["n_SM"])
# %% right: the number of the last wave
g = given("rooflines-waves")
last_row, last_column = (g["M"] - 1)//g["m"], (g["N"] - 1)//g["n"]
tiles = (last_row + 1)*(last_column + 1)
answer = (tiles - 1)//g["n_SM"] + 1
# %% right: sympy ceilings
import sympy
g = given("rooflines-waves")
r, c = sympy.Rational(g["M"], g["m"]), sympy.Rational(g["N"], g["n"])
answer = sympy.ceiling(sympy.ceiling(r)*sympy.ceiling(c)/g["n_SM"])
# %% right: typed
answer = 7
# %% wrong: rounds only once, at the end
g = given("rooflines-waves")
answer = ceil(g["M"]*g["N"]/(g["m"]*g["n"])/g["n_SM"])
# %% wrong: rounds down at the end
g = given("rooflines-waves")
answer = ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])//g["n_SM"]
# %% wrong: not rounded at the end
g = given("rooflines-waves")
answer = ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])/g["n_SM"]
# %% wrong: the tiles
g = given("rooflines-waves")
answer = ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])
# %% wrong: the tile lies the other way
g = given("rooflines-waves")
answer = ceil(ceil(g["M"]/g["n"])*ceil(g["N"]/g["m"])/g["n_SM"])
# %% wrong: drops the tiles at the edges
g = given("rooflines-waves")
answer = ceil((g["M"]//g["m"])*(g["N"]//g["n"])/g["n_SM"])
# %% wrong: square tiles of 128
g = given("rooflines-waves")
answer = ceil(ceil(g["M"]/128)*ceil(g["N"]/128)/g["n_SM"])
# %% wrong: rows and columns of tiles added
g = given("rooflines-waves")
answer = ceil((ceil(g["M"]/g["m"]) + ceil(g["N"]/g["n"]))/g["n_SM"])
# %% wrong: four tiles an SM, one for each tensor core
g = given("rooflines-waves")
answer = ceil(ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])/(4*g["n_SM"]))
# %% wrong: one wave too many for the ramp
g = given("rooflines-waves")
answer = ceil(ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])/g["n_SM"]) + 1
# %% wrong: rounds to the nearest
g = given("rooflines-waves")
answer = round(ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"])/g["n_SM"])
# %% wrong: tiles in the last wave
g = given("rooflines-waves")
answer = ceil(g["M"]/g["m"])*ceil(g["N"]/g["n"]) % g["n_SM"]
# %% wrong: each row of tiles begins a wave of its own
g = given("rooflines-waves")
rows, columns = ceil(g["M"]/g["m"]), ceil(g["N"]/g["n"])
answer = rows * ceil(columns/g["n_SM"])
# %% wrong: hands out the rows of the output instead of tiles
g = given("rooflines-waves")
answer = ceil(g["M"]/g["n_SM"])
# %% wrong: adds the sides of a tile instead of multiplying them
g = given("rooflines-waves")
answer = ceil(g["M"]*g["N"] / (g["m"] + g["n"]) / g["n_SM"])
# %% wrong: pads the grid of tiles to powers of two
g = given("rooflines-waves")
rows, columns = ceil(g["M"]/g["m"]), ceil(g["N"]/g["n"])
padded = 2**(rows - 1).bit_length() * 2**(columns - 1).bit_length()
answer = ceil(padded/g["n_SM"])
# %% wrong: cuts the columns only, so a tile is one row high
g = given("rooflines-waves")
answer = ceil(g["M"] * ceil(g["N"]/g["n"]) / g["n_SM"])
# %% wrong: one element for each lane of an SM at a time
g = given("rooflines-waves")
answer = ceil(g["M"]*g["N"] / (g["n_SM"]*h100.lanes))
