# %% right: links across, times what one carries
n, W = symbols("node-networking-mesh-bisection")
answer = (n/2)**2*W/(n - 1)
# %% right: each of one half sends this share across
n, W = symbols("node-networking-mesh-bisection")
share = (n/2)/(n - 1)
answer = n/2*W*share
# %% right: all links less those inside the halves
n, W = symbols("node-networking-mesh-bisection")
links_all = n*(n - 1)
links_inside = 2*(n/2)*(n/2 - 1)
answer = (links_all - links_inside)/2*W/(n - 1)
# %% right: with Rational and expanded
import sympy
n, W = symbols("node-networking-mesh-bisection")
answer = sympy.Rational(1, 4)*W*(n + 1 + 1/(n - 1))
# %% right: a double sum over the pairs across
import sympy
n, W = symbols("node-networking-mesh-bisection")
i, j = sympy.symbols("i j", integer=True)
link = W/(n - 1)
answer = sympy.summation(sympy.summation(link, (j, n/2 + 1, n)), (i, 1, n/2))
# %% right: what a switch would have, over its loss
n, W = symbols("node-networking-mesh-bisection")
answer = n*W/2/(2 - 2/n)
# %% right: floats
n, W = symbols("node-networking-mesh-bisection")
answer = 0.25*n**2.0*W/(n - 1.0)
# %% right: the library's halves, rounded down as n is even
n, W = symbols("node-networking-mesh-bisection")
half = n//2
answer = half*half*(W/(n - 1))
# %% right: one half and the rest
n, W = symbols("node-networking-mesh-bisection")
half = n//2
answer = half*(n - half)*W/(n - 1)
# %% wrong: as on a switch
n, W = symbols("node-networking-mesh-bisection")
answer = n/2*W
# %% wrong: both directions
n, W = symbols("node-networking-mesh-bisection")
answer = n**2*W/(2*(n - 1))
# %% wrong: spreads over n instead of n minus one
n, W = symbols("node-networking-mesh-bisection")
answer = (n/2)**2*W/n
# %% wrong: n half links each less one
n, W = symbols("node-networking-mesh-bisection")
answer = n/2*(n/2 - 1)*W/(n - 1)
# %% wrong: every link of the mesh
n, W = symbols("node-networking-mesh-bisection")
answer = n*(n - 1)/2*W/(n - 1)
# %% wrong: one GPU's links across
n, W = symbols("node-networking-mesh-bisection")
answer = n/2*W/(n - 1)
# %% wrong: every link has the full bandwidth
n, W = symbols("node-networking-mesh-bisection")
answer = (n/2)**2*W
# %% wrong: one link
n, W = symbols("node-networking-mesh-bisection")
answer = W/(n - 1)
# %% wrong: the limit of many GPUs
n, W = symbols("node-networking-mesh-bisection")
answer = n*W/4
# %% wrong: eight GPUs for any n
n, W = symbols("node-networking-mesh-bisection")
answer = 16*W/7
# %% wrong: all of one GPU's traffic crosses
n, W = symbols("node-networking-mesh-bisection")
answer = n**2*W/(n - 1)
