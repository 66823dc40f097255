# %% right: half of both
g = given("rooflines-erratum-link")
answer = (g["C2"]/2)/((2*g["W"])/2)
# %% right: the library's ridge
g = given("rooflines-erratum-link")
dense, one_way = g["C2"]/2, (2*g["W"])/2
answer = ridge(dense, one_way)
# %% right: a text
g = given("rooflines-erratum-link")
answer = f"{g['C2']/2/((2*g['W'])/2):.0f} FLOP/B"
# %% right: in TFLOP for each GB
g = given("rooflines-erratum-link")
answer = "%g TFLOP/GB" % (g["C2"]/2/1e12/((2*g["W"])/2/1e9))
# %% right: Fraction
from fractions import Fraction
g = given("rooflines-erratum-link")
answer = Fraction(int(g["C2"])//2, int((2*g["W"]))//2)
# %% right: time of a byte times the rate
g = given("rooflines-erratum-link")
byte = 2/(2*g["W"])
answer = byte*g["C2"]*0.5
# %% right: Decimal, typed
from decimal import Decimal
answer = Decimal("2.25e15")/Decimal("9e11")
# %% wrong: halves the FLOPs, keeps both ways
g = given("rooflines-erratum-link")
answer = (g["C2"]/2)/(2*g["W"])
# %% wrong: halves the link, keeps the zeros
g = given("rooflines-erratum-link")
answer = g["C2"]/((2*g["W"])/2)
# %% wrong: the ridge of the HBM
g = given("rooflines-erratum-link")
answer = g["C2"]/2/8e12
# %% wrong: the ratio turned round
g = given("rooflines-erratum-link")
answer = ((2*g["W"])/2)/(g["C2"]/2)
# %% wrong: per bit
g = given("rooflines-erratum-link")
answer = g["C2"]/(2*g["W"])/8
# %% wrong: twice, for two bytes of bf16
g = given("rooflines-erratum-link")
answer = 2*(g["C2"]/2)/((2*g["W"])/2)
# %% wrong: the H100 of the notes
answer = 989e12/450e9
# %% wrong: an all-reduce sends everything twice, and both ways at that
g = given("rooflines-erratum-link")
answer = 4*(g["C2"]/2)/((2*g["W"])/2)
# %% wrong: without the thousand between T and P
g = given("rooflines-erratum-link")
answer = 2.25/0.9
# %% wrong: one link of eighteen
g = given("rooflines-erratum-link")
answer = (g["C2"]/2)/((2*g["W"])/2/18)
