# %% right: side from the cube, faces twice
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
m = sympy.cbrt(f/2)
answer = 2*m**2*b
# %% right: all powers collected
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2**sympy.Rational(1, 3)*b*f**sympy.Rational(2, 3)
# %% right: float exponents
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*(f/2)**(2/3)
# %% right: sympy solves for the side
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
m = sympy.Symbol("m", positive=True)
side = sympy.solve(2*m**3 - f, m)[0]
answer = (side*side + side*side)*b
# %% right: FLOP over the FLOP that a byte earns
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
side = (f/2)**sympy.Rational(1, 3)
answer = f*b/side
# %% right: by logarithms
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = b*sympy.exp(sympy.log(2*f**2)/3)
# %% right: a root of a square, as the calculator gave the factor
f, b = symbols("gpu-architecture-operand-bytes")
answer = 1.259921*b*(f**2)**(1/3)
# %% wrong: one of the two matrices
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = b*(f/2)**sympy.Rational(2, 3)
# %% wrong: the accumulator comes in, too
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 3*b*(f/2)**sympy.Rational(2, 3)
# %% wrong: a multiply-add counted as one
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*f**sympy.Rational(2, 3)
# %% wrong: integer division in the exponent
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*(f/2)**(2//3)
# %% wrong: a face for the volume: m squared is f over 2
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*(f/2)
# %% wrong: forgets to square the side
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*sympy.cbrt(f/2)
# %% wrong: multiplies by two instead of dividing under the root
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*(2*f)**sympy.Rational(2, 3)
# %% wrong: bf16 for any b
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 4*(f/2)**sympy.Rational(2, 3)
# %% wrong: elements instead of bytes
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*(f/2)**sympy.Rational(2, 3)
# %% wrong: three bytes a FLOP as on a lane, no reuse
f, b = symbols("gpu-architecture-operand-bytes")
answer = 3*b*f/2
# %% wrong: exponent three halves
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 2*b*(f/2)**sympy.Rational(3, 2)
# %% wrong: in bits
import sympy
f, b = symbols("gpu-architecture-operand-bytes")
answer = 16*b*(f/2)**sympy.Rational(2, 3)
