# %% right: divided by the tokens
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T/(34*D + 5*n_q*T)
# %% right: as a text
answer = "5*n_q*T^2/(34*T*D + 5*n_q*T^2)"
# %% right: one minus the linear part
T, D, n_q = symbols("data-parallelism-selective")
answer = 1 - 34*D/(34*D + 5*n_q*T)
# %% right: one over one plus a quotient
T, D, n_q = symbols("data-parallelism-selective")
answer = 1/(1 + 34*D/(5*n_q*T))
# %% right: term by term, eleven and nineteen and four
import sympy
T, D, n_q = symbols("data-parallelism-selective")
micro = sympy.Symbol("micro", positive=True)
scores = (2 + 1 + 2)*n_q*T**2*micro        # scores, a mask, after dropout
others = (11 + 19 + 4)*T*micro*D
answer = sympy.cancel(scores/(scores + others))
# %% right: with the width of a head
T, D, n_q = symbols("data-parallelism-selective")
H = D/n_q
answer = T/(6.8*H + T)
# %% right: a text with a negative power
answer = "(1 + 6.8*D/(n_q*T))**-1"
# %% wrong: over the rest and not over all
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T/(34*D)
# %% wrong: the rest's share
T, D, n_q = symbols("data-parallelism-selective")
answer = 34*D/(34*D + 5*n_q*T)
# %% wrong: one head
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*T/(34*D + 5*T)
# %% wrong: two bytes a score, the mask and the copy left out
T, D, n_q = symbols("data-parallelism-selective")
answer = 2*n_q*T/(34*D + 2*n_q*T)
# %% wrong: not the square of the tokens
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q/(34*D + 5*n_q)
# %% wrong: a T left over in the linear term
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T/(34*T*D + 5*n_q*T)
# %% wrong: the causal half
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T/(68*D + 5*n_q*T)
# %% wrong: against attention's eleven bytes only
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T/(11*D + 5*n_q*T)
# %% wrong: 34 contains the scores already
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T/(34*D - 5*n_q*T)
# %% wrong: bytes and not a share
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*n_q*T**2
# %% wrong: how many times as much with the scores
T, D, n_q = symbols("data-parallelism-selective")
answer = 1 + 5*n_q*T/(34*D)
# %% wrong: head width in the place of the number of heads
T, D, n_q = symbols("data-parallelism-selective")
answer = 5*D/n_q*T/(34*D + 5*D/n_q*T)
