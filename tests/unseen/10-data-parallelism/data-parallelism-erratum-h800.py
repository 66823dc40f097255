# %% right: two times per parameter
g = given("data-parallelism-erratum-h800")
W = g["printed"]/2*g["u"]
allreduce = 2*(g["n"] - 1)/g["n"]*2/W
answer = allreduce/(4/g["C"])
# %% right: as a text
g = given("data-parallelism-erratum-h800")
answer = f"{(1 - 1/g['n'])*g['C']/(g['u']*g['printed']/2):.4g} token"
# %% right: the library's bytes of a ring
g = given("data-parallelism-erratum-h800")
answer = dp_bytes(1.0, g["n"])*g["C"]/(4*g["printed"]/2*g["u"])
# %% right: numbers typed
answer = 989.4e12*0.875/(0.8*200e9)
# %% right: fractions
from fractions import Fraction
g = given("data-parallelism-erratum-h800")
answer = Fraction(int(g["C"]))*Fraction(g["n"] - 1, g["n"])/(Fraction(int(g["printed"]), 2)*Fraction(str(g["u"])))
# %% right: the printed 3300, corrected three times
g = given("data-parallelism-erratum-h800")
book = g["C"]/300e9
answer = book*(300e9/(g["printed"]/2))/g["u"]*(1 - 1/g["n"])
# %% right: sympy solves for the tokens
import sympy
g = given("data-parallelism-erratum-h800")
B, P = sympy.symbols("B P", positive=True)
steps = 2*(g["n"] - 1)
answer = sympy.solve(4*P*B/g["C"] - steps*(2*P/g["n"])/(g["printed"]/2*g["u"]), B)[0]
# %% wrong: the printed 3300
answer = 3300
# %% wrong: 400 GB/s each way
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(g["printed"]*g["u"])
# %% wrong: the whole of one direction
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(g["printed"]/2)
# %% wrong: many ranks
g = given("data-parallelism-erratum-h800")
answer = g["C"]/(g["printed"]/2*g["u"])
# %% wrong: divided by what a ring keeps back
g = given("data-parallelism-erratum-h800")
answer = 8/7*g["C"]/(g["printed"]/2*g["u"])
# %% wrong: 300 GB/s at 0.8
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(300e9*g["u"])
# %% wrong: gradients of four bytes
g = given("data-parallelism-erratum-h800")
answer = 2*7/8*g["C"]/(g["printed"]/2*g["u"])
# %% wrong: six operations a token
g = given("data-parallelism-erratum-h800")
answer = 2*2*7/8*g["C"]/6/(g["printed"]/2*g["u"])
# %% wrong: tokens of the node
g = given("data-parallelism-erratum-h800")
answer = 8*7/8*g["C"]/(g["printed"]/2*g["u"])
# %% wrong: 0.8 of the arithmetic too
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["u"]*g["C"]/(g["printed"]/2*g["u"])
# %% wrong: a gather alone
g = given("data-parallelism-erratum-h800")
answer = 7/8/2*g["C"]/(g["printed"]/2*g["u"])
# %% wrong: 20 % on top and not off
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(g["printed"]/2)*(1 + 1 - g["u"])
# %% wrong: the share reached twice
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(g["printed"]/2*g["u"]**2)
# %% wrong: GB of 2 to the 30
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(g["printed"]/1e9*2**30/2*g["u"])
# %% wrong: a time and not tokens
g = given("data-parallelism-erratum-h800")
answer = f"{2*7/8*2*1e9/(g['printed']/2*g['u']):.4g} s"
# %% wrong: seven pieces of the whole array
g = given("data-parallelism-erratum-h800")
answer = 7*g["C"]/(g["printed"]/2*g["u"])
# %% wrong: what is not reached instead of what is
g = given("data-parallelism-erratum-h800")
answer = 7/8*g["C"]/(g["printed"]/2*(1 - g["u"]))
