"""Exercises of the section on the cache: windows, shared layers, latent attention on several GPUs."""

from autograder.answers import Expression, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake

WINDOWS = Exercise(
    id="inference-cache-windows",
    title="Local, global, shared",
    points=2,
    prompt="A model has {L} layers with {K} key-value heads of width {H}. One layer in {every} is global and keeps "
    "every token; the others are local and keep the last {window} tokens. The global layers share their keys and "
    "values in groups of {share}: one layer of a group computes them, and the others use the same. The cache has "
    "{b} byte an element. How many bytes does the cache of one sequence of {T} tokens hold? *Exact*.",
    given=[
        dict(L=48, K=8, H=128, every=6, window=4096, share=2, T=131072, b=1),
        dict(L=60, K=4, H=128, every=5, window=2048, share=3, T=65536, b=1),
        dict(L=36, K=8, H=64, every=6, window=8192, share=2, T=262144, b=1),
        dict(L=64, K=2, H=256, every=4, window=2048, share=4, T=131072, b=1),
    ],
    answer=Quantity("B"),
    solution=lambda L, K, H, every, window, share, T, b: (
        2 * K * H * b * ((L - L / every) * window + L / every / share * T)
    ),
    mistakes=(
        Mistake(
            lambda L, K, H, every, window, T, b: 2 * K * H * b * ((L - L / every) * window + L / every * T),
            "That is what a step reads. How often is a group's cache stored?",
        ),
        Mistake(
            lambda L, K, H, every, share, T, b: 2 * K * H * b * (L / every / share * T),
            "Only the global layers are there. What do the local ones keep?",
        ),
        Mistake(
            lambda L, K, H, every, window, share, T, b: (
                2 * K * H * b * ((L - L / every / share) * window + L / every / share * T)
            ),
            "A layer that uses another's keys and values is not local for that. What does it keep of its own?",
        ),
        Mistake(
            lambda L, K, H, share, T, b: 2 * K * H * b * L / share * T,
            "As if every layer were global. What does a local layer need of a token far back?",
        ),
        Mistake(lambda L, K, H, T, b: 2 * K * H * b * L * T, "No window and nothing shared: every layer keeps it all."),
        Mistake(
            lambda L, K, H, every, window, share, T, b: (
                2 * K * H * b * ((L - L / every) * window + L / every * T) / share
            ),
            "The local layers share nothing here.",
        ),
        Mistake(
            lambda L, K, H, every, window, share, T, b: K * H * b * ((L - L / every) * window + L / every / share * T),
            "Half of it: a token leaves a key and a value.",
            names_all=True,
        ),
        Mistake(
            lambda L, K, H, every, window, share, T, b: (
                2 * K * H * b * (L / every * window + (L - L / every) / share * T)
            ),
            "One layer in so many is global, not local: you have exchanged the two kinds.",
        ),
        Mistake(
            lambda L, K, H, window, b: 2 * K * H * b * L * window,
            "Every layer with a window. What do the global ones keep?",
        ),
        Mistake(
            lambda L, K, H, every, window, share, T, b: 2 * K * H * b * (L * window + L / every / share * T),
            "The global layers are counted twice: once with a window, and once with every token.",
        ),
    ),
    hints=(
        "How many layers are local, and how many tokens does each keep?",
        "Of the global layers, how many caches are stored?",
    ),
    explain="{L}/{every} layers are global, and the others keep {window} tokens each. A group of {share} global layers "
    "stores one cache. A layer's token has `2*K*H*b` bytes, so the sum is "
    "`2*K*H*b*((L - L/every)*window + L/every/share*T)`. A step still *reads* a shared cache once for every layer "
    "that uses it: sharing makes room, and it saves no time unless the kernel keeps what it has read.",
)

LATENT = Exercise(
    id="inference-latent-ranks",
    title="Cut the heads, or the sequences",
    points=3,
    prompt="`n` GPUs decode `B` sequences of `T_kv` tokens with latent attention, whose cached vector of "
    "`S_kv` bytes a "
    "token, in all layers, serves every head. The attention weights of all layers have `A` bytes. Either the heads are "
    "cut: a GPU reads A/n bytes of weights, and since its heads need the whole vector, the caches of all sequences. "
    "Or the sequences are: a GPU reads all attention weights, and the caches of B/n sequences. From which B on does a "
    "GPU read fewer bytes with the second? *Exact*, as a real number.",
    answer=Expression(
        {
            "A": positive("B", 1e8, 1e11),
            "n": integers(2, 64),
            "T_kv": positive("token", 128, 131072),
            "S_kv": positive("B", 1e4, 1e6),
        },
    ),
    solution=lambda A, n, T_kv, S_kv: A / (T_kv * S_kv),
    mistakes=(
        Mistake(
            lambda A, n, T_kv, S_kv: n * A / (T_kv * S_kv),
            "There is an n too many. Write both sums: which of weights and caches is cut in each?",
        ),
        Mistake(
            lambda A, n, T_kv, S_kv: A / (n * T_kv * S_kv),
            "Not all n cancel in yours. Write both sums: which of weights and caches is whole in each?",
        ),
        Mistake(
            lambda A, n, T_kv, S_kv: (n - 1) * A / (n * T_kv * S_kv),
            "The weights that you save are right. The caches that are read more often have the same factor.",
        ),
        Mistake(
            lambda A, n, T_kv, S_kv: n * A / ((n - 1) * T_kv * S_kv),
            "The caches that are read more often are right. The weights have the same factor.",
        ),
        Mistake(
            lambda A, n, T_kv, S_kv: T_kv * S_kv / A,
            "Upside down: do heavier attention weights speak for copying them?",
        ),
        Mistake(lambda A, n, T_kv, S_kv: A / S_kv, "Those are tokens. How many sequences is that?"),
        Mistake(
            lambda A, n, T_kv, S_kv: (n - 1) * A / (T_kv * S_kv),
            "Multiply both sums by n and look again at what is left on each side.",
        ),
    ),
    hints=(
        "Heads cut: A/n + B·T_kv·S_kv. What is the other sum?",
        "Bring the weights to one side and the caches to the other. Both have the same factor.",
    ),
    explain="Heads cut, a GPU reads `A/n + B*T_kv*S_kv`; sequences cut, `A + B*T_kv*S_kv/n`. The second is less where "
    "`B*T_kv*S_kv*(1 - 1/n) > A*(1 - 1/n)`, and n cancels: B > A/(T_kv·S_kv), the batch whose caches have as many "
    "bytes as the attention weights. Beyond it attention is cut by sequences, and the experts behind it by experts. "
    "The memory follows the same rule: copies of caches against copies of weights.",
)
