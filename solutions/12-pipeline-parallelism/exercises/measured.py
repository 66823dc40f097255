"""Exercises of the sections on uneven stages and on measurements, and names with which the text computes numbers."""

from math import ceil

from autograder.answers import Expression, Quantity, Written, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.formula import sqrt as root
from hwlib.specs import measured_pipelines
from hwlib.units import ms

BLOOM = measured_pipelines("Megatron-DeepSpeed")
SHOWN = [run for run in BLOOM if run.layers == 72 and run.pp == 12]
UNSEEN = [run for run in BLOOM if run not in SHOWN]
TITAN = measured_pipelines("torchtitan")


def best_turn(L, pp, t_layer, head):
    """The time of the slowest stage if the last one has fewer layers, and the others as equal numbers as can be."""
    turns = [sorted((-(-(L - last) // (pp - 1)), last + head)) for last in range(1, L - pp + 2)]
    return sorted(longer for _, longer in turns)[0] * t_layer


UNEVEN = Exercise(
    id="pipeline-parallelism-uneven",
    title="Where the head goes",
    points=2,
    prompt="A model has {L} equal layers, {t_layer:s} each for forward and backward of a microbatch, and an output "
    "layer with the loss that takes as long as {head} layers. There are {pp} stages, and the output layer stands on "
    "the "
    "last one, after that stage's own layers. Each stage has a whole number of layers, at least one, and you choose "
    "how many. How long does the slowest stage take for a "
    "microbatch, at best? *Exact*.",
    given=[
        dict(L=L, pp=pp, t_layer=t * ms, head=head)
        for L, pp, t, head in ((60, 4, 12, 4.6), (61, 6, 15, 5.6), (90, 8, 9, 6.5), (76, 8, 20, 4.4), (45, 4, 25, 3.4))
    ],
    answer=Quantity("s"),
    solution=best_turn,
    mistakes=(
        Mistake(
            lambda L, pp, t_layer, head: (-(-L // pp) + head) * t_layer,
            "So long does the last stage take with as many layers as the others. Need it have as many?",
        ),
        Mistake(
            lambda L, pp, t_layer, head: (L + head) / pp * t_layer,
            "That is about the mean over the stages, or a stage that is not the slowest: can a stage have a part of a "
            "layer, "
            "and for which stage do the others wait?",
            name="mean-for-slowest",
        ),
        Mistake(
            lambda L, pp, t_layer, head: ceil((L + head) / pp) * t_layer,
            "You round the mean over the stages up to whole layers. Is the output layer as long as a whole number of "
            "them?",
            name="rounded",
        ),
        Mistake(
            lambda L, pp, t_layer: -(-L // pp) * t_layer,
            "The output layer takes time as well, and what it displaces goes to other stages.",
            names_all=True,
        ),
        Mistake(
            lambda L, pp, t_layer: -(-L // (pp - 1)) * t_layer,
            "How many layers has the last stage beside the output layer, and how long does "
            "it take with them? Compare it with the others.",
        ),
        Mistake(
            lambda L, t_layer, head: (L + head) / L * t_layer,
            "That is the time of one layer with its part of the output layer. How many layers has the slowest stage?",
        ),
        Mistake(
            lambda L, pp, head: best_turn(L, pp, 1, head),
            "That is a number of layers. How long does one take?",
        ),
        Mistake(
            lambda L, pp, t_layer, head: (L + head) * t_layer,
            "So long does a microbatch take through all stages. How long is it on the slowest of them?",
        ),
    ),
    hints=(
        "Give the last stage x layers. How long does it take, and how long the fullest of the others?",
        "Which x makes the longer of the two shortest? The layers of the others are whole numbers.",
    ),
    explain="With x layers on the last stage it takes `(x + head)*t_layer`; the others share {L} − x layers, of which "
    "the fullest has the next whole number from ({L} − x)/({pp} − 1) on. One grows with x, the other falls: the best "
    "x "
    "is where they cross, and the answer the larger of the two there. With equal numbers of layers everybody would "
    "wait for the last stage at every microbatch.",
)

MICRO_SIZE = Exercise(
    id="pipeline-parallelism-micro-size",
    title="The best microbatch",
    points=3,
    prompt="A replica has `N` sequences a step, cut into microbatches of `b` sequences. A stage takes `t_0 + b*t_1` "
    "for "
    "forward and backward of one: a fixed time for launches and small kernels, and a time for each sequence. There "
    "are `pp` equal stages and one chunk a rank. Which b makes the step shortest? *Exact*, as a real number; messages "
    "take no time.",
    answer=Expression(
        {
            "N": positive("1", 16, 4096),
            "pp": integers(2, 64),
            "t_0": positive("s", 1e-4, 1),
            "t_1": positive("s", 1e-4, 1),
        },
    ),
    solution=lambda N, pp, t_0, t_1: root(N * t_0 / ((pp - 1) * t_1)),
    mistakes=(
        Mistake(
            lambda N, pp, t_0, t_1: root(N * t_0 / (pp * t_1)),
            "In how many slots does a rank wait? The step has N/b of them with work.",
        ),
        Mistake(
            lambda N, pp, t_0, t_1: N * t_0 / ((pp - 1) * t_1),
            "The terms with b and with 1/b are right. Where is the sum of the two smallest?",
        ),
        Mistake(
            lambda N, pp, t_0, t_1: root((pp - 1) * t_1 / (N * t_0)),
            "Upside down: should more sequences make microbatches smaller?",
            name="upside-down",
        ),
        Mistake(
            lambda N, pp, t_0, t_1: root(N * t_1 / ((pp - 1) * t_0)),
            "The longer the fixed time, the larger the microbatch should be that it is spread over.",
        ),
        Mistake(lambda N, pp: N / (pp - 1), "That leaves the stage's times out. What does a smaller microbatch cost?"),
        Mistake(
            lambda t_0, t_1: t_0 / t_1,
            "There half of a stage's time is fixed. What does a larger microbatch cost the whole pipeline?",
        ),
        Mistake(
            lambda N, pp, t_0, t_1: root(N * (pp - 1) * t_1 / t_0),
            "So many microbatches are best. How many sequences has each of them?",
        ),
    ),
    hints=(
        "Write the step as slots times the time of a slot, with m = N/b, and multiply out.",
        "Four terms: one falls with b, one grows with it, two do not depend on it.",
    ),
    explain="The step is `(N/b + pp - 1)*(t_0 + b*t_1) = N*t_1 + (pp - 1)*t_0 + N*t_0/b + (pp - 1)*b*t_1`. Only the "
    "last two terms depend on b: `N*t_0/b`, the fixed time paid for every microbatch, and `(pp - 1)*b*t_1`, the "
    "bubble "
    "that grows with the microbatch. Their sum is smallest where they are equal: `b**2 = N*t_0/((pp - 1)*t_1)`.",
)

TICKET = Exercise(
    id="pipeline-parallelism-ticket",
    title="Answer the ticket",
    prompt="*“64 GPUs, tensor parallel 8 within the node, 8 stages of one chunk across nodes, 1F1B, 16 microbatches "
    "of "
    "one sequence. Stage 0 is at 96 % of its memory, stage 7 at 50 %. The profiler says that GPUs wait for 35 % of "
    "the "
    "step. Three proposals: (a) four chunks a rank, interleaved; (b) ZeRO-3 instead of ZeRO-1, to make room, with "
    "twice the nodes; (c) 32 microbatches, by doubling the global batch. Which do we take?”* Judge each, with "
    "numbers.",
    answer=Written(
        rubric=(
            ("Compares the measured waiting with the bubble of equal stages, as a share of the step", 1),
            ("(a): the smaller bubble, and what it does to the memory of stage 0, as numbers", 1),
            ("(b): what ZeRO-3 sends for each microbatch, and that it does not touch the activations", 1),
            ("(c): the smaller bubble, the same memory, and what the larger batch costs", 1),
            ("A decision that fits in memory, or a further proposal for stage 0", 1),
        ),
        words=180,
        criteria=False,
    ),
    solution="Eight stages and 16 microbatches have a bubble of 7/23 = 30 % of the step, so nearly all of the 35 % is "
    "the schedule; the rest may be uneven stages or messages. (a) Four chunks bring it to 7/71 = 10 %, but stage 0 "
    "then keeps 8 + 7/4 = 9.75 microbatches instead of 8, a fifth more activations, which 96 % does not allow; and "
    "each rank sends four times as many messages. (b) Stage 0 is full of activations, which ZeRO does not divide. It "
    "would gather the weights twice and scatter gradients once for each microbatch, 48 transfers a step instead of "
    "two; ZeRO-1 over twice the replicas makes some room already. (c) 7/39 = 18 %, at the memory of today, since 1F1B "
    "keeps eight microbatches whatever their number; but the batch is twice as large, and whether training still "
    "profits is another question. So: (a), with room made on stage 0 first, by recomputing its activations or by "
    "giving it fewer layers; or ZB-H1, which keeps stage 0 at eight microbatches and cuts the bubble to about a "
    "third.",
)
