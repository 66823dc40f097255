# %% right: one fraction
n_in, N, g_C, g_W = symbols("machines-domain")
answer = g_C*n_in*N/(g_C*n_in + g_W*(N - n_in))
# %% right: sympy solves for the domain
import sympy
n_in, N, g_C, g_W = symbols("machines-domain")
n, C, W = sympy.symbols("n C W", positive=True)
before = (1 - n_in/N)*C/(n_in*W)
after = (1 - n/N)*g_C*C/(n*g_W*W)
answer = sympy.solve(sympy.Eq(before, after), n)[0]
# %% right: a weighted harmonic mean of n_in and N
n_in, N, g_C, g_W = symbols("machines-domain")
w = g_W/g_C
answer = 1/(w/n_in + (1 - w)/N)
# %% right: GPUs over the number of domains
n_in, N, g_C, g_W = symbols("machines-domain")
domains = 1 + (N/n_in - 1)*g_W/g_C
answer = N/domains
# %% right: as a text
answer = "1/(1/N + g_W/g_C*(1/n_in - 1/N))"
# %% right: a text with negative powers
answer = "(N^(-1) + g_W * g_C^(-1) * (N - n_in) * N^(-1) * n_in^(-1))^(-1)"
# %% right: the endless job's, times what an end takes off
n_in, N, g_C, g_W = symbols("machines-domain")
endless = n_in*g_C/g_W
answer = endless/(1 - n_in/N + endless/N)
# %% wrong: an endless job
n_in, N, g_C, g_W = symbols("machines-domain")
answer = n_in*g_C/g_W
# %% wrong: growth upside down
n_in, N, g_C, g_W = symbols("machines-domain")
answer = 1/(1/N + g_C/g_W*(1/n_in - 1/N))
# %% wrong: the card stays as it was
n_in, N, g_C, g_W = symbols("machines-domain")
answer = N*n_in*g_C/(g_C*n_in + N - n_in) + 0*g_W
# %% wrong: a faster card asks for a larger domain
n_in, N, g_C, g_W = symbols("machines-domain")
answer = 1/(1/N + (1/n_in - 1/N)/(g_C*g_W))
# %% wrong: the share that stays counted for the old machine alone
n_in, N, g_C, g_W = symbols("machines-domain")
answer = g_C/g_W*n_in*N/(N - n_in)
# %% wrong: the share that stays counted for the new machine alone
n_in, N, g_C, g_W = symbols("machines-domain")
answer = 1/(1/N + g_W/(g_C*n_in))
# %% wrong: a sign lost on the way
n_in, N, g_C, g_W = symbols("machines-domain")
answer = 1/(g_W/g_C*(1/n_in - 1/N) - 1/N)
# %% wrong: how many domains
n_in, N, g_C, g_W = symbols("machines-domain")
answer = 1 + (N/n_in - 1)*g_W/g_C
# %% wrong: how many times as large as before
n_in, N, g_C, g_W = symbols("machines-domain")
answer = N*g_C/(g_C*n_in + g_W*(N - n_in))
# %% wrong: rounded up to whole GPUs
import sympy
n_in, N, g_C, g_W = symbols("machines-domain")
answer = sympy.ceiling(g_C*n_in*N/(g_C*n_in + g_W*(N - n_in)))
# %% wrong: the next machine's job has as many domains, so N grows too
n_in, N, g_C, g_W = symbols("machines-domain")
k = g_C/g_W*(1/n_in - 1/N)*n_in
answer = n_in*k
# %% wrong: a GPU sends as much to each other of its domain, squares
import sympy
n_in, N, g_C, g_W = symbols("machines-domain")
answer = n_in*sympy.sqrt(g_C/g_W)
