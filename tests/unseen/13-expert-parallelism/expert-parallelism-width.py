# %% right: shortened
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*(n - 1)*C/(3*n*k*W)
# %% right: bytes and operations as counted
M, n, k, C, W = symbols("expert-parallelism-width")
bytes_out = (1 + 2 + 1 + 2)*M*(1 - 1/n)
ops = 3*2*3*k
answer = bytes_out*C/(W*ops)
# %% right: a text
answer = "C/W * (M - M/n)/k * 6/18"
# %% right: sympy solves for F
import sympy
M, n, k, C, W = symbols("expert-parallelism-width")
F, D, T = sympy.symbols("F D T", positive=True)
answer = sympy.solve(18*k*T*D*F/C - 6*(M - M/n)*T*D/W, F)[0]
# %% right: own node among the M or not
M, n, k, C, W = symbols("expert-parallelism-width")
home = M/n
others = home*(M - 1) + (1 - home)*M
answer = others*C/(3*k*W)
# %% right: with the library's width, the step's bytes over three passes
M, n, k, C, W = symbols("expert-parallelism-width")
answer = ep_exact_critical_width(k, n, C, W, p_dst=M/n, b_disp=2, b_comb=4)/3
# %% right: a text with a power
answer = "M*C*(1 - n^-1)*(3*k*W)^(-1)"
# %% wrong: own node is crossed for too
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*C/(3*k*W)
# %% wrong: one of the M is always at home
M, n, k, C, W = symbols("expert-parallelism-width")
answer = (M - 1)*C/(3*k*W)
# %% wrong: the forward pass alone
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*(n - 1)/n*C/(2*k*W)
# %% wrong: bytes of the forward pass, operations of both
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*(n - 1)/n*C/(6*k*W)
# %% wrong: bytes of both passes, operations of the forward pass
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*(n - 1)/n*C/(k*W)
# %% wrong: a copy for each expert
M, n, k, C, W = symbols("expert-parallelism-width")
answer = (n - 1)/n*C/(3*W)
# %% wrong: a copy for each node
M, n, k, C, W = symbols("expert-parallelism-width")
answer = (n - 1)*C/(3*k*W)
# %% wrong: two bytes everywhere
M, n, k, C, W = symbols("expert-parallelism-width")
answer = 8*M*(n - 1)/n*C/(18*k*W)
# %% wrong: one operation for each weight
M, n, k, C, W = symbols("expert-parallelism-width")
answer = 6*M*(n - 1)/n*C/(9*k*W)
# %% wrong: k experts forgotten
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*(n - 1)/n*C/(3*W)
# %% wrong: the node's eight cards for one GPU
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*(n - 1)/n*C/(24*k*W)
# %% wrong: chance that a node is among the destinations
M, n, k, C, W = symbols("expert-parallelism-width")
answer = (n - 1)*(1 - (1 - 1/n)**k)*C/(3*k*W)
# %% wrong: M of the other n - 1 nodes
M, n, k, C, W = symbols("expert-parallelism-width")
answer = M*n/(n - 1)*C/(3*k*W)
# %% wrong: the other way round, bytes in the denominator
M, n, k, C, W = symbols("expert-parallelism-width")
answer = 3*k*n*C/(M*(n - 1)*W)
