"""Rows of serving: a server, its load, and what was measured of it, from a row of published measurements.

What a source does not print is assumed for the whole source, and said here. TensorRT-LLM 1.0 prints neither the degree
of expert parallelism nor whether attention is data-parallel; its page's commands enable the latter for models with
experts, so each rank of its "TP" is read as having attention for sequences of its own, and whole experts. gpt-oss has
experts in 4 bits and all else in bfloat16, whichever `dtype` is printed, and on Hopper a cache in bfloat16, as the
page's commands say. A checkpoint of DeepSeek-R1 in 4 bits keeps attention in bfloat16, and one in 8 bits has scales of
blocks; of other models `fp8_block` says so. InferenceX prints no dtype of the cache: 8 bits with weights of 4, else 16;
it draws lengths evenly between 0.8 and 1.0 of those that it prints. A server of SGLang or vLLM is read alike. A first
token at the mean of a closed loop's requests, of a number that is printed, is that with its queue; at the median, or of
no printed number, it is that of the step that reads the prompt. Neuron's tables print cores, of which a chip has
several: each rank is read as a chip.

A row of any software and any chip is read. On a chip that no kernel was fitted on, and of a software that no server was
fitted of, the constants are those usual, and the row is scored apart; a chip whose links nobody publishes the rate of
(`row_chips`) has messages that cost their start alone, so that the time is a bound from below.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.read_keys import unread
from benchmarks.rows.row_chips import chip_of_words
from benchmarks.rows.training_step import Unmodelled
from hwlib.calibrated.closed_loop import mean_first
from hwlib.calibrated.serving import RunSteps, Server, Steps, run_of, served_time, times
from hwlib.specs import Accelerator, Model, accelerators, models
from hwlib.specs.serving_stack import USUAL, ServingStack, serving_stacks
from hwlib.specs.table import SpecError

CHIPS = {
    "A100": "a100-80gb-sxm",
    "A100-PCIe": "a100-80gb-pcie",
    "H100": "h100-sxm",
    "H200": "h200-sxm",
    "L40S": "l40s",
    "H20": "h20-sxm",
    "B200": "b200-sxm",
    "B300": "b300-sxm",
    "GB200": "gb200-nvl72",
    "GB300": "gb300-nvl72",
    "RTXPRO6000": "rtx-pro-6000",
    "MI300X": "mi300x",
    "MI325X": "mi325x",
    "MI355X": "mi355x",
}
UNFITTED = {"MI300X": "mi300x", "MI355X": "mi355x"}
"""Chips of published servers that are predicted once more as if nothing had been fitted on them, from their sheets."""
ROCM = ("MI300X", "MI325X", "MI355X")
ROCM_STACKS = {"vLLM": "vllm-rocm", "ATOM": "atom"}
QUICKER = "2026-05"  # the month of SGLang 0.5.12: images of before are 0.5.9
NOBODY = "nobody"  # a vendor whose chips no kernel was fitted on
DTYPES = {
    "fp16": "bf16",
    "bf16": "bf16",
    "fp8": "fp8",
    "fp8_block": "fp8_block",
    "nvfp4": "fp4",
    "fp4": "fp4",
    "int8w": "int8w",
    "int4w": "int4w",
}
ALIASES = {"deepseek-r1": "deepseek-v3"}
REQUESTS = {
    (128, 128): 30000, (128, 2048): 3000, (128, 4096): 1500, (500, 2000): 3000, (1000, 1000): 3000, (1000, 2000): 1500,
    (2048, 128): 3000, (2048, 2048): 1500, (5000, 500): 1500, (20000, 2000): 1000, (1024, 1024): 3000,
    (8192, 1024): 1500, (1024, 8192): 1500, (32768, 1024): 1000, (1024, 32768): 1000,
}  # fmt: skip
"""How many requests TensorRT-LLM's pages queue for each pair of lengths, as they print it."""

READ = {
    "model", "dtype", "kv_dtype", "tp", "pp", "ep", "attention_dp", "input", "output", "batch", "concurrency", "load",
    "metric", "software", "version", "date", "disaggregated", "prefill_gpus", "decode_gpus", "prefill_tp", "prefill_ep",
    "batching", "lengths", "note", "requests", "hidden", "layers", "heads", "vocab", "power_limit_w", "tp_cores",
    "kv_heads", "head_dim", "experts", "topk", "ff",
}  # fmt: skip
CELLS = ("tp", "input", "output", "load")
"""What a row of a server has to say beside its model and its dtype."""
VOCABULARIES = {"minimax-m2.5": 200064}
"""Rows of the embedding of models whose rows print all else: from the config.json of MiniMaxAI/MiniMax-M2.5."""
MEAN_FIRST = "mean first token"
"""What a metric begins with that is a mean over a run's requests, those that come at once at its start among them."""
SHORTER = 0.9  # mean of lengths drawn evenly between 0.8 and 1.0 of the printed ones
RELEASES = ((0.10, "0.9"), (0.19, "0.14"), (1.00, "0.19"), (1.01, "1.0"), (math.inf, "1.1"))
"""Up to which release (exclusive, 1.1 as 1.01) each stack of TensorRT-LLM stands."""


@dataclass(frozen=True, eq=False)
class Serving:
    """A measured server: the steps that the row's figure is the time of, and that time in seconds.

    `known` says that the batch was printed. `group` is the model and the chip. `typical`: no constant was fitted to
    this software as it was run. `requests` are there at once.
    """

    server: Server
    stack: str
    steps: Steps
    seconds: float
    known: bool
    group: str
    typical: bool = False
    requests: int = 0

    @property
    def bound(self) -> bool:
        """Whether the time is a bound from below: messages over links whose rate is not published."""
        return self.server.tp > 1 and math.isinf(self.server.chip.scaleup_bandwidth or 0.0)

    @property
    def constants_of(self) -> str:
        """The constants that are typical of the server, and whether the time is a bound."""
        return self.stack + ", a bound: the rate of its links is not published" * self.bound

    def time(self, stack: ServingStack | None = None) -> float:
        """Predicted seconds, with the kept constants or others."""
        return served_time(stack or serving_stacks[self.stack], self.steps)


def serving_case(row: PublishedRow) -> Serving | Unmodelled:
    """What a row measured, or the reason why it cannot be modelled."""
    try:
        return _read(row)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        return Unmodelled(f"the row does not give {error.args[0]}" if isinstance(error, KeyError) else str(error))


def _read(row: PublishedRow) -> Serving | Unmodelled:
    config = row.config
    if odd := unread(config, READ | {"scenario", "dataset", "submitter", "beams"}):
        return Unmodelled(odd)
    chip = accelerators[CHIPS[row.system]] if row.system in CHIPS else chip_of_words(row.system)
    config = _with_ranks(config, chip)
    if missing := [name for name in CELLS if not config.get(name)]:
        return Unmodelled(f"the row does not give {', nor '.join(missing)}")
    fitted = row.system in CHIPS and fitted_to(config, row.system)
    stack = serving_stacks[stack_of(config, row.system) if fitted else USUAL]
    apart = bool(config.get("disaggregated"))
    server = server_of(config, chip, stack.kernels)
    run = _run(server, stack, config, apart)
    steps, seconds = _measured(row, server, run, config, apart)
    known = config["load"] != "max"
    requests = run.batch * server.groups * server.pp
    group = f"{config['model']} {row.system}"
    return Serving(server, stack.key, steps, seconds, known, group, apart or not fitted, requests)


def _with_ranks(config: dict[str, Any], chip: Accelerator) -> dict[str, Any]:
    """A configuration whose ranks are chips, where it prints cores."""
    if "tp" in config or "tp_cores" not in config:
        return config
    return config | {"tp": int(config["tp_cores"]) // (chip.sms or 1)}


def fitted_to(config: dict[str, Any], system: str = "") -> bool:
    """Whether servers of a row's software, and of its kind of model, were among those that constants were fitted to."""
    try:
        stack = stack_of(config, system)
    except ValueError:
        return False
    return not (stack == "vllm-0.6" and _has_experts(config))


def _has_experts(config: dict[str, Any]) -> bool:
    name = ALIASES.get(config["model"], config["model"])
    return "experts" in config or (name in models and bool(models[name].moe))


THIRTEEN = {"hidden": 5120, "layers": 40, "heads": 40, "vocab": 50272}
"""The model of 13B of FasterTransformer's timings: its bytes are in cli99/llm-analysis, examples/fastertransformer."""


def inference_case(row: PublishedRow) -> Serving | Unmodelled:
    """A row of kind "inference": a prompt of `ctx` tokens or a token behind it, in a static batch of 16 bits, or the
    rate of a node, which lacks its plan and its load.
    """
    c = row.config
    words = {"prefill": "ms first token", "token decode": "ms per output token"}
    unit = re.fullmatch(r"ms[ /](prefill|token decode)", row.unit)
    if not unit or "ctx" not in c:
        return Unmodelled("the row does not give tp, nor ctx" if "tp" not in c else f"no model of {row.unit!r}")
    more = {"input": c["ctx"], "output": 1, "dtype": "fp16", "load": "static batch", "software": row.system}
    shape = THIRTEEN if c.get("model") == "13B" else {}
    config = {name: x for name, x in c.items() if name != "ctx"}
    system = row.system.partition(" ")[0]
    return serving_case(replace(row, system=system, config={**config, **more, **shape}, unit=words[unit[1]]))


def unfitted_case(row: PublishedRow, stack: ServingStack) -> Serving:
    """What a row measured on a chip that nothing was fitted to, with the steps by the typical constants of a stack."""
    server = server_of(row.config, accelerators[UNFITTED[row.system]], stack.kernels)
    server = replace(server, chip=replace(server.chip, vendor=NOBODY))
    run = _run(server, stack, row.config, apart=False)
    steps, seconds = _measured(row, server, run, row.config, apart=False)
    requests = run.batch * server.groups * server.pp
    return Serving(server, stack.key, steps, seconds, True, f"{row.config['model']} {row.system}", True, requests)


def serving_group(system: str, config: dict[str, Any]) -> str:
    """The set of a row: its software and its chip."""
    try:
        software = serving_stacks[stack_of(config, system)].name
    except (KeyError, ValueError):
        software = str(config.get("software", "unknown software"))
    return f"serving, {software}, {system}"


def stack_of(config: dict[str, Any], system: str = "") -> str:
    """The stack of a row's software and release. Raises ValueError for a software that nothing was fitted to."""
    software = str(config["software"])
    if system in ROCM:
        return _rocm_stack(config, system)
    if "TensorRT-LLM" in software:
        if config["load"] == "closed loop":
            return "tensorrt-llm-server"
        if not (found := re.match(r"(\d+)\.(\d+)", str(config.get("version", "")))):
            raise ValueError(f"no release in {config.get('version')!r}")
        release = int(found[1]) + int(found[2]) / 100
        return "tensorrt-llm-" + next(name for limit, name in RELEASES if release < limit)
    if "SGLang" in software:
        return "sglang-0.4" if config["load"] == "one request" else "sglang"
    for name, key in (("vLLM", "vllm-0.6"), ("FasterTransformer", "fastertransformer"), ("gpt-fast", "gpt-fast")):
        if name in software:
            return key
    return _unknown(software)


def _rocm_stack(config: dict[str, Any], system: str) -> str:
    """SGLang has builds by architecture, and became quicker on the older one in May 2026."""
    software = str(config["software"])
    if "SGLang" in software:
        old = str(config.get("date", "")) < QUICKER
        return "sglang-mi35x" if system == "MI355X" else "sglang-mi30x" + "-0.5.9" * old
    return next((key for name, key in ROCM_STACKS.items() if name in software), "") or _unknown(software)


def _unknown(software: str) -> str:
    raise ValueError(f"no serving stack for {software}")


def server_of(config: dict[str, Any], chip: Accelerator, kernels: str = "trtllm") -> Server:
    """The server of a row. Raises ValueError or KeyError for a model or a plan that is not known."""
    model = model_of(config)
    if config["dtype"] not in DTYPES:
        raise ValueError(f"dtype is {config['dtype']!r}, none of {', '.join(DTYPES)}")
    dtype = DTYPES[config["dtype"]]
    low = dtype in ("fp8", "fp8_block", "fp4")
    kv_dtype = DTYPES.get(config.get("kv_dtype", ""), "fp8" if low else "bf16")
    if config["load"] == "closed loop" and "kv_dtype" not in config:
        kv_dtype = "fp8" if dtype == "fp4" else "bf16"
    tp, ep = int(config["tp"]), int(config.get("ep", 1))
    others: dict[str, Any] = {}
    if model.mla:
        others = {"attention_dtype": "bf16" if dtype == "fp4" else dtype}
        dtype = "fp8_block" if dtype == "fp8" else dtype
    if "experts" in config:  # whose checkpoints in 8 bits have scales of blocks
        dtype = "fp8_block" if dtype == "fp8" else dtype
    if model.sinks:  # gpt-oss
        others = {"expert_dtype": "mxfp4" if chip.arch == "Hopper" else "mxfp4_fp8"}
        kv_dtype, dtype = ("bf16" if chip.arch == "Hopper" else kv_dtype), "bf16"
    if model.moe and "ep" not in config and "the page does not say the degree" in config.get("note", ""):
        ep, config = tp, config | {"attention_dp": tp > 1}
    return Server(
        model,
        _with_links(chip),
        tp=tp,
        pp=int(config.get("pp", 1)),
        ep=ep,
        dtype=dtype,
        kv_dtype=kv_dtype,
        attention_dp=bool(config.get("attention_dp")),
        kernels=kernels,
        **others,
    )


def _with_links(chip: Accelerator) -> Accelerator:
    """A chip; one whose links nobody publishes the rate of has any."""
    return chip if chip.scaleup_bandwidth else replace(chip, scaleup_bandwidth=math.inf)


def model_of(config: dict[str, Any]) -> Model:
    """The model of a row; one without a public row has its lengths, and is of GPT's kind, or has experts in each layer.

    Raises ValueError for a model that the row neither names nor describes.
    """
    if config.get("experts"):
        return _experts_of(config)
    if "hidden" in config:
        width = int(config["hidden"])
        return Model.small(
            layers=int(config["layers"]),
            width=width,
            heads=int(config["heads"]),
            vocab=int(config["vocab"]),
            ffn=4 * width,
            gated=False,
            norm="layer",
        )
    name = ALIASES.get(config["model"], config["model"])
    if name not in models:
        raise ValueError(f"the row gives neither a known model nor hidden: {name!r}")
    return models[name]


def _experts_of(config: dict[str, Any]) -> Model:
    vocab = config.get("vocab") or VOCABULARIES.get(config.get("model", ""))
    if not vocab:
        raise ValueError("the row does not give vocab")
    return Model.small(
        layers=int(config["layers"]),
        width=int(config["hidden"]),
        heads=int(config["heads"]),
        kv_heads=int(config["kv_heads"]),
        head_dim=int(config["head_dim"]),
        vocab=int(vocab),
        ffn=int(config["ff"]),
        expert_ffn=int(config["ff"]),
        experts=int(config["experts"]),
        experts_per_token=int(config["topk"]),
    )


def _run(server: Server, stack: ServingStack, config: dict[str, Any], apart: bool) -> RunSteps:
    shorter = SHORTER if config.get("lengths", "").startswith("uniform in 0.8") else 1.0
    lengths = {"input": config["input"] * shorter, "output": config["output"] * shorter}
    load = config["load"]
    if load == "max":
        requests = config.get("requests") or REQUESTS.get((config["input"], config["output"]), 3000)
        return run_of(server, stack, "queued", requests=requests, **lengths)
    if load in ("static batch", "one request"):
        return run_of(server, stack, "static", batch=config["batch"], **lengths)
    if load != "closed loop":
        raise ValueError(f"no model of the load {load!r}")
    batch = config["concurrency" if "batch" not in config else "batch"]
    if apart:  # decoding has GPUs of its own, several servers of them
        return run_of(server, stack, "static", batch=max(1, batch * server.gpus / config["decode_gpus"]), **lengths)
    run = run_of(server, stack, "closed", batch=batch, **lengths)
    if config.get("metric", "").startswith(MEAN_FIRST) and config.get("requests"):
        return run._replace(first=mean_first(server, stack, batch=batch, requests=config["requests"], **lengths))
    return run


def _measured(
    row: PublishedRow, server: Server, run: RunSteps, config: dict[str, Any], apart: bool
) -> tuple[Steps, float]:
    """The steps that the row's figure is the time of, and that time."""
    unit, value = row.unit, row.value
    if unit == "ms first token" and not apart:
        return run.first, value / 1e3
    if unit == "ms per output token":
        return run.token, value / 1e3
    if unit == "ms whole request":
        return run.whole, value / 1e3
    rate = re.fullmatch(r"(input\+)?output tokens/s(/GPU|/node)?", unit)
    if rate is None or apart:
        raise ValueError(f"no model of {unit!r}" + " of a server whose prompts have GPUs of their own" * apart)
    if rate[2] == "/node":
        raise ValueError(f"no model of {unit!r}")
    per_gpu = value if rate[2] else value / row.gpus
    tokens = run.tokens * (1 + config["input"] / config["output"] if rate[1] else 1.0)
    seconds = tokens / (per_gpu * server.gpus)
    if str(config["software"]).startswith("gpt-fast"):  # the speed is of the generated tokens
        return times(run.token, config["output"]), seconds
    return run.whole, seconds
