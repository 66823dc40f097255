# %% right: experts that a token does not take
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*L*D*F*(E - k)
# %% right: as a text
answer = "2*L*(E - k)*3*D*F"
# %% right: the library's parameters, all less active
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 2*L*(moe_params(D, F, E) - moe_active_params(D, F, E, k))
# %% right: expanded
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*D*E*F*L - 6*D*F*L*k
# %% right: forward FLOPs of one token, matrix by matrix
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
gate = up = down = forward_flops(D*F, 1)
answer = L*E*(gate + up + down)*(1 - k/E)
# %% right: counted by torch for the decoder, with the letters that give it
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
c = DECODERS["MoE"]
found = counted(build_decoder("MoE"), c["T"])[1]
taken = c["L"]*(attention_params(c["D"], c["n_q"], c["K"], c["H"]) + c["D"]*c["E"]
                + (c["k"] + c["shared"])*3*c["D"]*c["F"]) + c["V"]*c["D"]
scores = c["L"]*4*c["T"]*c["n_q"]*c["H"]
excess = found//c["T"] - int(2*taken) - scores
unit = c["L"]*c["D"]*c["F"]*(c["E"] - c["k"])
answer = L*D*F*(E - k)*(excess//unit)
# %% wrong: all experts
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*L*D*F*E
# %% wrong: parameters, not FLOPs
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 3*L*D*F*(E - k)
# %% wrong: experts without a gate
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 4*L*D*F*(E - k)
# %% wrong: one layer
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*D*F*(E - k)
# %% wrong: the shared expert taken for one of the k
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*L*D*F*(E - k - 1)
# %% wrong: the shared expert in excess too
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*L*D*F*(E + 1 - k)
# %% wrong: the tied table's product at the input
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 2*V*D
# %% wrong: the router in excess
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 2*L*D*E
# %% wrong: experts and their part of the router
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 2*L*(3*D*F + D)*(E - k)
# %% wrong: the outputs weighted by zero as a product
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 2*L*D*(E - k)
# %% wrong: forward and backward
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 18*L*D*F*(E - k)
# %% wrong: scores of the windowed decoder beyond its chunks
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 4*L*n_q*H*(96 - 32)
# %% wrong: the masked half of the scores
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 2*L*n_q*H*96
# %% wrong: the numbers of the decoder with its taken experts
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*L*D*F*k
# %% wrong: the ratio of experts, not the difference
L, D, F, n_q, H, V, E, k = symbols("transformer-math-lab-odd")
answer = 6*L*D*F*(E/k)
