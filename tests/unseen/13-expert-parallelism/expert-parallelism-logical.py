# %% right: five sixths, a text
answer = "46.67 GB/s"
# %% right: from the given numbers
g = given("expert-parallelism-logical")
answer = g["R"]*(1 - 1/g["n"])
# %% right: copies that leave over copies that are counted
g = given("expert-parallelism-logical")
stay = g["M"]/g["n"]
answer = g["R"]*(g["M"] - stay)/g["M"]
# %% right: in bits
g = given("expert-parallelism-logical")
answer = f"{g['R']*8*(g['n'] - 1)/g['n']/1e9:.5g} Gbit/s"
# %% right: all choices of nodes counted
from itertools import combinations
from fractions import Fraction
g = given("expert-parallelism-logical")
ways = list(combinations(range(g["n"]), g["M"]))
out = sum(sum(node != 0 for node in way) for way in ways)
answer = float(Fraction(out, len(ways)*g["M"]))*g["R"]
# %% right: two cases, own node among them or not
g = given("expert-parallelism-logical")
home = g["M"]/g["n"]
mean = home*(g["M"] - 1) + (1 - home)*g["M"]
answer = np.float64(mean/g["M"])*g["R"]
# %% right: sympy, exact
import sympy
answer = sympy.Rational(5, 6)*56*10**9
# %% right: typed in MB/s
answer = "46667 MB/s"
# %% right: with the units of the library
answer = 56*GB*5/6
# %% wrong: the card's own rate
answer = "50 GB/s"
# %% wrong: the rate as printed
g = given("expert-parallelism-logical")
answer = g["R"]
# %% wrong: one copy always stays at home
g = given("expert-parallelism-logical")
answer = g["R"]*(g["M"] - 1)/g["M"]
# %% wrong: the share of nodes that are visited
g = given("expert-parallelism-logical")
answer = g["R"]*g["M"]/g["n"]
# %% wrong: the table counts too little, so divide
g = given("expert-parallelism-logical")
answer = g["R"]*g["n"]/(g["n"] - 1)
# %% wrong: over the copies of a token
g = given("expert-parallelism-logical")
answer = g["R"]/g["M"]
# %% wrong: the part that stays
g = given("expert-parallelism-logical")
answer = g["R"]/g["n"]
# %% wrong: from the card, five sixths
answer = 50e9*5/6
# %% wrong: both directions
g = given("expert-parallelism-logical")
answer = 2*g["R"]*(1 - 1/g["n"])
# %% wrong: chance of drawing a node with repeats
g = given("expert-parallelism-logical")
answer = g["R"]*(1 - (1 - 1/g["n"])**g["M"])
# %% wrong: copies over other nodes
g = given("expert-parallelism-logical")
answer = g["R"]*g["M"]/(g["n"] - 1)
# %% wrong: three other nodes of five
g = given("expert-parallelism-logical")
answer = g["R"]*(g["M"] - 1)/(g["n"] - 1)
# %% wrong: GB taken as bits
g = given("expert-parallelism-logical")
answer = g["R"]*(1 - 1/g["n"])/8
# %% wrong: one expected copy less, not its share
g = given("expert-parallelism-logical")
answer = g["R"]*(1 - g["M"]/g["n"])
# %% wrong: the rate of tokens, so times the copies that leave
g = given("expert-parallelism-logical")
answer = g["R"]*g["M"]*(g["n"] - 1)/g["n"]
# %% wrong: the own node left out twice
g = given("expert-parallelism-logical")
answer = g["R"]*(g["n"] - 2)/(g["n"] - 1)
# %% wrong: one of M copies stays with chance one in n
g = given("expert-parallelism-logical")
answer = g["R"]*(1 - 1/(g["n"]*g["M"]))
