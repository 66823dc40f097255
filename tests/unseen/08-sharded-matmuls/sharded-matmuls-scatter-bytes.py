# %% right: z groups of groups, y - 1 parts each
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = z*(y - 1)
# %% right: a device's bytes times the devices
x, y, z = symbols("sharded-matmuls-scatter-bytes")
part = 1/x
answer = x*y*z*(y - 1)/y*part
# %% right: as a text
answer = "y*z - z"
# %% right: a text with everything in it
answer = "(x*y*z) * ((y - 1)/y) * (1/x)"
# %% right: groups along Y, summed by sympy
import sympy
x, y, z = symbols("sharded-matmuls-scatter-bytes")
i, j, k = sympy.symbols("i j k", integer=True)
of_a_device = (1 - 1/y)/x
answer = sympy.Sum(of_a_device, (i, 1, x), (j, 1, y), (k, 1, z)).doit()
# %% right: factor of an all-reduce, halved
x, y, z = symbols("sharded-matmuls-scatter-bytes")
allreduce = 2*(y - 1)/y/x
answer = allreduce*x*y*z/2
# %% right: a line through three meshes that the library prices
x, y, z = symbols("sharded-matmuls-scatter-bytes")
def multiple(a, b, c):
    mesh, shape = Mesh(X=a, Y=b, Z=c), {"I": 64, "J": 64}
    (move,) = moves_between("G[I_X, J]{U_Y}", "G[I_X, J_Y]", mesh, shape)
    return round(move.sent_bytes*mesh.devices/(2*64*64))
slope = multiple(2, 4, 1) - multiple(2, 2, 1)
answer = z*(multiple(4, 2, 1) + slope//2*(y - 2))
# %% right: what must arrive: every part, from all others of its group
x, y, z = symbols("sharded-matmuls-scatter-bytes")
parts = x*y                       # of G, each 1/(x*y)
terms_to_a_part = y - 1
answer = z*parts*terms_to_a_part/(x*y)
# %% wrong: one copy of the work, Z forgotten
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = y - 1
# %% wrong: every group has the whole array
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = x*z*(y - 1)
# %% wrong: what one device sends, of its part
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = (y - 1)/y
# %% wrong: what one device sends, of the whole array
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = (y - 1)/(x*y)
# %% wrong: one group
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = (y - 1)/x
# %% wrong: an all-reduce
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = 2*z*(y - 1)
# %% wrong: (y - 1)/y counts as one
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = y*z
# %% wrong: the group is along X
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = z*(x - 1)
# %% wrong: the buffer is split by Y before it is sent
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = z*(y - 1)/y
# %% wrong: all but one device of X and Y together
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = z*(x*y - 1)
# %% wrong: Z in the group as well
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = y*z - 1
# %% wrong: the idle axis in place of X
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = x*(y - 1)
# %% wrong: an all-to-all's share
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = z*(y - 1)/y**2
# %% wrong: sent and received
x, y, z = symbols("sharded-matmuls-scatter-bytes")
answer = z*(y - 1)*2*x
