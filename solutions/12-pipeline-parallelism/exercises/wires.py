"""Exercises of the section on what a hop sends, the lab on ranks, and names with which the text computes numbers."""

from autograder.answers import Expression, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB

FSDP_RATIO = Exercise(
    id="pipeline-parallelism-fsdp-ratio",
    title="Weights or activations",
    points=3,
    prompt="`n` GPUs train a model of `L` layers with `12*D**2` weights each on `B` tokens a step; all that is sent "
    "has "
    "two bytes an element. Either FSDP: each GPU sends (n − 1)/n of the bytes of all weights in the forward pass, as "
    "many in the backward pass, and (n − 1)/n of the bytes of all gradients. Or a pipeline of n stages, one "
    "chunk of layers each: a stage in the middle sends the activations of all `B` tokens, `D` elements a token, to the "
    "next stage, and the gradients of as many to the one before. How many times as many bytes does a GPU send with "
    "FSDP? *Exact* for this count.",
    answer=Expression(
        {"n": integers(2, 256), "L": positive("1", 8, 200), "D": positive("1", 512, 32768), "B": positive("token")},
    ),
    solution=lambda n, L, D, B: 18 * L * D * (n - 1) / (n * B),
    mistakes=(
        Mistake(
            lambda n, L, D, B: 6 * L * D * (n - 1) / (n * B),
            "That is one of FSDP's three transfers. When does it send the others?",
        ),
        Mistake(
            lambda n, L, D, B: 12 * L * D * (n - 1) / (n * B),
            "Two of FSDP's transfers for both of the pipeline's, or one for one. Count a whole step of each: which "
            "passes "
            "gather weights, and what happens to the gradients?",
        ),
        Mistake(
            lambda n, L, D, B: 36 * L * D * (n - 1) / (n * B),
            "The pipeline's bytes are half of what they should be. How many neighbours has a stage in the middle, and "
            "how "
            "many bytes an element?",
            name="half-an-all-reduce",
        ),
        Mistake(
            lambda L, D, B: 18 * L * D / B, "Right for many GPUs. Which part of a weight does a GPU not have to send?"
        ),
        Mistake(
            lambda n, L, D, B: 18 * L * D * (n - 1) / B,
            "Every stage sees the tokens of the whole batch, not an n-th of them.",
        ),
        Mistake(
            lambda n, L, D, B: n * B / (18 * L * D * (n - 1)),
            "Upside down: that is how many times as much the pipeline sends.",
            name="upside-down",
        ),
        Mistake(
            lambda n, L, D, B: 18 * L * D * (n - 1) / (n**2 * B),
            "A GPU holds an n-th of the weights and sends nearly all of them: it passes on those of the others.",
        ),
    ),
    hints=(
        "FSDP: bytes of all weights, times (n − 1)/n, times how many transfers?",
        "The pipeline: tokens, times D elements, times two bytes, times how many neighbours?",
    ),
    explain="The weights have `2*12*L*D**2` bytes. FSDP gathers them twice and scatters as many bytes of gradients: "
    "`3*(n - 1)/n*24*L*D**2`. A stage sends `2*B*D` bytes forward and as many back: `4*B*D`. The ratio is "
    "`18*L*D*(n - 1)/(n*B)`. Weights do not depend on the batch, and activations do not depend on the depth: with few "
    "tokens a step, or many layers, the pipeline sends less, and from about 18·L·D tokens on FSDP does.",
)

ZERO3 = Exercise(
    id="pipeline-parallelism-zero3",
    title="ZeRO-3 under a pipeline",
    points=2,
    prompt="The layers of one rank of a pipeline have {P:param} in all. {dp} replicas of the pipeline keep them "
    "by ZeRO-3, each a shard, one {dp}-th of them: before each pass of each microbatch, forward and backward, the "
    "weights are gathered whole, and after each backward pass the gradients are reduce-scattered, all in two bytes. A "
    "gather or a scatter moves (n − 1)/n of the whole array through a GPU's port, n the replicas. A step has {m} "
    "microbatches. For how long does the port, {W:B/s} one way, send in a step? "
    "*Exact*, bandwidth only.",
    given=[
        dict(P=P * 1e9, dp=dp, m=m, W=W * GB)
        for P, dp, m, W in ((3.2, 8, 16, 50), (2.2, 4, 32, 50), (4.4, 8, 24, 25), (1.1, 16, 64, 100), (3.2, 6, 12, 50))
    ],
    answer=Quantity("s"),
    solution=lambda P, dp, m, W: 3 * m * (dp - 1) / dp * 2 * P / W,
    mistakes=(
        Mistake(
            lambda P, dp, W: 3 * (dp - 1) / dp * 2 * P / W,
            "That is a step of one microbatch. When are the gathered weights of a stage freed?",
        ),
        Mistake(
            lambda P, dp, m, W: (2 * m + 1) * (dp - 1) / dp * 2 * P / W,
            "The gradients are scattered after every microbatch here, not once a step.",
        ),
        Mistake(
            lambda P, dp, m, W: 2 * m * (dp - 1) / dp * 2 * P / W,
            "Two transfers for each microbatch are there. Count again: two gathers, and what for the gradients?",
        ),
        Mistake(
            lambda P, m, W: 3 * m * 2 * P / W,
            "To first order. A rank has its own share of each array already.",
            name="own-share",
        ),
        Mistake(
            lambda P, dp, m, W: 3 * m * (dp - 1) / dp * P / W,
            "Half of it: an element has two bytes, and the bandwidth is that of one way.",
            names_all=True,
        ),
        Mistake(
            lambda P, dp, m, W: 3 * m * 2 * P / (dp * W),
            "That is the rank's own share. What passes its port is the rest.",
        ),
        Mistake(
            lambda P, dp, m, W: 4 * m * (dp - 1) / dp * 2 * P / W,
            "You have four transfers of two bytes for each microbatch. The gradients are scattered, not all-reduced, "
            "and "
            "have two bytes as well.",
        ),
        Mistake(
            lambda P, dp, m, W: m * (dp - 1) / dp * 2 * P / W,
            "That is one transfer for each microbatch. How many passes has it, and what becomes of its gradients?",
        ),
        Mistake(
            lambda P, dp, m, W: (m + 2) * (dp - 1) / dp * 2 * P / W,
            "That gathers the weights twice a step. They are gathered before each pass of each microbatch.",
        ),
        Mistake(
            lambda P, dp, m, W: 3 * m * dp * 2 * P / W,
            "The parameters in the prompt are those of all shards together. Which part of them has to come in?",
        ),
    ),
    hints=(
        "How many gathers and scatters belong to one microbatch?",
        "The microbatches of a step pass one after another, and the weights are freed in between.",
    ),
    explain="One microbatch takes a gather before its forward pass, one before its backward pass, and a scatter after "
    "it: `3*(dp - 1)/dp*2*P/W`. Nothing is kept from one microbatch to the next, so a step takes {m} times that. "
    "ZeRO-1 would scatter once and gather once, two transfers a step instead of 3·{m}. Kept gathered for the "
    "whole step, the weights would be sent once, and then their memory is not saved either: this is why pipelines go "
    "with ZeRO-1 or ZeRO-2.",
)
