# %% right: a text
answer = "2*F*m^2/D"
# %% right: sympy minimises and solves
import sympy
D, F, m = symbols("inference-erratum-cuts")
n, x = sympy.symbols("n x", positive=True)
both = 2*D/x + 4*F*x/n
best = both.subs(x, sympy.solve(sympy.diff(both, x), x)[0])
answer = sympy.solve(sympy.Eq(sympy.simplify(best**2), (4*D/m)**2), n)[0]
# %% right: the square of a quotient of times
D, F, m = symbols("inference-erratum-cuts")
answer = (2*(8*D*F)**0.5/(4*D/m))**2
# %% right: as multiples of the ratio, with sqrt in a text
answer = "(m*sqrt(2*F/D))**2"
# %% right: scaled from the case of the book
import sympy
D, F, m = symbols("inference-erratum-cuts")
answer = 72*(F/(4*D))*(m/sympy.Integer(3))**2
# %% right: other names
width, hidden, links = symbols("inference-erratum-cuts")
p, q = 2*width, 4*hidden
answer = 4*p*q/(4*width/links)**2
# %% right: sympy rationals and negative powers
import sympy
D, F, m = symbols("inference-erratum-cuts")
answer = F*D**-1/(sympy.Rational(1, 2)*m**-2)
# %% wrong: as printed, scaled to other widths
D, F, m = symbols("inference-erratum-cuts")
answer = 81*F/(4*D)*(m/3)**2
# %% wrong: the links are not squared
D, F, m = symbols("inference-erratum-cuts")
answer = 2*F*m/D
# %% wrong: widths turned over
D, F, m = symbols("inference-erratum-cuts")
answer = 2*D*m**2/F
# %% wrong: the minimum is sqrt(p q), once
D, F, m = symbols("inference-erratum-cuts")
answer = F*m**2/(2*D)
# %% wrong: a square of chips, x = sqrt(n)
D, F, m = symbols("inference-erratum-cuts")
answer = (m*(D + 2*F)/(2*D))**2
# %% wrong: all links in the second cut too
D, F, m = symbols("inference-erratum-cuts")
answer = 2*F/D
# %% wrong: left as a root, not squared
D, F, m = symbols("inference-erratum-cuts")
answer = m*(2*F/D)**0.5
# %% wrong: one pass for the first cut, without the scatter
D, F, m = symbols("inference-erratum-cuts")
answer = 8*F*m**2/D
# %% wrong: activations of F count once, like D's
D, F, m = symbols("inference-erratum-cuts")
answer = F*m**2/D
# %% wrong: x = 1, and the second term alone
D, F, m = symbols("inference-erratum-cuts")
answer = F*m/D
# %% wrong: F = 4 D put in
D, F, m = symbols("inference-erratum-cuts")
answer = 8*m**2
# %% wrong: the number for the book's case
answer = 72
# %% wrong: m on the wrong side
D, F, m = symbols("inference-erratum-cuts")
answer = 2*F/(D*m**2)
# %% wrong: the 8 taken out of the root as it is
D, F, m = symbols("inference-erratum-cuts")
answer = 16*F*m**2/D
# %% wrong: the next chip
D, F, m = symbols("inference-erratum-cuts")
answer = 2*F*m**2/D + 1
# %% wrong: three links put in
D, F, m = symbols("inference-erratum-cuts")
answer = 18*F/D
