# %% right: groups of x
Y, N = symbols("collectives-at-scale-sharded-switch")
x = N/Y
answer = (2*(x - 1)/x)/((x + 1)/x)
# %% right: as a text
answer = "2*(N - Y)/(N + Y)"
# %% right: two, less what the switch has too much
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2 - 4*Y/(N + Y)
# %% right: two times, with array and bandwidth, divided
import sympy
Y, N = symbols("collectives-at-scale-sharded-switch")
S, W = sympy.symbols("S W", positive=True)
part, x = S/Y, N/Y
ring = 2*(x - 1)*(part/x/W)
switch = (part + part/x)/W
answer = sympy.cancel(ring/switch)
# %% right: a continued fraction
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2/(1 + 2/(N/Y - 1))
# %% right: a text of group sizes
answer = "2*(N/Y - 1)/(N/Y + 1)"
# %% right: the ratio of two bus factors
Y, N = symbols("collectives-at-scale-sharded-switch")
def ring(x):
    return 2 - 2/x
def nvls(x):
    return 1 + 1/x
answer = ring(N/Y)/nvls(N/Y)
# %% right: hyperbolic tangent of half a logarithm
import sympy
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*sympy.tanh(sympy.log(N/Y)/2).rewrite(sympy.exp)
# %% right: substituted into what holds for the whole node
import sympy
Y, N = symbols("collectives-at-scale-sharded-switch")
whole = 2*(N - 1)/(N + 1)
answer = whole.subs(N, N/Y)
# %% wrong: forgets that the array is cut
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(N - 1)/(N + 1)
# %% wrong: the other way round
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = (N + Y)/(2*(N - Y))
# %% wrong: as much passes the switch as the part has
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(N - Y)/N
# %% wrong: groups of Y
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(Y - 1)/(Y + 1)
# %% wrong: half of a ring's all-reduce
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = (N - Y)/(N + Y)
# %% wrong: Y groups gain Y times
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = Y*2*(N - Y)/(N + Y)
# %% wrong: the part is counted at the ring only
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(N - Y)/(N + Y)/Y
# %% wrong: the ring for many ranks
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*N/(N + Y)
# %% wrong: the switch for the whole node, the ring for the group
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(1 - Y/N)/(1 + 1/N)
# %% wrong: the ring of the whole node, the switch for the group
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(1 - 1/N)/(1 + Y/N)
# %% wrong: groups of N - Y
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(N - Y - 1)/(N - Y + 1)
# %% wrong: the difference of the two
Y, N = symbols("collectives-at-scale-sharded-switch")
x = N/Y
answer = 2*(x - 1)/x - (x + 1)/x
# %% wrong: rounds in place of bytes
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(N/Y - 1)/2
# %% wrong: the limit of large groups
answer = "2"
# %% wrong: groups of N*Y
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 2*(N*Y - 1)/(N*Y + 1)
# %% wrong: the owner keeps its block back
Y, N = symbols("collectives-at-scale-sharded-switch")
x = N/Y
answer = 2*(x - 1)/x/((x - 1)/x)
# %% wrong: percent
Y, N = symbols("collectives-at-scale-sharded-switch")
answer = 100*2*(N - Y)/(N + Y)
