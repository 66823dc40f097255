"""The models of published training runs: by name, or by the shape that a row prints."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.training_step import number
from benchmarks.rows.training_units import SECONDS, plain, printed_number
from hwlib.specs import Model, models
from hwlib.transformer import gpt_recompute_training_flops

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

# Of NVIDIA's tables, what specs/models has not: layers, width, heads, key-value heads, width of the MLP, vocabulary.
NEMO = {
    "gpt35b": (24, 4096, 32, 32, 16384, 51200),
    "gpt320b": (44, 6144, 48, 48, 24576, 51200),
    "nemotron8b": (32, 4096, 32, 32, 16384, 256000),
    "nemotron22b": (40, 6144, 48, 48, 24576, 256000),
    "nemotron340b": (96, 18432, 96, 8, 73728, 256000),
}
MPT = {
    "125m": (12, 768, 12),
    "350m": (24, 1024, 16),
    "760m": (24, 1536, 12),
    "1b": (24, 2048, 16),
    "3b": (32, 2560, 20),
    "7b": (32, 4096, 32),
    "13b": (40, 5120, 40),
    "30b": (48, 7168, 56),
    "70b": (80, 8192, 64),
}
MIXED = ("nemotron", "mamba", "jamba")
NAMES = {re.sub(r"[^a-z0-9]", "", key): key for key in models}
NAMES |= {"llama31405b": "llama3-405b", "llama318b": "llama3-8b", "llama3170b": "llama3-70b"}
NAMES |= {"deepseekv3": "deepseek-v3", "llama3370b": "llama3-70b"}


def gpt(c: Mapping[str, Any], positions: bool = True) -> Model:
    """A GPT of the shape that a row prints. Raises ValueError for a shape that cannot be, or is not given."""
    if missing := [name for name in ("hidden", "layers") if not c.get(name)]:
        raise ValueError(f"the row does not give {missing[0]}")
    if c.get("experts") or c.get("moe"):
        raise ValueError("experts, and no name of a known model")
    width, layers = number(c, "hidden"), number(c, "layers")
    heads = number(c, "heads", default=HEADS.get(width) or max(width // 128, 1))
    if layers >= width:
        raise ValueError(f"{layers} layers of width {width}: one stands in the other's place")
    if width % heads:
        raise ValueError(f"{heads} heads do not divide the width {width}")
    context = number(c, "seq", default=2048)
    return Model.small(
        key="row",
        name=f"GPT of {layers} layers",
        layers=layers,
        width=width,
        heads=heads,
        kv_heads=number(c, "kv", default=heads),
        ffn=number(c, "ff", default=4 * width),
        vocab=number(c, "vocab", default=51200),
        context=context,
        gated=False,
        tied=True,
        biases="all",
        norm="layer",
        dropout=True,
        positions=context if positions else 0,
    )


# Heads by width where a table of Megatron leaves them out: those of the same models in other tables of its authors.
HEADS = {m.width: m.heads for key, m in models.items() if key.startswith("megatron-")}


def mpt(name: str, T: int) -> Model:
    """MPT as the benchmark of llm-foundry builds it: as many learned positions as the sequence has."""
    size = name.lower().removeprefix("mpt-").replace("mpt", "").strip("-_ ")
    if size not in MPT:
        raise ValueError(f"no shape for {name!r}; MPT has {', '.join(MPT)}")
    layers, width, heads = MPT[size]
    return Model.small(
        key=f"mpt-{size}",
        name=f"MPT {size}",
        layers=layers,
        width=width,
        heads=heads,
        ffn=4 * width,
        vocab=50368,
        context=T,
        gated=False,
        tied=True,
        biases="all",
        norm="layer",
        positions=T,
    )


def squeezed(name: str) -> str:
    """A model's name in letters and digits alone: without its owner, a precision, and what it was tuned to.

    >>> squeezed("Qwen/Qwen3-8B"), squeezed("Llama-3.1-8B-Instruct (FP8)")
    ('qwen38b', 'llama318b')
    """
    plain = re.sub(r"\(.*?\)|\b(fp8|bf16|nvfp4|mxfp8)\b", "", name.lower()).strip(" -_")
    plain = re.sub(r"-(instruct|chat|base|it|hf)$", "", plain.rpartition("/")[2])
    return re.sub(r"[^a-z0-9]", "", plain)


def model_named(name: str) -> Model:
    """A model of NVIDIA's tables: of specs/models, or of `NEMO`. Raises ValueError, naming what is missing."""
    plain = squeezed(name)
    if not plain:
        raise ValueError("the row does not give model")
    if plain in TRAINED:
        served = models[NAMES[plain]]
        return served.replace(key=served.key, name=served.name, **TRAINED[plain])
    if plain in NAMES:
        return models[NAMES[plain]]
    if plain in NEMO:
        layers, width, heads, kv, ffn, vocab = NEMO[plain]
        return Model.small(
            key=plain,
            name=name,
            layers=layers,
            width=width,
            heads=heads,
            kv_heads=kv,
            ffn=ffn,
            vocab=vocab,
            context=4096,
            gated=False,
            tied=plain.startswith("gpt3"),
            norm="layer",
        )
    if plain.startswith(MIXED):
        raise ValueError(f"model is {name!r}, which mixes Mamba layers with attention, or has a shape unknown here")
    if plain in FURTHER:
        like, changes = FURTHER[plain]
        return models[like].replace(key=plain, name=name, **changes)
    raise ValueError(f"the row gives neither a known model nor hidden and layers: {name!r}")


# What recipes train otherwise than the checkpoint is served: of Nemotron 3, one module for multi-token prediction runs
# twice in each step (mtp_num_layers = 2, mtp_use_repeated_layer, in recipes/nemotronh from v0.4.0 to v0.6.0).
TRAINED: dict[str, dict[str, int]] = {"nemotron3super": {"mtp_layers": 2}, "nemotron3ultra": {"mtp_layers": 2}}

# Of the published config.json of each (moonshotai/Kimi-K2-Base, codellama/CodeLlama-34b-hf), what is not as in the
# model of the library that it is like.
FURTHER: dict[str, tuple[str, dict[str, int]]] = {
    "kimik2": (
        "deepseek-v3",
        {"heads": 64, "kv_heads": 64, "experts": 384, "dense_layers": 1, "vocab": 163840, "mtp_layers": 0},
    ),
    "llama34b": ("llama2-70b", {"layers": 48, "ffn": 22016, "context": 16384}),
}


def shape_or_name(c: Mapping[str, Any]) -> Model:
    """The model of a row of any source: by its name, or by the shape that it prints, a GPT where its MLP is four times
    as wide or where it says nothing of the MLP, else of Llama's kind. Raises ValueError, naming what is missing.
    """
    name = str(c.get("model") or c.get("params") or "")
    try:
        return memory_model({"model": name})
    except ValueError:
        if not (c.get("hidden") and c.get("layers")):
            raise
    usual = not c.get("ff") or number(c, "ff") == 4 * number(c, "hidden")
    if usual and re.match(r"$|gpt|megatron|[\d.]+ ?b$", name.lower()):
        return gpt(c)
    if missing := [cell for cell in ("heads", "ff", "vocab") if not c.get(cell)]:
        raise ValueError(f"the row does not give {missing[0]}, and the name of its model, {name!r}, is not known")
    return memory_model(c)


# Width and layers of the models in BLOOM's log, in whose tables a heading gives them for all rows below it.
BLOOM = (
    (12288, 96), (12288, 100), (12288, 106), (13312, 82), (13312, 84), (13312, 94), (13824, 78), (13824, 80),
    (13824, 84), (14336, 70), (14336, 72),
)  # fmt: skip
# Those of its first tables, whose width alone a row of the same table prints: the rate, which counts 96 B T L D^2, is
# that of a whole number of layers, which the stages divide.
FIRST_BLOOM = ((14400, 72), (14400, 77), (14400, 78), (14400, 80), (14400, 81))


def _noted(c: Mapping[str, Any]) -> str:
    return f": {c['note']}" if c.get("note") else ""


def bloom_shape(row: "PublishedRow", c: Mapping[str, Any], B: int, T: int) -> dict[str, Any]:
    """The row's width and layers if the rate that it logs fits them, else those of the log that the rate fits; where a
    row is not of a time, the same by the size that it prints.

    Until 21 February the log counted neither attention nor the output layer. Raises ValueError where nothing fits, or
    two do.
    """
    logged, unit = printed_number(c.get("tflops_logged")), re.fullmatch(r"(ms|s)(/step)?", plain(row.unit))
    billions = printed_number(re.sub(r"B$", "", str(c.get("size", ""))))
    given = {name: c[name] for name in ("hidden", "layers") if c.get(name)}
    vocab = number(c, "vocab", default=51200)
    done = logged * 1e12 * row.value * SECONDS[unit[1]] * row.gpus if logged and unit else 0.0

    def fits(width: int, layers: int) -> bool:
        if not done:  # the size is printed in whole billions
            return abs(layers * (12 * width**2 + 13 * width) + (vocab + T + 2) * width - billions * 1e9) < 0.55e9
        full = gpt_recompute_training_flops(B, T, layers, width, vocab)
        return any(abs(count / done - 1) < 0.0005 for count in (full, 96 * B * layers * width**2))

    shape = (number(c, "hidden"), number(c, "layers")) if len(given) == 2 else None
    if not done and not billions:
        if shape is None or "ambiguous" in str(c.get("note", "")):
            raise ValueError(f"the row does not give layers, or hidden{_noted(c)}")
        return given
    known = FIRST_BLOOM if done and "hidden" not in given else BLOOM
    found = [shape] if shape and fits(*shape) else [x for x in known if fits(*x)]
    if not done and shape not in found:
        pp = number(c, "pp", default=1)
        found = [x for x in found if x[1] % pp == 0 or (x[1] + 2) % pp == 0]
        if shape and not found:  # sizes of the first days are estimates
            return given
    if not done and not found:
        raise ValueError(f"the row does not give layers, or hidden{_noted(c)}")
    if len(found) != 1 and "hidden" not in given:
        raise ValueError("the row does not give hidden, and the rate that it logs is of no shape of the log")
    if len(found) != 1:
        raise ValueError("the row contradicts itself: tflops_logged does not fit its shape and time")
    return {"hidden": found[0][0], "layers": found[0][1]}


# Of tables of memory, what specs/models has not: layers, width, heads, key-value heads, head, MLP, vocabulary, whether
# it has a gate, whether the tables are tied. LitGPT pads StableLM's vocabulary and Phi's.
TUNED = {
    "llama323b": (28, 3072, 24, 8, 128, 8192, 128256, True, True),
    "llama321b": (16, 2048, 32, 8, 64, 8192, 128256, True, True),
    "stablelmalpha3b": (16, 4096, 32, 32, 128, 16384, 50688, False, False),
    "phi15": (24, 2048, 32, 32, 64, 8192, 51200, False, False),
    "yi6b": (32, 4096, 32, 4, 128, 11008, 64000, True, False),
    "yi34b": (60, 7168, 56, 8, 128, 20480, 64000, True, False),
    "baichuan27b": (32, 4096, 32, 32, 128, 11008, 125696, True, False),
    "baichuan213b": (40, 5120, 40, 40, 128, 13696, 125696, True, False),
    "chatglm36b": (28, 4096, 32, 2, 128, 13696, 65024, True, False),
}
GPT2 = {"gpt2124m": (12, 768, 12)}
"""Layers, width and heads; the vocabulary is padded to a multiple of 64, as in nanoGPT."""
ONE_NORM = ("phi15",)
"""Of these, those whose attention and MLP share a norm."""


def gpt2(short: str, name: str) -> Model:
    """A GPT-2 with its biases and learned positions."""
    layers, width, heads = GPT2[short]
    return Model.small(
        key=short,
        name=name,
        layers=layers,
        width=width,
        heads=heads,
        ffn=4 * width,
        vocab=50304,
        context=1024,
        gated=False,
        tied=True,
        biases="all",
        norm="layer",
        positions=1024,
    )


def _known_shape(c: Mapping[str, Any], name: str) -> Model | None:
    """The library's model of a row that prints its shape beside the name, with as many layers: what the row leaves
    out, such as key-value heads, is the model's own. None where the row prints no shape, or that of another model.
    """
    plain = squeezed(name)
    if not (c.get("hidden") and c.get("layers")) or plain not in NAMES:
        return None
    model = models[NAMES[plain]]
    own = {"hidden": model.width, "heads": model.heads, "kv": model.kv_heads}
    if any(number(c, cell, default=length) != length for cell, length in own.items()):
        return None
    ffn = model.ffn if model.moe else number(c, "ff", default=model.ffn)
    printed = (number(c, "layers"), ffn)
    return model if printed == (model.layers, model.ffn) else model.replace(layers=printed[0], ffn=ffn)


def memory_model(c: Mapping[str, Any]) -> Model:
    """The model of a row of memory: by name, or of Llama's kind by the shape that it prints. Of a known model there may
    be fewer layers, "llama3-8b-8layers". Raises ValueError.
    """
    name = str(c.get("model", ""))
    short = re.sub(r"[^a-z0-9]", "", name.lower())
    if some := re.fullmatch(r"(.+)-(\d+)layers", name):
        return replace(model_named(some[1]), layers=int(some[2]))
    if known := _known_shape(c, name):
        return known
    if short in GPT2:
        return gpt2(short, name)
    if short in TUNED:
        layers, width, heads, kv, head, ffn, vocab, gated, tied = TUNED[short]
        return Model.small(
            key=short,
            name=name,
            layers=layers,
            width=width,
            heads=heads,
            kv_heads=kv,
            head_dim=head,
            ffn=ffn,
            vocab=vocab,
            context=4096,
            gated=gated,
            tied=tied,
            norm="rms" if gated else "layer",
            layer_norms=1 if short in ONE_NORM else 2,
        )
    if c.get("hidden") and c.get("layers") and c.get("ff"):
        return Model.small(
            key=short or "row",
            name=name or "row",
            layers=number(c, "layers"),
            width=number(c, "hidden"),
            heads=number(c, "heads"),
            kv_heads=number(c, "kv", default=number(c, "heads")),
            ffn=number(c, "ff"),
            vocab=number(c, "vocab"),
            context=number(c, "seq"),
        )
    return model_named(name)
