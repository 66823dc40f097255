# %% right: the smaller of two bounds
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, 2*(n - 1)*C/(n*W))
# %% right: as a text
answer = "min(2*B, 2*(n - 1)/n*C/W)"
# %% right: the two drawn out
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = 2*minimum(C/W - C/(n*W), B)
# %% right: a maximum with signs turned
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = -maximum(-2*B, -2*(1 - 1/n)*C/W)
# %% right: one over the larger of two reciprocals
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = 1/maximum(1/(2*B), n*W/(2*C*(n - 1)))
# %% right: the sum's network time over the gather's clocks for one of D
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
F, b = 8192, 2
sum_network = 2*(n - 1)/n*b*B*F/W
gather_of_one = maximum(2*B*F/C, (n - 1)/n*b*F/W)
answer = sum_network/gather_of_one
# %% right: half of sum less difference
import sympy
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
p, q = 2*B, 2*(n - 1)*C/(n*W)
answer = (p + q - sympy.Abs(p - q))/2
# %% right: sympy's Min
import sympy
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = sympy.Min(2*B, 2*(n - 1)/n*C/W)
# %% wrong: bytes against bytes only
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = 2*B
# %% wrong: the gather is bound by its arithmetic
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = 2*(n - 1)*C/(n*W)
# %% wrong: the larger bound
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = maximum(2*B, 2*(n - 1)*C/(n*W))
# %% wrong: an all-reduce costs what a gather does
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(B, (n - 1)*C/(n*W))
# %% wrong: without the (n - 1)/n
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, 2*C/W)
# %% wrong: the gathered product is shared too
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, 2*(n - 1)*C/W)
# %% wrong: elements of one byte
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, (n - 1)*C/(n*W))
# %% wrong: the sum is compute-bound, so its own roofline
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = 2*(n - 1)*C/W
# %% wrong: clocks added instead of overlapped
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
k = (n - 1)/n
answer = 4*k*B/W/(2*B*k/C + 2*k/W)
# %% wrong: only a reduce-scatter in the arithmetic bound
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, (n - 1)*C/(n*W))/1
# %% wrong: a rank's share of the weight gathered
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*n*B, 2*(n - 1)*C/(n*W))
# %% wrong: two FLOPs forgotten
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, 4*(n - 1)*C/(n*W))
# %% wrong: D of one device, an n-th
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, 2*(n - 1)*C/(n*W))/n
# %% wrong: everywhere a share n/(n - 1)
B, n, C, W = symbols("sharded-matmuls-gather-or-sum")
answer = minimum(2*B, 2*n*C/((n - 1)*W))
