"""The last two exercises of the book: a run of one's own, and what would prove its plan wrong."""

from math import erfc, sqrt

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par, Written
from autograder.declaration import Exercise, Mistake
from hwlib.footprint import footprint
from hwlib.planner import machine_of
from hwlib.planner.allowed import even_chunks
from hwlib.specs import framework_of, models, nodes, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count, step_flops

LENGTH, CHIPS, UNSEEN = 8192, 8, 0.045
DAY, HOUR, ZETTA = 86400.0, 3600.0, 1e21
RUNS = {
    "Llama 3 8B": "llama3-8b", "Qwen3 32B": "qwen3-32b", "Llama 3 70B": "llama3-70b", "Llama 3 405B": "llama3-405b",
}  # fmt: skip
MACHINES = {
    "A100": ("dgx-a100", "megatron-2022-a100", 1.0),
    "H100": ("dgx-h100", "megatron-core-h100", 2.5),
    "B200": ("dgx-b200", "megatron-core-b200", 6.0),
}  # a node, the software, dollars for a GPU and hour

# Read once, when this file is: not with every record.
SHAPES = {name: models[key] for name, key in RUNS.items()}
SIZES = {name: parameter_count(shape) for name, shape in SHAPES.items()}
STACKS = {name: stacks[stack] for name, (_, stack, _) in MACHINES.items()}
FRAMEWORKS = {name: framework_of(stack) for name, stack in STACKS.items()}
LEVELS = {name: machine_of(f"1024 x {node}").levels for name, (node, _, _) in MACHINES.items()}
CHIP = {name: nodes[node].chip for name, (node, _, _) in MACHINES.items()}
GPU_HOURS = 54 * 24 * 16384 / 419  # of one GPU between two interruptions, as Llama 3's were


def plan_of(model, count, tp, pp, v, micro, sequences, recompute):
    """The strategy of a record, with ZeRO-1; ValueError where nothing of the kind can be run."""
    gpus, shape = CHIPS * count, SHAPES[model]
    if tp not in (1, 2, 4, 8):
        raise ValueError(f"tp = {tp} does not divide a node of {CHIPS}")
    if gpus % (tp * pp):
        raise ValueError(f"tp·pp = {tp * pp} does not divide the {gpus:,} GPUs")
    dp = gpus // (tp * pp)
    if sequences % (dp * micro):
        raise ValueError(f"dp·micro = {dp * micro:,} does not divide {sequences:,} sequences")
    if pp > shape.layers or not even_chunks(shape.layers, pp, v):
        raise ValueError(f"{shape.layers} layers do not make pp·v = {pp * v} equal chunks, even with both ends empty")
    if v > 1 and (pp == 1 or sequences // (dp * micro) % pp):
        raise ValueError("chunks need a pipeline, and microbatches in multiples of pp")
    return Strategy(dp=dp, tp=tp, pp=pp, v=v, micro=micro, zero=1, recompute=recompute)


def seconds(model, machine, count, tp, pp, v, micro, sequences, recompute):
    plan = plan_of(model, count, tp, pp, v, micro, sequences, recompute)
    B = sequences * LENGTH
    return step_time(SHAPES[model], STACKS[machine], LEVELS[machine], plan, B=B, T=LENGTH)


def held(model, machine, count, tp, pp, v, micro, sequences, recompute):
    """Share of the chip's memory on its sheet that the fullest GPU holds, by what it holds."""
    plan = plan_of(model, count, tp, pp, v, micro, sequences, recompute)
    m = sequences // (plan.dp * micro)
    found = footprint(SHAPES[model], plan, T=LENGTH, m=m, framework=FRAMEWORKS[machine])
    room = CHIP[machine].hbm_bytes
    total, states = float(found.total) / room, float(found.states) / room
    return Breakdown(total, {"states": states, "activations and all else": total - states})


def steps_of(tokens, sequences):
    return tokens / (sequences * LENGTH)


def mtbf_of(count):
    return GPU_HOURS * HOUR / (CHIPS * count)


def save_of(model, count):
    """Seconds in which each node writes its part of 14 bytes a parameter, at 2 GB/s."""
    return 14 * SIZES[model] / (count * 2e9)


def shares(model, count, interval):
    """What is lost to checkpoints, to work done again, and to restarts of ten minutes, to first order."""
    mtbf = mtbf_of(count)
    return save_of(model, count) / interval, interval / 2 / mtbf, 600 / mtbf


def training(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute):
    """Seconds in which the run trains."""
    step = seconds(model, machine, count, tp, pp, v, micro, sequences, recompute)
    return float(step.total) * steps_of(tokens, sequences)


def wall(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval):
    """Days, failures included, and the model's error on runs that it has not seen."""
    left = 1 - sum(shares(model, count, interval))
    if left <= 0:
        raise ValueError("failures and checkpoints take all of the time")
    return training(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute) / left * (1 + UNSEEN) / DAY


def money(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval):
    """Dollars of the run, the model's error included."""
    days = wall(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval)
    return days * 24 * CHIPS * count * MACHINES[machine][2]


def price(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval):
    """Dollars for 10²¹ operations of the model, by what the time was spent on."""
    step = seconds(model, machine, count, tp, pp, v, micro, sequences, recompute)
    cost = money(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval)
    flops = float(step_flops(SHAPES[model], sequences * LENGTH, LENGTH))
    each = cost / (flops * steps_of(tokens, sequences) / ZETTA)
    good = (1 - sum(shares(model, count, interval))) / (1 + UNSEEN)
    at_peak = flops / (CHIPS * count * CHIP[machine].bf16_flops)
    share = {
        "arithmetic at the peak": at_peak, "arithmetic below the peak": float(step.compute) - at_peak,
        "recomputing": float(step.recomputed), "bubble": float(step.bubble),
        "waits for transfers": float(step.tp + step.pp + step.dp + step.cp + step.ep),
        "optimizer and the rest": float(step.optimizer + step.other),
    }  # fmt: skip
    parts = {name: each * good * t / float(step.total) for name, t in share.items()}
    return Breakdown(each, parts | {"failures, checkpoints, the model's error": each * (1 - good)})


def late(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, days):
    """The probability that failures make it later than the deadline: their number as a normal law."""
    work = training(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute) * (1 + UNSEEN)
    work *= 1 + save_of(model, count) / interval
    mean = days * DAY / mtbf_of(count)
    bearable = (days * DAY - work) / (interval / 2 + 600)
    return 0.5 * erfc((bearable - mean) / sqrt(2 * mean))


def over_deadline(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, days):
    return wall(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval) / days


def under_deadline(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, days):
    return 1 / over_deadline(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, days)


def over_budget(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, budget):
    return money(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval) / budget


def under_budget(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, budget):
    return 1 / over_budget(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, budget)


LONGEST, TOO_MUCH, RISK = 120, 1.25, 0.05  # days; a deadline or budget over what the model says; a probability
COUNTS = {"Llama 3 8B": (16,), "Qwen3 32B": (16, 32), "Llama 3 70B": (64, 128), "Llama 3 405B": (512, 1024)}
SPLITS = ((1, 1), (2, 1), (1, 4), (2, 2), (2, 4), (4, 1), (4, 2), (4, 4), (4, 8), (8, 8), (8, 16))


def search():
    """The least price over every model and machine, a few sizes, and plans of powers of two: (price, record)."""
    found = (float("inf"), {})
    for model, counts in COUNTS.items():
        for machine in MACHINES:
            for tp, pp in SPLITS:
                for v in (1, 2, 4, 5, 8, 10, 16) if pp > 1 else (1,):
                    for count in counts:
                        one = dict(
                            model=model, machine=machine, count=count, tp=tp, pp=pp, v=v, micro=1, sequences=1024,
                            recompute="none",
                        )  # fmt: skip
                        found = min(found, tried(one), key=lambda pair: pair[0])
    return found


def tried(one):
    """The price of a plan at Young's interval, infinite where it does not fit or cannot be."""
    count, model = one["count"], one["model"]
    try:
        if held(**one).total > 1:
            return float("inf"), {}
        tokens = max(20 * SIZES[model], 10000 * one["sequences"] * LENGTH)
        whole = one | dict(tokens=tokens, interval=sqrt(2 * save_of(model, count) * mtbf_of(count)))
        return (price(**whole).total if wall(**whole) < LONGEST else float("inf")), whole
    except ValueError:
        return float("inf"), {}


def best_price():
    return search()[0]


def promised(record, slack=1.05):
    """The record with a deadline and a budget a little above what the model says."""
    names = {k: x for k, x in record.items() if k not in ("days", "budget")}
    return names | dict(days=round(slack * wall(**names), 2), budget=round(slack * money(**names)))


BEST = dict(
    model="Llama 3 70B", machine="H100", tokens=1.42e12, count=64, tp=4, pp=4, v=10, micro=1, sequences=1024,
    recompute="none", interval=2400,
)  # fmt: skip

RUN = Exercise(
    id="measuring-own-run",
    title="A run of your own",
    points=5,
    lines=14,
    prompt="The last plan of this book is yours. Choose a model, how many tokens it reads, a machine and its size, "
    "the plan, and the interval between checkpoints; state the deadline in days and the budget that you would sign. "
    "Sequences have 8,192 tokens, in bfloat16, with ZeRO-1 and 1F1B. In dollars for a GPU and hour, prices of this "
    "exercise alone, an A100 costs {a100}, an H100 {h100} and a B200 {b200}; nodes have eight GPUs, and a network "
    "passes on all that they send.\n\nSteps are timed by `hwlib.steptime.step_time` with the stacks "
    "`megatron-2022-a100`, `megatron-core-h100` or "
    '`megatron-core-b200` on the levels of `machine_of("1024 x dgx-h100")` of `hwlib.planner` (or `dgx-a100`, '
    "`dgx-b200`); bytes are those of `hwlib.footprint.footprint` with the stack's framework, and the fullest GPU "
    "may hold what its sheet says. Each GPU stops the run once in 54·16,384/419 days, as Llama 3's did, and a "
    "restart takes 600 s. A checkpoint has 14 bytes a parameter, of which every node writes its part at 2 GB/s "
    "while the run waits. Lost shares add up, as in this chapter. Time and money have 4.5 % on top, the model's "
    "error on dense runs that it has not seen. Failures in the time until your deadline vary as a Poisson law does "
    "(reckoned as a normal one), each costs half an interval and a restart, and with a probability of at most 5 % "
    "they make the run late.\n\nA run is at least 20 tokens for each parameter and 10,000 steps long; deadline and "
    "budget are what the model says or up to a quarter more. The fewer dollars you pay for 10²¹ of the model's "
    "operations, the better, whichever run you choose: the best runs of each machine cost about the same. *Exact* "
    "for these models.",
    given=[dict(a100=1.0, h100=2.5, b200=6.0)],
    answer=Design(
        fields={
            "model": Field("the model", options=tuple(RUNS)),
            "machine": Field("the GPUs", options=tuple(MACHINES)),
            "tokens": Field("tokens of the whole run", 1e11, 1e14, unit="token"),
            "count": Field("nodes of eight GPUs", 16, 1024, whole=True),
            "tp": Field("tensor ranks", 1, 8, whole=True),
            "pp": Field("stages", 1, 64, whole=True),
            "v": Field("chunks of layers on a rank", 1, 20, whole=True),
            "micro": Field("sequences of a microbatch", 1, 16, whole=True),
            "sequences": Field("sequences of a step", 64, 4096, whole=True),
            "recompute": Field("what is recomputed", options=("none", "selective", "full")),
            "interval": Field("training between two checkpoints", 30, 86400, unit="s"),
            "days": Field("the deadline that you state", 1, LONGEST),
            "budget": Field("the budget that you state", 1e4, 1e10, unit="USD"),
        },
        objective=price,
        measure="the dollars for 10²¹ operations of the model",
        unit="USD",
        conditions=[
            Condition("the share of its memory that the fullest GPU holds", held, at_most=1.0),
            Condition("tokens for each parameter", lambda model, tokens: tokens / SIZES[model], at_least=20),
            Condition("steps of the run", steps_of, at_least=10000),
            Condition("the days of the model over your deadline", over_deadline, at_most=1.0),
            Condition("your deadline over the days of the model", under_deadline, at_most=TOO_MUCH),
            Condition("the money of the model over your budget", over_budget, at_most=1.0),
            Condition("your budget over the money of the model", under_budget, at_most=TOO_MUCH),
            Condition("the probability that failures alone make it late", late, at_most=RISK),
        ],
        pars=[
            Par(1, lambda best: 2 * best),
            Par(2, lambda best: 1.4 * best),
            Par(3, lambda best: 1.2 * best),
            Par(4, lambda best: 1.1 * best),
            Par(5, lambda best: 1.06 * best),
        ],
        known=[Known(best_price, "a search over every model, machine and a few sizes")],
    ),
    solution=promised(BEST),
    mistakes=(
        Mistake(
            promised(BEST) | dict(interval=86400.0),
            "A checkpoint once a day. How often does a machine of that size stop, and what of your deadline is left?",
        ),
        Mistake(
            promised(BEST) | dict(tp=1, pp=1, v=1),
            "Every GPU holds the whole model. Does it?",
        ),
        Mistake(
            promised(BEST) | dict(days=100.0, budget=promised(BEST)["budget"] * 2),
            "Nobody lends a machine for a promise with that much room in it. State what you expect, and a margin.",
        ),
    ),
    hints=(
        "Begin with a plan that fits, from chapter 14: tensor ranks inside the node, stages for the states, chunks "
        "for the bubble. `held`, in the condition, says what is too large.",
        "The bubble shrinks with more microbatches on a replica: more sequences in a step, or fewer replicas.",
        "Young's interval first; then the deadline: the days of the model, and a margin that failures rarely use up.",
    ),
    explain="The price is rent over achieved rate: at the peak an H100 does 10²¹ operations for 702 dollars. The "
    "rest is what this book is about. Computing takes nearly twice the time of the peak, attention and all that "
    "only moves bytes included; waits for tensor ranks and the bubble take a twentieth, and failures with the "
    "model's own error as much. Eight billion parameters and four hundred billion cost nearly the same for each "
    "operation, if each has the machine that suits it; what differs is how many plans come near. Fewer GPUs are a "
    "little cheaper for each operation, until the deadline.",
)

PROOF = Exercise(
    id="measuring-own-proof",
    title="What would prove your plan wrong?",
    prompt="Before the money is spent, you may use 16 of the GPUs for one day. Take your plan of the exercise "
    "before. Write down three numbers that the plan rests on, each with the value that the model expects; for each "
    "the measurement that tests it, with the tool, what is synchronised, how many warm-up and counted steps, and "
    "what it includes; the result from which on the plan is wrong, and what you would do then. Say which number you "
    "could not test on 16 GPUs, and how you would notice in the first hour of the run. The time of a "
    "tensor-parallel layer forward and backward against the same layer on one GPU is one such measurement; a memory "
    "peak, a collective between nodes and a checkpoint are others.",
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
    solution="Plan: Llama 3 70B on 512 H100s, tp 4, pp 4, ten chunks, 1,024 sequences a step. (1) A layer on four "
    "tensor ranks, forward and backward: 20 warm-up and 100 counted repetitions, CUDA events around each, the "
    "median; expected is the model's time of a layer, launches excluded because the host runs ahead, which the "
    "trace must show. The same layer on one GPU, cut to a quarter, tells sums from products. If it takes 10 % more, "
    "the days exceed the deadline: first look at the clock and the power, then at bus bandwidth by nccl-tests; if "
    "both are as expected, tp 2 with recomputation is priced again. (2) Memory: `max_memory_allocated` after three "
    "steps of a stage of 20 layers with the microbatches in flight of the first stage; expected are 98.5 % of 80 GB "
    "by the model, and the run does not start above 99.5 %, for fragmentation grows: then selective recomputation. "
    "(3) A checkpoint of 14 bytes a parameter from two nodes: its share at 2 GB/s a node; twice the time costs only "
    "the square root, but moves the interval, so I would take it. Not testable: sums among 32 replicas on a shared "
    "network, and failures. In the first hour I compare the exposed time of the gradients' collectives in a trace "
    "of ten steps with the model's, and the slowest rank's compute time with the median; if sums are exposed for "
    "more than 3 % of a step, or one rank is 3 % slow, I stop and mend before the day is spent. A loss curve that "
    "leaves that of a run on one node from the same seed and data would show a silent error.",
)
