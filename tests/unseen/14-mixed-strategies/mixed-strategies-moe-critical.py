# %% right: both times, tokens solved for
import sympy
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
x, q = sympy.symbols("x q", positive=True)
send = 2*(dp - 1)/dp*b*E*q/(pp*ep)/W
work = 4*k*q*x/C
answer = sympy.solve(work - send, x)[0]
# %% right: a text
answer = "b*C/(2*W) * (E/k) * (1 - 1/dp) / (pp*ep)"
# %% right: the dense bound times sparsity, share and correction
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
dense = b*C/(2*W)
answer = dense*(E/k)/(pp*ep)*((dp - 1)/dp)
# %% right: of the whole batch, divided by all GPUs
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
whole = 2*(dp - 1)/dp*b*(E/(pp*ep))/W*C*(pp*ep*dp)/(4*k)
answer = whole/(pp*ep*dp)
# %% right: expanded
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = b*C*E/(2*k*W*pp*ep) - b*C*E/(2*k*W*pp*ep*dp)
# %% wrong: six operations a parameter
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(3*dp*k*pp*ep*W)
# %% wrong: two operations a parameter
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(dp*k*pp*ep*W)
# %% wrong: every expert works for every token
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*C/(2*dp*pp*ep*W)
# %% wrong: k over E
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*k*C/(2*dp*E*pp*ep*W)
# %% wrong: a GPU has gradients of all stages
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(2*dp*k*ep*W)
# %% wrong: a GPU has gradients of all experts
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(2*dp*k*pp*W)
# %% wrong: tokens of a replica instead of a GPU
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(2*dp*k*W)
# %% wrong: the limit of many replicas
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = b*E*C/(2*k*pp*ep*W)
# %% wrong: a reduce-scatter only
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(4*dp*k*pp*ep*W)
# %% wrong: tokens of the whole batch
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(2*k*W)
# %% wrong: the bytes of a gradient forgotten
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*E*C/(2*dp*k*pp*ep*W)
# %% wrong: the correction with the expert ranks
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (ep - 1)*b*E*C/(2*ep*k*pp*ep*W)
# %% wrong: dp/(dp - 1) instead of (dp - 1)/dp
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = dp*b*E*C/(2*(dp - 1)*k*pp*ep*W)
# %% wrong: 2 (dp - 1) whole arrays sent
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(2*k*pp*ep*W)
# %% wrong: the bandwidth in bits
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = 8*(dp - 1)*b*E*C/(2*dp*k*pp*ep*W)
# %% wrong: parameters cut over the replicas as well
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*C/(2*dp**2*k*pp*ep*W)
# %% wrong: rate and bandwidth on the wrong sides
E, k, b, C, W, pp, ep, dp = symbols("mixed-strategies-moe-critical")
answer = (dp - 1)*b*E*W/(2*dp*k*pp*ep*C)
