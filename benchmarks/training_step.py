"""A published training run in the words of the model: machine, plan and seconds of a step."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hwlib.specs import Model, accelerators
from hwlib.specs.cluster import Level
from hwlib.transformer import step_flops

if TYPE_CHECKING:
    from benchmarks.published import Row

MANY = 4096  # nodes: more than any row has
MOST_TOKENS = 2**28  # of a step: several times more than any published run has


@dataclass(frozen=True)
class Unmodelled:
    """A row without a prediction, and why."""

    reason: str


@dataclass(frozen=True, eq=False)
class Step:
    """A timed training step. `plan` is what `hwlib.steptime.step_time` takes, B and T among it."""

    group: str
    stack: str
    chip: str
    model: Model
    levels: tuple[Level, ...]
    plan: Mapping[str, Any]
    seconds: float
    gpus: int


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
    (r"GB300", "gb300-nvl72"), (r"GB200", "gb200-nvl72"), (r"B300", "b300-sxm"), (r"B200", "b200-sxm"),
    (r"H200", "h200-sxm"), (r"H800", "h800-sxm"), (r"h100", "h100-sxm"), (r"A100[-_ ]?40", "a100-40gb-sxm"),
    (r"a100", "a100-80gb-sxm"), (r"V100", "v100-sxm2"),
)  # fmt: skip
NETWORK = {
    "gb300-nvl72": (64, 100e9), "gb200-nvl72": (64, 50e9), "b300-sxm": (8, 100e9), "b200-sxm": (8, 50e9),
    "h200-sxm": (8, 50e9), "h800-sxm": (8, 50e9), "h100-sxm": (8, 50e9), "a100-80gb-sxm": (8, 25e9),
    "a100-40gb-sxm": (8, 25e9), "v100-sxm2": (8, 12.5e9),
}  # fmt: skip
NVLINK = {
    "gb300-nvl72": 900e9, "gb200-nvl72": 900e9, "b300-sxm": 900e9, "b200-sxm": 900e9, "h200-sxm": 450e9,
    "h800-sxm": 200e9, "h100-sxm": 450e9, "a100-80gb-sxm": 300e9, "a100-40gb-sxm": 300e9, "v100-sxm2": 150e9,
}  # fmt: skip


def chip_of(system: str) -> str:
    """The key of the accelerator that a system's name speaks of. Raises ValueError."""
    for pattern, chip in CHIPS:
        if re.search(pattern, system, re.IGNORECASE):
            return chip
    raise ValueError(f"no constants for the software of {system!r}")


def levels_of_row(chip: str, out: float | None = None) -> tuple[Level, ...]:
    """The domain of NVLink and a network without a bottleneck above it; `out` B/s leave it for each GPU."""
    size, usual = NETWORK[chip]
    return (Level("node", size, NVLINK[chip]), Level("network", MANY, size * (out or usual)))


def step(
    row: "Row", stack: str, model: Model, plan: dict[str, Any], *, chip: str = "", out: float | None = None,
    flops: float | None = None, dtype: str = "bf16",
) -> Step | Unmodelled:  # fmt: skip
    """A row's step. `plan` has B in sequences; degrees that it lacks follow; `flops` of the step, as the source counts.

    Raises ValueError for a plan that cannot be.
    """
    chip = chip or chip_of(row.system)
    T, sequences = plan["T"], plan["B"]
    shared = plan.get("tp", 1) * plan.get("pp", 1) * plan.get("cp", 1)
    dp = plan.get("dp") or row.gpus / shared
    if dp != int(dp):
        raise ValueError(f"tp x pp x cp is {shared}, which does not divide the {row.gpus} GPUs")
    if dp * shared != row.gpus or dp < 1:
        raise ValueError(f"dp x tp x pp x cp is {dp * shared:g}, not the {row.gpus} GPUs")
    if sequences % dp:
        raise ValueError(f"a batch of {sequences} sequences does not divide over {dp:g} replicas")
    if sequences * T > MOST_TOKENS:
        raise ValueError(f"a batch of {sequences * T:,} tokens: gbs counts sequences, and {sequences:,} is of tokens")
    dp = int(dp)
    micro = plan.get("micro") or 1
    if round(sequences / dp / micro, 6) % 1:
        raise ValueError(f"{sequences // dp} sequences of a replica are not a whole number of microbatches of {micro}")
    if model.heads % plan.get("tp", 1):
        raise ValueError(f"tp = {plan['tp']} does not divide the {model.heads} heads")
    pp, tp, ep, ranks = plan.get("pp", 1), plan.get("tp", 1), plan.get("ep", 1), dp * plan.get("cp", 1)
    if pp > model.layers:
        raise ValueError(f"pp = {pp} stages are more than the {model.layers} layers")
    if model.experts % ep or (ranks % ep and (ranks * tp % ep or ep % ranks)):
        raise ValueError(f"ep = {ep} does not divide the {model.experts} experts, or the ranks of a stage")
    # Two chunks may hold the embedding and the output layer alone; experts over more than the replicas are whole on
    # ranks of one tensor-parallel group, which is here the same as cut among them.
    v = plan.get("v", 1)
    at_most = {"v": v if pp * v <= model.layers + 2 else model.layers // pp, "ep": min(ep, ranks)}
    full = {**plan, **at_most, "B": sequences * T, "dp": dp, "micro": micro, "dtype": dtype}
    seconds = seconds_of(row, model, full, chip, flops)
    done = step_flops(model, sequences * T, T) / (seconds * row.gpus * accelerators[chip].flops(dtype))
    if done > 1:
        raise ValueError(f"the row contradicts itself: {done:.0%} of the chip's peak")
    return Step(row.set, stack, chip, model, levels_of_row(chip, out), full, seconds, row.gpus)


def seconds_of(row: "Row", model: Model, plan: Mapping[str, Any], chip: str, flops: float | None) -> float:
    """Seconds of a step, from whatever the source printed. Raises ValueError for another unit.

    A rate in tokens needs no count of operations. Where the source prints both, the rate in TFLOP/s, which has more
    digits in some tables, is taken if our count agrees with the source's to 2 %, else that in tokens.
    """
    unit, value, B = row.unit.lower(), row.value, plan["B"]
    ours = flops or step_flops(model, B, plan["T"])
    if unit.startswith(("s/iter", "s/step")):
        return value
    if unit.startswith(("ms/iter", "ms/step")):
        return value / 1e3
    if unit.startswith("tokens/s"):
        return B / (value * (row.gpus if "/gpu" in unit or "/chip" in unit else 1))
    if "tflop/s" in unit and ("/gpu" in unit or "/chip" in unit):
        rate = printed_number(row.config.get("tokens_s_gpu"))
        if rate and abs(ours / B * rate / (value * 1e12) - 1) > 0.02:
            return B / (rate * row.gpus)
        return ours / (value * 1e12 * row.gpus)
    if unit.startswith(("mfu", "bf16 mfu")):
        share = value / 100 if "%" in unit or value > 1 else value
        return ours / (share * accelerators[chip].flops("bf16") * row.gpus)
    raise ValueError(f"the unit {row.unit!r} gives no time of a step")


def printed_number(x: Any) -> float:
    """A number above 0 as a table prints it, or 0 for anything else."""
    try:
        value = float(str(x).replace(",", ""))
    except ValueError:
        return 0.0
    return value if 0 < value < math.inf else 0.0
