# %% right: gathered by hand, 7 + 1/32 bytes an element
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = 225*T*D*k*(n - 1)/(32*n**2)
# %% right: way by way
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
copies = T/n*k*(1 - 1/n)
dispatch, combine = D + D/128*4, 2*D
answer = copies*(dispatch + combine) + copies*(2*D + 2*D)
# %% right: a text
answer = "(n - 1)/n * k * T/n * (D*(1 + 2 + 2 + 2) + 4*D/128)"
# %% right: the chance that an expert is elsewhere, with E
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
away = (E - E/n)/E
answer = T*k*away*D*(1 + 4/128 + 6)/n
# %% right: sympy's rationals
import sympy
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
per = sympy.Rational(4, 128) + sum(map(sympy.Integer, (1, 2, 2, 2)))
answer = sympy.expand(per*T*D*k*(1/n - 1/n**2))
# %% right: the library's copies, forward and backward
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
from hwlib.parallel import ep_copies_bytes
answer = ep_copies_bytes(T, D, k, n, b_disp=1 + 4/128, b_comb=2) + ep_copies_bytes(T, D, k, n)
# %% right: what a rank takes part in, as sender of own and of others' copies
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
own = T/n*k*(n - 1)/n                       # choices of my tokens elsewhere
others = (T - T/n)*k/n                      # choices of others' tokens that fall on me
answer = own*(D + 4*D/128 + 2*D) + others*(2*D + 2*D)
# %% wrong: as printed, over E
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k/E*2
# %% wrong: printed, over the ranks
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k/n*2
# %% wrong: what stays is sent too
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k/n*225/32
# %% wrong: of all ranks together
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k*(n - 1)/n*225/32
# %% wrong: forward only
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k*(n - 1)/n**2*(3 + 1/32)
# %% wrong: no scales
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = 7*T*D*k*(n - 1)/n**2
# %% wrong: one scale of four bytes a token
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*k*(n - 1)/n**2*(7*D + 4)
# %% wrong: the dispatch alone
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k*(n - 1)/n**2*(1 + 4/128)
# %% wrong: the backward pass as the forward, fp8 and scales again
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = 2*T*D*k*(n - 1)/n**2*(3 + 1/32)
# %% wrong: scales backward too
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k*(n - 1)/n**2*(7 + 2/32)
# %% wrong: one copy for each rank, not for each expert
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T/n*D*(n - 1)*(1 - (1 - 1/n)**k)*225/32
# %% wrong: what is sent and what comes
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = 2*T*D*k*(n - 1)/n**2*225/32
# %% wrong: distinct experts at home, E - 1 for E
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k/n*(E - E/n)/(E - 1)*225/32
# %% wrong: each own token's k experts have the share of an expert at home
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k/n*(1 - 1/E)*225/32
# %% wrong: scales count 128 bytes for every four
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k*(n - 1)/n**2*(7 + 1/128)
# %% wrong: a ring's all-reduce backward
T, D, k, n, E = symbols("expert-parallelism-erratum-cost")
answer = T*D*k*(n - 1)/n**2*(3 + 1/32) + 2*(n - 1)/n*2*T*D/n
