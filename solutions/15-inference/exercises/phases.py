"""Exercises of the sections on the two phases and on the batch."""

from autograder.answers import Choice, Expression, positive
from autograder.declaration import Exercise, Mistake
from hwlib.inference import decode_point

_one, _many = (decode_point("llama3-70b", "h100-sxm", n=8, B=B, T_kv=8192).step_time for B in (1, 64))

PREDICT_BATCH = Exercise(
    id="inference-predict-batch",
    title="Sixty-four at once",
    prompt="Eight H100s decode Llama 3 70B in bfloat16, and each sequence has 8,192 tokens in its cache. By the data "
    f"sheet a step of one sequence takes {_one * 1e3:.1f} ms. How long does a step of 64 sequences take, by the same "
    "rates? A guess before any calculation; *to first order*.",
    answer=Choice(
        {
            "same": f"{_one * 1e3:.0f} ms: the weights are read once for all",
            "twice": f"{_many * 1e3:.0f} ms: about twice as long",
            "eight": f"{8 * _one * 1e3:.0f} ms: about eight times as long",
            "each": f"{64 * _one * 1e3:.0f} ms: each sequence takes its time",
        },
        ordered=True,
    ),
    predict=True,
    solution="twice",
    mistakes=(
        Mistake("same", "The weights are shared, and the caches are not. How large are 64 of them?"),
        Mistake("eight", "The caches take less than that. Compare the bytes of 64 caches with those of the weights."),
        Mistake("each", "Does a step read the weights once, or once for each sequence?"),
    ),
    hints=("Which bytes does a step read once, and which for each sequence?",),
    explain="The weights are read once, 5.2 ms whatever the batch. Each cache of 8,192 tokens has 2.7 GB, an eighth on "
    "each GPU, which takes 0.1 ms; 64 of them take 6.4 ms. Arithmetic needs 64 of some 295 tokens to bind, so it "
    "does not.",
)

HALF_RATE = Exercise(
    id="inference-batch-share",
    title="The batch that is worth it",
    points=2,
    prompt="A decode step reads all weights once, `P` of them with `b_w` bytes each, and for each of `B` sequences a "
    "cache of `T_kv` tokens with `S_kv` bytes each. Arithmetic never binds. As B grows, the tokens a second of all "
    "sequences together approach a limit. At which B do they reach the share `f` of it? *Exact*, as a real number.",
    answer=Expression(
        {
            "P": positive("1", 1e9, 1e12),
            "b_w": positive("B", 0.5, 2),
            "T_kv": positive("token", 128, 131072),
            "S_kv": positive("B", 1e4, 1e6),
            "f": positive("1", 0.05, 0.95),
        },
    ),
    solution=lambda P, b_w, T_kv, S_kv, f: f / (1 - f) * P * b_w / (T_kv * S_kv),
    mistakes=(
        Mistake(
            lambda P, b_w, T_kv, S_kv, f: f * P * b_w / (T_kv * S_kv),
            "Close for a small f. Write the rate as B over the bytes of a step, and its limit: what is their ratio?",
        ),
        Mistake(
            lambda P, b_w, T_kv, S_kv, f: (1 - f) / f * P * b_w / (T_kv * S_kv),
            "Upside down in f: should a larger share need a smaller batch?",
        ),
        Mistake(
            lambda P, b_w, T_kv, S_kv, f: P * b_w / (T_kv * S_kv),
            "There the caches have as many bytes as the weights. Which share of the limit is that, and where is f?",
        ),
        Mistake(
            lambda P, b_w, T_kv, S_kv, f: f / (1 - f) * T_kv * S_kv / (P * b_w),
            "The ratio of the bytes is upside down: heavier weights need more sequences to share them.",
            name="upside-down",
        ),
        Mistake(
            lambda P, b_w, T_kv, S_kv, f: P * b_w / ((1 - f) * T_kv * S_kv),
            "That is 1/(1 − f) where f/(1 − f) belongs: at f near 0 a batch near 0 is enough.",
        ),
        Mistake(
            lambda P, T_kv, S_kv, f: f / (1 - f) * P / (T_kv * S_kv),
            "The number of weights is there, and their bytes are not.",
        ),
        Mistake(
            lambda P, b_w, S_kv, f: f / (1 - f) * P * b_w / S_kv,
            "Those are tokens of cache. How many tokens has one sequence?",
        ),
    ),
    hints=(
        "The rate is B/(w + B c), with w the time of the weights and c that of one cache. What is it for a large B?",
        "Divide the rate by its limit 1/c, and set the ratio to f.",
    ),
    explain="With w the bytes of the weights and c those of one cache, the rate goes with `B/(w + B*c)`, and its limit "
    "with `1/c`. Their ratio `B*c/(w + B*c)` is f where `B*c*(1 - f) = f*w`. So B = f/(1 − f)·w/c: at half of the "
    "limit the caches have as many bytes as the weights, and nine tenths take nine times that. Neither the bandwidth "
    "nor the GPUs are in it.",
)
