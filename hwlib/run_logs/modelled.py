"""What the planner says of the run of a log: its step and its memory, by the same call as `gpubook plan`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hwlib.planner import Plan, PlanError, Plans, Task, plan
from hwlib.planner.certainty import plan_error
from hwlib.planner.costs import costed_plan
from hwlib.planner.keywords import records_of
from hwlib.planner.task import task_of
from hwlib.run_logs.facts import DERIVED, Facts, value_of
from hwlib.run_logs.machine import chip_of_run, cluster_of, machine_known, model_of
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.tuned import adapter_options
from hwlib.specs import Model, SpecError, stacks
from hwlib.strategy import Strategy

DEGREES = ("tp", "pp", "cp", "ep", "v", "micro", "zero", "recompute", "shards", "schedule", "sp", "etp")
STACKS: Mapping[str, str] = {"torchtitan": "torchtitan", "composer": "llm-foundry", "nemo": "megatron-core"}
"""The stack of a program by the beginning of its key; of others the planner's own choice for the chip."""
OWN = ("megatron", "nemo", "torchtitan", "composer")
"""Programs that steps were fitted to; others do what no fitted software does, and are timed by its constants."""
ALIASES: Mapping[tuple[str, str], str] = {("torchtitan", "selective"): "op"}
CHOSEN = ("tp", "pp", "cp", "ep", "micro", "zero", "recompute")
PREFERRED = ("none", "selective", "full", "op")


@dataclass(frozen=True)
class ModelledStep:
    """The plan of a run with its costs, within which seconds four of five such steps are, what of it nobody said and
    the planner chose, and whether it fits by the model.
    """

    task: Task
    plan: Plan
    low: float
    high: float
    error: float
    assumed: tuple[str, ...]
    fits: bool
    pinned: Mapping[str, Any]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class NotModelled:
    """Why there is no plan: what has to be said, by the names of options, or a sentence."""

    missing: tuple[str, ...] = ()
    sentence: str = ""


def modelled_step(log: RunLog, facts: Facts) -> ModelledStep | NotModelled:
    """The planner's answer for the degrees of a log; those that it does not say are the planner's choice."""
    try:
        model = model_of(facts)
        cluster = cluster_of(facts)
    except (KeyError, SpecError) as error:
        return NotModelled(sentence=_words(error))
    wanted = {"--model": model, "--on": machine_known(facts), "--gpus": value_of(facts, "gpus")}
    wanted["--batch"] = value_of(facts, "batch_tokens")
    missing = tuple(name for name, value in wanted.items() if not value)
    if missing:
        return NotModelled(missing)
    assert isinstance(model, Model)
    pinned = pinned_degrees(log, facts)
    batch = _whole_sequences(facts)
    if batch != value_of(facts, "batch_tokens"):
        pinned.pop("micro", None)
    if not model.moe:  # programs print degrees of experts of any model
        pinned = {name: value for name, value in pinned.items() if name not in ("ep", "etp")}
    arguments = {
        "model": model,
        "cluster": cluster,
        "B": batch,
        "T": _whole(value_of(facts, "sequence")),
        "gpus": int(value_of(facts, "gpus")),
        **_software(log, facts),
    }
    try:
        return _answer(arguments, pinned)
    except (PlanError, ValueError, KeyError) as error:
        return NotModelled(sentence=f"the planner takes no such run: {_words(error)}")


def _whole_sequences(facts: Facts) -> int:
    """The tokens of a step: where a log counts them without padding those of the nearest number of full sequences."""
    tokens, T = value_of(facts, "batch_tokens"), value_of(facts, "sequence")
    if not T or facts["batch_tokens"].origin != DERIVED or tokens % T == 0:
        return int(tokens)
    return int(max(1, round(tokens / T)) * T)


def _words(error: Exception) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value >= 1 else None


def pinned_degrees(log: RunLog, facts: Facts) -> dict[str, Any]:
    """The degrees that are known, in the planner's words."""
    pinned: dict[str, Any] = {}
    for name in DEGREES:
        value = value_of(facts, name)
        if isinstance(value, str):
            words = "none" if value.lower() in ("none", "false") else value
            pinned[name] = ALIASES.get((log.program, words), words)
        elif isinstance(value, int | float):
            pinned[name] = int(value)
    if "recompute" in pinned and pinned["recompute"] not in PREFERRED:
        del pinned["recompute"]
    if pinned.get("v", 1) < 1:
        del pinned["v"]
    pinned.pop("sp", None)
    return pinned


def _software(log: RunLog, facts: Facts) -> dict[str, Any]:
    """The precision, and the stack whose constants are of this program on this chip, if there is one."""
    chip = chip_of_run(facts)
    dtype = value_of(facts, "dtype") or "bf16"
    stack = value_of(facts, "stack")
    if not stack and chip and log.program in STACKS:
        start = STACKS[log.program]
        mine = [key for key, row in stacks.items() if key.startswith(start) and row.accelerator.key == chip.key]
        stack = min(mine, key=len, default=None)
    software = {"dtype": dtype, "stack": stack} if stack else {"dtype": dtype}
    others = {name: value_of(facts, name) for name in ("states", "offload", "optimizer", "release", "features")}
    others |= adapter_options(model_of(facts), facts)
    if log.program not in OWN and others["features"] is None:
        others["features"] = "any"
    return software | {name: value for name, value in others.items() if value is not None}


def _answer(arguments: Mapping[str, Any], pinned: Mapping[str, Any]) -> ModelledStep:
    try:
        plans = planned(arguments, pinned)
        task, best, fits = plans.task, plans[0], True
    except PlanError as error:
        if error.field != "memory":
            raise
        task, best, fits = *_too_large(arguments, pinned), False
    error_of_plan = plan_error(task, best.strategy)
    low, high = error_of_plan.interval(best.seconds)
    assumed = tuple(name for name in CHOSEN if name not in pinned and (name != "ep" or task.model.moe))
    return ModelledStep(task, best, low, high, error_of_plan.mean, assumed, fits, pinned, arguments)


def _too_large(arguments: Mapping[str, Any], pinned: Mapping[str, Any]) -> tuple[Task, Plan]:
    """A plan that does not fit by the model, though its log says that it ran: with the degrees that are known, and the
    least of the others. Raises ValueError for one that cannot be.
    """
    names = ("dtype", "stack", "states", "offload", "optimizer", "release", "features", "lora", "base")
    _, software = records_of(None, None, {name: arguments[name] for name in names if name in arguments})
    B, T, gpus = arguments["B"], arguments["T"], arguments["gpus"]
    task = task_of(arguments["model"], arguments["cluster"], B=B, T=T, gpus=gpus, software=software)
    degrees: dict[str, Any] = {"tp": 1, "pp": 1, "cp": 1, "micro": 1, "zero": 0, "recompute": "none"} | dict(pinned)
    dp, rest = divmod(gpus, degrees["tp"] * degrees["pp"] * degrees["cp"])
    strategy = Strategy.of(dp=dp, **degrees)
    m, left = divmod(task.sequences, dp * degrees["micro"]) if dp else (0, 1)
    if rest or left or not m:
        raise PlanError("batch", f"{task.sequences:,} sequences and {gpus:,} GPUs do not divide into {strategy}")
    return task, costed_plan(task, strategy, m)


def planned(arguments: Mapping[str, Any], pinned: Mapping[str, Any]) -> Plans:
    """The best plans with some degrees given. Raises PlanError."""
    rest = {name: value for name, value in arguments.items() if name not in ("model", "cluster")}
    return plan(arguments["model"], arguments["cluster"], count=1, **rest, **pinned)
