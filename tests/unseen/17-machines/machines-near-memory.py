# %% right: one and the quotient of the rates
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + C_pim*b_w/(2*B*W)
# %% right: as a text, one fraction
answer = "(2*B*W + b_w*C_pim)/(2*B*W)"
# %% right: both rates over one
B, b_w, C_pim, W = symbols("machines-near-memory")
pim, gpu = C_pim/(2*B), W/b_w
answer = (pim + gpu)/gpu
# %% right: the share at which both end together, solved
import sympy
B, b_w, C_pim, W = symbols("machines-near-memory")
f, P = sympy.symbols("f P", positive=True)
share = sympy.solve(sympy.Eq(2*f*P*B/C_pim, (1 - f)*P*b_w/W), f)[0]
answer = sympy.simplify((P*b_w/W)/((1 - share)*P*b_w/W))
# %% right: over the critical batch of the stacks
B, b_w, C_pim, W = symbols("machines-near-memory")
crossing = critical_batch(C_pim, W)*b_w/2    # it counts with two bytes
answer = (B + crossing)/B
# %% right: one over what the GPU keeps
B, b_w, C_pim, W = symbols("machines-near-memory")
stacks = (C_pim/(2*B))/(C_pim/(2*B) + W/b_w)
answer = 1/(1 - stacks)
# %% right: a text with powers
answer = "1 + 0.5*b_w*C_pim*B^(-1)*W^(-1)"
# %% wrong: the stacks' rate alone over the GPU's
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = C_pim*b_w/(2*B*W)
# %% wrong: as fast as the stacks, not as the GPU
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + 2*B*W/(C_pim*b_w)
# %% wrong: one operation a weight
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + C_pim*b_w/(B*W)
# %% wrong: one byte a weight
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + C_pim/(2*B*W)
# %% wrong: the GPU reads its weights for each sequence
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + C_pim*b_w/(2*W)
# %% wrong: the share that the stacks take
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = C_pim*b_w/(C_pim*b_w + 2*B*W)
# %% wrong: half and half, twice as fast
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 2 + 0*B
# %% wrong: the better of the two
import sympy
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = sympy.Max(1, C_pim*b_w/(2*B*W))
# %% wrong: the time, not the speed
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 2*B*W/(2*B*W + C_pim*b_w)
# %% wrong: bytes divided by instead of multiplied with
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + C_pim/(2*B*b_w*W)
# %% wrong: weights divided in halves, the slower half counts
import sympy
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 2*sympy.Min(1, C_pim*b_w/(2*B*W))
# %% wrong: more sequences, more help
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + B*C_pim*b_w/(2*W)
# %% wrong: two bytes always, as in bfloat16
B, b_w, C_pim, W = symbols("machines-near-memory")
answer = 1 + C_pim/(B*W)
