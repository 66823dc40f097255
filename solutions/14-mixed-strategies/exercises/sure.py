"""Exercises on searching for a plan and on how sure the answer is, and the names with which the text computes "
"numbers."""

from functools import cache
from typing import NamedTuple

from autograder.answers import Choice, Function, Written
from autograder.declaration import Exercise, Mistake
from hwlib.planner import pairs, retrodicted, share_right
from hwlib.planner.advice import tolerance
from hwlib.specs import measured_mixtures, stacks

VTRAIN, BLOOM = measured_mixtures("vtrain"), measured_mixtures("bloom-chronicles")
BY_NAME = {run.run: run for run in VTRAIN}
FOUR, EIGHT = BY_NAME["vtrain-multi-0051"], BY_NAME["vtrain-multi-0061"]  # TP 4 PP 8 and TP 8 PP 4
TEAM = BY_NAME["vtrain-multi-0053"]  # TP 8 PP 2, which the ticket's team runs
VTRAIN_STACK = stacks[EIGHT.stack]
JOB = [run for run in VTRAIN if run.job == EIGHT.job]
EDGES = (0, 0.02, 0.05, 0.1, 0.2, 0.5, 9)


@cache
def predicted(run):
    """Seconds of a step by the model, for a measured run."""
    return float(retrodicted(run).total)


GAP = predicted(FOUR) / predicted(EIGHT) - 1
REAL_GAP = FOUR.time / EIGHT.time - 1
CLOSE = tolerance(VTRAIN_STACK.error)
PAIRS, BLOOM_PAIRS = pairs(VTRAIN), pairs(BLOOM)
RIGHT = share_right(PAIRS, EDGES)
BLOOM_RIGHT = share_right(BLOOM_PAIRS, EDGES)
COARSE = share_right(PAIRS, (0, CLOSE, VTRAIN_STACK.error, 0.2, 9))
JOB_PAIRS = pairs(JOB)
OTHER_PAIRS = pairs([run for run in VTRAIN if run.job != EIGHT.job])
OTHER_RIGHT = share_right(OTHER_PAIRS, EDGES)
OTHER_WRONG_ABOVE = sum(pair.gap >= 0.2 and not pair.right for pair in OTHER_PAIRS)
LIST = sorted(JOB, key=predicted)  # what a planner would print of the measured plans
ERRORS = {run: predicted(run) / run.time - 1 for run in JOB}


class Gap(NamedTuple):
    """By how much TP 4 PP 8 is the quicker one by the model, and the slower one by the clock."""

    said: float
    measured: float


def equal_microbatches():
    """The gap between the two pairs of degrees, for each microbatch with which both were measured."""
    runs = {(run.tp, run.pp, run.micro): run for run in JOB}
    gaps = {}
    for micro in sorted(run.micro for run in JOB if (run.tp, run.pp) == (FOUR.tp, FOUR.pp)):
        four, eight = runs[FOUR.tp, FOUR.pp, micro], runs.get((EIGHT.tp, EIGHT.pp, micro))
        if eight:
            gaps[micro] = Gap(predicted(eight) / predicted(four) - 1, four.time / eight.time - 1)
    return gaps


EQUAL = equal_microbatches()
FOUR_AT_2 = next(run for run in JOB if (run.tp, run.pp, run.micro) == (FOUR.tp, FOUR.pp, EIGHT.micro))


def errors_of(tp):
    """The signed errors of the job's runs with so many tensor ranks."""
    return [ERRORS[run] for run in JOB if run.tp == tp]


def late(run):
    """How much longer a run took than the model says, as a share."""
    return run.time / predicted(run) - 1


FOURS_SLOW = sum(run.tp == 4 and late(run) > VTRAIN_STACK.error for run in JOB)
UNTRIED = min((run._replace(micro=1) for run in JOB), key=predicted)


def says(tp, pp, micro):
    """Seconds by the model of a plan of the job that need not have been measured."""
    return float(step_said(tp, pp, micro).total)


def bubble(tp, pp, micro):
    """Seconds of the bubble in such a plan, by the model."""
    return float(step_said(tp, pp, micro).bubble)


def step_said(tp, pp, micro):
    return retrodicted(EIGHT, tp=tp, pp=pp, dp=EIGHT.gpus // (tp * pp), micro=micro)


PREDICT_PAIR = Exercise(
    id="mixed-strategies-predict-pair",
    title="The two plans, measured",
    prompt="Both plans of the opening question were run, and their steps measured: TP 4 PP 8 with microbatches of "
    f"{FOUR.micro} sequences, TP 8 PP 4 with {EIGHT.micro}. The model puts them {GAP:.1%} apart. Predict what the "
    "clock said, *to first order*.",
    answer=Choice(
        {
            "same": "they took the same time, within two per cent",
            "four": "TP 4 PP 8 was quicker by more than ten per cent",
            "little": "TP 8 PP 4 was quicker by some five per cent",
            "eight": "TP 8 PP 4 was quicker by more than ten per cent",
        }
    ),
    predict=True,
    solution="eight",
    mistakes=(
        Mistake("same", "That is what the model says. How large is its error on such runs?"),
        Mistake("four", "A plan with the longer bubble and the shorter tensor axis: it could have been."),
        Mistake("little", "A gap of this kind is common among plans that the model cannot tell apart."),
    ),
    hints=("What does a prediction of the same time mean if the model errs by several per cent?",),
    explain=f"TP 4 PP 8 took {FOUR.time:.2f} s, TP 8 PP 4 {EIGHT.time:.2f} s: {REAL_GAP:.0%} apart, where the model "
    f"saw {GAP:.1%}. It is off by {ERRORS[FOUR]:+.0%} for the first and by {ERRORS[EIGHT]:+.1%} for the second. That "
    "two predictions are equal says nothing of two steps, as long as each may be off by so much. The clock compared "
    "two plans, not two pairs of degrees. With equal microbatches TP 4 PP 8 was the slower one too, by "
    f"{EQUAL[2].measured:.0%} with 2 for both and by {EQUAL[4].measured:.0%} with 4, where the model calls it quicker "
    f"by {EQUAL[2].said:.1%} and {EQUAL[4].said:.1%}.",
)


GUIDE = Exercise(
    id="mixed-strategies-guide",
    title="It fits on one GPU",
    prompt="A course on GPUs says: *does the model fit on a single GPU? If yes, start with data parallelism.* Your "
    "model is of the shape of Llama 3 8B, and with ZeRO-1 its states and activations of one sequence fit. You have 256 "
    "H100s in nodes of eight, and a batch of 128 sequences of 8,192 tokens, which must not grow. Which plan is the "
    "quickest? *To first order*.",
    answer=Choice(
        {
            "data": "data parallelism alone, as the course says",
            "shard": "data parallelism with everything sharded over all 256 GPUs, FSDP",
            "tensor": "two tensor ranks, 128 replicas",
            "wide": "eight tensor ranks, 32 replicas of four sequences each",
            "stages": "two stages, 128 replicas",
        }
    ),
    solution="tensor",
    mistakes=(
        Mistake("data", "How many sequences has each of 256 replicas?"),
        Mistake("shard", "Sharding weights divides memory. Does it divide a sequence?"),
        Mistake("wide", "It uses all GPUs. What do the activations of four sequences cost on eight ranks, and on two?"),
        Mistake("stages", "How many microbatches has a replica, and what does the other stage do meanwhile?"),
    ),
    hints=(
        "Count sequences and GPUs first.",
        "Two GPUs must share a sequence. Which way of sharing keeps both at work, and sends the least?",
    ),
    explain="128 sequences are fewer than 256 GPUs, so replicas alone leave half of them idle; memory was the wrong "
    "question. Two GPUs share a sequence: as two stages with one microbatch each of them waits half the time; as two "
    "tensor ranks they work side by side, and 4,096 tokens a GPU still hide the gradients. Eight tensor ranks send "
    "four "
    "times the tokens over seven eighths of the array instead of a half. The planner says 0.45 s for two tensor ranks, "
    "0.62 s for eight and 0.88 s for two stages.",
)


def latency(times, gpus, m, send, worth=None, powers=True, everyone=True, each=True, several=True):
    """The least sum of the stages' times and m - 1 times the longest, over all cuts and all powers of two of GPUs. The
    flags are for the mistakes: any number of GPUs, some of them idle, a message for a stage, or on a single GPU too.
    """
    counts = [2**k for k in range(gpus.bit_length()) if 2**k <= gpus] if powers else range(1, gpus + 1)

    def messages(layers, d):
        return (layers if each else 1) * (d > 1 or not several)

    def stages(first, left):
        if first == len(times):
            return [[]] if not (left and everyone) else []
        return [
            [(sum(times[first:last]) / d + send * messages(last - first, d)), *rest]
            for last in range(first + 1, len(times) + 1)
            for d in counts
            if d <= left
            for rest in stages(last, left - d)
        ]

    return min((worth or (lambda cut: sum(cut) + (m - 1) * max(cut)))(cut) for cut in stages(0, gpus))


def best_latency(times, gpus, m, send):
    return latency(times, gpus, m, send)


def any_number(times, gpus, m, send):
    return latency(times, gpus, m, send, powers=False)


def some_idle(times, gpus, m, send):
    return latency(times, gpus, m, send, everyone=False)


def once_a_stage(times, gpus, m, send):
    return latency(times, gpus, m, send, each=False)


def single_sends(times, gpus, m, send):
    return latency(times, gpus, m, send, several=False)


def no_pipeline(times, gpus, m, send):
    return latency(times, gpus, m, send, worth=sum)


def slowest_alone(times, gpus, m, send):
    return latency(times, gpus, m, send, worth=lambda cut: m * max(cut))


def one_too_many(times, gpus, m, send):
    return latency(times, gpus, m, send, worth=lambda cut: sum(cut) + m * max(cut))


def free_messages(times, gpus, m, send):
    return latency(times, gpus, m, 0 * send)


def one_stage(times, gpus, m, send):
    return m * (sum(times) / gpus + send * len(times) * (gpus > 1))


def alike(times, gpus, m, send):
    """The best grid: equal numbers of layers and GPUs a stage; where none is possible, a single stage."""
    best = []
    for n in range(1, min(gpus, len(times)) + 1):
        if len(times) % n or gpus % n:
            continue
        per, d = len(times) // n, gpus // n
        cut = [sum(times[i * per : (i + 1) * per]) / d + send * per * (d > 1) for i in range(n)]
        best.append(sum(cut) + (m - 1) * max(cut))
    return min(best)


def some_layers(random):
    """Four cases: up to seven layers, one of them long, and up to eight GPUs."""
    found = []
    for _ in range(4):
        times = [random.randint(2, 9) for _ in range(random.randint(4, 7))]
        times[random.randrange(len(times))] += random.randint(8, 30)
        found.append((times, random.choice([4, 8]), random.randint(2, 16), random.choice([0.25, 0.5, 1.0])))
    return found


LAB_STAGES = Exercise(
    id="mixed-strategies-lab-stages",
    title="Lab: a compiler's stages",
    points=4,
    lines=12,
    prompt="Write the outer search of Alpa. `times` are the seconds of the layers, in order, on one GPU. Cut them "
    "into "
    "stages of consecutive layers, at least one each, and give each stage 1, 2, 4, ... GPUs, so that all `gpus` are "
    "used. "
    "A stage of some layers on d GPUs takes the sum of their times divided by d and, if d is more than 1, `send` "
    "for each "
    "of its layers. A step of `m` microbatches takes the sum of the stages' times and m − 1 times the longest of "
    "them. "
    "Return the least time of a step. There are at most eight layers and eight GPUs. *Exact*.",
    answer=Function(
        "best_latency",
        "best_latency(times, gpus, m, send)",
        cases=[
            ([4, 4, 4, 4], 4, 8, 0.5),
            ([2, 2, 2, 20], 4, 8, 0.5),
            ([5, 3, 3, 3, 9], 8, 4, 1.0),
            ([6, 6], 2, 1, 0.5),
            ([3, 8, 2, 2, 5, 12], 8, 16, 0.25),
            ([7], 4, 3, 0.5),
            ([3, 2], 8, 2, 6.0),
            ([4, 9], 1, 3, 0.5),
            ([5, 4, 11], 3, 4, 0.5),
            ([9, 1, 1, 1, 1, 1], 4, 2, 0.5),
        ],
        drawn=some_layers,
        unit="s",
        rtol=1e-9,
    ),
    solution=best_latency,
    mistakes=(
        Mistake(no_pipeline, "So long does the first microbatch take. What do the other m − 1 wait for?"),
        Mistake(slowest_alone, "The slowest stage sets the pace, and the pipeline must be filled once as well."),
        Mistake(one_too_many, "The first microbatch has been through the slowest stage already."),
        Mistake(free_messages, "A stage on several GPUs sends something for each of its layers."),
        Mistake(one_stage, "That is a single stage on all GPUs, without a pipeline."),
        Mistake(any_number, "Your stages have any number of GPUs. Which numbers may a stage have?"),
        Mistake(some_idle, "Some of the GPUs are idle in your best cut. How many of them are to be used?"),
        Mistake(once_a_stage, "You add `send` once for a stage. How often does a stage of several layers send?"),
        Mistake(single_sends, "You add `send` for a stage on a single GPU, too. With whom would that one talk?"),
        Mistake(alike, "Stages may differ, in layers and in GPUs: what if one layer is longer than the others?"),
    ),
    hints=(
        "A recursion over the first stage: how many layers, on how many GPUs? The rest is the same question, smaller.",
        "The longest stage is known only at the end, so carry the stages' times along, or the longest so far.",
    ),
    explain="Try every first stage: `last - first` layers on d GPUs, then the rest of the layers on the rest of the "
    "GPUs. A "
    "complete cut has the time `sum + (m - 1)*max`. With eight layers and eight GPUs there are some thousands of "
    "cuts, so "
    "trying all is quick. For a real model Alpa fixes the longest stage first, which makes the sum a dynamic "
    "programme, and "
    "tries the possible longest stages one after the other; and it groups operators to layers beforehand.",
)

FIRST, SECOND, THIRD = LIST[0], LIST[1], LIST[3]  # the ticket's plans, each the quickest of its degrees by the model
DAYS = 42  # of the ticket's job that are left


def saved(time):
    """Days that a plan of so many seconds a step saves the ticket's team."""
    return DAYS * (1 - time / TEAM.time)


TICKET = Exercise(
    id="mixed-strategies-ticket",
    title="Answer the ticket",
    prompt=f"*“For the 39B model on {TEAM.gpus} A100 our planner finds TP {FIRST.tp} PP {FIRST.pp} with "
    f"{predicted(FIRST):.1f} s a step, TP {SECOND.tp} PP {SECOND.pp} with {predicted(SECOND):.1f} s and TP {THIRD.tp} "
    f"PP {THIRD.pp} with {predicted(THIRD):.1f} s. The team has run TP {TEAM.tp} PP {TEAM.pp} for a month, "
    f"{TEAM.time:.1f} s. I want to restart with the first of them tonight: over the remaining six weeks that is "
    f"{saved(predicted(FIRST)):.1f} days saved. The planner's error is {VTRAIN_STACK.error:.0%}, I know, but that is "
    "on both sides.”* Write the answer: what speaks for the plan, what against it, and what you would do first.",
    answer=Written(
        rubric=(
            (
                "The best of many predictions is likely one that errs on the quick side, so the error is not on "
                "both sides",
                2,
            ),
            (
                "Uses what is known of errors by kind of plan: all with two tensor ranks and many with four were "
                "slower than predicted",
                1,
            ),
            ("Compares the cost of a test, some steps of each plan, with what is at stake, in numbers", 1),
            ("A decision, with the measurement that would change it", 1),
        ),
        words=200,
        criteria=False,
    ),
    solution="No restart tonight, but a test. The planner looked at many plans and took the lowest of their "
    "predictions, so each of the three is likely predicted too quick: the error is on one side. "
    f"The measured runs of this model say the same: all with tp = 2 were predicted {-max(errors_of(2)):.0%} to "
    f"{-min(errors_of(2)):.0%} too quick, {FOURS_SLOW} of {len(errors_of(4))} with tp = 4 by more than the mean error "
    f"and the others nearly right, and those with tp = 8 to within {max(map(abs, errors_of(8))):.0%}, so our "
    f"{TEAM.time:.1f} s is sound and the others are not. A gap of a tenth to a fifth was in the right order in "
    f"{RIGHT[0.1, 0.2][1]:.0%} of the pairs of this software. What speaks for the first plan is its gap and the runs "
    "with tp = 4 that were predicted well. A test is cheap: twenty steps of each plan on the same nodes are some "
    f"twenty minutes of {TEAM.gpus} GPUs, beside the restarts; {saved(predicted(FIRST)):.1f} days are hundreds of "
    "times as much. So: at the next checkpoint, twenty steps of each of the three and of ours. We change to the "
    "quickest if its step is below 14.5 s, and record all four so that the planner knows them.",
)
