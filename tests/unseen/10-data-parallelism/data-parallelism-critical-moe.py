# %% right: two times, set equal
g = given("data-parallelism-critical-moe")
allreduce = 2*(g["n_out"] - 1)/g["n_out"]*g["b_g"]*g["P"]/g["W"]
answer = allreduce*g["C"]/(4*g["P_act"])
# %% right: a text with a comma between thousands, as tokens are printed
g = given("data-parallelism-critical-moe")
sent = 2*(1 - 1/g["n_out"])*g["b_g"]*g["P"]
answer = f"{sent/g['W']/(4*g['P_act']/g['C']):,.0f} token"
# %% right: the dense bound times E over k
g = given("data-parallelism-critical-moe")
dense = g["b_g"]*g["C"]/(2*g["W"])
answer = dense*(1 - 1/g["n_out"])*(g["P"]/g["P_act"])
# %% right: the library's bytes
g = given("data-parallelism-critical-moe")
answer = dp_bytes(g["P"], g["n_out"], g["b_g"])/g["W"]*g["C"]/4/g["P_act"]
# %% right: exact fractions
from fractions import Fraction as Q
g = given("data-parallelism-critical-moe")
n, P, A, W, C = (int(g[key]) for key in ("n_out", "P", "P_act", "W", "C"))
answer = Q(2*(n - 1), n)*g["b_g"]*Q(P, W)*Q(C, 4*A)
# %% right: of a node, then divided by its GPUs
g = given("data-parallelism-critical-moe")
t = 2*(g["n_out"] - 1)/g["n_out"]*g["b_g"]*g["P"]/g["W"]
node_rate = g["n_in"]*g["C"]
answer = t*node_rate/(4*g["P_act"])/g["n_in"]
# %% right: a ring between nodes, step by step
g = given("data-parallelism-critical-moe")
n, piece, t = g["n_out"], g["b_g"]*g["P"]/g["n_out"], 0.0
for phase in ("scatter", "gather"):
    for step in range(n - 1):
        t += piece/g["W"]
answer = g["C"]*t/(4*g["P_act"])
# %% wrong: dense, all parameters computed
g = given("data-parallelism-critical-moe")
answer = g["b_g"]*g["C"]/(2*g["W"])*(g["n_out"] - 1)/g["n_out"]
# %% wrong: many nodes
g = given("data-parallelism-critical-moe")
answer = g["b_g"]*g["C"]/(2*g["W"])*g["P"]/g["P_act"]
# %% wrong: a ring of all GPUs
g = given("data-parallelism-critical-moe")
n = g["n_in"]*g["n_out"]
answer = 2*(n - 1)/n*g["b_g"]*g["P"]/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: bandwidth of one card
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/(g["W"]/g["n_in"])*g["C"]/(4*g["P_act"])
# %% wrong: tokens of a node
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/g["W"]*g["n_in"]*g["C"]/(4*g["P_act"])
# %% wrong: tokens divided by the GPUs of a node
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/g["W"]*g["C"]/(4*g["P_act"])/g["n_in"]
# %% wrong: two bytes a gradient
g = given("data-parallelism-critical-moe")
answer = 2*5/6*2*g["P"]/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: six operations, the whole step
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/g["W"]*g["C"]/(6*g["P_act"])
# %% wrong: once around the ring
g = given("data-parallelism-critical-moe")
answer = 5/6*g["b_g"]*g["P"]/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: only used parameters sent, the others computed
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P_act"]/g["W"]*g["C"]/(4*g["P"])
# %% wrong: two operations a parameter
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/g["W"]*g["C"]/(2*g["P_act"])
# %% wrong: 400 GB/s is both directions
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/(g["W"]/2)*g["C"]/(4*g["P_act"])
# %% wrong: tokens of all GPUs
g = given("data-parallelism-critical-moe")
answer = 48*2*5/6*g["b_g"]*g["P"]/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: a ring's share turned over
g = given("data-parallelism-critical-moe")
answer = 2*g["n_out"]/(g["n_out"] - 1)*g["b_g"]*g["P"]/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: only the parameters that a token leaves out are sent
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*(g["P"] - g["P_act"])/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: the time and not the tokens
g = given("data-parallelism-critical-moe")
answer = f"{2*5/6*g['b_g']*g['P']/g['W']:.5g} s"
# %% wrong: the whole array at each step of a ring
g = given("data-parallelism-critical-moe")
answer = 2*(g["n_out"] - 1)*g["b_g"]*g["P"]/g["W"]*g["C"]/(4*g["P_act"])
# %% wrong: forty per cent of the rate, as is usual
g = given("data-parallelism-critical-moe")
answer = 2*5/6*g["b_g"]*g["P"]/g["W"]*0.4*g["C"]/(4*g["P_act"])
# %% wrong: in thousands of tokens, as a bare number
g = given("data-parallelism-critical-moe")
sent = 2*(1 - 1/g["n_out"])*g["b_g"]*g["P"]
answer = round(sent/g["W"]/(4*g["P_act"]/g["C"])/1000, 1)
