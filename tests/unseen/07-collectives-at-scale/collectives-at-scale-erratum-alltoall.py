# %% right: what leaves a port, before and after
g = given("collectives-at-scale-erratum-alltoall")
N, M = g["N"], 2
one = (N - 1)/N**2/g["W_in"]
two = (M - 1)/M**2/g["W_node"]
answer = two/one
# %% right: typed
answer = 2.57
# %% right: as a fraction of whole numbers
from fractions import Fraction
answer = Fraction(18, 7)
# %% right: fractions from the numbers
from fractions import Fraction
g = given("collectives-at-scale-erratum-alltoall")
answer = Fraction(1, 4)/int(g["W_node"])*int(g["W_in"])*g["N"]**2/(g["N"] - 1)
# %% right: the library's times
g = given("collectives-at-scale-erratum-alltoall")
two = nodes_alltoall_time(1e9, g["N"], 2, g["W_in"], g["W_node"]/g["N"])
one = nodes_alltoall_time(1e9, g["N"], 1, g["W_in"], g["W_node"]/g["N"])
answer = two/one
# %% right: a table of who sends what to whom
import numpy as np
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
one = np.full((N, N), 1/N**2)
t1 = (one.sum(1) - one.diagonal()).max()/g["W_in"]
two = np.full((2*N, 2*N), 1/(2*N)**2)
leaves_node = two[:N, N:].sum()
leaves_gpu = (two.sum(1) - two.diagonal()).max()
answer = max(leaves_node/g["W_node"], leaves_gpu/g["W_in"])/t1
# %% right: as a text
g = given("collectives-at-scale-erratum-alltoall")
answer = f"{g['N']**2*g['W_in']/(4*(g['N'] - 1)*g['W_node']):.4g}x"
# %% right: the book's factor, both limits corrected
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
limit = N*g["W_in"]/(2*g["W_node"])
answer = limit*(1 - 1/2)/(1 - 1/N)
# %% right: sympy
import sympy
g = given("collectives-at-scale-erratum-alltoall")
S, M = sympy.Symbol("S", positive=True), 2
t = lambda k, W: sympy.Rational(k - 1, k**2)*S/int(W)
answer = sympy.cancel(t(M, g["W_node"])/t(g["N"], g["W_in"]))
# %% wrong: the book's limits
g = given("collectives-at-scale-erratum-alltoall")
answer = g["N"]*g["W_in"]/(2*g["W_node"])
# %% wrong: corrects the two nodes only
g = given("collectives-at-scale-erratum-alltoall")
answer = g["N"]*g["W_in"]/(2*g["W_node"])/2
# %% wrong: corrects the one node only
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
answer = N*g["W_in"]/(2*g["W_node"])*N/(N - 1)
# %% wrong: the inverted factor
g = given("collectives-at-scale-erratum-alltoall")
answer = 4*(g["N"] - 1)*g["W_node"]/(g["N"]**2*g["W_in"])
# %% wrong: only the growth, one less
g = given("collectives-at-scale-erratum-alltoall")
answer = g["N"]**2*g["W_in"]/(4*(g["N"] - 1)*g["W_node"]) - 1
# %% wrong: the two times added
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
answer = 1 + N**2*g["W_in"]/(4*(N - 1)*g["W_node"])
# %% wrong: the ratio of an all-gather
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
answer = (1/2/g["W_node"])/((N - 1)/N/g["W_in"])
# %% wrong: twice the bytes on twice the GPUs
g = given("collectives-at-scale-erratum-alltoall")
answer = 2*g["N"]**2*g["W_in"]/(4*(g["N"] - 1)*g["W_node"])
# %% wrong: NVLink against one card
g = given("collectives-at-scale-erratum-alltoall")
answer = g["W_in"]/(g["W_node"]/g["N"])
# %% wrong: sixteen ranks inside, not two nodes
g = given("collectives-at-scale-erratum-alltoall")
N, n = g["N"], 2*g["N"]
answer = ((n - 1)/n**2/(g["W_node"]/N))/((N - 1)/N**2/g["W_in"])
# %% wrong: one of N blocks instead of all but one
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
answer = (1/4/g["W_node"])/(1/N**2/g["W_in"])
# %% wrong: (n - 1)/n over n upside down
g = given("collectives-at-scale-erratum-alltoall")
N = g["N"]
answer = N*g["W_in"]/(2*g["W_node"])*(1 - 1/N)/(1 - 1/2)
