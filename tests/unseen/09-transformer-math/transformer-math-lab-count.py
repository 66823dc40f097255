# %% right: matrices of a layer, then both counts
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"])
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, all_, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, all_, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + all_*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [int(params), int(flops)]
# %% right: the library's formulas of parts
def counts(c):
    latent, sparse = c["r_kv"] > 0, c["E"] > 1
    widths = [c[name] for name in ("r_q", "r_kv", "d_nope", "d_rope", "d_v")]
    heads = mla_params(c["D"], c["n_q"], *widths) if latent else attention_params(c["D"], c["n_q"], c["K"], c["H"])
    stored = moe_params(c["D"], c["F"], c["E"]) if sparse else mlp_params(c["D"], c["F"])
    used = moe_active_params(c["D"], c["F"], c["E"], c["k"]) if sparse else stored
    extra = c["shared"]*mlp_params(c["D"], c["F"]) if sparse else 0
    table = c["V"]*c["D"]
    P = c["L"]*(heads + stored + extra + 2*c["D"]) + c["D"] + c["tables"]*table
    matrices = forward_flops(c["L"]*(heads + used + extra) + table, c["T"])
    if latent:
        pairs = 2*c["T"]*c["T_win"]*c["n_q"]*sum(widths[2:])
    else:
        pairs = attention_forward_flops(c["T"], c["T_win"], c["n_q"], c["H"])
    return [int(P), int(matrices + c["L"]*pairs)]
# %% right: a list of matrices with how often they are stored and used
def counts(c):
    matrices = []                      # rows, columns, stored, used by a token
    D, q, L = c["D"], c["n_q"], c["L"]
    if c["r_kv"] > 0:
        k_width, v_width = c["d_nope"] + c["d_rope"], c["d_v"]
        matrices += [(D, c["r_q"], 1, 1), (c["r_q"], q*k_width, 1, 1), (D, c["r_kv"] + c["d_rope"], 1, 1),
                     (c["r_kv"], q*(c["d_nope"] + v_width), 1, 1), (q*v_width, D, 1, 1)]
    else:
        k_width = v_width = c["H"]
        matrices += [(D, q*c["H"], 2, 2), (D, c["K"]*c["H"], 2, 2)]
    if c["E"] == 1:
        matrices.append((D, c["F"], 3, 3))
    else:
        matrices += [(D, c["F"], 3*(c["E"] + c["shared"]), 3*(c["k"] + c["shared"])), (D, c["E"], 1, 1)]
    P = L*sum(a*b*stored for a, b, stored, _ in matrices) + c["tables"]*c["V"]*D + (2*L + 1)*D
    used = L*sum(a*b*times for a, b, _, times in matrices) + c["V"]*D
    chunk = min(c["T_win"], c["T"])
    scores = L*(c["T"]//chunk)*q*2*chunk*chunk*(k_width + v_width)
    return P, 2*used*c["T"] + scores
# %% right: modules on the meta device, counted by torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
def counts(c):
    D, F, T, n = c["D"], c["F"], c["T"], c["n_q"]
    bare = lambda i, o: nn.Linear(i, o, bias=False)
    mlp = lambda: [bare(D, F), bare(D, F), bare(F, D)]
    stored = used = 0
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        def run(layers, times=1):
            for layer in layers:
                for _ in range(times):
                    layer(torch.empty(T, layer.in_features))
        for _ in range(c["L"]):
            if c["r_kv"]:
                keys, values = c["d_nope"] + c["d_rope"], c["d_v"]
                part = [bare(D, c["r_q"]), bare(c["r_q"], n*keys), bare(D, c["r_kv"] + c["d_rope"]),
                        bare(c["r_kv"], n*(c["d_nope"] + values)), bare(n*values, D)]
            else:
                keys = values = c["H"]
                part = [bare(D, n*keys), bare(D, c["K"]*keys), bare(D, c["K"]*keys), bare(n*keys, D)]
            run(part)
            w = c["T_win"]
            q, k, v = (torch.empty(n*(T//w), w, width) for width in (keys, keys, values))
            (q @ k.mT) @ v
            if c["E"] > 1:
                experts, shared, router = [mlp() for _ in range(c["E"])], [mlp() for _ in range(c["shared"])], bare(D, c["E"])
                for each in experts[:c["k"]] + shared:
                    run(each)
                run([router])
                part += [router, *sum(experts + shared, [])]
            else:
                dense = mlp()
                run(dense)
                part += dense
            stored += sum(m.weight.numel() for m in part) + 2*D
        run([bare(D, c["V"])])
    return [stored + D + c["tables"]*c["V"]*D, counter.get_total_flops()]
# %% right: numbers per token, times the tokens
import numpy as np
def counts(c):
    g = type("C", (), c)
    pair = g.n_q*(g.d_nope + g.d_rope + g.d_v) if g.r_kv else 2*g.n_q*g.H
    heads = int(mla_params(g.D, g.n_q, g.r_q, g.r_kv, g.d_nope, g.d_rope, g.d_v)) if g.r_kv else g.D*2*g.H*(g.n_q + g.K)
    moe = g.E > 1
    experts = np.array([g.E + g.shared, g.k + g.shared]) if moe else np.array([1, 1])
    layer = heads + experts*3*g.D*g.F + g.D*g.E*moe
    stored = g.L*(layer[0] + 2*g.D) + g.D*(1 + g.V*g.tables)
    token = g.L*layer[1] + g.D*g.V
    pairs = sum(g.T_win for _ in range(g.T))         # keys that the tokens see
    return np.array([stored, 2*token*g.T + g.L*2*pairs*pair])
# %% wrong: all tables multiplied with
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["tables"]*c["V"]*D)
    return [params, flops]
# %% wrong: no output layer where the tables are tied
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + (c["tables"] - 1)*c["V"]*D)
    return [params, flops]
# %% wrong: the router costs nothing
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: a router without experts too
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], D*c["E"], 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: all experts computed
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["E"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: shared experts among the k
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: shared experts not stored
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: masked pairs skipped
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + (seen + 1)/2*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: no chunks
def counts(c):
    D, T = c["D"], c["T"]
    seen = T
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: scores of the key-value heads
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["K"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: latent scores with H
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = 2*c["n_q"]*c["H"]
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: latent attention folded
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(2*c["r_kv"] + c["d_rope"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: the shared key's position not in the scores
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: the last norm forgotten
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: no norms
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router) + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: scores without the weighted values
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: FLOPs of one token
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: forward and backward
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 6*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: one FLOP for each parameter
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: MLPs without a gate
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 2*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: norms multiplied too
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + 2*D + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: the lookup as a product
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + 2*c["V"]*D)
    return [params, flops]
# %% wrong: always grouped attention
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if False:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router + seen*pair) + c["V"]*D)
    return [params, flops]
# %% wrong: pairs once for a chunk, not for each token
def counts(c):
    D, T = c["D"], c["T"]
    seen = min(T, c["T_win"])
    if c["r_kv"]:
        attention = int(mla_params(D, c["n_q"], c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"]))
        pair = c["n_q"]*(c["d_nope"] + c["d_rope"] + c["d_v"])
    else:
        attention = 2*D*c["H"]*(c["n_q"] + c["K"])
        pair = 2*c["n_q"]*c["H"]
    mlp, router, stored, taken = 3*D*c["F"], 0, 1, 1
    if c["E"] > 1:
        router, stored, taken = D*c["E"], c["E"] + c["shared"], c["k"] + c["shared"]
    params = c["L"]*(attention + stored*mlp + router + 2*D) + D + c["tables"]*c["V"]*D
    flops = 2*T*(c["L"]*(attention + taken*mlp + router) + c["V"]*D) + 2*c["L"]*seen*seen*pair
    return [params, flops]
