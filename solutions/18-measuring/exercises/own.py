"""The last plan of the book: a run of one's own."""

from functools import cache
from itertools import product
from math import erfc, sqrt

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.constraints import MICROBATCH, PIPELINE, SHAPE, Setting, broken
from hwlib.footprint import footprint
from hwlib.planner import machine_of
from hwlib.specs import framework_of, models, nodes, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.training import young_interval
from hwlib.transformer import parameter_count, step_flops

LENGTH, CHIPS, UNSEEN, MOST_SEQUENCES = 8192, 8, 0.045, 2048
DAY, HOUR, ZETTA = 86400.0, 3600.0, 1e21
WORK, LONGEST = 1e25, 60  # operations of the model in the whole run, and the days in which they are to be done
RUNS = {
    "Llama 3 8B": "llama3-8b",
    "Qwen3 32B": "qwen3-32b",
    "Llama 3 70B": "llama3-70b",
    "Llama 3 405B": "llama3-405b",
}
MACHINES = {
    "A100": ("dgx-a100", "megatron-2022-a100", 1.0),
    "H100": ("dgx-h100", "megatron-core-h100", 2.5),
    "B200": ("dgx-b200", "megatron-core-b200", 6.5),
}  # a node, the software, dollars for a GPU and hour

# Read once, when this file is: not with every record.
SHAPES = {name: models[key] for name, key in RUNS.items()}
SIZES = {name: parameter_count(shape) for name, shape in SHAPES.items()}
STACKS = {name: stacks[stack] for name, (_, stack, _) in MACHINES.items()}
FRAMEWORKS = {name: framework_of(stack) for name, stack in STACKS.items()}
LEVELS = {name: machine_of(f"1024 x {node}").levels for name, (node, _, _) in MACHINES.items()}
CHIP = {name: nodes[node].chip for name, (node, _, _) in MACHINES.items()}
RULES = (*SHAPE, MICROBATCH, *PIPELINE)
REST = "failures, checkpoints, the model's error"
GPU_HOURS = 54 * 24 * 16384 / 419  # of one GPU between two interruptions, as Llama 3's were


def plan_of(model, count, tp, pp, v, micro, sequences, recompute):
    """The strategy of a record, with ZeRO-1; ValueError where nothing of the kind can be run."""
    gpus, shape = CHIPS * count, SHAPES[model]
    if tp not in (1, 2, 4, 8):
        raise ValueError(f"tp = {tp} does not divide a node of {CHIPS}")
    if gpus % (tp * pp):
        raise ValueError(f"tp·pp = {tp * pp} does not divide the {gpus:,} GPUs")
    dp = gpus // (tp * pp)
    strategy = Strategy(dp=dp, tp=tp, pp=pp, v=v, micro=micro, zero=1, recompute=recompute)
    setting = Setting(shape, gpus, LENGTH, sequences)
    if rule := broken(setting, strategy, RULES):
        raise ValueError(rule.sentence(setting, strategy))
    return strategy


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


def work_of(model, tokens, sequences):
    """Operations that the model requires in the whole run."""
    return float(step_flops(SHAPES[model], sequences * LENGTH, LENGTH)) * steps_of(tokens, sequences)


def mtbf_of(count):
    return GPU_HOURS * HOUR / (CHIPS * count)


def save_of(model, count):
    """Seconds in which each node writes its part of 14 bytes a parameter, at 2 GB/s."""
    return 14 * SIZES[model] / (count * 2e9)


def shares(model, count, interval):
    """What is lost to checkpoints, to work done again, and to restarts of ten minutes, to first order."""
    mtbf = mtbf_of(count)
    return save_of(model, count) / interval, interval / 2 / mtbf, 600 / mtbf


def interval_of(model, count):
    """Young's interval of this run."""
    return float(young_interval(save_of(model, count), mtbf_of(count)))


def over_least(model, count, interval):
    """What the interval decides about, checkpoints and work done again, over the least that it can be."""
    return sum(shares(model, count, interval)[:2]) / sum(shares(model, count, interval_of(model, count))[:2])


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
        "arithmetic at the peak": at_peak,
        "arithmetic below the peak": float(step.compute) - at_peak,
        "recomputing": float(step.recomputed),
        "bubble": float(step.bubble),
        "waits for transfers": float(step.tp + step.pp + step.dp + step.cp + step.ep),
        "optimizer and the rest": float(step.optimizer + step.other),
    }
    parts = {name: each * good * t / float(step.total) for name, t in share.items()}
    return Breakdown(each, parts | {REST: each * (1 - good)})


def late(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, days, longer=1, slower=1):
    """The probability that failures make it later than the deadline: their number as a normal law. With steps and
    checkpoints that take so many times what they should, it is what a measurement would make of the promise."""
    work = longer * training(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute) * (1 + UNSEEN)
    work *= 1 + slower * save_of(model, count) / interval
    mean = days * DAY / mtbf_of(count)
    bearable = (days * DAY - work) / (interval / 2 + 600)
    return 0.5 * erfc((bearable - mean) / sqrt(2 * mean))


def under_deadline(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, days):
    return days / wall(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval)


def over_budget(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, budget):
    return money(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval) / budget


def under_budget(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, budget):
    return 1 / over_budget(model, machine, tokens, count, tp, pp, v, micro, sequences, recompute, interval, budget)


TOO_MUCH, RISK, FLAT = 1.02, 0.05, 1.05  # over what the model says; a probability; over the least loss
SEARCHED = (
    ("Llama 3 405B", "B200", range(208, 337, 16), (4, 8), (8, 16), (4, 8, 16)),
    ("Llama 3 70B", "H100", range(512, 1025, 32), (2, 4, 8), (2, 4, 5, 8), (4, 5, 8, 10, 20)),
    ("Llama 3 70B", "B200", range(224, 321, 16), (2, 4), (2, 4, 5), (4, 8, 10)),
    ("Qwen3 32B", "H100", range(512, 1025, 64), (2, 4), (2, 4), (8, 16)),
)


def search():
    """The least price over the pairs of model and machine that come near it, of many sizes and plans, with the largest
    batches that divide: (price, record)."""
    found = (float("inf"), {})
    for model, machine, counts, tps, pps, vs in SEARCHED:
        for count, tp, pp, v in product(counts, tps, pps, vs):
            whole = CHIPS * count // tp  # sequences of a microbatch on each stage, for pp of them on each replica
            one = dict(
                model=model,
                machine=machine,
                count=count,
                tp=tp,
                pp=pp,
                v=v,
                micro=1,
                sequences=MOST_SEQUENCES // whole * whole,
                recompute="none",
            )
            found = min(found, tried(one), key=lambda pair: pair[0])
    return found


def tried(one):
    """The price of a plan at Young's interval, infinite where it does not fit, is late or cannot be."""
    count, model = one["count"], one["model"]
    try:
        if held(**one).total > 1:
            return float("inf"), {}
        each = work_of(model, 1, one["sequences"])
        whole = one | dict(tokens=WORK / each, interval=interval_of(model, count))
        return (price(**whole).total if wall(**whole) < LONGEST else float("inf")), whole
    except ValueError:
        return float("inf"), {}


@cache
def best_price():
    return search()[0]


def promised(record, slack=1.01):
    """The record with a deadline and a budget a little above what the model says."""
    names = {k: x for k, x in record.items() if k not in ("days", "budget")}
    return names | dict(days=round(slack * wall(**names), 2), budget=round(slack * money(**names)))


BEST = dict(
    model="Llama 3 70B",
    machine="H100",
    tokens=2.23e13,
    count=608,
    tp=4,
    pp=4,
    v=10,
    micro=1,
    sequences=1216,
    recompute="none",
    interval=247,
)
WIDE = dict(
    model="Llama 3 405B",
    machine="B200",
    tokens=3.97e12,
    count=256,
    tp=8,
    pp=16,
    v=8,
    micro=1,
    sequences=2048,
    recompute="none",
    interval=1400,
)
UNCUT, SHORT = promised(BEST | dict(pp=1, v=1)), promised(BEST | dict(tokens=2e13))  # too large; too little work
OFTEN = promised(WIDE | dict(count=240, sequences=1920, interval=1080))  # 72 % of Young's interval
OPENING = BEST | dict(tokens=1.42e12, count=64, sequences=1024, interval=2400)
SMALL = BEST | dict(model="Qwen3 32B", tokens=4.6e13, count=640, pp=2, v=16, sequences=1280, interval=160)


def shares_of(record):
    """The parts of a record's price as shares of it."""
    found = price(**record)
    return {name: value / found.total for name, value in found.terms.items()}


def plan_in(record):
    """What of a record its step depends on."""
    return {name: value for name, value in record.items() if name not in ("tokens", "interval", "days", "budget")}


OF_BEST, OF_WIDE = shares_of(BEST), shares_of(WIDE)
HOURLY = price(**BEST | dict(interval=HOUR)).total / price(**BEST).total - 1
H100_PEAK = MACHINES["H100"][2] / HOUR / CHIP["H100"].bf16_flops * ZETTA
A100_PEAK = CHIPS * 1024 * CHIP["A100"].bf16_flops * LONGEST * DAY

RUN = Exercise(
    id="measuring-own-run",
    title="A run of your own",
    points=5,
    lines=14,
    prompt="The last plan of this book is yours, and it is a large one: a run of at least 10²⁵ operations of "
    "its model, "
    "a quarter of Llama 3's largest, that ends within 60 days. Choose a model, how many tokens it reads, a "
    "machine and its size, the plan, and the interval between checkpoints; state the deadline in days and the budget "
    "that you would sign. Sequences have 8,192 tokens, at most 2,048 of them make a step, and there are 5·10¹³ tokens "
    "of text; in bfloat16, with ZeRO-1 and 1F1B. In dollars for a GPU and hour, prices of this exercise alone, an "
    "A100 costs {a100}, an H100 {h100} and a B200 {b200}; nodes have eight GPUs, and a network passes on all that they "
    "send.\n\n"
    "Steps are timed by `hwlib.steptime.step_time` with the stacks `megatron-2022-a100`, `megatron-core-h100` or "
    '`megatron-core-b200` on the levels of `machine_of("1024 x dgx-h100")` of `hwlib.planner` (or `dgx-a100`, '
    "`dgx-b200`); operations are those of `step_flops`, bytes those of `hwlib.footprint.footprint` with "
    "`framework=hwlib.specs.framework_of(stack)` of the same stack, and the fullest GPU "
    "may hold what its sheet says. Each GPU stops the run once in 54·16,384/419 days, as Llama 3's did, and a "
    "restart takes 600 s. A checkpoint has 14 bytes a parameter, of which every node writes its part at 2 GB/s "
    "while the run waits. Lost shares add up, as in this chapter, and the part of them that the interval decides "
    "about is at most 5 % above the least that it can be. Time and money have 4.5 % on top, the model's "
    "error on dense runs that it has not seen. Failures in the time until your deadline vary as a Poisson law does "
    "(reckoned as a normal one), each costs half an interval and a restart, and with a probability of at most 5 % "
    "they make the run late.\n\nDeadline and budget are what the model says or up to 2 % more. The fewer dollars you "
    "pay for 10²¹ of the model's operations, the better, whichever run you choose: two pairs of model and machine "
    "come within a thousandth of each other. *Exact* for these models.",
    given=[dict(a100=1.0, h100=2.5, b200=6.5)],
    answer=Design(
        fields={
            "model": Field("the model", options=tuple(RUNS)),
            "machine": Field("the GPUs", options=tuple(MACHINES)),
            "tokens": Field("tokens of the whole run", 1e11, 5e13, unit="token"),
            "count": Field("nodes of eight GPUs", 16, 1024, whole=True),
            "tp": Field("tensor ranks", 1, 8, whole=True),
            "pp": Field("stages", 1, 64, whole=True),
            "v": Field("chunks of layers on a rank", 1, 20, whole=True),
            "micro": Field("sequences of a microbatch", 1, 16, whole=True),
            "sequences": Field("sequences of a step", 64, MOST_SEQUENCES, whole=True),
            "recompute": Field("which layers are recomputed", options=("none", "full")),
            "interval": Field("training between two checkpoints", 30, 86400, unit="s"),
            "days": Field("the deadline that you state", 1, LONGEST, unit="day"),
            "budget": Field("the budget that you state", 1e4, 1e10, unit="USD"),
        },
        objective=price,
        measure="the dollars for 10²¹ operations of the model",
        unit="USD",
        priced=True,
        conditions=[
            Condition("the share of its memory that the fullest GPU holds", held, at_most=1.0, without=UNCUT),
            Condition("the work of the whole run", work_of, at_least=WORK, unit="FLOP", without=SHORT),
            Condition(
                "the time of checkpoints and of work done again, over the least", over_least, FLAT, without=OFTEN
            ),
            Condition("your deadline over the time of the model", under_deadline, at_most=TOO_MUCH),
            Condition("the money of the model over your budget", over_budget, at_most=1.0),
            Condition("your budget over the money of the model", under_budget, at_most=TOO_MUCH),
            Condition("the probability that failures alone make it late", late, at_most=RISK),
        ],
        pars=[
            Par(1, lambda best: 1.3 * best),
            Par(2, lambda best: 1.15 * best),
            Par(3, lambda best: 1.06 * best),
            Par(4, lambda best: 1.03 * best),
            Par(5, lambda best: 1.01 * best),
        ],
        known=[Known(best_price, "a search over models, machines, sizes and plans")],
    ),
    solution=promised(BEST),
    mistakes=(
        Mistake(
            promised(OPENING, 1.05),
            "That is the opening's machine and its plan. How many days would 512 GPUs take for a run of this size?",
        ),
        Mistake(
            promised(SMALL),
            "A small model has no pipeline to speak of and reads nearly all the text there is. Its tensor ranks wait "
            "for sums all the same, over narrower matrices: which wider model wastes less on them?",
        ),
        Mistake(
            promised(WIDE | dict(interval=3600)),
            "A checkpoint every hour, by custom. How often does a machine of that size stop, and how long does one "
            "checkpoint take?",
        ),
        Mistake(
            promised(BEST) | dict(tp=2, count=512, sequences=2048),
            "Half the tensor ranks, half the sums. What does a GPU hold then?",
        ),
        Mistake(
            promised(BEST, 1.0) | dict(days=round(1.001 * wall(**BEST), 2)),
            "Those days have room for the failures of an average run. How often does a run have more?",
        ),
    ),
    hints=(
        "First the size: 10²⁵ operations over the rate of a GPU that you trust, say two fifths of its peak, over 60 "
        "days less a tenth, are so many GPUs. Which machines have them in 1,024 nodes?",
        "Then a plan that fits, from chapter 14: tensor ranks inside the node, stages for the states, chunks for the "
        "bubble. The number of replicas times the microbatch divides the sequences of a step; chunks want microbatches "
        "in multiples of the stages.",
        "Young's interval, from this model's checkpoint and this machine's failures; then the days of the model, and a "
        "margin that failures rarely use up.",
    ),
    explain=f"The price is rent over achieved rate: at the peak an H100 does 10²¹ operations for {H100_PEAK:.0f} "
    "dollars. Two runs come within a thousandth of each other. "
    f"Llama 3 70B on {BEST['count']} nodes of H100s, four tensor ranks and four "
    f"stages in ten chunks, has {OF_BEST['arithmetic at the peak']:.0%} of its price from arithmetic at the peak "
    f"and {OF_BEST['arithmetic below the peak']:.0%} from arithmetic below it; waits for transfers take "
    f"{OF_BEST['waits for transfers']:.1%}, the bubble {OF_BEST['bubble']:.1%}, failures with the model's own error "
    f"{OF_BEST[REST]:.1%}. Llama 3 405B on {WIDE['count']} nodes of B200s, eight tensor ranks and sixteen stages in "
    f"eight chunks, has {OF_WIDE['arithmetic at the peak']:.0%} from the peak, {OF_WIDE['waits for transfers']:.0%} "
    f"from transfers and {OF_WIDE['bubble']:.1%} from the bubble. Smaller models are dearer, Qwen3 "
    f"32B by {price(**SMALL).total / price(**BEST).total - 1:.0%}: less of their time is products, and sums among "
    "tensor ranks are a larger part of it. More nodes than 60 days need cost a little more for each operation. "
    f"{1024:,} nodes of A100s would have to reach {WORK / A100_PEAK:.0%} of their peak. And a "
    "machine of thousands of GPUs wants its checkpoint every few minutes: once an hour makes the first run "
    f"{HOURLY:.1%} dearer. The promise costs a third to half of a per cent, for failures in 60 days are many, and "
    "their number is nearly known.",
)
