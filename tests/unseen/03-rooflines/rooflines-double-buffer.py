# %% right: the first load, pairs, the last computation
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 1)/n*maximum(t_C, t_W) + t_C/n
# %% right: the longer clock, and one tile of the shorter
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = maximum(t_C, t_W) + minimum(t_C, t_W)/n
# %% right: the longer of two chains
import sympy
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = sympy.Max(t_W + t_C/n, t_C + t_W/n)
# %% right: cases
import sympy
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = sympy.Piecewise((t_W + t_C/n, t_W >= t_C), (t_C + t_W/n, True))
# %% right: between sum and maximum
n, t_C, t_W = symbols("rooflines-double-buffer")
share = 1/n
answer = share*(t_C + t_W) + (1 - share)*maximum(t_C, t_W)
# %% right: by an absolute value
import sympy
n, t_C, t_W = symbols("rooflines-double-buffer")
longer = (t_C + t_W + sympy.Abs(t_C - t_W))/2
answer = longer + (t_C + t_W - longer)/n
# %% right: the sum, less what overlaps
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_C + t_W - (n - 1)*minimum(t_C/n, t_W/n)
# %% wrong: perfect overlap from the first byte
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = maximum(t_C, t_W)
# %% wrong: no overlap at all
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_C + t_W
# %% wrong: forgets the last computation
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 1)/n*maximum(t_C, t_W)
# %% wrong: n pairs instead of n minus one
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + maximum(t_C, t_W) + t_C/n
# %% wrong: the whole time in every step
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 1)*maximum(t_C, t_W) + t_C/n
# %% wrong: minimum for maximum
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 1)/n*minimum(t_C, t_W) + t_C/n
# %% wrong: loads are the longer clock
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W + t_C/n
# %% wrong: two buffers, so half of it overlaps
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = (t_C + t_W)/2 + maximum(t_C, t_W)/2
# %% wrong: two buffers halve the loads
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 1)/n*maximum(t_C, t_W/2) + t_C/n
# %% wrong: n minus two pairs
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 2)/n*maximum(t_C, t_W) + t_C/n
# %% wrong: whole-number division of the pairs' share
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = t_W/n + (n - 1)//n*maximum(t_C, t_W) + t_C/n
# %% wrong: no first load
n, t_C, t_W = symbols("rooflines-double-buffer")
answer = maximum(t_C, t_W) + t_C/n
