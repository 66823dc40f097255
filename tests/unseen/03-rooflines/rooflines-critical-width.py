# %% right: solved for D by hand
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R*(1 + r)/(r*(2*B - R))
# %% right: sympy solves the equation
import sympy
B, R, r = symbols("rooflines-critical-width")
D = sympy.Symbol("D", positive=True)
F = r*D
answer = sympy.solve(2*B*D*F - R*(2*B*D + D*F + 2*B*F), D)[0]
# %% right: activations over what the weights leave
B, R, r = symbols("rooflines-critical-width")
answer = (2*B + 2*B*r)/(2*B*r/R - r)
# %% right: one over a difference of inverses
B, R, r = symbols("rooflines-critical-width")
answer = (1 + 1/r)/(1/R - 1/(2*B))
# %% right: two summands, for input and output
B, R, r = symbols("rooflines-critical-width")
k = 2*B*R/(2*B - R)
answer = k + k/r
# %% right: both signs turned, with floats
B, R, r = symbols("rooflines-critical-width")
answer = -2.0*R*B*(r + 1.0)/(R*r - 2.0*B*r)
# %% right: from the batch formula, turned round
import sympy
B, R, r = symbols("rooflines-critical-width")
D = sympy.Symbol("D", positive=True)
answer = sympy.solve(sympy.Eq(1/B, 2/R - 2/(r*D) - 2/D), D)[0]
# %% wrong: bf16 weights
B, R, r = symbols("rooflines-critical-width")
answer = B*R*(1 + r)/(r*(B - R))
# %% wrong: forgets the output
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R/(r*(2*B - R))
# %% wrong: forgets the input
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R/(2*B - R)
# %% wrong: activations of one byte
B, R, r = symbols("rooflines-critical-width")
answer = B*R*(1 + r)/(r*(2*B - R))
# %% wrong: one FLOP for a multiply-add
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R*(1 + r)/(r*(B - R))
# %% wrong: gives the width F instead of D
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R*(1 + r)/(2*B - R)
# %% wrong: the limit of a large batch
B, R, r = symbols("rooflines-critical-width")
answer = R*(1 + r)/r
# %% wrong: a square layer
B, R, r = symbols("rooflines-critical-width")
answer = 4*B*R/(2*B - R)
# %% wrong: sign of the weights
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R*(1 + r)/(r*(2*B + R))
# %% wrong: the batch that goes with a width of one
B, R, r = symbols("rooflines-critical-width")
answer = R*r/(2*r - 2*R*(1 + r))
# %% wrong: 1 + r where 1 + 1/r is due, inverted aspect
B, R, r = symbols("rooflines-critical-width")
answer = 2*B*R*r/((1 + r)*(2*B - R))
