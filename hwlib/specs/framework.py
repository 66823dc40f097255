"""Frameworks: what a training software holds of a GPU's memory beside what formulas count, from the
sections `memory` of software.toml.

Two programs that train one model with one plan differ by tens of gigabytes: in the bytes of a parameter's states, in
the copies of the logits that a loss makes, in what FSDP keeps unsharded, and in what the allocator and the context
take. `hwlib.footprint` takes such a record; a stack of constants of time names its own as `framework_of(stack)`.

>>> frameworks["torchtitan-2024"].logit, frameworks["megatron-core"].logit
(14, 4.0)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import nextafter

from hwlib.specs.constants import Constants, read_constants
from hwlib.specs.reader import constant, number, quantities, switch
from hwlib.specs.software_sections import FILE
from hwlib.specs.table import Table, file_text

WIDE = 2.0
QUANTISED: Mapping[str, float] = {"fp8": 1.0, "fp4": 0.5 + 1 / 16}
"""Bytes of an element that is kept as a product reads it; NVFP4 has a scale for 16 of them."""
UNMEASURED = "unmeasured"
"""The row that has the margin of all software of whose memory fewer than twenty peaks were measured."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Framework(Constants):
    """Memory of one training software. The defaults are those of a fused loss, and of nothing wasted.

    `unsharded_in_pipeline`: FSDP keeps weights and gradients unsharded between the microbatches of a pipeline, and
    shares them out once in a step; what a stage sends, its buffer for the gradient of that, and the last stage's logits
    are kept too (torch's pipelining). `gathered_inputs`: tensor-parallel matrices keep their input as gathered, not the
    share of it that sequence parallelism leaves a rank. `embedding_apart`: the embedding is sharded again when it was
    used, and not kept gathered as the output's table is. `own_pools`: FSDP's collectives run in streams of their own,
    from whose pools nothing else is served: what they gather into and what they share out to is reserved beside all
    else. `late_gradients`: gradients take memory only from the backward pass on, when activations have gone; with one
    microbatch, and without a buffer for all of them. `eager`: kernels of norms and of the activation are not fused, and
    keep what stands between them; with `fused_norms` those of norms are. `compiled`: the whole model is compiled, so
    that attention's output is kept in two layouts, and the gradient of the embedding is summed up in 32 bits.
    `weighted_inside`: the router's weights are applied to the hidden vectors of experts, so that what experts give need
    not be kept for the router's gradient. `autocast`: weights that are stored in 32 bits have a copy in 16 from their
    forward pass to their backward one, and what runs through the layers has 32. `wide_base`: so it does, too, beside
    adapters, for tables and norms of a frozen model were cast to 32 bits (PEFT's preparation of models in few bits).
    `quantised_inputs`: matrices whose products are in 8 or 4 bits keep their input so, and nothing of it in 16 bits;
    with `attention_copied` attention's output is an exception no longer: it is kept so beside that in 16 bits.
    `layer_gradients`: gradients of activations that one layer holds on its way back are counted beside what it reads.

    `margin` is the share of the predicted bytes by which nine of ten measured peaks exceed them at most; `make fit`
    writes it. Where a row gives none it is that of the row UNMEASURED.
    """

    source: str
    error: float = number(0.0, high=nextafter(1, 0))
    margin: float = number(0.0)
    unsharded_in_pipeline: bool = switch(False)
    gathered_inputs: bool = switch(False)
    embedding_apart: bool = switch(False)
    own_pools: bool = switch(False)
    late_gradients: bool = switch(False)
    eager: bool = switch(False)
    fused_norms: bool = switch(False)
    compiled: bool = switch(False)
    weighted_inside: bool = switch(False)
    autocast: bool = switch(False)
    wide_base: bool = switch(False)
    quantised_inputs: bool = switch(False)
    attention_copied: bool = switch(False)
    layer_gradients: bool = switch(False)

    weight: float = constant("B", "a parameter's weight, as it is stored", 2.0)
    gradient: float = constant("B", "a parameter's gradient", 4.0)
    optimizer: float = constant("B", "a parameter's copy and moments", 12.0)
    gathered: float = constant("B", "a parameter's weight, as FSDP gathers it for a layer's work", 2.0)
    kept: float = constant("B", "an element that is kept for a product of the MLP, or as what a norm gives", 2.0)
    logit: float = constant("B", "a logit at the peak of the loss", 4.0)
    shared_logit: float = constant("B", "the same where tensor-parallel ranks share the vocabulary", 4.0)
    moments: float = constant("1", "copies of a moment of all parameters while they are updated together", 0.0)
    logit_hole: float = constant("B", "hole that a freed logit in 16 bits leaves in what is reserved", 0.0)
    layer_hole: float = constant(
        "1", "share of what a recomputed layer's first pass takes that stays reserved beside the loss", 0.0, high=1.0
    )
    reserve: float = constant("B", "context, NCCL's buffers and kernels, whatever the plan", 0.0)
    fragmentation: float = constant(
        "1", "share of what comes and goes in a step that the allocator reserves more", 0.0, high=1.0
    )

    @property
    def states(self) -> tuple[float, float, float]:
        """Bytes of a parameter as weight, as gradient and in the optimizer."""
        return self.weight, self.gradient, self.optimizer

    def input_bytes(self, dtype: str) -> float:
        """Bytes of an element that a matrix keeps of its input, where its products are in this precision.

        >>> frameworks["megatron-core"].input_bytes("fp8"), frameworks["torchtitan"].input_bytes("fp8")
        (1.0, 2.0)
        """
        return QUANTISED.get(dtype, WIDE) if self.quantised_inputs else WIDE


CONSTANTS = quantities(Framework)
"""Unit and meaning of each constant, by name."""
SWITCHES = (
    "unsharded_in_pipeline",
    "gathered_inputs",
    "embedding_apart",
    "own_pools",
    "late_gradients",
    "eager",
    "fused_norms",
    "compiled",
    "weighted_inside",
    "autocast",
    "wide_base",
    "quantised_inputs",
    "attention_copied",
    "layer_gradients",
)


def read_frameworks(file: str, content: str) -> Iterator[Framework]:
    """The frameworks of a file's text: one that is `like` another takes what it does not give itself, its name and
    what was fitted to it apart. Raises SpecError, naming file, row, section and field.
    """
    rows = {row.key: row for row in read_constants(Framework, "framework", file, content, "memory", SWITCHES)}
    others = rows[UNMEASURED].margin if UNMEASURED in rows else 0.0
    for row in rows.values():
        yield row if row.margin else row.replace(margin=others)


frameworks: Table[Framework] = Table("framework", lambda file: read_frameworks(file, file_text(file)), (FILE,))


def usual_margin() -> float:
    """The margin of software of whose memory few peaks were measured.

    >>> frameworks["llm-foundry"].margin == usual_margin() > frameworks["megatron-deepspeed"].margin
    True
    """
    return frameworks[UNMEASURED].margin
