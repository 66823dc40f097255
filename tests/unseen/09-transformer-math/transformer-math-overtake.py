# %% right: all layers of a period, solved by hand
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(n_q*H) - 2*r*w
# %% right: as a text
answer = "(r + 1)*D*(2*H*(n_q + K) + 3*F)/(n_q*H) - 2*r*w"
# %% right: the library's equal length, twice, as many layers
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
answer = 2*(r + 1)*attention_equal_tokens(D, F, n_q, K, H) - 2*r*w
# %% right: sympy solves, forward
import sympy
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
T = sympy.Symbol("T", positive=True)
scores = 4*n_q*H*(T/2 + r*w)
matrices = 2*(r + 1)*(2*D*H*n_q + 2*D*H*K + 3*D*F)
answer = sympy.solve(scores - matrices, T)[0]
# %% right: sympy solves a training step
import sympy
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
T = sympy.Symbol("T", positive=True)
step = 3*(2*T*n_q*H + r*4*w*n_q*H) - 6*(r + 1)*layer_params(D, F, n_q, K, H)
answer = sympy.solve(step, T)[0]
# %% right: mean number of keys a layer sees
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
layers = r + 1
keys = layers*(2*D*H*(n_q + K) + 3*D*F)/(2*n_q*H)     # all layers together see so many
answer = 2*(keys - r*w)
# %% right: expanded
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
answer = 2*D*(r + 1) + 2*D*(r + 1)*K/n_q + 3*D*F*(r + 1)/(n_q*H) - 2*r*w
# %% wrong: all pairs in the full layer
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(2*n_q*H) - r*w
# %% wrong: half of the window is masked
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(n_q*H) - r*w
# %% wrong: windowed layers cost nothing
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(n_q*H)
# %% wrong: the full layer against its own matrices
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = P/(n_q*H)
# %% wrong: one layer's matrices, all layers' attention
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = P/(n_q*H) - 2*r*w
# %% wrong: r layers in all
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = r*P/(n_q*H) - 2*(r - 1)*w
# %% wrong: MLPs without a gate
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 2*D*F
answer = (r + 1)*P/(n_q*H) - 2*r*w
# %% wrong: scores with the key-value heads
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(K*H) - 2*r*w
# %% wrong: a key for each query
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 4*D*H*n_q + 3*D*F
answer = (r + 1)*P/(n_q*H) - 2*r*w
# %% wrong: scores without the weighted values
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = 2*(r + 1)*P/(n_q*H) - 2*r*w
# %% wrong: the windows the wrong way
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(n_q*H) + 2*r*w
# %% wrong: six for the matrices, two for attention
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = 3*(r + 1)*P/(n_q*H) - 2*r*w
# %% wrong: one of r layers is full
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = ((r + 1)*P/(n_q*H) - 2*w)/r
# %% wrong: only one windowed layer
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
P = 2*D*H*(n_q + K) + 3*D*F
answer = (r + 1)*P/(n_q*H) - 2*w
# %% wrong: MLPs alone
D, F, n_q, K, H, r, w = symbols("transformer-math-overtake")
answer = (r + 1)*3*D*F/(n_q*H) - 2*r*w
