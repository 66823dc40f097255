"""The opening's case: a plan as the library predicts it, and a log of it whose causes are known; MFU and HFU."""

from autograder.answers import Expression, Quantity, positive
from autograder.declaration import Exercise, Mistake
from hwlib.specs import accelerators, measured_powers, models, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.training import step_time_at
from hwlib.transformer import parameter_count, step_flops, training_flops

H100, A100 = accelerators["h100-sxm"], accelerators["a100-80gb-sxm"]
LLAMA70 = models["llama3-70b"]
GPUS, SEQUENCES, LENGTH, STEPS = 512, 384, 8192, 200
TOKENS = SEQUENCES * LENGTH
PLAN = Strategy.of(dp=32, tp=4, pp=4, v=10, zero=1)
STACK = stacks["megatron-core-h100"]
MACHINE = "superpod-h100-4su"
FIRST, SAVE, STALL, EVERY = 90.0, 25.0, 19.0, 40  # s: the first step, a checkpoint, a wait for data; one in 40 waits


def planned(stack=STACK):
    """The step as the library's model has it."""
    return step_time(LLAMA70, stack, MACHINE, PLAN, B=TOKENS, T=LENGTH)


PREDICTED, EXPOSED = planned(), planned(STACK.replace(hide_dp=0.0))
T_MODEL = float(PREDICTED.total)
T_SUMS = float(EXPOSED.dp) - float(PREDICTED.dp)
RATES = {row.cap: row.rate for row in measured_powers("Llama 3 8B pre-training")}
CAP = RATES[700.0] / RATES[600.0] - 1  # how much longer the same work takes at 600 W than at 700 W
T_CAP = CAP * float(PREDICTED.compute)

FLOPS = float(step_flops(LLAMA70, TOKENS, LENGTH))
SIX = float(training_flops(parameter_count(LLAMA70), TOKENS))
PEAK = GPUS * H100.bf16_flops


def ledger():
    """(what, seconds of a mean step) of the window, from the model's step on; all but the first are losses."""
    return [
        ("gradient sums not hidden", T_SUMS),
        ("power limit", T_CAP),
        ("waits for data", STALL / EVERY),
        ("first step", (FIRST - T_MODEL) / STEPS),
        ("a checkpoint", SAVE / STEPS),
    ]


T_LOG = T_MODEL + sum(t for _, t in ledger())
MFU_MODEL, MFU_LOG = FLOPS / (T_MODEL * PEAK), SIX / (T_LOG * PEAK)
MFU_SAME = FLOPS / (T_LOG * PEAK)  # the log's time with the model's count
T_NEEDED = float(step_time_at(FLOPS, GPUS, H100.bf16_flops, 1.0))


def entries():
    """The ledger in points of utilization: (what, share, kind), the last bar counted as the log counts."""
    found, t = [("the model", MFU_MODEL, "")], T_MODEL
    for what, more in ledger():
        found.append((what, FLOPS / PEAK * (1 / (t + more) - 1 / t), "clock"))
        t += more
    return [*found, ("attention not counted", (SIX - FLOPS) / (t * PEAK), "count")]


MFU = Exercise(
    id="measuring-mfu-log",
    title="A line of a log",
    points=2,
    prompt="A log says: *step {t:s}*, in the mean of a clean hour, on {n} H100s of {C:FLOP/s} each. A step has {B} "
    "tokens, in sequences of {T}. The model has {P} parameters in its matrices, {L} layers of width {D}, and causal "
    "attention whose kernel skips what is masked; the count takes half of all pairs. Which MFU is that, attention "
    "included, as a share? *Exact* for this count, forward and backward.",
    given=[
        dict(t=8.9, n=512, C=989.4e12, B=4194304, T=8192, P=69.5e9, L=80, D=8192),
        dict(t=6.2, n=64, C=989.4e12, B=4194304, T=8192, P=7.5e9, L=32, D=4096),
        dict(t=16.0, n=256, C=989.4e12, B=4194304, T=16384, P=69.5e9, L=80, D=8192),
        dict(t=13.5, n=64, C=989.4e12, B=8388608, T=12288, P=7.5e9, L=32, D=4096),
    ],
    answer=Quantity("1", rtol=0.01),
    solution=lambda t, n, C, B, T, P, L, D: (6 * P + 6 * L * D * T) * B / (t * n * C),
    mistakes=(
        Mistake(
            lambda t, n, C, B, T, P, L, D: 100 * (6 * P + 6 * L * D * T) * B / (t * n * C),
            'Per cent as a bare number? A share is at most 1, or has its sign: "12 %" is 0.12.',
        ),
        Mistake(
            lambda t, n, C, B, P: 6 * P * B / (t * n * C),
            "That counts the matrices. What does the model do beside them that grows with the length?",
        ),
        Mistake(
            lambda t, n, C, B, T, P, L, D: (6 * P + 12 * L * D * T) * B / (t * n * C),
            "Those are all pairs of tokens. How many of them does a causal mask leave?",
            name="causal-pairs",
        ),
        Mistake(
            lambda t, n, C, B, T, P, L, D: (8 * P + 8 * L * D * T) * B / (t * n * C),
            "With the forward pass twice: that is HFU of a run that recomputes everything. What does the model "
            "require?",
        ),
        Mistake(
            lambda t, n, C, B, T, P, L, D: (6 * P + 6 * L * D * T) * B / (t * n * 2 * C),
            "Is that the peak with sparsity below, or a product and its sum as one operation above? These products are "
            "dense, and each counts as two.",
            names_all=True,
        ),
        Mistake(
            lambda t, n, C, B, T, P, L, D: (6 * P + 2 * L * D * T) * B / (t * n * C),
            "The attention of a forward pass alone. What does the backward pass cost?",
            name="forward-only",
        ),
    ),
    hints=(
        "Six operations for each parameter and token: two forward, four backward.",
        "Scores and values take 4·D operations for each pair of tokens and layer, forward; a token sees T/2 others.",
    ),
    explain="The matrices take 6·P a token. Attention takes two products of width D for each pair, 4·D operations; "
    "a token sees T/2 others in the mean, so that is 2·L·D·T forward and 6·L·D·T with the backward pass. The sum "
    "times {B} tokens, over {t:s} of {n} chips at their dense peak. Neither the recomputed pass nor sparsity "
    "belongs in it.",
)

HFU = Exercise(
    id="measuring-hfu",
    title="From their number to ours",
    points=2,
    prompt="A log prints a utilization `u` that counts what papers counted before 2022: the layers' forward pass, "
    "its backward pass with twice the operations, and a share `r` of the forward pass that is done again; attention "
    "over all pairs. Scores and values of all pairs are the share `a` of a forward pass so counted. Ours counts "
    "neither what is done again nor masked pairs, which are half of all. Which MFU is it? The output matrix is left "
    "out. *Exact*.",
    answer=Expression({"u": positive("1", 0.1, 0.9), "r": positive("1", 0.1, 1), "a": positive("1", 0.01, 0.5)}),
    solution=lambda u, r, a: 3 * u * (1 - a / 2) / (3 + r),
    mistakes=(
        Mistake(
            lambda u, r, a: 3 * u / (3 + r),
            "What is done again is out. Which part of attention does a causal mask take away?",
        ),
        Mistake(
            lambda u, r, a: u * (1 - r / 3) * (1 - a / 2),
            "r is a share of the forward pass; the whole that u counts is longer than three of them.",
        ),
        Mistake(
            lambda u, r, a: 3 * u * (1 - a) / (3 + r),
            "That takes attention away altogether. The mask takes half of it.",
        ),
        Mistake(
            lambda u, r, a: u * (3 + r) * (1 - a / 2) / 3,
            "Upside down: a number that counts more is larger, not smaller.",
        ),
        Mistake(
            lambda u, r, a: u * (3 - a / 2) / (3 + r),
            "The mask shortens your forward pass only. What do scores and values cost in the backward pass?",
            name="forward-only",
        ),
        Mistake(
            lambda u, r, a: 2 * u * (1 - a / 2) / (2 + r),
            "Your backward pass takes as many operations as the forward pass. How many did the prompt give it?",
        ),
        Mistake(lambda u, r, a: 3 * u * (1 - a / 2) / 4, "So it is if all of the forward pass is done again."),
    ),
    hints=(
        "Count in forward passes: how many does u see in a step, and how many does the model require?",
        "In each of the model's three, the part `a` shrinks to half.",
    ),
    explain="In units of a forward pass over all pairs, the log counts 1 + 2 + r. The model requires three, and in "
    "each of them the share a of scores and values is half: 3·(1 − a/2). Time and peak are the same, so the "
    "utilizations are to each other as the operations: u·3·(1 − a/2)/(3 + r).",
)
