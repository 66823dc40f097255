# %% right: the printed rule, mended twice
g = given("expert-parallelism-erratum-width")
alpha = g["C"]/(8*g["W"])
p = 1 - (1 - 8/g["Z"])**g["k"]
answer = alpha*(g["Z"] - 8)/g["k"]*p*2/3
# %% right: the library's exact rule
g = given("expert-parallelism-erratum-width")
nodes = g["Z"]//8
answer = ep_exact_critical_width(g["k"], nodes, g["C"], g["W"], destination_fraction(nodes, g["k"]))
# %% right: typed, rounded
answer = 6325
# %% right: a text in three digits
answer = "6.32e3"
# %% right: times set equal
g = given("expert-parallelism-erratum-width")
nodes = g["Z"]/8
tokens, D = 4096, 7168
visited = (nodes - 1)*(1 - ((nodes - 1)/nodes)**g["k"])
comm = tokens*visited*4*D/g["W"]
math_of_one = tokens*g["k"]*6*D/g["C"]
answer = comm/math_of_one
# %% right: expected copies by a recursion over the experts
g = given("expert-parallelism-erratum-width")
nodes, seen = g["Z"]//8, 0.0
for _ in range(g["k"]):
    seen += 1 - seen/nodes
out = seen*(1 - 1/nodes)
answer = np.float32(out/g["k"]*4*g["C"]/(6*g["W"]))
# %% right: fractions
from fractions import Fraction
p = 1 - Fraction(5, 6)**8
answer = Fraction(989*10**12, 8*50*10**9)*40/8*p*Fraction(2, 3)
# %% right: sympy, solved for F
import sympy
F = sympy.symbols("F", positive=True)
p = 1 - sympy.Rational(5, 6)**8
time = sympy.Eq(6*8*F/sympy.Integer(989*10**12), 5*p*4/sympy.Integer(50*10**9))
answer = sympy.solve(time, F)[0]
# %% wrong: as printed
answer = 12360
# %% wrong: the third matrix only
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*2/3
# %% wrong: the merged copies only
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])
# %% wrong: a gate makes it three halves
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])*3/2
# %% wrong: the token's own node is crossed for too
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*g["Z"]/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])*2/3
# %% wrong: the chance of a rank, not of a node
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 1/g["Z"])**g["k"])*2/3
# %% wrong: a copy for each expert, the limit of many nodes
g = given("expert-parallelism-erratum-width")
answer = 4*g["C"]/(6*g["W"])
# %% wrong: a copy for each expert in another node
g = given("expert-parallelism-erratum-width")
answer = 4*g["C"]/(6*g["W"])*(g["Z"] - 8)/g["Z"]
# %% wrong: the chance among the other nodes only
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/(g["Z"] - 8))**g["k"])*2/3
# %% wrong: the chance that a node has none
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - 8/g["Z"])**g["k"]*2/3
# %% wrong: dispatch only
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])/3
# %% wrong: one byte out and two back
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])*2/3*3/4
# %% wrong: alpha of one card, the node's GPUs forgotten
g = given("expert-parallelism-erratum-width")
answer = g["C"]/g["W"]*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])*2/3
# %% wrong: distinct experts out of 48, one on each GPU
from math import comb
p = 1 - comb(40, 8)/comb(48, 8)
answer = 989e12/(8*50e9)*40/8*p*2/3
# %% wrong: the backward pass too, with twice the operations and the same bytes
g = given("expert-parallelism-erratum-width")
answer = g["C"]/(8*g["W"])*(g["Z"] - 8)/g["k"]*(1 - (1 - 8/g["Z"])**g["k"])*2/3*2/3
