# %% right: three over what was computed
f, g, h = symbols("transformer-math-hfu")
answer = h*3*(f + g)/(4*f + 3*g)
# %% right: as a text
answer = "3*h*(f + g)/(4*f + 3*g)"
# %% right: what is left after the recomputed part
f, g, h = symbols("transformer-math-hfu")
answer = h*(1 - f/(4*f + 3*g))
# %% right: one over one plus
f, g, h = symbols("transformer-math-hfu")
answer = h/(1 + f/(3*(f + g)))
# %% right: through a time that cancels
import sympy
f, g, h = symbols("transformer-math-hfu")
t, C, B = sympy.symbols("t C B", positive=True)
rate = B*((f + g) + f + 2*(f + g))/(t*C)
time = sympy.solve(sympy.Eq(rate, h), t)[0]
answer = model_utilization(B*3*(f + g), time, 1, C)
# %% right: passes added up one by one
f, g, h = symbols("transformer-math-hfu")
forward, again = f + g, f
dx = dw = f + g
answer = h*(forward + dx + dw)/(forward + again + dx + dw)
# %% right: a mean of layers and output, weighted by hardware time
f, g, h = symbols("transformer-math-hfu")
layers = 4*f/(4*f + 3*g)
answer = h*(layers*3/4 + (1 - layers))
# %% wrong: three quarters
f, g, h = symbols("transformer-math-hfu")
answer = 3*h/4
# %% wrong: turned over
f, g, h = symbols("transformer-math-hfu")
answer = h*(4*f + 3*g)/(3*(f + g))
# %% wrong: the output layer recomputed, the layers not
f, g, h = symbols("transformer-math-hfu")
answer = 3*h*(f + g)/(3*f + 4*g)
# %% wrong: the output layer left out of the model
f, g, h = symbols("transformer-math-hfu")
answer = 3*h*f/(4*f + 3*g)
# %% wrong: the output layer forward only
f, g, h = symbols("transformer-math-hfu")
answer = h*(3*f + g)/(4*f + g)
# %% wrong: backward as much as forward
f, g, h = symbols("transformer-math-hfu")
answer = 2*h*(f + g)/(3*f + 2*g)
# %% wrong: recomputed backward too
f, g, h = symbols("transformer-math-hfu")
answer = 3*h*(f + g)/(6*f + 3*g)
# %% wrong: less the recomputed share of the model's work
f, g, h = symbols("transformer-math-hfu")
answer = h*(1 - f/(3*(f + g)))
# %% wrong: forward passes alone
f, g, h = symbols("transformer-math-hfu")
answer = h*(f + g)/(2*f + g)
# %% wrong: the backward pass is two in all, the forward recomputed in it
f, g, h = symbols("transformer-math-hfu")
answer = h*(f + g)/(4*f + 3*g)
# %% wrong: two for the forward pass as well
f, g, h = symbols("transformer-math-hfu")
answer = 6*h*(f + g)/(7*f + 6*g)
# %% wrong: h is a share that is lost
f, g, h = symbols("transformer-math-hfu")
answer = 1 - h*f/(4*f + 3*g)
# %% wrong: the share, without the HFU
f, g, h = symbols("transformer-math-hfu")
answer = 3*(f + g)/(4*f + 3*g)
