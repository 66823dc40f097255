# %% right: one count over the other
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
context = (cp - 1)*2*(K/tp)*(T/cp)
tensor = 4*(tp - 1)/tp*(T/cp)*D
answer = context/tensor
# %% right: a text
answer = "K*(cp - 1)/(2*D*(tp - 1))"
# %% right: expanded
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = (cp*K - K)/(2*tp*D - 2*D)
# %% right: with a size of an element that falls out
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
b = 2
answer = (b*2*(K/tp)*(T/cp)*(cp - 1))*tp/(4*b*(tp - 1)*T*D/cp)
# %% right: a product of two ratios
from sympy import Rational
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = Rational(1, 2)*(K/D)*((1 - cp)/(1 - tp))
# %% wrong: keys only
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(cp - 1)/(4*D*(tp - 1))
# %% wrong: keys and values not cut by the tensor axis
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = tp*K*(cp - 1)/(2*D*(tp - 1))
# %% wrong: the ring passes the block on cp times
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*cp/(2*D*(tp - 1))
# %% wrong: all of the array in each collective
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(cp - 1)/(2*D*tp)
# %% wrong: upside down
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = 2*D*(tp - 1)/(K*(cp - 1))
# %% wrong: the tensor axis moves all tokens of the sequence
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(cp - 1)/(2*cp*D*(tp - 1))
# %% wrong: two collectives instead of four
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(cp - 1)/(D*(tp - 1))
# %% wrong: the block is of all tokens
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = cp*K*(cp - 1)/(2*D*(tp - 1))
# %% wrong: activations' width for the keys
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = (cp - 1)/(2*(tp - 1))
# %% wrong: to first order in both degrees
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*cp/(2*D*tp)
# %% wrong: the difference instead of the ratio
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = 2*(cp - 1)*(K/tp)*(T/cp) - 4*(tp - 1)/tp*(T/cp)*D
# %% wrong: the context axis's share of all bytes
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(cp - 1)/(K*(cp - 1) + 2*D*(tp - 1))
# %% wrong: tp and cp interchanged
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(tp - 1)/(2*D*(cp - 1))
# %% wrong: all ranks of a ring over all ranks of a tensor group
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = cp*K*(cp - 1)/(2*tp*D*(tp - 1))
# %% wrong: five collectives, as in a whole step
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = 2*K*(cp - 1)/(5*D*(tp - 1))
# %% wrong: tp/(tp - 1) of the array
tp, cp, T, D, K = symbols("mixed-strategies-context-ratio")
answer = K*(cp - 1)*(tp - 1)/(2*D*tp**2)
