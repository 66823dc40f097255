# %% right: all cases
g = given("machines-lab-rack")
best = (float("inf"), None)
for gpus in range(8, 577, 8):
    for links in range(1, 73):
        for cards in range(1, 17):
            pj = 6 if gpus <= 72 else g["light"]
            watts = links*0.4*pj + cards/4*0.4*80
            tokens = max(2.5e15/(links*50e9), 2.5e15/(gpus*cards/4*50e9))
            if watts <= g["budget"] + 1e-9 and tokens < best[0]:
                best = (tokens, dict(gpus=gpus, links=links, cards=cards))
answer = best[1]
# %% right: typed
answer = dict(gpus=72, links=35, cards=2)
# %% right: texts
answer = {"gpus": "72", "links": "35", "cards": "2"}
# %% right: floats that are whole, other order
answer = {"cards": 2.0, "links": 35.0, "gpus": 72.0}
# %% right: numpy integers
import numpy as np
cards = np.arange(1, 17)
links = np.minimum((100 - 8*cards)//2.4, 72)
need = np.maximum(50000/np.maximum(links, 1e-9), 50000/(18*cards))
i = need[links >= 1].argmin()
answer = dict(gpus=np.int64(72), links=links.astype(int)[i], cards=cards[i])
# %% right: sympy and Fractions
import sympy
from fractions import Fraction
answer = dict(gpus=sympy.Integer(8)*9, links=sympy.floor(sympy.Rational(84*10, 24)), cards=Fraction(16, 8))
# %% right: what the cards leave goes into links
from math import floor
g = given("machines-lab-rack")
found = []
for gpus, pj in ((72, 6), (576, g["light"])):
    for cards in range(1, 17):
        links = min(72, floor((g["budget"] - 8*cards)/(0.4*pj) + 1e-9))
        if links > 0:
            found.append((max(50_000/links, 200_000/(gpus*cards)), gpus, links, cards))
answer = dict(zip(("gpus", "links", "cards"), min(found)[1:]))
# %% wrong: the largest domain, in light
answer = dict(gpus=576, links=15, cards=1)
# %% wrong: the budget halved between inside and outside
answer = dict(gpus=72, links=20, cards=6)
# %% wrong: a card for each GPU, as ever
answer = dict(gpus=72, links=28, cards=4)
# %% wrong: cards counted for each GPU, not for a tray
answer = dict(gpus=72, links=35, cards=8)
# %% wrong: all for NVLink, one card on a tray
answer = dict(gpus=72, links=38, cards=1)
# %% wrong: a node of eight
answer = dict(gpus=8, links=18, cards=7)
# %% wrong: bytes for bits, power eight times too small
answer = dict(gpus=72, links=72, cards=4)
# %% wrong: light at the price of copper
answer = dict(gpus=576, links=38, cards=1)
# %% wrong: one link too many
answer = dict(gpus=72, links=36, cards=2)
# %% wrong: half of the light, two racks
answer = dict(gpus=144, links=14, cards=2)
# %% wrong: an NVL72 as it is sold
answer = dict(gpus=72, links=18, cards=4)
# %% wrong: a domain of 70, where both bounds are alike
answer = dict(gpus=70, links=35, cards=2)
# %% wrong: both ways counted, half of everything
answer = dict(gpus=72, links=17, cards=1)
# %% wrong: a tray's 400 W for one GPU
answer = dict(gpus=72, links=72, cards=16)
# %% wrong: the power of all links in bandwidth instead of number
answer = dict(gpus=72, links=1750, cards=100)
