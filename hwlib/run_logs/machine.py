"""The model and the machine of a run, out of its log and of what the reader says."""

import re
from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

from hwlib.footprint.trained import adapters_of
from hwlib.run_logs.facts import Facts, is_true, value_of
from hwlib.run_logs.records import RunLogError
from hwlib.specs import Accelerator, Model, SpecError, accelerators, clusters, models, nodes
from hwlib.specs.card import card_of
from hwlib.specs.node import Node
from hwlib.specs.own_cluster import LINE, described

VENDOR = re.compile(r"^[\w.-]{1,60}/")
SUFFIXES = ("-instruct", "-base", "-chat", "-it", "-hf")
QUANTISED = re.compile(r"-(fp8|fp4|nvfp4|awq|gptq|w4a16)(?:-\w{1,20}){0,2}$")
DTYPES: Mapping[str, str] = {
    "fp8": "fp8",
    "fp4": "fp4",
    "nvfp4": "fp4",
    "awq": "int4w",
    "gptq": "int4w",
    "w4a16": "int4w",
}
"""The precision that the end of a checkpoint's name says."""
KIN = (
    (re.compile(r"llama-?3(?:[.-]\d)?-(8b|70b|405b)"), r"llama3-\1"),
    (re.compile(r"deepseek-(?:r1|v3\.1)(?:-\d{4})?|deepseek-v3-\d{4}"), "deepseek-v3"),
)
"""Checkpoints of the same architecture under other names."""
CONTEXT = 2**20  # tokens: no limit of a model that is read from its sizes
SIZES: Mapping[str, str] = {
    "layers": "num_hidden_layers",
    "width": "hidden_size",
    "heads": "num_attention_heads",
    "vocab": "vocab_size",
}
"""Facts that a model of one's own needs, and what its `config.json` calls them."""


def model_of(facts: Facts) -> Model | None:
    """The model of a run: by the name that is given or logged, or by its sizes; None where neither is enough.

    Raises KeyError and SpecError for a name that is given and is none.
    """
    name = value_of(facts, "model")
    if isinstance(name, Model):
        return name
    if isinstance(name, str) and facts["model"].origin == "option":
        return models.of(name)
    if isinstance(name, str) and (model := _known(name)):
        return model
    return _of_sizes(facts)


def check_told(options: Mapping[str, Any]) -> None:
    """Raise RunLogError, which names the option, for a model, a machine or adapters that the reader gives and that are
    none.
    """
    checks: dict[str, Callable[[str], object]] = {"lora": adapters_of, "model": models.of, "on": _check_machine}
    for name, check in checks.items():
        if not isinstance(options.get(name), str | int):
            continue
        try:
            check(str(options[name]))
        except (KeyError, ValueError) as error:
            raise RunLogError(f"--{name}: {error.args[0] if error.args else error}") from None


def _check_machine(on: str) -> None:
    if not (clusters.find(on) or nodes.find(on) or accelerators.find(on) or described(on)):
        known = f"{', '.join([*nodes])}; clusters: {', '.join([*clusters])}; chips: {', '.join([*accelerators])}"
        raise RunLogError(f"expected a node, a cluster, a chip or a line such as {LINE!r}, got {on!r}; {known}")


def _known(name: str) -> Model | None:
    """The model of a name as people write it: behind its maker, and with what it was tuned for or stored in."""
    plain = QUANTISED.sub("", VENDOR.sub("", name.strip()).lower().replace("meta-llama", "llama"))
    for suffix in ("", *SUFFIXES):
        start = plain[: len(plain) - len(suffix)].replace("_", "-")
        if plain.endswith(suffix) and (model := models.find(start) or _kin(start)):
            return model
    return None


def _kin(name: str) -> Model | None:
    keys = (pattern.sub(key, name) for pattern, key in KIN if pattern.fullmatch(name))
    return next((models.find(key) for key in keys), None)


def dtype_in_name(name: str) -> str | None:
    """The precision that a checkpoint's name says.

    >>> dtype_in_name("Llama-3.3-70B-Instruct-FP8"), dtype_in_name("Qwen3-32B")
    ('fp8', None)
    """
    match = QUANTISED.search(name.lower())
    return DTYPES[match[1]] if match else None


def _of_sizes(facts: Facts) -> Model | None:
    """A model of the sizes that a log prints: of Llama's kind if its MLP is gated, of GPT-2's if it is not."""
    sizes = {theirs: value_of(facts, ours) for ours, theirs in SIZES.items()}
    if not all(isinstance(size, float) for size in sizes.values()) or is_true(value_of(facts, "latent")):
        return None
    width = sizes["hidden_size"]
    ffn = value_of(facts, "ffn") or (value_of(facts, "expansion") or 4.0) * width
    config: dict[str, Any] = {name: int(size) for name, size in sizes.items()}
    config |= {"intermediate_size": int(ffn), "max_position_embeddings": CONTEXT}
    config |= {"tie_word_embeddings": not is_true(value_of(facts, "untied")), "model_type": "llama"}
    if is_true(value_of(facts, "gqa") or "true") and value_of(facts, "kv_heads"):  # some print the number alone
        config["num_key_value_heads"] = int(value_of(facts, "kv_heads"))
    if value_of(facts, "head_width"):
        config["head_dim"] = int(value_of(facts, "head_width"))
    if value_of(facts, "experts"):
        return _mixture(config, facts)
    if not is_true(value_of(facts, "swiglu")):
        config = {
            "model_type": "gpt2",
            "vocab_size": config["vocab_size"],
            "n_embd": int(width),
            "n_positions": CONTEXT,
        }
        config |= {"n_layer": int(sizes["num_hidden_layers"]), "n_head": int(sizes["num_attention_heads"])}
        config |= {"n_inner": int(ffn)}
    return _configured(config)


def _mixture(config: dict[str, Any], facts: Facts) -> Model | None:
    """Experts in every layer, as Mixtral has them."""
    config |= {"model_type": "mixtral", "num_local_experts": int(value_of(facts, "experts"))}
    config["num_experts_per_tok"] = int(value_of(facts, "topk") or 2)
    config["intermediate_size"] = int(value_of(facts, "expert_ffn") or config["intermediate_size"])
    return _configured(config)


def _configured(config: Mapping[str, Any]) -> Model | None:
    try:
        return Model.of_config(config, "the log's model", "the log")
    except (SpecError, ValueError, OverflowError):
        return None


def chip_of_run(facts: Facts) -> Accelerator | None:
    """The chip that a log names, or that the reader gives by its key, by a node or by a line of both."""
    on = value_of(facts, "on")
    if isinstance(on, str):
        place = clusters.find(on) or nodes.find(on)
        node = place if isinstance(place, Node) else getattr(place, "members", None)
        return node.chip if node else accelerators.find(on) or _described(on)
    name = value_of(facts, "chip")
    return card_of(name) if isinstance(name, str) else None


def _described(on: str) -> Accelerator | None:
    try:
        own = described(on)
    except SpecError:
        return None
    return own.chip if own else None


def cluster_of(facts: Facts) -> str | None:
    """The machine as the planner takes it; of a chip or a node as many nodes as the GPUs fill. None where it is not
    known, or where nobody says of how many GPUs.
    """
    on, gpus = value_of(facts, "on"), value_of(facts, "gpus")
    chip = chip_of_run(facts)
    if isinstance(on, str) and not (accelerators.find(on) or nodes.find(on)):
        return on
    node = nodes.find(on) if isinstance(on, str) else None
    node = node or next((node for node in nodes.values() if chip and node.accelerator == chip.key), None)
    if not gpus or not (node or chip):
        return None
    if node is None:
        assert chip
        return f"1x{int(gpus)} {chip.key}" if gpus <= 8 else None
    return node.key if gpus <= node.chips else f"{ceil(gpus / node.chips)}x{node.key}"


def machine_known(facts: Facts) -> bool:
    """Whether the machine need not be asked for: it is known, or is as soon as the number of GPUs is."""
    without_count = not value_of(facts, "gpus") and chip_of_run(facts) is not None
    return without_count or cluster_of(facts) is not None
