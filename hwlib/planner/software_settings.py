"""The software of a run: what is asked of it, and what it does with a model on a chip in its release."""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from hwlib.arguments import is_number
from hwlib.footprint import (
    BASES,
    LOSSES,
    MUON,
    OFFLOAD,
    OPTIMIZERS,
    SGD,
    STATES,
    Adapters,
    States,
    Trained,
    adapters_of,
    with_optimizer,
)
from hwlib.planner.plan_error import PlanError
from hwlib.specs import (
    Accelerator,
    Features,
    Model,
    Release,
    Stack,
    constants_release,
    features,
    merges_tokens,
    release_of,
    stack_for,
    stack_named,
    stack_on,
)

ANY = "any"
"""In place of the features of a software: it has everything."""


@dataclass(frozen=True)
class SoftwareSettings:
    """The software of a run: its settings beside the strategy, and its efficiency.

    `stack` has the constants of `hwlib.steptime`, by default those usual on the chip, or on one GPU alone; `features`
    is what the software can do (a row of software.toml, or "any" for everything), by default what the stack's can;
    `dtype` is that of the layers' matrix products; `states` what a parameter costs, or a name of
    `hwlib.footprint.STATES`, by default what it costs in the software. `fused` attention keeps no scores. The busiest
    experts see `expert_imbalance` times the mean tokens; `offload` is what the host keeps, of "activations" and
    "optimizer". `optimizer` is one of OPTIMIZERS, whose moments are as wide as Adam's in `states`. With `lora`, a rank
    or "16@q+v", adapters alone are trained, beside a model that is frozen and stored as `base`, one of BASES. `loss` is
    one of LOSSES: of all logits at once, of chunks of them, or fused with the output layer.

    With `dedup_dispatch` a token goes once to each rank and node that has one of its experts; with `mtp` a model's
    modules for multi-token prediction are trained too. None is as the software does in its `release` (26.04), which is
    by default the newest that constants stand for. Raises PlanError.
    """

    stack: Stack | str | None = None
    dtype: str = "bf16"
    states: States | str | None = None
    fused: bool = True
    expert_imbalance: float = 1.0
    dedup_dispatch: bool | None = None
    features: Features | str | None = None
    mtp: bool | None = None
    offload: tuple[str, ...] = ()
    release: Release | str | None = None
    optimizer: str | None = None
    lora: Adapters | str | int | None = None
    base: str | None = None
    loss: str = "full"

    def __post_init__(self) -> None:
        if self.dtype == "int8":
            raise PlanError("dtype", "int8 is for inference; expected bf16, fp16, fp32, fp8 or fp4")
        if not (is_number(self.expert_imbalance) and 1 <= self.expert_imbalance < inf):
            expected = "the load of the busiest expert over the mean, at least 1"
            raise PlanError("expert_imbalance", f"expected {expected}, got {self.expert_imbalance!r}")
        self.__dict__["offload"] = tuple(self.offload)
        if odd := [x for x in self.offload if x not in OFFLOAD]:
            raise PlanError("offload", f"expected one or more of {', '.join(OFFLOAD)}, got {odd[0]!r}")
        if isinstance(self.states, str):
            if self.states not in STATES:
                raise PlanError("states", f"expected one of {', '.join(STATES)}, got {self.states!r}")
            self.__dict__["states"] = STATES[self.states]
        self._check_trained()
        self._check_loss()
        self.__dict__["fused"] = as_bool("fused", self.fused)
        for name in ("dedup_dispatch", "mtp"):
            if (chosen := getattr(self, name)) is not None:
                self.__dict__[name] = as_bool(name, chosen)
        if self.release is not None and not isinstance(self.release, Release):
            try:
                self.__dict__["release"] = release_of(self.release)
            except ValueError as error:
                raise PlanError("release", str(error)) from None

    def _check_loss(self) -> None:
        if self.loss not in LOSSES:
            raise PlanError("loss", f"expected one of {', '.join(LOSSES)}, got {self.loss!r}")

    def _check_trained(self) -> None:
        if self.optimizer is not None and self.optimizer not in OPTIMIZERS:
            raise PlanError("optimizer", f"expected one of {', '.join(OPTIMIZERS)}, got {self.optimizer!r}")
        if self.optimizer not in (None, "adamw") and self.states in (MUON, SGD):
            raise PlanError("optimizer", f"states {self._states_name} have no second moment to leave out")
        if self.base is not None and self.lora is None:
            raise PlanError("base", "only what is frozen has one: ask for adapters too, as in lora 16")
        if self.base is not None and self.base not in BASES:
            raise PlanError("base", f"expected one of {', '.join(BASES)}, got {self.base!r}")
        if self.lora is not None:
            try:
                adapters = self.lora if isinstance(self.lora, Adapters) else adapters_of(str(self.lora))
                self.__dict__["lora"] = adapters if self.base is None else replace(adapters, base=self.base)
            except ValueError as error:
                raise PlanError("lora", str(error)) from None

    def trained(self, usual: States) -> Trained | None:
        """What is trained, where something was asked for: with the software's `usual` states if these were not."""
        if self.states is None and self.optimizer is None and self.lora is None:
            return None
        assert not isinstance(self.states, str)
        optimizer = self.optimizer or "adamw"
        states = with_optimizer(self.states or usual, optimizer)
        assert self.lora is None or isinstance(self.lora, Adapters)
        return Trained(states, optimizer, self.lora, self._states_name)

    @property
    def _states_name(self) -> str:
        """The name of the states, the newest where they have several; empty of others."""
        return next((name for name, states in reversed(STATES.items()) if states == self.states), "")

    @property
    def uses_host(self) -> bool:
        """Whether the host keeps anything."""
        return bool(self.offload)

    def check_host(self, machine: str, bandwidth: float | None) -> None:
        """Raise PlanError where the host keeps something and nobody says what joins a GPU of the machine with it."""
        if self.uses_host and not bandwidth:
            say = "; in a cluster's file host_bandwidth does, in its line host, as in 'host 50 GB/s'"
            raise PlanError("offload", f"nobody says what joins a GPU of {machine} with its host{say}")

    def host_keeps(self, what: str) -> bool:
        """Whether the host keeps this."""
        return what in self.offload

    def on(self, chip: Accelerator, model: Model, gpus: int | None = None) -> "SoftwareSettings":
        """The same with nothing left open: its stack on this chip, by default that of so many GPUs, and what it does
        with this model. A chip whose 16 bits are float16 alone, a V100, takes these for bfloat16. Raises PlanError.

        >>> from hwlib.specs import accelerators, models
        >>> run = SoftwareSettings(dtype="fp8").on(accelerators["gb200-nvl72"], models["qwen3-30b-a3b"])
        >>> run.stack.key, str(run.release), run.dedup_dispatch
        ('megatron-core-2606-gb200', '26.06', True)
        """
        if self.dtype == "bf16" and not chip.bf16_flops and chip.fp16_flops:
            return replace(self, dtype="fp16").on(chip, model, gpus)
        try:
            chip.flops(self.dtype)
        except ValueError as error:
            raise PlanError("dtype", str(error)) from None
        assert self.release is None or isinstance(self.release, Release)
        stack = _stack_of(chip, model, self, gpus)
        release = self.release or stack.release
        able = _features_of(stack, self.features)
        does = able if isinstance(able, Features) else features.get(stack.features)
        merged = merges_tokens(does, model, chip=chip.key, dtype=self.dtype, release=release)
        if self.stack is None:
            stands = constants_release(does, model, chip=chip.key, dtype=self.dtype, release=self.release)
            stack = stack_for(chip, moe=model.moe, dtype=self.dtype, release=stands, gpus=gpus)
        return replace(
            self,
            stack=stack,
            features=able,
            release=release,
            dedup_dispatch=merged if self.dedup_dispatch is None else self.dedup_dispatch,
            mtp=bool(does and does.mtp and model.mtp_layers) if self.mtp is None else self.mtp,
        )


def _stack_of(chip: Accelerator, model: Model, software: SoftwareSettings, gpus: int | None) -> Stack:
    assert not isinstance(software.release, str)
    if software.stack is None:
        return stack_for(chip, moe=model.moe, dtype=software.dtype, release=software.release, gpus=gpus)
    try:
        named = stack_named(software.stack, chip)
    except (KeyError, TypeError) as error:
        raise PlanError("stack", error.args[0].removeprefix("stack: ")) from None
    on_chip = stack_on(named, chip)
    if on_chip is None:
        raise PlanError("stack", f"{named.key} is for {named.accelerator.name}, but the cluster has {chip.name}")
    return on_chip


def _features_of(stack: Stack, given: Features | str | None) -> Features | str:
    """The features asked for, or the stack's; "any" where all can be."""
    wanted = (stack.features or ANY) if given is None else given
    if wanted == ANY or isinstance(wanted, Features):
        return wanted
    if not isinstance(wanted, str):
        raise PlanError("features", f"expected a key of software.toml, {ANY!r} or Features, got {wanted!r}")
    try:
        return features.of(wanted)
    except KeyError as error:
        raise PlanError("features", error.args[0].removeprefix("features: ")) from None


def as_bool(name: str, x: Any) -> bool:
    """x as a bool. Raises PlanError for anything else."""
    if x not in (True, False):
        raise PlanError(name, f"expected True or False, got {x!r}")
    return bool(x)
