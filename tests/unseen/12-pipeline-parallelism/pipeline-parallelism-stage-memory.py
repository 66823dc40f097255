# %% right: layers of a stage, and the stages from here to the end
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(pp - r)
# %% right: a share of all activations
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L*S_layer*(1 - r/pp)
# %% right: as a text
answer = "L*S_layer - r*L*S_layer/pp"
# %% right: passes ahead and the one in turn
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
ahead = pp - 1 - r
answer = (ahead + 1)*(L*S_layer)/pp
# %% right: a sum over the stages that follow, and itself
import sympy
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
s = sympy.Symbol("s", integer=True)
answer = sympy.simplify(sympy.Sum(L*S_layer/pp, (s, r, pp - 1)).doit())
# %% right: the library's first rank, of a shorter pipeline
from hwlib.pipeline import one_f_one_b_in_flight
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = one_f_one_b_in_flight(pp - r, pp)*L/pp*S_layer
# %% right: layers below and above the stage's beginning
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
layers_before = r*L/pp
answer = (L - layers_before)*S_layer
# %% wrong: every stage keeps as many as there are stages
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L*S_layer
# %% wrong: one too few, only the passes ahead
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(pp - 1 - r)
# %% wrong: stages numbered from 1
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(pp - r + 1)
# %% wrong: counted from the other end
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(r + 1)
# %% wrong: all layers on the stage
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L*S_layer*(pp - r)
# %% wrong: one microbatch only
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer
# %% wrong: one layer instead of the stage's
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = S_layer*(pp - r)
# %% wrong: twice as far ahead, there and back
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(2*(pp - r) - 1)
# %% wrong: as many as stages before it
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*r
# %% wrong: the mean over the stages
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L*S_layer*(pp + 1)/(2*pp)
# %% wrong: activations shared out over the stages that follow
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L*S_layer/(pp - r)
# %% wrong: divides twice by the stages
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(pp - r)/pp
# %% wrong: an input and an output of each layer
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = 2*L/pp*S_layer*(pp - r)
# %% wrong: in KB
L, S_layer, pp, r = symbols("pipeline-parallelism-stage-memory")
answer = L/pp*S_layer*(pp - r)/1000
