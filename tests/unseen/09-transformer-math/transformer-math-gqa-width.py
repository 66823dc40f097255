# %% right: the saving over three
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*(n_q - K)/3
# %% right: as a text
answer = "F + 2/3*H*(n_q - K)"
# %% right: sympy solves
import sympy
F, n_q, K, H = symbols("transformer-math-gqa-width")
D, G = sympy.symbols("D G", positive=True)
before = 2*D*H*(n_q + n_q) + 3*D*F
after = 2*D*H*(n_q + K) + 3*D*G
[answer] = sympy.solve(after - before, G)
# %% right: the library's layers, a number for D
F, n_q, K, H = symbols("transformer-math-gqa-width")
saved = attention_params(4096, n_q, n_q, H) - attention_params(4096, n_q, K, H)
answer = F + saved/(3*4096)
# %% right: over one fraction
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = (3*F + 2*n_q*H - 2*K*H)/3
# %% right: the total of columns less what attention keeps
from fractions import Fraction
F, n_q, K, H = symbols("transformer-math-gqa-width")
columns = 4*n_q*H + 3*F
answer = (columns - (2*n_q + 2*K)*H)/3
# %% right: the share that is saved
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F*(1 + 2*n_q*H/(3*F)*(1 - K/n_q))
# %% wrong: without a gate
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + H*(n_q - K)
# %% wrong: keys only
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + H*(n_q - K)/3
# %% wrong: the saving in one matrix
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*(n_q - K)
# %% wrong: all of the keys are saved
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*n_q/3
# %% wrong: narrower instead of wider
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F - 2*H*(n_q - K)/3
# %% wrong: queries and output shrink too
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 4*H*(n_q - K)/3
# %% wrong: K is the queries of a group
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*(n_q - n_q/K)/3
# %% wrong: what is added, not the width
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = 2*H*(n_q - K)/3
# %% wrong: what remains is spent
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*K/3
# %% wrong: the head's width forgotten
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*(n_q - K)/3
# %% wrong: in proportion
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F*(4*n_q*H + 3*F)/(2*(n_q + K)*H + 3*F)
# %% wrong: a four-matrix MLP
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*(n_q - K)/4
# %% wrong: signs of attention mixed up
F, n_q, K, H = symbols("transformer-math-gqa-width")
answer = F + 2*H*(n_q + K)/3
