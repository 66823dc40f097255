# %% right: a text
answer = "B_crit/(k + 1)*((1 - a^(k + 1))/(1 - a) - k*c)"
# %% right: both signs turned
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit*((a**(k + 1) - 1)/(a - 1) - c*k)/(1 + k)
# %% right: sympy solves the balance
import sympy
a, k, c, B_crit = symbols("inference-drafts-batch")
B = sympy.Symbol("B", positive=True)
tokens = (1 - a**(k + 1))/(1 - a)
answer = sympy.solve(sympy.Eq(k*c + (k + 1)*B/B_crit, tokens), B)[0]
# %% right: over one denominator
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit*(1 - a*a**k - k*c*(1 - a))/((k + 1)*(1 - a))
# %% right: the sum summed by sympy
import sympy
a, k, c, B_crit = symbols("inference-drafts-batch")
i = sympy.Symbol("i", integer=True)
tokens = sympy.summation(a**i, (i, 0, k))
answer = B_crit*(tokens - k*c)/(k + 1)
# %% right: the last accepted draft counted apart
answer = "(a*(1 - a**k)/(1 - a) + 1 - c*k)*B_crit/(k + 1)"
# %% right: powers by exp and log
import sympy
b, drafts, share, limit = symbols("inference-drafts-batch")
many = (1 - sympy.exp((drafts + 1)*sympy.log(b)))/(1 - b)
answer = limit*many/(drafts + 1) - limit*share*drafts/(drafts + 1)
# %% right: expanded by sympy
import sympy
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = sympy.expand(B_crit*((1 - a**(k + 1))/(1 - a) - k*c)/(k + 1))
# %% wrong: drafting takes no time
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*(1 - a**(k + 1))/(1 - a)
# %% wrong: k tokens are checked, not k + 1
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/k*((1 - a**(k + 1))/(1 - a) - k*c)
# %% wrong: the sum ends one term early
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*((1 - a**k)/(1 - a) - k*c)
# %% wrong: endless drafts
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*(1/(1 - a) - k*c)
# %% wrong: k independent drafts, 1 + k a tokens
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*(1 + k*a - k*c)
# %% wrong: drafts take their share of the check
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*(1 - a**(k + 1))/(1 - a)/(1 + k*c)
# %% wrong: the bend of the check
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)
# %% wrong: a plain step beside the check, or no token of its own
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*((1 - a**(k + 1))/(1 - a) - k*c - 1)
# %% wrong: one draft's time, not k
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*((1 - a**(k + 1))/(1 - a) - c)
# %% wrong: drafting grows with the batch too
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit*(1 - a**(k + 1))/(1 - a)/(k + 1 + k*c)
# %% wrong: drafts' time is a gain
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*((1 - a**(k + 1))/(1 - a) + k*c)
# %% wrong: k + 1 tokens are drafted
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*((1 - a**(k + 1))/(1 - a) - (k + 1)*c)
# %% wrong: all drafts or none
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*(1 + k*a**k - k*c)
# %% wrong: plain steps grow with the batch, too
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = k*c*B_crit/(k + 1 - (1 - a**(k + 1))/(1 - a))
# %% wrong: the sum of powers lacks its denominator
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*(1 - a**(k + 1) - k*c)
# %% wrong: tokens of the check in place of sequences
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit*((1 - a**(k + 1))/(1 - a) - k*c)
# %% wrong: the probability is that of a refusal
a, k, c, B_crit = symbols("inference-drafts-batch")
answer = B_crit/(k + 1)*((1 - (1 - a)**(k + 1))/a - k*c)
