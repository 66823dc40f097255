"""The fields of each page that plans: their labels, how each is read, and what stands in them at first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from hwlib.options.amounts import (
    bytes_of,
    in_unit_of,
    run_tokens_of,
    seconds_of,
    spares_of,
    tokens_of,
    whole_numbers_of,
    without_groups,
    words_of,
)
from hwlib.planner import PlanError

Reader = Callable[[str], Any]
HOUR = 3600.0  # s


def _number(text: str, *, whole: bool = False) -> float:
    plain = without_groups(text, whole=whole)
    try:
        return float(plain)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _whole(text: str) -> int:
    number = _number(text, whole=True)
    if not number.is_integer():
        raise ValueError(f"{text!r} is not a whole number")
    return int(number)


def _above_0(text: str) -> float:
    if not 0 < (number := _number(text)) < inf:
        raise ValueError(f"{text!r}: expected a number above 0")
    return number


def _count(text: str) -> int:
    if (number := _whole(text)) < 1:
        raise ValueError(f"{text!r}: expected a whole number of at least 1")
    return number


def _in(unit: str, example: str, words: tuple[str, ...] = ()) -> Reader:
    return lambda text: text if text in words else in_unit_of(text, unit, example)


def _one(text: str) -> int:
    if len(numbers := whole_numbers_of(text)) > 1:
        raise ValueError(f"{text!r}: expected one whole number")
    return numbers[0]


def _length(text: str) -> int:
    count, long = tokens_of(text)
    if long:
        raise ValueError(f"{text!r} is a batch, not a length")
    return count


def _word(text: str) -> str:
    return text.strip()


def _yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r}: expected yes or no")
    return text == "yes"


@dataclass(frozen=True)
class Field:
    """One field: `options` are the values of a choice, or, where it is `free`, what a text may be among others.

    `about` says what it is, with its unit; an empty field means what `empty` says, and is not read.
    """

    name: str
    label: str
    read: Reader = _word
    first: str = ""
    empty: str = ""
    about: str = ""
    options: tuple[tuple[str, str], ...] = ()
    free: bool = False
    fold: str = ""
    """It stands among those that are unfolded, below this title."""
    file: str = ""
    """It is the text of a file, which may be opened: one with such an ending."""

    @property
    def chosen(self) -> bool:
        """Whether it is a list to choose from."""
        return bool(self.options) and not self.free


@dataclass(frozen=True)
class Form:
    """The fields of a page."""

    page: str
    fields: tuple[Field, ...]
    parts: tuple[tuple[str, str], ...] = ()
    """What the page computes only when it is unfolded: the name of each part of the answer, and its title."""
    live: bool = False
    """It is quick enough to answer while one types."""

    @property
    def folds(self) -> tuple[str, ...]:
        """The titles of the fields that are unfolded."""
        return tuple(dict.fromkeys(field.fold for field in self.fields if field.fold))

    @property
    def first(self) -> dict[str, str]:
        """What stands in the fields at first, without the empty ones."""
        return {field.name: field.first for field in self.fields if field.first}

    def read(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """The values of the fields that are not empty. Raises PlanError, which names the field."""
        found = {}
        for field in self.fields:
            text = str(asked.get(field.name, "")).strip()
            if not text:
                continue
            try:
                found[field.name] = field.read(text)
            except ValueError as error:
                raise PlanError(field.name, str(error)) from None
        for name, stands_for in OWN.items():
            if own := found.pop(name, None):
                found[stands_for] = own
        names = [field.name for field in self.fields]
        if odd := [name for name in asked if name not in names]:
            raise PlanError(odd[0], f"no field of this page has this name; it has {', '.join(names)}")
        return found


OWN = {"config": "model", "described": "cluster"}
"""Fields that stand for another one where they are not empty."""
SEARCHED, ADVANCED, RUN = "Restrict the search", "Advanced", "The whole run"
"""Titles of what is unfolded."""
TRACES = ("azure-conversation", "azure-code", "mooncake-conversation")  # of measured lengths
RATES = ("llama3-405b", "rsc-1", "rsc-2", "opt-175b", "bloom-176b")  # rows of measured_failures.csv that have a rate


def _model(text: str) -> Any:
    from hwlib.specs import Model

    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(f"expected the text of a config.json: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"expected a config.json, an object of fields, got {type(content).__name__}")
    return Model.of_config(content, "your model")


def _cluster(text: str) -> Any:
    from hwlib.specs.own_cluster import cluster_of_text

    return cluster_of_text(text, "your cluster", "your cluster")


def _same(*words: str) -> tuple[tuple[str, str], ...]:
    return tuple((word, word) for word in words)


def _models() -> tuple[tuple[str, str], ...]:
    from hwlib.specs import models

    return tuple(sorted(((key, model.name) for key, model in models.items()), key=lambda pair: pair[1].lower()))


def _clusters() -> tuple[tuple[str, str], ...]:
    from hwlib.specs import clusters, nodes

    several = [(key, one.name) for key, one in clusters.items() if not one.torus]
    single = [(key, f"{one.name}, one node") for key, one in nodes.items() if one.shape != "torus"]
    return (*several, *single)


def _software() -> tuple[tuple[str, str], ...]:
    from hwlib.specs.serving_stack import serving_stacks

    return tuple((key, stack.name) for key, stack in serving_stacks.items())


def _states() -> tuple[tuple[str, str], ...]:
    from hwlib.footprint import STATES

    named = ((key, f"{key}: {one.weight:g} + {one.gradient:g} + {one.optimizer:g}") for key, one in STATES.items())
    return (("", "the software's"), *named)


def _stacks() -> tuple[tuple[str, str], ...]:
    from hwlib.specs import stacks

    return tuple((key, stack.name) for key, stack in stacks.items())


def _features() -> tuple[tuple[str, str], ...]:
    from hwlib.specs import features

    return (("", "as its stack"), *((key, one.name) for key, one in features.items()), ("any", "everything"))


def _machine(cluster: str, gpus: Field) -> tuple[Field, ...]:
    """What every page asks first."""
    return (
        Field("model", "Model", first="llama3-70b", options=_models()),
        Field(
            "cluster", "Cluster", first=cluster, options=_clusters(), free=True,
            about="a key, so many nodes, 128xdgx-a100, or a line: 4x8 a100-80gb-sxm, network 100 Gbit/s",
        ),
        gpus,
        Field("config", "config.json", _model, empty="the model above", file=".json", fold="A model of your own",
              about="of a checkpoint on the Hugging Face Hub: its text, or the file; it stays in this page"),
        Field("described", "Cluster's file", _cluster, empty="the cluster above", file=".toml",
              fold="A cluster or a chip of your own",
              about="its nodes, chip and links, in TOML: the text, or the file; it stays in this page"),
    )  # fmt: skip


GPUS = Field("gpus", "GPUs", _whole, empty="all", about="the first of the cluster's")
SEVERAL = Field("gpus", "GPUs", whole_numbers_of, empty="all",
                about="the first of the cluster's; several, 256,1024, are compared")  # fmt: skip
MEMORY = Field("memory", "Memory budget", bytes_of, empty="the chip's", about="bytes of a GPU, e.g. 72GB")
PRICE = Field("price", "Price", _number, empty="the cluster's", about="dollars per GPU-hour")
YES = (("", "no"), ("yes", "yes"))
AS_SOFTWARE = (("", "as the software"), ("yes", "yes"), ("no", "no"))
SP = Field("sp", "sp", _yes, options=(("", "with tp"), ("yes", "yes"), ("no", "no")), about="sequence parallelism")


def _task(gpus: Field) -> tuple[Field, ...]:
    """What both pages of training ask first."""
    return (
        *_machine("superpod-h100-1su", gpus),
        Field("batch", "Batch", tokens_of, first="4M",
              about="tokens a step: 4M, or 512x8192; K, M, G are powers of 1024"),
        Field("sequence", "Sequence", _length, empty="the model's context, at most 8K", about="tokens"),
        Field("dtype", "Precision", first="bf16", options=_same("bf16", "fp16", "fp8", "fp4", "fp32"),
              about="of the layers' matrix products"),
        Field("features", "Software can", options=_features(), about="schedules, ZeRO stages, degrees"),
        MEMORY,
        PRICE,
    )  # fmt: skip


def _advanced() -> tuple[Field, ...]:
    """What a plan does not say of its software, for both pages of training."""
    return (
        Field("stack", "Software", empty="the chip's usual", options=_stacks(), free=True, fold=ADVANCED,
              about="whose fitted constants to use"),
        Field("release", "Release", empty="the newest fitted", fold=ADVANCED, about="of that software: 26.04"),
        Field("states", "States", options=_states(), fold=ADVANCED,
              about="bytes of a parameter: weight, gradient and optimizer"),
        Field("offload", "Offload", words_of, empty="nothing", options=_same("activations", "optimizer"), free=True,
              fold=ADVANCED, about="what the host keeps: activations, optimizer, or both"),
        Field("fused", "Fused attention", _yes, options=(("", "yes"), ("no", "no")), fold=ADVANCED,
              about="that keeps no scores"),
        Field("dedup_dispatch", "Merge tokens", _yes, options=AS_SOFTWARE, fold=ADVANCED,
              about="send a token once to each node that has any of its experts"),
        Field("mtp", "Train MTP", _yes, options=AS_SOFTWARE, fold=ADVANCED,
              about="the model's modules for multi-token prediction too"),
    )  # fmt: skip


def _searched() -> tuple[Field, ...]:
    degrees = {"tp": "tensor", "cp": "context", "ep": "expert", "pp": "pipeline"}
    several: dict[str, Any] = {"empty": "searched", "fold": SEARCHED}
    return (
        *(Field(name, name, whole_numbers_of, about=f"{word} parallelism: a number, or some: 4,8", **several)
          for name, word in degrees.items()),
        Field("etp", "etp", whole_numbers_of, empty="as tp", fold=SEARCHED, about="tensor parallelism of experts"),
        Field("v", "v", whole_numbers_of, about="chunks of layers a pipeline rank", **several),
        Field("micro", "micro", whole_numbers_of, about="sequences per microbatch", **several),
        Field("zero", "ZeRO", whole_numbers_of, about="stages: 0,1,2,3", **several),
        Field("shards", "Shards", whole_numbers_of, about="ranks that ZeRO divides states among (HSDP)", **several),
        replace(SP, fold=SEARCHED),
        Field("schedule", "Schedule", words_of, about="of gpipe, 1f1b, zb_h1, zbv, dualpipe", **several),
        Field("recompute", "Recompute", words_of, about="of none, selective, full, or modules: moe_act+mlp", **several),
        Field("count", "Plans", _count, empty="5", fold=SEARCHED, about="listed, of one number of GPUs"),
    )  # fmt: skip


def _run() -> tuple[Field, ...]:
    """The whole run, with the interruptions that it must expect: the options of `gpubook plan --tokens`."""
    asked: dict[str, Any] = {"fold": RUN}
    return (
        Field("tokens", "Tokens", run_tokens_of, empty="not asked",
              about="of the whole run: 15T, powers of 1000; its time, price and interruptions", **asked),
        Field("days", "or days", _above_0, empty="not asked", about="how many tokens in so many days", **asked),
        Field("mtbf", "Interrupted", _in("s", "264days", RATES), empty="as Llama 3 405B", options=_same(*RATES),
              free=True, about="a node, once in this time: 264days; or whose rate", **asked),
        Field("restart", "Restart", _in("s", "12min"), empty="10 min, and reading",
              about="from an interruption to the next step", **asked),
        Field("checkpoint_every", "Checkpoint every", _in("s", "30min"), empty="the best", about="training time",
              **asked),
        Field("checkpoint_bandwidth", "Storage", _in("B/s", "2TB/s"), empty="12 MB/s a GPU",
              about="that writes checkpoints, all GPUs together: 2TB/s", **asked),
        Field("blocking", "Blocking", _yes, options=YES, about="wait until a checkpoint is written, not only copied",
              **asked),
        Field("repair", "Repair", _in("s", "24h"), empty="a day", about="how long a broken node is away", **asked),
        Field("spares", "Spare nodes", spares_of, empty="price", options=_same("price", "time"), free=True,
              about="a number, or as many as make the price least, or the time", **asked),
        Field("spread", "Spread", _in("1", "1.5%"), empty="1.5 %", about="standard deviation of the GPUs' times",
              **asked),
    )  # fmt: skip


def _degrees() -> tuple[Field, ...]:
    words = {"tp": ("tensor", "4"), "cp": ("context", "2"), "ep": ("expert", ""), "pp": ("pipeline", "4")}
    schedules = _same("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe")
    return (
        *(Field(name, name, _one, first=first, empty="1", about=f"degree of {word} parallelism")
          for name, (word, first) in words.items()),
        Field("v", "v", _one, first="10", empty="as the schedule has", about="chunks of layers a pipeline rank"),
        Field("micro", "micro", _one, first="1", empty="1", about="sequences per microbatch"),
        Field("zero", "ZeRO", _one, first="1", options=_same("0", "1", "2", "3"), about="stage"),
        Field("shards", "Shards", _one, empty="all", about="ranks that ZeRO divides states among"),
        Field("schedule", "Schedule", first="1f1b", options=schedules, about="of the pipeline"),
        Field("recompute", "Recompute", first="none", options=_same("none", "selective", "full"), free=True,
              about="in the backward pass; modules too: moe_act+mlp"),
        Field("etp", "etp", _one, empty="as tp", fold=ADVANCED, about="tensor parallelism of experts"),
        replace(SP, fold=ADVANCED),
    )  # fmt: skip


def _served() -> tuple[Field, ...]:
    return (
        *_machine("dgx-h100", GPUS),
        Field("prompt", "Prompt", _length, first="2048", empty="of the trace", about="tokens that a request reads"),
        Field("output", "Output", _length, first="512", empty="of the trace", about="tokens that it generates"),
        Field("ttft", "First token", seconds_of, first="2s", empty="no limit",
              about="limit of its time, queue included: a mean, e.g. 2s"),
        Field("tpot", "Each token", seconds_of, first="50ms", empty="no limit",
              about="limit of its time: a mean, e.g. 50ms"),
        Field("gap", "Longest step", seconds_of, empty="no limit", about="limit of what a token may have to wait for"),
        Field("dtype", "Precision", first="fp8", empty="as published",
              options=_same("bf16", "fp16", "fp8", "fp4", "mxfp4", "int8w", "int4w"), free=True,
              about="of weights and products"),
        MEMORY,
        PRICE,
        *(Field(name, name.replace("_", "-"), whole_numbers_of, empty="searched", about=about, fold=SEARCHED)
          for name, about in (("tp", "GPUs that share attention"), ("ep", "GPUs that the experts are divided over"),
                              ("attention_dp", "groups of a server with sequences of their own"))),
        Field("apart", "Prefill", _yes, options=(("", "together or apart"), ("no", "together"), ("yes", "apart")),
              about="and decode on servers of their own", fold=SEARCHED),
        Field("count", "Plans", _count, empty="5", fold=SEARCHED, about="listed"),
        Field("kv_dtype", "Cache", empty="fp8 beside fp8", options=_same("bf16", "fp16", "fp8"), free=True,
              about="its precision", fold=ADVANCED),
        Field("stack", "Software", empty="a TensorRT-LLM", options=_software(), free=True,
              about="whose fitted constants to use", fold=ADVANCED),
        Field("trace", "Trace", options=(("", "of one length"), *_same(*TRACES)), fold=ADVANCED,
              about="measured lengths, instead of a prompt and an output"),
    )  # fmt: skip


FORMS = {
    "plan": Form(
        "plan",
        (*_task(SEVERAL), *_searched(), *_advanced(), *_run()),
        (("why", "What other choices cost, and why the rest of the grid was rejected"),),
    ),
    "fill": Form("fill", (*_task(GPUS), *_degrees(), *_advanced()), live=True),
    "serve": Form(
        "serve",
        _served(),
        (("why", "The front of latency and throughput, and why configurations were rejected"),),
    ),
}
"""Each page that plans, by its name."""
