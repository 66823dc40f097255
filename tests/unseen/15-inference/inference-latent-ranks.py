# %% right: the bytes of one sequence's cache among the weights
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/(T_kv*S_kv)
# %% right: as a text
answer = "A / T_kv / S_kv"
# %% right: both sides with their factor
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
more_weights = A - A/n
fewer_caches = T_kv*S_kv - T_kv*S_kv/n
answer = more_weights/fewer_caches
# %% right: solved for the batch
import sympy
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
b = sympy.Symbol("b", positive=True)
heads = A/n + b*T_kv*S_kv
sequences = A + b/n*T_kv*S_kv
answer = sympy.solve(heads - sequences, b)[0]
# %% right: a text that is not shortened
answer = "(A*(n - 1)/n) / (T_kv*S_kv*(n - 1)/n)"
# %% right: the library's time of weights over that of a cache
from hwlib.inference import cache_time, weight_time
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = weight_time(A, 1, 1, 1)/cache_time(1, T_kv, S_kv, 1, 1)
# %% right: negative powers and a sympy rational
import sympy
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = sympy.Rational(2, 2)*A*(S_kv*T_kv)**-1
# %% wrong: n times as many
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = n*A/(T_kv*S_kv)
# %% wrong: of one GPU and not of all
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/(n*T_kv*S_kv)
# %% wrong: only the weights have the factor
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A*(1 - 1/n)/(T_kv*S_kv)
# %% wrong: only the caches have the factor
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/(T_kv*S_kv*(1 - 1/n))
# %% wrong: a cache of one token
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/S_kv
# %% wrong: forgets the bytes of a token
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/T_kv
# %% wrong: caches over weights
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = T_kv*S_kv/A
# %% wrong: more copies of the weights, and caches compared to all
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A*(n - 1)/(T_kv*S_kv)
# %% wrong: a key and a value, twice the vector
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/(2*T_kv*S_kv)
# %% wrong: sums of both signs mixed
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A*(n - 1)/(T_kv*S_kv*(n + 1))
# %% wrong: whole weights against all caches, as if nothing else were read
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A/(n*T_kv*S_kv*(1 - 1/n))
# %% wrong: rounded up to whole sequences
import sympy
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = sympy.ceiling(A/(T_kv*S_kv))
# %% wrong: at least one for each GPU
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = "max(n, A/(T_kv*S_kv))"
# %% wrong: caches cut by heads too
A, n, T_kv, S_kv = symbols("inference-latent-ranks")
answer = A*(n - 1)/(T_kv*S_kv/n)
