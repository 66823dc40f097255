# %% right: bisection on the sum
g = given("inference-accepted")
tokens = g["both"]/g["plain"]*(1 + g["k"]*g["plain"]/g["draft"])
lo, hi = 0.0, 1.0
for _ in range(80):
    mid = (lo + hi)/2
    if sum(mid**i for i in range(g["k"] + 1)) < tokens:
        lo = mid
    else:
        hi = mid
answer = lo
# %% right: the real root of a polynomial, numpy
import numpy as np
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
roots = np.roots([1]*g["k"] + [1 - tokens])
answer = [r.real for r in roots if abs(r.imag) < 1e-9 and 0 < r.real < 1][0]
# %% right: a fixed point of the closed form
g = given("inference-accepted")
rounds_s = 1/(g["k"]/g["draft"] + 1/g["plain"])
tokens = g["both"]/rounds_s
a = 0.5
for _ in range(3000):
    a = 1 - (1 - a**(g["k"] + 1))/tokens
answer = a
# %% right: Newton, as a text in per cent
g = given("inference-accepted")
t_round = g["k"]/g["draft"] + 1/g["plain"]
a = 1.0
for _ in range(50):
    value = sum(a**i for i in range(g["k"] + 1)) - g["both"]*t_round
    a -= value/sum(i*a**(i - 1) for i in range(1, g["k"] + 1))
answer = f"{100*a:.3f} %"
# %% right: sympy solves it numerically
import sympy
g = given("inference-accepted")
x = sympy.Symbol("x")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = float(sympy.nsolve(sum(x**i for i in range(g["k"] + 1)) - tokens, x, 0.7))
# %% right: Fractions and a fine grid
from fractions import Fraction
plain, draft, both, k = Fraction(101, 4), Fraction(984, 5), Fraction(242, 5), 4
tokens = both*(1/plain + k/draft)
answer = Fraction(next(i for i in range(2000) if sum((i/2000)**j for j in range(k + 1)) >= tokens), 2000)
# %% right: the library's tokens, in numpy floats
import numpy as np
g = given("inference-accepted")
grid = np.linspace(0.001, 0.999, 9981)
model = np.array([speculative_tokens(float(a), g["k"]) for a in grid])
speed = model/(g["k"]/g["draft"] + 1/g["plain"])
answer = grid[np.argmin(abs(speed - g["both"]))]
# %% right: the round counted from its distribution
g = given("inference-accepted")
def rate(a):
    k = g["k"]
    tokens = sum((i + 1)*a**i*(1 - a) for i in range(k)) + (k + 1)*a**k
    return tokens/(k/g["draft"] + 1/g["plain"])
low, step = 0.0, 0.5
while step > 1e-9:
    if rate(low + step) <= g["both"]:
        low += step
    step /= 2
answer = str(low)
# %% wrong: drafts take no time
g = given("inference-accepted")
tokens = g["both"]/g["plain"]
answer = next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(g["k"] + 1)) >= tokens)
# %% wrong: the mean of accepted drafts over k
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = (tokens - 1)/g["k"]
# %% wrong: endless drafts, 1/(1 - a)
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = 1 - 1/tokens
# %% wrong: no token of the large model's own
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(1, g["k"] + 1)) >= tokens)
# %% wrong: its own token only after a refusal
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(g["k"])) >= tokens)
# %% wrong: one draft's time in a round
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + 1/g["draft"])
answer = next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(g["k"] + 1)) >= tokens)
# %% wrong: k + 1 drafts are paid for
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + (g["k"] + 1)/g["draft"])
answer = next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(g["k"] + 1)) >= tokens)
# %% wrong: tokens of a round over those that it could give
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = tokens/(g["k"] + 1)
# %% wrong: the probability that all are accepted
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
a = next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(g["k"] + 1)) >= tokens)
answer = a**g["k"]
# %% wrong: the probability of a refusal
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
answer = 1 - next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(g["k"] + 1)) >= tokens)
# %% wrong: 1 + k a tokens and drafts for nothing
g = given("inference-accepted")
answer = (g["both"]/g["plain"] - 1)/g["k"]
# %% wrong: accepted as a share of the drafting rate
g = given("inference-accepted")
answer = g["both"]/g["draft"]
# %% wrong: the sum goes to a^(k + 1)
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
def of(tokens, terms):
    return next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(terms)) >= tokens)
answer = of(tokens, g["k"] + 2)
# %% wrong: per cent, without the sign
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
def of(tokens, terms):
    return next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(terms)) >= tokens)
answer = 100*of(tokens, g["k"] + 1)
# %% wrong: all k drafts or none
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
def of(tokens, terms):
    return next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(terms)) >= tokens)
answer = ((tokens - 1)/g["k"])**(1/g["k"])
# %% wrong: the large model's own token takes another step
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
def of(tokens, terms):
    return next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(terms)) >= tokens)
answer = of(tokens + g["both"]/g["plain"], g["k"] + 1)
# %% wrong: rounded to one digit
g = given("inference-accepted")
tokens = g["both"]*(1/g["plain"] + g["k"]/g["draft"])
def of(tokens, terms):
    return next(i/1e4 for i in range(10000) if sum((i/1e4)**j for j in range(terms)) >= tokens)
answer = round(of(tokens, g["k"] + 1), 1)
# %% wrong: the share of steps that are saved
g = given("inference-accepted")
answer = 1 - g["plain"]/g["both"]
# %% wrong: drafting stops where a draft is refused
g = given("inference-accepted")
def rate(a):
    tokens = sum(a**i for i in range(g["k"] + 1))
    return tokens/(1/g["plain"] + (tokens - 1)/g["draft"])
answer = next(i/1e4 for i in range(10000) if rate(i/1e4) >= g["both"])
