# %% right: block by block
n, S = symbols("collectives-switch-bytes")
block = S/n
answer = n*(n*block + block)
# %% right: short
n, S = symbols("collectives-switch-bytes")
answer = (n + 1)*S
# %% right: every array once, and every finished block once
n, S = symbols("collectives-switch-bytes")
pulled = n*S
sent_back = n*(S/n)
answer = pulled + sent_back
# %% right: a symbolic sum over the blocks
import sympy
n, S = symbols("collectives-switch-bytes")
i = sympy.Symbol("i", integer=True)
answer = sympy.Sum((n + 1)*S/n, (i, 1, n)).doit()
# %% right: each port's share times the ports
n, S = symbols("collectives-switch-bytes")
answer = n*((n + 1)/n*S)
# %% right: as a quotient of squares
n, S = symbols("collectives-switch-bytes")
answer = S*(n**2 - 1)/(n - 1)
# %% right: bytes that go out, less the copies, plus what was read
import sympy
n, S = symbols("collectives-switch-bytes")
out = S + n*S          # sums to the owners, copies to all
answer = sympy.expand(out - n*S + n*S)
# %% wrong: only what is read, the owners send nothing back
n, S = symbols("collectives-switch-bytes")
answer = n*S
# %% wrong: the owner's own share is not read
n, S = symbols("collectives-switch-bytes")
answer = (n - 1)*S + S
# %% wrong: into and out of the switch together
n, S = symbols("collectives-switch-bytes")
answer = 2*(n + 1)*S
# %% wrong: through one port
n, S = symbols("collectives-switch-bytes")
answer = (n + 1)*S/n
# %% wrong: a ring's bytes over all ports
n, S = symbols("collectives-switch-bytes")
answer = 2*(n - 1)*S
# %% wrong: the finished blocks enter from all n ranks
n, S = symbols("collectives-switch-bytes")
answer = 2*n*S
# %% wrong: one block only
n, S = symbols("collectives-switch-bytes")
answer = (n + 1)*S/n**2
# %% wrong: everyone else's share of a block, and no way back
n, S = symbols("collectives-switch-bytes")
answer = (n - 1)*S
# %% wrong: neither reads the owner nor sends the block back to it
n, S = symbols("collectives-switch-bytes")
answer = (n - 1)*S + (n - 1)*S/n
# %% wrong: only finished sums count
n, S = symbols("collectives-switch-bytes")
answer = S
# %% wrong: blocks of S, not of S over n
n, S = symbols("collectives-switch-bytes")
answer = n*(n + 1)*S
# %% wrong: the finished block once, not once for each block
n, S = symbols("collectives-switch-bytes")
answer = n*S + S/n
