# %% right: one fraction
E, f, P = symbols("expert-parallelism-aux-loss")
answer = (E*f - 1)*(E*P - 1)/(E - 1)
# %% right: as counted, the one and the others
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f*P + (E - 1)*((1 - f)/(E - 1))*((1 - P)/(E - 1))) - 1
# %% right: as a text
answer = "E*(f*P + (1 - f)*(1 - P)/(E - 1)) - 1"
# %% right: a covariance, the two excesses
E, f, P = symbols("expert-parallelism-aux-loss")
df, dP = f - 1/E, P - 1/E
answer = E*df*dP*(1 + 1/(E - 1))
# %% right: summed with sympy over the experts
import sympy
E, f, P = symbols("expert-parallelism-aux-loss")
i = sympy.Dummy("i")
others = sympy.summation((1 - f)*(1 - P)/(E - 1)**2, (i, 2, E))
even = sympy.summation(1/E**2, (i, 1, E))
answer = sympy.simplify(E*(f*P + others) - E*even)
# %% right: multiplied out, with powers in a text
answer = "(E^2*f*P - E*f - E*P + 1)*(E - 1)^-1"
# %% right: expanded by sympy
import sympy
E, f, P = symbols("expert-parallelism-aux-loss")
answer = sympy.expand((E*f - 1)*(E*P - 1))/(E - 1)
# %% wrong: the loss itself, without its even value
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f*P + (1 - f)*(1 - P)/(E - 1))
# %% wrong: the one expert's term alone
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*f*P - 1
# %% wrong: only the excess of the one expert's term
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*f*P - 1/E
# %% wrong: the others' terms are not summed
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f*P + (1 - f)*(1 - P)/(E - 1)**2) - 1
# %% wrong: others' shares over E
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f*P + (1 - f)*(1 - P)/E) - 1
# %% wrong: without the factor E, minus one over E
E, f, P = symbols("expert-parallelism-aux-loss")
answer = f*P + (1 - f)*(1 - P)/(E - 1) - 1/E
# %% wrong: the even value is zero over all, that of E equal losses E
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f*P + (1 - f)*(1 - P)/(E - 1)) - E
# %% wrong: as a ratio over the even value of one over E
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(E*f*P + E*(1 - f)*(1 - P)/(E - 1)) - 1
# %% wrong: the loss is squared in the shares of tokens
E, f, P = symbols("expert-parallelism-aux-loss")
answer = (E*f - 1)**2/(E - 1)
# %% wrong: product of the excesses of f and P, times E
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f - 1/E)*(P - 1/E)
# %% wrong: product of the excesses over the even share, the others forgotten
E, f, P = symbols("expert-parallelism-aux-loss")
answer = (E*f - 1)*(E*P - 1)
# %% wrong: the sign turned round
E, f, P = symbols("expert-parallelism-aux-loss")
answer = (1 - E*f)*(E*P - 1)/(E - 1)
# %% wrong: others keep their even shares
E, f, P = symbols("expert-parallelism-aux-loss")
answer = E*(f*P + (E - 1)/E**2) - 1
# %% wrong: over E rather than E - 1
E, f, P = symbols("expert-parallelism-aux-loss")
answer = (E*f - 1)*(E*P - 1)/E
