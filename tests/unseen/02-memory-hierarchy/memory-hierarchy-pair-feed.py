# %% right: bytes of a step over its cycles
m, n, o, b = symbols("memory-hierarchy-pair-feed")
k = 16                                  # any depth
answer = b*(m*k + n*k/2)/(2*m*n*k/o)
# %% right: as a text
answer = "o*b*(2*m + n)/(4*m*n)"
# %% right: as a text, with spaces and a quotient of quotients
answer = "b * (m + n / 2) / (2 * m * n / o)"
# %% right: two terms
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o/(2*n) + b*o/(4*m)
# %% right: both SMs together, halved
m, n, o, b = symbols("memory-hierarchy-pair-feed")
together = b*(2*m + n)*(2*o)/(2*(2*m)*n)
answer = together/2
# %% right: over the intensity of a tile
m, n, o, b = symbols("memory-hierarchy-pair-feed")
intensity = 2*m*(n/2)/(b*(m + n/2))     # of the operands that lie in one
answer = o/(2*intensity)
# %% right: by the library, as half of what two rows of tiles take
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = feed_bytes(2*m, n, 2*o, b)/2
# %% right: sympy, limit of a long sum
import sympy
m, n, o, b = symbols("memory-hierarchy-pair-feed")
K = sympy.Symbol("K", positive=True)
answer = sympy.limit(b*K*(m + n/sympy.Integer(2))/(1 + 2*m*n*K/o), K, sympy.oo)
# %% right: one CTA's, less the half that the other one reads
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = (m + n)*b*o/(2*m*n) - n*b*o/(4*m*n)
# %% right: expanded, with powers of minus one
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = o*b*(n**-1 + (2*m)**-1)*2**-1
# %% wrong: one CTA by itself
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + n)/(2*m*n)
# %% wrong: half of everything
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + n)/(4*m*n)
# %% wrong: half of the left one too
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m/2 + n)/(2*m*n)
# %% wrong: a multiply-add is one
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + n/2)/(m*n)
# %% wrong: both SMs together
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(2*m + n)/(2*m*n)
# %% wrong: with half of the columns it also does half of the work
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + n/2)/(2*m*(n/2))
# %% wrong: the work of the pair in the time of one
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + n/2)/(2*(2*m)*n)
# %% wrong: its half is delivered twice, once to each SM
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + 2*n/2)/(2*m*n)
# %% wrong: own rows of both SMs
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(2*m + n/2)/(2*m*n)
# %% wrong: elements instead of bytes
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = o*(m + n/2)/(2*m*n)
# %% wrong: the sums are read as well
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m + n/2 + m*n)/(2*m*n)
# %% wrong: upside down, FLOP for each byte
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = 2*m*n/(b*(m + n/2))
# %% wrong: cycles over bytes
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = 2*m*n/(o*b*(m + n/2))
# %% wrong: bytes of a step, not of a cycle
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*(m + n/2)
# %% wrong: the product of the sides is that of the operands' halves
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o*(m*n/2)/(2*(m + n/2))
# %% wrong: only the left operand, the right one comes from the other SM
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o/(2*n)
# %% wrong: only the right half, the left rows lie in tensor memory
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*o/(4*m)
# %% wrong: the numbers of a B200
answer = 64
# %% wrong: a deep sum whose every step costs sixteen times
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = 16*b*o*(m + n/2)/(2*m*n)
# %% wrong: a pair is twice as fast, o doubled for each
m, n, o, b = symbols("memory-hierarchy-pair-feed")
answer = b*(2*o)*(m + n/2)/(2*m*n)
