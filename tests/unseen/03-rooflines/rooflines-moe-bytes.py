# %% right: experts awake times the bytes of one
def expert_bytes(B, E, k, D, F, b):
    awake = E*(1 - (1 - k/E)**B)
    return awake*3*D*F*b
# %% right: one token after another wakes what still sleeps
def expert_bytes(B, E, k, D, F, b):
    awake = 0
    for token in range(B):
        awake += k*(E - awake)/E
    return awake*3*D*F*b
# %% right: sets counted by binomials
from math import comb
def expert_bytes(B, E, k, D, F, b):
    passed_by = comb(E - 1, k)/comb(E, k)
    return sum(1 - passed_by**B for expert in range(E))*(D*F + D*F + F*D)*b
# %% right: exact fractions, a float at the end
from fractions import Fraction
def expert_bytes(B, E, k, D, F, b):
    asleep = Fraction(E - k, E)**B
    return float(E*(1 - asleep)*3*D*F*Fraction(b))
# %% right: a lambda, asleep taken off all
expert_bytes = lambda B, E, k, D, F, b: 3*D*F*b*E - 3*D*F*b*E*((E - k)/E)**B
# %% right: numpy, one probability an expert
import numpy as np
def expert_bytes(B, E, k, D, F, b):
    sleep = np.full(E, 1 - k/E)**B
    one = np.prod([3, D, F], dtype=float)*b
    return np.sum((1 - sleep)*one)
# %% right: helper and named arguments
def awake(tokens, experts, chosen):
    if chosen == experts:
        return experts if tokens else 0
    from math import expm1, log1p
    return -experts*expm1(tokens*log1p(-chosen/experts))
def expert_bytes(B, E, k, D, F, b):
    return b*awake(tokens=B, experts=E, chosen=k)*3*F*D
# %% right: a Fraction comes back
from fractions import Fraction
def expert_bytes(B, E, k, D, F, b):
    awake = E - E*Fraction(E - k, E)**B
    return awake*Fraction(b)*3*D*F
# %% wrong: every choice wakes a new one
def expert_bytes(B, E, k, D, F, b):
    return min(E, B*k)*3*D*F*b
# %% wrong: a token may choose an expert twice
def expert_bytes(B, E, k, D, F, b):
    return E*(1 - (1 - 1/E)**(B*k))*3*D*F*b
# %% wrong: all experts are read
def expert_bytes(B, E, k, D, F, b):
    return E*3*D*F*b
# %% wrong: the experts of one token
def expert_bytes(B, E, k, D, F, b):
    return k*3*D*F*b
# %% wrong: two matrices
def expert_bytes(B, E, k, D, F, b):
    return E*(1 - (1 - k/E)**B)*2*D*F*b
# %% wrong: one expert for each token
def expert_bytes(B, E, k, D, F, b):
    return E*(1 - (1 - 1/E)**B)*3*D*F*b
# %% wrong: experts that all tokens choose
def expert_bytes(B, E, k, D, F, b):
    return E*(k/E)**B*3*D*F*b
# %% wrong: experts that sleep
def expert_bytes(B, E, k, D, F, b):
    return E*(1 - k/E)**B*3*D*F*b
# %% wrong: forgets the bytes of a weight
def expert_bytes(B, E, k, D, F, b):
    return E*(1 - (1 - k/E)**B)*3*D*F
# %% wrong: whole experts only
def expert_bytes(B, E, k, D, F, b):
    return ceil(E*(1 - (1 - k/E)**B))*3*D*F*b
# %% wrong: limit of many experts and tokens
from math import exp
def expert_bytes(B, E, k, D, F, b):
    return E*(1 - exp(-B*k/E))*3*D*F*b
# %% wrong: k new ones a token until all are awake, in expectation forgotten
def expert_bytes(B, E, k, D, F, b):
    return B*k*3*D*F*b
# %% wrong: prints it with a unit
def expert_bytes(B, E, k, D, F, b):
    return print(show(E*(1 - (1 - k/E)**B)*3*D*F*b, "B"))
