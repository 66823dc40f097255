# %% right: rectangle and triangle, H and K gone
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T + 1)/2)/(T*G + S + T)
# %% right: mean keys of a query, over what is read
T, S, G = symbols("rooflines-chunked-prefill")
keys = S + (T + 1)/2
answer = T*G*keys/(G*T + (S + T))
# %% right: difference of two triangles
T, S, G = symbols("rooflines-chunked-prefill")
n = S + T
pairs = (n*(n + 1) - S*(S + 1))/2
answer = G*pairs/(G*T + n)
# %% right: a sum over the new tokens, worked out by sympy
import sympy
T, S, G = symbols("rooflines-chunked-prefill")
i = sympy.Symbol("i", integer=True)
pairs = sympy.summation(S + i, (i, 1, T))
answer = 4*G*pairs/(2*2*(G*T + S + T))
# %% right: full rectangle less the upper triangle, from the library's intensity
T, S, G = symbols("rooflines-chunked-prefill")
full = 2*T*(S + T)*G/(2*(T*G + S + T))
kept = 1 - T*(T - 1)/(2*T*(S + T))
answer = full*kept
# %% right: expanded, doubled
T, S, G = symbols("rooflines-chunked-prefill")
answer = (2*G*S*T + G*T**2 + G*T)/(2*G*T + 2*S + 2*T)
# %% right: whole-number division, which leaves no rest here
T, S, G = symbols("rooflines-chunked-prefill")
pairs = T*S + T*(T + 1)//2
answer = pairs*G/(G*T + T + S)
# %% wrong: no mask
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*T*(S + T)/(T*G + S + T)
# %% wrong: half of everything, the cache as well
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*T*(S + T)/2/(T*G + S + T)
# %% wrong: a token does not see itself
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T - 1)/2)/(T*G + S + T)
# %% wrong: forgets the new keys and values
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T + 1)/2)/(T*G + S)
# %% wrong: one of the two products
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T + 1)/2)/(2*(T*G + S + T))
# %% wrong: k and v for every query head
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T + 1)/2)/(T*G + G*(S + T))
# %% wrong: forgets the output
T, S, G = symbols("rooflines-chunked-prefill")
answer = 2*G*(T*S + T*(T + 1)/2)/(T*G + 2*(S + T))
# %% wrong: q and the output once for each KV head
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T + 1)/2)/(T + S + T)
# %% wrong: the cache is free
T, S, G = symbols("rooflines-chunked-prefill")
answer = G*(T*S + T*(T + 1)/2)/(T*G + T)
# %% wrong: elements for bytes
T, S, G = symbols("rooflines-chunked-prefill")
answer = 2*G*(T*S + T*(T + 1)/2)/(T*G + S + T)
# %% wrong: k without v
T, S, G = symbols("rooflines-chunked-prefill")
answer = 4*G*(T*S + T*(T + 1)/2)/(2*(2*T*G + S + T))
# %% wrong: forgets the groups in the FLOPs
T, S, G = symbols("rooflines-chunked-prefill")
answer = (T*S + T*(T + 1)/2)/(T*G + S + T)
