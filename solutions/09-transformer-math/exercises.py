"""Exercises of chapter 9, and the names with which its text computes numbers."""

from functools import partial
from math import log
from random import Random

from autograder.answers import Choice, Count, Expression, Function, Quantity, Written, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.number_formats import round_e2m1, round_e4m3
from hwlib.specs import accelerators, measured_run, models
from hwlib.transformer import (
    active_parameters,
    attention_step_flops,
    gpt_recompute_training_flops,
    layer_params,
    mla_params,
    parameter_count,
    step_flops,
    training_flops,
)
from hwlib.units import show

DAY, HOUR = 86400, 3600
h100, a100, h800 = (accelerators[key] for key in ("h100-sxm", "a100-80gb-sxm", "h800-sxm"))
h800_pcie_fp8, h800_fp8 = accelerators["h100-pcie"].fp8_flops, h800.fp8_flops
llama8, llama70, llama405, bloom, deepseek = (
    models[key] for key in ("llama3-8b", "llama3-70b", "llama3-405b", "bloom-176b", "deepseek-v3")
)
RUN, EARLY, LONG = (measured_run(f"llama3-405b{end}") for end in ("", "-early", "-long"))
BLOOM_RUN, DEEPSEEK_RUN, LLAMA65_RUN = (measured_run(key) for key in ("bloom-176b", "deepseek-v3", "llama-65b"))

# The opening question: Llama 3 405B's run in proportion, 6.1e12 of its 15.6e12 tokens
TOKENS = 6.1e12
PART = TOKENS / RUN.tokens
N_405 = parameter_count(llama405)


def days(flops, rate, n=RUN.n):
    """Days that n ranks take for these FLOPs at a rate of FLOP/s each."""
    return flops / (n * rate) / DAY


SIX = days(training_flops(N_405, TOKENS), EARLY.rate)  # what 6ND says
LOGGED = PART * RUN.wall_time / DAY  # what the log says
WITH_ATTENTION = days(step_flops(llama405, TOKENS, RUN.length), EARLY.rate)
AT_SCALE = days(step_flops(llama405, TOKENS, RUN.length), RUN.rate)
LONG_TOKENS = PART * LONG.tokens
WITH_LONG = days(step_flops(llama405, TOKENS - LONG_TOKENS, RUN.length), RUN.rate) + days(
    step_flops(llama405, LONG_TOKENS, LONG.length), LONG.rate
)
GOODPUT = WITH_LONG / LOGGED


def bloom_flops(count):
    """BLOOM's operations by one of the counts for models of GPT's kind."""
    return count(BLOOM_RUN.tokens, BLOOM_RUN.length, bloom.layers, bloom.width, bloom.vocab)


BLOOM_LOGGED = BLOOM_RUN.wall_time / DAY
BLOOM_SIX = days(training_flops(parameter_count(bloom), BLOOM_RUN.tokens), BLOOM_RUN.rate, BLOOM_RUN.n)
BLOOM_COUNTED = days(bloom_flops(gpt_recompute_training_flops), BLOOM_RUN.rate, BLOOM_RUN.n)
DEEPSEEK_LOGGED = DEEPSEEK_RUN.wall_time / DAY
DEEPSEEK_SIX = days(
    training_flops(active_parameters("deepseek-v3"), DEEPSEEK_RUN.tokens), DEEPSEEK_RUN.rate, DEEPSEEK_RUN.n
)
DEEPSEEK_COUNTED = days(
    step_flops(deepseek, DEEPSEEK_RUN.tokens, DEEPSEEK_RUN.length, causal=False), DEEPSEEK_RUN.rate, DEEPSEEK_RUN.n
)


def way(function, **options):
    """The function with some of its options set, which takes the given numbers by name."""
    return lambda **given: function(**given, **options)


def nearest(number, choices):
    """The choice, a number as a text, that is nearest by ratio."""
    return min(choices, key=lambda text: abs(log(number / float(text.split()[0]))))


# What a decoder is made of
def _count(L, D, F, n_q, K, H, V, *, gate=1, tables=1, norms=2, mats=3, narrow=0, square=0):
    attention = D * H * (n_q * (2 + gate - narrow - square) + (2 + narrow) * K) + square * D * D
    return L * (attention + mats * D * F + norms * D) + tables * V * D + (norms > 0) * D


COUNT = Exercise(
    id="transformer-math-count",
    title="Count a decoder",
    points=2,
    prompt="A decoder has {L} layers of width {D} and a vocabulary of {V}. Its gated MLPs are {F} wide; attention has "
    "{n_q} query heads and {K} key-value heads of width {H}, and beside the usual matrices an output gate: one more "
    "matrix, of the shape of the queries' one, whose result is multiplied into what the heads return. Each layer has "
    "two norms with a gain for each element of the width, and one such norm stands before the output layer, which is "
    "the embedding table again. There are no biases. How many parameters are there? *Exact.*",
    given=[
        dict(L=L, D=D, F=F, n_q=n_q, K=K, H=H, V=V)
        for L, D, F, n_q, K, H, V in (
            (36, 2560, 9728, 32, 8, 128, 151936),
            (28, 2048, 6144, 24, 4, 128, 151936),
            (40, 5120, 17408, 48, 8, 128, 151936),
        )
    ],
    answer=Count(of="parameter"),
    solution=_count,
    mistakes=(
        Mistake(way(_count, gate=0), "The usual matrices of attention are there. The prompt names one more."),
        Mistake(way(_count, tables=2), "How many tables of the vocabulary does this model store?"),
        Mistake(way(_count, tables=0), "The layers are there. Where does a token's number become a vector?"),
        Mistake(
            lambda L, D, F, n_q, K, H, V: _count(L, D, F, n_q, K, H, V) - L * D * K * H,
            "One matrix of a layer is missing, as wide as the keys.",
        ),
        Mistake(way(_count, norms=0), "The matrices are right, and *exact* includes what is small."),
        Mistake(way(_count, mats=2), "Which matrices has an MLP with a gate?"),
        Mistake(
            way(_count, square=1),
            "You took D for the width of all heads of the queries together. Hold `n_q` times `H` against it.",
        ),
        Mistake(
            way(_count, square=3),
            "Three of your matrices are D by D, and the heads of the queries together are not D wide.",
        ),
        Mistake(
            way(_count, narrow=1),
            "Three of your matrices are as wide as the keys and two as the queries. Which are which?",
        ),
        Mistake(
            lambda L, D, F, n_q, K, H, V: _count(L, D, F, n_q, n_q, H, V),
            "You gave each query head a key and a value of its own. How many heads have those here?",
            name="key-value-heads",
        ),
        Mistake(
            lambda L, D, F, n_q, K, H, V: _count(L, D, F, n_q, K, H, V) - D,
            "One norm is missing: where does the last layer's result go?",
        ),
    ),
    hints=(
        "Write down the shapes first: q, k, v, the gate, out, and the MLP's; then the vectors.",
        "A layer is a number of matrices with D as one side, and two vectors. What is there besides the layers?",
    ),
    explain="Queries, output gate and output have `n_q*H` columns or rows, keys and values `K*H`: attention holds "
    "`D*H*(3*n_q + 2*K)`. The MLP holds `3*D*F` and the two norms `2*D`. All that L times, then one table `V*D`, "
    "since the output layer stores nothing of its own, and the last norm, `D`.",
)

GQA_WIDTH = Exercise(
    id="transformer-math-gqa-width",
    title="What sharing keys pays for",
    points=2,
    prompt="A layer has `n_q` query heads of width `H`, each with a key-value head of its own, and a gated MLP of "
    "width `F`. You let the queries share `K` key-value heads instead, and spend what that saves on a wider MLP, so "
    "that the layer has as many parameters as before. How wide is the MLP then? *Exact*; matrices only.",
    answer=Expression(
        {
            "F": integers(1024, 65536),
            "n_q": integers(8, 128),
            "K": integers(1, 128, most="n_q"),
            "H": integers(32, 256),
        }
    ),
    solution=lambda F, n_q, K, H: F + 2 * H * (n_q - K) / 3,
    mistakes=(
        Mistake(
            lambda F, n_q, K, H: F + 2 * H * (n_q - n_q / K) / 3,
            "K is the number of key-value heads that are left, not that of queries which share one.",
            name="key-value-heads",
        ),
        Mistake(lambda F, n_q, K, H: F + 2 * H * (n_q - K), "A wider MLP is wider in how many matrices?"),
        Mistake(lambda F, n_q, K, H: F + H * (n_q - K), "Right for an MLP without a gate. This one has a gate."),
        Mistake(lambda F, n_q, K, H: F + H * (n_q - K) / 3, "That is what the keys save. What else is shared?"),
        Mistake(lambda F, n_q, K, H: F + 4 * H * (n_q - K) / 3, "Do the output's and the queries' matrices shrink?"),
        Mistake(
            lambda F, n_q, K, H: F + 2 * H * (n_q + K) / 3,
            "A sign: do the key-value heads that are left add to what is saved?",
        ),
        Mistake(lambda F, n_q, K, H: F - 2 * H * (n_q - K) / 3, "Something is saved. Which way does the width go?"),
    ),
    hints=(
        "Which matrices of attention have a side of K times H?",
        "All matrices have D as their other side, so D cancels. How many of them does F widen?",
    ),
    explain="Keys and values shrink from `n_q*H` to `K*H` columns each, which saves `2*D*H*(n_q - K)`. One more "
    "column "
    "of the MLP costs `3*D`: one in gate, in up and in down. So F grows by `2*H*(n_q - K)/3`. Llama 2's authors did "
    "this in their comparison of MHA, GQA and MQA, so that none had more parameters than another.",
)

# Two, four, six
ERRATUM_VOCAB = Exercise(
    id="transformer-math-erratum-vocabulary",
    title="Find the error: the row of the vocabulary",
    points=2,
    prompt="The summary of chapter 4 of *How to Scale Your Model*, in an edition of 2025, is a table of parameters "
    "and training FLOPs for a batch of B sequences of T tokens. Its last row is *“Vocab: DV (total, not per-layer), "
    "12BTDV”*. Forward and backward, what does the vocabulary cost a model whose embedding and output layer "
    "are two tables? *Exact.*",
    answer=Choice(
        {
            "four": "4BTDV: the output layer has no backward pass of its own",
            "six": "6BTDV: one of the tables is multiplied with",
            "right": "12BTDV: two tables, and six operations a parameter and token in each",
            "eighteen": "18BTDV: the output layer's twelve, and six of the lookup",
        },
        ordered=True,
    ),
    solution="six",
    mistakes=(
        Mistake(
            "right",
            "What does the embedding do with a token's number: how many multiplications is that?",
            name="vocabulary",
        ),
        Mistake(
            "four", "The gradient of the loss enters there. What does it pass to the layer below, and to the table?"
        ),
        Mistake("eighteen", "Count the products of one table: one forward. How many backward?", name="forward-only"),
    ),
    hints=(
        "Which of the two tables is a factor of a matrix product?",
        "Hold the row against the rest of that table: DF parameters of the MLP cost 6BTDF.",
    ),
    explain="The output layer is a product [BT × D] · [D × V]: 2BTDV forward and twice that backward, 6BTDV. The "
    "embedding copies one row for each token and, backward, adds a gradient to it: no products. The same chapter says "
    "6BTDV in its text; 12 comes of counting six for each of two tables. With "
    f"{llama8.name}'s numbers the slip adds {6 * llama8.width * llama8.vocab / step_flops(llama8, 1, 8192):.0%} to a "
    "step's FLOPs, and the larger the vocabulary, the worse.",
)


def _factor(L, D, F, n_q, K, H, V, T, *, seen=0.5, passes=3, looked_up=0, attention=1, more=1, tables=1):
    layer = 3 * D * F + 2 * D * H * (n_q + K)
    matrices = 6 * (L * layer + (tables + looked_up) * V * D)
    scores = passes * 4 * L * n_q * H * seen * (T + more) * attention
    return (matrices + scores) / (6 * (L * layer + 2 * tables * V * D))


SIX_ND = Exercise(
    id="transformer-math-six-nd",
    title="How wrong is 6ND?",
    points=2,
    prompt="A model has {L} layers of width {D}, gated MLPs {F} wide, {n_q} query heads and {K} key-value heads of "
    "width {H}, a vocabulary of {V}, and two tables of it. It is trained on sequences of {T} tokens by a kernel that "
    "computes causal attention and skips what the mask hides. How many times as many FLOPs does a step take as six "
    "for each parameter and token? *Exact*, to four digits, counting matrix products alone; the model's parameters "
    "are its matrices and both tables, and a token sees itself and all before it.",
    given=[
        dict(L=L, D=D, F=F, n_q=n_q, K=K, H=H, V=V, T=T)
        for L, D, F, n_q, K, H, V, T in (
            (24, 2048, 5632, 32, 32, 64, 128256, 12288),
            (18, 2048, 8192, 32, 32, 64, 128256, 16384),
            (28, 3072, 8192, 24, 24, 128, 128256, 16384),
        )
    ],
    answer=Quantity("1", rtol=0.003),
    solution=_factor,
    mistakes=(
        Mistake(
            lambda L, D, F, n_q, K, H, V, T: _factor(L, D, F, n_q, K, H, V, T) - 1,
            "That is by how much they exceed it. Asked for is how many times as many they are.",
        ),
        Mistake(
            lambda L, D, F, n_q, K, H, V, T: (
                _factor(L, D, F, n_q, K, H, V, T) * (1 + V * D / (L * (3 * D * F + 2 * D * H * (n_q + K)) + V * D))
            ),
            "Which parameters does the prompt count in the six for each?",
        ),
        Mistake(
            lambda **given: 1 / _factor(**given), "Turned over: which of the two counts is to be divided by which?"
        ),
        Mistake(
            lambda L, D, F, n_q, K, H, V, T: _factor(L, D, F, n_q, K, H, V, T, looked_up=-1),
            "Your FLOPs have neither table. What stands behind the last layer?",
        ),
        Mistake(
            lambda L, D, F, n_q, K, H, V, T: _factor(L, D, F, n_q, K, H, V, T, attention=1 / L),
            "Scores and values: of how many layers?",
        ),
        Mistake(
            way(_factor, tables=0),
            "You left the vocabulary out, in the parameters and in the FLOPs.",
            name="vocabulary",
        ),
        Mistake(
            way(_factor, seen=1, more=0),
            "You counted all keys for every token. Which does the mask hide?",
            name="causal-pairs",
        ),
        Mistake(way(_factor, looked_up=1), "Both tables are parameters. Are both multiplied with?"),
        Mistake(
            way(_factor, passes=1), "That is attention's forward pass. What of its backward pass?", name="forward-only"
        ),
        Mistake(way(_factor, attention=0), "That is the tables' part of the error. Which products have no parameters?"),
        Mistake(way(_factor, seen=0.25), "Scores are one product. What is done with them after the softmax?"),
    ),
    hints=(
        "Two errors of opposite sign: a parameter that multiplies nothing, and products without parameters.",
        "A token sees (T + 1)/2 keys on average, and each pair of a query and a key costs two products of width H.",
    ),
    explain="Six a parameter and token holds for the layers' matrices and the output table: `6*(L*layer + V*D)`, with "
    "`layer = 3*D*F + 2*D*H*(n_q + K)`. Scores and weighted values cost `4*H` for each head and pair, "
    "(T + 1)/2 pairs a token, and three times that with the backward pass: `6*L*n_q*H*(T + 1)`. 6ND has "
    "`6*(L*layer + 2*V*D)`: it counts a lookup as a product, and leaves attention out. The two errors partly cancel, "
    "which is why the rule looks better than its argument.",
)

# Attention overtakes
_share = 3 * attention_step_flops(llama405, 1, 8192) / step_flops(llama405, 1, 8192)

PREDICT_ATTENTION = Exercise(
    id="transformer-math-predict-attention",
    title="Predict: attention's part",
    predict=True,
    prompt=f"{llama405.name} was trained on sequences of {8192:,} tokens. Of the FLOPs of a training step, how much "
    "goes to scores and weighted values, if the kernel skips what the causal mask hides? *To first order.*",
    answer=Choice({f"{n} %": f"about {n} %" for n in (1, 4, 15, 50)}, ordered=True),
    solution=lambda: nearest(100 * _share, [f"{n} %" for n in (1, 4, 15, 50)]),
    mistakes=(
        Mistake("1 %", "Close to nothing, but not that close: hold 2T of scores against the width of the layer."),
        Mistake("15 %", "The model is very wide. Against which sizes does the length have to win?"),
        Mistake(
            "50 %", "It grows with the square of the length; the matrices' part grows with the square of the width."
        ),
    ),
    hints=("For one token, attention's FLOPs grow with T, the matrices' with D and F. Which is larger here?",),
    explain=f"A token's matrices in a layer hold {layer_params(16384, 53248, 128, 8, 128):.3g} parameters, so they "
    f"cost {show(2 * layer_params(16384, 53248, 128, 8, 128), 'FLOP', 3)}; its scores and values, over 4,096 keys on "
    f"average, {show(4 * 4096.5 * 128 * 128, 'FLOP', 3)}. With the output layer that is {_share:.1%} of a step. "
    "Quadratic growth is no reason to be large.",
)


def _overtake(D, F, n_q, K, H, r, w, *, half=2, mats=3, local=True, groups=True):
    layer = mats * D * F + 2 * D * H * (n_q + K)
    return half * ((r + 1 if groups else 1) * layer / (2 * n_q * H) - (r * w if local else 0))


OVERTAKE = Exercise(
    id="transformer-math-overtake",
    title="Where attention overtakes",
    points=3,
    prompt="Of every `r + 1` layers of a decoder, `r` are windowed, so that a token sees `w` tokens there, itself "
    "included; one sees all that came before. All are of width `D`, with gated MLPs `F` wide, `n_q` query heads "
    "and `K` key-value heads of width `H`, and the kernel skips what the mask hides. From which length `T` of the "
    "sequences on do scores and weighted values of these layers cost more FLOPs than all of their matrices? *To "
    "first order*: `T` is much longer than `w`, and much longer than one token.",
    answer=Expression(
        {
            "D": integers(1024, 16384),
            "F": integers(4096, 65536),
            "n_q": integers(8, 128),
            "K": integers(1, 128, most="n_q"),
            "H": integers(64, 256),
            "r": integers(0, 7),
            "w": integers(128, 1024),
        },
        "token",
    ),
    solution=_overtake,
    mistakes=(
        Mistake(
            lambda D, F, n_q, K, H, r, w: _overtake(D, F, n_q, K, H, r, w) + r * w,
            "You halved the window. Does a token in the middle of a text see half of it, or all?",
        ),
        Mistake(way(_overtake, half=1), "How many keys does a token see on average in a layer without a window?"),
        Mistake(way(_overtake, local=False), "The windowed layers have scores, too."),
        Mistake(way(_overtake, groups=False), "The matrices of how many layers are to be outweighed?"),
        Mistake(way(_overtake, mats=2), "Which matrices has an MLP with a gate?"),
        Mistake(
            lambda D, F, n_q, K, H, r, w: 2 * ((r + 1) * (3 * D * F + 2 * D * H * (n_q + K)) / (n_q * H) - r * w),
            "Twice too long in its first part: scores are one product, and what is the other?",
        ),
        Mistake(
            lambda D, F, n_q, K, H, r, w: (r + 1) * (3 * D * F + 2 * D * H * (n_q + K)) / (K * H) - 2 * r * w,
            "You counted scores for each key-value head. How many heads hold a query against the keys?",
            name="key-value-heads",
        ),
        Mistake(
            lambda D, F, n_q, K, H, r, w: 3 * (r + 1) * (3 * D * F + 2 * D * H * (n_q + K)) / (n_q * H) - 2 * r * w,
            "Your matrices have their backward pass in the count. Has attention?",
            name="forward-only",
        ),
        Mistake(
            lambda D, F, n_q, K, H, r, w: (r + 1) * (3 * D * F + 2 * D * H * (n_q + K)) / (n_q * H) + 2 * r * w,
            "A sign: do the windowed layers' scores bring the equal length nearer, or push it out?",
        ),
    ),
    hints=(
        "Write what one token costs in such a group of layers: matrices two a parameter, attention four a key, head "
        "and element.",
        "The keys that a token sees: T/2 on average in one layer, w in each of r.",
    ),
    explain="For one token the matrices of r + 1 layers cost `2*(r + 1)*(3*D*F + 2*D*H*(n_q + K))`. Scores and "
    "values cost `4*n_q*H` for each key that it sees: T/2 on average in one layer, w in each of the others, so "
    "`4*n_q*H*(T/2 + r*w)`. They are equal at `T = (r + 1)*(3*D*F + 2*D*H*(n_q + K))/(n_q*H) - 2*r*w`. Windows "
    "push it out about r + 1 times as far.",
)

MLA_WAYS = Exercise(
    id="transformer-math-mla-ways",
    title="Folded or unfolded?",
    points=2,
    prompt="A step computes `T` tokens of one sequence against the `T_kv` compressed vectors of its context, of width "
    "`r`; the heads' parts are `d_n` without position, `d_p` with it, and `d_v` of the values. "
    "At how many tokens `T` do both ways, unfolded and folded, take as many FLOPs? *Exact*, by the two formulas "
    "above.",
    answer=Expression(
        {
            "T_kv": integers(256, 131072),
            "r": integers(384, 1024),
            "d_n": integers(64, 128),
            "d_p": integers(32, 96),
            "d_v": integers(64, 128),
        },
        "token",
    ),
    solution=lambda T_kv, r, d_n, d_p, d_v: T_kv * r * (d_n + d_v) / (T_kv * (2 * r - d_n - d_v) + r * (d_n + d_v)),
    mistakes=(
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: T_kv * r * (d_n + d_v) / (T_kv * (2 * r - d_n - d_v) - r * (d_n + d_v)),
            "A sign: on which side does what queries and outputs cost to fold stand?",
        ),
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: r * (d_n + d_v) / (2 * r - d_n - d_v),
            "The limit of a long context. *Exact* keeps what queries and outputs cost to fold.",
        ),
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: (
                T_kv * r * (d_n + d_v) / (T_kv * (2 * r + d_p - d_n - d_v) + r * (d_n + d_v))
            ),
            "Both ways compute the part with the position. What is left of it in the difference?",
        ),
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: T_kv * r * (d_n + d_v) / (T_kv * (r - d_n - d_v) + r * (d_n + d_v)),
            "A pair of a query and a key costs r for the score. And for the weighted sum?",
        ),
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: (T_kv * (2 * r - d_n - d_v) + r * (d_n + d_v)) / (T_kv * r * (d_n + d_v)),
            "Turned over: that is one over a number of tokens.",
            name="upside-down",
        ),
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: T_kv * r * (d_n + d_v) / (2 * r - d_n - d_v + r * (d_n + d_v)),
            "Every token of the step is a pair with each vector of the context. How many of these are there?",
        ),
        Mistake(
            lambda T_kv, r, d_n, d_p, d_v: T_kv * r * (d_n + d_v) / (T_kv * (r - d_n) + r * d_n),
            "Your folded way leaves the values unfolded. What does it do with them?",
        ),
    ),
    hints=(
        "Set the two formulas equal: each is linear in T.",
        "What stands in both cancels. Collect T on one side.",
    ),
    explain="With d = `d_n + d_v`, unfolded costs `T_kv*r*d + T*T_kv*(d + d_p)` and folded `T*r*d + T*T_kv*(2*r + "
    "d_p)`,"
    " both times `2*n_q`. The position's part cancels, and `T*(T_kv*(2*r - d) + r*d) = T_kv*r*d` is left. With "
    "DeepSeek-V3's widths and a long context that is "
    f"{512 * 256 / (1024 - 256):.0f} tokens. Decoding, with one token a step, folds; training and prefill "
    "unfold.",
)


# Experts
def _active(
    L, L1, D, F1, F, E, k, A, V, *, shared=2, vector=1, router=1, tables=1, dense=True, every=False, mats=(3, 3)
):
    of_dense, of_expert = mats
    experts = (E if every else k) * of_expert * D * F + shared * 3 * D * F + router * D * E + vector * D
    return L * A + (L1 * of_dense * D * F1 if dense else 0) + (L - (L1 if dense else 0)) * experts + tables * V * D


MOE_COUNT = Exercise(
    id="transformer-math-active",
    title="What one token meets",
    points=2,
    prompt="A decoder of {L} layers of width {D} has {A} parameters in the attention of each layer. The first {L1} "
    "layers have a gated MLP {F1} wide. The others have {E} gated experts {F} wide, of which a token takes {k}; a "
    "router, one matrix without a bias; and a shared gated expert, twice as wide as a routed one, "
    "whose result is multiplied by a number: the product of the token with a learned vector. The vocabulary has "
    "{V} entries, in two tables. How many parameters is one token multiplied with in a forward pass? *Exact*; the "
    "gains of norms do not count.",
    given=[
        dict(L=L, L1=L1, D=D, F1=F1, F=F, E=E, k=k, A=A, V=V)
        for L, L1, D, F1, F, E, k, A, V in (
            (28, 2, 2048, 10944, 1408, 64, 6, 13762560, 102400),
            (48, 2, 2048, 6144, 768, 128, 8, 18874368, 151936),
            (60, 3, 5120, 12288, 1536, 160, 6, 149225472, 102400),
        )
    ],
    answer=Count(of="parameter"),
    solution=_active,
    mistakes=(
        Mistake(way(_active, tables=0), "And behind the last layer, what is the token multiplied with?"),
        Mistake(
            lambda L, L1, D, F1, F, E, k, A, V: _active(L, L1, D, F1, F, E, k, A, V) + (2 * L + 1) * D,
            "The gains of the norms do not count here.",
        ),
        Mistake(
            way(_active, every=True), "Those are all experts. Which of them does one token meet?", name="experts-all"
        ),
        Mistake(way(_active, router=0), "Somebody has to score the experts: all of them, for every token."),
        Mistake(way(_active, shared=1), "The shared expert is twice as wide as a routed one.", name="shared-expert"),
        Mistake(way(_active, vector=0), "The shared expert's result is multiplied by a number. Where is it from?"),
        Mistake(way(_active, tables=2), "Two tables are stored. How many is a token multiplied with?"),
        Mistake(way(_active, dense=False), "The first layers are not like the others."),
        Mistake(
            way(_active, shared=0, vector=0), "Besides the routed experts a token meets one more.", name="shared-expert"
        ),
        Mistake(
            way(_active, mats=(3, 2)),
            "Your routed experts have two matrices. Which has an MLP with a gate?",
            name="gated-mlp",
        ),
        Mistake(way(_active, mats=(2, 3)), "The MLPs of your first layers have two matrices. Have these no gate?"),
        Mistake(
            lambda L, L1, D, F1, F, E, k, A, V: _active(L, L1, D, F1, F, E, k, A, V) - L1 * A,
            "Which layers have attention?",
        ),
    ),
    hints=(
        "Go through a layer with experts in the token's order: attention, router, k experts, the shared one.",
        "Then the layers without experts, and what stands behind the last layer.",
    ),
    explain="A layer with experts: `A`, the router's `D*E`, of which no part is skipped, `k*3*D*F` of the routed "
    "experts, `3*D*(2*F)` of the shared one and `D` for its gate. The first layers: `A + 3*D*F1`. The output layer is "
    "`V*D`; the embedding is looked up. This is the N of 6ND for a model with experts.",
)


# Five decoders
def _counts(
    c,
    *,
    first="k",
    tables=None,
    window=True,
    router=(1, 1),
    norms=(2, 1),
    lookups=0,
    mla=True,
    pairs=1,
    more=0,
    heads="n_q",
    wide=None,
    shared=(1, 1),
    mats=3,
    tokens=True,
    passes=1,
    products=2,
):
    L, D, F, n_q, E, T = c["L"], c["D"], c["F"], c["n_q"], c["E"], c["T"]
    if c["r_kv"] and mla:
        attention = mla_params.function(D, n_q, c["r_q"], c["r_kv"], c["d_nope"], c["d_rope"], c["d_v"])
        keys, values = c["d_nope"] + c["d_rope"], c["d_v"]
        if wide:
            keys, values = wide(c)
    else:
        attention, keys, values = 2 * D * c["H"] * (n_q + c["K"]), c["H"], c["H"]
    scored = D * E * (E > 1)
    mlp = mats * D * F
    everything = attention + (E + shared[0] * c["shared"]) * mlp + router[0] * scored + norms[0] * D
    parameters = L * everything + (tables or c["tables"]) * c["V"] * D + norms[1] * D
    used = L * (attention + (c[first] + shared[1] * c["shared"]) * mlp + router[1] * scored)
    used += (c["tables"] if lookups is None else 1 + lookups) * c["V"] * D
    seen = pairs * ((c["T_win"] if window else T) + more)
    widths = keys + values * (products == 2)
    return [parameters, passes * (T if tokens else 1) * (2 * used + 2 * L * seen * c[heads] * widths)]


def _shapes(rng: Random):
    """Numbers of decoders of each kind, and of mixtures of kinds. What tells a decoder from others comes first, since
    a verdict shows the beginning."""

    def shape(**others):
        D, n_q, H = rng.choice((64, 96, 160)), rng.choice((4, 8)), rng.choice((16, 24, 40))
        T = others.get("T", rng.choice((48, 96, 192)))
        numbers = {
            "L": rng.randint(2, 5),
            "D": D,
            "F": rng.choice((100, 256, 344)),
            "n_q": n_q,
            "K": n_q,
            "H": H,
            "V": rng.randint(200, 900),
            "tables": 2,
            "E": 1,
            "k": 1,
            "shared": 0,
            "T": T,
            "T_win": T,
            "r_q": 0,
            "r_kv": 0,
            "d_nope": 0,
            "d_rope": 0,
            "d_v": 0,
        }
        return {**others, **{name: number for name, number in numbers.items() if name not in others}}

    latent = {"r_kv": 24, "r_q": 40, "d_nope": 16, "d_rope": 8, "d_v": rng.choice((12, 20))}
    experts = {"E": rng.choice((6, 8, 16)), "k": rng.choice((2, 3)), "shared": rng.choice((1, 2))}
    return [
        (shape(K=2),),
        (shape(K=1),),
        (shape(tables=1),),
        (shape(T_win=16),),
        (shape(T_win=24, K=2),),
        (shape(**latent),),
        (shape(**experts),),
        (shape(**experts, **latent),),
        (shape(**experts, tables=1, K=2),),
        (shape(E=4, k=1, T_win=48, T=192),),
    ]


LAB_COUNT = Exercise(
    id="transformer-math-lab-count",
    title="Lab: five decoders by formula",
    points=4,
    lines=9,
    prompt="Write `counts(c)`: the parameters of a decoder, and the FLOPs of the forward pass of one sequence, as a "
    "list of two whole numbers. `c` is a dict: `c['L']` layers of width `c['D']`; gated MLPs of width `c['F']`; `n_q` "
    "query heads and `K` key-value heads of width `H`; a vocabulary of `V` in `tables` tables; `T` tokens. With "
    "`E` > 1 an MLP is `E` experts of width F, of which a token takes `k`, with a router, and `shared` more that all "
    "tokens take; with `E` = 1 there is no router, and `shared` is 0. The sequence is cut into chunks of `T_win` "
    "tokens that see themselves only; `T_win` divides T, and is T where nothing is cut. With `r_kv` > 0 attention is "
    "latent and unfolded, with widths `r_q`, `r_kv`, `d_nope`, `d_rope`, `d_v`, and K and H say nothing; "
    "`mla_params(D, n_q, r_q, r_kv, d_nope, d_rope, d_v)` of `hwlib.transformer` counts its matrices, and T_win is T. "
    "A layer has two "
    "norms of D gains, the model one more; there are no others, and no biases. *Exact*: matrix products alone, scores "
    "and weighted values for all pairs of a chunk, as a program computes them that masks afterwards.",
    answer=Function(
        "counts",
        "counts(c)",
        counts=True,
        cases=_shapes,
        mutants={
            "with E = 1 there is no router": lambda c: [_counts(c)[0] + c["L"] * c["D"] * (c["E"] == 1), _counts(c)[1]],
            "K key-value heads": lambda c: _counts({**c, "K": c["n_q"]}),
            "E experts are stored": lambda c: [_counts({**c, "E": c["k"]})[0], _counts(c)[1]],
            "all layers": lambda c: _counts({**c, "L": 1}),
            "n_q heads of width H need not make D": lambda c: _counts({**c, "H": c["D"] // c["n_q"]}),
            "shared experts beside those of E": lambda c: _counts({**c, "shared": min(c["shared"], 1)}),
        },
    ),
    solution=_counts,
    mistakes=(
        Mistake(
            partial(_counts, pairs=0.5),
            "You skip what a mask hides. The prompt's program computes all pairs of a chunk, with two products each.",
        ),
        Mistake(
            partial(_counts, first="E"),
            "Your FLOPs take every token through every expert. How many does it visit?",
            name="experts-all",
        ),
        Mistake(partial(_counts, tables=2), "A table that is used twice is stored once."),
        Mistake(partial(_counts, window=False), "Right until the sequence is cut. How many tokens does one see then?"),
        Mistake(partial(_counts, router=(0, 0)), "The experts are all there. Who chooses among them?"),
        Mistake(partial(_counts, norms=(0, 0)), "The matrices are all there. *Exact* includes the gains."),
        Mistake(
            partial(_counts, pairs=0.5, more=1),
            "You skip what a mask hides. The prompt's program computes all pairs of a chunk and masks afterwards.",
        ),
        Mistake(
            partial(_counts, lookups=None),
            "You multiplied with each table that is stored. What does the embedding do with a token?",
            name="vocabulary",
        ),
        Mistake(
            partial(_counts, router=(1, 0)), "The router is a parameter of yours. Does a token pass it for nothing?"
        ),
        Mistake(
            partial(_counts, shared=(1, 0)),
            "Your FLOPs leave the shared experts out. Are they among the `k` of the prompt?",
            name="shared-expert",
        ),
        Mistake(
            partial(_counts, heads="K"),
            "Your scores grow with the key-value heads. How many heads hold a query against the keys?",
            name="key-value-heads",
        ),
        Mistake(
            partial(_counts, wide=lambda c: (c["H"], c["H"])),
            "Your latent attention has pairs of width H, and there H says nothing. How wide are its keys and values?",
        ),
        Mistake(
            partial(_counts, wide=lambda c: (c["r_kv"] + c["d_rope"], c["r_kv"])),
            "Those are the pairs of latent attention when it is folded. The prompt's is not.",
        ),
        Mistake(partial(_counts, norms=(2, 0)), "The layers' gains are there. The model has one norm more."),
        Mistake(
            partial(_counts, products=1),
            "You counted the product of queries and keys. What is done with the scores?",
        ),
        Mistake(partial(_counts, tokens=False), "Your FLOPs are those of one token. The prompt asks for a sequence."),
        Mistake(
            partial(_counts, passes=3),
            "Your FLOPs have the backward pass in them. Which does the prompt name?",
            name="backward-too",
        ),
        Mistake(partial(_counts, mats=2), "Which matrices has an MLP with a gate?"),
        Mistake(
            partial(_counts, lookups=1),
            "You multiplied with the embedding. What does it do with a token?",
            name="vocabulary",
        ),
        Mistake(
            partial(_counts, mla=False),
            "With `r_kv` > 0 K and H say nothing: neither for the matrices nor for the scores.",
        ),
    ),
    hints=(
        "Four parts: attention's parameters, those of one MLP, all of them for the first number, the used ones for "
        "the second.",
        "FLOPs are twice the used parameters for each token, and for each pair of tokens in a chunk twice the widths "
        "of a "
        "key and of a value, for each head.",
        "The embedding is in the first number, and not in the second, unless it is the output layer as well.",
    ),
    explain="Attention is `2*D*H*(n_q + K)` or `mla_params(...)`, an MLP `3*D*F`. All parameters of a layer: "
    "attention, "
    "E and `shared` MLPs, the router's `D*E` if E > 1, and `2*D` gains; with `tables*V*D` and the last norm's D that "
    "is the first number. A token is multiplied with attention, `k + shared` MLPs, the router, and the output's "
    "`V*D`: "
    "two FLOPs each. A pair of tokens costs `2*(key width + value width)` for each head, `2*H` in all without MLA, "
    "`d_nope + d_rope + d_v` with it, and a chunk has `T_win` pairs a token.",
    withholds=("hwlib.transformer.model_counts",),
)

LAB_ODD = Exercise(
    id="transformer-math-lab-odd",
    title="Lab: the decoder that does more",
    points=2,
    prompt="One of the five modules does more FLOPs than the formula says. Find it, read its module in "
    "`hwlib/labs/decoders/_torch.py` or time its parts, and write what it computes in excess, in FLOPs for one "
    "token's forward pass through the whole model: one expression in the decoder's numbers. *Exact.*",
    answer=Expression(
        {
            "L": integers(1, 100),
            "D": integers(64, 8192),
            "F": integers(64, 8192),
            "n_q": integers(1, 128),
            "H": integers(8, 256),
            "V": integers(100, 200000),
            "E": integers(16, 256),
            "k": integers(1, 8),
        },
        "FLOP",
    ),
    solution=lambda L, D, F, E, k, n_q, H, V: 6 * L * D * F * (E - k),
    mistakes=(
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 6 * L * D * F * E,
            "That is all it computes in the experts. What of it was asked for?",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 3 * L * D * F * (E - k),
            "Those are parameters. What does a token cost for each?",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 2 * L * D * F * (E - k),
            "One matrix of an expert. How many has it?",
            name="gated-mlp",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 6 * D * F * (E - k), "In one layer. The prompt asks for the whole model."
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 6 * L * D * F * (E - k - 1),
            "You took the shared expert for one of the `E`. Where does the module keep it?",
            name="shared-expert",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 6 * L * D * F * (E - k + 1),
            "You counted the shared expert too. Is it computed in excess?",
            name="shared-expert",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 2 * L * (3 * D * F + D) * (E - k),
            "Right for the experts. Could the router score only those that it takes?",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 18 * L * D * F * (E - k),
            "That is forward and backward. The prompt asks for one of them.",
            name="backward-too",
        ),
        Mistake(
            lambda L, D, F, E, k, n_q, H, V: 6 * L * D * F * E / k,
            "You divided the experts that are computed by those that are taken. *In excess* is a difference.",
        ),
    ),
    hints=(
        "The table shows which row: its parameters are right, so nothing is missing from the model.",
        "Look at what `forward` of that module does with every token, before the weights of the router come in.",
    ),
    explain="The mixture of experts sends every token through every expert and multiplies what it did not choose by "
    "zero: `E - k` experts too many in each of L layers, with three matrices of `D*F` and two FLOPs a parameter. The "
    "result is right, and so is every parameter, so no test of values finds it; a count does. "
    "Active parameters are a promise that a program has to keep.",
)


# Four bits
def _come_back(A, a, w, *, top=6, rounded=True, tensor=True, power=False, codes=True, largest=448, to=round_e4m3):
    s = A / (6 * largest) if tensor else 1.0
    scale = a / (top * s)
    scale = to(scale) if rounded else scale
    if power:
        scale = 2.0 ** int(log(a, 2) // 1) / 4
        s = 1.0
    return (round_e2m1(w / (scale * s)) if codes else w / (scale * s)) * scale * s


def _beside(x):
    """The number of E4M3 on the other side of x than the nearest."""
    step = 2.0 ** (int(log(x, 2) // 1) - 3)
    return (2 * (x // step) + 1) * step - round_e4m3(x)


def _scale_of(A, a):
    return round_e4m3(a / (6 * A / (6 * 448))) * A / (6 * 448)


BY_HAND = Exercise(
    id="transformer-math-by-hand",
    title="One weight through NVFP4",
    points=2,
    prompt="The largest weight of a matrix is {A} in absolute value, the largest of one of its blocks of 16 is {a}, "
    "and "
    "a weight of this block is {w}. The matrix is stored in NVFP4: the tensor's scale is such that a block with "
    "the largest weight gets the largest E4M3 number, 448, as its scale; a block's scale maps its "
    "largest weight to 6, and is rounded to E4M3; then the weight is rounded to E2M1. As which number does the "
    "weight come "
    "back? *Exact*: to the nearest, and to half a percent.",
    given=[dict(A=A, a=a, w=w) for A, a, w in ((7.6, 0.57, 0.468), (8.5, 0.88, 0.37), (5.5, 0.41, 0.334))],
    answer=Quantity("1", rtol=0.005),
    solution=_come_back,
    mistakes=(
        Mistake(
            lambda A, w: round_e2m1(6 * w / A) * A / 6,
            "You used one scale for the whole tensor. What has the block of its own?",
        ),
        Mistake(
            lambda A, a, w: round_e2m1(w / _scale_of(A, a)),
            "That is the code, in units of both scales. Which weight does it stand for?",
        ),
        Mistake(way(_come_back, rounded=False), "You kept the block's scale as it was. In what format is it stored?"),
        Mistake(
            way(_come_back, tensor=False),
            "You rounded the block's scale without the tensor's: other numbers of E4M3 are near.",
        ),
        Mistake(way(_come_back, codes=False), "That is the weight itself. Which numbers do four bits have?"),
        Mistake(_scale_of, "That is the block's scale, unpacked. Which multiple of it is nearest to the weight?"),
        Mistake(
            way(_come_back, to=_beside),
            "Your block's scale is a number of E4M3, and another is nearer to what it rounds.",
            names_all=True,
        ),
        Mistake(way(_come_back, to=round), "Your block's scale is a whole number. Which of them has E4M3?"),
        Mistake(
            lambda a, w: round(12 * w / a) / 2 * a / 6,
            "Your codes go up in steps of a half. How far apart are those of E2M1 from 2 on?",
        ),
        Mistake(
            way(_come_back, top=4),
            "You mapped the block's largest weight to 4. Where does the prompt map it?",
            names_all=True,
        ),
        Mistake(
            way(_come_back, largest=256),
            "With your tensor's scale no block's scale exceeds 256. What is E4M3's largest?",
        ),
        Mistake(
            lambda A, a, w: _come_back(A, a, w) * 6 * 448 / A,
            "That is in units of the tensor's scale, which is stored too.",
        ),
        Mistake(way(_come_back, power=True), "A power of two is MXFP4's scale. What has NVFP4?"),
    ),
    hints=(
        "Three numbers in a row: the tensor's scale A/(6 · 448), the block's scale in units of it, the weight in "
        "units of both.",
        "`round_e4m3` and `round_e2m1` of `hwlib.number_formats` round; the notebook's answer cell may "
        "hold code, as `how_to_answer` shows.",
    ),
    explain="The tensor's scale is s = A/(6 · 448), with A = {A}: stored once, in 32 bits. In units of it the "
    "block's scale is "
    "a/(6s), with a = {a}, which `round_e4m3` brings to a number of eight bits. The weight {w}, divided by both "
    "scales, "
    "goes to the nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6, and is multiplied by both scales again. Rounding the scale "
    "shifts all 16 weights of a block at once, by up to one part in sixteen.",
)


def _squares(block, found, _):
    return sum((x - y) ** 2 for x, y in zip(block, found, strict=True))


def _four_or_six(
    W,
    *,
    tops=(6, 4),
    better=min,
    rounded=True,
    largest=256,
    across=True,
    tensor=True,
    error=_squares,
    first=False,
    by_row=False,
    unrounded=False,
    codes=False,
    each=False,
    least=0.0,
    size=abs,
):
    blocks = W if across else [list(column) for column in zip(*W, strict=True)]
    amax = max(size(x) for row in W for x in row)

    def back(block, top, s):
        wanted = max(map(size, block)) / (top * s)
        scale = max(round_e4m3(wanted) if rounded else wanted, least) * s
        if first:
            scale = round_e4m3(max(map(abs, block)) / (6 * s)) * s * 6 / top
        again = wanted * s if unrounded else scale
        return [scale and round_e2m1(x / scale) * again for x in block], scale

    def chosen(part, s):
        ways = [back(part, top, s) for top in tops]
        if each:
            both = zip(part, *(found for found, _ in ways), strict=True)
            return [min(pair, key=lambda y, x=x: abs(x - y)) for x, *pair in both]
        found, scale = better(ways, key=lambda one: error(part, *one))
        return [x / scale if codes and scale else x for x in found]

    rows = []
    for row in blocks:
        s = ((max(map(abs, row)) if by_row else amax) / (6 * largest) if tensor else 1.0) or 1.0
        rows.append([x for i in range(0, len(row), 16) for x in chosen(row[i : i + 16], s)])
    return rows if across else [list(row) for row in zip(*rows, strict=True)]


def _matrices(rng: Random):
    """Small matrices with blocks of very different sizes, one of zeros, one with an outlier, and one so much smaller
    than the largest weight that its scale becomes zero, or hardly so much; and nothing but zeros."""

    def matrix(rows, columns, spread):
        cells = [[rng.gauss(0, 1) * spread ** rng.uniform(-1, 0) for _ in range(columns)] for _ in range(rows)]
        sizes = [[spread ** rng.uniform(-1, 0) for _ in range(columns // 16)] for _ in range(rows)]
        return [[x * sizes[i][j // 16] for j, x in enumerate(row)] for i, row in enumerate(cells)]

    first, last = matrix(2, 32, 3), matrix(3, 32, 20)
    first[0][:16] = [0.0] * 16
    last[1][7] = 40.0
    tiny = matrix(1, 32, 2)
    tiny[0][16:] = [x * 1e-7 for x in tiny[0][16:]]
    least = matrix(1, 32, 2)  # E4M3's smallest scale would let some of its second block live
    smaller = 3 / 2**10 * _largest(least[0][:16]) / (6 * 256) / _largest(least[0][16:])
    least[0][16:] = [x * smaller for x in least[0][16:]]
    return [(first,), (matrix(4, 48, 2),), (last,), (tiny,), (least,), ([[0.0] * 16],)]


def _blocks(W):
    return [row[i : i + 16] for row in W for i in range(0, len(row), 16)]


def _largest(block):
    return max(map(abs, block))


LAB_NVFP4 = Exercise(
    id="transformer-math-lab-nvfp4",
    title="Lab: a layer in four bits",
    points=4,
    lines=10,
    prompt="Write `quantise(W)`: the matrix W, a list of rows whose lengths are multiples of 16, as it comes back "
    "from NVFP4 with a choice for each block. The tensor's scale is s = (largest |weight| of W)/(6 · 256), not "
    "rounded. "
    "A block is 16 weights side by side in a row. It has two candidates for its scale: what maps its largest weight "
    "to "
    "6, and what maps it to 4, both in units of s and rounded to E4M3. Each weight is rounded to E2M1 in units of "
    "both "
    "scales and multiplied out again; the block keeps the candidate with the smaller sum of squared errors. A "
    "block whose scale rounds to zero comes back as zeros, and so does a block or a matrix of zeros. "
    "`round_e4m3` and `round_e2m1` are there. *Exact.*",
    answer=Function(
        "quantise",
        "quantise(W)",
        cases=_matrices,
        mutants={
            "a matrix of zeros": lambda W: _four_or_six(W) if 1 / max(abs(x) for row in W for x in row) else W,
            "a block of zeros": lambda W: _four_or_six(W) if all(1 / _largest(block) for block in _blocks(W)) else W,
            "a scale that rounds to zero": partial(_four_or_six, least=2**-9),
            "the largest size, whatever its sign": partial(_four_or_six, size=float),
            "the scale of the whole matrix": lambda W: [_four_or_six([row])[0] for row in W],
            "rows of any multiple of 16": lambda W: [row[:32] for row in _four_or_six(W)],
        },
    ),
    solution=_four_or_six,
    harmless={"side 1 of the min alone": "no scale sends a weight beyond the format's largest number"},
    mistakes=(
        Mistake(
            partial(_four_or_six, error=lambda *one: max(map(abs, map(float.__sub__, *one[:2])))),
            "You compare the largest misses of both candidates. The prompt compares their sums of squares.",
        ),
        Mistake(
            partial(_four_or_six, tops=(6,)),
            "That is plain NVFP4: every block's largest weight at 6. Try the other candidate too.",
        ),
        Mistake(
            partial(_four_or_six, tops=(4,)),
            "Every block's largest weight is at 4. Which candidate has the smaller error?",
        ),
        Mistake(partial(_four_or_six, better=max), "You keep one of the two candidates: which has the smaller error?"),
        Mistake(partial(_four_or_six, rounded=False), "The scale of a block is stored in eight bits as well."),
        Mistake(partial(_four_or_six, tensor=False), "In which units is a block's scale rounded?"),
        Mistake(
            partial(_four_or_six, largest=448),
            "The tensor's scale of the prompt leaves room for a larger block scale: 6 times what?",
        ),
        Mistake(
            partial(_four_or_six, error=lambda *one: sum(map(abs, map(float.__sub__, *one[:2])))),
            "You add up the misses themselves. What does the prompt add up?",
        ),
        Mistake(
            partial(_four_or_six, error=lambda *one: one[2] and _squares(*one) / one[2] ** 2),
            "You compare misses in units of a scale, and the two candidates have different ones.",
        ),
        Mistake(
            partial(_four_or_six, first=True),
            "Your second candidate is one and a half times the first. Is it then a number of E4M3?",
        ),
        Mistake(
            partial(_four_or_six, unrounded=True),
            "You divide by the rounded scale and multiply with another one. Which one is stored?",
        ),
        Mistake(partial(_four_or_six, by_row=True), "You have a tensor's scale for each row. How many has the matrix?"),
        Mistake(partial(_four_or_six, codes=True), "Those are codes, in units of both scales. Which weights are they?"),
        Mistake(
            partial(_four_or_six, each=True),
            "You choose a scale for each weight. How many scales are stored for a block?",
        ),
        Mistake(
            partial(_four_or_six, largest=256 / 6),
            "To what does your tensor's scale send the largest weight, and to what a block's scale its largest?",
        ),
        Mistake(partial(_four_or_six, across=False), "Your blocks run down the columns. The prompt's lie in a row."),
    ),
    hints=(
        "A helper first: what a block becomes if its largest weight is mapped to `top`.",
        "Then the better of two such lists, by the sum of squared differences from the block.",
        "A block of zeros has a scale of 0: what do you divide by?",
    ),
    explain="`s = largest/(6*256)`. For a block and `top` in (6, 4): `scale = round_e4m3(max(|x|)/(top*s))*s`, and "
    "each "
    "weight becomes `round_e2m1(x/scale)*scale`. Keep the list with the smaller squared error. Between 4 and 6 E2M1 "
    "has no "
    "number, so a weight at 5/6 of the largest is far from both; mapped to 4, the same weights have neighbours at "
    "3 and 4. The candidate for 4 needs a scale half as large again, which is why the tensor's scale leaves room: "
    "256 · 1.5 "
    "is 384, still a number of E4M3. This is the idea of “four over six”.",
)

# Days
HFU_TO_MFU = Exercise(
    id="transformer-math-hfu",
    title="From HFU to MFU",
    points=2,
    prompt="A run recomputes all its layers in the backward pass, but not the output layer. Per token, the layers' "
    "forward "
    "pass takes `f` FLOPs, attention included, and the output layer's `g`. Its log prints an HFU of `h`. What is its "
    "MFU? *Exact.*",
    answer=Expression(
        {"f": positive("FLOP", 1e9, 1e12), "g": positive("FLOP", 1e8, 1e11), "h": positive("1", 0.1, 0.7)}, "1"
    ),
    solution=lambda f, g, h: h * 3 * (f + g) / (4 * f + 3 * g),
    mistakes=(
        Mistake(lambda f, g, h: 3 * h / 4, "Right for the layers alone. Is everything computed twice?"),
        Mistake(lambda f, g, h: h * (4 * f + 3 * g) / (3 * (f + g)), "Recomputed work is in the HFU. Which is larger?"),
        Mistake(
            lambda f, g, h: 2 * h * (f + g) / (3 * f + 2 * g), "How often the forward pass's FLOPs is a backward pass?"
        ),
        Mistake(
            lambda f, g, h: h * 3 * (f + g) / (3 * f + 4 * g),
            "You recompute the output layer and not the others. Which does the prompt's run recompute?",
        ),
        Mistake(
            lambda f, g, h: 1 - h * f / (4 * f + 3 * g),
            "What is recomputed lowers the utilization that was printed. You take it from the whole peak.",
        ),
        Mistake(
            lambda f, g, h: h * 3 * (f + g) / (6 * f + 3 * g),
            "Count forward and backward. What part of that does recomputing the layers add?",
        ),
    ),
    hints=(
        "Both are FLOPs over the same time and peak. Write both counts, forward and backward.",
        "The model needs three times its forward pass. What does this run compute on top?",
    ),
    explain="The model requires `3*(f + g)` a token: forward once, backward twice that. This run computes the layers' "
    "forward pass once more, `4*f + 3*g` in all. Time and peak are the same for both, so MFU is HFU times the ratio "
    "of "
    "the counts, `3*(f + g)/(4*f + 3*g)`: three quarters if the output layer is negligible.",
)

ERRATUM_MFU = Exercise(
    id="transformer-math-erratum-mfu",
    title="Find the error: DeepSeek-V3's MFU",
    points=2,
    prompt="Question 7 of chapter 4 of *How to Scale Your Model* asks for DeepSeek-V3's utilization from its own "
    "figures, 2.788 million hours of H800 cards in NVLink nodes for 14.8 trillion tokens, with 37 billion active "
    "parameters, in fp8, and answers *“21.7 %”*. Data sheets print for fp8: of the PCIe card {C_p:FLOP/s}, twice that "
    "with sparsity; of the SXM card {C_s:FLOP/s}, and twice that with sparsity. Which MFU is right, by the same count "
    "of 6ND? *Exact*: rounding is not the error.",
    given=[dict(hours=2_788_000, tokens=14.8e12, N=37e9, C_p=h800_pcie_fp8, C_s=h800_fp8)],
    answer=Quantity("1", rtol=0.01),
    solution=lambda hours, tokens, N, C_s: 6 * N * tokens / (hours * 3600 * C_s),
    mistakes=(
        Mistake(
            lambda tokens, N, C_s: 6 * N * tokens / (2.664e6 * 3600 * C_s),
            "Those are the hours of the pre-training alone. Which does the prompt name?",
        ),
        Mistake(
            lambda hours, tokens, C_s: 6 * 671e9 * tokens / (hours * 3600 * C_s),
            "Those are all parameters. How many does a token meet?",
            name="experts-all",
        ),
        Mistake(
            lambda hours, tokens, N, C_p: 6 * N * tokens / (hours * 3600 * C_p),
            "That is the book's number. Which card is in an NVLink node?",
        ),
        Mistake(
            lambda hours, tokens, N, C_p: 6 * N * tokens / (hours * 3600 * 2 * C_p),
            "Half the book's number: that card with sparsity. Two things to look up: which card, and dense or not?",
            name="sparse-for-dense",
        ),
        Mistake(
            lambda hours, tokens, N, C_s: 3 * N * tokens / (hours * 3600 * C_s),
            "Half the answer. Training multiplies dense matrices.",
            names_all=True,
        ),
        Mistake(
            lambda hours, tokens, N, C_s: 2 * N * tokens / (hours * 3600 * C_s),
            "That is the forward pass.",
            name="forward-only",
        ),
        Mistake(
            lambda hours, tokens, N, C_s: 8 * N * tokens / (hours * 3600 * C_s),
            "A third too large. Is it 6ND, with the prompt's N, and is the peak that of a card in an NVLink node?",
        ),
    ),
    hints=(
        "Repeat the book's division, and find the peak that gives its number.",
        "A node with NVLink and NVSwitch holds cards of which form?",
    ),
    explain="6ND is six times 37e9 times 14.8e12 operations, over 2.788 million hours of one card. Divided by the "
    "PCIe "
    "card's {C_p:FLOP/s} that is 21.6 %, the book's 21.7 but for its rounding; "
    "the run used SXM cards, whose peak is {C_s:FLOP/s}, so it is "
    "16.5 %. With the hours of the pre-training alone, 2.664 million, it is 17.3 %. Both are low partly because 6ND "
    "leaves out attention, and because much of the arithmetic, attention above all, was not done in fp8.",
)

_CHOICES = [f"{n} days" for n in (70, 78, 90, 118)]

PREDICT_BLOOM = Exercise(
    id="transformer-math-predict-bloom",
    title="Predict: BLOOM's log",
    predict=True,
    prompt=f"BLOOM has {parameter_count(bloom) / 1e9:.0f}e9 parameters and saw {BLOOM_RUN.tokens / 1e9:.0f}e9 "
    f"tokens, on "
    f"{BLOOM_RUN.n} A100. Its engineers reported {show(BLOOM_RUN.rate, 'FLOP/s')} a GPU, by the formula that their "
    f"software prints, with all layers recomputed. 6ND at that rate is {BLOOM_SIX:.0f} days. How many did the run "
    f"take? "
    "*To first order.*",
    answer=Choice({one: f"about {one}" for one in _CHOICES}, ordered=True),
    solution=lambda: nearest(BLOOM_LOGGED, _CHOICES),
    mistakes=(
        Mistake("70 days", "Is there anything that a run does less of than 6ND says, so that it could be faster?"),
        Mistake("78 days", "The rate counts what the GPUs computed. Is that 6ND?"),
        Mistake("90 days", "Attention and failures alone would come to about that. What else does the rate count?"),
    ),
    hints=("What does a rate count that is printed by a run which computes its forward pass twice?",),
    explain="The rate counts recomputed operations, eight a parameter and token, and attention over all keys: by the "
    "same "
    f"formula the run is {BLOOM_COUNTED:.0f} days of work, {BLOOM_COUNTED / BLOOM_SIX:.2f} times 6ND. The paper "
    "prints "
    f"{BLOOM_RUN.time / HOUR:,.0f} GPU hours, {BLOOM_LOGGED:.0f} days on {BLOOM_RUN.n} GPUs. What is left, a goodput "
    f"of "
    f"{BLOOM_COUNTED / BLOOM_LOGGED:.0%}, is failures, restarts, and steps slower than the reported ones.",
)

WEEK = Exercise(
    id="transformer-math-week",
    title="The plan for the next run",
    prompt="A colleague plans a run on 8,000 GPUs with 6ND, at the TFLOP/s that a trial on 64 GPUs printed; the trial "
    "recomputed all layers, on sequences a quarter as long as the run's, of a model with a quarter of its layers. "
    "Which corrections would you make, in which direction does each go, and which one could you measure before the "
    "run?",
    answer=Written(
        rubric=(
            (
                "Says that the printed rate may count recomputed operations, and that 6ND does not: the time grows "
                "by up to a third",
                1,
            ),
            ("Says that attention's share grows with the length, and how to compute it for the run's shape", 1),
            (
                "Says that the embedding, or experts that are not visited, are in N but multiply nothing, with its "
                "sign",
                1,
            ),
            ("Says that rate falls with more GPUs, and that failures and restarts are not in any step's rate", 1),
            ("Names one that can be measured beforehand, and how", 1),
        ),
        words=200,
        criteria=False,
    ),
    solution="First ask what the trial's rate counts. If its software counts the recomputed forward pass, it is an "
    "HFU: "
    "6ND at that rate is too short by up to a third. Either divide the run's own count, recomputation included, by "
    "the "
    "rate, or turn the rate into an MFU. Second, 6ND has no attention. Its part grows with the length, so a trial on "
    "short sequences shows less of it; count scores and values for the run's length, with the mask as the kernel "
    "treats "
    "it. Third, N: the embedding is looked up, which matters for a trial with few layers, since its tables are a "
    "large part "
    "of it; with experts only the active parameters count. Fourth, the rate is that of 64 GPUs. On 8,000 a step "
    "waits longer for the network, and no step's rate contains restarts, checkpoints and slow nodes: five to ten "
    "percent "
    "and more. The rate at the run's length and layers per GPU can be measured for an hour on the small machine, and "
    "the "
    "FLOPs can be counted exactly before anything runs; failures cannot, but last year's log has them.",
    hints=("Go through the fraction: what stands in its numerator, and what is in the rate below it?",),
)
