# %% right: a link's load both times
n = symbols("sharded-matmuls-erratum-alltoall")
hops = (n/2)*(n/2 + 1)/2
answer = hops/n**2/(n/2/n)
# %% right: a quarter and what is missing
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 2)/(4*n)
# %% right: as a text
answer = "1/4 + 1/(2*n)"
# %% right: sympy adds the distances
import sympy
n = symbols("sharded-matmuls-erratum-alltoall")
d = sympy.Symbol("d", integer=True)
exchange = sympy.summation(d, (d, 1, n/2))/n**2
gather = sympy.Rational(1, 2)
answer = exchange/gather
# %% right: with S and W, which cancel
import sympy
n = symbols("sharded-matmuls-erratum-alltoall")
S, W = sympy.symbols("S W", positive=True)
t = (n/2)*S/n/W
answer = sympy.simplify(n*(n + 2)/8*S/n**2/W/t)
# %% right: rings of even numbers simulated, and the curve through them
from fractions import Fraction
n = symbols("sharded-matmuls-erratum-alltoall")
def factor(ring):
    loads = {True: [0, 0], False: [0, 0]}
    for gather in loads:
        for link in range(2):                       # to the right, to the left
            reach = ring//2 if link == 0 else ring//2 - 1
            if gather:
                loads[gather][link] = Fraction(reach, ring)
            else:
                loads[gather][link] = Fraction(sum(range(1, reach + 1)), ring**2)
    return max(loads[False])/max(loads[True])
slope = (factor(4) - factor(8))/(Fraction(1, 4) - Fraction(1, 8))
level = factor(4) - slope/4
answer = f"{level} + ({slope})/n"
# %% right: the printed factor, times the error
n = symbols("sharded-matmuls-erratum-alltoall")
answer = 0.25*(1 + 2/n)
# %% right: mean distance over the number of devices
n = symbols("sharded-matmuls-erratum-alltoall")
mean_hops = (1 + n/2)/2
answer = mean_hops/n
# %% wrong: the printed factor
answer = "1/4"
# %% wrong: both directions' mean load
n = symbols("sharded-matmuls-erratum-alltoall")
answer = n/(4*(n - 1))
# %% wrong: the left-hand links
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n/2 - 1)*(n/2)/2/n**2/((n/2 - 1)/n)*1
# %% wrong: straight through a switch
n = symbols("sharded-matmuls-erratum-alltoall")
answer = 1/n
# %% wrong: links one way only
answer = "1/2"
# %% wrong: turned over
n = symbols("sharded-matmuls-erratum-alltoall")
answer = 4*n/(n + 2)
# %% wrong: over the bytes of the array, not over the gather
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 2)/(8*n)
# %% wrong: the gather sends (n - 1)/n on both sides in equal parts
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 2)/(4*(n - 1))
# %% wrong: the gather one way round
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 2)/(8*(n - 1))
# %% wrong: as the busier links of the one, the quieter of the other
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 2)/8/n/((n/2 - 1)/n)
# %% wrong: the opposite device left out
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n/2 - 1)*(n/2)/2/n**2/(1/2)
# %% wrong: every block goes half of the ring
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n/2)*(n/2)/n**2/(n/2/n)
# %% wrong: the opposite block cut in two
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n*n/8)/n**2/((n - 1)/2/n)
# %% wrong: distances 1 to n on the right
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 1)/(2*n)
# %% wrong: the sum of distances without its half
n = symbols("sharded-matmuls-erratum-alltoall")
answer = (n + 2)/(2*n)
