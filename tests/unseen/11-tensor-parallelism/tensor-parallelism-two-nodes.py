# %% right: bytes and operations of a token, solved
import sympy
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
N = sympy.Symbol("N", positive=True)      # nodes
network = 2*2*(N - 1)/N/(n_in*W_out)
math = 2*2*F/(N*n_in)/C
answer = sympy.simplify(sympy.solve(sympy.Eq(network, math), N)[0]*n_in)
# %% right: a number of nodes, times their ranks
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in*(1 + F*W_out/C)
# %% right: as a text
answer = "n_in + F*n_in*W_out/C"
# %% right: over one denominator
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in*(C + F*W_out)/C
# %% right: with a ridge of the node
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
ridge = C/(n_in*W_out)
answer = F/ridge + n_in
# %% right: solved for the degree by sympy, linear
import sympy
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
tp = sympy.Symbol("tp", positive=True)
lacks = 1 - n_in/tp
answer = sympy.solve(sympy.expand((4*F/C/tp - 4*lacks/(n_in*W_out))*tp), tp)[0]
# %% right: as a text, quotient of quotients
answer = "n_in/(C/(C + W_out*F))"
# %% wrong: all of the activations enter each node
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = F*n_in*W_out/C
# %% wrong: one cable for the node
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in + F*W_out/C
# %% wrong: each rank keeps its own share only
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = 1 + F*n_in*W_out/C
# %% wrong: nodes and not ranks
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = 1 + F*W_out/C
# %% wrong: each rank fetches for itself
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = F*W_out/C
# %% wrong: gather alone
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in*(1 + 2*F*W_out/C)
# %% wrong: an all-reduce at each end
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in*(1 + F*W_out/(2*C))
# %% wrong: a gate's third matrix
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in*(1 + 3*F*W_out/(2*C))
# %% wrong: two nodes, from the title
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = 2*F*n_in*W_out/C
# %% wrong: the node's own share subtracted
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = F*n_in*W_out/C - n_in
# %% wrong: rates upside down
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = n_in*(1 + F*C/W_out)
# %% wrong: the node's share counted twice, for gather and scatter
F, C, n_in, W_out = symbols("tensor-parallelism-two-nodes")
answer = 2*n_in + F*n_in*W_out/C
