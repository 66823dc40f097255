# %% right: terms with T collected
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(up + T_kv*(2*r - d_n - d_v))
# %% right: as a text
answer = "T_kv*r*(d_n + d_v)/(r*(d_n + d_v) + T_kv*(2*r - d_n - d_v))"
# %% right: sympy solves the library's formulas
import sympy
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
T = sympy.Symbol("T", positive=True)
one = mla_unfolded_flops(T, T_kv, 1, r, d_n, d_p, d_v)
two = mla_folded_flops(T, T_kv, 1, r, d_n, d_p, d_v)
answer = sympy.solve(sympy.Eq(sympy.expand(one), sympy.expand(two)), T)[0]
# %% right: reciprocals of the two lengths
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
answer = 1/(1/T_kv + (2*r - d_n - d_v)/(r*(d_n + d_v)))
# %% right: with the two ends d_n + d_v = s
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
s = d_n + d_v
answer = 1/(1/T_kv + 2/s - 1/r)
# %% right: the position's width in both, cancelled later
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
pair_folded = 2*r + d_p
pair_unfolded = d_n + d_p + d_v
once = r*(d_n + d_v)
answer = once*T_kv/(T_kv*(pair_folded - pair_unfolded) + once)
# %% right: solved as a line through two steps
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
def surplus(T):
    return (T_kv*(r*(d_n + d_v) + T*(d_n + d_p + d_v))
            - T*(r*(d_n + d_v) + T_kv*(2*r + d_p)))
answer = -surplus(0)/(surplus(1) - surplus(0))
# %% wrong: folding the query for nothing
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
answer = r*(d_n + d_v)/(2*r - d_n - d_v)
# %% wrong: both ways project the same tokens
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
answer = T_kv*(d_n + d_v + d_p)/(2*r + d_p)
# %% wrong: one compressed width in a pair
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(up + T_kv*(r - d_n - d_v))
# %% wrong: the position's key is left in one pair
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(up + T_kv*(2*r + d_p - d_n - d_v))
# %% wrong: the position's key is compressed too
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v + d_p)
answer = T_kv*up/(up + T_kv*(2*r - d_n - d_v))
# %% wrong: a sign of the collected term
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(T_kv*(2*r - d_n - d_v) - up)
# %% wrong: the up-projection of keys alone
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
answer = T_kv*r*d_n/(r*d_n + T_kv*(2*r - d_n - d_v))
# %% wrong: the pair difference has all widths
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(up + T_kv*(2*r - d_n - d_p - d_v))
# %% wrong: turned over
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = (up + T_kv*(2*r - d_n - d_v))/(T_kv*up)
# %% wrong: where the terms of the pairs are as many
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
answer = T_kv
# %% wrong: values are not folded
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
answer = T_kv*r*(d_n + d_v)/(r*d_n + T_kv*(r - d_n))
# %% wrong: T_kv forgotten at the pairs
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(up + 2*r - d_n - d_v)
# %% wrong: causal pairs on one side
T_kv, r, d_n, d_p, d_v = symbols("transformer-math-mla-ways")
up = r*(d_n + d_v)
answer = T_kv*up/(up + T_kv*(2*r + d_p - (d_n + d_p + d_v)/2))
