"""Published memory of a GPU in training: how the rows of each source are read.

A row that cannot be modelled is `Unmodelled`, with the reason, and so is one with a cell that its reader does not
read. What a source does not print and a prediction needs is assumed, the same for the whole source, and stands with
its reader. Steps that print their memory beside their time give a row of their own.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from benchmarks.rows.one_gpu_rows import IN_PLACE, AskedQuestion, asked_question
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.pytorch_rows import recomputed
from benchmarks.rows.read_keys import ONE_GPU, unread
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.row_words import divided_among
from benchmarks.rows.training_models import bloom_shape, gpt, memory_model
from benchmarks.rows.training_step import Unmodelled, flag, number
from hwlib.footprint import (
    ADAM_8BIT,
    BASES,
    BFLOAT16_ADAM,
    FULL_ADAM,
    HALF_ADAM,
    Adapters,
    States,
    Trained,
    unchecked_footprint,
)
from hwlib.footprint.trained import GROUPS, layer_matrices
from hwlib.specs import Framework, Model, frameworks
from hwlib.strategy import BY_OP, Strategy
from hwlib.transformer import matmul_parameters
from hwlib.units import GB, GiB

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True, eq=False)
class Peak:
    """The memory that a GPU reports at its peak, in bytes, and the plan that it was measured with.

    `waste` is the share of the loss and of a layer's buffers that is reserved beside what the framework says, as far as
    the `card` has room: before it runs out, the allocator gives back what it holds. `typical` says that no figure of
    this software was fitted; `inferred` that the source leaves something of the row open, so that it is never fitted;
    `open` that what it leaves open was deduced, so that it is scored apart; `gpus` that the figure is the sum of so
    many. `beside` are bytes that the software's adapters keep and no option of a question counts. `unstudied` is the
    framework without what was written down with such figures in view: as one whose software nobody has looked into.
    """

    framework: Framework
    model: Model
    strategy: Strategy
    T: int
    m: int
    measured: float
    gpus: int = 1
    states: States | None = None
    fused: bool = True
    trainable: float | None = None
    frozen: float = 2.0
    offload: "Collection[str]" = field(default=())
    trained: Trained | None = None
    loss: str = "full"
    waste: float = 0.0
    card: float = inf
    beside: float = 0.0
    typical: bool = False
    inferred: bool = False
    open: bool = False
    unstudied: Framework | None = None

    @property
    def plan(self) -> str:
        """What decides the fold: all repeats of a plan are of one."""
        return f"{self.model.key} {self.model.layers} {self.model.width} {self.strategy!r} {self.T} {self.m}"

    def predicted(self, framework: Framework | None = None) -> float:
        """What `hwlib.footprint` says, with the constants of `framework`, or of the case's own."""
        by = framework or self.framework
        found = unchecked_footprint(
            self.model,
            self.strategy,
            T=self.T,
            m=self.m,
            states=self.states,
            fused=self.fused,
            framework=by,
            trainable=self.trainable,
            frozen=self.frozen,
            offload=self.offload,
            trained=self.trained,
            loss=self.loss,
        )
        needed = float(found.total) + self.beside
        held_back = self.waste * float(found.logits + found.buffers)
        return self.gpus * max(needed, min(needed + held_back, self.card))

    @property
    def simple(self) -> float:
        """What formulas alone count, of Megatron's states."""
        return self.gpus * float(
            unchecked_footprint(self.model, self.strategy, T=self.T, m=self.m, fused=self.fused).total
        )


WIDE_LOSS, NARROW_LOSS = 14.0, 8.0
"""Bytes of a logit that are reserved where the loss has 32 bits, and where it has 16: its logarithms, their gradient
and that of the logits, and the hole of the logits themselves."""
GIVEN_BACK = 4.0
"""Bytes of a logit that accelerate gives back in 32 bits where a model runs under autocast."""
BUCKETS = 2 * 2e8 * 2.0
"""Bytes of the two buffers of 2e8 gradients in 16 bits that DeepSpeed's ZeRO-1 and 2 keep, by the scripts' settings."""
SINGLE_SCALES = 0.5 + 4 / 64 - BASES["nf4"]
"""Bytes that a parameter in 4 bits takes more where its scales, of 32 bits for each 64, are not quantised again."""
IN_PIECES = 12.0
"""Bytes of a logit of a loss in pieces that are held in 32 bits, whose logarithms all wait for the backward pass."""
READ = {
    "model", "hidden", "layers", "heads", "ff", "vocab", "size", "params", "tp", "pp", "cp", "dp", "fsdp", "replicas",
    "zero", "mbs", "gbs", "grad_accum", "micro_num", "seq", "packed", "ac", "recompute", "dtype", "compile", "async_tp",
    "fp8", "schedule", "vp", "stage", "base_weights", "trainable", "software", "version", "framework", "loss",
    "optimizer_in_backward", "activation_offload", "optimizer", "nodes", "mem", "tflops_logged", "date",
}  # fmt: skip


def memory_rows_of(row: PublishedRow) -> Iterator[PublishedRow]:
    """The memory that a timed step prints, as a row of its own: BLOOM's log has it in whole GB."""
    text = str(row.config.get("mem", "")).strip() if row.kind == "train-step" else ""
    printed = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(GB|GiB)", text)
    if printed and float(printed[1]) and not row.fault:
        name, unit = row.cells["id"], f"{printed[2]} a GPU"
        reader = f"memory-{row.reader}"
        if reader not in SOURCES:
            reader = reader_of("train-memory", name, row.config)
        cells = {"id": name + "-mem", "kind": "train-memory", "unit": unit, "measured_value": printed[1]}
        config = row.config
        if reader == "memory-bloom" and not config.get("hidden"):
            config, cells = config | _shape_of_step(row), cells | {"confidence": DEDUCED}
        yield replace(
            row,
            config=config,
            kind="train-memory",
            set=reader if reader in SOURCES else name,
            value=float(printed[1]),
            unit=unit,
            cells=row.cells | cells,
            reader=reader,
        )


DEDUCED = "shape inferred from the rate of the step"


def _shape_of_step(row: PublishedRow) -> dict[str, Any]:
    """The layers and the width that the logged rate of a step of BLOOM's trials fits; nothing where it fits none."""
    try:
        return bloom_shape(row, row.config, number(row.config, "gbs") * 2048, 2048)
    except ValueError:
        return {}


def _titan(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """torchtitan, and torchao's tables of it: the allocator's reserved peak, in GiB also where GB is printed, for both
    print what torchtitan logs.

    Not printed, and assumed: recomputation by operator, its default; as many microbatches as stages, its default; two
    chunks of a rank where the schedule is interleaved.
    """
    text = str(c.get("dtype", "")).lower()
    if "fp4" in text:
        return Unmodelled(f"dtype is {c['dtype']!r}: no constants of activations that are kept in 4 bits")
    model, compiled = memory_model(c), flag(c, "compile") if "compile" in c else False
    old = _wide_loss(str(c.get("software", "")).lower(), str(c.get("version", "")))
    by = frameworks["torchtitan-2024" if old else "torchtitan"].replace(reserve=0.0)
    if not compiled:
        by = by.replace(eager=True, logit=frameworks["torchtitan-2024"].logit)
    ac = str(c.get("ac", "selective by op")).lower()
    word = BY_OP if ac.startswith("selective") else ac
    pp, local = number(c, "pp", default=1), number(c, "mbs")
    if local % pp:
        raise ValueError(
            f"a local batch of {local} is not a whole number of the {pp} microbatches that are the default"
        )
    chunks = 2 if "interleaved" in str(c.get("schedule", "")).lower() else 1
    fsdp, copies = number(c, "fsdp", "dp"), number(c, "replicas", default=1)
    cp = number(c, "cp", default=1)
    strategy = Strategy(
        dp=fsdp * copies,
        tp=number(c, "tp", default=1),
        pp=pp,
        cp=cp,
        v=number(c, "vp", default=chunks),
        micro=local // pp,
        zero=3,
        recompute=word,
        **divided_among(fsdp * cp, fsdp * cp * copies),
    )
    open_ = "inferred" in row.cells["confidence"]
    return Peak(by, model, strategy, number(c, "seq"), pp, _bytes(row, GiB), inferred=open_)


def _wide_loss(software: str, version: str) -> bool:
    """Whether a compiled loss still has its logits in 32 bits, as up to torch 2.7: in torchtitan of 2024, and in tables
    of torchao before 0.13, which are of torch 2.9 from then on.
    """
    if "torchao" in software:
        release = re.match(r"0\.(\d+)", version)
        return release is not None and int(release[1]) < 13
    year = re.match(r"\d{4}", version)
    return year is not None and int(year[0]) <= 2024


def _tune(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """torchtune: the allocator's active peak, in GiB; weights, gradients and moments in 16 bits.

    A compiled loss in chunks has no copy of a logit in 32 bits. Not printed, and taken from the recipes: LoRA of rank
    64 beside all matrices but the keys', with a loss in chunks and layers that are recomputed.
    """
    lora = str(c.get("stage", "full")).lower() in ("lora", "qlora")
    loss = "chunked" if lora or str(c.get("loss", "")) == "chunked" else "full"
    by = frameworks["torchtune"].replace(eager=not c.get("compile"), reserve=0.0)
    if loss == "chunked" and c.get("compile"):
        by = by.replace(logit=frameworks["pytorch-compiled"].logit)
    states = ADAM_8BIT if "8" in str(c.get("optimizer", "")) else BFLOAT16_ADAM
    if c.get("optimizer_in_backward"):
        states = states._replace(gradient=0)
    matrices = tuple(name for name in GROUPS["all"] if name != "k")
    adapters = Adapters(64, matrices, _base(c)) if lora else None
    fsdp = number(c, "fsdp", default=1)
    recompute = str(c.get("ac", "full" if lora else "none"))
    strategy = Strategy(dp=fsdp, zero=3 if fsdp > 1 else 0, micro=number(c, "mbs"), recompute=recompute)
    return Peak(
        by,
        memory_model(c),
        strategy,
        number(c, "seq"),
        1,
        _bytes(row, GiB),
        offload=("activations",) if c.get("activation_offload") else (),
        trained=Trained(states, adapters=adapters),
        loss=loss,
        inferred="assumed" in row.cells["confidence"],
    )


def _litgpt(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """LitGPT: the allocator's peak, in GB; adapters on frozen weights in 16 bits, or in 4.

    Not printed, and taken from the scripts of that month: LoRA of rank 8 beside queries and values, and a loss in
    pieces of 128 tokens, which Fabric gives back in 32 bits.
    """
    if number(c, "fsdp", default=1) > 1:
        hardly = "a peak that hardly grows with the batch, and so is not of the step: all weights at once"
        return Unmodelled(f"fsdp is {c['fsdp']}: {hardly}")
    strategy = Strategy(micro=number(c, "mbs"), recompute=str(c.get("ac", "none")))
    model, lora = memory_model(c), str(c.get("stage")).lower() == "lora"
    by = frameworks["pytorch"].replace(
        fused_norms=False, logit=IN_PIECES, reserve=0.0, logit_hole=0.0, layer_hole=0.0, fragmentation=0.0
    )
    adapters = Adapters(8, ("q", "v"), _base(c))
    if str(c.get("base_weights")) == "nf4":
        by = by.replace(reserve=SINGLE_SCALES * matmul_parameters(model))
    return Peak(
        by,
        model,
        strategy,
        number(c, "seq"),
        1,
        _bytes(row, GB),
        states=None if lora else BFLOAT16_ADAM,
        trained=Trained(BFLOAT16_ADAM, adapters=adapters) if lora else None,
        trainable=None if lora else number(c, "trainable"),
        frozen=_frozen(c),
        beside=_adapters_keep(model, str(c.get("stage")).lower()) * number(c, "mbs") * number(c, "seq"),
        typical=True,
        inferred=True,
    )


def _adapters_keep(model: Model, stage: str) -> float:
    """Bytes of a token that LitGPT's adapters keep: LoRA its input behind dropout and the mask of that, once a layer;
    the second kind of adapters, which scales what each matrix gives, all of that.
    """
    outputs = sum(columns for sides in layer_matrices(model, False).values() for _, columns in sides)
    a_layer = {"lora": 3 * model.width, "adapter-v2": 2 * outputs}
    return float(model.layers * a_layer.get(stage, 0))


def _qwen(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """Qwen's fine-tuning scripts under DeepSpeed, as a monitor shows them, in GB; some sum several GPUs.

    Not printed, and taken from the scripts: adapters of rank 64 beside all matrices; LoRA under autocast, whose loss
    has 32 bits, all else cast as a whole by DeepSpeed, so that the loss has 16, too, and with 32-bit gradients beside
    those in 16 in the step. What a single node reserves is taken to be Megatron Core's typed 1.5 GB:
    Megatron-DeepSpeed's was fitted on 48 nodes.
    """
    stage, D, F = str(c.get("stage", "full")), number(c, "hidden"), number(c, "ff")
    adapters = 64 * number(c, "layers") * ((D + 3 * D) + 2 * D + 3 * (D + F))
    dp, summed = number(c, "dp", default=1), "sum" in row.unit
    wide = stage.lower() == "lora"
    buckets = BUCKETS if number(c, "zero", default=0) in (1, 2) else 0.0
    core = frameworks["megatron-core"]
    bare = core.replace(logit=WIDE_LOSS if wide else NARROW_LOSS)
    by = bare.replace(reserve=core.reserve + buckets)
    strategy = Strategy(
        dp=dp, zero=number(c, "zero", default=0) if dp > 1 else 0, micro=number(c, "mbs"), recompute="full"
    )
    return Peak(
        by,
        memory_model(c),
        strategy,
        number(c, "seq"),
        number(c, "grad_accum", default=1),
        _bytes(row, GB),
        row.gpus if summed else 1,
        FULL_ADAM if wide else HALF_ADAM,
        trainable=adapters if "lora" in stage.lower() else None,
        frozen=_frozen(c),
        typical=True,
        inferred=True,
        unstudied=bare,
    )


ONE_GPU_MEMORY = "memory-one-gpu"
VARYING = 2.2
"""Share of a loss and of a layer's buffers that the allocator reserves more, where lengths of sequences vary: blocks of
those before are too short for a longer one. Fitted to no row: torch's caching allocator, played by its rules (best fit,
blocks split and joined, none given back before the card is full) with 80 to 150 sequences of ms-swift's lengths,
reserves 3.2 times what it allocates, 2.2 to 5.5 by length and draw. What layers keep is in blocks of one size a layer,
which serve again.
"""
MEASURED = ("allocated", "reserved", "monitor")
"""What of a GPU's memory a row counts: what was allocated, what the allocator reserved, or all that is in use."""


def _measure_of(unit: str) -> str:
    """What a unit says that was measured: all that is in use, where it says nothing."""
    return next((word for word in MEASURED if word in unit.lower()), "monitor")


def _one_gpu(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """A peak on one GPU, of any software on PyTorch, by what the row says of it.

    Not printed, and assumed: kernels of norms and gates are apart, unless the row says that the model is compiled or
    its loss in place; all parameters are updated together where all of a model is trained.
    """
    if row.gpus != 1:
        raise ValueError(f"a row of one GPU has {row.gpus}")
    question, measure = asked_question(c), str(c.get("measure") or _measure_of(row.unit))
    if measure not in MEASURED:
        raise ValueError(f"measure is {measure!r}, none of {', '.join(MEASURED)}")
    by = frameworks["pytorch-compiled" if question.compiled else "pytorch"]
    by = by.replace(fused_norms=c.get("norms") == "fused", moments=0.0 if c.get("update") == "fused" else 1.0)
    if question.loss == IN_PLACE or question.loss == "fused":
        by = by.replace(eager=False, logit=_logit_in_place(question, c), logit_hole=0.0)
    by = by.replace(wide_base="upcast" in c and flag(c, "upcast"))
    if measure != "monitor":
        by = by.replace(reserve=0.0)
    if measure == "allocated":
        by = by.replace(fragmentation=0.0, logit_hole=0.0, layer_hole=0.0)
    return Peak(
        by,
        memory_model(c),
        Strategy(micro=number(c, "mbs"), recompute=recomputed(c, "none")),
        number(c, "seq"),
        number(c, "grad_accum", default=1),
        _bytes(row, GB),
        fused=str(c.get("attention", "fused")) != "eager",
        offload=question.offload,
        trained=question.trained,
        waste=VARYING if c.get("lengths") == "vary" else 0.0,
        card=_card(row) - frameworks["pytorch"].reserve,
        loss="full" if question.loss == IN_PLACE else question.loss,
        typical=row.cells["confidence"] != "measured",
        inferred=row.cells["confidence"] != "seen verbatim",
        unstudied=by.replace(layer_gradients=False, layer_hole=0.0),
    )


def _logit_in_place(question: AskedQuestion, c: Mapping[str, Any]) -> float:
    """Bytes of a logit of a loss in place, or fused. Under autocast accelerate gives back the logits of the first in 32
    bits.
    """
    copy = GIVEN_BACK if question.loss == IN_PLACE and c.get("amp") else 0.0
    return frameworks["pytorch-compiled"].logit + copy


def _internevo(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """InternEvo on A800, as a monitor would show it, in GB; the loss of Megatron's kind, in 32 bits."""
    pp, tp = number(c, "pp", default=1), number(c, "tp", default=1)
    dp = number(c, "dp", default=row.gpus // (pp * tp))
    recompute, zero = str(c.get("ac", "none")), number(c, "zero", default=1)
    strategy = Strategy(dp=dp, tp=tp, pp=pp, micro=number(c, "mbs"), zero=zero, recompute=recompute)
    return Peak(
        frameworks["internevo"],
        memory_model(c),
        strategy,
        number(c, "seq"),
        number(c, "micro_num", default=1),
        _bytes(row, GB),
        typical=True,
        inferred=True,
        unstudied=frameworks["megatron-deepspeed"].replace(logit=14.0, shared_logit=14.0),
    )


def _bloom(row: PublishedRow, c: Mapping[str, Any]) -> Peak | Unmodelled:
    """BLOOM's trials, as a monitor shows them, in whole GB: everything recomputed, attention not fused, the embedding
    on the first stage and on the last.

    From 28 February on, says the log, gradients were accumulated in 32 bits, and embedding and output layer took the
    place of a layer each. A row without its day is of that software where its layers divide with these two only.
    """
    c = {"heads": 64, "seq": 2048, "recompute": c.get("ac", "full"), **c}
    T, tp, pp = number(c, "seq"), number(c, "tp", default=1), number(c, "pp", default=1)
    B = number(c, "gbs")
    model = gpt({**c, **bloom_shape(row, c, B * T, T)}, positions=False)
    if row.gpus % (tp * pp):
        raise ValueError(f"tp x pp is {tp * pp}, which does not divide the {row.gpus} GPUs")
    dp = number(c, "dp", default=row.gpus // (tp * pp))
    if dp * tp * pp != row.gpus:
        raise ValueError(f"dp x tp x pp is {dp * tp * pp}, not the {row.gpus} GPUs")
    micro = number(c, "mbs", default=1)
    zero = 0 if str(c.get("zero", 1)) == "0" else 1
    strategy = Strategy(dp=dp, tp=tp, pp=pp, micro=micro, zero=zero, sp=False, recompute=str(c["recompute"]))
    m = max(B // (dp * micro), 1)
    day = str(c.get("date") or "")
    late = day >= "02-28" if day else (model.layers + 2) % pp == 0 < model.layers % pp
    by = frameworks["megatron-deepspeed-2022-03" if late else "megatron-deepspeed"]
    deduced = row.cells["confidence"] == DEDUCED
    return Peak(by, model, strategy, T, m, _bytes(row, GB), fused=False, open=deduced)


def _base(c: Mapping[str, Any]) -> str:
    """The precision in which frozen matrices are stored. Raises ValueError."""
    _frozen(c)
    text = str(c.get("base_weights", "bf16")).lower()
    return {"fp16": "bf16", "nf4-dq": "nf4"}.get(text, text)


def _frozen(c: Mapping[str, Any]) -> float:
    """Bytes of a frozen weight: 4 bits take a scale for every 64 beside them."""
    kinds = {"bf16": 2.0, "fp16": 2.0, "nf4": 0.5 + 4 / 64, "nf4-dq": BASES["nf4"], "int4": 0.5 + 4 / 128, "int8": 1.0}
    text = str(c.get("base_weights", "bf16")).lower()
    if text not in kinds:
        raise ValueError(f"base_weights is {text!r}, none of {', '.join(kinds)}")
    return kinds[text]


def _bytes(row: PublishedRow, unit: float) -> float:
    """The figure in bytes; `unit` is what the source means by GB where it prints that."""
    found = re.match(r"(GiB|GB)\b", row.unit)
    if not found:
        raise ValueError(f"the unit of memory is GiB or GB, not {row.unit!r}")
    return row.value * (GiB if found[1] == "GiB" else unit)


SOURCES: dict[str, Callable[[PublishedRow, Mapping[str, Any]], Peak | Unmodelled]] = {
    "memory-torchao": _titan,
    "memory-torchtitan": _titan,
    "memory-torchtune": _tune,
    "memory-litgpt": _litgpt,
    "memory-qwen": _qwen,
    "memory-internevo": _internevo,
    "memory-bloom": _bloom,
    ONE_GPU_MEMORY: _one_gpu,
}
"""How the rows of a source are read, by the name of their reader, which is the set that they are scored with."""


def peak_case(row: PublishedRow) -> Peak | Unmodelled:
    """The case of a row of kind "train-memory", or why there is none. Never raises for an odd configuration."""
    read = SOURCES.get(row.reader)
    if read is None:
        return Unmodelled("no reader for this source: what its figure has in it is not known")
    if odd := unread(row.config, READ | ONE_GPU):
        return Unmodelled(odd)
    try:
        found = read(row, row.config)
    except KeyError as error:
        return Unmodelled(str(error.args[0]))
    except (ValueError, TypeError, ArithmeticError) as error:
        return Unmodelled(str(error) or type(error).__name__)
    if isinstance(found, Peak) and found.measured > found.gpus * _card(row):
        return Unmodelled(f"the row contradicts itself: {row.value:g} {row.unit} of {_card(row) / GiB:g}GB")
    return found


def _card(row: PublishedRow) -> float:
    """The bytes of a card that a row's system names with its GB; more than any has where it names none."""
    has = re.search(r"(\d+) ?Gi?B\b", row.system)
    return int(has[1]) * GiB if has else inf
