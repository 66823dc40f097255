"""Published memory of training: bytes of one GPU as measured, and the plan that they were measured with."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.rows.read_keys import FIGURE, unread
from benchmarks.rows.training_step import Unmodelled
from hwlib.footprint import MEGATRON_ADAM, Footprint, footprint
from hwlib.specs import Model, models
from hwlib.strategy import Strategy
from hwlib.transformer import layer_activation_bytes, parameter_count, selective_activation_bytes
from hwlib.units import GB, GiB

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

# Korthikanti 2022, Table 3: the plan of each model.
PLANS = {
    "22b": {"tp": 8, "pp": 1, "v": 1, "micro": 4, "m": 1},
    "175b": {"tp": 8, "pp": 8, "v": 3, "micro": 1, "m": 64},
    "530b": {"tp": 8, "pp": 35, "v": 3, "micro": 1, "m": 280},
    "1t": {"tp": 8, "pp": 64, "v": 1, "micro": 1, "m": 512},
}
UNITS = {"gib": GiB, "gb": GB, "mib": GiB / 1024, "mb": GB / 1000, "bytes": 1, "b": 1}
MODES = {
    "none": (False, "none"),
    "sp": (True, "none"),
    "selective": (False, "selective"),
    "sp+selective": (True, "selective"),
    "full": (False, "full"),
}


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """Memory of a GPU, in bytes, or of the activations as a share of those without recomputation.

    `part` is "states" or "activations"; of the states those of a stage in the middle, for the figure leaves the
    tables out; of the activations those of the first stage, which keeps most.
    """

    group: str
    size: str
    part: str
    mode: str
    relative: bool
    measured: float

    @property
    def model(self) -> Model:
        """The model of the figure."""
        return models[f"korthikanti-{self.size}"]

    @property
    def predicted(self) -> float:
        """What `hwlib.footprint` says."""
        if self.part == "states":
            return float(_footprint(self.model, self.size, "none", stage=min(1, PLANS[self.size]["pp"] - 1)).states)
        there = float(_footprint(self.model, self.size, self.mode).activations)
        whole = float(_footprint(self.model, self.size, "none").activations)
        return there / whole if self.relative else there

    @property
    def simple(self) -> float:
        """Without stages: 16 bytes a parameter; activations of all layers divided by tp, whatever the mode."""
        plan = PLANS[self.size]
        if self.part == "states":
            return 16 * parameter_count(self.model) / (plan["tp"] * plan["pp"])
        whole = self._divided("none")
        there = self._divided(self.mode)
        return there / whole if self.relative else there

    def _divided(self, mode: str) -> float:
        model, micro = self.model, PLANS[self.size]["micro"]
        rows = 2048 * micro * model.width
        if mode == "full":
            return 2.0 * rows * model.layers
        layer = selective_activation_bytes(2048, micro, model.width)
        if "selective" not in mode:
            layer = layer_activation_bytes(2048, micro, model.width, model.heads)
        return model.layers * layer / PLANS[self.size]["tp"]


def _footprint(model: Model, size: str, mode: str, stage: int = 0) -> Footprint:
    sp, recompute = MODES[mode]
    degrees = dict(PLANS[size])
    m = degrees.pop("m")
    strategy = Strategy(**degrees, sp=sp, recompute=recompute)
    return footprint(model, strategy, T=2048, m=m, fused=False, states=MEGATRON_ADAM, stage=stage)


def memory_group(name: str, config: Any) -> str:
    """The group that a row of memory is scored with, or nothing for an unknown table."""
    if name.startswith("kor-f7"):
        return "kor-f7"
    if name.startswith("kor-f1") and isinstance(config, dict):
        return "kor-f1-activations" if "activation" in str(config.get("what", "")) else "kor-f1-states"
    return ""


def memory_case(row: "PublishedRow") -> MemoryUse | Unmodelled:
    """The case of a row of kind "memory", or why there is none."""
    size = str(row.config.get("model", "")).lower()
    what = str(row.config.get("what", "")).lower()
    unit = "".join(row.unit.lower().split())
    if not row.set.startswith("kor-f"):
        return Unmodelled("no reader for this table; what a GPU reports as used has more in it than is counted here")
    if odd := unread(row.config, FIGURE):
        return Unmodelled(odd)
    if size not in PLANS:
        return Unmodelled(f"no plan for the model {size!r}; there is one for {', '.join(PLANS)}")
    for name, ours in PLANS[size].items():
        given = row.config.get({"v": "vp", "micro": "mbs"}.get(name, name), ours)
        if name != "m" and str(given) not in (str(ours), f"{ours}.0"):
            return Unmodelled(f"{name} is {given!r}, and {ours} in Korthikanti's Table 3")
    if unit.startswith("%ofnone"):
        if row.value <= 1:
            return Unmodelled(f"{row.value:g} % of the activations is less than any run's: a share?")
        mode = str(row.config.get("mode", "")).lower().replace("seqsel", "sp+selective")
        if mode not in MODES:
            return Unmodelled(f"mode {mode!r} is none of {', '.join(MODES)}")
        return MemoryUse(row.set, size, "activations", mode, True, row.value / 100)
    if unit not in UNITS:
        return Unmodelled(f"the unit {row.unit!r} is none of memory")
    measured = row.value * UNITS[unit]
    if "activation" not in what:
        if not re.search(r"(param|weight).*optim", what):
            return Unmodelled(f"what is measured is not clear: {what!r}")
        return MemoryUse(row.set, size, "states", "none", False, measured)
    if not re.search(r"no recompute|none|selective|full|\bsp\b", what):
        return Unmodelled(f"what is measured is not clear: {what!r}")
    selective, sp = "selective" in what, "sp" in re.split(r"\W+", what)
    mode = "full" if re.search(r"\bfull\b", what) else "+".join([*(["sp"] * sp), *(["selective"] * selective)])
    return MemoryUse(row.set, size, "activations", mode or "none", False, measured)
