# %% right: floor division of bytes
answer = int((4*16e9 - 35e9)//(81920*8192))
# %% right: with the numbers of the prompt
from math import floor
g = given("serving-erratum-caches")
answer = floor((g["n"]*16*GB - g["P"]*1e9/2)/(g["S_kv"]*g["T"]))
# %% right: a text with what is counted
answer = "43 caches"
# %% right: a float
answer = 43.0
# %% right: sympy
import sympy
answer = sympy.floor(sympy.Rational(64*10**9 - 70*10**9//2, 81920*8192))
# %% right: numpy
import numpy as np
answer = np.floor(np.float64(29e9)/(81.92e3*8192))
# %% right: a numpy integer from divmod
import numpy as np
answer = np.int64(divmod(29*10**9, 671088640)[0])
# %% wrong: the printed table
answer = 67
# %% wrong: rounded up
answer = 44
# %% wrong: weights forgotten
answer = int(64e9/(81920*8192))
# %% wrong: the caches divided among the chips
answer = int(29e9/(81920*8192)/4)
# %% wrong: 16 GB are GiB
answer = int((4*16*2**30 - 35e9)/(81920*8192))
# %% wrong: the cache of a token in bfloat16
answer = int(29e9/(4*81920*8192))
# %% wrong: keys and values are halves of it, 40.96 KB
answer = int(29e9/(40960*8192))
# %% wrong: tokens and not caches
answer = int(29e9/81920)
# %% wrong: a KB is 1,024 bytes
answer = int(29e9/(81.92*1024*8192))
# %% wrong: a chip at a time, whole caches beside its part of the weights
answer = 4*int((16e9 - 35e9/4)/(81920*8192))
# %% wrong: the whole memory with the weights added
answer = int((64e9 + 35e9)/(81920*8192))
