"""Exercises of the sections on stages and bubbles, and the names with which the text computes numbers."""

from autograder.answers import Choice, Expression, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.pipeline import (
    bubble_overhead,
    pipeline_bubble_fraction,
)
from hwlib.units import ms

PREDICT_SPLIT = Exercise(
    id="pipeline-parallelism-predict-split",
    title="Predict: four GPUs, one batch",
    predict=True,
    prompt="A model of 32 equal layers takes 1 s for a step on one GPU, forward and backward. You put 8 layers on each "
    "of four GPUs, and the whole batch passes from GPU to GPU, and its gradients back. How long does a step take, "
    "*to first order*, with messages that take no time?",
    answer=Choice({"quarter": "0.25 s", "half": "about half a second", "same": "1 s", "longer": "4 s"}, ordered=True),
    solution="same",
    mistakes=(
        Mistake("quarter", "Each GPU has a quarter of the layers. Which GPU can work while the first one does?"),
        Mistake("half", "Forward and backward both pass all four GPUs. When do two of them work at once?"),
        Mistake("longer", "Is there more to compute than on one GPU?"),
    ),
    hints=("Follow the batch: on which GPU is it at each moment, and what do the others have to work on?",),
    explain="The second GPU needs what the first one gives, so at every moment one GPU works and three wait. The work "
    "is the same as before, done one piece after another.",
)

SLOW_STAGE = Exercise(
    id="pipeline-parallelism-slow-stage",
    title="One slow GPU",
    points=2,
    prompt="A GPipe step on {pp} stages has {m} microbatches. A microbatch takes {t_F:s} forward and {t_B:s} backward "
    "on a stage, but for one stage: its GPU runs at a lower clock and takes {r} times as long for both. "
    "How long is the step? *Exact*, with messages that take no time.",
    given=[
        dict(pp=pp, m=m, t_F=t_F, t_B=2 * t_F, r=r)
        for pp, m, t_F, r in (
            (8, 16, 10 * ms, 1.6),
            (6, 10, 8 * ms, 1.4),
            (4, 8, 15 * ms, 1.6),
            (8, 16, 12 * ms, 1.4),
            (12, 15, 5 * ms, 1.3),
        )
    ],
    answer=Quantity("s"),
    solution=lambda pp, m, t_F, t_B, r: (pp - 1 + m * r) * (t_F + t_B),
    mistakes=(
        Mistake(
            lambda pp, m, t_F, t_B: (m + pp - 1) * (t_F + t_B),
            "That is a pipeline of equal stages. How many microbatches pass the slow one?",
        ),
        Mistake(
            lambda pp, m, t_F, t_B, r: (m + pp - 1) * r * (t_F + t_B),
            "So it is if every GPU is slow. Which of the slots are spent at the other stages?",
        ),
        Mistake(
            lambda pp, m, t_F, t_B, r: (m + pp - 2 + r) * (t_F + t_B),
            "You let one microbatch pass the slow stage. All of them do, one after the other.",
        ),
        Mistake(
            lambda pp, m, t_F, t_B, r: (pp - 1 + m) * t_B + (pp - 1 + m * r) * t_F,
            "Its backward passes are slow too.",
        ),
        Mistake(
            lambda pp, m, t_F, t_B, r: (pp - 1 + m) * t_F + (pp - 1 + m * r) * t_B,
            "Its forward passes are slow too.",
        ),
        Mistake(
            lambda pp, m, t_F, t_B, r: (m + (pp - 1) * r) * (t_F + t_B),
            "Which of the two is slow: the slots in which the slow stage works, or those in which it waits for others?",
        ),
        Mistake(
            lambda pp, m, t_F, t_B, r: (m + pp - 1) * (pp - 1 + r) / pp * (t_F + t_B),
            "That is the mean of the stages. Does a fast stage make up for a slow one?",
            name="mean-for-slowest",
        ),
        Mistake(lambda m, t_F, t_B, r: m * r * (t_F + t_B), "The slow stage works that long. When does it begin?"),
        Mistake(
            lambda pp, m, t_F, t_B, r: (pp + m * r) * (t_F + t_B),
            "Count the stages that a microbatch passes beside the slow one.",
        ),
        Mistake(
            lambda pp, m, t_F, r: (pp - 1 + m * r) * t_F,
            "That is the forward half. What comes back through the stages?",
            name="forward-only",
        ),
    ),
    hints=(
        "How long does the slow stage work, and when can it not: before the first microbatch arrives, and after the "
        "last one has left?",
        "A microbatch passes every other stage once on its way to the slow stage, or once after it.",
    ),
    explain="The slow stage works for `m*r*(t_F + t_B)` and never waits in between, since every other stage delivers "
    "faster than it takes. Before its first microbatch arrives and after its last one has left, forward and then "
    "backward, a microbatch passes each of the other pp − 1 stages once: `(pp - 1)*(t_F + t_B)`. Together "
    "`(pp - 1 + m*r)*(t_F + t_B)`: with {pp} stages and {m} microbatches nearly the whole pipeline runs at the pace "
    "of its slowest stage.",
)

RATE_P, RATE_M = 16, 32

ERRATUM_RATE = Exercise(
    id="pipeline-parallelism-erratum-rate",
    title="Erratum: half of our GPU time?",
    prompt="The README of `sail-sg/zero-bubble-pipeline-parallelism` (at commit 3a91d0c) gives the *bubble rate* of "
    "1F1B as (p − 1)/m. For a run of one chunk a rank on "
    f"{RATE_P} stages with {RATE_M} microbatches somebody puts the numbers in and reports: "
    f"“{bubble_overhead(RATE_P, RATE_M):.1%} of our GPU time is idle; without the bubble a step would take "
    f"{1 - bubble_overhead(RATE_P, RATE_M):.1%} as long.” All stages are equal. What is wrong? *Exact*.",
    answer=Choice(
        {
            "formula": "the README: there is no definition of a bubble by which 1F1B has (p − 1)/m",
            "base": "the report: this rate is relative to the work; relative to the step it is smaller",
            "twice": "the report: forward and backward have a bubble each, so twice as much is idle",
            "schedule": "the README: that is the bubble of GPipe, and 1F1B has a smaller one",
            "nothing": "nothing: both numbers follow",
        }
    ),
    solution="base",
    mistakes=(
        Mistake("formula", "Which time would you have to divide p − 1 slots by to get it?"),
        Mistake("twice", "A slot of this count has the forward and the backward pass of one microbatch."),
        Mistake("schedule", "Play both schedules: when does each of them end?"),
        Mistake("nothing", "Put in more stages than microbatches. Can more than all of the time be idle?"),
    ),
    hints=("Put in p = 16 and m = 8. Which share of a step does the formula then give?",),
    explain=f"A rank works for m slots of a step of m + p − 1. The idle slots are (p − 1)/m of the work, here "
    f"{bubble_overhead(RATE_P, RATE_M):.1%}, and (p − 1)/(m + p − 1) of the step, "
    f"{pipeline_bubble_fraction(RATE_P, RATE_M):.1%}: that is the idle share of the GPU time, and "
    f"{1 - pipeline_bubble_fraction(RATE_P, RATE_M):.1%} of the step would be left. Both definitions are in use; "
    "(p − 1)/m is the one of Narayanan et al.",
)

MICROBATCHES = Exercise(
    id="pipeline-parallelism-microbatches",
    title="How many microbatches?",
    points=2,
    prompt="The ranks of an interleaved pipeline shall be idle for at most a share `phi` of a *step*. With `pp` ranks "
    "and `v` chunks of layers on each, how many microbatches does a step need? *Exact*, as a real number, "
    "for equal stages and messages that take no time.",
    answer=Expression(
        {"pp": integers(2, 64), "v": integers(1, 8), "phi": positive("1", 0.01, 0.6)},
    ),
    solution=lambda pp, v, phi: (pp - 1) * (1 - phi) / (v * phi),
    mistakes=(
        Mistake(
            lambda pp, v, phi: (pp - 1) / (v * phi),
            "That makes the bubble a share phi of the work. Of which time shall it be a share?",
        ),
        Mistake(
            lambda pp, phi: (pp - 1) * (1 - phi) / phi, "So it is with one chunk a rank. How fast does a chunk fill?"
        ),
        Mistake(
            lambda pp, v, phi: v * (pp - 1) * (1 - phi) / phi, "More chunks need fewer microbatches, not more of them."
        ),
        Mistake(lambda pp, v, phi: pp * (1 - phi) / (v * phi), "A rank waits for the other ranks: how many are there?"),
        Mistake(
            lambda pp, v, phi: (v * pp - 1) * (1 - phi) / (v * phi),
            "The pipeline fills in pp − 1 short slots, not in as many as there are chunks.",
        ),
        Mistake(
            lambda pp, v, phi: (pp - 1) * phi / (v * (1 - phi)),
            "With your count the idle share is 1 − phi. Solve for the microbatches once more.",
        ),
    ),
    hints=(
        "In slots of one chunk: how many does a rank work, and how many does it wait?",
        "Set (pp − 1)/(v·m + pp − 1) equal to phi and solve for m.",
    ),
    explain="Count in slots of one chunk. A rank works `v*m` of them and waits `pp - 1`, so the share is "
    "`phi = (pp - 1)/(v*m + pp - 1)`. Turned round, `v*m = (pp - 1)*(1/phi - 1)`, and "
    "`m = (pp - 1)*(1 - phi)/(v*phi)`. Ten per cent take 9 microbatches for each further stage with v = 1, whatever "
    "the model.",
)
