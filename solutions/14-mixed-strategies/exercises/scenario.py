"""The decision at the end of the chapter: a letter with one plan, one condition that breaks it, and one number."""

from functools import cache

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.footprint import footprint
from hwlib.planner import Allowed, PlanError, plan
from hwlib.specs import models, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.units import GB

MODEL, MACHINE, USED = models["llama3-70b"], "superpod-h100-4su", stacks["megatron-core-h100"]
SEQUENCES, LENGTH, CHIPS = 512, 8192, 8
DAY = 86400
UNSEEN = 0.045
"""The model's mean error on dense H100 runs that its constants were not fitted to, the larger of the two folds in
docs/fidelity.md; on all, which they were fitted to, it is `USED.error`."""


def node_strategy(nodes, tp, pp, v, micro):
    """The plan, with ZeRO-1; ValueError where nothing of the kind can be run."""
    gpus = CHIPS * nodes
    if gpus % (tp * pp):
        raise ValueError(f"tp*pp = {tp * pp} does not divide the {gpus} GPUs")
    dp = gpus // (tp * pp)
    if SEQUENCES % (dp * micro):
        raise ValueError(f"{SEQUENCES} sequences are not a whole number of microbatches of {micro} on {dp} replicas")
    if tp not in (1, 2, 4, 8):
        raise ValueError(f"tp = {tp} does not divide a node of {CHIPS}")
    m = SEQUENCES // (dp * micro)
    if v > 1 and (pp == 1 or MODEL.layers % (pp * v) or m % pp):
        raise ValueError(
            f"chunks need a pipeline, layers that pp*v = {pp * v} divides ({MODEL.layers}), and microbatches in "
            f"multiples of pp (there are {m})"
        )
    return Strategy.of(dp=dp, tp=tp, pp=pp, v=v, micro=micro, zero=1)


def seconds_of(nodes, tp, pp, v, micro):
    step = step_time(MODEL, USED, MACHINE, node_strategy(nodes, tp, pp, v, micro), B=SEQUENCES * LENGTH, T=LENGTH)
    return float(step.total)


def days_of(tokens, goodput, nodes, tp, pp, v, micro):
    """Days to promise: the steps, what restarts cost, and the model's mean error on top."""
    seconds = seconds_of(nodes, tp, pp, v, micro) * tokens / (SEQUENCES * LENGTH)
    return seconds / goodput * (1 + USED.error) / DAY


def gpu_hours(tokens, goodput, nodes, tp, pp, v, micro):
    """GPU-hours of those days; a spare node is paid for as well."""
    hours = 24 * CHIPS * days_of(tokens, goodput, nodes, tp, pp, v, micro)
    return Breakdown(hours * (nodes + 1), {"nodes that compute": hours * nodes, "the spare node": hours})


def held(nodes, tp, pp, v, micro):
    d = node_strategy(nodes, tp, pp, v, micro)
    found = footprint(MODEL, d, T=LENGTH, m=SEQUENCES // (d.dp * micro))
    states = found.states
    return Breakdown(found.total, {"states": states, "activations and loss": found.total - states})


def off(tokens, goodput, nodes, tp, pp, v, micro, days):
    """How far the promise is from the model's days, as a share."""
    return abs(days / days_of(tokens, goodput, nodes, tp, pp, v, micro) - 1)


@cache
def _best(tokens, goodput, deadline, room):
    found = []
    for nodes in range(32, 64):
        try:
            best = plan(
                MODEL,
                MACHINE,
                B=SEQUENCES * LENGTH,
                T=LENGTH,
                gpus=CHIPS * nodes,
                memory=room,
                count=3,
                allowed=Allowed(zero=1, cp=1, recompute="none", schedule="1f1b", micro=(1, 2, 4)),
            )
        except PlanError:
            continue
        for one in (*best, *filter(None, [best.quicker_unsure])):
            s = one.strategy
            days = one.seconds * tokens / (SEQUENCES * LENGTH) / goodput * (1 + USED.error) / DAY
            if days <= deadline and s.v * s.pp and (s.v == 1 or MODEL.layers % (s.pp * s.v) == 0):
                found.append(24 * CHIPS * days * (nodes + 1))
    return sorted(found)[0]


def best_hours(tokens, goodput, deadline, room):
    return _best(tokens, goodput, deadline, room)


_PLANS = {48: (48, 4, 6, 1, 1), 56: (56, 4, 7, 1, 1)}
DAYS_UNSEEN = {n: days_of(1e12, 0.95, *one) * (1 + UNSEEN) / (1 + USED.error) for n, one in _PLANS.items()}
MORE_56 = gpu_hours(1e12, 0.95, *_PLANS[56]).total / gpu_hours(1e12, 0.95, *_PLANS[48]).total - 1

SCENARIO = Exercise(
    id="mixed-strategies-scenario",
    title="Decide: a month of H100s",
    points=4,
    lines=6,
    prompt="*“To the head of training. We have the offer of 64 nodes of eight H100s, and are to train a model of "
    "the shape "
    "of Llama 3 70B on 10¹² tokens, 512 sequences of 8,192 in a step, in bfloat16. The lease ends after {deadline} "
    "days, and "
    "a run that is not through by then is worth nothing. We pay for every node that we take, from the first day to "
    "the "
    "last, and in a month nodes fail: one node beyond those that compute must stand by. Our colleagues fear the "
    "memory; "
    "the finance department wants one number, the days, and will hold us to it.”* Write the plan that the letter "
    "proposes: how many nodes compute, tensor ranks, stages, chunks of layers on a rank, sequences of a microbatch; "
    "ZeRO-1, "
    "nothing recomputed, 1F1B. And the days that you promise: the steps of the library's model for Megatron Core on "
    "H100, "
    "restarts that leave {goodput} of the time, and the model's mean error on dense models, 2.3 %, on top. *Exact* "
    "within "
    "one per cent.",
    given=[dict(tokens=1e12, goodput=0.95, deadline=35, room=76 * GB)],
    answer=Design(
        fields={
            "nodes": Field("nodes that compute", 1, 64, whole=True),
            "tp": Field("tensor ranks", 1, 8, whole=True),
            "pp": Field("stages", 1, 80, whole=True),
            "v": Field("chunks of layers on a rank", 1, 20, whole=True),
            "micro": Field("sequences of a microbatch", 1, 16, whole=True),
            "days": Field("days that you promise", 1, 365),
        },
        objective=gpu_hours,
        measure="GPU-hours that are paid for",
        unit="1",
        conditions=[
            Condition("the memory of the fullest GPU", held, at_most=lambda room: room, unit="B"),
            Condition("nodes, with the one that stands by", lambda nodes: nodes + 1, at_most=64),
            Condition("days by the model, its error included", days_of, at_most=lambda deadline: deadline),
            Condition("how far the promise is from the model's days", off, at_most=0.01),
        ],
        pars=[
            Par(1, lambda best: 1.5 * best),
            Par(2, lambda best: 1.25 * best),
            Par(3, lambda best: 1.1 * best),
            Par(4, lambda best: (1 + UNSEEN) * best, "the planner's best, and the model's error on unseen runs"),
        ],
        known=[Known(best_hours, "the planner, node count by node count")],
    ),
    solution=dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=33.2),
    mistakes=(
        Mistake(
            dict(nodes=64, tp=4, pp=8, v=10, micro=1, days=24.0),
            "All nodes compute, and none stands by: what if one fails on the second day?",
        ),
        Mistake(
            dict(nodes=32, tp=4, pp=8, v=10, micro=1, days=47.0),
            "The cheapest plan, and the lease ends before it does.",
        ),
        Mistake(
            dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=30.8),
            "Those are the days of undisturbed steps at the predicted time. What is lost to restarts, and to the "
            "model's error?",
        ),
        Mistake(
            dict(nodes=48, tp=2, pp=6, v=1, micro=1, days=32.0),
            "What does a GPU hold with two tensor ranks?",
        ),
        Mistake(
            dict(nodes=48, tp=8, pp=3, v=1, micro=1, days=35.5),
            "Eight tensor ranks send more than the shorter pipeline saves, and the days are gone.",
        ),
        Mistake(
            dict(nodes=48, tp=4, pp=6, v=1, micro=1, days=32.4),
            "Steps and restarts are in it. What did the finance department hear of the model's own error?",
        ),
    ),
    hints=(
        "How many nodes can the number of sequences use? A replica has `tp*pp` GPUs, and replicas share 512 sequences.",
        "`step_time` and `footprint` are the judge's models; `plan` with `gpus=` and `allowed=` searches for you.",
        "Fewer nodes cost less per token, until the lease ends: find the fewest that are in time, then the plan.",
    ),
    explain="512 sequences have only powers of two as divisors, so the nodes must be a power of two times the "
    "divisors of the "
    "stages: 48 = 16·3 nodes with six stages of four tensor ranks, 16 replicas. 40 nodes are too slow, 32 cheaper "
    "and far too "
    "slow, 56 in time and dearer. On 48 nodes a step takes 11.2 s; 238,419 steps are 30.8 days, 32.4 with restarts, "
    "33.2 with the model's error: within the lease. The fullest GPU holds some 64 GB; with two tensor ranks it would "
    "not fit. The number to be right about is the days. A mean error on top is no safe promise: some runs are "
    f"off by more than the mean, and on runs that the constants were not fitted to the error is {UNSEEN:.1%}, "
    f"with which 48 nodes take {DAYS_UNSEEN[48]:.1f} days and 56 nodes {DAYS_UNSEEN[56]:.1f}. 56 nodes cost "
    f"{MORE_56:.1%} more, less than that error, and leave {35 - DAYS_UNSEEN[56]:.0f} days of the lease instead of "
    f"{35 - DAYS_UNSEEN[48]:.0f}: full points for either, and whoever must not miss the lease takes 56. Nor has any "
    "run in this chapter six stages for 80 layers in a single chunk: run twenty steps of it before you sign.",
)
