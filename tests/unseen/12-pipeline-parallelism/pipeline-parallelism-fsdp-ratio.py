# %% right: both counts, in bytes
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
weights = 2*12*D**2*L
fsdp = 3*(n - 1)/n*weights
pipeline = 2*(2*B*D)
answer = fsdp/pipeline
# %% right: cancelled
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*L*D/(n*B)
# %% right: as a text
answer = "18*L*D/B*(1 - 1/n)"
# %% right: elements, summed layer by layer
import sympy
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
i = sympy.Symbol("i", integer=True)
all_weights = sympy.Sum(12*D**2, (i, 1, L)).doit()
share = 1 - 1/n
sent = all_weights*share + all_weights*share + all_weights*share
answer = sympy.cancel(sent/(B*D + B*D))
# %% right: difference of two terms
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*D*L/B - 18*D*L/(B*n)
# %% right: the quotient of bytes a token
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
a_token = 3*24*L*D**2*(n - 1)/(n*B)
answer = a_token/(4*D)
# %% right: a pass at a time, forward and backward
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
own = 24*D**2*L/n
forward, backward = (n - 1)*own, 2*(n - 1)*own
hop = 2*B*D
answer = (forward + backward)/hop/2
# %% wrong: forward pass only, of both
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 12*(n - 1)/n*L*D/B
# %% wrong: weights gathered once
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 2*24*L*D**2*(n - 1)/n/(4*B*D)
# %% wrong: no gradients of activations
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 36*(n - 1)/n*L*D/B
# %% wrong: without (n - 1)/n
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*L*D/B
# %% wrong: upside down
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = n*B/(18*(n - 1)*L*D)
# %% wrong: a GPU's own weights only
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*L*D/(n**2*B)
# %% wrong: a GPU sends one n-th of the tokens
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*L*D/B
# %% wrong: one layer's weights
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*D/(n*B)
# %% wrong: two bytes for the weights only
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 36*(n - 1)*L*D/(n*B)
# %% wrong: activations cross after each layer
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*D/B
# %% wrong: gradients by an all-reduce
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 4*24*L*D**2*(n - 1)/n/(4*B*D)
# %% wrong: what all GPUs send of the pipeline
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 3*24*L*D**2*(n - 1)/n/((n - 1)*4*B*D)
# %% wrong: a width's power lost
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*L*D**2/(n*B)
# %% wrong: the bytes of FSDP alone
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 3*24*L*D**2*(n - 1)/n
# %% wrong: the pipeline's ranks share the width
n, L, D, B = symbols("pipeline-parallelism-fsdp-ratio")
answer = 18*(n - 1)*L*D/B*n
