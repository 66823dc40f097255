"""The design lab: a plan of one's own against a rule of thumb and the planner's best."""

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.constraints import MICROBATCH, PIPELINE, SHAPE, Setting, broken, software_rules
from hwlib.footprint import footprint
from hwlib.planner import Allowed, SoftwareSettings, decide, machine_of, plan
from hwlib.specs import accelerators, features, framework_of, models, stacks
from hwlib.steptime import step_time
from hwlib.strategy import RECOMPUTE, Strategy
from hwlib.units import GB

STACK = stacks["megatron-core-h100"]
SOFTWARE = features[STACK.features]
ROOM = 80 * GB
KEYS = {models[key].name: key for key in ("llama3-405b", "llama3-70b", "gpt3-175b")}
BEAT_TASKS = [
    dict(model="Llama 3.1 405B", gpus=1024, B=2**22, T=8192),
    dict(model="Llama 3.1 70B", gpus=256, B=2**21, T=8192),
    dict(model="GPT-3 175B", gpus=256, B=2**20, T=2048),
]
PARTS = {
    "compute": "computing",
    "recomputed": "recomputing",
    "tp": "tensor-parallel waits",
    "cp": "context-parallel waits",
    "pp": "pipeline messages",
    "bubble": "the bubble",
    "dp": "data-parallel waits",
    "optimizer": "the optimizer",
    "other": "what no plan changes",
}


def cluster_of(gpus: int) -> str:
    return f"{gpus // 8} x dgx-h100"


# Read once, when this file is: not with every record.
LEVELS = {task["gpus"]: machine_of(cluster_of(task["gpus"])).levels for task in BEAT_TASKS}
FRAMEWORK = framework_of(STACK)
RULES = (*SHAPE, MICROBATCH, *PIPELINE, *software_rules(SOFTWARE, RECOMPUTE))


def strategy_of(model, gpus, B, T, dp, tp, pp, cp, v, micro, zero, recompute) -> Strategy:
    """The strategy of a record. Raises ValueError for one that cannot be, or that the software lacks."""
    shape, sequences = models[KEYS[model]], B // T
    if dp * tp * pp * cp != gpus:
        raise ValueError(f"dp·tp·pp·cp is {dp * tp * pp * cp:,}, and there are {gpus:,} GPUs")
    strategy = Strategy(dp=dp, tp=tp, pp=pp, cp=cp, v=v, micro=micro, zero=zero, recompute=recompute)
    setting = Setting(shape, gpus, T, sequences, features=SOFTWARE)
    if rule := broken(setting, strategy, RULES):
        raise ValueError(rule.sentence(setting, strategy))
    return strategy


def plan_time(model, gpus, B, T, **record) -> Breakdown:
    """Seconds of a step, by what they are spent on."""
    strategy = strategy_of(model, gpus, B, T, **record)
    step = step_time(KEYS[model], STACK, LEVELS[gpus], strategy, B=B, T=T)
    return Breakdown(float(step.total), {words: float(getattr(step, name)) for name, words in PARTS.items()})


def plan_bytes(model, gpus, B, T, **record) -> Breakdown:
    """Bytes of the fullest GPU, by what they hold."""
    strategy = strategy_of(model, gpus, B, T, **record)
    held = footprint(KEYS[model], strategy, T=T, m=strategy.microbatches(B, T), framework=FRAMEWORK)
    rest = held.logits + held.buffers + held.overhead
    parts = {"weights, gradients and optimizer": held.states, "activations": held.activations, "all else": rest}
    return Breakdown(float(held.total), {name: float(size) for name, size in parts.items()})


def record_of(strategy: Strategy) -> dict:
    """A strategy as an answer."""
    names = ("dp", "tp", "pp", "cp", "v", "micro", "zero", "recompute")
    return {name: getattr(strategy, name) for name in names}


def rule_time(model, gpus, B, T) -> float:
    """Seconds of the plan that follows from bounds alone."""
    ruled = decide(KEYS[model], cluster_of(gpus), B=B, T=T, gpus=gpus).strategy
    return plan_time(model, gpus, B, T, **record_of(ruled)).total


def best_time(model, gpus, B, T) -> float:
    """Seconds of the planner's best, memory's margin aside, with as many chunks as the software has."""
    chunks, software = Allowed(v=range(1, SOFTWARE.most_chunks + 1)), SoftwareSettings(stack=STACK.key)
    room = accelerators["h100-sxm"].hbm_bytes
    found = plan(KEYS[model], cluster_of(gpus), B=B, T=T, allowed=chunks, software=software, memory=room)
    return (found.quicker_unsure or found[0]).seconds


def planned_record(model) -> dict:
    """What the planner finds, in the words of an answer."""
    return record_of(PLANNED[model])


PLANNED = {
    "Llama 3.1 405B": Strategy(dp=4, tp=8, pp=16, cp=2, v=8, zero=1),
    "Llama 3.1 70B": Strategy(dp=16, tp=4, pp=4, v=20, zero=1),
    "GPT-3 175B": Strategy(dp=4, tp=4, pp=16, v=6, micro=2, zero=1),
}


def record_from(gpus, **changed) -> dict:
    """A record with dp for what the others leave."""
    record = dict(dp=1, tp=8, pp=1, cp=1, v=1, micro=1, zero=1, recompute="none") | changed
    return record | {"dp": gpus // (record["tp"] * record["pp"] * record["cp"])}


LAB_BEAT = Exercise(
    id="mixed-strategies-lab-beat",
    title="Lab: beat the rule of thumb",
    points=3,
    prompt="Plan the training of {model} on {gpus} H100s: nodes of 8 with NVLink, joined by a network that passes on "
    "all that they send, 50 GB/s for each GPU. A step has {B} tokens in sequences of {T}, in bfloat16, with Megatron "
    "Core: 1F1B, with `v` chunks of layers on a rank, and sequence parallelism wherever there is tensor parallelism. "
    "`dp·tp·pp·cp` is the number of GPUs; a pipeline has no ZeRO-2 or ZeRO-3, and interleaving needs microbatches in "
    "multiples of `pp`. Which plan has the shortest step? Plans are timed by `hwlib.steptime`, and their bytes are "
    "those of "
    "`hwlib.footprint` with 1.5 GB for the software. *Exact*, of these models: their own error on such steps is "
    f"{STACK.error:.1%}, which is how near the last points ask you to come.",
    given=BEAT_TASKS,
    answer=Design(
        fields={
            "dp": Field("replicas", 1, 1024, whole=True),
            "tp": Field("GPUs that share each matrix", 1, 64, whole=True),
            "pp": Field("pipeline stages", 1, 128, whole=True),
            "cp": Field("GPUs that share each sequence", 1, 64, whole=True),
            "v": Field("chunks of layers on a rank", 1, 24, whole=True),
            "micro": Field("sequences of a microbatch", 1, 64, whole=True),
            "zero": Field("stage of ZeRO", 0, 3, whole=True),
            "recompute": Field("what is recomputed", options=RECOMPUTE),
        },
        objective=plan_time,
        measure="the time of a step",
        unit="s",
        conditions=[Condition("the memory of the fullest GPU", plan_bytes, at_most=ROOM, unit="B")],
        pars=[
            Par(1, rule_time, "the rule of thumb"),
            Par(2, lambda best: 1.05 * best, "5 % above the planner's best"),
            Par(3, lambda best: (1 + STACK.error) * best, "the planner's best, and the model's error"),
        ],
        known=[Known(best_time, "the planner")],
    ),
    solution=planned_record,
    mistakes=(
        Mistake(
            lambda gpus: record_from(gpus, tp=1, zero=3, recompute="full"),
            "Data parallelism alone, with all states cut up: there cannot be more replicas than sequences, and a whole "
            "sequence fits on a GPU only if everything is recomputed. Which degree cuts the activations of a "
            "sequence?",
        ),
        Mistake(
            lambda gpus: record_from(gpus, pp=16, recompute="full"),
            "Recomputing everything buys memory with a third more arithmetic. Which other degree makes activations "
            "smaller?",
        ),
        Mistake(
            lambda gpus: record_from(gpus, tp=32, pp=4),
            "A group of 32 spans four nodes, and its collectives are waited for in every layer. Which axis bears the "
            "network better?",
        ),
    ),
    hints=(
        "Begin with `tp` within the node and as many stages as the states need. A plan "
        "that does not fit is told what fills its memory; one that fits, where its time goes.",
        "A bubble shrinks with more chunks on a rank, each of which costs activations. Memory that is missing can come "
        "from `cp`, which cuts a replica's sequences, as well as from recomputation.",
        "Where half of `tp` with twice `pp` or `cp` fits, tensor-parallel waits shrink; where it does not, keep `tp` "
        "and see what `cp` buys, for its transfers run beside attention. The largest model here needs all of a node.",
    ),
    explain="Three terms are worth bargaining for: arithmetic that is done twice, waits for tensor-parallel "
    "collectives, and the bubble. Full recomputation is the dearest, so memory has to come from elsewhere: ZeRO-1 "
    "costs nothing, stages divide the states, and `cp` divides the activations with transfers that run beside "
    "attention. `tp` is as small as memory allows, at most a node. Chunks divide the bubble by `v`. What is "
    "left within the model's error is no better for all that the model knows: of such plans take the one that is "
    "simplest to run.",
)
