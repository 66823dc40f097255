"""Exercises on two axes at once, and the names with which the text computes numbers."""

from math import floor

from autograder.answers import Choice, Count, Expression, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.formula import sqrt as root
from hwlib.parallel import (
    best_dp,
    best_tp,
    dp_critical_batch,
    mixed_critical_batch,
    mixed_math_time,
    mixed_serial_critical_batch,
    mixed_tp_time,
)
from hwlib.specs import accelerators, models, nodes

H100 = accelerators["h100-sxm"]
V5P = accelerators["tpu-v5p"]
RACK = accelerators["gb200-nvl72"]
NODE = nodes["dgx-h100"]
RING = 2 * V5P.scaleup_link_bandwidth  # B/s of one axis of the torus, both ways around
LLAMA70, LLAMA13 = models["llama3-70b"], models["llama2-13b"]
POD = 8960  # chips of the largest slice
BATCH = 2**22


def torus_batch(F, serial=False):
    """Tokens of a chip: two axes of the torus for weights, one for activations, an MLP of two matrices."""
    bound = mixed_serial_critical_batch if serial else mixed_critical_batch
    return bound(F, V5P.bf16_flops, 2 * RING, RING)


def gated_batch(F):
    """The same bound for an MLP with a gate, which has three matrices."""
    return mixed_critical_batch(F, V5P.bf16_flops, 2 * RING, RING, matrices=3)


FSDP_TORUS = dp_critical_batch(V5P.bf16_flops, 3 * RING)
SPLIT_70B = best_dp(BATCH, LLAMA70.ffn, POD, 2 * RING, RING)
_split = best_dp(BATCH, LLAMA70.ffn, 8192, 2 * RING, RING)
MATH_OVER_AXIS = mixed_math_time(BATCH, LLAMA70.width, LLAMA70.ffn, 8192, V5P.bf16_flops) / mixed_tp_time(
    BATCH, LLAMA70.width, _split, RING
)
RACK_TP = best_tp(64 * 512, LLAMA70.ffn, 64, RACK.scaleup_bandwidth, RACK.scaleup_bandwidth)

PREDICT_DOUBLE = Exercise(
    id="mixed-strategies-predict-double",
    title="Twice the ranks",
    prompt="A job runs FSDP over one axis and tensor parallelism over the other, split in the way that moves the "
    "least. "
    "It gets twice the ranks and twice the batch. How does the best tensor-parallel degree change? Predict, *to first "
    "order*.",
    answer=Choice(
        {
            "twice": "it doubles",
            "root": "it grows by the square root of two",
            "same": "it stays as it is",
            "half": "it falls to half",
        },
        ordered=True,
    ),
    predict=True,
    solution="same",
    mistakes=(
        Mistake("twice", "Then the data axis would not grow at all. What does a rank send on each axis?"),
        Mistake("root", "That is the case of twice the ranks at the same batch. Here a rank keeps its tokens."),
        Mistake("half", "Fewer tensor ranks gather larger weights. Has a rank more tokens than before?"),
    ),
    hints=(
        "Weights move on one axis, activations on the other. Which number decides how large one is beside the other?",
    ),
    explain="Tensor ranks move activations, `B/dp` tokens; data ranks move weights, a `tp`-th of them. They take "
    "equally "
    "long where `tp` times `B/dp`, which is `tp**2` times the tokens of a rank, is a constant of the model's width "
    "and of "
    "the wires. Tokens of a rank have not changed, so neither has the best degree: all the growth goes to the data "
    "axis.",
)

WHOLE_STEP = Exercise(
    id="mixed-strategies-whole-step",
    title="The split of a whole step",
    points=2,
    prompt="The rule above counts a forward pass. In a whole step FSDP gathers the `M` matrices of `D` × `F` "
    "elements, "
    "cut in `tp` parts, twice, and scatters their gradients once; the tensor axis passes the `B/dp` tokens of `D` "
    "elements around five times: three gathers and two scatters. Every element has two bytes, a rank has `W_dp` on "
    "the "
    "data axis and `W_tp` on the tensor axis, and there are `n = dp*tp` ranks. At which `dp` do both axes take "
    "equally "
    "long? *To first order*: count all of an array for a gather or a scatter.",
    answer=Expression(
        {
            "B": positive("1", 1e3, 1e8),
            "F": positive("1", 1e3, 1e5),
            "n": integers(8, 16384),
            "M": integers(2, 3),
            "W_dp": positive("B/s", 1e9, 1e12),
            "W_tp": positive("B/s", 1e9, 1e12),
        }
    ),
    solution=lambda B, F, n, M, W_dp, W_tp: root(5 * B * n * W_dp / (3 * M * F * W_tp)),
    mistakes=(
        Mistake(
            lambda B, F, n, M, W_dp, W_tp: root(2 * B * n * W_dp / (M * F * W_tp)),
            "That is the rule of a forward pass. How often does each array travel in a step?",
        ),
        Mistake(
            lambda B, F, n, M, W_dp, W_tp: root(3 * B * n * W_dp / (5 * M * F * W_tp)),
            "Three passes are those of the weights, five those of the activations. Which side of the equation has "
            "which?",
        ),
        Mistake(
            lambda B, F, n, M, W_dp, W_tp: root(5 * B * n * W_tp / (3 * M * F * W_dp)),
            "A faster data axis can carry larger weights. Does dp grow with its bandwidth, or fall?",
        ),
        Mistake(
            lambda B, F, n, M, W_dp, W_tp: root(3 * M * F * n * W_tp / (5 * B * W_dp)),
            "That is the tensor-parallel degree that goes with it.",
        ),
        Mistake(
            lambda B, F, n, M, W_dp, W_tp: 5 * B * n * W_dp / (3 * M * F * W_tp),
            "dp is on both sides, in tp = n/dp as well. Which power of it is this?",
        ),
        Mistake(
            lambda B, F, n, M, W_dp, W_tp: root(5 * B * n * W_dp / (2 * M * F * W_tp)),
            "The weights are gathered in both passes, and then their gradients travel too.",
        ),
    ),
    hints=(
        "Write both times with tp = n/dp. What has each in its denominator?",
        "The data axis: 3·M·2·D·F/(tp·W_dp). The tensor axis: five times its array.",
    ),
    explain="The data axis takes `3*M*2*D*F*dp/(n*W_dp)`, which grows with dp; the tensor axis `5*2*B*D/(dp*W_tp)`, "
    "which "
    "falls. D and the two bytes cancel: `dp**2 = 5*B*n*W_dp/(3*M*F*W_tp)`. Beside the forward pass alone the root has "
    "5/3 where that has 2, so a whole step wants a data axis that is shorter by a factor of √(5/6), some nine per "
    "cent: "
    "the rule of the forward pass is good enough.",
)

FACTOR_FOUR = Exercise(
    id="mixed-strategies-factor-four",
    title="Erratum: 453 tokens or 113",
    points=2,
    prompt="For Llama 3 70B on TPU v5p, *How to Scale Your Model* said in February 2025 that FSDP and tensor "
    "parallelism "
    "together hide from 2·2550²/F = 453 tokens of a chip on; today's edition says 2550²/(2F) = 113. The first adds "
    "the "
    "times of the two axes, the second takes the longer one. On which machine is the *older* number's assumption the "
    "right one, even if all software overlaps as well as it can? *To first order*.",
    answer=Choice(
        {
            "rack": "64 GPUs of one NVL72, where both axes use the GPU's own NVLink port",
            "torus": "a torus of TPUs, where each of the two axes has cables of its own",
            "node": "H100 nodes, tensor ranks on the node's NVLink and data ranks on the cards",
            "none": "none: two transfers that overlap always take as long as the longer one",
            "all": "all: what is overlapped must still be sent, so the times add",
        }
    ),
    solution="rack",
    mistakes=(
        Mistake("torus", "Do gathers on one axis of a torus use the cables of another?"),
        Mistake("node", "What carries the tensor ranks' bytes there, and what those of the data ranks?"),
        Mistake("none", "Over one wire both are there to be sent. When is the last byte of the two through?"),
        Mistake("all", "Two wires carry two transfers at the same time. Which machines have two?"),
    ),
    hints=(
        "Overlap hides waiting. Can it make a port carry more bytes in a second?",
        "For each machine: which wires does each axis use? Are they the same?",
    ),
    explain="Both numbers are right, each for its wires. With wires of their own the two axes can move at once, and "
    "the "
    "step waits for the longer: at the best split both are equal, and the bound is `b²C²/(2·M·F·W_dp·W_tp)`. Over "
    "one port "
    "their bytes add up, whatever overlaps: twice the time at the best split, and because the time goes with the "
    "root of "
    "the tokens, four times the bound. On a torus and on nodes with cards the axes have wires of their own; within an "
    "NVLink domain they share a port.",
)

PODS = Exercise(
    id="mixed-strategies-pods",
    title="How many pods",
    points=2,
    prompt="*How to Scale Your Model* asks, without an answer, how to train a model on four pods of {chips} TPU v5p "
    "with the batch of one. A model has an MLP of width F = {F}, counted as two matrices as in the book, and a step "
    "{B} tokens. Pods are replicas of each other; within a pod a chip of {C:FLOP/s} has FSDP on two axes of its "
    "torus "
    "and tensor parallelism on the third, with {W:B/s} on each axis, at the best split, and all transfers at once. On "
    "how many pods at most does the arithmetic of a forward pass take at least as long as either axis? *Exact*, in "
    "whole pods.",
    given=[
        dict(chips=POD, C=V5P.bf16_flops, W=RING, F=F, B=B)
        for F, B in ((53248, 2**23), (28672, 2**22), (28672, 2**23), (20480, 2**22), (14336, 2**24))
    ],
    answer=Count(of="pod"),
    solution=lambda chips, C, W, F, B: floor(B / (chips * mixed_critical_batch(F, C, 2 * W, W))),
    mistakes=(
        Mistake(
            lambda chips, C, W, F, B: floor(B / (chips * 4 * mixed_critical_batch(F, C, 2 * W, W))),
            "You ask for four times the tokens: do the two axes wait for each other, "
            "or is half of an axis's bandwidth missing?",
            names_all=True,
        ),
        Mistake(
            lambda chips, C, W, F, B: floor(B / (chips * mixed_critical_batch(F, C, W, W))),
            "FSDP has two axes of the torus. What is its bandwidth?",
        ),
        Mistake(
            lambda chips, C, W, F, B: floor(B / (chips * dp_critical_batch(C, 3 * W))),
            "That is FSDP alone on three axes. What does a tensor axis buy?",
        ),
        Mistake(
            lambda chips, C, W, F, B: floor(B / (chips * mixed_critical_batch(F, C, 2 * W, W))) + 1,
            "On so many pods a chip has fewer tokens than hide the transfers.",
        ),
        Mistake(
            lambda chips, C, W, F, B: floor(B / mixed_critical_batch(F, C, 2 * W, W)),
            "That is a number of chips. How many has a pod?",
        ),
        Mistake(
            lambda chips, C, W, F, B: floor(B / (chips * mixed_critical_batch(F, C, 2 * W, W, matrices=3))),
            "Either an MLP is counted with a gate, as three matrices, or FSDP has all three axes of the torus beside "
            "the tensor axis. Which of the two is yours? The prompt has neither.",
            names_all=True,
        ),
    ),
    hints=(
        "How many tokens of a chip hide both axes at the best split?",
        "All pods share the batch: how many tokens has a chip on k pods?",
    ),
    harmless={},
    explain="At the best split both axes hide from `C²/(F·2W·W)` tokens of a chip on; that is 2550²/(2F) with the "
    "v5p's "
    "numbers. k pods leave `B/(k·chips)` tokens to a chip, and k is the largest whole number that keeps to the "
    "bound. With "
    "4 Mi tokens and Llama 3 70B's width a chip has 117 tokens on four pods and needs 113: the book's four pods are "
    "just "
    "the most that hide. Between the pods data parallelism needs 73,440 tokens a pod, of which there are plenty.",
)
