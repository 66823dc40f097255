"""The last exercise of the book: what would prove the plan wrong. Its model answer is computed from the plan."""

from itertools import takewhile

from autograder.answers import Written
from autograder.declaration import Exercise
from hwlib.footprint import footprint

from .own import (
    BEST,
    CHIP,
    CHIPS,
    FRAMEWORKS,
    LENGTH,
    RISK,
    SHAPES,
    UNSEEN,
    held,
    late,
    money,
    plan_in,
    plan_of,
    promised,
    save_of,
    seconds,
    wall,
)

# What would prove that plan wrong: one replica of it is 16 GPUs, so all but its neighbours can be tried.
STEP = seconds(**plan_in(BEST))
PROMISE = promised(BEST)
ALONE = float(STEP.total) - float(STEP.dp) - float(STEP.optimizer)
PLAN_DP = CHIPS * BEST["count"] // (BEST["tp"] * BEST["pp"])
MICROBATCHES = BEST["sequences"] // PLAN_DP
FULLEST = footprint(
    SHAPES[BEST["model"]],
    plan_of(**{k: x for k, x in plan_in(BEST).items() if k != "machine"}),
    T=LENGTH,
    m=MICROBATCHES,
    framework=FRAMEWORKS["H100"],
)
STATES, ROOM = float(FULLEST.optimizer), CHIP["H100"].hbm_bytes
STATELESS, FULL = float(FULLEST.total) - STATES, 0.97 * ROOM - STATES
WRITING = save_of(BEST["model"], BEST["count"])
LARGER = BEST | dict(count=640, sequences=1280)
DEEPER = BEST | dict(count=768, sequences=1536, pp=8)
DEEPER_HELD = held(**plan_in(DEEPER)).total * ROOM
DEEPER_MORE = money(**DEEPER) / money(**BEST) - 1


def bearable(name, steps=1000):
    """How many times longer steps or checkpoints may take before the promise is no longer kept."""
    names = {k: x for k, x in PROMISE.items() if k != "budget"}
    times = (1 + k / steps for k in range(10 * steps))
    return max(takewhile(lambda x: late(**names, **{name: x}) <= RISK, times))


# The promise holds the model's error already, so a step may be longer by that as well.
SLOWEST = ALONE + float(STEP.total) * ((1 + UNSEEN) * bearable("longer") - 1)
LONGEST_WRITING = WRITING * bearable("slower", 10)


PROOF = Exercise(
    id="measuring-own-proof",
    title="What would prove your plan wrong?",
    prompt="Before the money is spent, you may use 16 of the GPUs for one day. Take your plan of the exercise "
    "before. Write down three numbers that the plan rests on, each with the value that the model expects; for each "
    "the measurement that tests it, with the tool, what is synchronised, how many warm-up and counted steps, and "
    "what it includes; the result from which on the plan is wrong, and what you would do then. Say which number you "
    "could not test on 16 GPUs, and how you would notice in the first hour of the run. The time of a "
    "tensor-parallel layer forward and backward against the same layer on one GPU is one such measurement; a memory "
    "peak, a collective between nodes, a whole replica and a checkpoint are others. Points are for the expected values "
    "with their units, for measurements that could come out otherwise, for thresholds that follow from deadline, "
    "budget or memory, for decisions, and for what a small test cannot show.",
    answer=Written(
        rubric=(
            ("Three numbers on which the plan rests, with the expected value and its unit", 1),
            (
                "Each has a measurement that could come out otherwise: tool, synchronisation, warm-up, what is "
                "included",
                1,
            ),
            ("Each has a threshold that was fixed beforehand and follows from deadline, budget or memory", 1),
            ("Each failure leads to a decision: another degree, fewer tokens, another machine, no run", 1),
            ("One number that a small test cannot show, and a signal of the first hour that would", 1),
        ),
        words=300,
        criteria=False,
    ),
    solution=f"Plan: Llama 3 70B on {BEST['count']} nodes of H100s, tp 4, pp 4, ten chunks, {BEST['sequences']:,} "
    f"sequences a step. One replica is 16 GPUs, so I run one: {MICROBATCHES} microbatches, plain SGD, because "
    "alone its "
    f"optimizer states would not be divided by {PLAN_DP}. (1) Its step: 20 warm-up steps and 100 counted, CUDA events "
    "around each, one synchronisation at the end, the median; with sums among tensor ranks, sends and the "
    f"bubble, without optimizer and sums of gradients. Expected {ALONE:.2f} s. The deadline bears the model's "
    "error and a "
    f"little more: above {SLOWEST:.2f} s the plan is wrong. Then clocks and power, bus bandwidth by nccl-tests; "
    f"if both are fine, {LARGER['count']} nodes (by the model {wall(**LARGER):.0f} days instead of "
    f"{wall(**BEST):.0f}) and the budget is asked for anew. (2) `max_memory_allocated` and `memory_reserved` on "
    "the first "
    f"stage, after those steps. Expected {STATELESS / 1e9:.1f} GB, and in the run {STATES / 1e9:.1f} GB of "
    "states more. "
    f"Above {FULL / 1e9:.1f} GB, 97 % of the sheet less those states, it does not start: eight stages hold "
    f"{DEEPER_HELD / 1e9:.0f} GB, on {DEEPER['count']} nodes for {DEEPER_MORE:.0%} more money, or no run. "
    f"(3) A checkpoint: each of the two nodes writes {WRITING * 2:.1f} GB, flushed to the storage, "
    f"host clock, ten times, the slowest. Expected {WRITING:.2f} s. Above {LONGEST_WRITING:.1f} s the deadline is not "
    "kept: then copies to memory first, written while the run goes on. Not testable: storage under "
    f"{BEST['count']} nodes at once, sums among {PLAN_DP} replicas, failures. In the first hour: the median step, "
    f"expected {float(STEP.total):.2f} s; of it {float(STEP.dp) * 1e3:.0f} ms exposed sums of gradients, in a trace of "
    "ten steps; the slowest rank's compute time, within 3 % of the median; a dozen checkpoints. "
    f"If sums are exposed for more than {(float(STEP.dp) + SLOWEST - ALONE) * 1e3:.0f} ms, which the deadline bears, I "
    "stop and mend the network.",
)
