# %% right: requests a second on both sides
g = given("serving-ratio")
made = g["B"]/g["t_step"]/g["T_out"]
read = g["R"]/(g["T_in"]*(1 - g["hit"]))
answer = made/read
# %% right: a Fraction
from fractions import Fraction
answer = Fraction(128*1000, 25*500)*Fraction(6000*65, 100*22000)
# %% right: a text with three digits
answer = "1.82"
# %% right: a text as a ratio
answer = "1.815:1"
# %% right: times of a request at either node, sympy
import sympy
read = sympy.Rational(3900, 22000)
decode = sympy.Rational(25, 1000)*500/128
answer = sympy.nsimplify(read/decode)
# %% right: numpy scalar, per cent of a node
import numpy as np
answer = np.float64(6000*0.65/22000)/np.float64(500*0.025/128)
# %% right: the first token comes with the prompt, 499 are decoded
answer = 3900/22000/(499*0.025/128)
# %% wrong: what the cache finds is computed too
answer = 6000/22000/(500*0.025/128)
# %% wrong: nodes for decoding for each that reads
answer = (500*0.025/128)/(3900/22000)
# %% wrong: rounded up to whole nodes
answer = 2
# %% wrong: tokens of the step, as if 25 ms were the time of a sequence
answer = 3900/22000/(0.025/128)
# %% wrong: rates of tokens against one another, lengths forgotten
answer = 22000/(128/0.025)
# %% wrong: tokens in over tokens out, rates forgotten
answer = 3900/500
# %% wrong: the share of nodes for prompts among all
answer = 1.8153/(1 + 1.8153)
# %% wrong: the rate is that of a GPU, and a node has eight
answer = 3900/(8*22000)/(500*0.025/128)
# %% wrong: found tokens divided out of the rate
answer = 6000/(22000*0.65)/(500*0.025/128)
# %% wrong: answers last 6,500 tokens, the prompt is decoded with them
answer = 3900/22000/(6500*0.025/128)
# %% wrong: milliseconds as seconds
answer = 3900/22000/(500*25/128)
