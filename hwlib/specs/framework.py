"""Frameworks: what a training software holds of a GPU's memory beside what formulas count, from frameworks.toml.

Two programs that train one model with one plan differ by tens of gigabytes: in the bytes of a parameter's states, in
the copies of the logits that a loss makes, in what FSDP keeps unsharded, and in what the allocator and the context
take. `hwlib.footprint` takes such a record; a stack of constants of time names its own as `framework_of(stack)`.

>>> frameworks["torchtitan-2024"].logit, frameworks["megatron-core"].logit
(14, 4.0)
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import nextafter
from typing import Any

from hwlib.specs.reader import constant, number, quantities, rows_of, switch, text, texts, values_of
from hwlib.specs.stack import Stack
from hwlib.specs.table import SpecError, Table, file_text, unknown
from hwlib.units import show

FILE = "frameworks.toml"
USUAL = "megatron-core"


@dataclass(frozen=True, kw_only=True, repr=False)
class Framework:
    """Memory of one training software. The defaults are those of a fused loss, and of nothing wasted.

    `unsharded_in_pipeline`: FSDP keeps weights and gradients unsharded between the microbatches of a pipeline, and
    shares them out once in a step; what a stage sends, its buffer for the gradient of that, and the last stage's logits
    are kept too (torch's pipelining). `gathered_inputs`: tensor-parallel matrices keep their input as gathered, not the
    share of it that sequence parallelism leaves a rank. `late_gradients`: gradients take memory only from the backward
    pass on, when activations have gone; with one microbatch, and without a buffer for all of them. `eager`: kernels of
    norms and of the activation are not fused, and keep what stands between them.
    """

    key: str
    name: str
    source: str
    stacks: tuple[str, ...] = texts()
    rows: tuple[str, ...] = texts()
    fitted: tuple[str, ...] = texts()
    like: str = text()
    note: str = text()
    error: float = number(0.0, high=nextafter(1, 0))
    unsharded_in_pipeline: bool = switch(False)
    gathered_inputs: bool = switch(False)
    late_gradients: bool = switch(False)
    eager: bool = switch(False)

    weight: float = constant("B", "a parameter's weight, as it is stored", 2.0)
    gradient: float = constant("B", "a parameter's gradient", 4.0)
    optimizer: float = constant("B", "a parameter's copy and moments", 12.0)
    gathered: float = constant("B", "a parameter's weight, as FSDP gathers it for a layer's work", 2.0)
    logit: float = constant("B", "a logit at the peak of the loss", 4.0)
    shared_logit: float = constant("B", "the same where tensor-parallel ranks share the vocabulary", 4.0)
    reserve: float = constant("B", "context, NCCL's buffers and kernels, whatever the plan", 0.0)
    fragmentation: float = constant(
        "1", "share of what comes and goes in a step that the allocator reserves more", 0.0, high=1.0
    )

    def __repr__(self) -> str:
        units = quantities(Framework)
        return f"<{self.name}: {', '.join(f'{n} {show(getattr(self, n), unit)}' for n, (unit, _) in units.items())}>"

    @property
    def states(self) -> tuple[float, float, float]:
        """Bytes of a parameter as weight, as gradient and in the optimizer."""
        return self.weight, self.gradient, self.optimizer

    def replace(self, **changes: Any) -> "Framework":
        """This framework with some fields changed."""
        names = [f.name for f in fields(self)]
        if odd := sorted(set(changes) - set(names)):
            raise TypeError(unknown("field", odd[0], names))
        return replace(self, **changes)


CONSTANTS = quantities(Framework)
"""Unit and meaning of each constant, by name."""
SWITCHES = ("unsharded_in_pipeline", "gathered_inputs", "late_gradients", "eager")


def read_frameworks(file: str, content: str) -> Iterator[Framework]:
    """The frameworks of a file's text: a row that is `like` another takes what it does not give itself, its name and
    what was fitted to it apart. Raises SpecError, naming file, row and field.
    """
    found: dict[str, Framework] = {}
    for key, row in rows_of(file, content).items():
        values = values_of(Framework, f"{file}, {key}", row)
        if odd := [name for name in values.get("fitted", ()) if name not in row or name not in CONSTANTS]:
            raise SpecError(f"{file}, {key}.fitted: {odd[0]!r} is not a constant that the row gives")
        if like := values.get("like"):
            if like not in found:
                raise SpecError(f"{file}, {key}.like: names a row before it, " + unknown("framework", like, found))
            values = {name: getattr(found[like], name) for name in (*CONSTANTS, *SWITCHES)} | values
        found[key] = Framework(key=key, **values)
        yield found[key]


frameworks: Table[Framework] = Table("framework", lambda file: read_frameworks(file, file_text(file)), (FILE,))


def framework_of(stack: Stack | str) -> Framework:
    """The memory of a stack's software: the first framework with a prefix of its key, or of the key of the stack that
    it is like; else that of Megatron Core.

    >>> framework_of("llm-foundry-h100").key, framework_of("typical-h200-sxm").key
    ('llm-foundry', 'megatron-core')
    """
    names = (stack,) if isinstance(stack, str) else (stack.key, stack.like)
    for name in names:
        for framework in frameworks.values():
            if name and name.startswith(framework.stacks):
                return framework
    return frameworks[USUAL]
