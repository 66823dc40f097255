# %% right: there and back
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*R*S_kv
# %% right: a text in which the tokens cancel
answer = "2*T_kv*S_kv/(T_kv/R)"
# %% right: solved from the two times
import sympy
T_kv, S_kv, R = symbols("serving-evict")
W = sympy.Symbol("W", positive=True)
answer = sympy.solve(sympy.Eq(T_kv*S_kv/W + T_kv*S_kv/W, T_kv/R), W)[0]
# %% right: a sum of out and in
T_kv, S_kv, R = symbols("serving-evict")
out = back = S_kv*R
answer = out + back
# %% right: the inverse of the seconds for a byte
T_kv, S_kv, R = symbols("serving-evict")
answer = (1/(2*R*S_kv))**-1
# %% right: a slope, not simplified
import sympy
T_kv, S_kv, R = symbols("serving-evict")
answer = sympy.diff(2*T_kv*S_kv, T_kv)/sympy.diff(T_kv/R, T_kv)
# %% right: a text with a quotient of powers
answer = "S_kv*R/2^(-1)"
# %% wrong: in only, as for a cache on another machine
T_kv, S_kv, R = symbols("serving-evict")
answer = R*S_kv
# %% wrong: keys and values counted once more
T_kv, S_kv, R = symbols("serving-evict")
answer = 4*R*S_kv
# %% wrong: with the tokens, a cache a second
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*T_kv*S_kv*R
# %% wrong: bytes of the cache over the rate
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*T_kv*S_kv/R
# %% wrong: R as seconds for a token
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*S_kv/R
# %% wrong: tokens a second for each byte
T_kv, S_kv, R = symbols("serving-evict")
answer = R/(2*S_kv)
# %% wrong: attention makes the prefill grow with the square
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*T_kv*S_kv*R/T_kv**2
# %% wrong: all but the last token
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*(T_kv - 1)*S_kv*R/T_kv
# %% wrong: the time and not the bandwidth
T_kv, S_kv, R = symbols("serving-evict")
answer = T_kv/R
# %% wrong: in bits
T_kv, S_kv, R = symbols("serving-evict")
answer = 16*R*S_kv
# %% wrong: the triangle of causal attention, half of the cache at the mean
T_kv, S_kv, R = symbols("serving-evict")
answer = 2*S_kv*R*(T_kv + 1)/(2*T_kv)
