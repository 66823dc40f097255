# %% right: both times, set equal
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*b*C/(2*W)
# %% right: as a text
answer = "b*C/W*(n - 1)/2"
# %% right: sympy solves
import sympy
n, b, C, W = symbols("sharded-matmuls-contracting-width")
B, D, F = sympy.symbols("B D F", positive=True)
[answer] = sympy.solve(2*B*D*F/(n*C) - (n - 1)/n*b*B*F/W, D)
# %% right: through the library's width of a pair
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = split_critical_width(C, W, b)*(n - 1)/2
# %% right: round by round, a block's product against its message
n, b, C, W = symbols("sharded-matmuls-contracting-width")
block = 1/n                               # of B*F
message = b*block/W
rounds = n - 1
a_column = 2/n/C                          # all n blocks, one of D
answer = rounds*message/a_column
# %% right: not simplified
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = n*C/2*((1 - 1/n)*b/W)
# %% right: expanded, signs turned
n, b, C, W = symbols("sharded-matmuls-contracting-width")
ridge = C/W
answer = -(ridge*b - n*ridge*b)/2
# %% wrong: the pair's formula
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = b*C/W
# %% wrong: an all-reduce
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*b*C/W
# %% wrong: (n - 1)/n counts as one
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = n*b*C/(2*W)
# %% wrong: every device does all of the arithmetic
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*b*C/(2*n*W)
# %% wrong: bf16 in place of b
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*C/W
# %% wrong: a device's part of D
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (1 - 1/n)*b*C/(2*W)*1
# %% wrong: each sends whole sums to all others
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = n*(n - 1)*b*C/(2*W)
# %% wrong: ports of both directions
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*b*C/(4*W)
# %% wrong: a pair's formula times the devices
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = n*b*C/W
# %% wrong: bytes forgotten
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*C/(2*W)
# %% wrong: the result's part is what is sent
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*b*C/(2*n*W)/1
# %% wrong: bandwidth of all n devices together
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = (n - 1)*b*C/(2*n**2*W)*n
# %% wrong: turned over
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = 2*W/((n - 1)*b*C)
# %% wrong: through n - 1 neighbours at once
n, b, C, W = symbols("sharded-matmuls-contracting-width")
answer = b*C/(2*W)
