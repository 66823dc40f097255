"""Reports that people posted, to be read: a training log, and a table of throughputs."""

from autograder.answers import Choice, Quantity
from autograder.declaration import Exercise, Mistake
from hwlib.pipeline import pipeline_bubble_fraction

READ_LOG = Exercise(
    id="pipeline-parallelism-read-log",
    title="Sixteen stages, two sequences",
    points=2,
    prompt="torchtitan trains Llama 3 70B on {pp} GPUs of two nodes as a pipeline of as many stages, a stage on each "
    "GPU; rank 0 prints (pytorch/torchtitan, issue 1232, May 2025):\n\n"
    "```text\n"
    "Trainer is initialized with local batch size 2, global batch size 2, sequence length 4096\n"
    "step:  2  loss: -1.0000  memory: 42.78GiB(54.06%)  tps: 8  tflops: 1.81  mfu: 0.58%\n"
    "step:  3  loss: -1.0000  memory: 42.78GiB(54.06%)  tps: 8  tflops: 1.81  mfu: 0.58%\n"
    "```\n\n"
    "The loss is the last stage's, and rank 0 has none to print. Each of the {m} sequences is a microbatch, the best "
    "that this batch allows. What would the MFU be without the bubble? *To first order*: equal stages, one chunk each, "
    "and all else as it is.",
    given=[dict(pp=16, m=2, mfu=0.0058)],
    answer=Quantity("1", rtol=0.01),
    solution=lambda pp, m, mfu: mfu / (1 - pipeline_bubble_fraction(pp, m)),
    mistakes=(
        Mistake(
            lambda pp, m, mfu: 100 * mfu / (1 - pipeline_bubble_fraction(pp, m)),
            'Per cent as a bare number? A share is at most 1, or has its sign: "12 %" is 0.12.',
        ),
        Mistake(lambda mfu: mfu, "That is the log's own, with the bubble in it."),
        Mistake(
            lambda pp, mfu: mfu * pp,
            "So it is if one stage works at a time. How many slots has a step in which one microbatch follows "
            "the other?",
        ),
        Mistake(
            lambda pp, m, mfu: mfu * pp / m,
            "A step has more slots than stages: the last microbatch sets out after the first.",
        ),
        Mistake(
            lambda pp, m, mfu: mfu / pipeline_bubble_fraction(pp, m),
            "You divide by the share in which a stage waits. In which share does it work?",
        ),
        Mistake(
            lambda pp, m: pipeline_bubble_fraction(pp, m),
            "That is the bubble, as a share of the step. What becomes of the MFU without it?",
        ),
        Mistake(
            lambda pp, m, mfu: mfu * (pp - 1) / m,
            "That is the bubble relative to the work. The step is the work and the bubble.",
        ),
    ),
    hints=(
        "Of how many slots is a step, and in how many of them does a stage work?",
        "The MFU is proportional to the share of the time in which a stage works. What is that share now, and without "
        "a bubble?",
    ),
    explain="A step has m + p − 1 slots, of which a stage works in m = {m}: "
    f"{1 - pipeline_bubble_fraction(16, 2):.1%} of the time. Without the bubble the MFU would be `(m + p - 1)/m` "
    f"times as high, {0.0058 / (1 - pipeline_bubble_fraction(16, 2)):.1%}. That is still little: the bubble is the "
    "largest loss in this log and not the only one. A microbatch of one sequence and the messages between the nodes "
    "are candidates. `gpubook explain-run` takes the gap apart once it is told the model, the machine and the plan, "
    "which the log does not print.",
)

READ_FLAT = Exercise(
    id="pipeline-parallelism-read-flat",
    title="More microbatches, no faster",
    prompt="A mixture of experts with 6.1 billion parameters on eight H100s, in JAX: one Python program starts each "
    "stage's forward and backward pass of each microbatch of four sequences, in GPipe's order "
    "(marin-community/marin, issue 6532, June 2026).\n\n"
    "| plan | microbatches | tokens/s | bubble |\n|:--|--:|--:|--:|\n"
    "| FSDP | | 57,056 | |\n| 8 stages | 8 | 8,077 | 47 % |\n| 8 stages | 16 | 7,987 | 30 % |\n"
    "| 4 stages, 2 replicas | 8 | 12,150 | 27 % |\n\n"
    "Which cause goes with *all* rows, *to first order*?",
    answer=Choice(
        {
            "bubble": "the bubble: with still more microbatches the stages would be busy",
            "starts": "each start of a stage's pass costs its own time, one after the other, whatever the stages do",
            "last": "the last stage has the output layer, and all others wait for it",
            "fsdp": "the sums of the gradients, which FSDP hides and a pipeline does not",
            "memory": "the activations of GPipe, which fill the memory",
        }
    ),
    solution="starts",
    mistakes=(
        Mistake(
            "bubble", "From the second row to the third the bubble shrinks. By how much should the rate have grown?"
        ),
        Mistake("last", "Then each further microbatch takes the slow stage's time, and the bubble still counts once."),
        Mistake("fsdp", "Eight stages on eight GPUs are one replica. With whom would it add up its gradients?"),
        Mistake("memory", "Full memory ends a run, and does not slow it. What grows with microbatches times stages?"),
    ),
    hints=(
        "If stages only waited for each other, the rate would go as one minus the bubble. What would the third row be?",
        "Tokens grow with the microbatches. What must the time be proportional to, for the rate to stand still?",
    ),
    explain="By the bubble alone, 16 microbatches would bring "
    f"{8077 * (1 - pipeline_bubble_fraction(8, 16)) / (1 - pipeline_bubble_fraction(8, 8)):,.0f} tokens/s, "
    f"{(1 - pipeline_bubble_fraction(8, 16)) / (1 - pipeline_bubble_fraction(8, 8)) - 1:.0%} more than 8 do. The rate "
    "stands still, so the time of a step is proportional to the microbatches, as if nothing ran beside anything "
    "else. Starts that follow one another do that: there are m·p of them, twice each. With half the stages there are "
    f"half as many for a token, and the rate is {12150 / 8077:.2f} times as high, on the way to 2. The authors name "
    "small kernels, the host and the transfers; a schedule without a bubble mends none of these. In a trace "
    "`gpubook trace` tells idle time that waits for a launch from idle time that waits for a rank.",
)
