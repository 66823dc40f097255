# %% right: both times set equal, solved by sympy
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
x, D = sympy.symbols("x D", positive=True)
weights, tokens = 3*M*D*F*2*x/(n*W_dp), 5*2*(B/x)*D/W_tp
answer = sympy.solve(sympy.Eq(weights, tokens), x)[0]
# %% right: a text
answer = "sqrt((5/3) * (B/F) * (n/M) * (W_dp/W_tp))"
# %% right: a power of one half, bytes kept
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = (2*5*B*n*W_dp/(2*3*M*F*W_tp))**0.5
# %% right: the book's rule times a constant
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
forward = sympy.sqrt(2*B*n*W_dp/(M*F*W_tp))
answer = forward*sympy.sqrt(sympy.Rational(5, 6))
# %% right: n over the tensor degree that balances
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
tp = sympy.sqrt(3*n*M*F*W_tp/(5*B*W_dp))
answer = n/tp
# %% wrong: the rule of a forward pass
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(2*B*n*W_dp/(M*F*W_tp))
# %% wrong: the bandwidths on the other sides
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n*W_tp/(3*M*F*W_dp))
# %% wrong: weights gathered once and gradients scattered once
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n*W_dp/(2*M*F*W_tp))
# %% wrong: no square root
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = 5*B*n*W_dp/(3*M*F*W_tp)
# %% wrong: the tensor degree instead of the data degree
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(3*M*F*n*W_tp/(5*B*W_dp))
# %% wrong: the weights are not cut by the tensor ranks
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = 5*B*W_dp/(3*M*F*W_tp)
# %% wrong: F over B
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*F*n*W_dp/(3*M*B*W_tp))
# %% wrong: the tensor axis passes the tokens of the whole batch
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = 5*B*n*W_dp/(3*M*F*W_tp)/n
# %% wrong: six passes of activations, three all-reduces
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(6*B*n*W_dp/(3*M*F*W_tp))
# %% wrong: the ranks forgotten
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*W_dp/(3*M*F*W_tp))
# %% wrong: always two matrices
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n*W_dp/(6*F*W_tp))
# %% wrong: four passes of activations, two gathers and two scatters
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(4*B*n*W_dp/(3*M*F*W_tp))
# %% wrong: four passes of weights, gradients all-reduced
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n*W_dp/(4*M*F*W_tp))
# %% wrong: two bytes for the weights only
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n*W_dp/(6*M*F*W_tp))
# %% wrong: the root of the numerator only
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n*W_dp)/(3*M*F*W_tp)
# %% wrong: both axes of one bandwidth
import sympy
B, F, n, M, W_dp, W_tp = symbols("mixed-strategies-whole-step")
answer = sympy.sqrt(5*B*n/(3*M*F))
