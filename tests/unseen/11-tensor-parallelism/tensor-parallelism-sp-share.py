# %% right: shortened by two
tp = symbols("tensor-parallelism-sp-share")
answer = 17/(5*tp + 12)
# %% right: as written
tp = symbols("tensor-parallelism-sp-share")
answer = (34/tp)/(10 + 24/tp)
# %% right: as a text
answer = "34/(10*tp + 24)"
# %% right: the library's formulas
import sympy
tp = symbols("tensor-parallelism-sp-share")
T, micro, D = sympy.symbols("T micro D", positive=True)
with_sp = 34*T*micro*D/tp
without = T*micro*D*(10 + 24/tp)
answer = sympy.cancel(with_sp/without)
# %% right: one over a sum of shares
import sympy
tp = symbols("tensor-parallelism-sp-share")
answer = 1/(tp*sympy.Rational(10, 34) + sympy.Rational(24, 34))
# %% right: one minus what is saved
tp = symbols("tensor-parallelism-sp-share")
saved = 10*(1 - 1/tp)
answer = 1 - saved/(10 + 24/tp)
# %% right: a rational with a negative power in a text
answer = "34*(24 + 10*tp)**-1"
# %% wrong: what is saved
tp = symbols("tensor-parallelism-sp-share")
answer = 10*(tp - 1)/(10*tp + 24)
# %% wrong: compared with no tensor parallelism at all
tp = symbols("tensor-parallelism-sp-share")
answer = 1/tp
# %% wrong: the other way round
tp = symbols("tensor-parallelism-sp-share")
answer = (10*tp + 24)/34
# %% wrong: ten and twenty-four exchanged
tp = symbols("tensor-parallelism-sp-share")
answer = 34/(24*tp + 10)
# %% wrong: with the ten alone on top
tp = symbols("tensor-parallelism-sp-share")
answer = (10/tp)/(10 + 24/tp)
# %% wrong: a whole layer on top, the ten not divided
tp = symbols("tensor-parallelism-sp-share")
answer = (10 + 24/tp)/34
# %% wrong: the twenty-four divided twice
tp = symbols("tensor-parallelism-sp-share")
answer = (10/tp + 24/tp**2)/(10 + 24/tp)
# %% wrong: sequence parallelism in the place of the other, not both
tp = symbols("tensor-parallelism-sp-share")
answer = (24 + 10/tp)/(10 + 24/tp)
# %% wrong: 34 in all beside the ten
tp = symbols("tensor-parallelism-sp-share")
answer = (34/tp)/(10 + 34/tp)
# %% wrong: inputs of both blocks stay whole
tp = symbols("tensor-parallelism-sp-share")
answer = (4 + 30/tp)/(10 + 24/tp)
# %% wrong: eight ranks put in
answer = "34/104"
# %% wrong: bytes and not a quotient
tp = symbols("tensor-parallelism-sp-share")
answer = 34/tp
