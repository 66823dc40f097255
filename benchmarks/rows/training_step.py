"""A published training run in the words of the model: machine, plan and seconds of a step."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.row_chips import chip_of_words
from benchmarks.rows.training_units import MeasuredValue, OperationCounts
from hwlib.footprint import unchecked_footprint
from hwlib.planner import SoftwareSettings, Task
from hwlib.planner.task import task_of
from hwlib.specs import Model, OwnCluster, accelerators, nodes
from hwlib.specs.cluster import Level
from hwlib.specs.stack import CONSTANTS, SAME_DIE, Stack, stack_on, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.transformer import step_flops

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

MANY = 4096  # nodes: more than any row has
MOST_TOKENS = 2**28  # of a step: several times more than any published run has
SHORTEST = 128  # sequence: a batch that stands in its place is found by that
MISREAD = 1.2  # times a chip's memory, beyond which a plan that was guessed in part is not scored: counts err, too
LEAST = 0.002  # share of a chip's peak: a quarter of the slowest published run, whose model is small


@dataclass(frozen=True)
class Unmodelled:
    """A row without a prediction, and why."""

    reason: str


@dataclass(frozen=True, eq=False)
class TrainingStep:
    """A timed training step. `plan` is what the row says, by the names of `step_time` and of the strategy's fields.

    `software` is what `gpubook plan` is asked for the same, `stack` the constants that this comes to; where no step of
    these was fitted on the chip, `typical` is what they are. `open` says that the row leaves something open, so that it
    is never fitted, nor another row's repeat. A host that keeps something is joined as in the nodes that have such a
    chip, for rows name no link to it.
    """

    group: str
    stack: str
    chip: str
    model: Model
    levels: tuple[Level, ...]
    plan: Mapping[str, Any]
    seconds: float
    gpus: int
    software: SoftwareSettings
    typical: Stack | None = None
    open: bool = False

    def task(self, stack: Stack | None = None) -> Task:
        """The planner's task, with its software's constants or others. Raises PlanError."""
        host = host_bandwidth(self.chip) if self.software.offload else None
        cluster = OwnCluster(f"{self.gpus} GPUs", accelerators[self.chip], self.levels, host)
        software = self.software if stack is None else replace(self.software, stack=stack)
        B, T = self.plan["B"], self.plan["T"]
        return task_of(self.model, cluster, B=B, T=T, gpus=self.gpus, software=software)

    def time(self, stack: Stack | None = None) -> float:
        """What the planner says, in seconds. Adapters beside frozen matrices it cannot be asked for: their step is that
        of `hwlib.steptime`. Raises ValueError.
        """
        task, (strategy, rest) = self.task(stack), parted(self.plan)
        if rest.get("frozen"):
            return float(step_time(self.model, task.stack, task.machine.levels, strategy, **rest).total)
        return float(step_time(task, strategy).total)

    @property
    def memory_share(self) -> float:
        """What the plan needs of its chip's memory, NaN where nobody says how much that is. Raises PlanError."""
        return self.memory() / (accelerators[self.chip].seen_bytes or math.nan)

    def memory(self) -> float:
        """Bytes of the fullest GPU, as the planner counts them; of adapters too, as if all matrices were trained."""
        task, (strategy, rest) = self.task(), parted(self.plan)
        m = max(strategy.microbatches(rest["B"], rest["T"]), 1.0)
        return float(unchecked_footprint(task, strategy, m=m).total)


def host_bandwidth(chip: str) -> float | None:
    """What a GPU sends to its host in the first node with such a chip, whatever its memory, in B/s, one direction."""
    kin = (node for node in nodes.values() if node.accelerator.partition("-")[0] == chip.partition("-")[0])
    return next((node.to_host_bandwidth for node in kin if node.to_host_bandwidth), None)


def parted(plan: Mapping[str, Any]) -> tuple[Strategy, dict[str, Any]]:
    """The strategy of a row's plan, and what else `step_time` takes."""
    degrees = {f.name for f in fields(Strategy)}
    rest = {name: x for name, x in plan.items() if name not in degrees}
    return Strategy(**{name: x for name, x in plan.items() if name in degrees}), rest


def number(config: Mapping[str, Any], *names: str, default: int | None = None) -> int:
    """A whole number of at least 1, as tables print it: 8, "8", "4 (8)" (the first of two settings), "n/a".

    Raises ValueError, naming what is missing or odd.
    """
    for name in names:
        text = str(config.get(name, "")).strip().lower()
        if not text or text in ("n/a", "na", "none", "null", "-"):
            continue
        found = re.match(r"(\d+(?:\.\d+)?)([km]?)\s*(?:\(.*\))?$", text)
        if not found:
            raise ValueError(f"{name} is {text!r}, not a number")
        value = float(found[1]) * {"": 1, "k": 1024, "m": 2**20}[found[2]]
        if value == 0 and default is not None:
            return default
        if value < 1 or value != int(value):
            raise ValueError(f"{name} is {text}, not a whole number of at least 1")
        return int(value)
    if default is None:
        raise ValueError(f"the row does not give {names[0]}")
    return default


# Machines: accelerators of one domain of NVLink, and what one sends out of it, GB/s in one direction.
CHIPS = (
    (r"GB300", "gb300-nvl72"),
    (r"GB200", "gb200-nvl72"),
    (r"B300", "b300-sxm"),
    (r"B200", "b200-sxm"),
    (r"H200", "h200-sxm"),
    (r"H800", "h800-sxm"),
    (r"h100", "h100-sxm"),
    (r"A100[-_ ]?40", "a100-40gb-sxm"),
    (r"a100", "a100-80gb-sxm"),
    (r"V100", "v100-sxm2"),
    (r"MI300X", "mi300x"),
    (r"MI325X", "mi325x"),
    (r"MI350X", "mi350x"),
    (r"MI355X", "mi355x"),
)
OTHERS = r"pcie|\bnvl\b|GH200|A100X"  # whose names have another chip's in them
NETWORK = {
    "gb300-nvl72": (64, 100e9),
    "gb200-nvl72": (64, 50e9),
    "b300-sxm": (8, 100e9),
    "b200-sxm": (8, 50e9),
    "h200-sxm": (8, 50e9),
    "h800-sxm": (8, 50e9),
    "h100-sxm": (8, 50e9),
    "a100-80gb-sxm": (8, 25e9),
    "a100-40gb-sxm": (8, 25e9),
    "v100-sxm2": (8, 12.5e9),
    "mi300x": (8, 50e9),
    "mi325x": (8, 50e9),
    "mi350x": (8, 50e9),
    "mi355x": (8, 50e9),
}
USUAL_NETWORK = 50e9
"""B/s that a chip sends out of its node where neither its row nor its data sheet says: 400 Gb/s, as most have now."""
NVLINK = {
    "gb300-nvl72": 900e9,
    "gb200-nvl72": 900e9,
    "b300-sxm": 900e9,
    "b200-sxm": 900e9,
    "h200-sxm": 450e9,
    "h800-sxm": 200e9,
    "h100-sxm": 450e9,
    "a100-80gb-sxm": 300e9,
    "a100-40gb-sxm": 300e9,
    "v100-sxm2": 150e9,
    "mi300x": 448e9,
    "mi325x": 448e9,
    "mi350x": 535.5e9,
    "mi355x": 535.5e9,
}


def chip_of(system: str) -> str:
    """The key of the accelerator that a system's name speaks of: one of those that steps were fitted on, or any other
    whose data sheet has the rate of its links. Raises ValueError.
    """
    if not re.search(OTHERS, system, re.IGNORECASE):
        for pattern, chip in CHIPS:
            if re.search(pattern, system, re.IGNORECASE):
                return chip
    sheet = chip_of_words(system)
    if sheet.key not in accelerators:
        raise ValueError(f"system is {system!r}, a chip that only servers are read of")
    if not sheet.scaleup_bandwidth:
        raise ValueError(f"system is {system!r}: the data sheet of {sheet.name} has no rate of its links")
    return sheet.key


def levels_of_row(chip: str, out: float | None = None, size: int = 0) -> tuple[Level, ...]:
    """The domain of NVLink, or nodes of `size`, and a network without a bottleneck above it; `out` B/s leave it for
    each GPU.
    """
    sheet = accelerators[chip]
    whole, usual = NETWORK.get(chip, (sheet.scaleup_domain or 8, sheet.nic_bandwidth or USUAL_NETWORK))
    links = NVLINK.get(chip) or sheet.scaleup_bandwidth or 0.0
    size = size or whole
    return (Level("node", size, links), Level("network", MANY, size * (out or usual)))


def step(
    row: "PublishedRow",
    stack: str,
    model: Model,
    plan: dict[str, Any],
    *,
    chip: str = "",
    out: float | None = None,
    counts: OperationCounts | None = None,
    dtype: str = "bf16",
    release: str = "",
    mtp: bool | None = None,
    usual: bool = False,
    asked: Mapping[str, Any] | None = None,
) -> TrainingStep | Unmodelled:
    """A row's step. `plan` has B in sequences; degrees that it lacks follow; `counts` of the step as the source counts.

    `stack` is that of the row's software, or empty where that is unknown, or `usual` on the chip: then the library
    chooses, for the row's `release`. `asked` are further settings of the software, by their names.
    Raises ValueError for a plan that cannot be.
    """
    chip = chip or chip_of(row.system)
    T, sequences = plan["T"], plan["B"]
    dp = _replicas(row.gpus, plan)
    micro = _microbatch(plan, dp)
    if model.heads % plan.get("tp", 1):
        raise ValueError(f"tp = {plan['tp']} does not divide the {model.heads} heads")
    layers_and_experts = {"v": _chunks(model, plan), **_expert_degrees(model, plan, dp * plan.get("cp", 1))}
    printed = {name: x for name, x in plan.items() if name != "etp"}
    named = software_stack(stack, chip)
    software = SoftwareSettings(
        stack=named, dtype=dtype, fused=plan.get("fused", True), release=release or None, mtp=mtp, **(asked or {})
    )
    does = software.on(accelerators[chip], model)
    assert isinstance(does.stack, Stack)
    printed |= {"dedup_dispatch": does.dedup_dispatch} if model.moe else {}
    printed |= {"mtp": does.mtp} if model.mtp_layers else {}
    full = {**printed, **layers_and_experts, "B": sequences * T, "dp": dp, "micro": micro, "dtype": dtype}
    check_words(row.config, dtype)
    counts = counts or OperationCounts.ours(model, sequences * T, T, plan.get("recompute", "none"))
    measured = MeasuredValue(row.value, row.unit, row.gpus, sequences * T, T, chip, dtype, counts, row.config)
    done = step_flops(model, sequences * T, T) / (measured.seconds * row.gpus * accelerators[chip].flops(dtype))
    if not LEAST < done <= 1:
        raise ValueError(f"the row contradicts itself: {done:{'.0%' if done > 1 else '.1g'}} of the chip's peak")
    key = does.stack.key
    own = (usual or named) and key in stacks and (does.stack.fitted or _variant(key))
    typical = None if own else does.stack
    levels = levels_of_row(chip, out)
    return TrainingStep(
        row.set,
        key if key in stacks else stack,
        chip,
        model,
        levels,
        full,
        measured.seconds,
        row.gpus,
        software,
        typical,
    )


OPEN = "of a row that leaves something open"


def as_typical(case: TrainingStep | Unmodelled, why: str = OPEN) -> TrainingStep | Unmodelled:
    """A step whose constants are not of its software, however they were chosen, and why."""
    if isinstance(case, Unmodelled):
        return case
    if case.typical:
        return replace(case, open=True)
    stack = case.task().stack
    return replace(case, typical=stack.replace(key=f"{stack.key}, {why}"), open=True)


def _replicas(gpus: int, plan: Mapping[str, Any]) -> int:
    """The replicas of a plan on so many GPUs. Raises ValueError."""
    shared = plan.get("tp", 1) * plan.get("pp", 1) * plan.get("cp", 1)
    dp = plan.get("dp") or gpus / shared
    if dp != int(dp):
        raise ValueError(f"tp x pp x cp is {shared}, which does not divide the {gpus} GPUs")
    if dp * shared != gpus or dp < 1:
        raise ValueError(f"dp x tp x pp x cp is {dp * shared:g}, not the {gpus} GPUs")
    return int(dp)


def _microbatch(plan: Mapping[str, Any], dp: int) -> int:
    """Sequences of a microbatch, in a batch that so many replicas share. Raises ValueError."""
    T, sequences, micro = plan["T"], plan["B"], plan.get("micro") or 1
    if sequences % dp:
        raise ValueError(f"a batch of {sequences} sequences does not divide over {dp} replicas")
    if T < SHORTEST:
        raise ValueError(f"sequences of {T} tokens: no published run has any shorter than {SHORTEST}")
    if sequences * T > MOST_TOKENS:
        raise ValueError(f"a batch of {sequences * T:,} tokens: gbs counts sequences, and {sequences:,} is of tokens")
    if round(sequences / dp / micro, 6) % 1:
        raise ValueError(f"{sequences // dp} sequences of a replica are not a whole number of microbatches of {micro}")
    return micro


def _chunks(model: Model, plan: Mapping[str, Any]) -> int:
    """Chunks of a rank, of which two may hold the embedding and the output layer alone. Raises ValueError."""
    pp, v = plan.get("pp", 1), plan.get("v", 1)
    if pp > model.layers:
        raise ValueError(f"pp = {pp} stages are more than the {model.layers} layers")
    return v if pp * v <= model.layers + 2 else model.layers // pp


def _expert_degrees(model: Model, plan: Mapping[str, Any], ranks: int) -> dict[str, int]:
    """How experts are shared and cut, among so many ranks of data and context. Raises ValueError."""
    tp, ep = plan.get("tp", 1), plan.get("ep", 1)
    if etp := plan.get("etp"):
        if model.experts % ep or ranks * tp % (etp * ep) or tp % etp:
            raise ValueError(f"etp x ep = {etp * ep} does not divide the ranks of a stage, or ep the experts")
        return {"ep": ep} if etp == tp else {"ep": ep, "etp": etp}
    if ep > ranks and ranks * tp % ep == 0 == model.experts % ep:  # more than replicas: each expert is whole
        return {"ep": ep, "etp": 1}
    if model.experts % ep or ranks % ep:
        raise ValueError(f"ep = {ep} does not divide the {model.experts} experts, or the ranks of a stage")
    return {"ep": ep}


def own_constants(stack: Stack) -> int:
    """How many constants differ from those of the stack that it is like, or from an ideal machine's: typed ones too."""
    base = stacks[stack.like] if stack.like in stacks else Stack.ideal(stack.chip)
    return sum(getattr(stack, name) != getattr(base, name) for name in CONSTANTS)


def _variant(stack: str) -> bool:
    """Whether a stack is one that was fitted but for what a switch of its software changes, or was fitted together with
    another chip of the same software and release.
    """
    software, _, chip = stack.rpartition("-")
    like = stacks[stack].like
    if like in stacks and stacks[like].fitted and stacks[like].row == stacks[stack].row:
        return True
    return f"{software.rpartition('-')[0]}-{chip}" == like


def software_stack(stack: str, chip: str) -> Stack | None:
    """The constants of a software on a chip: its own, those of it on the same die, or those of another chip that stand
    on any; None where it has none, and those usual on the chip count.
    """
    software = stack.rpartition("-")[0]
    sibling = f"{software}-{SAME_DIE.get(chip, chip).partition('-')[0]}"
    others = [key for key in stacks if software and key.rpartition("-")[0] == software]
    for key in (stack, sibling, *others):
        if key in stacks and (found := stack_on(stacks[key], accelerators[chip])):
            return found
    return None


UNREAD = r"offload|lora|peft|frozen|drop_tokens|capacity"  # what a prediction would leave out, in cells' names


def check_words(config: Mapping[str, Any], dtype: str) -> None:
    """Raises ValueError for a row that says what a prediction would leave out."""
    for name in config:
        if re.search(UNREAD, name, re.IGNORECASE) and flag(config, name, other=True):
            raise ValueError(f"{name} is not modelled")
    text = str(config.get("precision") or config.get("dtype") or "").lower()
    small = next((word for word in ("fp8", "fp4", "fp32", "tf32", "int8") if word in text), "")
    if small and small != dtype:
        raise ValueError(f"products in {small}, which no row of this table has")


YES, NO = ("true", "yes", "on", "1", "1.0"), ("false", "no", "off", "0", "0.0", "none", "null", "")


def flag(config: Mapping[str, Any], name: str, other: bool | None = None) -> bool:
    """A cell that says yes or no; `other` for another word. Raises ValueError where it is missing, or odd."""
    text = str(config.get(name, "missing")).strip().lower()
    if text in YES or text in NO:
        return text in YES
    if other is None:
        reason = f"{name} is {text!r}, not true or false"
        raise ValueError(reason if name in config else f"the row does not give {name}")
    return other
