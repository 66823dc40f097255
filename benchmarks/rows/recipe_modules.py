"""What NVIDIA's recipes recompute and its tables do not print: modules of a layer, by model, chip, precision, release.

From the recipes of Megatron Bridge (scripts/performance, from 26.08 on perf_recipes), read by tag: v0.1.0rc3 for
25.09, v0.2.1 for 25.11, v0.3.0 and v0.3.1 for 26.02 and its patch, v0.4.0 to v0.4.2 for 26.04 and its patch, v0.5.0
and v0.5.1 for 26.06 and its patch, v0.6.0 for 26.08. Where a tag has several, it is that of the plan that a row prints.
"""

from dataclasses import dataclass

from hwlib.specs.release import Release, release_of


@dataclass(frozen=True)
class RecomputedModules:
    """Modules that recipes of a model recompute on some chips, in some precisions (none named: all), from one release
    on and before another.
    """

    model: str
    chips: tuple[str, ...]
    modules: str
    dtypes: tuple[str, ...] = ()
    since: str = "00.01"
    before: str = "99.12"

    def of(self, model: str, chip: str, dtype: str, release: Release) -> bool:
        """Whether it says what a run recomputes."""
        if not model.startswith(self.model) or chip not in self.chips or (self.dtypes and dtype not in self.dtypes):
            return False
        return release_of(self.since) <= release < release_of(self.before)


MODULES_OF_RECIPES = (
    RecomputedModules("deepseek-v3", ("h100-sxm",), "mla_up_proj+mlp"),
    RecomputedModules("deepseek-v3", ("b200-sxm",), "mla_up_proj+mlp", ("fp8",), since="26.04.01"),
    RecomputedModules("deepseek-v3", ("b200-sxm", "b300-sxm"), "mla_up_proj"),
    RecomputedModules("deepseek-v3", ("gb200-nvl72",), "mlp", ("fp8", "fp4"), since="26.04", before="26.06"),
    RecomputedModules("deepseek-v3", ("gb200-nvl72",), "mla_up_proj"),
    RecomputedModules("deepseek-v3", ("gb300-nvl72",), "moe_act", before="26.02"),
    RecomputedModules("deepseek-v3", ("gb300-nvl72",), "moe_act", ("bf16",)),
    RecomputedModules("deepseek-v3", ("gb300-nvl72",), "mla_up_proj", before="26.06"),
    RecomputedModules("kimik2", ("gb300-nvl72",), "mla_up_proj"),
    RecomputedModules("nemotron-3-nano", ("h100-sxm",), "core_attn+layernorm+moe_act+moe", ("fp8",)),
    RecomputedModules("nemotron-3-super", ("b300-sxm",), "layernorm+moe_act", ("fp4",)),
    RecomputedModules("nemotron-3-super", ("b200-sxm",), "layernorm+moe_act", ("fp8",)),
    RecomputedModules("nemotron-3-ultra", ("gb200-nvl72", "gb300-nvl72"), "moe_act"),
    RecomputedModules("gpt-oss", ("h100-sxm", "b200-sxm"), "layernorm+moe_act"),
    RecomputedModules("gpt-oss", ("gb200-nvl72",), "layernorm+moe_act", before="26.06"),
    RecomputedModules("gpt-oss", ("gb200-nvl72",), "layernorm+moe_act", ("bf16",)),
)
"""The first that fits counts; of any other run nothing is recomputed."""


def modules_of_recipe(model: str, chip: str, dtype: str, release: str) -> str:
    """What the recipe of a model's pre-training recomputes, joined by "+"; "none" without a release, or for nothing.

    >>> modules_of_recipe("deepseek-v3", "gb200-nvl72", "fp8", "26.04")
    'mlp'
    """
    if not release:
        return "none"
    run = (model, chip, dtype, release_of(release))
    return next((row.modules for row in MODULES_OF_RECIPES if row.of(*run)), "none")
