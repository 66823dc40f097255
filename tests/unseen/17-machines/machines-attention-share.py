# %% right: tiles of both products, one way in and one way out
from math import ceil
g = given("machines-attention-share")
T, H, a = g["T"], g["H"], g["side"]
tiles = 2*ceil(T/a)*ceil(H/a)
cycles = a + (tiles - 1)*max(T, a) + T + 2*a - 2      # behind the last tile no other shifts in
answer = 2*T*T*H/(cycles*a*a)
# %% right: typed, in per cent
answer = "45.25 %"
# %% right: a Fraction of counts
from fractions import Fraction
answer = Fraction(2*1900**2*128, 31166*256**2)
# %% right: tile by tile, a clock that goes on
g = given("machines-attention-share")
T, H, a = int(g["T"]), int(g["H"]), int(g["side"])
products = [(H, T), (T, H)]
held = [(k, n) for K, N in products for k in range(0, K, a) for n in range(0, N, a)]
clock = a                         # the first tile
for number, _ in enumerate(held):
    last = number == len(held) - 1
    clock += T if last else max(T, a)
clock += 2*a - 2
answer = (T*H*T + T*T*H)/(clock*a**2)
# %% right: numpy, work of every tile summed
import numpy as np
g = given("machines-attention-share")
T, H, a = (int(g[name]) for name in ("T", "H", "side"))
cut = lambda size: np.minimum(a, size - np.arange(0, size, a))
work = 2*T*np.outer(cut(T), cut(H)).sum()
n = 2*len(cut(T))*len(cut(H))
answer = work/np.float64(a*a*(a + (n - 1)*max(T, a) + T + 2*a - 2))
# %% right: sympy, one less what is lost
import sympy
cycles = sympy.Integer(256 + 16*1900 + 510)
lost = cycles*256**2 - 2*1900*1900*128
answer = 1 - sympy.Rational(lost, cycles*256**2)
# %% right: half the square, seven tiles and a part of eight, and the ends
answer = 0.5*(1900/2048)*(30400/31166)
# %% wrong: half of the square is idle, and no more
answer = 128/256
# %% wrong: padding only, nothing for the ends
answer = 1900/2048/2
# %% wrong: ends paid by each of the two products
answer = 2*1900**2*128/(2*(8*1900 + 766)*256**2)
# %% wrong: two operations a multiplier and cycle
answer = 2*2*1900**2*128/((16*1900 + 766)*256**2)
# %% wrong: rows padded to whole tiles as well
answer = 2*1900**2*128/((16*2048 + 766)*256**2)
# %% wrong: heads of 128 pack two by two
answer = 2*1900**2*128/((8*1900 + 766)*256**2)
# %% wrong: every tile is loaded before its rows come
answer = 2*1900**2*128/(16*(256 + 1900)*256**2 + 510*256**2)
# %% wrong: seven and two fifths of a tile
answer = 2*1900**2*128/((2*1900/256*1900 + 766)*256**2)
# %% wrong: half of the scores, as with a mask
answer = 1900**2*128/((16*1900 + 766)*256**2)
# %% wrong: the share that waits
answer = 1 - 2*1900**2*128/((16*1900 + 766)*256**2)
# %% wrong: the second product in one tile of 1,900 by 128
answer = 2*1900**2*128/((9*1900 + 766)*256**2)
# %% wrong: padded tokens count as work
answer = 2*1900*2048*128/((16*1900 + 766)*256**2)
# %% wrong: the first load left out
answer = 2*1900**2*128/((16*1900 + 510)*256**2)
# %% wrong: a square of 128
answer = 2*1900**2*128/((2*15*1900 + 3*128 - 2)*128**2)
