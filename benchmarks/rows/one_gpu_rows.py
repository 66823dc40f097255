"""Published steps on one GPU, of any software on PyTorch: what a row says of the question, and its time.

A row is read by its content: what is trained and in which precision, how the loss is computed, what is compiled and
recomputed. Not printed, and assumed: FlashAttention, adapters in 32 bits, Adam with moments as wide as the weights, and
nothing recomputed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.pytorch_rows import recomputed
from benchmarks.rows.training_models import memory_model
from benchmarks.rows.training_step import TrainingStep, Unmodelled, chip_of, flag, number, step
from benchmarks.rows.training_units import OperationCounts
from hwlib.footprint import BFLOAT16_ADAM, FULL_ADAM, LOSSES, STATES, Adapters, States, Trained, adapters_of

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

BESIDE = ("activation_offload", "dtype", "precision")
"""Cells that a step's time does not depend on here."""
IN_PLACE = "in place"
"""A loss whose gradient takes the place of the logits, in 16 bits, without any copy."""
STORED = {"bf16": "bf16", "fp16": "bf16", "int8": "int8", "int4": "int4", "nf4": "nf4", "nf4-dq": "nf4"}
"""How the library stores what a row says of its frozen weights."""


@dataclass(frozen=True)
class AskedQuestion:
    """What a row says of the question: what is trained, how the loss is computed, whether the model is compiled, and
    what the host keeps.
    """

    trained: Trained
    loss: str
    compiled: bool
    offload: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that `gpubook plan` is asked for: of a loss in place, for which it has no word, the nearest."""
        loss = self.loss if self.loss in LOSSES else "fused"
        settings = {"states": self.trained.states, "lora": self.trained.adapters, "loss": loss}
        return settings | {"offload": self.offload} if self.offload else settings


def asked_question(c: Mapping[str, Any]) -> AskedQuestion:
    """The question of a row's configuration. Raises ValueError for a word that is not known."""
    stage = str(c.get("stage", "full")).lower()
    if stage not in ("full", "sft", "lora", "qlora"):
        raise ValueError(f"stage is {c['stage']!r}, none of full, SFT, LoRA, QLoRA")
    loss = str(c.get("loss", "full")).lower()
    if loss not in (*LOSSES, IN_PLACE):
        raise ValueError(f"loss is {c['loss']!r}, none of {', '.join(LOSSES)}, {IN_PLACE}")
    adapters = _adapters(c) if "lora" in stage else None
    compiled = "compile" in c and flag(c, "compile")
    offload = ("activations",) if c.get("activation_offload") else ()
    return AskedQuestion(Trained(_states(c, adapters), adapters=adapters), loss, compiled, offload)


def _adapters(c: Mapping[str, Any]) -> Adapters:
    stored = str(c.get("base_weights", "bf16")).lower()
    if stored not in STORED:
        raise ValueError(f"base_weights is {stored!r}, none of {', '.join(STORED)}")
    return adapters_of(f"{number(c, 'rank')}@{c.get('targets', 'all')}", STORED[stored])


def _states(c: Mapping[str, Any], adapters: Adapters | None) -> States:
    """The bytes of a trained parameter, and of its gradient where the optimizer takes it away at once."""
    name = str(c.get("states", ""))
    if name and name not in STATES:
        raise ValueError(f"states is {name!r}, none of {', '.join(STATES)}")
    usual = BFLOAT16_ADAM if adapters is None else FULL_ADAM
    states = STATES[name] if name else usual
    return states._replace(gradient=0) if c.get("optimizer_in_backward") else states


def own_h200(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """The steps of this project's own table. Where products alone have 16 bits all else has 32."""
    c = row.config
    amp = "autocast" in str(c.get("note"))
    more = {"ac": c.get("recompute", "none"), "states": "full" if amp else "bf16"}
    return one_gpu(replace(row, config={**c, **more}))


def qwen_tuned(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """Qwen's scripts of fine-tuning, on one GPU; a step has eight microbatches.

    Not printed, and taken from the scripts: adapters of rank 64 beside all matrices; DeepSpeed for all but LoRA on one
    GPU, whose step has 32-bit copies of weights and gradients.
    """
    c = row.config
    states = "full" if str(c.get("stage")).lower() == "lora" else "half"
    more = {"rank": 64, "targets": "all", "states": states, "ac": "full"}
    return one_gpu(replace(row, config={**c, **more}, unit=row.unit.split(" (")[0]))


def torchtune(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """torchtune on one GPU. Not printed, and taken from its recipe: LoRA of rank 64 beside all matrices but those of
    keys.
    """
    c = row.config
    states = "8bit" if "8" in str(c.get("optimizer", "")) else "bf16"
    more = {"rank": 64, "targets": "q+v+o+mlp", "states": states, "gbs": number(c, "mbs")}
    return one_gpu(replace(row, config={**more, **c}))


def one_gpu(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """A timed step on one GPU."""
    c = row.config
    if row.gpus != 1:
        raise ValueError(f"a row of one GPU has {row.gpus}")
    question, model = asked_question(c), memory_model(c)
    micro = number(c, "mbs")
    plan: dict[str, Any] = {
        "B": number(c, "gbs", default=micro * number(c, "grad_accum", default=1)),
        "T": number(c, "seq"),
        "dp": 1,
        "micro": micro,
        "recompute": recomputed(c, "none"),
        "fused": str(c.get("attention", "fused")) != "eager",
    }
    chip = chip_of(row.system)
    software = "pytorch-compiled" if question.compiled else "pytorch"
    counts = OperationCounts.ours(model, plan["B"] * plan["T"], plan["T"], "none")
    config = {name: x for name, x in c.items() if name not in BESIDE}
    key = f"{software}-{chip.split('-')[0]}"
    row = replace(row, config=config)
    return step(row, key, model, plan, chip=chip, counts=counts, dtype="bf16", asked=question.settings)
