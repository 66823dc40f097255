# %% right: two rings, each with 2(tp - 1) steps of a piece
B, D, tp = symbols("tensor-parallelism-erratum-volume")
piece = 2*B*D/tp
answer = 2*(2*(tp - 1))*piece
# %% right: as a text
answer = "8*(tp - 1)/tp*B*D"
# %% right: as a text with brackets elsewhere and powers
answer = "2^3*B*D - 8*B*D/tp"
# %% right: one minus the share that stays
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 8*B*D*(1 - 1/tp)
# %% right: a scatter and a gather for each pass, summed step by step
import sympy
B, D, tp = symbols("tensor-parallelism-erratum-volume")
j = sympy.Symbol("j", integer=True)
scatter = sympy.Sum(2*B*D/tp, (j, 1, tp - 1)).doit()
gather = scatter
answer = sympy.simplify(sum(scatter + gather for each_pass in ("forward", "backward")))
# %% right: sympy rationals and expanded
import sympy
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = sympy.expand(sympy.Rational(16, 2)*B*D*(tp - 1)/tp)
# %% right: the published count, doubled, of what is not kept
B, D, tp = symbols("tensor-parallelism-erratum-volume")
published = 4*B*D
answer = published*2*((tp - 1)/tp)
# %% wrong: the published 4BSH
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 4*B*D
# %% wrong: twice the published, for many ranks
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 8*B*D
# %% wrong: the forward pass alone
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 4*B*D*(tp - 1)/tp
# %% wrong: elements and not bytes
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 4*B*D*(1 - 1/tp)
# %% wrong: four bytes an element
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 16*B*D*(tp - 1)/tp
# %% wrong: a whole layer, four all-reduces
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 4*2*(tp - 1)/tp*2*B*D
# %% wrong: the ranks of all GPUs together
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 8*B*D*(tp - 1)
# %% wrong: each rank has only its share of the width
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 8*B*(D/tp)*(tp - 1)/tp
# %% wrong: sent whole to every other rank
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 2*2*B*D*(tp - 1)
# %% wrong: with a second gather of sequence parallelism
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = (4*2 + 2)*B*D*(tp - 1)/tp
# %% wrong: sent and received counted
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 2*8*B*D*(tp - 1)/tp
# %% wrong: adds in the switch, so each sends once
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 2*2*B*D
# %% wrong: all but one of tp, upside down
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 8*B*D*tp/(tp - 1)
# %% wrong: a tree of log2 levels
import sympy
B, D, tp = symbols("tensor-parallelism-erratum-volume")
answer = 8*B*D*sympy.log(tp, 2)
