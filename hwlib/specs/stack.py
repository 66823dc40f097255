"""Stacks: the share of a chip's data sheet that a training software reaches; frozen records, from the
sections `time` of software.toml.

A stack is a chip and a software with a few constants. Those that `fitted` names rest on published steps, whose ids
begin with one of `rows`; the others are round values, or those of the stack that it is `like`. Those that `checked`
names were typed, but at least eight of these steps rest on them (`python -m benchmarks.fit.checked_constants`). Where
nothing was fitted, `note` says where the constants come from. `features` is the row of software.toml that says what the
software can do; without one it can do everything. `released` is the newest release that they stand for, and a stack
that `follows` another takes its place from its own release on. With `overlap_alone` transfers to experts run beside
another microbatch without a pipeline, too. With `biases_apart` the biases of experts are added to what they give by
kernels of their own, and with `rotary_apart` so are rotary embeddings that have a factor.

>>> stacks["megatron-core-h100"].chip
'h100-sxm'
>>> Stack.ideal("h100-sxm").eta_C
1.0
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import inf, nextafter
from typing import Any

from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.constants import Constants, read_constants
from hwlib.specs.feature import features
from hwlib.specs.reader import constant, number, quantities, switch, text, texts
from hwlib.specs.release import Release, release_of
from hwlib.specs.software_sections import FILE, stack_key
from hwlib.specs.table import SpecError, Table, file_text, unknown

SAME_DIE = {
    "h200-sxm": "h100-sxm",
    "h800-sxm": "h100-sxm",
    "h100-nvl": "h100-sxm",
    "h200-nvl": "h100-sxm",
    "gh200": "h100-sxm",
    "a800-80gb-sxm": "a100-80gb-sxm",
    "a100-40gb-pcie": "a100-80gb-sxm",
}
"""Chips that have the die of another, with other memory or links: its constants are typical of them."""
FITTED_TOGETHER = {"a100-40gb-sxm": "a100-80gb-sxm"}
"""Chips whose memory alone differs from another's: steps of both were fitted together."""
KERNELS = ("", "eager", "compiled")
"""How a stack's kernels are made where a step is timed kernel by kernel."""
TYPICAL = 0.3  # mean error of step times by constants that are fitted to no step of a software (expected_error.TYPICAL)


def _constant(unit: str, meaning: str, ideal: float) -> Any:
    """A constant in SI, with the value it has where nothing is lost; a share is at most 1."""
    return constant(unit, meaning, ideal, high=1.0 if unit == "1" else inf)


@dataclass(frozen=True, kw_only=True, repr=False)
class Stack(Constants):
    """One software on one chip. The defaults of the constants are those of an ideal machine."""

    chip: str
    software: str
    source: str
    checked: tuple[str, ...] = texts()
    features: str = text()
    released: str = text()
    follows: str = text()
    only_experts: bool = switch(False)
    only_dtypes: tuple[str, ...] = texts()
    overlap_alone: bool = switch(False)
    biases_apart: bool = switch(False)
    rotary_apart: bool = switch(False)
    one_gpu: bool = switch(False)
    """Whether its steps were of one GPU, so that it has no constants of transfers, and times no plan of several."""
    kernels: str = text()
    """One of KERNELS, where a step is timed kernel by kernel, with products and attention by the models that are
    calibrated for the chip, and the rest by its bytes and launches: so the constants are of no chip.
    """
    error: float = number(0.0, high=nextafter(1, 0))
    """Mean error of the steps of dense models that it was fitted to, as a share of their time; where there are none,
    of those of the stack that it follows, or is like. Plans that differ by less are too close to call.
    """

    eta_C: float = _constant("1", "share of the peak rate that large matrix products reach", 1.0)
    eta_low: float = _constant("1", "the same share for products in 8 and 4 bits, of their own peak", 1.0)
    eta_4: float = _constant("1", "share of that which is left for products in 4 bits", 1.0)
    eta_E: float = _constant("1", "share of these that is left for wide products of experts that see many tokens", 1.0)
    n_E: float = _constant("token", "tokens of one expert with which its products reach half of that", 0.0)
    w_E: float = _constant("element", "width of one expert with which its products reach half of that", 0.0)
    eta_A: float = _constant("1", "share of the bfloat16 peak that attention reaches over long sequences", 1.0)
    T_A: float = _constant("token", "length of the sequences over which attention reaches half of that", 0.0)
    d_A: float = _constant("element", "size of the heads with which attention reaches half of that", 0.0)
    eta_cp: float = _constant("1", "share of that which is left where ranks share a sequence", 1.0)
    eta_W: float = _constant("1", "share of the memory bandwidth that is reached, if what is kept moves twice", inf)
    eta_V: float = _constant("1", "share of that which is left for logits and their loss", 1.0)
    eta_in: float = _constant("1", "share of the scale-up bandwidth that collectives reach", 1.0)
    eta_out: float = _constant("1", "share of the network's bandwidth that collectives reach", 1.0)
    alpha_in: float = _constant("s", "latency of a collective among eight ranks of a node", 0.0)
    alpha_out: float = _constant("s", "further latency of each doubling of the nodes (of a message: once)", 0.0)
    t_layer: float = _constant("s", "time in which the host launches the kernels of a layer's forward pass", 0.0)
    t_moe: float = _constant("s", "the same time for a layer with experts, beside that of any layer", 0.0)
    t_gap: float = _constant("s", "time of a pass through a layer that its kernels take, however small they are", 0.0)
    t_loss: float = _constant("s", "time of a microbatch that the loss takes, however small it is", 0.0)
    hide_tp: float = _constant("1", "share of all but attention that tensor-parallel collectives run beside", 0.0)
    hide_ep: float = _constant("1", "share of a layer that transfers to experts run beside, of another microbatch", 0.0)
    hide_dp: float = _constant("1", "share of a pass that its data-parallel collectives run beside", 1.0)
    hide_sum: float = _constant("1", "share of a product of weights' gradients that these are summed beside", 1.0)
    hide_pp: float = _constant("1", "share of the pipeline's messages that need not be waited for", 1.0)
    t_param: float = _constant(
        "s", "time of a parameter's update beside its bytes at the data sheet's bandwidth; 0: bytes at eta_W alone", 0.0
    )
    eta_P: float = _constant("1", "share of the product model's rate that a step reaches, timed kernel by kernel", 1.0)
    eta_F: float = _constant("1", "share of the attention model's rate that such a step reaches", 1.0)
    t_kernel: float = _constant("s", "time of such a step's kernel beside its bytes", 0.0)
    t_launch: float = _constant("s", "time in which the host launches a kernel of such a step", 0.0)
    b_unpack: float = _constant(
        "B", "bytes that move beside its own where such a step makes a parameter out of few bits by kernels apart", 0.0
    )
    t_step: float = _constant("s", "time of a step that depends on nothing", 0.0)

    def __repr__(self) -> str:
        return self._shown(self.constants, "nothing lost")

    @property
    def accelerator(self) -> Accelerator:
        return accelerators[self.chip]

    @property
    def row(self) -> str:
        """The row of software.toml that has it: its key without the chip's."""
        return self.key.removesuffix(f"-{self.chip}").removesuffix(f"-{self.chip.partition('-')[0]}")

    @property
    def constants(self) -> dict[str, float]:
        """The constants by name, without those that have the ideal value."""
        ideal = {f.name: f.default for f in fields(self)}
        return {name: x for name, x in super().constants.items() if x != ideal[name]}

    def origin(self, name: str) -> str:
        """Where a constant comes from: "fitted", "checked", the key of the stack that it was fitted or checked for, or
        "typed".

        >>> stacks["megatron-core-b200"].origin("eta_low"), stacks["megatron-core-b200"].origin("hide_tp")
        ('fitted', 'megatron-core-h100')
        >>> stacks["megatron-core-h100"].origin("alpha_in")
        'typed'
        """
        stack = self
        while name not in (*stack.fitted, *stack.checked):
            if not stack.like or getattr(stacks[stack.like], name) != getattr(self, name):
                return "typed"
            stack = stacks[stack.like]
        own = "fitted" if name in stack.fitted else "checked"
        return own if stack is self else stack.key

    @property
    def release(self) -> Release | None:
        """The newest release that its constants stand for; None where no source says."""
        return release_of(self.released) if self.released else None

    @property
    def dated(self) -> str:
        """The software and the month of its release; empty where either is unknown.

        >>> stacks["megatron-core-2606-gb200"].dated
        'Megatron Core (June 2026)'
        """
        if not (self.features and self.release):
            return ""
        return f"{features[self.features].name} ({self.release.date})"

    def suits(self, moe: bool, dtype: str, release: Release | None) -> bool:
        """Whether it may stand for a run of a release, by default the newest: with experts or not, and a precision of
        its matrix products.
        """
        if (self.only_experts and not moe) or (self.only_dtypes and dtype not in self.only_dtypes):
            return False
        return release is None or self.release is None or self.release <= release

    @property
    def caveat(self) -> str:
        """That its constants were not fitted on the chip, and what they are; empty where some were, and of a stack of
        one's own.
        """
        chip = self.accelerator.name
        if self.kernels:
            return self._kernels_caveat
        if self.fitted:
            return ""
        if self.software == "none" and not self.constants:
            return (
                f"The constants are ideal, not fitted: no software on {chip} can beat these times, and none meets them."
            )
        if self.software == "typical":
            return typical_words(chip, self.like)
        if self.key in stacks:
            return f"The constants of {self.key} are typed, not fitted to steps measured on {chip}."
        return ""

    @property
    def _kernels_caveat(self) -> str:
        """On which steps, of one GPU, the constants of a stack that is timed kernel by kernel rest, and on a chip
        without steps that none of them was measured there.
        """
        steps = f"few steps, of one GPU: {self.note}." if self.note else "few steps, of one GPU."
        if self.fitted:
            return f"The constants of {self.key} were fitted to {steps}"
        return (
            f"No step was fitted on {self.accelerator.name}: the constants of {self.key} are those of {self.like}, "
            f"fitted to {steps}"
        )

    @classmethod
    def ideal(cls, chip: str | Accelerator) -> "Stack":
        """A machine that reaches all of its data sheet, with no latency, where memory takes no time."""
        sheet = chip if isinstance(chip, Accelerator) else accelerators[chip]
        return _on(
            sheet,
            Stack(
                key=f"ideal-{sheet.key}",
                name=f"ideal {sheet.name}",
                chip=sheet.key,
                software="none",
                source="data sheet",
            ),
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class OwnStack(Stack):
    """A stack on a chip that no table has: it brings the chip's figures with it."""

    sheet: Accelerator

    @property
    def accelerator(self) -> Accelerator:
        return self.sheet


CONSTANTS = quantities(Stack)
"""Unit and meaning of each constant, by name."""


def typical_words(chip: str, like: str) -> str:
    """That constants are those of something else, and what a plan is worth that rests on them."""
    return (
        f"The constants are typical, not fitted to {chip}: they are those of {like}. Trust the order of plans more "
        "than their times."
    )


def read_stacks(file: str, content: str) -> Iterator[Stack]:
    """The stacks of a file's text: one that is `like` another takes its constants but those it gives itself.

    Raises SpecError, naming file, row, section and field.
    """
    seen: dict[str, Stack] = {}
    for stack in read_constants(Stack, "stack", file, content, "time"):
        place = f"{file}, {stack.row}.time.{stack.chip}"
        if odd := [name for name in stack.checked if name not in CONSTANTS]:
            raise SpecError(f"{place}.checked: {odd[0]!r} is not a constant")
        if stack.chip not in accelerators:
            raise SpecError(f"{place}: " + unknown("accelerator", stack.chip, accelerators))
        if stack.kernels not in KERNELS:
            raise SpecError(f"{place}.kernels: expected one of {', '.join(KERNELS[1:])}, got {stack.kernels!r}")
        _check_release(place, stack, seen)
        seen[stack.key] = stack
        yield stack


def _check_release(place: str, stack: Stack, before: Mapping[str, Stack]) -> None:
    """Raises SpecError for a release that is none, or one that follows none before it on its chip."""
    try:
        released = stack.release
    except ValueError as error:
        raise SpecError(f"{place}.released: {error}") from None
    if not stack.follows:
        return
    if stack.follows not in before:
        raise SpecError(f"{place}.follows: " + unknown("stack", stack.follows, before))
    earlier = before[stack.follows]
    if earlier.chip != stack.chip:
        raise SpecError(f"{place}.follows: {earlier.key} is for {earlier.chip}, not for {stack.chip}")
    if not (released and earlier.release and earlier.release < released):
        raise SpecError(f"{place}.released: expected a release after that of {earlier.key}")


stacks: Table[Stack] = Table("stack", lambda file: read_stacks(file, file_text(file)), (FILE,))


PYTORCH_RUNS_ON = ("NVIDIA", "own")
"""Vendors of chips of which one alone is timed kernel by kernel where no software is named: those whose products are
calibrated, and chips of one's own. Of others no product and no step of PyTorch stands in a table."""


def stack_for(
    chip: str | Accelerator,
    *,
    moe: bool = False,
    dtype: str = "bf16",
    release: Release | None = None,
    gpus: int | None = None,
) -> Stack:
    """The stack to use for a chip when none is named. Of one GPU alone (`gpus`) the first of the table that is timed
    kernel by kernel, on this chip; else the first of the table with a constant fitted to it, else one
    of the table that has the chip, else typical ones: those of a chip with the same die, or of the H100, with a note
    that says so; these too for a chip of one's own. Of its releases it is the newest, or the newest up to `release`, of
    those that suit models with experts (`moe`) and the products' dtype. Raises KeyError for an unknown chip.

    >>> stack_for("h100-sxm").key, stack_for("h200-sxm").key
    ('megatron-core-h100', 'typical-h200-sxm')
    >>> stack_for("gb200-nvl72", moe=True, dtype="fp8").key
    'megatron-core-2606-gb200'
    >>> stack_for("h100-sxm", gpus=1).key
    'pytorch-h100'
    """
    sheet = chip if isinstance(chip, Accelerator) else accelerators[chip]
    if gpus == 1 and sheet.vendor in PYTORCH_RUNS_ON:
        for stack in stacks.values():
            if stack.kernels and stack.suits(moe, dtype, release):
                return _kernels_on(stack, sheet)
    on_chip = [stack for stack in stacks.values() if _usual_on(stack, sheet)]
    if on_chip:
        first = next((stack for stack in on_chip if stack.fitted), on_chip[0])
        return _newest(first, moe, dtype, release)
    if sheet.key in FITTED_TOGETHER:
        same = stack_for(FITTED_TOGETHER[sheet.key], moe=moe, dtype=dtype, release=release)
        return same.replace(chip=sheet.key)
    usual = stack_for(SAME_DIE.get(sheet.key, "h100-sxm"), moe=moe, dtype=dtype, release=release)
    return _on(sheet, _typical(usual, sheet))


def _usual_on(stack: Stack, sheet: Accelerator) -> bool:
    """Whether a stack may stand for a chip where none is named: of several releases the first, for many GPUs."""
    return stack.chip == sheet.key and not stack.follows and not stack.one_gpu


def stack_on(stack: Stack, chip: Accelerator) -> Stack | None:
    """A stack on a chip: itself on its own and on one that was fitted with it, typical constants on one with the same
    die; None on any other. One that is timed kernel by kernel is of any chip.

    >>> stack_on(stacks["torchtitan-h100"], accelerators["h200-sxm"]).fitted
    ()
    >>> stack_on(stacks["pytorch-h200"], accelerators["a100-80gb-sxm"]).key
    'pytorch-a100'
    """
    if stack.kernels:
        return _kernels_on(stack, chip)
    if stack.chip in (chip.key, FITTED_TOGETHER.get(chip.key)):
        return stack.replace(chip=chip.key)
    if SAME_DIE.get(chip.key) != stack.chip:
        return None
    return _typical(stack, chip).replace(key=f"{stack.key} on {chip.key}")


def stack_named(name: Stack | str, chip: Accelerator) -> Stack:
    """The stack of a key; where it is timed kernel by kernel, also that of its software alone ("pytorch"), or of its
    software on this chip. Raises KeyError, which lists similar keys.

    >>> stack_named("pytorch-compiled", accelerators["h100-sxm"]).key
    'pytorch-compiled-h200'
    """
    if isinstance(name, str) and name not in stacks:
        for stack in stacks.values():
            if stack.kernels and name in (stack.row, stack_key(stack.row, chip.key)):
                return stack
    return stacks.of(name)


def _kernels_on(stack: Stack, sheet: Accelerator) -> Stack:
    """A stack that is timed kernel by kernel on any chip. Its constants are of none; so what it errs by on a chip
    without steps of its own is as on the one with steps, or as is typical, whichever is more.
    """
    if sheet.key == stack.chip:
        return stack
    software = stack.name.partition(" on ")[0]
    changed = stack.replace(
        key=stack_key(stack.row, sheet.key),
        name=f"{software} on {sheet.name}",
        chip=sheet.key,
        rows=(),
        fitted=(),
        checked=(),
        like=stack.key,
        error=max(TYPICAL, stack.error),
    )
    return _on(sheet, changed)


def _newest(first: Stack, moe: bool, dtype: str, release: Release | None) -> Stack:
    """The newest of the stacks that stand for the software of the first, release by release."""
    line = [first]
    for stack in stacks.values():
        if stack.follows in [earlier.key for earlier in line]:
            line.append(stack)
    return next((stack for stack in reversed(line) if stack.suits(moe, dtype, release)), first)


def _typical(usual: Stack, sheet: Accelerator) -> Stack:
    """The constants of another chip's stack, as typical of this one."""
    return usual.replace(
        key=f"typical-{sheet.key}",
        name=f"typical software on {sheet.name}",
        chip=sheet.key,
        rows=(),
        fitted=(),
        checked=(),
        like=usual.key,
        follows="",
        software="typical",
        error=max(TYPICAL, usual.error),
        note=f"no step was fitted on this chip: the constants of {usual.key}",
    )


def _on(sheet: Accelerator, stack: Stack) -> Stack:
    """The stack, with the figures of a chip that the tables lack."""
    if sheet.key in accelerators:
        return stack
    return OwnStack(**{f.name: getattr(stack, f.name) for f in fields(Stack)}, sheet=sheet)
