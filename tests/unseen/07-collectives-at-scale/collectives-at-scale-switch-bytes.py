# %% right: up once, down to every GPU what it lacks
N, M = symbols("collectives-at-scale-switch-bytes")
S = 1
up, down = S, M*N*(S - S/(M*N))
answer = (up + down)/((M - 1)*S)
# %% right: as a text
answer = "N*M/(M - 1)"
# %% right: another text
answer = "N/(1 - 1/M)"
# %% right: one node's switch, times the nodes, in GPUs' parts
N, M = symbols("collectives-at-scale-switch-bytes")
part = 1                                     # of one GPU
up = N*part
inside = N*(N - 1)*part                      # from the other GPUs of the node
outside = N*(M - 1)*N*part                   # what came from above, for each GPU
top = M*(M - 1)*N*part                       # every node gets all of the others'
answer = M*(up + inside + outside)/top
# %% right: byte by byte
N, M = symbols("collectives-at-scale-switch-bytes")
own = 1 + (N - 1)                            # up, and to the other GPUs of the node
far = (M - 1)*N                              # at each other node's switch: N copies
answer = (own + far)/(M - 1)
# %% right: sums over nodes by sympy, expanded
import sympy
N, M = symbols("collectives-at-scale-switch-bytes")
i = sympy.Symbol("i", integer=True)
S = sympy.Symbol("S", positive=True)
node = S/M + N*(S - S/(M*N))
all_nodes = sympy.summation(node, (i, 1, M))
top = sympy.summation(S - S/M, (i, 1, M))
answer = sympy.expand(sympy.simplify(all_nodes/top))
# %% right: N and a little more
N, M = symbols("collectives-at-scale-switch-bytes")
answer = N + N/(M - 1)
# %% right: negative powers
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (N**-1 - (N*M)**-1)**-1
# %% right: a function of the two that is called with the symbols
def ratio(n, m, S=1):
    leaf = lambda: S/m + n*S*(m*n - 1)/(m*n)
    spine = S*(m - 1)
    return m*leaf()/spine
answer = ratio(*symbols("collectives-at-scale-switch-bytes"))
# %% wrong: down only
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (N*M - 1)/(M - 1)
# %% wrong: every GPU is sent its own part as well
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (N*M + 1)/(M - 1)
# %% wrong: the switch above sends to the node it has it from, too
N, M = symbols("collectives-at-scale-switch-bytes")
answer = N*M/M
# %% wrong: one node's switch
N, M = symbols("collectives-at-scale-switch-bytes")
answer = N/(M - 1)
# %% wrong: the other way round
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (M - 1)/(N*M)
# %% wrong: the GPUs of a node pass nothing among themselves
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (1 + N*(M - 1))/(M - 1)
# %% wrong: what the switches take in
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (1 + (M - 1))/1
# %% wrong: copies count once
N, M = symbols("collectives-at-scale-switch-bytes")
answer = M/(M - 1)
# %% wrong: a node sends all of the array up
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (M + N*M - 1)/(M - 1)
# %% wrong: nothing is copied, a message for each pair
N, M = symbols("collectives-at-scale-switch-bytes")
up = N*(M - 1)
down = N*M - 1
answer = (up + down)/(N*(M - 1))
# %% wrong: bandwidth of the ports, N*M below to M above
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (N + 1)*M/M
# %% wrong: a GPU lacks only what the others of its node have
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (1 + M*(N - 1))/(M - 1)
# %% wrong: a node switch sends up once for every other node
N, M = symbols("collectives-at-scale-switch-bytes")
answer = ((M - 1) + (N*M - 1))/(M - 1)
# %% wrong: nodes and GPUs exchanged
N, M = symbols("collectives-at-scale-switch-bytes")
answer = N*M/(N - 1)
# %% wrong: the switch above sends each byte once and all copies are made below
N, M = symbols("collectives-at-scale-switch-bytes")
answer = N*M
# %% wrong: a GPU lacks all but a part in N
N, M = symbols("collectives-at-scale-switch-bytes")
answer = (1 + M*N*(1 - 1/N))/(M - 1)
