"""The scenario: how to cut a model into stages, chunks and microbatches."""

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.pipeline import interleaved_in_flight
from hwlib.units import GB, ms

_MOST = 72 * GB


def plan_of(N, L, gpus, pp, v, b):
    """Replicas and microbatches of each. Raises ValueError for what cannot be laid out."""
    if gpus % (8 * pp):
        raise ValueError(f"{pp} stages of eight GPUs do not divide {gpus} GPUs")
    if L % (pp * v):
        raise ValueError(f"{L} layers do not make {pp * v} equal chunks")
    dp = gpus // (8 * pp)
    if N % (dp * b):
        raise ValueError(f"{N} sequences do not make whole microbatches of {b} in each of {dp} replicas")
    m = N // (dp * b)
    if v > 1 and m % pp:
        raise ValueError(f"{m} microbatches are not a multiple of {pp} stages, as interleaving wants it")
    return dp, m


def stage_bytes(P, L, S_layer, N, gpus, pp, v, b):
    """Bytes of a GPU of stage 0: states, and the microbatches that are in flight."""
    dp, m = plan_of(N, L, gpus, pp, v, b)
    live = min(m, pp) if v == 1 or m == pp else interleaved_in_flight(pp, v)
    states = P / (8 * pp) * (4 + 12 / dp)
    activations = live * b * L / pp * S_layer
    return Breakdown(states + activations, {"states": states, "activations": activations})


def plan_time(L, t_0, t_1, t_c, N, gpus, pp, v, b):
    """Seconds of a step, and its parts."""
    _, m = plan_of(N, L, gpus, pp, v, b)
    chunk = L / (pp * v)
    parts = {
        "sequences": m * v * chunk * b * t_1,
        "fixed time of layers": m * v * chunk * t_0,
        "messages": m * v * t_c,
        "bubble": (pp - 1) * (chunk * (t_0 + b * t_1) + t_c),
    }
    return Breakdown(sum(parts.values()), parts)


def plan_error(L, t_0, t_1, t_c, N, gpus, pp, v, b, step):
    return abs(step / plan_time(L, t_0, t_1, t_c, N, gpus, pp, v, b).total - 1)


def best_plan(P, L, S_layer, t_0, t_1, t_c, N, gpus):
    """The shortest step of all plans that fit, and the plan."""
    found = []
    for pp in range(1, gpus // 8 + 1):
        for v in range(1, L // pp + 1):
            for b in (1, 2, 4, 8, 16, 32):
                try:
                    if stage_bytes(P, L, S_layer, N, gpus, pp, v, b).total > _MOST:
                        continue
                    found.append((plan_time(L, t_0, t_1, t_c, N, gpus, pp, v, b).total, dict(pp=pp, v=v, b=b)))
                except ValueError:
                    continue
    return min(found, key=lambda one: one[0])


def plan_letter(P, L, S_layer, t_0, t_1, t_c, N, gpus, **changes):
    """The best letter with changes, and the time of its own step."""
    plan = {**best_plan(P, L, S_layer, t_0, t_1, t_c, N, gpus)[1], **changes}
    return {**plan, "step": round(plan_time(L, t_0, t_1, t_c, N, gpus, **plan).total, 4)}


def without_bubble(**given):
    """The best plan with the time of its step as if all ranks always worked."""
    record = plan_letter(**given)
    names = ("L", "t_0", "t_1", "t_c", "N", "gpus")
    found = plan_time(*(given[name] for name in names), record["pp"], record["v"], record["b"])
    return {**record, "step": round(found.total - found.terms["bubble"], 4)}


SCENARIO = Exercise(
    id="pipeline-parallelism-scenario",
    title="A letter about stages",
    points=3,
    prompt="Somebody has to write this letter: *“We cut the model in … stages, each of … chunks, a microbatch has … "
    "sequences, and a step will take … s.”*\n\n"
    "The model has {P:param} in {L} equal layers, and {gpus} GPUs of 80 GB train it on {N} sequences a step, eight "
    "GPUs to each layer by tensor parallelism. With `pp` stages there are {gpus}/(8·pp) replicas, among which the "
    "sequences are divided evenly, in microbatches of `b`. Stages are equal and consist of `v` equal chunks of whole "
    "layers, by 1F1B for one chunk, interleaved for more; then the microbatches of a replica have to be a multiple of "
    "the stages. Which letter has the shortest step?\n\n"
    "*Memory.* Stage 0 fills up first, and beyond 72 GB it dies there. A GPU has an eighth of its stage's parameters, "
    "with 4 bytes each, and 12 for the optimizer, divided among the replicas. A layer keeps {S_layer:B} on each GPU "
    "for every sequence in flight.\n\n"
    "*Time.* For forward and backward together a microbatch takes `t_0 + b*t_1` in each layer, {t_0:s} and {t_1:s} a "
    "sequence, and {t_c:s} more for each chunk that it passes on a rank, for messages and launches. Both belong to a "
    "slot, and the bubble consists of slots of one chunk. All else is hidden. *Exact* for this model; the time in the "
    "letter has to be right within 3 %.",
    given=[
        dict(P=312e9, L=96, S_layer=0.19 * GB, t_0=1.5 * ms, t_1=3 * ms, t_c=2 * ms, N=512, gpus=1024),
        dict(P=175e9, L=96, S_layer=0.107 * GB, t_0=1 * ms, t_1=2 * ms, t_c=1.5 * ms, N=512, gpus=512),
        dict(P=530e9, L=105, S_layer=0.178 * GB, t_0=1.5 * ms, t_1=4 * ms, t_c=3 * ms, N=560, gpus=1120),
    ],
    answer=Design(
        fields={
            "pp": Field("stages", 1, 140, whole=True),
            "v": Field("chunks of layers on a rank", 1, 105, whole=True),
            "b": Field("sequences of a microbatch", 1, 512, whole=True),
            "step": Field("the time of a step", 0, 1000, unit="s"),
        },
        objective=plan_time,
        measure="the time of a step",
        unit="s",
        conditions=[
            Condition("the memory of a GPU of stage 0", stage_bytes, at_most=_MOST, unit="B"),
            Condition("the letter's error in the time of a step", plan_error, at_most=0.03),
        ],
        pars=[
            Par(1, lambda best: 1.3 * best),
            Par(2, lambda best: 1.1 * best),
            Par(3, lambda best: 1.015 * best),
        ],
        known=[Known(lambda **given: best_plan(**given)[0], "all letters tried")],
    ),
    solution=lambda **given: plan_letter(**given),
    mistakes=(
        Mistake(
            lambda **given: plan_letter(**given, v=1),
            "One chunk on each rank: what is the bubble then, in slots of a whole stage?",
        ),
        Mistake(
            lambda **given: plan_letter(**given, pp=1, v=1, b=1),
            "No pipeline has no bubble. What does a GPU hold of the states then?",
        ),
        Mistake(without_bubble, "In that time no rank waits. How many slots are there besides those of the work?"),
    ),
    hints=(
        "Memory: with one chunk stage 0 keeps as many microbatches as there are stages, so its activations depend on b "
        "and not on the stages. What do chunks add, and do more chunks add more?",
        "The step is `(v*m + pp - 1)` slots of `L/(pp*v)*(t_0 + b*t_1) + t_c`, with m from the replicas.",
        "There are few numbers of stages that divide everything. For each, take the largest b that fits, then compare "
        "v.",
    ),
    explain="A replica has `m = N*8*pp/(gpus*b)` microbatches, and the step is `(v*m + pp - 1)*(L/(pp*v)*(t_0 + "
    "b*t_1) + t_c)`. Fewer stages have less bubble and more states: `P/(8*pp)*(4 + 12/dp)` bytes, which sets the "
    "least number of stages. Larger microbatches pay t_0 less often, until their activations, `(pp + (pp - "
    "1)/v)*b*L/pp*S_layer`, fill stage 0. Chunks shorten the bubble and pay t_c once more each. Their memory goes the "
    "other way than one expects: two chunks keep (pp − 1)/2 microbatches more than one, four only (pp − 1)/4. With P "
    "= {P:param} and {gpus} GPUs the letter with two chunks may be the one that dies.",
)
