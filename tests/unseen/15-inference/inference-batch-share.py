# %% right: weights over a cache, and the odds of the share
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*P*b_w/(T_kv*S_kv)
# %% right: as a text, one fraction
answer = "f*P*b_w/((1 - f)*T_kv*S_kv)"
# %% right: the inverse of the share
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = (P*b_w)/((f**-1 - 1)*(T_kv*S_kv))
# %% right: solved from the rate and its limit
import sympy
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
batch = sympy.Symbol("batch", positive=True)
rate = batch/(P*b_w + batch*T_kv*S_kv)
answer = sympy.solve(sympy.Eq(rate, f*sympy.limit(rate, batch, sympy.oo)), batch)[0]
# %% right: the library's two times of a step
from hwlib.inference import cache_time, weight_time
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
shared, own = weight_time(P, 1, 1, b_w), cache_time(1, T_kv, S_kv, 1, 1)
answer = shared/own*f/(1 - f)
# %% right: over what is missing, less one part
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
half = P*b_w/T_kv/S_kv
answer = half/(1 - f) - half
# %% right: a text with powers and the sign turned
answer = "-f * b_w * P * T_kv^(-1) * S_kv^(-1) / (f - 1)"
# %% right: a sum of logarithms
import sympy
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = sympy.exp(sympy.log(f/(sympy.Integer(1) - f)) + sympy.log(P*b_w/(S_kv*T_kv)))
# %% wrong: the share itself and not its odds
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f*P*b_w/(T_kv*S_kv)
# %% wrong: odds upside down, what is missing over what is there
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = (1 - f)/f*P*b_w/(T_kv*S_kv)
# %% wrong: over what is missing, without the share above
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = P*b_w/(T_kv*S_kv*(1 - f))
# %% wrong: where caches and weights are alike, whatever the share
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = P*b_w/(T_kv*S_kv)
# %% wrong: caches over weights
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*T_kv*S_kv/(P*b_w)
# %% wrong: forgets the bytes of a weight
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*P/(T_kv*S_kv)
# %% wrong: a cache of one token
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*P*b_w/S_kv
# %% wrong: keys and values counted once more
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*P*b_w/(2*T_kv*S_kv)
# %% wrong: two operations for each weight instead of its bytes
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*2*P/(T_kv*S_kv)
# %% wrong: an exponential approach to the limit
import sympy
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = -sympy.log(1 - f)*P*b_w/(T_kv*S_kv)
# %% wrong: rounded up to whole sequences
import sympy
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = sympy.ceiling(f/(1 - f)*P*b_w/(T_kv*S_kv))
# %% wrong: each sequence reads the weights too
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*P*b_w/(P*b_w + T_kv*S_kv)
# %% wrong: the context counted twice, as in attention's arithmetic
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = f/(1 - f)*P*b_w/(T_kv**2*S_kv)
# %% wrong: root of the odds
import sympy
P, b_w, T_kv, S_kv, f = symbols("inference-batch-share")
answer = sympy.sqrt(f/(1 - f))*P*b_w/(T_kv*S_kv)
