"""Exercises of the section on memory, with the simulator, and the names with which the text computes numbers."""

from autograder.answers import Choice, Expression, Function, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.footprint import footprint
from hwlib.pipeline import gpipe, one_f_one_b
from hwlib.specs import models
from hwlib.strategy import Strategy

BEFORE = models["llama3-70b"]  # 80 layers, on 8 stages
AFTER = BEFORE.replace(layers=2 * BEFORE.layers)
T, M = 8192, 64  # tokens of a sequence, microbatches


def on_stage(model, pp, stage):
    """Bytes of one GPU: 8 tensor-parallel ranks a stage, 8 replicas with ZeRO-1, microbatches of two sequences."""
    plan = Strategy.of(dp=8, tp=8, pp=pp, micro=2, zero=1)
    return footprint(model, plan, T=T, m=M, stage=stage)


OLD = [on_stage(BEFORE, 8, stage) for stage in range(8)]
NEW = [on_stage(AFTER, 16, stage) for stage in range(16)]

PREDICT_STAGES = Exercise(
    id="pipeline-parallelism-predict-stages",
    title="Predict: more stages of the same size",
    predict=True,
    prompt="A model is made twice as deep and gets twice the stages, so every GPU holds as many layers as before. The "
    "schedule is 1F1B, with far more microbatches than stages. What becomes of the activations that the first and the "
    "last stage keep at most? *Exact*.",
    answer=Choice(
        {
            "same": "both keep what they kept",
            "first": "the first keeps twice as much, the last as much as before",
            "both": "both keep twice as much",
            "last": "the last keeps twice as much, the first as much as before",
            "less": "both keep less: the same batch is spread over more GPUs",
        }
    ),
    solution="first",
    mistakes=(
        Mistake(
            "same", "The layers are the same. How many microbatches have been in the first stage and not returned?"
        ),
        Mistake("both", "How long after its forward pass does the last stage do the backward pass of a microbatch?"),
        Mistake("last", "Which stage waits longest for the gradients of a microbatch?"),
        Mistake("less", "A microbatch passes every stage, as before. What is spread over the stages?"),
    ),
    hints=("Between forward and backward of a microbatch, how many others does a stage begin?",),
    explain="A stage keeps a microbatch from its forward to its backward pass. For the first stage, the microbatch "
    "meanwhile goes down all stages and its gradient comes back, and in 1F1B one more microbatch is begun for each "
    "stage in between. The last stage turns every microbatch round at once.",
)

STAGE_MEMORY = Exercise(
    id="pipeline-parallelism-stage-memory",
    title="What stage r keeps",
    points=2,
    prompt="`L` equal layers are spread over `pp` stages, numbered from 0. A layer keeps `S_layer` bytes of "
    "activations "
    "for each microbatch. How many bytes of activations does stage `r` keep at most under 1F1B, with `pp` microbatches "
    "or more? *Exact*, for a stage that begins no pass before it has to.",
    answer=Expression(
        {
            "L": positive("1", 8, 200),
            "S_layer": positive("B"),
            "pp": integers(2, 64),
            "r": integers(0, 63, most="pp - 1"),
        },
        "B",
    ),
    solution=lambda L, S_layer, pp, r: (pp - r) * L / pp * S_layer,
    mistakes=(
        Mistake(
            lambda L, S_layer: L * S_layer,
            "Right for the first stage. How many microbatches wait on stage r?",
            name="kept-microbatches",
        ),
        Mistake(
            lambda L, S_layer, pp: L / pp * S_layer,
            "That is one microbatch. How many are under way?",
            name="kept-microbatches",
        ),
        Mistake(
            lambda L, S_layer, pp, r: (pp - r - 1) * L / pp * S_layer,
            "Before its first backward pass a stage has begun one for each stage after it, and one more.",
        ),
        Mistake(
            lambda L, S_layer, pp, r: (r + 1) * L / pp * S_layer,
            "That grows toward the last stage. Which stage waits longest for its gradients?",
        ),
        Mistake(
            lambda L, S_layer, pp, r: (pp - r + 1) * L / pp * S_layer,
            "The stages are numbered from 0. How many microbatches does the last one keep, with r = pp − 1?",
            name="kept-microbatches",
        ),
        Mistake(
            lambda L, S_layer, pp, r: r * L / pp * S_layer,
            "Then the first stage would keep nothing. Which stages must a gradient pass before it is back?",
        ),
        Mistake(
            lambda L, S_layer, pp, r: (pp - r) * L * S_layer,
            "The number of microbatches is right. How many of the layers has a stage?",
        ),
        Mistake(
            lambda L, S_layer, pp, r: (2 * (pp - r) - 1) * L / pp * S_layer,
            "So many slots pass until the gradient is back. In every second one the stage does a backward pass.",
        ),
    ),
    hints=(
        "Count the forward passes of stage r before its first backward pass.",
        "From then on each new microbatch comes after one has left.",
    ),
    explain="Stage r runs one forward pass for each of the pp − 1 − r stages after it, and one more, before the first "
    "gradient comes back: `pp - r` microbatches. From then on it does one backward pass for each forward pass. A "
    "microbatch keeps `L/pp*S_layer` in it. For r = 0 that is `L*S_layer`, whatever pp is: stages do not make the "
    "activations of the first stage any smaller, and stages *with their layers* make them larger.",
)


def ends(orders, t_F, t_B, waits="FB"):
    """When each rank is done, if the passes of `waits` wait for another rank's."""
    n, done = len(orders), {}
    at, clock = [0] * n, [0.0] * n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                kind, i = orders[r][at[r]]
                before = (kind, i, r - 1 if kind == "F" else r + 1)
                if kind in waits and 0 <= before[2] < n and before not in done:
                    break
                start = max(clock[r], done.get(before, 0.0) if kind in waits else 0.0)
                clock[r] = done[kind, i, r] = start + (t_F if kind == "F" else t_B)
                at[r] += 1
    return clock


def simulate(orders, t_F, t_B):
    """The time of a step, and the most microbatches that each rank keeps."""
    return [max(ends(orders, t_F, t_B)), *(high_water(order) for order in orders)]


def high_water(order):
    kept = most = 0
    for kind, _ in order:
        kept += 1 if kind == "F" else -1
        most = max(most, kept)
    return most


def no_waiting(orders, t_F, t_B):
    return [max(sum(t_F if k == "F" else t_B for k, _ in o) for o in orders), *(high_water(o) for o in orders)]


def all_kept(orders, t_F, t_B):
    return [simulate(orders, t_F, t_B)[0], *(sum(k == "F" for k, _ in o) for o in orders)]


def first_ends(orders, t_F, t_B):
    """The time at which the last rank is done."""
    return [ends(orders, t_F, t_B)[-1], *(high_water(order) for order in orders)]


def lockstep(orders, t_F, t_B):
    slots = simulate(orders, 1.0, 1.0)
    return [slots[0] * max(t_F, t_B), *slots[1:]]


def exchanged(orders, t_F, t_B):
    return simulate(orders, t_B, t_F)


def run_ahead(orders, t_F, t_B):
    """The forward passes before the first backward pass."""
    return [simulate(orders, t_F, t_B)[0], *([kind for kind, _ in order].index("B") for order in orders)]


def left_over(orders, t_F, t_B):
    """What is kept at the end, not at most."""
    return [simulate(orders, t_F, t_B)[0], *(0 for _ in orders)]


def forward_only(orders, t_F, t_B):
    return [max(ends(orders, t_F, t_B, waits="F")), *(high_water(order) for order in orders)]


def backward_only(orders, t_F, t_B):
    return [max(ends(orders, t_F, t_B, waits="B")), *(high_water(order) for order in orders)]


def by_place(orders, t_F, t_B):
    """The k-th pass of a kind waits for the k-th of the other rank, whichever microbatch that is."""

    def numbered(order):
        seen = {"F": 0, "B": 0}
        passes = []
        for kind, _ in order:
            passes.append([kind, seen[kind]])
            seen[kind] += 1
        return passes

    return simulate([numbered(order) for order in orders], t_F, t_B)


def order_cases(rng):
    """Orders of GPipe, of 1F1B and between the two, and orders without a rule, of which some take another time with
    the times of the passes exchanged; the shortest first."""
    times = lambda: (round(rng.uniform(0.5, 2), 2), round(rng.uniform(2.1, 4), 2))
    found = [([[["F", 0], ["B", 0]] for _ in range(ranks)], *times()) for ranks in (1, 2)]
    # the second rank goes backward from the newest microbatch, the first one from the oldest
    forward = [["F", 0], ["F", 1], ["F", 2]]
    found.append(([[*forward, ["B", 0], ["B", 1], ["B", 2]], [*forward, ["B", 2], ["B", 1], ["B", 0]]], *times()))
    for pp, m in ((2, 3), (3, 6), (4, 8), (4, 8)):
        orders = irregular(pp, m, rng)
        while pp > 2 and simulate(orders, 1, 3)[0] == simulate(orders, 3, 1)[0]:
            orders = irregular(pp, m, rng)
        found.append((orders, *times()))
    for pp, m in ((2, 3), (3, 5), (4, 8), (5, 7)):
        for schedule in (gpipe(pp, m), one_f_one_b(pp, m), None):
            if schedule:
                orders = [[[op.kind, op.microbatch] for op in ops] for ops in schedule.ops]
            else:
                orders = [ahead(m, min(pp - r + rng.randint(1, 2), m)) for r in range(pp)]
            found.append((orders, *times()))
    return found


def irregular(pp, m, rng):
    """The orders of a step in which a rank that can do a pass is drawn at random, and which pass; rank 0 keeps two
    microbatches after its first backward pass and had one before."""
    orders: list[list[list]] = [[] for _ in range(pp)]
    had = {(kind, r): 0 for kind in "FB" for r in range(pp)}

    def do(kind, r):
        orders[r].append([kind, had[kind, r]])
        had[kind, r] += 1

    for kind, ranks in (("F", range(pp)), ("B", reversed(range(pp))), ("F", range(pp)), ("F", range(pp))):
        for r in ranks:
            do(kind, r)
    while True:
        free = [("F", r) for r in range(pp) if had["F", r] < (had["F", r - 1] if r else m)]
        free += [("B", r) for r in range(pp) if had["B", r] < (had["B", r + 1] if r < pp - 1 else had["F", r])]
        if not free:
            return orders
        do(*rng.choice(free))


def ahead(m, k):
    """The order of a rank that begins k microbatches before its first backward pass."""
    order = [["F", i] for i in range(k)]
    for i in range(m):
        order.append(["B", i])
        if k + i < m:
            order.append(["F", k + i])
    return order


LAB_SIMULATOR = Exercise(
    id="pipeline-parallelism-lab-simulator",
    title="Lab: play a schedule",
    points=3,
    lines=15,
    prompt="Write `simulate(orders, t_F, t_B)`. `orders[r]` is what rank r computes, in this order: a list of pairs "
    'such as ["F", 3] or ["B", 0], a pass and its microbatch. A forward pass needs that of the rank before, a backward '
    "pass that of the rank after; messages take no time, and a rank begins a pass as soon as it is free and has what "
    "the pass needs. On every rank a forward pass takes `t_F`, in s, and a backward pass `t_B`. Return a list: the "
    "time of the step, in s, and then for each rank the most microbatches whose "
    "activations it keeps at once. They are kept from the beginning of a forward pass to the end of the "
    "backward pass. No order deadlocks. *Exact*.",
    answer=Function(
        "simulate",
        "simulate(orders, t_F, t_B)",
        counts=True,
        cases=order_cases,
    ),
    solution=simulate,
    withholds=("hwlib.pipeline",),
    mistakes=(
        Mistake(no_waiting, "That is what the ranks compute. When can a rank begin that needs another's result?"),
        Mistake(all_kept, "The time is right. Does a rank keep what its backward passes have used?"),
        Mistake(first_ends, "The step ends when the last of all ranks is done. Which one is that?"),
        Mistake(
            lockstep,
            "There are no common slots: a rank begins when it has what it needs, and takes the time of that very pass.",
        ),
        Mistake(exchanged, "That is the step with the two times exchanged. Which of them is that of a forward pass?"),
        Mistake(
            run_ahead,
            "The time is right. Between two backward passes a rank may do several forward passes: when is most kept?",
        ),
        Mistake(
            forward_only,
            "Your backward passes wait for their own rank alone. Which other rank's result does one need?",
        ),
        Mistake(
            backward_only,
            "Your forward passes wait for their own rank alone. Which other rank's result does one need?",
        ),
        Mistake(
            by_place,
            "A pass waits for as many passes of the other rank as were before it. Two ranks may take the microbatches "
            "in other orders: for which pass does it wait?",
        ),
        Mistake(left_over, "The time is right. At the end nothing is kept: what was the most in between?"),
    ),
    hints=(
        "Keep a clock for each rank, and for each pass of each rank when it was done.",
        "Go round the ranks until all orders are done. A rank goes on while what its next pass needs is done.",
        "A pass starts at the later of two times.",
    ),
    explain="A pass starts at the later of two times: when its rank is free, and when the pass that it needs has ended "
    "on the neighbour. So go round the ranks, let each one go on as far as what it needs is known, and note when each "
    "pass ends; the latest end of all is the time of the step. The memory needs no clock: along an order, a forward "
    "pass adds one and a backward pass removes one, and the highest count is the answer.",
)
